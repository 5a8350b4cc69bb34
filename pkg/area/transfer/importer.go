package transfer

import (
	"bufio"
	"bytes"
	"cmp"
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

// Importer carries out imports. It fetches all parts first: their URLs may end soon. Then it notes
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

// place is how far an import is.
type place struct {
	// Fetched is the number of parts that are in the bucket.
	Fetched int `json:"fetched,omitempty"`
	// Named is behind the lines whose files are noted, Files behind the files that are read, and Taken behind the lines
	// that are taken.
	Named at `json:"named,omitzero"`
	Files at `json:"files,omitzero"`
	Taken at `json:"taken,omitzero"`
	// Joined reports that the map is whole, or that the import has failed: what it has read is removed then.
	Joined  bool     `json:"joined,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
}

// at is a place in the parts of a kind: the number of parts before it, and that of lines or bytes of the next part.
type at struct {
	Part int   `json:"part,omitempty"`
	Done int64 `json:"done,omitempty"`
}

// in moves the place to the next part of a kind, and reports whether there is one.
func (a *at) in(parts []ImportedPart, kind resource.Text) bool {
	for a.Part < len(parts) && parts[a.Part].Kind != kind {
		*a = at{Part: a.Part + 1}
	}
	return a.Part < len(parts)
}

// failedError is an error of a step that ends the import.
type failedError struct{ Failure }

func (f *failedError) Error() string { return f.Code + ": " + f.Message }

func failed(code, format string, args ...any) error {
	return &failedError{Failure{code, fmt.Sprintf(format, args...)}}
}

// Import takes the next lines or files of an import, or ends it. After a failure, what was imported until then stays.
func (w *Importer) Import(ctx context.Context, s *task.Run) error {
	if s.Cause() != nil {
		f := failureOf(s.Cause())
		return w.end(s, &Failure{f.Code, f.Message})
	}
	var p place
	if err := s.Kept("place", &p); err != nil {
		return err
	}
	if err := s.Guard(ctx, nil); errors.Is(err, task.ErrDeaths) {
		return w.end(s, p.tooHard())
	} else if err != nil {
		return err
	}
	_, r, err := running[importRecord](ctx, w.DB, s)
	if err != nil || r == nil {
		return err
	}
	if p.Joined {
		more, err := w.Objects.RemoveSome(ctx, inputPrefix(s))
		switch {
		case err != nil:
			return task.Again(err)
		case more:
			return s.Sleep(0)
		}
		return w.end(s, p.Failure)
	}
	err = w.next(ctx, s, r, &p)
	var ended *failedError
	var of *authority.EndedError
	switch {
	case errors.As(err, &ended):
		p = place{Joined: true, Failure: &ended.Failure}
	case errors.As(err, &of):
		p = place{Joined: true, Failure: &Failure{authority.Code, of.Error()}}
	case err != nil && !errors.Is(err, task.ErrMoved):
		return task.Again(err)
	case err != nil:
		return err
	}
	return errors.Join(s.Keep("place", p), s.Sleep(0))
}

// tooHard returns the failure of a part that cannot be read.
func (p place) tooHard() *Failure {
	what := fmt.Sprintf("lines of part %d", p.Taken.Part+1)
	switch begin := (at{}); {
	case p.Failure != nil || p.Joined:
		what = "end of the import"
	case p.Named == begin && p.Files == begin && p.Taken == begin:
		what = fmt.Sprintf("beginning of the import, or part %d", p.Fetched)
	case p.Taken == begin:
		what = fmt.Sprintf("files of part %d, from byte %d,", p.Files.Part+1, p.Files.Done)
	}
	return &Failure{"unreadable", fmt.Sprintf("Reading the %s has ended our function %d times. Export again, and "+
		"import the new parts.", what, task.MostDeaths)}
}

// next does what is next, on behalf of the caller, and moves the place behind it.
func (w *Importer) next(ctx context.Context, s *task.Run, r *importRecord, p *place) error {
	by, err := r.Authority.Find(ctx, w.DB, s.Owner, w.Now())
	if err == nil {
		err = authority.Lacks(by.Principal, auth.AccountManage)
	}
	if err != nil {
		return err
	}
	ctx = auth.NewContext(ctx, by.Principal)
	switch {
	case p.Fetched < len(r.Parts):
		return w.fetch(ctx, s, r, p)
	case p.Named.in(r.Parts, KindLines):
		return w.name(ctx, s, r, p)
	case p.Files.in(r.Parts, KindFiles):
		return w.files(ctx, s, r, p)
	case p.Taken.in(r.Parts, KindLines):
		return w.lines(ctx, s, r, p)
	}
	p.Joined = true
	return w.join(ctx, s, r)
}

// change commits a change of the import with the step.
func (w *Importer) change(s *task.Run, change func(*importRecord)) {
	s.Also(changing(w.DB, s, w.Now, func(_ *store.Tx, _ *store.Item, r *importRecord) error {
		change(r)
		return nil
	}))
}

// end ends the import of a step.
func (w *Importer) end(s *task.Run, failure *Failure) error {
	s.Forget("place")
	return s.End(changing(w.DB, s, w.Now,
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
		}))
}

// mapped is a line of a map.
type mapped struct {
	// Kind of the resource. Empty for one that is a part of the resource before it.
	Kind string `json:"kind,omitempty"`
	// OldID is its id in the export, and NewID that of what was imported.
	OldID string `json:"old_id"`
	NewID string `json:"new_id"`
}

// scan reads the lines of a part from a place on, until a function returns false, or for as many as a step takes. It
// returns the place behind them.
func (w *Importer) scan(ctx context.Context, s *task.Run, from at,
	take func(n int, text []byte) (more bool, err error)) (next at, err error) {
	body, err := w.Objects.Open(ctx, partKey(s, from.Part+1))
	if err != nil {
		return from, err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 64<<10), mostLine)
	n, last := 0, int(from.Done)+cmp.Or(w.Lines, stepLines)
	for lines.Scan() {
		if n++; n <= int(from.Done) {
			continue
		}
		more, err := take(n, lines.Bytes())
		if err = cmp.Or(err, ctx.Err()); err != nil || !more || n == last {
			return at{from.Part, int64(n)}, err
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return from, failed("invalid_format", "Line %d of part %d has more than 1 MiB.", n+1, from.Part+1)
	} else if err != nil {
		return from, err
	}
	return at{Part: from.Part + 1}, nil
}

// lines takes some lines of a part.
func (w *Importer) lines(ctx context.Context, s *task.Run, r *importRecord, p *place) (err error) {
	t := &taker{w: w, s: s, record: &importRecord{Import: Import{Resources: map[string]Taken{}}}, source: r.Source,
		factories: factory.NewService(w.DB, w.Now), found: map[string]store.Item{}, principal: auth.FromContext(ctx),
		by: r.Authority, replay: r.Replay}
	p.Taken, err = w.scan(ctx, s, p.Taken, func(n int, text []byte) (bool, error) {
		err := t.line(ctx, p.Taken.Part+1, n, text)
		return t.bytes < stepBytes, err
	})
	if err != nil {
		return err
	}
	maps := r.Maps + 1
	w.change(s, func(r *importRecord) { r.took(t, maps) })
	return w.put(ctx, s, maps, &t.mapped)
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
func (w *Importer) put(ctx context.Context, s *task.Run, n int, content io.Reader) error {
	f, err := media.Spool(ctx, content, mostPart)
	if err != nil {
		return err
	}
	defer f.Close()
	return w.Objects.Put(ctx, media.File{Key: objectKey(Imports, s.Owner, s.Subject, kindMap, n), MIMEType: linesType,
		Bytes: f.Size, SHA256: hex.EncodeToString(f.Sum)}, f)
}

// join joins the parts of the map.
func (w *Importer) join(ctx context.Context, s *task.Run, r *importRecord) error {
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
