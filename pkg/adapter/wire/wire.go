// Package wire is the HTTP client of all adapters. The packages wire of platforms and providers give it their own
// errors; the CRMs use that of the platforms.
//
// It retries no call: the queue does, where a wait costs nothing and attempts are counted. The one exception is that of
// net/http: if a kept connection turns out to be dead before a byte of the request was written, such as after a
// function was frozen, a request whose body is in memory is sent on a new connection. Start with Do.
package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/content-automation/api/pkg/base/budget"
)

// Bounds of a call that sets none.
const (
	timeout   = 30 * time.Second
	maxAnswer = 1 << 20
)

const (
	maxExcerpt    = 512 // bytes of a refusal in the log
	maxRetryAfter = 24 * time.Hour
)

// Doer sends a request. It follows no redirect, because a redirect could carry a credential elsewhere.
type Doer interface {
	Do(req *http.Request) (*http.Response, error)
}

// Strict returns a copy of a client that follows no redirect. The client may be nil.
func Strict(client *http.Client) *http.Client {
	var c http.Client
	if client != nil {
		c = *client
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// Call is one request. At most one of JSON, Form and Body is set.
type Call struct {
	Method, URL string
	Query       url.Values
	Header      http.Header // wins over the headers that the client sets
	JSON        any
	Form        url.Values
	Body        *Body

	// Acts reports whether the call does something that must not be done twice. If its answer is missing, the fault is
	// Lost.
	Acts      bool
	Timeout   time.Duration // 30 s if it is 0
	MaxAnswer int64         // bytes; 1 MiB if it is 0
}

// Answer is a complete answer, unless it comes with a fault.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// OK reports whether the status is a success.
func (a Answer) OK() bool { return a.Status >= 200 && a.Status <= 299 }

// Refusal returns the status and the beginning of the answer, for the log. The other side may have repeated the secrets
// of the call, which are left out.
func (a Answer) Refusal(secrets ...string) error {
	text := string(a.Body)
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "[credential]")
		}
	}
	return fmt.Errorf("status %d: %q", a.Status, text[:min(len(text), maxExcerpt)])
}

// Do sends a call. An answer that breaks off has its status and header, and comes with a fault.
func Do(ctx context.Context, client Doer, call Call) (Answer, *Fault) {
	if err := ctx.Err(); err != nil {
		return Answer{}, Broken(ctx, err, false)
	}
	bounded, cancel := context.WithTimeout(ctx, cmp.Or(call.Timeout, timeout))
	defer cancel()
	bounded, begun := Traced(bounded)
	req, body, err := call.request(bounded)
	if err != nil {
		return Answer{}, &Fault{Invalid, Bare(err)}
	}
	resp, err := client.Do(req)
	if err != nil {
		return Answer{}, Broken(ctx, err, call.Acts && begun() && body.whole())
	}
	defer resp.Body.Close()
	limit := cmp.Or(call.MaxAnswer, maxAnswer)
	content, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	answer := Answer{resp.StatusCode, resp.Header, content}
	switch {
	case err != nil:
		return answer, Broken(ctx, err, call.Acts)
	case int64(len(content)) > limit:
		return answer, Unread(fmt.Errorf("it is larger than %d bytes", limit), call.Acts)
	}
	if err := values(ctx, content, limit); err != nil {
		return answer, Unread(err, call.Acts)
	}
	return answer, nil
}

// answers is what an answer in JSON may have: a decoder makes up to some hundred bytes of each value. Pages of a
// hundred posts or products have a tenth of it. An answer that may be longer may have more, such as the times of all
// letters.
var answers = budget.Budget{Name: "answer in JSON", Bytes: maxAnswer, Elements: 100_000, Depth: 100,
	Time: 10 * time.Second}

// bytesEach is the number of bytes of a longer answer for each of its values.
const bytesEach = 16

// values bounds the values of an answer, if it may be JSON.
func values(ctx context.Context, content []byte, limit int64) error {
	if text := bytes.TrimLeft(content[:min(len(content), 64)], " \t\r\n"); len(text) == 0 || text[0] != '{' &&
		text[0] != '[' {
		return nil
	}
	b := answers
	b.Bytes, b.Elements = limit, max(b.Elements, int(limit/bytesEach))
	return b.JSON(ctx, content)
}

// Traced returns a context for a request, and a function that reports whether the other side may have received the
// request or, if it has a streamed body, its header. The end of a body in memory may have arrived as soon as the header
// is written. WroteRequest would be too late, because the other side can act before net/http calls it.
func Traced(ctx context.Context) (context.Context, func() bool) {
	var sent atomic.Bool
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:      func(string) { sent.Store(false) }, // net/http also calls it for a retry
		WroteHeaders: func() { sent.Store(true) },
	}), sent.Load
}

func (c Call) request(ctx context.Context) (*http.Request, *sending, error) {
	address := c.URL
	if len(c.Query) > 0 {
		address += "?" + c.Query.Encode()
	}
	var reader io.Reader
	var kind string
	var streamed *sending
	switch {
	case c.JSON != nil:
		raw, err := json.Marshal(c.JSON)
		if err != nil {
			return nil, nil, err
		}
		kind, reader = "application/json", bytes.NewReader(raw)
	case c.Form != nil:
		kind, reader = "application/x-www-form-urlencoded", strings.NewReader(c.Form.Encode())
	case c.Body != nil && c.Body.Length > 0:
		streamed = &sending{r: c.Body.Reader, left: c.Body.Length}
		kind, reader = c.Body.Type, streamed // without GetBody, net/http cannot send it twice
	case c.Body != nil:
		kind = c.Body.Type
	}
	req, err := http.NewRequestWithContext(ctx, c.Method, address, reader)
	if err != nil {
		return nil, nil, err
	}
	if streamed != nil {
		req.ContentLength = c.Body.Length
	}
	req.Header.Set("Accept", "application/json")
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for name, values := range c.Header {
		req.Header[name] = values
	}
	return req, streamed, nil
}

// RetryAfter parses the header Retry-After: seconds, or a date (RFC 9110, 10.2.3). It returns at most a day, and 0 if
// the header says nothing.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	var after time.Duration
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
		// Compared first: the product of a large number would overflow.
		after = time.Duration(min(seconds, int64(maxRetryAfter/time.Second))) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		after = at.Sub(now)
	}
	return min(max(after, 0), maxRetryAfter)
}
