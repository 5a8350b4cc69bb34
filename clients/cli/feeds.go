package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	contentautomation "github.com/content-automation/api/clients/go"
)

// feedFormat is the format of the feed in a file, and feedTypes are the MIME types of such files.
func feedFormat(name, head string) string {
	switch strings.ToLower(filepath.Ext(strings.TrimSuffix(name, ".gz"))) {
	case ".tsv", ".txt":
		return "google_tsv"
	case ".jsonl", ".json", ".ndjson":
		return "json_lines"
	case ".yml", ".yaml":
		return "yml"
	case ".xml", ".rss":
		if strings.Contains(head, "<yml_catalog") {
			return "yml"
		}
		return "google_xml"
	}
	if strings.HasPrefix(strings.TrimPrefix(head, "\ufeff"), "Handle,") {
		return "shopify_csv"
	}
	return "csv"
}

var feedTypes = map[string]contentautomation.OwnMediaCreateMimeType{"google_xml": "application/xml",
	"yml": "application/xml", "google_tsv": "text/tab-separated-values", "json_lines": "application/json",
	"shopify_csv": "text/csv", "csv": "text/csv"}

// pushCommand makes a file of this machine the feed of a factory, and reads it.
func pushCommand(w machine) *cobra.Command {
	c := &calling{machine: w}
	cmd := c.bare("push FILE", "Make a file the feed of a factory, and read it", "Make a file of this machine the feed of "+
		"a factory: upload it, set it as the source, and read it to its end. What else the feed says stays. A run that "+
		"is held waits for `feeds sync --confirm-run-id`.")
	cmd.Example = "  " + w.called() + " feed push products.csv --factory-id fac_…"
	cmd.Args = cobra.ExactArgs(1)
	f := cmd.Flags()
	factory := f.String("factory-id", "", "factory whose catalog follows the feed (required)")
	format := f.String("format", "", "format of the feed; default: by the name and the beginning of the file")
	currency := f.String("currency", "", "currency of prices that have none, such as EUR")
	_ = cmd.MarkFlagRequired("factory-id") // it exists
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := c.client()
		if err != nil {
			return err
		}
		file, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer file.Close()
		head, err := bufio.NewReader(file).Peek(512)
		if err != nil && err != io.EOF {
			return err
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if *format == "" {
			*format = feedFormat(args[0], string(head))
		}
		run, err := c.push(cmd.Context(), client, file, *factory, *format, *currency)
		if err != nil {
			return failure{error: err, json: c.json}
		}
		return c.print(run)
	}
	return cmd
}

// feedRun is what is shown of a run while it is under way.
type feedRun struct {
	ID, State                                         string
	FactoryID                                         string `json:"factory_id"`
	Total, Created, Changed, Unchanged, Refused, Gone int
	Failure                                           *struct{ Message string }
}

// push uploads a feed, sets it and reads it. It returns the run as the answer has it.
func (c *calling) push(ctx context.Context, client *contentautomation.Client, file *os.File, factory, format,
	currency string) (json.RawMessage, error) {
	mime, ok := feedTypes[format]
	if !ok {
		return nil, fmt.Errorf("the format %s is not known", format)
	}
	at := "/v1/factories/" + url.PathEscape(factory) + "/feed"
	body, err := feedBody(ctx, client, at)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(c.notes, "Uploading the feed …")
	media, err := client.Media.Upload(ctx, file, mime)
	if err != nil {
		return nil, err
	}
	body["source"], body["format"] = map[string]any{"media_id": media.ID}, format
	if currency != "" {
		body["currency"] = currency
	}
	if format != "csv" {
		delete(body, "mapping")
	}
	if err := client.Do(ctx, http.MethodPut, at, nil, body, nil); err != nil {
		return nil, err
	}
	var run feedRun
	if err := client.Do(ctx, http.MethodPost, at+"/sync", nil, map[string]any{}, &run); err != nil {
		return nil, err
	}
	return c.watch(ctx, client, at+"/runs/"+url.PathEscape(run.ID))
}

// feedBody returns the members of the feed that a factory has, as they are set.
func feedBody(ctx context.Context, client *contentautomation.Client, at string) (map[string]any, error) {
	var all map[string]any
	err := client.Do(ctx, http.MethodGet, at, nil, nil, &all)
	var refused *contentautomation.Error
	if err != nil && !(errors.As(err, &refused) && refused.Code == "not_found") {
		return nil, err
	}
	body := map[string]any{}
	for _, name := range []string{"mapping", "currency", "on_price_change", "on_sold_out", "on_removed", "photos"} {
		if all[name] != nil {
			body[name] = all[name]
		}
	}
	return body, nil
}

// watchEvery is the time between two looks at a run.
const watchEvery = time.Second

// watch shows the progress of a run until it has ended.
func (c *calling) watch(ctx context.Context, client *contentautomation.Client, at string) (json.RawMessage, error) {
	const width = 30
	for {
		var raw json.RawMessage
		var run feedRun
		err := client.Do(ctx, http.MethodGet, at, nil, nil, &raw)
		if err == nil {
			err = json.Unmarshal(raw, &run)
		}
		if err != nil {
			return nil, err
		}
		if done := run.Created + run.Changed + run.Unchanged + run.Refused; run.Total > 0 && !c.json {
			done = min(done, run.Total)
			bar := strings.Repeat("#", done*width/run.Total) + strings.Repeat(".", width-done*width/run.Total)
			fmt.Fprintf(c.notes, "\r[%s] %d of %d rows", bar, done, run.Total)
		}
		switch run.State {
		case "completed":
			fmt.Fprintln(c.notes)
			return raw, nil
		case "held":
			fmt.Fprintf(c.notes, "\nThe run is held: %d of the products are not in the feed any more. To archive them:\n  %s "+
				"feeds sync %s --confirm-run-id %s\n", run.Gone, c.called(), run.FactoryID, run.ID)
			return raw, nil
		case "failed":
			fmt.Fprintln(c.notes)
			message := "the run has failed"
			if run.Failure != nil {
				message = run.Failure.Message
			}
			return nil, errors.New(message)
		}
		if err := c.machine.wait(ctx, watchEvery); err != nil {
			return nil, err
		}
	}
}
