package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
)

// Lifetime is the time for which a signed URL is valid.
const Lifetime = time.Hour

// unsignedPayload replaces the body's hash in the signature of a request that somebody else will send.
const unsignedPayload = "UNSIGNED-PAYLOAD"

// Signer signs URLs of objects in one bucket. It uses the signature alone, not the S3 client, which would add
// milliseconds to every function's start.
type Signer struct {
	endpoint    url.URL // up to and without the key
	region      string
	credentials aws.CredentialsProvider
	signer      *v4.Signer
	now         func() time.Time
	client      aws.HTTPClient // of KeepInput
	// names makes the URLs in place of a signature: see NewNamer.
	names func(key string) string
}

// NewNamer returns a Signer that signs nothing: each of its URLs is the name that the function returns for a key. It is
// for documents that last longer than a signature, such as exports.
func NewNamer(names func(key string) string) *Signer { return &Signer{names: names} }

// NewSigner makes a signer for the bucket. With a BaseEndpoint, such as that of a local system, the bucket is the first
// segment of the path. On AWS it is part of the host's name.
//
// A URL that was signed with temporary credentials ends with them, if they end before its hour has passed.
func NewSigner(cfg aws.Config, bucket string, now func() time.Time) (*Signer, error) {
	if bucket == "" {
		return nil, fmt.Errorf("media: the bucket has no name")
	}
	endpoint := url.URL{Scheme: "https", Host: fmt.Sprintf("%s.s3.%s.amazonaws.com", bucket, cfg.Region)}
	if PathStyle(cfg) {
		base, err := url.Parse(*cfg.BaseEndpoint)
		if err != nil {
			return nil, fmt.Errorf("media: endpoint: %w", err)
		}
		if base.Host == "" {
			return nil, fmt.Errorf("media: the endpoint %q has no host", *cfg.BaseEndpoint)
		}
		endpoint = *base.JoinPath(bucket)
	}
	client := cfg.HTTPClient
	if client == nil {
		client = http.DefaultClient
	}
	return &Signer{
		client:      client,
		endpoint:    endpoint,
		region:      cfg.Region,
		credentials: cfg.Credentials,
		signer:      v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }),
		now:         now,
	}, nil
}

// PathStyle reports whether the path names the bucket. It does if an endpoint is set, since such a host has no
// subdomain for each bucket.
func PathStyle(cfg aws.Config) bool {
	return cfg.BaseEndpoint != nil && *cfg.BaseEndpoint != ""
}

// URL signs a URL by which GET returns the object for Lifetime. The content type is part of the signature: the object
// cannot be served with another.
func (s *Signer) URL(ctx context.Context, key, contentType string) (string, error) {
	return s.URLFor(ctx, key, contentType, Lifetime)
}

// URLFor is URL for another duration than Lifetime, of up to 7 days.
func (s *Signer) URLFor(ctx context.Context, key, contentType string, lifetime time.Duration) (string, error) {
	return s.sign(ctx, key, url.Values{"response-content-type": {contentType}}, s.now, lifetime)
}

// sign signs a URL as of a time. The query is what the response has.
func (s *Signer) sign(ctx context.Context, key string, query url.Values, at func() time.Time,
	lifetime time.Duration) (string, error) {
	if s.names != nil {
		return s.names(key), nil
	}
	creds, err := s.credentials.Retrieve(ctx)
	if err != nil {
		return "", fmt.Errorf("media: sign %s: %w", key, err)
	}
	target := s.endpoint.JoinPath(key)
	query.Set("X-Amz-Expires", strconv.Itoa(int(lifetime/time.Second)))
	target.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return "", fmt.Errorf("media: sign %s: %w", key, err)
	}
	signed, _, err := s.signer.PresignHTTP(ctx, creds, req, unsignedPayload, "s3", s.region, at().UTC())
	if err != nil {
		return "", fmt.Errorf("media: sign %s: %w", key, err)
	}
	return signed, nil
}

// ThumbnailURL signs a URL of the file's thumbnail, or returns nil if it has none. An export has none: it names the
// files alone. The URL is the same within an hour, so that a browser that shows the thumbnail again has it, and valid
// until the end of the next one.
func (s *Signer) ThumbnailURL(ctx context.Context, f File) (*string, error) {
	if !f.Thumb || s.names != nil {
		return nil, nil
	}
	begun := func() time.Time { return s.now().Truncate(Lifetime) }
	address, err := s.sign(ctx, f.ThumbnailKey(), url.Values{"response-content-type": {ThumbnailType},
		"response-cache-control": {thumbnailCaching}}, begun, 2*Lifetime)
	return &address, err
}

