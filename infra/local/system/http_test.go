package system

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"
)

func send(t *testing.T, req *http.Request) (*http.Response, string) {
	t.Helper()
	res, err := direct.Do(req)
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

func request(t *testing.T, method, url string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// code returns the error code of an envelope.
func code(t *testing.T, res *http.Response, body string) string {
	t.Helper()
	var envelope struct {
		Data      any
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
