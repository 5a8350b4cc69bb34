package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/wire"
	"github.com/content-automation/api/pkg/cloud/safehttp"
)

// The default bounds of a file.
const (
	fileTimeout = 2 * time.Minute
	maxFile     = 256 << 20
)

// Files opens files at providers. *Downloads implements it.
type Files interface {
	// Open opens the file at an address from a provider. Gone is the kind of error for a file that no longer exists:
	// Transient if fetching the result again returns a new address, otherwise Rejected. All errors, also of reading,
	// are of type *provider.Error.
	Open(ctx context.Context, address string, gone provider.ErrorKind) (io.ReadCloser, error)
}

// File returns a file of a result, which is opened lazily.
func File(from Files, address string, gone provider.ErrorKind) provider.File {
	return provider.File{Open: func(ctx context.Context) (io.ReadCloser, error) {
		return from.Open(ctx,
			address, gone)
	}}
}

// Downloads fetches files through pkg/cloud/safehttp: a URL in a provider's answer is not trusted, and must not lead
// into the service's network.
type Downloads struct{ client *safehttp.Client }

var _ Files = (*Downloads)(nil)

// NewFiles makes Downloads. Without bounds in the options, a file may take two minutes and 256 MiB.
func NewFiles(o safehttp.Options) *Downloads {
	if o.Timeout == 0 {
		o.Timeout = fileTimeout
	}
	if o.MaxBody == 0 {
		o.MaxBody = maxFile
	}
	return &Downloads{client: safehttp.New(o)}
}

// Open implements Files.
func (d *Downloads) Open(ctx context.Context, address string, gone provider.ErrorKind) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, invalidAddress(wire.Bare(err))
	}
	resp, err := d.client.Do(req)
	if err != nil {
		var blocked *safehttp.BlockedError
		if errors.As(err, &blocked) {
			return nil, invalidAddress(blocked)
		}
		return nil, unreadable(err)
	}
	if resp.StatusCode == http.StatusOK {
		return body{resp.Body}, nil
	}
	_ = resp.Body.Close() // its content is not used
	cause := fmt.Errorf("file: status %d", resp.StatusCode)
	switch resp.StatusCode {
	case http.StatusForbidden, http.StatusNotFound, http.StatusGone:
		return nil, &provider.Error{Kind: gone, Code: "result_expired",
			Message: "The provider no longer keeps the result.", Cause: cause}
	default:
		return nil, unreadable(cause)
	}
}

// body converts the errors of reading to *provider.Error.
type body struct{ io.ReadCloser }

func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case errors.Is(err, safehttp.ErrBodyTooLarge):
		return n, &provider.Error{Kind: provider.Rejected, Code: "result_too_large",
			Message: "The provider made a file that is too large.", Cause: err}
	default:
		return n, unreadable(err)
	}
}

// invalidAddress returns the error of an address that is invalid or forbidden.
func invalidAddress(cause error) *provider.Error {
	return &provider.Error{Kind: provider.Rejected, Code: "result_invalid",
		Message: "The provider returned a result that cannot be read.", Cause: fmt.Errorf("file: %w", cause)}
}

func unreadable(cause error) *provider.Error {
	return &provider.Error{Kind: provider.Transient, Code: "result_unreadable",
		Message: "The provider's file could not be read.", Cause: fmt.Errorf("file: %w", wire.Bare(cause))}
}
