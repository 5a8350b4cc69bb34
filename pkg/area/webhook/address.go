package webhook

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/wire"
	plain "github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/record/resource"
)

// keptBody is the number of bytes of an answer's body that are kept.
const keptBody = 1 << 10

// Caller sends HTTP requests to addresses that are not to be trusted.
type Caller interface {
	Do(req *http.Request) (*http.Response, error)
}

var _ Caller = (*safehttp.Client)(nil)

type address struct {
	client Caller
	now    func() time.Time
	url    string
}

var _ destination = address{}

// send posts the event, signed.
func (a address) send(ctx context.Context, e outgoing) (Outcome, error) {
	at := a.now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, bytes.NewReader(e.body))
	if err != nil {
		return Outcome{}, fmt.Errorf("webhook: make the request: %w", err)
	}
	req.Header = http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {UserAgent},
		// Receivers drop repeats by webhook-id, so net/http may repeat a request whose
		// kept connection turns out to be dead. An empty list is not sent.
		"Idempotency-Key": nil,
	}
	for name, value := range e.headers(at, e.body) {
		req.Header.Set(name, value)
	}

	o := Outcome{Attempt: Attempt{At: resource.Instant(at)}, Request: requestOf(a.url, req.Header, e.body)}
	resp, err := a.client.Do(req)
	if err == nil {
		var kept []byte
		kept, err = safehttp.ReadBody(resp, keptBody)
		o.Status, o.ResponseBody = &resp.StatusCode, resource.Text(text(kept))
		o.RetryAfter = retryAfter(resp.StatusCode, resp.Header, a.now())
	}
	o.LatencyMS = a.now().Sub(at).Milliseconds()
	if o.Status == nil || *o.Status < 200 || *o.Status > 299 {
		reason := describe(o.Status, err)
		o.Error = &reason
	}
	return o, nil
}

// requestOf returns a request as it is kept. Names of headers are in lower case.
func requestOf(address string, headers http.Header, body []byte) DeliveryRequest {
	all := map[string]string{}
	for name := range headers {
		if value := headers.Get(name); value != "" {
			all[strings.ToLower(name)] = value
		}
	}
	return DeliveryRequest{Address: address, Headers: all, Body: new(string(body))}
}

// describe returns why an attempt failed. If there is a status, an error in reading the body does not matter.
func describe(status *int, err error) string {
	switch {
	case status == nil:
		return safehttp.Describe(err)
	case *status >= 300 && *status <= 399:
		return fmt.Sprintf("The receiver answered with a redirect (%d), which is not followed.", *status)
	default:
		return strings.TrimSpace(fmt.Sprintf("The receiver answered %d %s", *status, http.StatusText(*status))) + "."
	}
}

// retryAfter returns the wait that an answer asks for, or 0 if it does not ask for a later attempt.
func retryAfter(status int, h http.Header, now time.Time) time.Duration {
	if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
		return 0
	}
	return wire.RetryAfter(h, now)
}

// text returns the first bytes of an answer as valid UTF-8 without control characters, within the same bound.
func text(b []byte) string {
	// A character that the bound has cut in two is left out, not replaced.
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if last := b[len(b)-i]; utf8.RuneStart(last) {
			if !utf8.FullRune(b[len(b)-i:]) {
				b = b[:len(b)-i]
			}
			break
		}
	}
	s := plain.Plain(string(b))
	for len(s) > keptBody {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}
