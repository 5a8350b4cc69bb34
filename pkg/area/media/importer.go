package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/heif"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// fetchTime bounds one attempt to fetch a file.
const fetchTime = 80 * time.Second

// maxFetches bounds how often a file is fetched that does not arrive.
const maxFetches = 4

// Objects stores files.
type Objects interface {
	// Open starts reading an object. It fails with not_found if there is none.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Put stores a file under its key, from its beginning.
	Put(ctx context.Context, f media.File, content io.ReadSeeker) error
	// Delete removes an object, if there is one.
	Delete(ctx context.Context, key string) error
	// Remove removes all files of a place.
	Remove(ctx context.Context, place media.Place) error
}

// URLs fetches from the addresses of callers. NewClient returns an implementation.
type URLs interface {
	Do(req *http.Request) (*http.Response, error)
}

// NewClient returns the client for the addresses that callers send.
func NewClient(loopback bool) *safehttp.Client {
	return safehttp.New(safehttp.Options{AllowLoopback: loopback, MaxBody: media.Limit("") + 1, Timeout: fetchTime,
		Redirects: safehttp.MaxRedirects})
}

// Importer is the handler of the tasks of media.
type Importer struct {
	DB      *store.DB
	Objects Objects
	URLs    URLs
	// Manifests reads the manifests of files. If it is nil, they are not checked.
	Manifests provenance.Reader
	// FFmpeg decodes HEIC and AVIF. If it is nil, they are refused.
	FFmpeg heif.Program
	Now    func() time.Time
}

var _ task.Handler = (*Importer)(nil)

func placeOf(o tenant.Owner, mediaID string) media.Place {
	return media.Place{Owner: o, Resource: mediaID, Attempt: 1}
}

// Step takes the next step of a media's life. An error is none of the file: it is tried again without end.
func (w *Importer) Step(ctx context.Context, s *task.Step) (task.Outcome, error) {
	return Endless(w.step(ctx, s))
}

// Endless makes a failed step be tried again without end: the error of a file that cannot be used is its outcome.
func Endless(o task.Outcome, err error) (task.Outcome, error) {
	var retry *task.RetryError
	if err == nil || errors.As(err, &retry) || errors.Is(err, task.ErrMoved) {
		return o, err
	}
	return o, task.Again(err)
}

func (w *Importer) step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	_, r, err := w.read(ctx, s)
	if errors.Is(err, task.ErrMoved) {
		return w.Removed(ctx, s)
	}
	if err != nil {
		return o, err
	}
	if r.State == Pending {
		return w.Look(ctx, s, r.Brought(),
			func(file *media.File, why *Reason) task.Outcome { return w.settle(s, file, why) })
	}
	if left := r.ExpiresAt.Sub(w.Now()); left > 0 {
		o.Wait = left
		return o, w.Objects.Delete(ctx, media.UploadKey(s.Owner, s.Subject))
	}
	// The next step finds it gone, and removes its files; or finds a later end.
	o.Join = func(ctx context.Context, tx *store.Tx) error {
		it, r, err := w.read(ctx, s)
		switch {
		case err != nil:
			return err
		case r.ExpiresAt.After(w.Now()):
			return task.ErrMoved // it was used in between
		case !r.Kept && (r.Holders == 0 || s.Mode == tenant.Test): // items of test keys end as early, by themselves
			Expire(tx, it, r)
			return nil
		}
		r.Extend(w.Now())
		if err := r.Encode(&it); err != nil {
			return err
		}
		tx.Replace(it)
		return nil
	}
	return o, nil
}

// read reads the media of a step. It returns task.ErrMoved if it was deleted.
func (w *Importer) read(ctx context.Context, s *task.Step) (it store.Item, r *Record, err error) {
	it, err = w.DB.Get(ctx, store.IDKey(s.Subject))
	if errors.Is(err, store.ErrNotFound) {
		err = task.ErrMoved
	}
	if err == nil {
		r, err = Decode(&it)
	}
	return it, r, err
}

