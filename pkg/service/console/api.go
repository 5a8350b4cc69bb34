package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/tenant"
	clip "github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/proxy"
)

// modeHeader makes a call of a person one in test mode.
const modeHeader = "X-Account-Mode"

// maxAnswer bounds an answer of the API.
const maxAnswer = 8 << 20

// api calls the API as a person.
type api struct {
	site  *site
	token string
	mode  tenant.Mode
	// caller is the sealed address of the person: see vouch.
	caller string
	// version is the version of the resource that a change is for. Empty: any.
	version string
}

// apiOf returns the API as the person of a session.
func (s *site) apiOf(r *http.Request, of *session.Session, token string) api {
	a := api{site: s, token: token, mode: of.Mode}
	gateway, _ := proxy.Gateway(r.Context())
	var err error
	a.caller, err = auth.SealVouch(r.Context(), s.Seal, of.ID, auth.Vouched{IP: gateway.Identity.SourceIP,
		UserAgent: clip.ClipText(r.UserAgent(), session.MaxAgent), At: s.Now()})
	if err != nil {
		// The audit log has the address of the account area then.
		slog.Error("the address of a person is not passed on", "error", err)
	}
	return a
}

// failure is an answer of the API that is an error.
type failure struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Param   string `json:"param"`
	// Details are all members that were refused.
	Details []detail `json:"details"`
}

// detail is a member that was refused.
type detail struct {
	Param   string `json:"param"`
	Message string `json:"message"`
}

// Error implements error.
func (f *failure) Error() string {
	return fmt.Sprintf("console: the API answers %d %s", f.Status, f.Code)
}

// form returns the message of a failure that the person can mend in the form, or the error itself.
func form(err error) (message string, other error) {
	var failed *failure
	if errors.As(err, &failed) {
		switch failed.Status {
		case http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusPreconditionFailed,
			http.StatusPaymentRequired:
			return failed.Message, nil
		}
	}
	return "", err
}

// missing reports whether the API has no such resource.
func missing(err error) bool {
	var failed *failure
	return errors.As(err, &failed) && failed.Status == http.StatusNotFound
}

// answer is the envelope of all answers.
type answer struct {
	Data  json.RawMessage `json:"data"`
	Next  *string         `json:"next_cursor"`
	Error *failure        `json:"error"`
}

// get reads a resource.
func (a api) get(ctx context.Context, path string, query url.Values, into any) error {
	_, err := a.list(ctx, path, query, into)
	return err
}

// list reads a page of a list, and returns the cursor of the next page.
func (a api) list(ctx context.Context, path string, query url.Values, into any) (next string, err error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	out, err := a.call(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return "", err
	}
	if out.Next != nil {
		next = *out.Next
	}
	return next, json.Unmarshal(out.Data, into)
}

// change calls an operation that changes something. A repeat with the same key has one effect. Into may be nil.
func (a api) change(ctx context.Context, method, path, once string, body, into any) error {
	out, err := a.call(ctx, method, path, once, body)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(out.Data, into)
}

// maxCalls bounds the attempts of a call. All calls can be repeated: reads are safe, and changes have a key.
const maxCalls = 3

func (a api) call(ctx context.Context, method, path, once string, body any) (out answer, err error) {
	var text []byte
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return out, fmt.Errorf("console: encode %s: %w", path, err)
		}
	}
	for try := range maxCalls {
		if werr := backoff.Wait(ctx, try, 100*time.Millisecond, time.Second); werr != nil {
			return out, werr
		}
		var again bool
		if out, again, err = a.send(ctx, method, path, once, text); err == nil || !again {
			return out, err
		}
	}
	return out, err
}

// send sends a call, and reports whether another attempt may succeed.
func (a api) send(ctx context.Context, method, path, once string, body []byte) (out answer, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, method, a.site.API+path, bytes.NewReader(body))
	if err != nil {
		return out, false, fmt.Errorf("console: call the API: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "account-area")
	if a.caller != "" {
		req.Header.Set(auth.VouchHeader, a.caller)
	}
	if a.mode == tenant.Test {
		req.Header.Set(modeHeader, string(tenant.Test))
	}
	if body != nil {
		kind := "application/json"
		if method == http.MethodPatch {
			kind = "application/merge-patch+json"
		}
		req.Header.Set("Content-Type", kind)
	}
	if a.version != "" {
		req.Header.Set("If-Match", `"`+a.version+`"`)
	}
	if once != "" {
		req.Header.Set("Idempotency-Key", once)
	}
	resp, err := a.site.client.Do(req)
	if err != nil {
		return out, true, fmt.Errorf("console: call the API: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return out, true, fmt.Errorf("console: call the API: %w", err)
	}
	if err := json.Unmarshal(content, &out); err != nil {
		return out, resp.StatusCode >= 500, fmt.Errorf("console: the API answers %d without an envelope: %w",
			resp.StatusCode, err)
	}
	if resp.StatusCode < http.StatusBadRequest {
		return out, false, nil
	}
	failed := out.Error
	if failed == nil {
		failed = &failure{}
	}
	failed.Status = resp.StatusCode
	busy := resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == http.StatusBadGateway ||
		failed.Code == "idempotency_in_progress"
	return out, busy, failed
}
