package adapter_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
	"github.com/content-automation/api/pkg/cloud/awsapi"
)

// against makes a call of a service that answers by the handler.
func wireAgainst(t *testing.T, call wire.AWSCall, h http.HandlerFunc) error {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	return ask(t.Context(), call, server.URL)
}

func ask(ctx context.Context, call wire.AWSCall, endpoint string) error {
	cfg := aws.Config{
		Region: "eu-central-1", BaseEndpoint: aws.String("http://127.0.0.1:1"), RetryMaxAttempts: 5,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		}),
	}
	client := awsapi.New(wire.AWSConfig(cfg, endpoint), "polly", "polly")
	call.Name = "polly: GetSpeechSynthesisTask"
	if call.Timeout == 0 {
		call.Timeout = time.Minute
	}
	return call.Do(ctx, func(ctx context.Context) error {
		return client.Do(ctx, http.MethodGet, "/v1/synthesisTasks/a", nil, &struct{}{})
	})
}

func TestCodesThatMeanTheSameEverywhere(t *testing.T) {
	for _, c := range []struct {
		status     int
		code       string
		retryAfter string
		kind       provider.ErrorKind
		waits      time.Duration
	}{
		{400, "ThrottlingException", "", provider.Transient, 0},
		{400, "ThrottlingException", "7", provider.Transient, 7 * time.Second},
		{400, "ThrottlingException", "999999", provider.Transient, time.Hour},
		{400, "ThrottlingException", "-1", provider.Transient, 0},
		{429, "", "7", provider.Transient, 7 * time.Second},
		{429, "TooManyRequestsException", "soon", provider.Transient, 0},
		{400, "ServiceQuotaExceededException", "", provider.Quota, 0},
		{400, "ValidationException", "", provider.BadInput, 0},
		{404, "com.amazonaws.polly#NoSuchThing", "", provider.BadInput, 0},
		{400, "com.amazonaws.polly#ThrottlingException", "", provider.Transient, 0},
		{400, "AccessDeniedException", "", provider.Quota, 0},
		{403, "", "", provider.Quota, 0},
		{401, "Whatever", "", provider.Quota, 0},
		{400, "UnrecognizedClientException", "", provider.Quota, 0},
		{403, "ExpiredTokenException", "", provider.Quota, 0},
		{408, "", "", provider.Transient, 0},
		{500, "ServiceFailureException", "", provider.Transient, 0},
		{503, "", "", provider.Transient, 0},
	} {
		var calls atomic.Int32
		err := wireAgainst(t, wire.AWSCall{Submits: true}, func(w http.ResponseWriter, _ *http.Request) {
			calls.Add(1)
			if c.code != "" {
				w.Header().Set("X-Amzn-Errortype", c.code)
			}
			w.Header().Set("Retry-After", c.retryAfter)
			w.WriteHeader(c.status)
			fmt.Fprint(w, `{"message":"m"}`)
		})
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.RetryAfter != c.waits || e.Code == "" || e.Message == "" {
			t.Errorf("%d %s: got %v, want %s", c.status, c.code, err, c.kind)
		}
		if calls.Load() != 1 {
			t.Errorf("%d %s: called %d times", c.status, c.code, calls.Load())
		}
	}
}

func TestCodesOfOneService(t *testing.T) {
	own := &provider.Error{Kind: provider.Rejected, Code: "own", Message: "m"}
	var code, message string
	err := wireAgainst(t, wire.AWSCall{Classify: func(c, m string) *provider.Error {
		code, message = c,
			m
		return own
	}},
		func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Amzn-Errortype", "InvalidTaskIdException")
			w.WriteHeader(400)
			fmt.Fprint(w, `{"message":"words"}`)
		})
	var e *provider.Error
	if !errors.As(err, &e) || e.Code != "own" || e.Cause == nil || code != "InvalidTaskId" || message != "words" {
		t.Errorf("got %v for %s %q", err, code, message)
	}
}

// Failures other than answers of the service, for calls that submit something and for others.
func TestTroublesOfTheWay(t *testing.T) {
	cut := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	garbage := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{\x00<html>") }
	stuck := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, c := range map[string]struct {
		h             http.HandlerFunc
		timeout       time.Duration
		reads, starts provider.ErrorKind
	}{
		"a cut connection": {cut, 0, provider.Transient, provider.UnknownOutcome},
		"garbage":          {garbage, 0, provider.Transient, provider.UnknownOutcome},
		"a time-out":       {stuck, 100 * time.Millisecond, provider.Transient, provider.UnknownOutcome},
	} {
		for submits, want := range map[bool]provider.ErrorKind{false: c.reads, true: c.starts} {
			err := wireAgainst(t, wire.AWSCall{Submits: submits, Timeout: c.timeout}, c.h)
			var e *provider.Error
			if !errors.As(err, &e) || e.Kind != want {
				t.Errorf("%s, submits %v: got %v, want %s", name, submits, err, want)
			}
		}
	}
}

func TestWhatNobodyGotIsNoUnknownOutcome(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	if err := ask(t.Context(), wire.AWSCall{Submits: true}, gone.URL); provider.KindOf(err) != provider.Transient {
		t.Errorf("nobody there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := ask(ctx, wire.AWSCall{Submits: true}, gone.URL)
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.Transient || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestWhatIsClassifiedStaysSo(t *testing.T) {
	own := wire.AWSCall{Name: "x", Submits: true}.Garbled(errors.New("empty"))
	err := (wire.AWSCall{Timeout: time.Minute}).Do(t.Context(), func(context.Context) error { return own })
	if !errors.Is(err, error(own)) {
		t.Errorf("got %v", err)
	}
	if own.Kind != provider.UnknownOutcome || (wire.AWSCall{}).Garbled(errors.New("empty")).Kind != provider.Transient {
		t.Errorf("garbled: %v", own)
	}
}
