package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/probe"
	"github.com/content-automation/api/pkg/media/provenance"
)

// Accepted is a file of a caller that may be used, as it is to be stored: without what is removed from it, and with
// neither id nor key.
type Accepted struct {
	media.File
	// Ext is the end of its name, without the dot.
	Ext     string
	Content io.ReadSeeker
	// Thumbnail is that of a picture, or nil.
	Thumbnail []byte
}

// Accept reads a file that a caller has brought in. RefusalOf returns why it is refused.
func Accept(ctx context.Context, manifests provenance.Reader, received *media.Spooled) (a Accepted, err error) {
	found, err := probe.Decode(ctx, received, received.Size)
	var refused *probe.Refused
	switch {
	case errors.As(err, &refused) && refused.TooLarge:
		return a, reject("too_large", "%s", refused.Message)
	case errors.As(err, &refused):
		return a, reject("unreadable", "%s", refused.Message)
	case err != nil:
		return a, err
	}
	origin, err := provenance.Inspect(ctx, manifests, found.MIMEType, received, received.Size)
	if err != nil {
		return a, err
	}
	origin.SHA256 = hex.EncodeToString(received.Sum)
	if found.Likeness != 0 {
		origin.Likeness = found.Likeness.String()
	}
	if len(found.Edits) > 0 {
		if err := found.Apply(received); err != nil {
			return a, err
		}
		if err := received.Changed(ctx); err != nil {
			return a, err
		}
	}
	a = Accepted{Ext: found.Ext, Content: received, Thumbnail: found.Thumbnail, File: found.File()}
	a.Bytes, a.SHA256, a.Inspection = received.Size, hex.EncodeToString(received.Sum), &origin
	if found.Content != nil {
		sum := sha256.Sum256(found.Content)
		a.Bytes, a.SHA256 = int64(len(found.Content)), hex.EncodeToString(sum[:])
		a.Content = bytes.NewReader(found.Content)
	}
	return a, nil
}

// RefusalOf returns why a file is refused, or nil for any other error.
func RefusalOf(err error) *Reason {
	var refused *rejectedError
	if errors.As(err, &refused) {
		return &refused.Reason
	}
	return nil
}
