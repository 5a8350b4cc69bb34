package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/probe"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/task"
)

// lateError is the failure of an attempt to fetch a file that may succeed later.
type lateError struct{ why string }

func (e *lateError) Error() string { return "importer: " + e.why }

// notFetched returns the failure of a fetch. It is final if the address is refused.
func notFetched(err error) error {
	var blocked *safehttp.BlockedError
	if errors.As(err, &blocked) {
		return reject("not_fetched", "The file could not be fetched. %s", blocked.Reason)
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
func (w *Importer) take(ctx context.Context, s *task.Step, b Brought) (*media.File, error) {
	received, err := w.receive(ctx, s, b)
	if err != nil {
		return nil, err
	}
	defer received.Close()
	if err := compare(received, b.Declared); err != nil {
		return nil, err
	}
	found, err := probe.Decode(ctx, received, received.Size)
	var refused *probe.Refused
	switch {
	case errors.As(err, &refused) && refused.TooLarge:
		return nil, reject("too_large", "%s", refused.Message)
	case errors.As(err, &refused):
		return nil, reject("unreadable", "%s", refused.Message)
	case err != nil:
		return nil, err
	}
	if d := b.Declared; d.MIMEType != "" && d.MIMEType != found.MIMEType || d.Type != "" && d.Type != found.Type {
		declared := d.MIMEType
		if declared == "" {
			declared = string(d.Type)
		}
		return nil, reject("type_mismatch", "The file was declared as %s, and is %s.", declared, found.MIMEType)
	}
	origin, err := provenance.Inspect(ctx, w.Manifests, found.MIMEType, received, received.Size)
	if err != nil {
		return nil, err
	}
	origin.SHA256 = hex.EncodeToString(received.Sum)
	if found.Likeness != 0 {
		origin.Likeness = found.Likeness.String()
	}
	f, err := w.keep(ctx, s, received, found)
	if err == nil {
		f.Inspection = &origin
	}
	return f, err
}

func (w *Importer) receive(ctx context.Context, s *task.Step, b Brought) (*media.Spooled, error) {
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

// keep stores a file without what is removed from it. Its key holds its hash, so that nothing else is ever stored
// there.
func (w *Importer) keep(ctx context.Context, s *task.Step, received *media.Spooled, found probe.Decoded) (*media.File,
	error) {
	if len(found.Edits) > 0 {
		if err := found.Apply(received); err != nil {
			return nil, err
		}
		if err := received.Changed(ctx); err != nil {
			return nil, err
		}
	}
	place := placeOf(s.Owner, s.Subject)
	f := media.File{
		ID: s.Subject, Type: found.Type, MIMEType: found.MIMEType, Width: found.Width, Height: found.Height,
		DurationSeconds: found.Seconds(), Bytes: received.Size, SHA256: hex.EncodeToString(received.Sum),
	}
	var content io.ReadSeeker = received
	if found.Content != nil {
		sum := sha256.Sum256(found.Content)
		f.Bytes, f.SHA256 = int64(len(found.Content)), hex.EncodeToString(sum[:])
		content = bytes.NewReader(found.Content)
	}
	f.Key = place.Prefix() + f.SHA256 + "." + found.Ext
	if f.Thumb = found.Thumbnail != nil; f.Thumb {
		if err := w.Objects.Put(ctx, f.Thumbnail(found.Thumbnail), bytes.NewReader(found.Thumbnail)); err != nil {
			return nil, err
		}
	}
	return &f, w.Objects.Put(ctx, f, content)
}
