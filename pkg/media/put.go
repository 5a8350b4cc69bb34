package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
)

// Inputs is the prefix of the keys of files that callers passed to generations. The bucket removes them after some
// days.
const Inputs = "inputs/"

// KeepInput stores a file that a caller passed to a generation, so that a provider gets exactly the file that was
// checked. Its key depends on its content: storing it again replaces it by itself.
func (s *Signer) KeepInput(ctx context.Context, o tenant.Owner, ext string, f File, content []byte) (File, error) {
	sum := sha256.Sum256(content)
	f.SHA256, f.Bytes = hex.EncodeToString(sum[:]), int64(len(content))
	f.Key = fmt.Sprintf("%s%s/%s/%s.%s", Inputs, o.Account, o.Mode, f.SHA256, ext)
	if err := s.put(ctx, f, content); err != nil {
		return File{}, errs.Wrap(err, errs.ProviderUnavailable, "The file could not be stored. Repeat the request "+
			"with the same Idempotency-Key.")
	}
	return f, nil
}

// put stores an object by one signed request: the functions behind the gateway do not link the S3 client.
func (s *Signer) put(ctx context.Context, f File, content []byte) error {
	creds, err := s.credentials.Retrieve(ctx)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, s.endpoint.JoinPath(f.Key).String(),
		bytes.NewReader(content))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", f.MIMEType)
	req.Header.Set("X-Amz-Content-Sha256", f.SHA256)
	if err := s.signer.SignHTTP(ctx, creds, req, f.SHA256, "s3", s.region, s.now().UTC()); err != nil {
		return err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		why, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10)) // for the log
		return fmt.Errorf("media: put %s: %s: %s", f.Key, resp.Status, why)
	}
	return nil
}

// Read returns the content of a small file, of up to the given number of bytes, by one signed request.
func (s *Signer) Read(ctx context.Context, f File, most int64) ([]byte, error) {
	address, err := s.URL(ctx, f.Key, f.MIMEType)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("media: read %s: %w", f.Key, err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("media: read %s: %w", f.Key, err)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("media: read %s: %s", f.Key, resp.Status)
	case int64(len(content)) > most:
		return nil, fmt.Errorf("media: %s has more than %d bytes", f.Key, most)
	}
	return content, nil
}

// readTime bounds Read.
const readTime = 5 * time.Second
