package system

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Invoke calls a function by its name and reads its answer. The request is
// signed by hand: that is not worth the whole client of Lambda.
func (s *System) Invoke(ctx context.Context, function, payload string, into any) error {
	address := s.Endpoint + "/2015-03-31/functions/" + customer + "-" + stage + "-" + function + "/invocations"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader([]byte(payload)))
	if err != nil {
		return err
	}
	credentials, err := s.AWS().Credentials.Retrieve(ctx)
	if err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(payload))
	if err := v4.NewSigner().SignHTTP(ctx, credentials, req, hex.EncodeToString(hash[:]), "lambda", s.Region, time.Now()); err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: direct.Transport}).Do(req)
	if err != nil {
		return fmt.Errorf("calling the function %s: %w", function, err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || resp.Header.Get("X-Amz-Function-Error") != "") {
		err = fmt.Errorf("it answered %s", resp.Status)
	}
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return fmt.Errorf("calling the function %s: %w: %s", function, err, raw)
	}
	return nil
}
