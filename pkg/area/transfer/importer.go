package transfer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/quota"
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
	return safehttp.New(safehttp.Options{AllowLoopback: loopback, MaxBody: mostPart + 1, Timeout: fetchTime,
		Redirects: safehttp.MaxRedirects})
}

// Importer is the handler of the tasks of imports. It fetches all parts first: their URLs may end soon. Then it notes
// which files the lines name, reads these files and keeps copies of them, and takes the lines, a step for some of each.
// Each resource is created in a transaction of its own, under an id that follows from the old one, so that a step that
// is taken again finds what is there; its files are stored after that.
type Importer struct {
	DB      *store.DB
	Objects Objects
	URLs    URLs
	Now     func() time.Time
	// Envelope seals the secrets of webhooks, which are drawn from Random.
	Envelope *seal.Envelope
	Random   io.Reader
	// Manifests reads the manifests of files. If it is nil, they are not checked.
	Manifests provenance.Reader
	// Addresses checks the addresses of webhooks. If it is nil, only public ones are permitted.
	Addresses safehttp.Checker
	// Lines and Entries replace the numbers of lines and of entries of archives of a step unless they are 0.
	Lines, Entries int
}

var (
	_ task.Handler = (*Importer)(nil)
	_ task.Failer  = (*Importer)(nil)
)

