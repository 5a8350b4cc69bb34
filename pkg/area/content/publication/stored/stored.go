// Package stored reads the files of publications from the bucket. It is separate from package
// publication because functions that answer callers do not link the S3 client.
package stored

import (
	"context"

	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/objects"
)

// Files are the files of the bucket.
type Files struct {
	*objects.Store
	Signer *media.Signer
}

var _ publication.Files = Files{}

// URL implements publication.Files.
func (s Files) URL(ctx context.Context, key, mimeType string) (string, error) {
	return s.Signer.URL(ctx, key, mimeType)
}
