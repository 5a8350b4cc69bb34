package media

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/content-automation/api/pkg/base/tenant"
)

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
