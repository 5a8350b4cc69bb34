package transfer

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

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

// Exporter is the handler of the tasks of exports. Each step makes one part: the bytes of a part follow from what is
// stored, and its key from the export and its number, so that a step that is taken again replaces its own part.
type Exporter struct {
	DB      *store.DB
	Objects Objects
	Now     func() time.Time
	// LineBytes and FileBytes replace the sizes of parts unless they are 0.
	LineBytes, FileBytes int64
}

var (
	_ task.Handler = (*Exporter)(nil)
	_ task.Failer  = (*Exporter)(nil)
)

// cursor is the payload of an export's task: where its next part begins.
type cursor struct {
	// Kind is the index of the kind of resource, and After the last one of it that was read.
	Kind  int           `json:"kind,omitempty"`
	After *store.Cursor `json:"after,omitempty"`
	// Lines and Files are the numbers of parts so far.
	Lines int `json:"lines,omitempty"`
	Files int `json:"files,omitempty"`
	// Named is the number of files that the last part of lines names, and Copied that of those among them that are in
	// parts.
	Named  int `json:"named,omitempty"`
	Copied int `json:"copied,omitempty"`
}

// all reports whether all lines are written.
func (c cursor) all() bool { return c.Kind == len(kinds) }

// Step makes the next part, or ends the export.
func (w *Exporter) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var c cursor
	if err := s.Decode(&c); err != nil {
		return o, task.Permanent(err)
	}
	// Another delivery must not write an older part over this one.
	if err := s.Lease(ctx, nil); err != nil {
		return o, err
	}
	it, r, err := running[exportRecord](ctx, w.DB, s)
	if err != nil {
		return o, err
	}
	if len(r.Stored) >= mostParts {
		return w.end(s, &ExportFailure{"too_large", fmt.Sprintf("The export has more than %d parts. Export the "+
			"profiles one by one.", mostParts)}), nil
	}
	var made *made
	switch {
	case c.Copied < c.Named:
		made, err = w.files(ctx, s, &r.Export, c)
	case !c.all():
		made, err = w.lines(ctx, s, &r.Export, it.Owner.Profile != "", c)
	default:
		return w.end(s, nil), nil
	}
	if err != nil {
		return o, task.Again(err)
	}
	o.Payload = made.next
	o.Join = changing(w.DB, s, w.Now, func(_ *store.Tx, _ *store.Item, r *exportRecord) error {
		made.add(r)
		return nil
	})
	return o, nil
}

// end ends the export of a step.
func (w *Exporter) end(s *task.Step, failure *ExportFailure) task.Outcome {
	return task.Outcome{Done: true, Join: changing(w.DB, s, w.Now,
		func(tx *store.Tx, it *store.Item, r *exportRecord) error { return r.end(tx, it, w.Now(), failure) })}
}

// Fail implements task.Failer: the parts that are ready stay.
func (w *Exporter) Fail(_ context.Context, s *task.Step, cause error) (task.Outcome, error) {
	return w.end(s, failureOf(cause)), nil
}

// failureOf returns the failure of work that cannot go on.
func failureOf(cause error) *ExportFailure {
	if errors.Is(cause, task.ErrDeadline) {
		return &ExportFailure{"too_slow", "It has not ended within a day. Start it again."}
	}
	return &ExportFailure{"internal", "Something went wrong on our side. Start it again."}
}

// made is a part that was made.
type made struct {
	next      cursor
	part      *storedPart // nil if all files of it were gone
	resources map[string]int
	copied    int
	missing   int
}

// add adds the part to its export.
func (m *made) add(r *exportRecord) {
	if m.part != nil {
		r.Stored = append(r.Stored, *m.part)
	}
	for name, n := range m.resources {
		r.Resources[name] += n
	}
	r.Files += m.copied
	r.MissingFiles += m.missing
}

// put stores a part under the key of its number.
func (w *Exporter) put(ctx context.Context, s *task.Step, kind string, n int, content *media.Spooled) (*storedPart,
	error) {
	f := media.File{Key: objectKey(Exports, s.Owner, s.Subject, kind, n), MIMEType: mimeType(kind),
		Bytes: content.Size, SHA256: hex.EncodeToString(content.Sum)}
	return &storedPart{kind, n, content.Size, content.Sum}, w.Objects.Put(ctx, f, content)
}
