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
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/content-automation/api/pkg/base/budget"
)

// Bounds of a call that sets none.
const (
	timeout   = 30 * time.Second
	maxAnswer = 1 << 20
)

const maxExcerpt = 512 // bytes of a refusal in the log

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
	maps.Copy(req.Header, c.Header)
	return req, streamed, nil
}

// Body is a body that is streamed.
type Body struct {
	Type   string
	Length int64
	Reader io.Reader
}

// sending is the body of a request. It tells whether it was read to its end.
type sending struct {
	mu   sync.Mutex
	r    io.Reader
	left int64
	done bool // closed, so that nothing more is sent
}

func (s *sending) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return 0, io.ErrClosedPipe
	}
	n, err := s.r.Read(p)
	s.left -= int64(n)
	return n, err
}

func (s *sending) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.r.(io.Closer); ok && !s.done {
		s.done = true
		return c.Close()
	}
	s.done = true
	return nil
}

// whole reports whether the body was read completely. It returns true if there is no body.
func (s *sending) whole() bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left <= 0
}

// Kind is what is wrong with a call.
type Kind int

// The kinds of calls without a complete answer.
const (
	// Lost means that the other side may have acted, and its answer is missing.
	Lost Kind = iota + 1
	// Invalid means that the request cannot be made.
	Invalid
	// Canceled means that the caller has given up.
	Canceled
	// Late means that the time of the call was over.
	Late
	// Unreachable means that the connection failed.
	Unreachable
	// Unreadable means that the answer cannot be parsed, or lacks a member.
	Unreadable
)

// The kinds of refusals.
const (
	// Limited means that the other side takes no more calls at the moment.
	Limited Kind = iota + 100
	// Unauthorized means that the credential is not valid.
	Unauthorized
	// Unpaid means that the account has no credit.
	Unpaid
	// Forbidden means that the credential does not allow the call.
	Forbidden
	// Unavailable means that the other side, or a proxy in front of it, does not work.
	Unavailable
	// Refused means that the other side does not take the request, and takes no repeat of it.
	Refused
)

// KindOf returns the kind of a status that is no success.
func KindOf(status int) Kind {
	switch status {
	case http.StatusTooManyRequests:
		return Limited
	case http.StatusUnauthorized:
		return Unauthorized
	case http.StatusPaymentRequired:
		return Unpaid
	case http.StatusForbidden:
		return Forbidden
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return Unavailable
	}
	if status >= 400 && status <= 499 {
		return Refused
	}
	return Unavailable
}

// Fault is the failure of a call without a complete answer. Its cause has no address.
type Fault struct {
	Kind  Kind
	Cause error
}

// Broken returns the fault of a call with an error of net/http. The argument acted reports whether the other side may
// have acted.
func Broken(ctx context.Context, cause error, acted bool) *Fault {
	cause = Bare(cause)
	if err := ctx.Err(); err != nil && !errors.Is(cause, err) {
		cause = fmt.Errorf("%w: %w", err, cause)
	}
	switch {
	case acted:
		return &Fault{Lost, cause}
	case errors.Is(cause, context.Canceled):
		return &Fault{Canceled, cause}
	case errors.Is(cause, context.DeadlineExceeded):
		return &Fault{Late, cause}
	}
	return &Fault{Unreachable, cause}
}

// Unread returns the fault of an answer that cannot be parsed, or lacks a member.
func Unread(cause error, acted bool) *Fault {
	cause = fmt.Errorf("answer: %w", cause)
	if acted {
		return &Fault{Lost, cause}
	}
	return &Fault{Unreadable, cause}
}

// Bare removes the URL from an error of net/http: a URL may contain a token or a signature.
func Bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
