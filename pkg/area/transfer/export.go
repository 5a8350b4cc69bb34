package transfer

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
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
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// ExportKind is the kind of the task of an export, and ExportItem that of its item in the table.
const (
	ExportKind task.Kind = "transfer.export"
	ExportItem string    = "export"
)

// State is the state of an export or import.
type State string

// The states. The last two are final.
const (
	Running   State = "running"
	Completed State = "completed"
	Failed    State = "failed"
)

// ExportFailure is the reason for which an export has failed.
type ExportFailure struct {
	// Machine-readable reason. too_large: an export has too many parts, so export the profiles one by one. too_slow: it
	// has not ended within a day. internal: something went wrong on our side.
	Code string `json:"code" enum:"too_large,too_slow,internal"`
	// What happened and what to do about it.
	Message string `json:"message"`
}

// Part is a part of an export. createImport takes it as it is.
type Part struct {
	// What it has. lines: resources as JSON lines. files: a tar archive of the files that lines name.
	Kind string `json:"kind" enum:"lines,files"`
	// Signed URL of the part. Each GET signs it anew, until expires_at of the export at most; a URL may end some hours
	// after it was signed.
	URL string `json:"url" format:"uri"`
	// Size in bytes.
	Bytes int64 `json:"bytes"`
	// SHA-256 in hexadecimal.
	SHA256 string `json:"sha256" format:"sha256"`
}

// Export is an export as callers see it.
type Export struct {
	resource.Resource
	// Profile whose data is exported. Null: the whole account.
	ProfileID *tenant.Profile `json:"profile_id"`
	// State of the export.
	State State `json:"state" filter:"state" enum:"running,completed,failed"`
	// Version of the format of its parts.
	FormatVersion int `json:"format_version" example:"1"`
	// Time as of which it is. What is created later is left out; the last line of each part names what was changed
	// between this time and its reading.
	ConsistentAt resource.Time `json:"consistent_at"`
	// Its parts, of at most 1 GiB each, in order. While it is running, those that are ready. Empty in events and
	// lists.
	Parts []Part `json:"parts" nullable:"false"`
	// Number of exported resources, by their types.
	Resources map[string]int `json:"resources"`
	// Number of files in parts.
	Files int `json:"file_count"`
	// Number of files that were gone before they could be copied, such as those of deleted media.
	MissingFiles int `json:"missing_file_count"`
	// Why it failed. Null unless failed.
	Failure *ExportFailure `json:"failure"`
	// Time of its end. Null until then.
	EndedAt *resource.Time `json:"ended_at"`
	// Time at which the export and its parts are deleted. Null while it is running.
	ExpiresAt *resource.Time `json:"expires_at"`
}

// Pending returns the path that shows the export, and the time to look at it.
func (e Export) Pending() (path string, after time.Duration) {
	return "/v1/exports/" + e.ID, 2 * time.Second
}

// exportRecord is the stored document of an export.
type exportRecord struct {
	Export
	StoredParts []storedPart `json:"stored"`
}

// storedPart is a part of an export in the bucket.
type storedPart struct {
	Kind   string `json:"k"`
	Number int    `json:"n"`
	Bytes  int64  `json:"b"`
	Sum    []byte `json:"s"`
}

// mostParts bounds the parts of an export: its GET lists them all. They have half a terabyte of files.
const mostParts = 2000

// newExport adds an export and its task to the transaction, and counts it.
func newExport(tx *store.Tx, now time.Time, o tenant.Owner, metadata resource.Metadata) (Export, error) {
	if o.Profile == "" {
		quota.WholeExport(tx, now, o)
	}
	return addExport(tx, now, o, metadata, quota.Exports.Take)
}

// Last adds the last export of what is erased to the transaction, and its task. It is not counted, so that no bound
// holds the erasure up.
func Last(tx *store.Tx, now time.Time, o tenant.Owner) (Export, error) {
	return addExport(tx, now, o, nil, func(*store.Tx, time.Time, *store.Item) {})
}

// Find returns an export without its parts, and false if it is gone.
func Find(ctx context.Context, db *store.DB, exportID string) (x Export, found bool, err error) {
	it, err := db.Lookup(ctx, store.IDKey(exportID))
	if err != nil || it.PK == "" {
		return x, false, err
	}
	err = it.Decode(&x)
	return x, err == nil, err
}

func addExport(tx *store.Tx, now time.Time, o tenant.Owner, metadata resource.Metadata,
	count func(*store.Tx, time.Time, *store.Item)) (Export, error) {
	r := exportRecord{StoredParts: []storedPart{}}
	r.Export = Export{Resource: resource.New(id.New(id.Export, now), now, metadata), ProfileID: o.ProfileID(),
		State: Running, FormatVersion: FormatVersion, ConsistentAt: resource.Instant(now), Parts: []Part{},
		Resources: map[string]int{}}
	it, err := store.NewItem(ExportItem, o, r.ID, r)
	if err != nil {
		return r.Export, err
	}
	count(tx, now, &it)
	tx.Create(it, nil)
	return r.Export, task.Create(tx, now, task.Task{Message: task.Message{ID: ExportTask(r.ID), Kind: ExportKind,
		Queue: topology.Transfer, Subject: r.ID, Owner: o}, Deadline: now.Add(longest)}, nil)
}

