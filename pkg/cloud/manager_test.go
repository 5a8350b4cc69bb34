package cloud_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/content-automation/api/pkg/cloud/secret/manager"
)

func TestSecret(t *testing.T) {
	type asked struct{ SecretId string }
	var calls []asked
	answers := []func(http.ResponseWriter){
		func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
		func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"__type": "com.amazonaws#ThrottlingException", "message": "slow down"}`)
		},
		func(w http.ResponseWriter) { _, _ = io.WriteString(w, `{"Name": "x", "SecretString": "{}"}`) },
		func(w http.ResponseWriter) { _, _ = io.WriteString(w, `{"Name": "x", "SecretBinary": "aGk="}`) },
		func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"__type": "ResourceNotFoundException", "message": "no such secret"}`)
		},
		func(w http.ResponseWriter) { _, _ = io.WriteString(w, "hush") },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in asked
		signed := r.Header.Get("Authorization")
		if !strings.HasPrefix(signed, "AWS4-HMAC-SHA256 Credential=a/") ||
			!strings.Contains(signed, "/eu-central-1/secretsmanager/aws4_request, ") {
			t.Errorf("signed %s", signed)
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil ||
			r.Header.Get("X-Amz-Target") != "secretsmanager.GetSecretValue" {
			t.Errorf("asked for %s, %v", r.Header.Get("X-Amz-Target"), err)
		}
		n := len(calls)
		calls = append(calls, in)
		answers[n](w)
	}))
	t.Cleanup(server.Close)
	read := manager.Secret(aws.Config{
		Region: "eu-central-1", BaseEndpoint: aws.String(server.URL),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		}),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond })
		},
	}, "arn:secret")
	if len(calls) != 0 {
		t.Error("asked before it was wanted")
	}
	if value, err := read(t.Context()); err != nil || value != "{}" {
		t.Errorf("after two failures: %q, %v", value, err)
	}
	for _, says := range []string{"no text", "ResourceNotFoundException: no such secret", "deserialization failed"} {
		if value, err := read(t.Context()); err == nil || !strings.Contains(err.Error(), says) ||
			strings.Contains(err.Error(), "hush") {
			t.Errorf("got %q, %v; want it to say %q", value, err, says)
		}
	}
	for _, c := range calls {
		if c.SecretId != "arn:secret" {
			t.Errorf("asked for %q", c.SecretId)
		}
	}
}

// client answers requests by a function.
type client func(*http.Request) (*http.Response, error)

func (c client) Do(r *http.Request) (*http.Response, error) { return c(r) }

func TestTheSecretIsAskedForInItsRegion(t *testing.T) {
	away := errors.New("no route to host")
	var asked []string
	cfg := aws.Config{
		Region: "us-east-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		}),
		HTTPClient: client(func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.URL.String())
			return nil, &net.OpError{Op: "dial", Err: away}
		}),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxBackoff,
					o.MaxAttempts = time.Millisecond, 4
			})
		},
	}
	if _, err := manager.Secret(cfg, "s")(t.Context()); !errors.Is(err, away) || len(asked) != 4 ||
		asked[0] != "https://secretsmanager.us-east-1.amazonaws.com/" {
		t.Errorf("asked %v: %v", asked, err)
	}
	// China is a partition of its own.
	cfg.Region, asked = "cn-north-1", nil
	if _, err := manager.Secret(cfg, "s")(t.Context()); !errors.Is(err, away) ||
		asked[0] != "https://secretsmanager.cn-north-1.amazonaws.com.cn/" {
		t.Errorf("asked %v: %v", asked, err)
	}
	// No repeat is waited for that comes too late.
	ctx, cancel := context.WithCancel(t.Context())
	asked = nil
	cfg.Retryer = func() aws.Retryer {
		cancel()
		return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Hour })
	}
	if _, err := manager.Secret(cfg, "s")(ctx); err == nil || len(asked) > 1 {
		t.Errorf("asked %v: %v", asked, err)
	}
	cfg.Retryer = nil
	cfg.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials,
		error) {
		return aws.Credentials{}, away
	})
	if _, err := manager.Secret(cfg, "s")(t.Context()); !errors.Is(err, away) {
		t.Errorf("without credentials: %v", err)
	}
}
