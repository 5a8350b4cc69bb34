package standalone

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// accessKey is the only access key of a service. It signs requests and URLs as on AWS (Signature Version 4).
type accessKey aws.Credentials

// accessKeyID is the id of the access key. It is no secret: each signed URL has it.
const accessKeyID = "standalone"

// signatureTime is the layout of the time of a signature.
const signatureTime = "20060102T150405Z"

// largestCall bounds the body of a call whose signature has the hash of the body, but no header has it.
const largestCall = 16 << 20

// signed reports whether the header Authorization of a request is the signature of the request.
func (k accessKey) signed(r *http.Request) bool {
	given := r.Header.Get("Authorization")
	parts := map[string]string{}
	for part := range strings.SplitSeq(strings.TrimPrefix(given, "AWS4-HMAC-SHA256 "), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		parts[name] = value
	}
	scope := strings.Split(parts["Credential"], "/") // id, date, region, service, aws4_request
	at, err := time.Parse(signatureTime, r.Header.Get("X-Amz-Date"))
	if err != nil || len(scope) != 5 {
		return false
	}
	hash := r.Header.Get("X-Amz-Content-Sha256")
	if hash == "" {
		body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, largestCall))
		if err != nil {
			return false
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		sum := sha256.Sum256(body)
		hash = hex.EncodeToString(sum[:])
	}
	again, err := unsigned(r, r.URL.Query(), parts["SignedHeaders"])
	if err != nil {
		return false
	}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = scope[3] == "s3" })
	err = signer.SignHTTP(r.Context(), aws.Credentials(k), again, hash, scope[3], scope[2], at)
	return err == nil && same(again.Header.Get("Authorization"), given)
}

// presigned reports whether the query q of a request has the signature of the request, which was made at the given
// time.
func (k accessKey) presigned(r *http.Request, q url.Values, at time.Time) bool {
	scope := strings.Split(q.Get("X-Amz-Credential"), "/")
	bare := url.Values{}
	for name, values := range q {
		if !strings.HasPrefix(name, "X-Amz-") || name == "X-Amz-Expires" {
			bare[name] = values
		}
	}
	again, err := unsigned(r, bare, q.Get("X-Amz-SignedHeaders"))
	if err != nil || len(scope) != 5 {
		return false
	}
	signer := v4.NewSigner(func(o *v4.SignerOptions) {
		o.DisableURIPathEscaping, o.DisableHeaderHoisting = true, true
	})
	signed, _, err := signer.PresignHTTP(r.Context(), aws.Credentials(k), again, "UNSIGNED-PAYLOAD", "s3", scope[2], at)
	if err != nil {
		return false
	}
	u, err := url.Parse(signed)
	return err == nil && same(u.Query().Get("X-Amz-Signature"), q.Get("X-Amz-Signature"))
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// unsigned returns a request as its signer had it: with the given query, and with the signed headers only.
func unsigned(r *http.Request, q url.Values, headers string) (*http.Request, error) {
	target := url.URL{Scheme: "http", Host: r.Host, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: q.Encode()}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, target.String(), nil)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(headers, ";") {
		switch name {
		case "host":
		case "content-length":
			out.ContentLength = r.ContentLength
		default:
			out.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
		}
	}
	return out, nil
}
