package media

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
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
	if s.names != nil {
		return s.names(key), nil
	}
	creds, err := s.credentials.Retrieve(ctx)
	if err != nil {
		return "", fmt.Errorf("media: sign %s: %w", key, err)
	}
	target := s.endpoint.JoinPath(key)
	target.RawQuery = url.Values{
		"X-Amz-Expires":         {strconv.Itoa(int(lifetime / time.Second))},
		"response-content-type": {contentType},
	}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return "", fmt.Errorf("media: sign %s: %w", key, err)
	}
	signed, _, err := s.signer.PresignHTTP(ctx, creds, req, unsignedPayload, "s3", s.region, s.now().UTC())
	if err != nil {
		return "", fmt.Errorf("media: sign %s: %w", key, err)
	}
	return signed, nil
}

// ThumbnailURL signs a URL of the file's thumbnail, or returns nil if it has none. An export has none: it names the
// files alone.
func (s *Signer) ThumbnailURL(ctx context.Context, f File) (*string, error) {
	if !f.Thumb || s.names != nil {
		return nil, nil
	}
	address, err := s.URL(ctx, f.ThumbnailKey(), ThumbnailType)
	return &address, err
}

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
