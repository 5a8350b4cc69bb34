package cloud_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"

	"github.com/content-automation/api/pkg/cloud/awsapi"
)

// answered is a service that gives its answers one after the other, and keeps the requests.
type answered struct {
	answers  []func(http.ResponseWriter)
	requests []*http.Request
	bodies   []string
}

func (a *answered) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	n := len(a.requests)
	a.requests, a.bodies = append(a.requests, r), append(a.bodies, string(body))
	a.answers[n](w)
}

// says returns an answer with a status, the code in the header unless it is empty, and a body.
func says(status int, code, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if code != "" {
			w.Header().Set("X-Amzn-Errortype", code)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func awsapiOpen(t *testing.T, answers ...func(http.ResponseWriter)) (*answered, *awsapi.Client) {
	t.Helper()
	a := &answered{answers: answers}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return a, awsapi.New(aws.Config{
		Region: "eu-central-1", BaseEndpoint: aws.String(server.URL + "/"),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b", SessionToken: "c"}, nil
		}),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond })
		},
	}, "bedrock-runtime", "bedrock")
}

func TestACallIsSigned(t *testing.T) {
	a, c := awsapiOpen(t, says(200, "", `{"Text":"b"}`), says(200, "", `{}`))
	var out struct{ Text string }
	if err := c.Call(t.Context(), "Service.Operation", map[string]string{"Name": "a"}, &out); err != nil ||
		out.Text != "b" {
		t.Fatalf("%+v, %v", out, err)
	}
	if err := c.Do(t.Context(), http.MethodGet, "/model/arn%3Aaws%2Fa", nil, nil); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ method, path, target, body string }{
		{http.MethodPost, "/", "Service.Operation", `{"Name":"a"}`}, {http.MethodGet, "/model/arn%3Aaws%2Fa", "", ""},
	} {
		r := a.requests[i]
		if r.Method != want.method || r.URL.EscapedPath() != want.path || a.bodies[i] != want.body ||
			r.Header.Get("X-Amz-Target") != want.target || r.Header.Get("X-Amz-Security-Token") != "c" ||
			!strings.Contains(r.Header.Get("Authorization"), "/eu-central-1/bedrock/aws4_request, ") {
			t.Errorf("%s %s %s: %v", r.Method, r.URL.EscapedPath(), a.bodies[i], r.Header)
		}
	}
}

func TestACallIsRepeatedWhereThatHelps(t *testing.T) {
	lost := func(http.ResponseWriter) { panic(http.ErrAbortHandler) }
	slow := says(400, "", `{"__type":"com.amazonaws.x#ThrottlingException","message":"slow down"}`)
	for name, test := range map[string]struct {
		answers []func(http.ResponseWriter)
		calls   int
		code    string
	}{
		"a lost answer":        {[]func(http.ResponseWriter){lost, says(200, "", "{}")}, 2, ""},
		"a full service":       {[]func(http.ResponseWriter){slow, says(503, "", ""), says(200, "", "{}")}, 3, ""},
		"always full":          {[]func(http.ResponseWriter){slow, slow, slow}, 3, "ThrottlingException"},
		"a refusal":            {[]func(http.ResponseWriter){says(400, "NoException:http://a/", "{}")}, 1, "NoException"},
		"a refusal by a proxy": {[]func(http.ResponseWriter){says(403, "", "<html>")}, 1, "UnknownError"},
	} {
		a, c := awsapiOpen(t, test.answers...)
		err := c.Call(t.Context(), "Service.Operation", nil, nil)
		var refused smithy.APIError
		if errors.As(err, &refused) {
			if refused.ErrorCode() != test.code {
				t.Errorf("%s: %v", name, err)
			}
		} else if err != nil || test.code != "" {
			t.Errorf("%s: %v", name, err)
		}
		if len(a.requests) != test.calls {
			t.Errorf("%s: %d calls", name, len(a.requests))
		}
	}
}

func TestAnAnswerThatCannotBeRead(t *testing.T) {
	_, c := awsapiOpen(t, says(200, "", "hush"))
	var out struct{}
	err := c.Call(t.Context(), "Service.Operation", nil, &out)
	if syntax := (*json.SyntaxError)(nil); !errors.As(err, &syntax) || strings.Contains(err.Error(), "hush") {
		t.Errorf("%v", err)
	}
}