// ExportTask returns the id of the task of an export.
func ExportTask(exportID string) string { return task.ID(ExportKind, exportID, 1) }

// end ends an export, with the reason if it failed, and announces it.
func (r *exportRecord) end(tx *store.Tx, it *store.Item, now time.Time, failure *ExportFailure) error {
	at, until := resource.Instant(now), resource.Instant(now.Add(keep))
	r.State, r.EndedAt, r.ExpiresAt, r.Failure = Completed, &at, &until, failure
	if failure != nil {
		r.State = Failed
	}
	it.ExpireAt = until.Time
	return event.Add(tx, now, it.Owner, event.ExportCompleted, r.Export)
}

// Objects stores the files of media, and parts.
type Objects interface {
	// Open starts reading an object. It fails with not_found if there is none.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Range starts reading a part of an object, from a place on.
	Range(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)
	// Put stores a file under its key, from its beginning.
	Put(ctx context.Context, f media.File, content io.ReadSeeker) error
	// PutNew is Put for a key without an object. It returns media.ErrExists if there is one.
	PutNew(ctx context.Context, f media.File, content io.ReadSeeker) error
	// RemoveSome removes some of the objects below a prefix, and reports whether there are more.
	RemoveSome(ctx context.Context, prefix string) (more bool, err error)
}

// The sizes of parts. A part of lines is made within a step of the worker, and has no more resources than are read in
// that time. A part of files ends with the file that reaches the size: no file has more than 256 MiB, so that no part
// has more than 1 GiB.
const (
	lineBytes = 8 << 20
	fileBytes = 256 << 20
	pageItems = 100
)

// Exporter makes exports. Each step makes one part: the bytes of a part follow from what is stored, and its key from
// the export and its number, so that a step that is taken again replaces its own part.
type Exporter struct {
	DB      *store.DB
	Objects Objects
	Now     func() time.Time
	// LineBytes and FileBytes replace the sizes of parts unless they are 0.
	LineBytes, FileBytes int64
}

// cursor is where the next part of an export begins.
type cursor struct {
	// Kind is the index of the kind of resource, and After the last one of it that was read.
	Kind   int           `json:"kind,omitempty"`
	Cursor *store.Cursor `json:"after,omitempty"`
	// Lines and Files are the numbers of parts so far.
	Lines int `json:"lines,omitempty"`
	Files int `json:"files,omitempty"`
	// NamedFiles is the number of files that the last part of lines names, and Copied that of those among them that are
	// in parts.
	NamedFiles  int `json:"named,omitempty"`
	CopiedFiles int `json:"copied,omitempty"`
}

// all reports whether all lines are written.
func (c cursor) all() bool { return c.Kind == len(kinds) }

// Export makes the next part of an export, or ends it. After a failure, the parts that are ready stay.
func (w *Exporter) Export(ctx context.Context, s *task.Run) error {
	if s.Cause() != nil {
		return w.end(s, failureOf(s.Cause()))
	}
	// Another delivery must not write an older part over this one.
	if err := s.Lease(ctx, nil); err != nil {
		return err
	}
	it, r, err := running[exportRecord](ctx, w.DB, s)
	if err != nil || r == nil {
		return err
	}
	var c cursor
	if err := s.Recall("cursor", &c); err != nil {
		return err
	}
	var add func(*exportRecord)
	switch {
	case len(r.StoredParts) >= mostParts:
		return w.end(s, &ExportFailure{"too_large", fmt.Sprintf("The export has more than %d parts. Export the "+
			"profiles one by one.", mostParts)})
	case c.CopiedFiles < c.NamedFiles:
		add, err = w.files(ctx, s, &r.Export, &c)
	case !c.all():
		add, err = w.lines(ctx, s, &r.Export, it.Owner.Profile != "", &c)
	default:
		return w.end(s, nil)
	}
	if err != nil {
		return task.Again(err)
	}
	s.Also(changing(w.DB, s, w.Now, func(_ *store.Tx, _ *store.Item, r *exportRecord) error {
		add(r)
		return nil
	}))
	return errors.Join(s.Keep("cursor", c), s.Sleep(0))
}

// end ends the export of a step.
func (w *Exporter) end(s *task.Run, failure *ExportFailure) error {
	return s.End(changing(w.DB, s, w.Now, func(tx *store.Tx, it *store.Item, r *exportRecord) error {
		return r.end(tx, it, w.Now(), failure)
	}))
}

// failureOf returns the failure of work that cannot go on.
func failureOf(cause error) *ExportFailure {
	if errors.Is(cause, task.ErrDeadline) {
		return &ExportFailure{"too_slow", "It has not ended within a day. Start it again."}
	}
	return &ExportFailure{"internal", "Something went wrong on our side. Start it again."}
}

// fileLine is a file that a part of lines names.
type fileLine struct {
	Key string `json:"key"`
}