// place is the payload of an import's task: what is done next.
type place struct {
	// Fetched is the number of parts that are in the bucket.
	Fetched int `json:"fetched,omitempty"`
	// Named is the number of parts of lines whose files are noted, and NamedLine that of lines of the next one.
	Named     int `json:"named,omitempty"`
	NamedLine int `json:"named_line,omitempty"`
	// Files is the number of parts whose files are read, and At the place of the next entry of the next one.
	Files int   `json:"files,omitempty"`
	At    int64 `json:"at,omitempty"`
	// Part is the number of parts of lines that are taken, and Line that of lines of the next one.
	Part int `json:"part,omitempty"`
	Line int `json:"line,omitempty"`
	// Joined reports that the map is whole, or that the import has failed: what it has read is removed then.
	Joined  bool     `json:"joined,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
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
	if err := s.Guard(ctx, nil); errors.Is(err, task.ErrDeaths) {
		return w.end(s, p.tooHard()), nil
	} else if err != nil {
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
		return task.Outcome{Payload: place{Joined: true, Failure: &ended.Failure}}, nil
	case errors.As(err, &of):
		return task.Outcome{Payload: place{Joined: true, Failure: &Failure{authority.Code, of.Error()}}}, nil
	case err != nil && !errors.Is(err, task.ErrMoved):
		err = task.Again(err)
	}
	return o, err
}

// tooHard returns the failure of a part that cannot be read.
func (p place) tooHard() *Failure {
	what := fmt.Sprintf("lines of part %d", p.Part+1)
	switch {
	case p.Failure != nil || p.Joined:
		what = "end of the import"
	case p.Named == 0 && p.NamedLine == 0 && p.Files == 0 && p.Part == 0 && p.Line == 0:
		what = fmt.Sprintf("beginning of the import, or part %d", p.Fetched)
	case p.Part == 0 && p.Line == 0:
		what = fmt.Sprintf("files of part %d, from byte %d,", p.Files+1, p.At)
	}
	return &Failure{"unreadable", fmt.Sprintf("Reading the %s has ended our function %d times. Export again, and "+
		"import "+
		"the new parts.", what, task.MostDeaths)}
}

func (w *Importer) step(ctx context.Context, s *task.Step, r *importRecord, p place) (o task.Outcome, err error) {
	if p.Joined {
		return w.clean(ctx, s, p)
	}
	by, err := r.Authority.Find(ctx, w.DB, s.Owner, w.Now())
	if err == nil {
		err = authority.Lacks(by.Principal, auth.AccountManage)
	}
	if err != nil {
		return o, err
	}
	ctx = auth.NewContext(ctx, by.Principal)
	others := func(n int, kind resource.Text) bool { return n < len(r.Parts) && r.Parts[n].Kind != kind }
	switch {
	case p.Fetched < len(r.Parts):
		return w.fetch(ctx, s, r, p)
	case others(p.Named, KindLines):
		p.Named, p.NamedLine = p.Named+1, 0
	case p.Named < len(r.Parts):
		return w.name(ctx, s, r, p)
	case others(p.Files, KindFiles):
		p.Files, p.At = p.Files+1, 0
	case p.Files < len(r.Parts):
		return w.files(ctx, s, r, p)
	case others(p.Part, KindLines):
		p.Part, p.Line = p.Part+1, 0
	case p.Part < len(r.Parts):
		return w.lines(ctx, s, r, p)
	default:
		if err := w.join(ctx, s, r); err != nil {
			return o, err
		}
		p.Joined = true
	}
	o.Payload = p
	return o, nil
}

// clean removes some of what the import has read, and then ends it.
func (w *Importer) clean(ctx context.Context, s *task.Step, p place) (o task.Outcome, err error) {
	more, err := w.Objects.RemoveSome(ctx, inputPrefix(s))
	if err != nil {
		return o, err
	}
	if more {
		return task.Outcome{Payload: p}, nil
	}
	return w.end(s, p.Failure), nil
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
	return task.Outcome{Done: true, Payload: place{}, Join: changing(w.DB, s, w.Now,
		func(tx *store.Tx, it *store.Item, r *importRecord) error {
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
			if r.Reserved > 0 {
				tx.Count(quota.BytesKey(s.Owner), -r.Reserved, math.MaxInt64, store.ErrConflict)
				r.Reserved = 0
			}
			e, err := event.New(w.Now(), it.Owner, event.ImportCompleted, r.Import, nil)
			if err == nil {
				tx.Create(e, nil)
			}
			return err
		})}
}

// Fail implements task.Failer: what was imported until then stays.
func (w *Importer) Fail(_ context.Context, s *task.Step, cause error) (task.Outcome, error) {
	f := failureOf(cause)
	return w.end(s, &Failure{f.Code, f.Message}), nil
}

// mapped is a line of a map.
type mapped struct {
	// Kind of the resource. Empty for one that is a part of the resource before it.
	Kind string `json:"kind,omitempty"`
	// OldID is its id in the export, and NewID that of what was imported.
	OldID string `json:"old_id"`
	NewID string `json:"new_id"`
}

// scan reads the lines of a part from one on, until a function returns false, or for as many as a step takes. It
// returns the number of lines that are read, and whether they were the last.
func (w *Importer) scan(ctx context.Context, s *task.Step, part, from int,
	take func(n int, text []byte) (more bool, err error)) (n int, over bool, err error) {
	body, err := w.Objects.Open(ctx, partKey(s, part+1))
	if err != nil {
		return 0, false, err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 64<<10), mostLine)
	for lines.Scan() {
		if n++; n <= from {
			continue
		}
		if more, err := take(n, lines.Bytes()); err != nil || !more || n == from+w.most() {
			return n, false, err
		}
		if err := ctx.Err(); err != nil {
			return n, false, err
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return n, false, failed("invalid_format", "Line %d of part %d has more than 1 MiB.", n+1, part+1)
	} else if err != nil {
		return n, false, err
	}
	return n, true, nil
}

// lines takes some lines of a part.
func (w *Importer) lines(ctx context.Context, s *task.Step, r *importRecord, p place) (o task.Outcome, err error) {
	t := &taker{w: w, s: s, record: &importRecord{Import: Import{Resources: map[string]Taken{}}}, source: r.Source,
		factories: factory.NewService(w.DB, w.Now), found: map[string]store.Item{}, principal: auth.FromContext(ctx),
		by: r.Authority, replay: r.Replay}
	next, over, err := w.scan(ctx, s, p.Part, p.Line, func(n int, text []byte) (bool, error) {
		err := t.line(ctx, p.Part+1, n, text)
		return t.bytes < stepBytes, err
	})
	if err != nil {
		return o, err
	}
	if p.Line = next; over {
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
	r.Maps, r.Mapped = maps, r.Mapped+t.count
	r.Named, r.Files = r.Named+t.files, r.Files+t.copied
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
