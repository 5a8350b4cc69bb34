package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	contentautomation "github.com/content-automation/api/clients/go"
)

// downloadPatience bounds the download of a file.
const downloadPatience = 10 * time.Minute

// mimeTypes are the types of files that can be uploaded, by the ends of their names.
var mimeTypes = map[string]contentautomation.OwnMediaCreateMimeType{
	".jpg":  contentautomation.OwnMediaCreateMimeTypeImageJpeg,
	".jpeg": contentautomation.OwnMediaCreateMimeTypeImageJpeg,
	".png":  contentautomation.OwnMediaCreateMimeTypeImagePng,
	".webp": contentautomation.OwnMediaCreateMimeTypeImageWebp,
	".heic": "image/heic",
	".heif": "image/heif",
	".avif": "image/avif",
	".mp3":  contentautomation.OwnMediaCreateMimeTypeAudioMpeg,
	".wav":  contentautomation.OwnMediaCreateMimeTypeAudioWav,
	".aac":  contentautomation.OwnMediaCreateMimeTypeAudioAac,
	".m4a":  contentautomation.OwnMediaCreateMimeTypeAudioMp4,
	".mp4":  contentautomation.OwnMediaCreateMimeTypeVideoMp4,
}

// uploadCommand brings in a file of this machine.
func uploadCommand(w machine) *cobra.Command {
	c := &calling{machine: w}
	cmd := c.bare("upload FILE", "Bring in a file of this machine", "Bring in a file of this machine: declare it, send it "+
		"to storage, and wait until it is ready. The file - is the standard input, which needs --mime-type.")
	cmd.Example = "  " + w.called() + " media upload logo.png"
	cmd.Args = cobra.ExactArgs(1)
	var known []string
	for _, t := range mimeTypes {
		known = append(known, string(t))
	}
	slices.Sort(known)
	known = slices.Compact(known)
	addFlag(cmd, parameter{name: "mime_type", kind: "string", doc: "MIME type; default: by the name of the file",
		values: known})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := c.client()
		if err != nil {
			return err
		}
		mime, _ := cmd.Flags().GetString("mime-type")
		kind := contentautomation.OwnMediaCreateMimeType(mime)
		if kind == "" {
			kind = mimeTypes[strings.ToLower(filepath.Ext(args[0]))]
		}
		if kind == "" {
			return fmt.Errorf("the type of %s is not known: use --mime-type with one of %s", args[0],
				strings.Join(known, ", "))
		}
		file := cmd.InOrStdin()
		if args[0] != "-" {
			opened, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer opened.Close()
			file = opened
		}
		media, err := client.Media.Upload(cmd.Context(), file, kind)
		if err != nil {
			return failure{error: err, json: c.json}
		}
		raw, err := json.Marshal(media)
		if err != nil {
			return failure{error: err, json: c.json}
		}
		return c.print(raw)
	}
	return cmd
}

// remote is a file of the service.
type remote struct{ name, url string }

// downloadCommand saves the files of a resource.
func downloadCommand(w machine, arg, what string,
	files func(context.Context, *contentautomation.Client, string) ([]remote, error),
) *cobra.Command {
	c, folder := &calling{machine: w}, ""
	cmd := c.bare("download "+arg, "Save "+what, "Save "+what+", and print the names. A file that exists is not "+
		"replaced.")
	cmd.Args = cobra.ExactArgs(1)
	cmd.Flags().StringVar(&folder, "folder", ".", "folder to save into")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := c.client()
		if err != nil {
			return err
		}
		all, err := files(cmd.Context(), client, args[0])
		if err != nil {
			return failure{error: err, json: c.json}
		}
		if len(all) == 0 {
			return failure{error: fmt.Errorf("%s has no files that are ready", args[0]), json: c.json}
		}
		names := []string{}
		for _, f := range all {
			name := filepath.Join(folder, f.name)
			if err := save(cmd.Context(), f.url, name); err != nil {
				return failure{error: fmt.Errorf("%s: %w", name, err), json: c.json}
			}
			if names = append(names, name); !c.json {
				fmt.Fprintln(w.out, name)
			}
		}
		if c.json {
			return json.NewEncoder(w.out).Encode(names)
		}
		return nil
	}
	return cmd
}

func mediaFiles(ctx context.Context, client *contentautomation.Client, id string) ([]remote, error) {
	media, err := client.Media.Get(ctx, id)
	if err != nil || media.URL == nil {
		return nil, err
	}
	return []remote{{media.ID + extension(*media.URL), *media.URL}}, nil
}

func contentFiles(ctx context.Context, client *contentautomation.Client, id string) (all []remote, err error) {
	item, err := client.Content.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, m := range item.Media {
		if m.Role != nil && *m.Role == contentautomation.MediaRoleFinal {
			all = append(all, remote{fmt.Sprintf("%s-%d%s", item.ID, len(all)+1, extension(m.URL)), m.URL})
		}
	}
	return all, nil
}

// extension returns the end of the name of a file, such as .mp4, from its address.
func extension(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return path.Ext(u.Path)
}

// save downloads a signed address into a new file. The request has no API key.
func save(ctx context.Context, address, name string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, downloadPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return errors.New("the address cannot be read")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address, which is signed
		}
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("storage answers %s", res.Status)
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, res.Body)
	if err = errors.Join(err, file.Close()); err != nil {
		_ = os.Remove(name) // A part of a file is of no use.
	}
	return err
}
