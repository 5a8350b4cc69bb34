// Package calltest calls servers of this machine in tests.
package calltest

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"
)

// direct sends requests without the proxy of the environment.
var direct = &http.Client{Transport: &http.Transport{}}

// Request returns a request that ends with the test.
func Request(t testing.TB, method, url string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// Send sends a request, and returns the response and its body.
func Send(t testing.TB, req *http.Request) (*http.Response, string) {
	t.Helper()
	return read(t, direct.Do, req)
}

// Through sends a request through a transport, such as one without a network.
func Through(t testing.TB, transport http.RoundTripper, req *http.Request) (*http.Response, string) {
	t.Helper()
	return read(t, transport.RoundTrip, req)
}

func read(t testing.TB, send func(*http.Request) (*http.Response, error), req *http.Request) (*http.Response, string) {
	t.Helper()
	res, err := send(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// Code returns the error code of an envelope, whose request id must be that of the header.
func Code(t testing.TB, res *http.Response, body string) string {
	t.Helper()
	var envelope struct {
		Error     struct{ Code, Message, Type string }
		RequestID string `json:"request_id"`
	}
	if err := json.Unmarshal([]byte(body), &envelope); err != nil {
		t.Fatalf("%q is no envelope: %v", body, err)
	}
	if envelope.RequestID == "" || envelope.RequestID != res.Header.Get("X-Request-Id") {
		t.Errorf("the request's id is %q in the body and %q in the header", envelope.RequestID,
			res.Header.Get("X-Request-Id"))
	}
	return envelope.Error.Code
}
