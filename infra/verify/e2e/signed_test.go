//go:build deployed

package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// signed makes a signed call of the local AWS without a client, which would not be worthwhile
// for a few calls. Headers are pairs of name and value.
func signed(t *testing.T, cfg aws.Config, method, path, service string, body []byte, headers ...string) (status int,
	answer []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	status, answer, err := sign(ctx, cfg, method, path, service, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	return status, answer
}

func sign(ctx context.Context, cfg aws.Config, method, path, service string, body []byte,
	headers ...string) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, running.Endpoint+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	credentials, err := cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return 0, nil, err
	}
	hash := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(ctx, credentials, req, hex.EncodeToString(hash[:]), service, running.Region,
		time.Now()); err != nil {
		return 0, nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}
