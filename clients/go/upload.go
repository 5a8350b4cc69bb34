package contentautomation

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"time"
)

// uploadTimeout bounds an upload.
const uploadTimeout = 10 * time.Minute

// source is a file that can be read several times.
type source interface {
	io.ReaderAt
	io.Seeker
}

// Upload brings in a file: it creates the media, sends the file to storage and waits until it is ready. It reads the file
// from where it stands: *os.File, *bytes.Reader and *strings.Reader in place, any other reader by way of a temporary file,
// since the service wants to know size and hash first.
func (s *MediaService) Upload(ctx context.Context, file io.Reader, mimeType OwnMediaCreateMimeType, options ...RequestOption,
) (*OwnMedia, error) {
	section, free, err := sectionOf(file)
	if err != nil {
		return nil, err
	}
	defer free()
	sum := sha256.New()
	if _, err := io.Copy(sum, section); err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	media, err := s.Create(ctx, OwnMediaCreate{Bytes: Ptr(section.Size()), MimeType: &mimeType,
		SHA256: Ptr(hex.EncodeToString(sum.Sum(nil)))}, options...)
	if err != nil {
		return nil, err
	}
	for attempt := 1; media.Upload != nil; attempt++ {
		mends, err := s.t.put(ctx, media, section, attempt)
		if err == nil {
			break
		}
		if !mends || attempt > s.t.retries || ctx.Err() != nil {
			return nil, cmp.Or(ctx.Err(), err)
		}
		if err := s.t.sleep(ctx, backoff(attempt)); err != nil {
			return nil, err
		}
	}
	return s.WaitFor(ctx, media.ID)
}

// sectionOf returns what is left of a file, and how to give it up.
func sectionOf(file io.Reader) (*io.SectionReader, func(), error) {
	if f, ok := file.(source); ok {
		from, err := f.Seek(0, io.SeekCurrent) // a pipe cannot seek
		if err == nil {
			to, err := f.Seek(0, io.SeekEnd)
			return io.NewSectionReader(f, from, to-from), func() {}, err
		}
	}
	temporary, err := os.CreateTemp("", "upload-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a temporary file: %w", err)
	}
	free := func() {
		_ = temporary.Close()
		_ = os.Remove(temporary.Name())
	}
	size, err := io.Copy(temporary, file)
	if err != nil {
		free()
		return nil, nil, fmt.Errorf("read the file: %w", err)
	}
	return io.NewSectionReader(temporary, 0, size), free, nil
}

// storageCode finds the code in an error of storage.
var storageCode = regexp.MustCompile(`<Code>(\w+)</Code>`)

// repeated are the statuses of storage that a repeat may mend.
var repeated = []int{http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
	http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

// put sends a file to storage, and reports whether a repeat may mend an error. The request is signed, and has no API key.
func (t *transport) put(ctx context.Context, media *OwnMedia, file *io.SectionReader, attempt int) (bool, error) {
	inner, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	whole := io.NewSectionReader(file, 0, file.Size()) // an earlier attempt may still be reading its own
	req, err := http.NewRequestWithContext(inner, media.Upload.Method, media.Upload.URL, whole)
	if err != nil {
		return false, &ConfigError{"the upload cannot be made"}
	}
	req.ContentLength = file.Size()
	for name, value := range media.Upload.Headers {
		req.Header.Set(name, value)
	}
	res, err := t.http.Do(req)
	if err != nil {
		return true, &ConnectionError{inner.Err() != nil, attempt, errors.New("the upload got no answer")}
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<16)) // a part of it says enough
	if res.StatusCode < 300 {
		return false, nil
	}
	refused := &UploadError{Status: res.StatusCode, MediaID: media.ID, Attempts: attempt}
	if found := storageCode.FindSubmatch(text); found != nil {
		refused.Code = string(found[1])
	}
	return slices.Contains(repeated, res.StatusCode), refused
}
