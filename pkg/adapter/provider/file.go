package provider

import (
	"bytes"
	"context"
	"io"
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
