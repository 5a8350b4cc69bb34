package media

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/probe"
	"github.com/content-automation/api/pkg/task"
)

// lateError is the failure of an attempt to fetch a file that may succeed later.
type lateError struct{ why string }

func (e *lateError) Error() string { return "importer: " + e.why }

// notFetched returns the failure of a fetch. It is final if the address is refused.
func notFetched(err error) error {
	var blocked *safehttp.BlockedError
	if errors.As(err, &blocked) {
		return reject("not_fetched", "The file could not be fetched. %s", safehttp.Describe(err))
	}
	if errors.Is(err, safehttp.ErrBodyTooLarge) {
		return media.ErrTooLarge
	}
	return &lateError{safehttp.Describe(err)}
}

// fetched is the body of an answer whose errors are errors of a fetch.
type fetched struct{ io.ReadCloser }

func (f *fetched) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = notFetched(err)
	}
	return n, err
}

// take reads a file once, and stores it. It returns a *rejectedError for a file that is rejected.
func (w *Importer) take(ctx context.Context, s *task.Run, b Brought) (*media.File, error) {
	received, err := w.receive(ctx, s, b)
	if err != nil {
		return nil, err
	}
	defer received.Close()
	if err := compare(received, b.Declared); err != nil {
		return nil, err
	}
	a, err := Accept(ctx, probe.Decoder{FFmpeg: w.FFmpeg}, w.Manifests, s.Owner.Mode == tenant.Test, received)
	if err != nil {
		return nil, err
	}
	if d := b.Declared; d.MIMEType != "" && !media.Same(d.MIMEType, a.Came) || d.Type != "" && d.Type != a.Type {
		declared := d.MIMEType
		if declared == "" {
			declared = string(d.Type)
		}
		return nil, reject("type_mismatch", "The file was declared as %s, and is %s.", declared, a.Came)
	}
	place := placeOf(s.Owner, s.Subject)
	a.ID, a.Key = s.Subject, place.Prefix()+a.SHA256+"."+a.Ext
	if a.Thumb = a.Thumbnail != nil; a.Thumb {
		if err := w.Objects.Put(ctx, a.File.Thumbnail(a.Thumbnail), bytes.NewReader(a.Thumbnail)); err != nil {
			return nil, err
		}
	}
	// The key has the hash of the file, so that nothing else is ever stored there.
	return &a.File, w.Objects.Put(ctx, a.File, a.Content)
}

func (w *Importer) receive(ctx context.Context, s *task.Run, b Brought) (*media.Spooled, error) {
	body, err := w.open(ctx, s, b)
	var received *media.Spooled
	most := media.Limit(b.Declared.Type)
	if err == nil {
		received, err = media.Spool(ctx, body, most)
		_ = body.Close()
	}
	var late *lateError
	switch {
	case errors.Is(err, media.ErrTooLarge):
		return nil, reject("too_large", "The file is larger than %d bytes.", most)
	case errors.As(err, &late) && s.Failures+1 >= maxFetches:
		return nil, reject("not_fetched", "The file could not be fetched, and was tried %d times. The last time, %s",
			maxFetches, lower(late.why))
	}
	return received, err
}

// lower returns a sentence as the continuation of a longer one.
func lower(sentence string) string {
	b := []byte(sentence)
	if len(b) > 0 && b[0] >= 'A' && b[0] <= 'Z' {
		b[0] += 'a' - 'A'
	}
	if len(b) > 0 && b[len(b)-1] != '.' {
		b = append(b, '.')
	}
	return string(b)
}

// compare refuses a file that is not the one that was declared.
func compare(f *media.Spooled, d Declared) error {
	if d.Bytes != 0 && d.Bytes != f.Size {
		return reject("size_mismatch", "The file has %d bytes, and %d were declared.", f.Size, d.Bytes)
	}
	if got := hex.EncodeToString(f.Sum); d.SHA256 != "" && d.SHA256 != got {
		return reject("checksum_mismatch", "The SHA-256 of the file is %s, and %s was declared.", got, d.SHA256)
	}
	return nil
}
