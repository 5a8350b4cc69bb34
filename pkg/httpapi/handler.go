package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/record/resource"
)

// ServeHTTP serves one call. It checks the caller, the authorizer's refusal, the operation and the body, in the order
// of the contract's refusals. Every call of a known key is recorded in the audit log, including refused ones. A call
// whose key could not be looked up is refused for that reason, and is only in the log of the function.
func (r *Router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	g := GatewayOf(req.Context())
	c := &call{Gateway: g, secret: r.secret, began: r.now(), method: req.Method, path: req.URL.Path,
		query: req.URL.Query().Encode()}
	ctx := resource.WithConcern(context.WithValue(req.Context(), callKey{}, c))
	w.Header().Set("X-Request-Id", c.RequestID)
	web.SetHeaders(w.Header())

	out := &recorder{ResponseWriter: w, status: http.StatusOK}
	p, err := auth.Decode(c.Authorizer)
	if err != nil {
		// Without a principal the answer is always 401, however the call passed the gateway.
		c.write(out, errs.Wrap(err, errs.InvalidAPIKey, auth.MessageInvalidKey))
		return
	}
	r.vouched(ctx, c, p, req.Header.Get(auth.VouchHeader))
	defer func() {
		if v := recover(); v != nil {
			slog.Error("panic", "request_id", c.RequestID, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			if !out.written {
				c.write(out, fmt.Errorf("panic: %v", v))
			}
		}
		if p.Identified() {
			r.record(ctx, c, p, out.status)
		}
		r.report(c, p, out.status)
	}()
	setRateLimit(w.Header(), p)
	if err := r.admit(c, p, req); err != nil {
		c.write(out, err)
		return
	}
	r.mux.ServeHTTP(out, req.WithContext(auth.NewContext(ctx, p)))
}

// vouched sets the address and the user agent of a person whom the account area calls for. The header of
// other callers has no effect. If the header cannot be opened, the audit log has the address of the account area.
func (r *Router) vouched(ctx context.Context, c *call, p *auth.Principal, header string) {
	if header == "" || p.Actor.Kind != auth.Person || p.Actor.ID == "" {
		return
	}
	by, err := auth.OpenVouch(ctx, r.secret, p.Actor.ID, header, r.now())
	if err != nil {
		slog.Warn("the caller of the account area is unknown", "request_id", c.RequestID, "error", err)
		return
	}
	c.SourceIP, c.UserAgent = by.IP, by.UserAgent
}

// admit performs the checks before an operation. It reads the body.
func (r *Router) admit(c *call, p *auth.Principal, req *http.Request) error {
	known, allowed := r.match(req)
	c.operation = known.OperationID
	if p.Denial != nil {
		e := errs.New(p.Denial.Code, "%s", p.Denial.Message)
		e.Scope = p.Denial.Scope
		if e.Code == errs.RateLimited {
			e.RetryAfter = time.Duration(p.Rate.Reset) * time.Second
			if p.Denial.Rate != nil {
				e.Context = *p.Denial.Rate
			}
		} else if p.Denial.Mandate != nil {
			e.Context = *p.Denial.Mandate
		}
		return e
	}
	if known.OperationID == "" {
		return unknown(req, allowed)
	}
	reads := req.Method == http.MethodGet || req.Method == http.MethodHead
	if known.conditional {
		if err := conditions(req.Header); err != nil {
			return err
		}
	}
	query, err := url.ParseQuery(req.URL.RawQuery)
	if err != nil {
		return errs.Invalid("query", "has a part that cannot be read: separate parameters by &, and write %% as "+
			"%%25 and ; as %%3B")
	}
	if err := checkIDs(query, known.ids); err != nil {
		return err
	}
	if reads {
		c.ifNoneMatch = strings.Join(req.Header.Values("If-None-Match"), ",")
		c.sheet = acceptsSheet(req.Header)
	} else {
		if c.idempotencyKey, err = idempotencyKey(req.Header); err != nil {
			return err
		}
	}
	if req.Body != nil {
		c.body, err = io.ReadAll(io.LimitReader(req.Body, MaxBody+1))
		if err != nil {
			return errs.Wrap(err, errs.MalformedJSON, "The body could not be read. Send it again.")
		}
	}
	if reads { // no such operation takes a body, of any kind and size
		return rejectBody(c.body)
	}
	if len(c.body) > MaxBody {
		return errTooLarge()
	}
	if kind := req.Header.Get("Content-Type"); kind != "" {
		if err := checkMediaType(req.Method, kind); err != nil && len(c.body) > 0 {
			return err
		}
		req.Header.Set("Content-Type", strings.ToLower(kind)) // RFC 9110, 8.3.1
	}
	req.Body = io.NopCloser(bytes.NewReader(c.body))
	return nil
}

// match returns the operation of a request, or the zero Route if there is none, and the methods of its path, or nil if
// the path is unknown. A path of its own, such as /v1/content-items/batch, is never the path of a resource with such an
// id.
func (r *Router) match(req *http.Request) (found Route, allowed []string) {
	// The mux would redirect an unclean path, which is always unknown.
	if path.Clean(req.URL.Path) != req.URL.Path {
		return Route{}, nil
	}
	_, pattern := r.paths.Handler(req)
	method := req.Method
	if method == http.MethodHead {
		// RFC 9110, 9.1: the gateway omits the body and sends its length, which it could not if the body were omitted
		// here.
		method = http.MethodGet
	}
	for _, known := range r.routes {
		if known.Path != pattern {
			continue
		}
		if known.Method == method {
			found = known
		}
		if allowed = append(allowed, known.Method); known.Method == http.MethodGet {
			allowed = append(allowed, http.MethodHead)
		}
	}
	slices.Sort(allowed)
	return found, allowed
}

// unknown refuses a request whose path or method is unknown.
func unknown(req *http.Request, allowed []string) error {
	if allowed == nil {
		return errs.New(errs.UnknownPath, "There is no such path%s Compare it with the API reference at "+
			"/api-docs/explorer.", pathHint(req.URL.Path))
	}
	names := strings.Join(allowed, ", ")
	return &methodError{errs.New(errs.MethodNotAllowed, "This path does not support the method %s. It supports %s.",
		req.Method, names), names}
}

// methodError is method_not_allowed with the value of the header Allow.
type methodError struct {
	error
	allow string
}

func (e *methodError) Unwrap() error { return e.error }

// write sends an error outside of an operation.
func (c *call) write(w http.ResponseWriter, err error) {
	r := c.fail(err)
	h := w.Header()
	// The gateway answers for unknown keys, with ids without the time. An id with it, another header or another form of
	// the text would tell that a key was known once.
	_, timed := RequestTime(c.RequestID)
	known := timed && c.code == errs.InvalidAPIKey
	if known {
		_, r.RequestID, _ = strings.Cut(c.RequestID, "-")
		h.Set("X-Request-Id", r.RequestID)
		for name, value := range web.GatewayHeaders() {
			h.Set(name, value)
		}
		h.Del("RateLimit-Policy")
		h.Del("RateLimit")
	}
	for name, values := range errorHeaders(errs.As(err)) {
		h[name] = values
	}
	if m, ok := err.(*methodError); ok {
		h.Set("Allow", m.allow) // RFC 9110, 15.5.6
	}
	a, err := encode(r.status, "", r)
	if err != nil {
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	if known {
		a.Body = []byte(web.ASCII(bytes.TrimSpace(a.Body)))
	}
	h.Set("Content-Type", a.ContentType)
	w.WriteHeader(a.Status)
	if _, err := w.Write(a.Body); err != nil {
		slog.Warn("answer not written", "request_id", c.RequestID, "error", err)
	}
}

// setRateLimit writes the headers of draft-ietf-httpapi-ratelimit-headers.
func setRateLimit(h http.Header, p *auth.Principal) {
	if p.Rate.Limit == 0 {
		return
	}
	h.Set("RateLimit-Policy", fmt.Sprintf(`"default";q=%d;w=%d, "account";q=%d;w=%d`, p.Rate.Limit, p.Rate.Window,
		auth.Ceiling*p.Rate.Limit, p.Rate.Window))
	h.Set("RateLimit", fmt.Sprintf(`"default";r=%d;t=%d`, p.Rate.Remaining, p.Rate.Reset))
}

// auditMargin is the part of the margin that the audit entry may take, so that a call that has used up its time is
// recorded, too.
const auditMargin = margin * 3 / 5

// record adds the call to the audit log. If that fails, a call that had its effect is answered nevertheless, and the
// log line is the only trace of it.
func (r *Router) record(ctx context.Context, c *call, p *auth.Principal, status int) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(context.WithoutCancel(ctx), deadline.Add(auditMargin))
		defer cancel()
	}
	now := r.now()
	if c.ReceivedAt.IsZero() {
		c.ReceivedAt = now
	}
	err := r.audit.Record(ctx, Call{
		RequestID: c.RequestID, Principal: p, OperationID: c.operation, Method: c.method, Path: c.path,
		Status: status, ErrorCode: string(c.code), IP: c.SourceIP, UserAgent: c.UserAgent,
		At: c.ReceivedAt, Latency: now.Sub(c.ReceivedAt), Concern: resource.ConcernOf(ctx),
	})
	if err != nil {
		slog.Error("audit entry lost", "request_id", c.RequestID, "operation_id", c.operation, "status", status,
			"key_id", p.KeyID(), "error", err)
	}
}

