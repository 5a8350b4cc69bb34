package media

import (
	"cmp"
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

// Importer takes the files that callers bring in.
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

func placeOf(o tenant.Owner, mediaID string) media.Place {
	return media.Place{Owner: o, Resource: mediaID, Attempt: 1}
}

// Import accompanies a media from its beginning until its files are gone. An error is none of the file: it is tried
// again without end.
func (w *Importer) Import(ctx context.Context, s *task.Run) error {
	_, r, err := w.read(ctx, s)
	switch {
	case err != nil:
		return task.Again(err)
	case r == nil:
		return w.Removed(ctx, s)
	case r.State == Pending:
		file, why, err := w.Look(ctx, s, r.Brought())
		if err != nil {
			return err
		}
		return w.change(s, func(tx *store.Tx, it store.Item, r *Record) error {
			if r.State != Pending {
				return task.ErrMoved
			}
			return Settle(tx, w.Now(), it, r, file, why)
		})
	}
	if left := r.ExpiresAt.Sub(w.Now()); left > 0 {
		if err := w.Objects.Delete(ctx, media.UploadKey(s.Owner, s.Subject)); err != nil {
			return task.Again(err)
		}
		return s.Sleep(left)
	}
	// The next step finds it gone, and removes its files; or finds a later end.
	return w.change(s, func(tx *store.Tx, it store.Item, r *Record) error {
		switch {
		case r.ExpiresAt.After(w.Now()):
			return task.ErrMoved // it was used in between
		case !r.Kept && (r.Holders == 0 || s.Mode == tenant.Test): // items of test keys end as early, by themselves
			Expire(tx, it, r)
			return nil
		}
		r.Extend(w.Now())
		err := r.Encode(&it)
		tx.Replace(it)
		return err
	})
}

// read reads the media of a step. It returns nil if it was deleted.
func (w *Importer) read(ctx context.Context, s *task.Run) (it store.Item, r *Record, err error) {
	it, err = w.DB.Lookup(ctx, store.IDKey(s.Subject))
	if err == nil && it.Kind != "" {
		r, err = Decode(&it)
	}
	return it, r, err
}

// change ends a step that changes its media.
func (w *Importer) change(s *task.Run, change func(*store.Tx, store.Item, *Record) error) error {
	s.Also(func(ctx context.Context, tx *store.Tx) error {
		it, r, err := w.read(ctx, s)
		if err != nil || r == nil {
			return cmp.Or(err, task.ErrMoved)
		}
		return change(tx, it, r)
	})
	return s.Sleep(0)
}

// Removed removes the files of a media or photo that is no more.
func (w *Importer) Removed(ctx context.Context, s *task.Run) error {
	if left := s.DueAt.Sub(w.Now()); left > time.Second {
		return s.Sleep(left) // an upload has arrived too late; work that was accepted before still uses the file
	}
	return task.Again(errors.Join(w.Objects.Delete(ctx, media.UploadKey(s.Owner, s.Subject)),
		w.Objects.Remove(ctx, placeOf(s.Owner, s.Subject))))
}

// Look inspects the file of a pending media or photo, and stores it. It returns the stored file, or the reason why it
// is rejected, or an error with which the step ends.
func (w *Importer) Look(ctx context.Context, s *task.Run, b Brought) (*media.File, *Reason, error) {
	if s.Cause() != nil { // only a defect of ours leads to it
		return nil, &Reason{Code: "internal", Message: "Something went wrong on our side. Bring the file in again."},
			nil
	}
	// Two deliveries must not read the file at a URL at different times, and a file may end each function that reads
	// it.
	switch err := s.Guard(ctx, nil); {
	case errors.Is(err, task.ErrDeaths):
		return nil, &Reason{Code: "unreadable", Message: "The file could not be read. Convert it to " +
			"another format, and bring it in again."}, nil
	case err != nil:
		return nil, nil, task.Again(err)
	}
	file, err := w.take(ctx, s, b)
	var refused *rejectedError
	switch {
	case errors.Is(err, errNotHere):
		return nil, nil, s.Sleep(b.Arrival.Sub(w.Now()))
	case errors.As(err, &refused):
		return nil, &refused.Reason, nil
	}
	return file, nil, task.Again(err)
}

// rejectedError is the error of a file that is rejected.
type rejectedError struct{ Reason }

func (r *rejectedError) Error() string { return r.Code + ": " + r.Message }

func reject(code, format string, args ...any) error {
	return &rejectedError{Reason{Code: code, Message: fmt.Sprintf(format, args...)}}
}

// errNotHere reports that a file was not uploaded yet.
var errNotHere = errors.New("importer: the file is not here yet")

func (w *Importer) open(ctx context.Context, s *task.Run, b Brought) (io.ReadCloser, error) {
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
