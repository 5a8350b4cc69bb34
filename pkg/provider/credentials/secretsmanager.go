package credentials

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// maxAnswer bounds an answer: a secret has up to 64 KB, and JSON may write each byte
// as six.
const maxAnswer = 1 << 20

// SecretsManager reads the secret of that ARN or name, as the configuration says:
// its endpoint, HTTP client and repeats are used. It is the one call of the service
// that a function makes, so it is signed here: the service's client would add a
// twentieth to the start of functions that mostly never make it.
func SecretsManager(cfg aws.Config, id string) func(context.Context) (string, error) {
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = awshttp.NewBuildableClient()
	}
	s := &secretsManager{cfg: cfg, id: id, signer: v4.NewSigner()}
	return s.read
}

type secretsManager struct {
	cfg    aws.Config
	id     string
	signer *v4.Signer
}

// refusal is an answer that is no success. Its methods are what the SDK decides by
// whether a repeat may help.
type refusal struct {
	status        int
	code, message string
}

// Error tells what was answered.
func (r *refusal) Error() string {
	return fmt.Sprintf("GetSecretValue answers %d %s: %s", r.status, r.code, r.message)
}

// HTTPStatusCode gives the answer's status.
func (r *refusal) HTTPStatusCode() int { return r.status }

// ErrorCode gives the service's name of what is wrong.
func (r *refusal) ErrorCode() string { return r.code }

// read asks until there is an answer that no repeat would change.
func (s *secretsManager) read(ctx context.Context) (string, error) {
	var retryer aws.Retryer = aws.NopRetryer{}
	if s.cfg.Retryer != nil {
		retryer = s.cfg.Retryer()
	}
	for attempt := 1; ; attempt++ {
		value, err := s.ask(ctx)
		if err == nil || ctx.Err() != nil || attempt >= retryer.MaxAttempts() || !retryer.IsErrorRetryable(err) {
			return value, err
		}
		delay, failed := retryer.RetryDelay(attempt, err)
		if failed != nil {
			return "", errors.Join(failed, err)
		}
		timer := time.NewTimer(delay)
		select {
		case <-ctx.Done():
			timer.Stop()
			return "", errors.Join(ctx.Err(), err)
		case <-timer.C:
		}
	}
}

// ask asks once.
func (s *secretsManager) ask(ctx context.Context) (string, error) {
	req, err := s.request(ctx)
	if err != nil {
		return "", err
	}
	resp, err := s.cfg.HTTPClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return "", err
	}
	var answer struct {
		SecretString *string
		Type         string `json:"__type"`
		Message      string `json:"message"`
	}
	err = json.Unmarshal(body, &answer)
	switch {
	case resp.StatusCode != http.StatusOK:
		// Some answers have the code behind a name space; those of a proxy are no JSON.
		return "", &refusal{resp.StatusCode, answer.Type[strings.LastIndex(answer.Type, "#")+1:], answer.Message}
	case err != nil:
		return "", errors.New("the answer of GetSecretValue is no JSON") // which the error would quote
	case answer.SecretString == nil:
		return "", errors.New("the secret holds no text")
	}
	return *answer.SecretString, nil
}

// request makes a signed request.
func (s *secretsManager) request(ctx context.Context) (*http.Request, error) {
	body, err := json.Marshal(map[string]string{"SecretId": s.id})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.endpoint(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.1")
	req.Header.Set("X-Amz-Target", "secretsmanager.GetSecretValue")
	key, err := s.cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(body)
	return req, s.signer.SignHTTP(ctx, key, req, hex.EncodeToString(hash[:]), "secretsmanager", s.cfg.Region, time.Now())
}

// endpoint is the service's address.
func (s *secretsManager) endpoint() string {
	if base := aws.ToString(s.cfg.BaseEndpoint); base != "" {
		return strings.TrimSuffix(base, "/") + "/"
	}
	return "https://secretsmanager." + s.cfg.Region + ".amazonaws.com/"
}
