package transfer

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/probe"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// The bounds of parts that are imported: a part, a line of one, and the lines that one step takes.
const (
	mostPart  = 1 << 30
	mostLine  = 1 << 20
	stepLines = 500
	fetchTime = 8 * time.Minute
	fetches   = 4
)

// URLs fetches from the addresses of callers. NewClient returns an implementation.
type URLs interface {
	Do(req *http.Request) (*http.Response, error)
}

// NewClient returns the client for the addresses of parts.
func NewClient(loopback bool) *safehttp.Client {
	return safehttp.New(safehttp.Options{AllowLoopback: loopback, MaxBody: mostPart + 1, Timeout: fetchTime})
}

// Importer is the handler of the tasks of imports. It fetches all parts first: their URLs may end soon. Then it takes
// the lines, a step for some of them, and then the files. Each resource is created in a transaction of its own, under
// an id that follows from the old one, so that a step that is taken again finds what is there.
type Importer struct {
	DB      *store.DB
	Objects Objects
	URLs    URLs
	Now     func() time.Time
	// Envelope seals the secrets of webhooks, which are drawn from Random.
	Envelope *seal.Envelope
	Random   io.Reader
	// Lines replaces the number of lines of a step unless it is 0.
	Lines int
}

var (
	_ task.Handler = (*Importer)(nil)
	_ task.Failer  = (*Importer)(nil)
)

// place is the payload of an import's task: what is done next.
type place struct {
	// Fetched is the number of parts that are in the bucket.
	Fetched int `json:"fetched,omitempty"`
	// Part is the number of parts of lines that are taken, and Line that of lines of the next one.
	Part int `json:"part,omitempty"`
	Line int `json:"line,omitempty"`
	// Files is the number of parts whose files are taken.
	Files int `json:"files,omitempty"`
}

// failedError is an error of a step that ends the import.
type failedError struct{ Failure }

func (f *failedError) Error() string { return f.Code + ": " + f.Message }

func failed(code, format string, args ...any) error {
	return &failedError{Failure{code, fmt.Sprintf(format, args...)}}
}

// Step takes the next lines or files.
func (w *Importer) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p place
	if err := s.Decode(&p); err != nil {
		return o, task.Permanent(err)
	}
	if err := s.Lease(ctx, nil); err != nil {
		return o, err
	}
	_, r, err := running[importRecord](ctx, w.DB, s)
	if err != nil {
		return o, err
	}
	o, err = w.step(ctx, s, r, p)
	var ended *failedError
	var of *authority.EndedError
	switch {
	case errors.As(err, &ended):
		return w.end(s, &ended.Failure), nil
	case errors.As(err, &of):
		return w.end(s, &Failure{authority.Code, of.Error()}), nil
	case err != nil && !errors.Is(err, task.ErrMoved):
		err = task.Again(err)
	}
	return o, err
}

func (w *Importer) step(ctx context.Context, s *task.Step, r *importRecord, p place) (o task.Outcome, err error) {
	by, err := r.Authority.Find(ctx, w.DB, s.Owner, w.Now())
	if err == nil {
		err = authority.Lacks(by.Principal, auth.AccountManage)
	}
	if err != nil {
		return o, err
	}
	ctx = auth.NewContext(ctx, by.Principal)
	switch {
	case p.Fetched < len(r.Parts):
		return w.fetch(ctx, s, r, p)
	case p.Part < len(r.Parts) && r.Parts[p.Part].Kind != KindLines:
		p.Part, p.Line = p.Part+1, 0
	case p.Part < len(r.Parts):
		return w.lines(ctx, s, r, p)
	case p.Files < len(r.Parts) && r.Parts[p.Files].Kind != KindFiles:
		p.Files++
	case p.Files < len(r.Parts):
		return w.files(ctx, s, r, p)
	default:
		if err := w.join(ctx, s, r); err != nil {
			return o, err
		}
		return w.end(s, nil), nil
	}
	o.Payload = p
	return o, nil
}

// change is an outcome that changes the import.
func (w *Importer) change(s *task.Step, next place, change func(*store.Item, *importRecord)) task.Outcome {
	return task.Outcome{Payload: next, Join: changing(w.DB, s, w.Now,
		func(_ *store.Tx, it *store.Item, r *importRecord) error {
			change(it, r)
			return nil
		})}
}

// end ends the import of a step.
func (w *Importer) end(s *task.Step, failure *Failure) task.Outcome {
	o := w.change(s, place{}, func(it *store.Item, r *importRecord) {
		stays := keep
		if r.Replay != nil {
			stays *= 60 // longer than what the rehearsal may play
		}
		at, until := resource.Instant(w.Now()), resource.Instant(w.Now().Add(stays))
		r.State, r.EndedAt, r.ExpiresAt, r.Failure, r.URLs = Completed, &at, &until, failure, nil
		if failure != nil {
			r.State = Failed
		}
		r.MissingFiles = max(0, r.Named-r.Files)
		it.ExpireAt = until.Time
	})
	o.Done = true
	return o
}

// Fail implements task.Failer: what was imported until then stays.
func (w *Importer) Fail(_ context.Context, s *task.Step, cause error) (task.Outcome, error) {
	f := failureOf(cause)
	return w.end(s, &Failure{f.Code, f.Message}), nil
}

