package transfer

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// named is a file that a part of lines names.
type named struct {
	Key string `json:"key"`
}

// lines makes a part of lines, and notes the files that it names.
func (w *Exporter) lines(ctx context.Context, s *task.Step, x *Export, ofProfile bool, c cursor) (*made, error) {
	c.Lines, c.Named, c.Copied = c.Lines+1, 0, 0
	m := &made{resources: map[string]int{}}
	part := &linesPart{x: x, files: []string{}, end: End{Kind: endLine, Part: c.Lines,
		Resources: m.resources, Changed: []string{}}}
	if err := part.write(Header{headerLine, Format, FormatVersion, x.ID, s.Account, s.Mode, x.ProfileID,
		x.ConsistentAt, c.Lines}); err != nil {
		return nil, err
	}
	most := orDefault(w.LineBytes, lineBytes)
	for !c.all() && int64(part.Len()) < most {
		k := kinds[c.Kind]
		page, err := w.DB.List(ctx, k.query(s, x, ofProfile, c.After))
		if err != nil {
			return nil, err
		}
		for _, it := range page.Items {
			if err := part.add(ctx, w.DB, k, it); err != nil {
				return nil, err
			}
		}
		if c.After = page.Next; c.After == nil {
			c.Kind++
		}
	}
	part.end.Last = c.all()
	if err := part.write(part.end); err != nil {
		return nil, err
	}
	var list bytes.Buffer
	for _, key := range part.files {
		if err := json.NewEncoder(&list).Encode(named{key}); err != nil {
			return nil, err
		}
	}
	if c.Named = len(part.files); c.Named > 0 {
		if _, err := w.store(ctx, s, kindNamed, c.Lines, &list); err != nil {
			return nil, err
		}
	}
	m.next = c
	var err error
	m.part, err = w.store(ctx, s, KindLines, c.Lines, &part.Buffer)
	return m, err
}

// store stores a part, whose content is spooled to a file before.
func (w *Exporter) store(ctx context.Context, s *task.Step, kind string, n int, content io.Reader) (*storedPart,
	error) {
	spooled, err := media.Spool(ctx, content, 1<<30)
	if err != nil {
		return nil, err
	}
	defer spooled.Close()
	return w.put(ctx, s, kind, n, spooled)
}

// query lists the resources of a kind that are not younger than an export.
func (k kind) query(s *task.Step, x *Export, ofProfile bool, after *store.Cursor) store.Query {
	q := store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(s.Owner, k.item), Limit: pageItems,
		OldestFirst: true, After: after, From: k.prefix, To: id.First(k.prefix, x.ConsistentAt.Add(time.Millisecond))}
	if k.partition != nil {
		q.Index, q.Partition = store.Table, k.partition(s.Owner)
	}
	if ofProfile {
		q.Filters = map[string]string{store.ProfileFilter: string(*x.ProfileID)}
	}
	return q
}

// linesPart is a part of lines that is being written.
type linesPart struct {
	bytes.Buffer
	x     *Export
	files []string
	end   End
}

func (p *linesPart) write(line any) error { return json.NewEncoder(p).Encode(line) }