// thumbnailCaching lets browsers keep a thumbnail for as long as its URL is the same.
const thumbnailCaching = "private, max-age=3600, immutable"

// View returns the file as the API returns it, with a new URL.
func (s *Signer) View(ctx context.Context, f File) (View, error) {
	address, err := s.URL(ctx, f.Key, f.MIMEType)
	if err != nil {
		return View{}, err
	}
	thumbnail, err := s.ThumbnailURL(ctx, f)
	if err != nil {
		return View{}, err
	}
	return View{
		ID:              f.ID,
		Role:            f.Role,
		Type:            f.Type,
		MIMEType:        f.MIMEType,
		URL:             address,
		ThumbnailURL:    thumbnail,
		Width:           f.Width,
		Height:          f.Height,
		DurationSeconds: f.DurationSeconds,
		Bytes:           f.Bytes,
		SHA256:          f.SHA256,
		AltText:         f.Alt,
		Provenance:      f.Provenance,
	}, nil
}

// Views returns the files as the API returns them. It is never nil, so that it encodes as an array.
func (s *Signer) Views(ctx context.Context, files []File) ([]View, error) {
	views := make([]View, 0, len(files))
	for _, f := range files {
		v, err := s.View(ctx, f)
		if err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	return views, nil
}

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

// Uploads is the prefix of the keys of uploaded files. The bucket removes them after a day.
const Uploads = "uploads/"

// UploadKey returns the key under which the file of a resource is uploaded.
func UploadKey(o tenant.Owner, resource string) string {
	return fmt.Sprintf("%s%s/%s/%s", Uploads, o.Account, o.Mode, resource)
}

// UploadRequest is the request that uploads one file.
type UploadRequest struct {
	URL     string
	Method  string
	Headers map[string]string
}

// Upload signs the upload of one file of the given size, type and hash: the bucket refuses any other. The upload may
// begin until the given time.
func (s *Signer) Upload(ctx context.Context, key string, f File, until time.Time) (UploadRequest, error) {
	fail := func(err error) (UploadRequest, error) {
		return UploadRequest{}, fmt.Errorf("media: sign the upload of %s: %w", key, err)
	}
	sum, err := hex.DecodeString(f.SHA256)
	if err != nil {
		return fail(err)
	}
	creds, err := s.credentials.Retrieve(ctx)
	if err != nil {
		return fail(err)
	}
	now := s.now().UTC()
	target := s.endpoint.JoinPath(key)
	target.RawQuery = url.Values{"X-Amz-Expires": {strconv.Itoa(int(until.Sub(now) / time.Second))}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, target.String(), nil)
	if err != nil {
		return fail(err)
	}
	req.ContentLength = f.Bytes
	headers := map[string]string{"Content-Type": f.MIMEType,
		"x-amz-checksum-sha256": base64.StdEncoding.EncodeToString(sum)}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	// S3 checks a checksum in a header, but not one in the query.
	inHeaders := func(o *v4.SignerOptions) { o.DisableHeaderHoisting = true }
	signed, _, err := s.signer.PresignHTTP(ctx, creds, req, unsignedPayload, "s3", s.region, now, inHeaders)
	if err != nil {
		return fail(err)
	}
	return UploadRequest{signed, http.MethodPut, headers}, nil
}

// ErrTooLarge is returned for a file that is larger than it may be.
var ErrTooLarge = errors.New("spool: the file is too large")

// SpooledFile is a received file.
type SpooledFile struct {
	*os.File
	Size int64
	Sum  []byte // SHA-256
}

// Spool receives a file of at most the given number of bytes. Errors of the reader are returned wrapped. The caller
// closes the file, which removes it.
func Spool(ctx context.Context, body io.Reader, most int64) (_ *SpooledFile, err error) {
	f, err := os.CreateTemp("", "media-*")
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	s := &SpooledFile{File: f}
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
func (f *SpooledFile) Changed(ctx context.Context) error {
	hash := sha256.New()
	if _, err := io.Copy(hash, &cancelable{ctx, io.NewSectionReader(f.File, 0, f.Size)}); err != nil {
		return fmt.Errorf("spool: read the file: %w", err)
	}
	f.Sum = hash.Sum(nil)
	return nil
}

// Close closes and removes the file.
func (f *SpooledFile) Close() error {
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