// mapped is a line of a map.
type mapped struct {
	// Type of the resource. Empty for one that is a part of the resource before it.
	Type string `json:"type,omitempty"`
	// OldID is its id in the export, and NewID that of what was imported.
	OldID string `json:"old_id"`
	NewID string `json:"new_id"`
}

// lines takes some lines of a part.
func (w *Importer) lines(ctx context.Context, s *task.Step, r *importRecord, p place) (o task.Outcome, err error) {
	body, err := w.Objects.Open(ctx, partKey(s, p.Part+1))
	if err != nil {
		return o, err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 64<<10), mostLine)
	t := &taker{w: w, s: s, record: &importRecord{Import: Import{Resources: map[string]Taken{}}}, source: r.Source,
		factories: factory.NewService(w.DB, w.Now), found: map[string]store.Item{}, principal: auth.FromContext(ctx),
		by: r.Authority, replay: r.Replay}
	n, most, over := 0, w.most(), true
	for lines.Scan() {
		if n++; n <= p.Line {
			continue
		}
		if n > p.Line+most {
			n, over = n-1, false
			break
		}
		if err := t.line(ctx, p.Part+1, n, lines.Bytes()); err != nil {
			return o, err
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return o, failed("invalid_format", "Line %d of part %d has more than 1 MiB.", n+1, p.Part+1)
	} else if err != nil {
		return o, err
	}
	if p.Line = n; over {
		p.Part, p.Line = p.Part+1, 0
	}
	maps := r.Maps + 1
	if err := w.put(ctx, s, maps, &t.mapped); err != nil {
		return o, err
	}
	return w.change(s, p, func(_ *store.Item, r *importRecord) { r.took(t, maps) }), nil
}

func (w *Importer) most() int {
	if w.Lines > 0 {
		return w.Lines
	}
	return stepLines
}

// took adds what a step has taken.
func (r *importRecord) took(t *taker, maps int) {
	r.Maps, r.Mapped, r.Source = maps, r.Mapped+t.count, t.source
	if r.Source != nil {
		r.ExportID = resource.Text(r.Source.ExportID)
	}
	r.Named += t.files
	for name, taken := range t.record.Resources {
		all := r.Resources[name]
		all.Imported += taken.Imported
		r.Resources[name] = all
	}
	for _, why := range t.left {
		r.leaveOut(why)
	}
}

// put stores a part of the map, or the whole one as number 0.
func (w *Importer) put(ctx context.Context, s *task.Step, n int, content io.Reader) error {
	f, err := media.Spool(ctx, content, mostPart)
	if err != nil {
		return err
	}
	defer f.Close()
	return w.Objects.Put(ctx, media.File{Key: objectKey(Imports, s.Owner, s.Subject, kindMap, n), MIMEType: linesType,
		Bytes: f.Size, SHA256: hex.EncodeToString(f.Sum)}, f)
}

// join joins the parts of the map.
func (w *Importer) join(ctx context.Context, s *task.Step, r *importRecord) error {
	var whole bytes.Buffer
	for n := 1; n <= r.Maps; n++ {
		body, err := w.Objects.Open(ctx, objectKey(Imports, s.Owner, s.Subject, kindMap, n))
		if err != nil {
			return err
		}
		_, err = io.Copy(&whole, body)
		if err := errors.Join(err, body.Close()); err != nil {
			return err
		}
	}
	return w.put(ctx, s, 0, &whole)
}

// files takes the files of a part.
func (w *Importer) files(ctx context.Context, s *task.Step, r *importRecord, p place) (o task.Outcome, err error) {
	body, err := w.Objects.Open(ctx, partKey(s, p.Files+1))
	if err != nil {
		return o, err
	}
	defer body.Close()
	if r.Source == nil {
		return o, failed("invalid_format", "No part has lines, so that nothing says which export the files are of.")
	}
	ids, taken := names{s.Owner, r.Source.ExportID}, 0
	for archive := tar.NewReader(body); ; {
		entry, err := archive.Next()
		if err == io.EOF {
			break
		}
		if errors.Is(err, tar.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) {
			return o, failed("invalid_format", "Part %d is neither JSON lines nor a tar archive.", p.Files+1)
		}
		if err != nil {
			return o, err
		}
		f, ok := parseFile(entry.Name)
		if !ok || entry.Typeflag != tar.TypeReg {
			continue
		}
		kept, err := w.keep(ctx, f.of(ids).key(s.Owner), archive)
		if err != nil {
			return o, err
		}
		if kept {
			taken++
		}
	}
	p.Files++
	return w.change(s, p, func(_ *store.Item, r *importRecord) { r.Files += taken }), nil
}

// keep stores a file. It leaves out what is none of a format that resources have.
func (w *Importer) keep(ctx context.Context, key string, content io.Reader) (bool, error) {
	f, err := media.Spool(ctx, content, mostFile)
	if errors.Is(err, media.ErrTooLarge) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	mime := "text/vtt"
	if info, err := probe.Read(f, f.Size); err == nil {
		mime = info.MIMEType
	} else if !errors.Is(err, probe.ErrUnsupported) || !isCaptions(f) {
		return false, nil
	}
	return true, w.Objects.Put(ctx, media.File{Key: key, MIMEType: mime, Bytes: f.Size,
		SHA256: hex.EncodeToString(f.Sum)}, f)
}

// isCaptions reports whether a file has WebVTT.
func isCaptions(f io.ReaderAt) bool {
	var head [6]byte
	_, err := f.ReadAt(head[:], 0)
	return err == nil && string(head[:]) == "WEBVTT"
}
