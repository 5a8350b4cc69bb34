package provider

import (
	"bytes"
	"context"
	"io"

	"github.com/content-automation/api/pkg/base/errs"
)

// FileOf returns a file in memory, for providers that return files with their answers. It can be opened repeatedly.
func FileOf(content []byte) File {
	return File{Open: func(ctx context.Context) (io.ReadCloser, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return io.NopCloser(bytes.NewReader(content)), nil
	}}
}

// Objects reads the bucket that a provider writes files to.
type Objects interface {
	// Open starts reading an object. The error has the code not_found if there is none of that key.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
}

// OpenFile starts reading a file that a provider has written to a bucket.
func OpenFile(ctx context.Context, objects Objects, key string) (io.ReadCloser, error) {
	body, err := objects.Open(ctx, key)
	switch {
	case err == nil:
		return body, nil
	case errs.CodeOf(err) == errs.NotFound:
		return nil, &Error{Kind: Rejected, Code: "result_expired", Message: "The provider no longer keeps the result.",
			Cause: err}
	}
	return nil, &Error{Kind: Transient, Code: "result_unreadable", Message: "The provider's file could not be read.",
		Cause: err}
}
