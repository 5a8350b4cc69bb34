package clients_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	contentautomation "github.com/content-automation/api/clients/go"
	"github.com/content-automation/api/clients/internal/faults"
)

// serve returns a client whose requests a function answers, with data or a whole body.
func serve(t *testing.T, answer func(http.ResponseWriter, *http.Request) string, options ...contentautomation.Option,
) *contentautomation.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.WriteString(w, answer(w, req))
	}))
	t.Cleanup(server.Close)
	client, err := contentautomation.New(append([]contentautomation.Option{contentautomation.WithBaseURL(server.URL),
		contentautomation.WithAPIKey(faults.Key), contentautomation.WithClock(time.Now,
			func(context.Context, time.Duration) error { return nil })}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// threePages answers with three pages of two elements.
func threePages(w http.ResponseWriter, req *http.Request) string {
	w.Header().Set("RateLimit", "r=9;t=3")
	at, next := req.URL.Query().Get("cursor"), map[string]string{"": `"1"`, "1": `"2"`, "2": "null"}
	return fmt.Sprintf(`{"data":[{"id":"%[1]sa"},{"id":"%[1]sb"}],"error":null,"request_id":"req_%[1]s","next_cursor":%[2]s}`,
		at, next[at])
}

func TestAListIsReadByPagesAndIntoASlice(t *testing.T) {
	client := serve(t, threePages)
	var seen []string
	page, err := client.Content.ListPage(t.Context(), nil)
	for ; page != nil; page, err = page.Next(t.Context()) {
		seen = append(seen, page.RequestID+" "+page.Header.Get("RateLimit")+" "+page.Items[1].ID)
	}
	if got := strings.Join(seen, ", "); err != nil || got != "req_ r=9;t=3 b, req_1 r=9;t=3 1b, req_2 r=9;t=3 2b" {
		t.Errorf("%s, %v", got, err)
	}
	three, err := contentautomation.Collect(client.Content.List(t.Context(), nil), 3)
	if err != nil || len(three) != 3 || three[2].ID != "1a" {
		t.Errorf("%v, %v", three, err)
	}
}

func TestKeyAndAddressComeFromTheEnvironment(t *testing.T) {
	t.Setenv("SVC_API_KEY", faults.Key)
	t.Setenv("BASE_URL", "http://localhost:7")
	client, err := contentautomation.New()
	if err != nil || client.String() != "contentautomation.Client(http://localhost:7, svc_test_…)" {
		t.Errorf("%v, %v", client, err)
	}
	_, err = contentautomation.New(contentautomation.WithAPIKey(""))
	if err == nil || !strings.Contains(err.Error(), "SVC_API_KEY") {
		t.Error(err)
	}
	t.Setenv("BASE_URL", "")
	if _, err := contentautomation.New(); err == nil || !strings.Contains(err.Error(), "BASE_URL") {
		t.Error(err)
	}
}

func TestEveryAttemptIsLogged(t *testing.T) {
	var log bytes.Buffer
	n := 0
	client := serve(t, func(w http.ResponseWriter, req *http.Request) string {
		if req.Header.Get("X-Team") != "a" || req.Header.Get("X-Trace") != "one" {
			t.Errorf("the headers are %v", req.Header)
		}
		if n++; n == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return `{"data":null,"error":{"code":"timeout","type":"api_error","message":"m"},"request_id":"req_1"}`
		}
		w.Header().Set("Deprecation", "@1795255200")
		w.Header().Set("Sunset", "Thu, 01 Jul 2027 00:00:00 GMT")
		return `{"data":{"id":"cnt_1"},"error":null,"request_id":"req_2"}`
	}, contentautomation.WithLogger(slog.New(slog.NewJSONHandler(&log, nil))),
		contentautomation.WithDefaultHeader("X-Team", "a"), contentautomation.WithDefaultHeader("X-Trace", "all"))
	if _, err := client.Content.Get(t.Context(), "cnt_1", contentautomation.WithHeader("X-Trace", "one")); err != nil {
		t.Fatal(err)
	}
	type entry struct {
		Level, Method, Path, Error, Deprecation, Sunset string
		ID                                              string `json:"request_id"`
		Status, Attempt                                 int
		Pause                                           int64
	}
	var first, second entry
	lines := json.NewDecoder(&log)
	if err := errors.Join(lines.Decode(&first), lines.Decode(&second)); err != nil {
		t.Fatal(err)
	}
	if first.Level != "WARN" || first.Status != 503 || first.ID != "req_1" || first.Pause == 0 || first.Error == "" ||
		first.Path != "/v1/content-items/cnt_1" {
		t.Errorf("the first entry is %+v", first)
	}
	if second.Level != "WARN" || second.Status != 200 || second.Attempt != 2 || second.Deprecation != "@1795255200" ||
		second.Sunset != "Thu, 01 Jul 2027 00:00:00 GMT" {
		t.Errorf("the second entry is %+v", second)
	}
}

// A caller may give the client an HTTP client with a time-out.
func TestATimeOutOfTheHTTPClientIsATimeOut(t *testing.T) {
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(stop) })
	client, err := contentautomation.New(contentautomation.WithBaseURL(server.URL), contentautomation.WithMaxRetries(0),
		contentautomation.WithAPIKey(faults.Key),
		contentautomation.WithHTTPClient(&http.Client{Timeout: 50 * time.Millisecond}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Content.Get(t.Context(), "cnt_1"); !contentautomation.IsTimeout(err) {
		t.Errorf("%v", err)
	}
}

// An empty idempotency key is sent, and refused: with another one in its place, nobody would notice.
func TestAnEmptyIdempotencyKeyIsNotReplaced(t *testing.T) {
	client := serve(t, func(_ http.ResponseWriter, req *http.Request) string {
		if values, sent := req.Header["Idempotency-Key"]; !sent || values[0] != "" {
			t.Errorf("the key is %q", values)
		}
		return `{"data":{"id":"cnt_1"},"error":null,"request_id":"r"}`
	})
	if err := client.Do(t.Context(), "POST", "/v1/x", nil, nil, nil, contentautomation.WithIdempotencyKey("")); err != nil {
		t.Error(err)
	}
}

func TestASignedTestEventIsVerified(t *testing.T) {
	receiver, err := contentautomation.NewReceiver("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	if err != nil {
		t.Fatal(err)
	}
	header, body, err := receiver.Sign(map[string]any{"id": "evt_1", "type": "content.generated"})
	if err != nil || header.Get("Webhook-Id") != "evt_1" {
		t.Fatal(header, err)
	}
	event, err := receiver.Event(header, body)
	if err != nil || event.Type != contentautomation.EventTypeContentGenerated {
		t.Errorf("%v, %v", event, err)
	}
	if _, err := receiver.Event(header, append(body, ' ')); err == nil {
		t.Error("a changed body is verified")
	}
	// The headers of an event of Lambda have lower-case names.
	lower := http.Header{}
	for name, values := range header {
		lower[strings.ToLower(name)] = values
	}
	if _, err := receiver.Event(lower, body); err != nil {
		t.Errorf("headers in lower case: %v", err)
	}
}

// TestAnOddRequestWithoutASignatureIsASignatureError sends what anybody may send.
func TestAnOddRequestWithoutASignatureIsASignatureError(t *testing.T) {
	receiver, err := contentautomation.NewReceiver("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	if err != nil {
		t.Fatal(err)
	}
	header, body, err := receiver.Sign(map[string]any{"id": "evt_1", "type": "content.generated"})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []http.Header{
		{"Webhook-Timestamp": {strings.Repeat("9", 400)}}, {"Webhook-Timestamp": {strings.Repeat("9", 5000)}},
		{"Webhook-Timestamp": {"9223372036854775807"}}, {"Webhook-Timestamp": {"-9223372036854775808"}},
		{"Webhook-Timestamp": {"٣"}}, {"Webhook-Timestamp": nil}, {"Webhook-Id": {"\xff"}}, {"Webhook-Id": {}},
		{"Webhook-Signature": {"v1,\xff"}}, {"Webhook-Signature": {"v1,"}}, {"Webhook-Signature": {" "}},
	} {
		odd := header.Clone()
		maps.Copy(odd, change)
		var wrong *contentautomation.SignatureError
		if _, err := receiver.Event(odd, body); !errors.As(err, &wrong) {
			t.Errorf("%.60q: %v", change, err)
		}
	}
	for _, signed := range []string{"", "null", "[]", "1", "{"} {
		var wrong *contentautomation.SignatureError
		header, body, err := receiver.Sign([]byte(signed))
		if err != nil {
			t.Fatal(err)
		}
		if event, err := receiver.Event(header, body); !errors.As(err, &wrong) {
			t.Errorf("the body %q: %v, %v", signed, event, err)
		}
	}
}

func TestWhiteSpaceOfAFileWithOtherLineBreaks(t *testing.T) {
	for _, end := range []string{"\r", "\r\n", " "} {
		t.Setenv("SVC_API_KEY", faults.Key+end)
		t.Setenv("BASE_URL", "http://localhost:7"+end)
		if client, err := contentautomation.New(); err != nil || !strings.Contains(client.String(), "http://localhost:7,") {
			t.Errorf("%q: %v, %v", end, client, err)
		}
		_, key := contentautomation.New(contentautomation.WithAPIKey(faults.Key + end))
		_, base := contentautomation.New(contentautomation.WithBaseURL("http://localhost:7" + end))
		_, secret := contentautomation.NewReceiver("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=" + end)
		for name, err := range map[string]error{"API key": key, "base URL": base, "signing secret": secret} {
			if err == nil || err.Error() != "the "+name+" has a space or a line break at its start or end" {
				t.Errorf("%s with %q: %v", name, end, err)
			}
		}
	}
}

// TestFailedWorkIsReturnedBesideItsError reads the resource without a cast.
func TestFailedWorkIsReturnedBesideItsError(t *testing.T) {
	client := serve(t, func(http.ResponseWriter, *http.Request) string {
		return `{"data":{"id":"cnt_1","state":"failed","failure":{"code":"content_policy","message":"m","stage":"generate",` +
			`"retryable":true}},"error":null,"request_id":"r"}`
	})
	item, err := client.Content.WaitFor(t.Context(), "cnt_1")
	var failed *contentautomation.FailedError
	if !errors.As(err, &failed) || failed.Failure.Code != "content_policy" || !failed.Failure.Retryable ||
		item == nil || item.Failure.Stage != "generate" {
		t.Errorf("%+v, %v", item, err)
	}
}

// TestAnUploadIsNotHeldInMemory uploads 100 MiB from a stream.
func TestAnUploadIsNotHeldInMemory(t *testing.T) {
	const size = 100 << 20
	t.Setenv("TMPDIR", t.TempDir())
	var got int64
	client := serve(t, func(_ http.ResponseWriter, req *http.Request) string {
		state := "pending"
		switch req.Method {
		case http.MethodPut:
			got, _ = io.Copy(io.Discard, req.Body)
		case http.MethodGet:
			state = "ready"
		}
		return `{"data":{"id":"med_1","state":"` + state + `","upload":{"url":"http://` + req.Host + `/put","method":"PUT",` +
			`"headers":{},"expires_at":"2026-05-01T10:00:00Z"}},"error":null,"request_id":"r"}`
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := client.Media.Upload(t.Context(), io.LimitReader(rand.Reader, size),
		contentautomation.OwnMediaCreateMimeTypeVideoMp4)
	runtime.ReadMemStats(&after)
	if err != nil || got != size {
		t.Errorf("storage has %d bytes: %v", got, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > size/10 {
		t.Errorf("it takes %d MiB", used>>20)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}
