package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
)

const (
	// AttemptTimeout bounds one attempt of a call.
	AttemptTimeout = 12 * time.Second
	// mostRepeats is the number of times that a call is repeated. A repeat has the same idempotency key.
	mostRepeats = 2
	// mostAnswer bounds the part of an answer that is read.
	mostAnswer = 4 << 20
)

type object = map[string]any

// caller calls the API with the credential of the agent.
type caller struct {
	http  *http.Client
	base  string
	token string
	// mode is the account mode of a person's calls. It is empty for an API key, which has its own mode.
	mode string
	// ticket lets the calls of a tool count as one: the request of the agent was counted.
	ticket string
	// scopes are the scopes of the credential. Nil means that they are not known.
	scopes []string
	// program reports that a person has connected the agent, so that it can ask the person for more scopes.
	program bool
}

// live reports whether calls spend credits and publish on real accounts. An unknown mode counts as live.
func (c *caller) live() bool {
	mode, isKey := auth.ParseKey(c.token)
	if !isKey {
		mode = tenant.Mode(c.mode)
	}
	return mode != tenant.Test
}

// may reports whether the caller has a scope, as far as that is known.
func (c *caller) may(scope string) bool {
	return scope == "" || c.scopes == nil || slices.Contains(c.scopes, scope)
}

// answer is the answer of the API to a call.
type answer struct {
	Data       json.RawMessage `json:"data"`
	NextCursor *string         `json:"next_cursor"`
	RequestID  string          `json:"request_id"`
	Error      *failure        `json:"error"`
	replayed   bool
}

// failure is an error of the API.
type failure struct {
	Code      errs.Code       `json:"code"`
	Type      string          `json:"type,omitempty"`
	Message   string          `json:"message"`
	Param     string          `json:"param,omitempty"`
	Details   json.RawMessage `json:"details,omitempty"`
	Context   json.RawMessage `json:"context,omitempty"`
	RequestID string          `json:"request_id,omitempty"`
	status    int
	// after is the time that the API asks to wait for.
	after string
}

// Error describes the failure.
func (f *failure) Error() string { return fmt.Sprintf("%s: %s", f.Code, f.Message) }

// get reads a resource or a list.
func (c *caller) get(ctx context.Context, path string, query url.Values) (*answer, error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.call(ctx, http.MethodGet, path, nil, "")
}

// call calls an operation. It repeats a call that had no answer, or one that says that the call may be repeated.
func (c *caller) call(ctx context.Context, method, path string, body any, key string) (*answer, error) {
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return nil, fmt.Errorf("mcp: encode the body of %s: %w", path, err)
		}
	}
	for repeat := 0; ; repeat++ {
		if err := backoff.Wait(ctx, repeat, 300*time.Millisecond, time.Second); err != nil {
			return nil, lost(err)
		}
		a, err := c.attempt(ctx, method, path, content, key)
		var f *failure
		switch again := errors.As(err, &f) && (f.status >= 500 || f.Code == errs.IdempotencyInProgress); {
		case err == nil:
			return a, nil
		case !again || repeat == mostRepeats || ctx.Err() != nil:
			return nil, err
		}
	}
}

// lost describes a call without an answer.
func lost(cause error) error {
	f := &failure{Code: errs.ProviderUnavailable, status: http.StatusServiceUnavailable,
		Message: "The API did not answer. Whether the call had an effect is not known. Repeat the tool call with the " +
			"same arguments: it has its effect at most once."}
	if errors.Is(cause, context.DeadlineExceeded) {
		f.Code = errs.Timeout
	}
	return f
}

func (c *caller) attempt(ctx context.Context, method, path string, body []byte, key string) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, AttemptTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, lost(err)
	}
	req.GetBody = nil // net/http would repeat the call by itself
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("User-Agent", "content-automation-mcp/"+Version)
	if c.ticket != "" {
		req.Header.Set(auth.TicketHeader, c.ticket)
	}
	if c.mode != "" {
		req.Header.Set(auth.ModeHeader, c.mode)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, lost(err)
	}
	defer func() { _ = resp.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err != nil {
		return nil, lost(err)
	}
	a := &answer{replayed: resp.Header.Get("Idempotent-Replayed") == "true"}
	if err := json.Unmarshal(content, a); err != nil || resp.StatusCode >= 300 && a.Error == nil {
		return nil, &failure{Code: errs.Internal, status: max(resp.StatusCode, http.StatusBadGateway),
			Message: "The answer cannot be read.", RequestID: resp.Header.Get("X-Request-Id")}
	}
	if a.Error != nil {
		a.Error.RequestID, a.Error.status = cmp.Or(a.RequestID, resp.Header.Get("X-Request-Id")), resp.StatusCode
		a.Error.after = resp.Header.Get("Retry-After")
		a.Error.Message = strings.ReplaceAll(a.Error.Message, c.token, "…")
		return nil, a.Error
	}
	return a, nil
}

// into reads the data of an answer.
func into[T any](a *answer, err error) (v T, _ error) {
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(a.Data, &v); err != nil {
		return v, &failure{Code: errs.Internal, Message: "The answer cannot be read.", RequestID: a.RequestID}
	}
	return v, nil
}

// pathOf returns the path of a resource. An empty id, or one of dots, would be another path.
func pathOf(collection, id string, rest ...string) string {
	return strings.Join(append([]string{"/v1/" + collection, segment(id)}, rest...), "/")
}

// segment writes a value as one segment of a path.
func segment(value string) string {
	if strings.Trim(value, ".") == "" {
		return "-" // which no resource is called
	}
	return url.PathEscape(value)
}
