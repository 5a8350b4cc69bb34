package contentautomation

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"time"
)

// uploadTimeout bounds an upload.
const uploadTimeout = 10 * time.Minute

// Upload brings in a file: it creates the media, sends the file to storage and waits until it is ready.
func (s *MediaService) Upload(ctx context.Context, file []byte, mimeType OwnMediaCreateMimeType, options ...RequestOption,
) (*OwnMedia, error) {
	sum := sha256.Sum256(file)
	media, err := s.Create(ctx, OwnMediaCreate{Bytes: Ptr(int64(len(file))), MimeType: &mimeType,
		SHA256: Ptr(hex.EncodeToString(sum[:]))}, options...)
	if err != nil {
		return nil, err
	}
	if media.Upload == nil {
		return s.WaitFor(ctx, media.ID)
	}
	for attempt := 1; ; attempt++ {
		err := s.t.put(ctx, media.Upload, file)
		if err == nil {
			return s.WaitFor(ctx, media.ID)
		}
		if attempt > s.t.retries || ctx.Err() != nil {
			return nil, err
		}
		if err := s.t.sleep(ctx, shortestPause<<(attempt-1)); err != nil {
			return nil, err
		}
	}
}

// put sends a file to storage. The request is signed, and has no API key.
func (t *transport) put(ctx context.Context, upload *MediaUpload, file []byte) error {
	ctx, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, upload.Method, upload.URL, bytes.NewReader(file))
	if err != nil {
		return &ConfigError{"the upload cannot be made"}
	}
	for name, value := range upload.Headers {
		req.Header.Set(name, value)
	}
	res, err := t.http.Do(req)
	if err != nil {
		return &ConnectionError{ctx.Err() != nil, 1, fmt.Errorf("the upload failed")}
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswer))
	if res.StatusCode >= 300 {
		return &Error{Status: res.StatusCode, Code: "upload_failed", Type: typeOf(res.StatusCode),
			Message: "storage refused the upload: " + res.Status}
	}
	return nil
}
