package contentautomation

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	shortestPause = 500 * time.Millisecond
	longestPause  = 8 * time.Second
	// longestRetryAfter is the longest time that a call waits because the service asks for it. After that the caller
	// decides.
	longestRetryAfter = 60 * time.Second
)

// envelope is the form of every answer.
type envelope struct {
	Data  json.RawMessage `json:"data"`
	Error *struct {
		Code    ErrorCode       `json:"code"`
		Type    ErrorType       `json:"type"`
		Message string          `json:"message"`
		Param   string          `json:"param"`
		Details []ErrorDetail   `json:"details"`
		DocURL  string          `json:"doc_url"`
		Context json.RawMessage `json:"context"`
	} `json:"error"`
	RequestID  string  `json:"request_id"`
	NextCursor *string `json:"next_cursor"`
	header     http.Header
	status     int
}

func newCall(method, path string, query url.Values, body any, options []RequestOption) *call {
	c := &call{method: method, path: path, query: query, body: body, header: http.Header{},
		every: 10 * time.Second, limit: 15 * time.Minute}
	for _, option := range options {
		option(c)
	}
	if _, given := c.header["Idempotency-Key"]; !given && method != http.MethodGet {
		c.header.Set("Idempotency-Key", newKey())
	}
	return c
}

// newKey returns a random UUID.
func newKey() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Do calls an operation by its method and path, such as GET /v1/me, and decodes the member data of the answer into
// result, unless that is nil. It is for operations that this package does not know yet.
func (c *Client) Do(ctx context.Context, method, path string, query url.Values, body, result any,
	options ...RequestOption,
) error {
	_, err := c.do(ctx, newCall(method, path, query, body, options), result)
	return err
}

// do makes a call, and repeats it while that may help.
func (t *transport) do(ctx context.Context, c *call, result any) (*envelope, error) {
	var body []byte
	if c.body != nil {
		var err error
		if body, err = json.Marshal(c.body); err != nil {
			return nil, &ConfigError{"the body cannot be encoded: " + err.Error()}
		}
	}
	retries := t.retries
	if c.retries != nil {
		retries = *c.retries
	}
	for attempt := 1; ; attempt++ {
		start := t.now()
		e, pause, err := t.attempt(ctx, c, body, attempt)
		switch {
		case err == nil:
			t.tell(ctx, c, e, t.now().Sub(start), attempt)
			return e, decode(e, c, result)
		case pause < 0 || attempt > retries || ctx.Err() != nil:
			t.tell(ctx, c, e, t.now().Sub(start), attempt, slog.Any("error", err))
			return nil, err
		case pause == 0:
			pause = backoff(attempt)
		}
		t.tell(ctx, c, e, t.now().Sub(start), attempt, slog.Any("error", err), slog.Duration("pause", pause))
		if err := t.sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// backoff returns how long to wait before a repeat: growing, and random.
func backoff(attempt int) time.Duration {
	pause := min(shortestPause<<(attempt-1), longestPause)
	return pause/2 + mathrand.N(pause/2+1)
}

// tell logs an attempt. The answer is nil if there was none.
func (t *transport) tell(ctx context.Context, c *call, e *envelope, took time.Duration, attempt int, more ...slog.Attr) {
	attrs := []slog.Attr{slog.String("method", c.method), slog.String("path", c.path), slog.Int("attempt", attempt),
		slog.Duration("duration", took)}
	level := slog.LevelInfo
	if e != nil {
		attrs = append(attrs, slog.Int("status", e.status), slog.String("request_id", e.RequestID))
		for _, name := range []string{"Deprecation", "Sunset"} {
			if value := e.header.Get(name); value != "" {
				more = append(more, slog.String(strings.ToLower(name), value))
			}
		}
	}
	if len(more) > 0 {
		level = slog.LevelWarn
	}
	t.log.LogAttrs(ctx, level, "request", append(attrs, more...)...)
}

func decode(e *envelope, c *call, result any) error {
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(e.Data, result); err != nil {
		return &AnswerError{http.StatusOK, e.RequestID, err}
	}
	return nil
}

// attempt sends a request once. The pause is negative if the request is not to be repeated, and 0 if the service does
// not say how long to wait.
func (t *transport) attempt(ctx context.Context, c *call, body []byte, n int) (*envelope, time.Duration, error) {
	inner, cancel := context.WithTimeout(ctx, cmp.Or(c.timeout, t.timeout))
	defer cancel()
	address := t.base + c.path
	if len(c.query) > 0 {
		address += "?" + c.query.Encode()
	}
	req, err := http.NewRequestWithContext(inner, c.method, address, bytes.NewReader(body))
	if err != nil {
		return nil, -1, &ConfigError{"the request cannot be made: " + err.Error()}
	}
	req.GetBody = nil // net/http would repeat the request by itself
	maps.Copy(req.Header, t.header)
	maps.Copy(req.Header, c.header)
	req.Header.Set("Authorization", "Bearer "+t.key())
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", t.agent)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := t.http.Do(req)
	var read []byte
	if err == nil {
		read, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
		_ = res.Body.Close()
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, -1, ctx.Err()
		}
		late := os.IsTimeout(err) || inner.Err() != nil
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address, which may have data of the caller
		}
		return nil, 0, &ConnectionError{late, n, err}
	}
	e := &envelope{header: res.Header, status: res.StatusCode}
	broken := json.Unmarshal(read, e)
	e.RequestID = cmp.Or(e.RequestID, res.Header.Get("X-Request-Id"))
	if c.response != nil {
		*c.response = Response{res.StatusCode, res.Header, e.RequestID, res.Header.Get("Idempotent-Replayed") == "true",
			read, n}
	}
	switch {
	case res.StatusCode >= 300 || broken == nil && e.Error != nil:
		return e, t.pause(res, e), t.failure(res, e, n)
	case broken != nil || len(read) > maxAnswer:
		return e, 0, &AnswerError{res.StatusCode, e.RequestID, cmp.Or(broken, errors.New("it is too large"))}
	}
	return e, 0, nil
}

func (t *transport) failure(res *http.Response, e *envelope, n int) error {
	f := &Error{Status: res.StatusCode, Code: "unknown", Type: typeOf(res.StatusCode), RequestID: e.RequestID,
		Message: "the answer is not of the API: " + res.Status, RetryAfter: retryAfter(res), Attempts: n}
	if e.Error != nil && e.Error.Code != "" {
		f.Code, f.Type, f.Message = e.Error.Code, cmp.Or(e.Error.Type, f.Type), e.Error.Message
		f.Param, f.Details, f.DocURL, f.Context = e.Error.Param, e.Error.Details, e.Error.DocURL, e.Error.Context
	}
	f.Message = strings.ReplaceAll(f.Message, t.key(), t.key.String())
	return f
}

// pause returns how long to wait before the request is repeated.
func (t *transport) pause(res *http.Response, e *envelope) time.Duration {
	after := retryAfter(res)
	busy := e.Error != nil && e.Error.Code == "idempotency_in_progress"
	switch res.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		if !busy {
			return -1
		}
	}
	if after > longestRetryAfter {
		return -1
	}
	return after
}

// retryAfter reads the header: seconds, or a time by the service's own clock.
func retryAfter(res *http.Response) time.Duration {
	value := res.Header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds >= 0 {
		return time.Duration(math.Min(seconds, 1e6) * float64(time.Second))
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(at.Sub(now), 0)
}