// ServerErrors is the metric of responses with status 500 or higher, by the function and its version. A release that
// causes them is ended. Lambda counts only calls that a function does not answer.
const ServerErrors = "ServerErrors"

// report writes the single log line of a call: the outcome, the caller and the duration. It has no personal data:
// neither the address nor the path, which may contain anything. A refusal has its reason.
func (r *Router) report(c *call, p *auth.Principal, status int) {
	now := r.now()
	if status >= http.StatusInternalServerError && lambdacontext.FunctionVersion != "" {
		metric.Count(ServerErrors, "release", lambdacontext.FunctionName+":"+lambdacontext.FunctionVersion)
	}
	slog.Info("call", append([]any{"request_id", c.RequestID, "account_id", p.Account, "mode", p.Mode,
		"key_id", p.KeyID(), "operation_id", c.operation, "status", status, "code", c.code,
		"ms", now.Sub(c.ReceivedAt).Milliseconds(), "function_ms", now.Sub(c.began).Milliseconds(),
	}, reason(c.refused)...)...)
}

// recorder records the status of the answer.
type recorder struct {
	http.ResponseWriter
	status  int
	written bool
}

func (w *recorder) WriteHeader(status int) {
	w.status, w.written = status, true
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	w.written = true
	return w.ResponseWriter.Write(b)
}