// lines makes a part of lines, notes the files that it names, and returns how it changes the export.
func (w *Exporter) lines(ctx context.Context, s *task.Run, x *Export, ofProfile bool, c *cursor) (func(*exportRecord),
	error) {
	c.Lines, c.NamedFiles, c.CopiedFiles = c.Lines+1, 0, 0
	part := &linesPart{x: x, files: []string{}, end: End{Kind: endLine, Part: c.Lines,
		Resources: map[string]int{}, Changed: []string{}}}
	if err := part.write(Header{headerLine, Format, FormatVersion, x.ID, s.Account, s.Mode, x.ProfileID,
		x.ConsistentAt, c.Lines}); err != nil {
		return nil, err
	}
	most := cmp.Or(w.LineBytes, lineBytes)
	for !c.all() && int64(part.Len()) < most {
		k := kinds[c.Kind]
		page, err := w.DB.List(ctx, k.query(s, x, ofProfile, c.Cursor))
		if err != nil {
			return nil, err
		}
		for _, it := range page.Items {
			if err := part.add(ctx, w.DB, k, it); err != nil {
				return nil, err
			}
		}
		if c.Cursor = page.Next; c.Cursor == nil {
			c.Kind++
		}
	}
	part.end.Last = c.all()
	if err := part.write(part.end); err != nil {
		return nil, err
	}
	var list bytes.Buffer
	for _, key := range part.files {
		if err := json.NewEncoder(&list).Encode(fileLine{key}); err != nil {
			return nil, err
		}
	}
	if c.NamedFiles = len(part.files); c.NamedFiles > 0 {
		if _, err := w.store(ctx, s, kindNamed, c.Lines, &list); err != nil {
			return nil, err
		}
	}
	stored, err := w.store(ctx, s, KindLines, c.Lines, &part.Buffer)
	return func(r *exportRecord) {
		r.StoredParts = append(r.StoredParts, stored)
		for name, n := range part.end.Resources {
			r.Resources[name] += n
		}
	}, err
}

// store stores a part under the key of its number. Its content is spooled to a file before.
func (w *Exporter) store(ctx context.Context, s *task.Run, kind string, n int, content io.Reader) (storedPart,
	error) {
	spooled, err := media.Spool(ctx, content, 1<<30)
	if err != nil {
		return storedPart{}, err
	}
	defer spooled.Close()
	f := media.File{Key: objectKey(Exports, s.Owner, s.Subject, kind, n), MIMEType: mimeType(kind),
		Bytes: spooled.Size, SHA256: hex.EncodeToString(spooled.Sum)}
	return storedPart{kind, n, spooled.Size, spooled.Sum}, w.Objects.Put(ctx, f, spooled)
}

// query lists the resources of a kind that are not younger than an export.
func (k exported) query(s *task.Run, x *Export, ofProfile bool, after *store.Cursor) store.Query {
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
func (p *linesPart) add(ctx context.Context, db *store.DB, k exported, it store.Item) error {
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
		FactoryID string    `json:"factory_id"`
		UpdatedAt time.Time `json:"updated_at"`
	}
	if err := json.Unmarshal(data, &is); err != nil {
		return fmt.Errorf("transfer: read %s: %w", it.PK, err)
	}
	if k.idMember() != "id" {
		is.ID = is.FactoryID
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

// files makes a part of the files that the last part of lines names, and returns how it changes the export.
func (w *Exporter) files(ctx context.Context, s *task.Run, x *Export, c *cursor) (func(*exportRecord), error) {
	list, err := w.list(ctx, s, c.Lines)
	if err != nil {
		return nil, err
	}
	archive, err := os.CreateTemp("", "export-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = errors.Join(archive.Close(), os.Remove(archive.Name())) }()
	out, size, copied, missing := tar.NewWriter(archive), int64(0), 0, 0
	for ; c.CopiedFiles < len(list) && size < cmp.Or(w.FileBytes, fileBytes); c.CopiedFiles++ {
		n, err := w.copy(ctx, out, x, list[c.CopiedFiles].Key)
		switch {
		case errs.CodeOf(err) == errs.NotFound:
			missing++
		case err != nil:
			return nil, err
		default:
			copied, size = copied+1, size+n
		}
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	if copied == 0 {
		return func(r *exportRecord) { r.MissingFiles += missing }, nil
	}
	c.Files++
	if _, err := archive.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	stored, err := w.store(ctx, s, KindFiles, c.Files, archive)
	return func(r *exportRecord) {
		r.StoredParts = append(r.StoredParts, stored)
		r.Files, r.MissingFiles = r.Files+copied, r.MissingFiles+missing
	}, err
}

// list reads the files that the n-th part of lines names.
func (w *Exporter) list(ctx context.Context, s *task.Run, n int) (list []fileLine, err error) {
	body, err := w.Objects.Open(ctx, objectKey(Exports, s.Owner, s.Subject, kindNamed, n))
	if err != nil {
		return nil, err
	}
	defer body.Close()
	for lines := json.NewDecoder(body); ; {
		var one fileLine
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
