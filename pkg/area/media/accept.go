package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/probe"
	"github.com/content-automation/api/pkg/media/provenance"
)

// Accepted is a file of a caller that may be used, as it is to be stored: without what is removed from it, and with
// neither id nor key.
type Accepted struct {
	media.File
	// Ext is the end of its name, without the dot, and Came the MIME type of the file as it came: a HEIC, an AVIF and a
	// WebP that is turned become a JPEG or a PNG.
	Ext, Came string
	Content   io.ReadSeeker
	// Thumbnail is that of a picture, or nil.
	Thumbnail []byte
}

// Accept reads a file that a caller has brought in. RefusalOf returns why it is refused. If manifests is a
// provenance.Signer, a signed file that has to be changed is signed anew: with the test certificate, if test is set.
func Accept(ctx context.Context, files probe.Decoder, manifests provenance.Reader, test bool,
	received *media.Spooled) (a Accepted, err error) {
	found, err := files.Decode(ctx, received, received.Size)
	var refused *probe.Refused
	switch {
	case errors.As(err, &refused) && refused.TooLarge:
		return a, reject("too_large", "%s", refused.Message)
	case errors.As(err, &refused):
		return a, reject("unreadable", "%s", refused.Message)
	case err != nil:
		return a, err
	}
	origin, err := provenance.Inspect(ctx, manifests, found.Came, received, received.Size)
	if err != nil {
		return a, err
	}
	origin.SHA256 = hex.EncodeToString(received.Sum)
	if found.Likeness != 0 {
		origin.Likeness = found.Likeness.String()
	}
	a = Accepted{Ext: found.Ext, Came: found.Came, Thumbnail: found.Thumbnail, File: found.File()}
	a.Inspection = &origin
	if s, ok := manifests.(provenance.Signer); ok && origin.Signature != provenance.None {
		signed, err := resigned(ctx, s, test, found, received)
		if err != nil {
			return a, err
		}
		if signed != nil {
			return a, a.holds(signed)
		}
	}
	if len(found.Edits) > 0 {
		if err := found.Apply(received); err != nil {
			return a, err
		}
		if err := received.Changed(ctx); err != nil {
			return a, err
		}
	}
	if found.Content != nil {
		return a, a.holds(bytes.NewReader(found.Content))
	}
	a.Content, a.Bytes, a.SHA256 = received, received.Size, hex.EncodeToString(received.Sum)
	return a, nil
}

// holds sets what is stored.
func (a *Accepted) holds(content io.ReadSeeker) error {
	hash := sha256.New()
	_, err := content.Seek(0, io.SeekStart)
	if err == nil {
		a.Bytes, err = io.Copy(hash, content)
	}
	if err != nil {
		return fmt.Errorf("accept: read the file: %w", err)
	}
	a.Content, a.SHA256 = content, hex.EncodeToString(hash.Sum(nil))
	return nil
}

// resigned returns a changed file with a new signature, or nil if the file does not change or nobody can sign it. The
// file as it came is the parent of the new one (C2PA 2.4, parentOf), so that its history stays.
func resigned(ctx context.Context, s provenance.Signer, test bool, found probe.Decoded, received *media.Spooled) (
	io.ReadSeeker, error) {
	if found.Content == nil && len(found.Edits) == 0 {
		return nil, nil
	}
	var changed io.ReadSeeker = bytes.NewReader(found.Content)
	if len(found.Edits) > 0 {
		copied, err := unnamed(received, received.Size)
		if err != nil {
			return nil, err
		}
		defer copied.Close()
		if err := found.Apply(copied); err != nil {
			return nil, err
		}
		changed = copied
	}
	to, err := unnamed(nil, 0)
	if err != nil {
		return nil, err
	}
	claim := provenance.Claim{Title: string(found.Type), Ingredients: []provenance.Ingredient{{Title: "original",
		MIMEType: found.Came, Relation: provenance.Parent, File: io.NewSectionReader(received, 0, received.Size)}}}
	name, err := s.Sign(ctx, test, claim, found.MIMEType, changed, to)
	if err != nil || name == "" {
		return nil, errors.Join(err, to.Close())
	}
	return to, nil
}

// unnamed returns a temporary file with the content of another. It has no name, and takes no room once it is closed or
// collected.
func unnamed(from io.ReaderAt, size int64) (*os.File, error) {
	f, err := os.CreateTemp("", "signed-*")
	if err != nil {
		return nil, fmt.Errorf("accept: %w", err)
	}
	err = os.Remove(f.Name())
	if err == nil && from != nil {
		_, err = io.Copy(f, io.NewSectionReader(from, 0, size))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("accept: %w", err), f.Close())
	}
	return f, nil
}

// RefusalOf returns why a file is refused, or nil for any other error.
func RefusalOf(err error) *Reason {
	var refused *rejectedError
	if errors.As(err, &refused) {
		return &refused.Reason
	}
	return nil
}
