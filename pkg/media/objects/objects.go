// Package objects stores media files in a bucket. Only workers use it: it links the readers of pkg/media/probe, which
// functions behind the gateway do not need. Start with Store.
package objects

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/probe"
	"github.com/content-automation/api/pkg/media/provenance"
)

// MaxBytes bounds one file: it is spooled in the temporary folder of a function, which has 512 MB.
const MaxBytes = 256 << 20

// Client makes the calls of one bucket. Package s3objects has that of S3.
type Client interface {
	// Put stores the whole file under its key.
	Put(ctx context.Context, f media.File, content io.ReadSeeker) error
	// PutNew is Put for a key that has no object. It returns media.ErrExists if there is one, which stays as it is.
	PutNew(ctx context.Context, f media.File, content io.ReadSeeker) error
	// Open starts reading the object of a key. The error has the code not_found if there is none with that key, and
	// provider_unavailable if the bucket does not answer.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Range is Open for a part of the object, which is read as slowly as the caller wants.
	Range(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)
	// Sum returns the SHA-256 of the object of a key, in hexadecimal. Errors are those of Open.
	Sum(ctx context.Context, key string) (string, error)
	// List returns the next objects below a prefix after a key, in their order, and reports whether more follow.
	List(ctx context.Context, prefix, after string) (all []media.Object, more bool, err error)
	// Delete removes one object. It succeeds if there is none.
	Delete(ctx context.Context, key string) error
}

// Store puts files into one bucket.
type Store struct {
	Client
	// Most is the size of the largest file in bytes. New sets it to MaxBytes.
	Most int64
}

// New makes a store for the bucket of a client.
func New(c Client) *Store { return &Store{Client: c, Most: MaxBytes} }

// Bucket has the files of a bucket, and their addresses.
type Bucket struct {
	*Store
	Signer *media.Signer
}

// URL returns the address of a file for a while.
func (b Bucket) URL(ctx context.Context, key, mimeType string) (string, error) {
	return b.Signer.URL(ctx, key, mimeType)
}

// Save reads the n-th file (from 1) of a place to its end, detects its format, and stores it under the key that follows
// from the place: saving it again replaces it. Errors of body are returned wrapped. If said is not
// nil, the stored file says its origin, unless it has a manifest. Content of an unknown format, or that is too large,
// has the code unsupported_media. A store that does not accept it has provider_unavailable, which is worth a retry.
func (s *Store) Save(ctx context.Context, place media.Place, n int, body io.Reader,
	said *provenance.Statement) (media.File, error) {
	if err := place.Validate(); err != nil {
		return media.File{}, err
	}
	received, err := media.Spool(ctx, body, s.Most)
	if errors.Is(err, media.ErrTooLarge) {
		return media.File{}, errs.New(errs.UnsupportedMedia, "The generated file is larger than %d MB.", s.Most>>20)
	}
	if err != nil {
		return media.File{}, fmt.Errorf("objects: %w", err)
	}
	defer received.Close()
	info, err := probe.Read(received, received.Size)
	if errors.Is(err, probe.ErrUnsupported) {
		return media.File{}, errs.Wrap(err, errs.UnsupportedMedia, "The format of the generated file is not supported.")
	}
	if err != nil {
		return media.File{}, err
	}
	file := info.File()
	file.ID, file.Key = place.ID(n), place.Key(n, info.Ext)
	file.Bytes, file.SHA256 = received.Size, hex.EncodeToString(received.Sum)
	content, err := marked(ctx, &file, received, said)
	if err != nil {
		return media.File{}, err
	}
	if err := s.Put(ctx, file, content); err != nil {
		return media.File{}, errs.Wrap(err, errs.ProviderUnavailable, "The generated file could not be stored.")
	}
	return file, nil
}

// marked returns the content to store: with a statement of its origin, if it can have one. It notes in f what the
// content says.
func marked(ctx context.Context, f *media.File, received *media.SpooledFile, said *provenance.Statement) (io.ReadSeeker,
	error) {
	if said == nil {
		return received, nil
	}
	found, err := provenance.Read(ctx, received, received.Size)
	if errors.Is(err, provenance.ErrUnsupported) {
		return received, nil
	}
	if err != nil {
		return nil, fmt.Errorf("objects: %w", err)
	}
	f.Provenance = &media.Provenance{DigitalSourceType: said.Source.URI(), C2PA: found.Manifest}
	if found.Manifest {
		return received, nil
	}
	c, err := provenance.Mark(ctx, received, received.Size, *said)
	if err != nil {
		return nil, fmt.Errorf("objects: %w", err)
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, c); err != nil {
		return nil, fmt.Errorf("objects: %w", err)
	}
	f.Bytes, f.SHA256 = c.Size(), hex.EncodeToString(hash.Sum(nil))
	return c, ctx.Err()
}

// RemoveSome removes some of the objects below a prefix, and reports whether there are more.
func (s *Store) RemoveSome(ctx context.Context, prefix string) (more bool, err error) {
	// Listed objects are removed before more are listed, so that the first page is always the next.
	some, more, err := s.List(ctx, prefix, "")
	if err != nil {
		return false, err
	}
	for _, o := range some {
		if err := s.Delete(ctx, o.Key); err != nil {
			return false, err
		}
	}
	return more, nil
}

// Remove removes all files of an attempt. It succeeds if there are none.
func (s *Store) Remove(ctx context.Context, place media.Place) error {
	if err := place.Validate(); err != nil {
		return err
	}
	for more := true; more; {
		var err error
		if more, err = s.RemoveSome(ctx, place.Prefix()); err != nil {
			return err
		}
	}
	return nil
}