// Removed removes the files of a media or photo that is no more.
func (w *Importer) Removed(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	if left := s.DueAt.Sub(w.Now()); left > time.Second {
		o.Wait = left // an upload has arrived too late; work that was accepted before still uses the file
		return o, nil
	}
	o.Done = true
	return o, errors.Join(w.Objects.Delete(ctx, media.UploadKey(s.Owner, s.Subject)),
		w.Objects.Remove(ctx, placeOf(s.Owner, s.Subject)))
}

// Look inspects the file of a pending media or photo, if it has arrived. Its outcome is
// that of settle, with the stored file or the reason why it is rejected.
func (w *Importer) Look(ctx context.Context, s *task.Step, b Brought,
	settle func(*media.File, *Reason) task.Outcome) (o task.Outcome, err error) {
	// Two deliveries must not read the file at a URL at different times, and a file may end each function that reads
	// it.
	switch err := s.Guard(ctx, nil); {
	case errors.Is(err, task.ErrDeaths):
		return settle(nil, &Reason{Code: "unreadable", Message: "The file could not be read. Convert it to " +
			"another format, and bring it in again."}), nil
	case err != nil:
		return o, err
	}
	file, err := w.take(ctx, s, b)
	var refused *rejectedError
	switch {
	case err == nil:
		o = settle(file, nil)
	case errors.Is(err, errNotHere):
		o.Wait, err = b.Arrival.Sub(w.Now()), nil
	case errors.As(err, &refused):
		o, err = settle(nil, &refused.Reason), nil
	}
	return o, err
}

// settle is the outcome that makes a media ready or rejects it.
func (w *Importer) settle(s *task.Step, file *media.File, why *Reason) task.Outcome {
	return task.Outcome{Join: func(ctx context.Context, tx *store.Tx) error {
		it, r, err := w.read(ctx, s)
		if err != nil {
			return err
		}
		if r.State != Pending {
			return task.ErrMoved
		}
		return Settle(tx, w.Now(), it, r, file, why)
	}}
}

// Fail rejects a media whose task cannot go on: only a defect of ours leads to it.
func (w *Importer) Fail(_ context.Context, s *task.Step, _ error) (task.Outcome, error) {
	return w.settle(s, nil, OurFault()), nil
}

// OurFault is the reason for a file whose task cannot go on.
func OurFault() *Reason {
	return &Reason{Code: "internal", Message: "Something went wrong on our side. Bring the file in again."}
}

// rejectedError is the error of a file that is rejected.
type rejectedError struct{ Reason }

func (r *rejectedError) Error() string { return r.Code + ": " + r.Message }

func reject(code, format string, args ...any) error {
	return &rejectedError{Reason{Code: code, Message: fmt.Sprintf(format, args...)}}
}

// errNotHere reports that a file was not uploaded yet.
var errNotHere = errors.New("importer: the file is not here yet")

func (w *Importer) open(ctx context.Context, s *task.Step, b Brought) (io.ReadCloser, error) {
	if b.SourceURL != "" {
		return w.fetch(ctx, b.SourceURL)
	}
	key := b.Key
	if key == "" {
		key = media.UploadKey(s.Owner, s.Subject)
	}
	body, err := w.Objects.Open(ctx, key)
	switch {
	case errs.CodeOf(err) != errs.NotFound:
		return body, err
	case b.Key != "":
		return nil, reject("not_fetched", "The file of the media is gone. Bring it in again.")
	case w.Now().Before(b.Arrival):
		return nil, errNotHere
	}
	return nil, reject("not_uploaded", "The file was not uploaded. Bring it in again, and upload it within %.0f "+
		"minutes.", UploadTime.Minutes())
}

// fetch starts reading the file at an address.
func (w *Importer) fetch(ctx context.Context, address string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, reject("not_fetched", "source_url is not a valid URL.")
	}
	resp, err := w.URLs.Do(req)
	if err != nil {
		return nil, notFetched(err)
	}
	if resp.StatusCode == http.StatusOK {
		return &fetched{resp.Body}, nil
	}
	_ = resp.Body.Close()
	if again := resp.StatusCode >= http.StatusInternalServerError ||
		resp.StatusCode == http.StatusTooManyRequests; again {
		return nil, &lateError{fmt.Sprintf("the server answered with status %d", resp.StatusCode)}
	}
	return nil, reject("not_fetched", "The file could not be fetched: the server answered with status %d.",
		resp.StatusCode)
}