// add writes the line of a resource.
func (p *linesPart) add(ctx context.Context, db *store.DB, k kind, it store.Item) error {
	if !k.visible(it) {
		return nil
	}
	stored, err := filesOf(it.Doc)
	if err != nil {
		return err
	}
	files := []LineFile{}
	own := func(key string) string {
		url := FileScheme + fileName(key)
		named := slices.ContainsFunc(files, func(f LineFile) bool { return f.URL == url })
		// A file of another resource is that of a media, which has a line of its own.
		of := strings.Split(url, "/")
		if len(of) > 3 && (k.prefix == id.Media || !id.Valid(id.Media, of[3])) && !named {
			p.files = append(p.files, key)
			files = append(files, LineFile{url, stored[key].Bytes, stored[key].SHA256})
		}
		return url
	}
	shown, err := k.view(ctx, viewer{db, media.NewNamer(own), p.x.ConsistentAt.Time}, it)
	if err != nil {
		return fmt.Errorf("transfer: show %s: %w", it.PK, err)
	}
	data, err := json.Marshal(shown)
	if err != nil {
		return fmt.Errorf("transfer: encode %s: %w", it.PK, err)
	}
	var is struct {
		ID        string    `json:"id"`
		UpdatedAt time.Time `json:"updated_at"`
	}
	if err := json.Unmarshal(data, &is); err != nil {
		return fmt.Errorf("transfer: read %s: %w", it.PK, err)
	}
	if is.UpdatedAt.After(p.x.ConsistentAt.Time) {
		p.end.Changed = append(p.end.Changed, is.ID)
	}
	p.end.Resources[k.name]++
	return p.write(Line{k.name, is.ID, data, files})
}

// filesOf returns the files in a stored document, by their keys.
func filesOf(doc []byte) (map[string]media.File, error) {
	var tree any
	if err := json.Unmarshal(doc, &tree); err != nil {
		return nil, err
	}
	files := map[string]media.File{}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			key, _ := v["key"].(string)
			if sum, ok := v["sha256"].(string); ok && key != "" {
				size, _ := v["bytes"].(float64)
				files[key] = media.File{Bytes: int64(size), SHA256: sum}
			}
			for _, one := range v {
				walk(one)
			}
		}
	}
	walk(tree)
	return files, nil
}

// files makes a part of the files that the last part of lines names.
func (w *Exporter) files(ctx context.Context, s *task.Step, x *Export, c cursor) (*made, error) {
	list, err := w.list(ctx, s, c.Lines)
	if err != nil {
		return nil, err
	}
	archive, err := os.CreateTemp("", "export-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = errors.Join(archive.Close(), os.Remove(archive.Name())) }()
	m, out, size := &made{}, tar.NewWriter(archive), int64(0)
	for ; c.Copied < len(list) && size < orDefault(w.FileBytes, fileBytes); c.Copied++ {
		n, err := w.copy(ctx, out, x, list[c.Copied].Key)
		switch {
		case errs.CodeOf(err) == errs.NotFound:
			m.missing++
		case err != nil:
			return nil, err
		default:
			m.copied, size = m.copied+1, size+n
		}
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	if m.copied > 0 {
		c.Files++
		if _, err := archive.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		if m.part, err = w.store(ctx, s, KindFiles, c.Files, archive); err != nil {
			return nil, err
		}
	}
	m.next = c
	return m, nil
}

// list reads the files that the n-th part of lines names.
func (w *Exporter) list(ctx context.Context, s *task.Step, n int) (list []named, err error) {
	body, err := w.Objects.Open(ctx, objectKey(Exports, s.Owner, s.Subject, kindNamed, n))
	if err != nil {
		return nil, err
	}
	defer body.Close()
	for lines := json.NewDecoder(body); ; {
		var one named
		switch err := lines.Decode(&one); {
		case err == io.EOF:
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("transfer: the files of part %d of %s: %w", n, s.Subject, err)
		}
		list = append(list, one)
	}
}

// copy adds a stored file to an archive, and returns its size.
func (w *Exporter) copy(ctx context.Context, out *tar.Writer, x *Export, key string) (int64, error) {
	body, err := w.Objects.Open(ctx, key)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	f, err := media.Spool(ctx, body, mostFile)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	if err := out.WriteHeader(&tar.Header{Name: fileName(key), Mode: 0o644, Size: f.Size,
		ModTime: x.ConsistentAt.Time.Truncate(time.Second)}); err != nil {
		return 0, err
	}
	_, err = io.Copy(out, f)
	return f.Size, err
}

func orDefault(n, otherwise int64) int64 {
	if n == 0 {
		return otherwise
	}
	return n
}
