package media

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrTooLarge is returned for a file that is larger than it may be.
var ErrTooLarge = errors.New("spool: the file is too large")

// Spooled is a received file.
type Spooled struct {
	*os.File
	Size int64
	Sum  []byte // SHA-256
}

// Spool receives a file of at most the given number of bytes. Errors of the reader are returned wrapped. The caller
// closes the file, which removes it.
func Spool(ctx context.Context, body io.Reader, most int64) (_ *Spooled, err error) {
	f, err := os.CreateTemp("", "media-*")
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	s := &Spooled{File: f}
	defer func() {
		if err != nil {
			_ = s.Close()
		}
	}()
	hash := sha256.New()
	s.Size, err = io.Copy(io.MultiWriter(f, hash), &cancelable{ctx, io.LimitReader(body, most+1)})
	switch {
	case err != nil:
		return nil, fmt.Errorf("spool: read the file: %w", err)
	case s.Size > most:
		return nil, ErrTooLarge
	}
	s.Sum = hash.Sum(nil)
	return s, nil
}

// Changed computes the hash anew, after the file was changed. Its size must be the same.
func (f *Spooled) Changed(ctx context.Context) error {
	hash := sha256.New()
	if _, err := io.Copy(hash, &cancelable{ctx, io.NewSectionReader(f.File, 0, f.Size)}); err != nil {
		return fmt.Errorf("spool: read the file: %w", err)
	}
	f.Sum = hash.Sum(nil)
	return nil
}

// Close closes and removes the file.
func (f *Spooled) Close() error {
	return errors.Join(f.File.Close(), os.Remove(f.Name()))
}

// cancelable ends a copy when its context ends, between two reads.
type cancelable struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancelable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
