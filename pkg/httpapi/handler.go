package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	nearest "github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/proxy"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
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
	if known.parameters().conditional {
		if err := conditions(req.Header); err != nil {
			return err
		}
	}
	query, err := url.ParseQuery(req.URL.RawQuery)
	if err != nil {
		return errs.Invalid("query", "has a part that cannot be read: separate parameters by &, and write %% as "+
			"%%25 and ; as %%3B")
	}
	if err := checkIDs(query, known.parameters().ids); err != nil {
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
	_, pattern := r.mux.Handler(req)
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

// write sends an error.
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
	a.send(w, c.RequestID)
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
	}, reason(c.refusal)...)...)
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

// Gateway is the data that API Gateway adds to a request.
type Gateway struct {
	RequestID  string
	SourceIP   string
	UserAgent  string
	ReceivedAt time.Time
	// BaseURL is the address of the API, without a slash at its end.
	BaseURL string
	// PublicURL is the address that others than the caller use, if it is another.
	PublicURL string
	// Authorizer is the context that the authorizer returned.
	Authorizer map[string]any
}

type gatewayKey struct{}

// WithGateway returns a context with the gateway's data of a request.
func WithGateway(ctx context.Context, g Gateway) context.Context {
	return context.WithValue(ctx, gatewayKey{}, g)
}

// GatewayOf returns the gateway's data of a request, or the zero Gateway if there is none.
func GatewayOf(ctx context.Context) Gateway {
	g, _ := ctx.Value(gatewayKey{}).(Gateway)
	return g
}

// Call is one finished call, as the audit log records it.
type Call struct {
	RequestID   string
	Principal   *auth.Principal
	OperationID string // empty if the path or method is unknown
	Method      string
	Path        string
	Status      int
	ErrorCode   string
	IP          string
	UserAgent   string
	At          time.Time
	Latency     time.Duration
	Concern     resource.Concern
}

// Recorder keeps the audit log.
type Recorder interface {
	// Record writes one call. It is called once for each call with a known key, before the answer is sent.
	Record(ctx context.Context, c Call) error
}

// call is the state of the call that is being served.
type call struct {
	Gateway
	// secret authenticates cursors.
	secret     seal.Secret
	began      time.Time
	operation  string // operationId
	method     string
	path       string
	query      string // in a canonical form; may be empty
	body       []byte
	parsedBody any // the body, parsed
	// id is the last id in the path.
	id string
	// idError is the error of a path with a malformed id. It is reported after the other errors of the request.
	idError error
	// ifNoneMatch names the versions that the caller has. It is empty for calls that change something.
	ifNoneMatch string
	// sheet reports whether the caller accepts comma-separated values.
	sheet bool
	// idempotencyKey is empty if the caller sent none.
	idempotencyKey string
	code           errs.Code
	// refusal is the error of a call that was refused, or nil.
	refusal *errs.Error
}

type callKey struct{}

// PublicURL returns the address of the API that browsers of people and owners, platforms, CRMs and directories are
// given, without a slash at its end. It is the caller's, unless callers need a client certificate.
func PublicURL(ctx context.Context) string {
	c := callFrom(ctx)
	return cmp.Or(c.PublicURL, c.BaseURL)
}

// PathID returns the last id in the path of the call.
func PathID(ctx context.Context) string { return callFrom(ctx).id }

func callFrom(ctx context.Context) *call {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		panic("httpapi: no call in the context")
	}
	return c
}

// encode renders a body once, so that a replay can return the same bytes.
func encode(status int, etag string, body any) (*answer, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		return nil, err
	}
	return &answer{Status: status, ContentType: "application/json", ETag: etag, Body: b.Bytes()}, nil
}

// parse parses the body if the operation takes one. It runs once for each call: the schema check and a merge patch use
// the tree.
func (c *call) parse(takesBody, optional bool) (err error) {
	switch {
	case !takesBody:
		return rejectBody(c.body)
	case len(c.body) > 0:
		c.parsedBody, err = jsontree.Parse(c.body)
		return err
	case optional:
		return nil
	default:
		return errs.New(errs.MalformedJSON, "The body is missing. Send one JSON object in UTF-8.")
	}
}

// rejectBody refuses a body of an operation that takes none: it would be lost silently. An empty object is permitted,
// because some clients send it instead of no body.
func rejectBody(body []byte) error {
	if b := bytes.TrimSpace(body); len(b) > 0 && !bytes.Equal(b, []byte("{}")) {
		return errs.Invalid("", "This operation takes no body. Leave it out.")
	}
	return nil
}

const (
	mediaJSON  = "application/json"
	mediaPatch = "application/merge-patch+json"
)

// checkMediaType refuses bodies of other media types than JSON. Other kinds of JSON, such as a JSON Patch, have another
// meaning. Without the header a body is taken for JSON.
func checkMediaType(method, contentType string) error {
	const advice = "Send the body as JSON in UTF-8, with the header Content-Type: application/json"
	kind, parameters, err := mime.ParseMediaType(contentType)
	charset := strings.ToLower(parameters["charset"])
	switch {
	case err != nil:
		return errs.New(errs.UnsupportedMediaType, "The header Content-Type is malformed. "+advice+".")
	case kind == mediaPatch && method != http.MethodPatch:
		return errs.New(errs.UnsupportedMediaType, mediaPatch+" is for PATCH only. "+advice+".")
	case kind == mediaPatch || kind == mediaJSON:
		if charset != "" && charset != "utf-8" && charset != "utf8" {
			return errs.New(errs.UnsupportedMediaType,
				"The charset of the header Content-Type is not UTF-8. "+advice+".")
		}
		return nil
	default:
		return errs.New(errs.UnsupportedMediaType, advice+", not %.80s.", kind)
	}
}

// Action is an operation with an external effect that its answer depends on: it calls a model, or checks a token. I is
// its input, P the prepared parameters of the effect, which are stored as JSON, R the result of the effect, and T the
// answer.
//
// Prepare, Settle and Release write only by the transaction and may run several times. If they return an error, they
// must add nothing to it.
type Action[I, P, R, T any] struct {
	// Within bounds the duration of the effect.
	Within time.Duration
	// Queue is the queue of a worker that has Claims among its handlers.
	Queue topology.Queue
	// Prepare checks the input. It may add writes that must precede the effect, such as a reservation of money.
	Prepare func(ctx context.Context, tx *store.Tx, in *I) (P, error)
	// Do performs the effect. It runs at most once for an Idempotency-Key.
	Do func(ctx context.Context, p P) (R, error)
	// Settle adds the writes that follow from the effect, and returns the answer.
	Settle func(ctx context.Context, tx *store.Tx, p P, result R) (T, error)
	// Release undoes the writes of Prepare if the effect has failed. It may be nil.
	Release func(ctx context.Context, tx *store.Tx, p P, cause error) error
	// Find finds the result of the effect of a call that died. An error of package errs means that the effect has
	// failed. Without Find such a call has failed with timeout.
	Find func(ctx context.Context, p P) (R, error)
}

// errInterrupted is the failure of a call that died before it was answered.
var errInterrupted = errs.New(errs.Timeout, "The request took too long or was interrupted, and has failed. Repeat it "+
	"with a new Idempotency-Key.")

// errUnsettled answers a call whose claim its task will end.
var errUnsettled = errs.New(errs.Timeout, "The request took too long. Repeat it with the same Idempotency-Key to get "+
	"its result.")

// Act registers an operation with an external effect. It claims the Idempotency-Key, performs the effect, and commits
// the answer together with the writes that follow from the effect, on condition that the claim is still its own.
// Failures of the effect are answers, too, which are returned to a repeat. If the call dies before the commit, the task
// that was written with the claim ends it. Until then a repeat is refused with idempotency_in_progress.
func Act[I, P, R, T any](r *Router, op Op, a Action[I, P, R, T]) {
	register(r, op, reflect.TypeFor[Envelope[T]](),
		func(ctx context.Context, in *I) (*answer, error) { return a.serve(ctx, r, op, in) })
	if r.actions == nil {
		r.actions = map[string]ender{}
	}
	r.actions[op.ID] = func(ctx context.Context, h openClaim, find bool) (func(context.Context, *store.Tx,
		openClaim) error, error) {
		return a.resolve(ctx, r, op, h, find)
	}
}

func (a Action[I, P, R, T]) serve(ctx context.Context, r *Router, op Op, in *I) (*answer, error) {
	// Without a key from the caller, the claim only serves the task.
	key := cmp.Or(callFrom(ctx).idempotencyKey, rand.Text())
	began := r.now()
	var p P
	var h openClaim
	first, err := r.once(ctx, key, func(tx *store.Tx, token string) (err error) {
		if p, err = a.Prepare(ctx, tx, in); err != nil {
			return err
		}
		h, err = r.claim(ctx, tx, op, a.Queue, key, token, began.Add(a.Within+settleTime), p)
		return err
	})
	if err != nil || first != nil {
		return first, err
	}
	result, failure := a.do(ctx, p, began, r.now)
	if failure == errUnsettled {
		return nil, failure
	}
	for again := range maxRuns {
		if err = backoff.Wait(ctx, again, 5*time.Millisecond, 640*time.Millisecond); err != nil {
			break
		}
		tx := &store.Tx{Origin: h.record.Claim.RequestID}
		tx.Until(h.record.Claim.Until)
		var out *answer
		if out, err = a.end(ctx, r, op, tx, h, p, result, failure); err == nil {
			err = r.db.Commit(ctx, tx)
		}
		if err == nil {
			return out, nil
		}
		// The commit may have succeeded, or the task has ended the claim.
		if first, failed := r.recall(ctx, key, h.record.Token); failed == nil && first != nil {
			return first, nil
		}
	}
	return nil, errs.Wrap(err, errUnsettled.Code, "%s", errUnsettled.Message)
}

// do performs the effect. It returns errUnsettled if the outcome is unknown but can be found.
func (a Action[I, P, R, T]) do(ctx context.Context, p P, began time.Time, now func() time.Time) (result R, err error) {
	within := a.Within
	if deadline, ok := ctx.Deadline(); ok {
		within = min(within, time.Until(deadline)-commitTime)
	}
	// A function that was frozen since the claim must not begin: the task may have ended the claim. The monotonic clock
	// stops while it is frozen.
	if late := now().Round(0).Sub(began.Round(0)) >= a.Within; late || within <= 0 {
		return result, errInterrupted
	}
	effect, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	result, err = a.Do(effect, p)
	switch {
	case err == nil || effect.Err() == nil:
		return result, err
	case a.Find != nil:
		return result, errUnsettled
	default:
		return result, errInterrupted
	}
}

// end adds the end of a claim: the writes that follow from the effect, and the record of the answer.
func (a Action[I, P, R, T]) end(ctx context.Context, r *Router, op Op, tx *store.Tx, h openClaim, p P, result R,
	failure error) (out *answer, err error) {
	if failure == nil {
		data, err := a.Settle(ctx, tx, p, result)
		switch {
		case err == nil:
			if out, err = r.answer(ctx, op, data); err != nil {
				return nil, err
			}
		case isFinal(err):
			failure = err
		default:
			return nil, err
		}
	}
	if failure != nil {
		if a.Release != nil {
			if err := a.Release(ctx, tx, p, failure); err != nil {
				return nil, err
			}
		}
		if out, err = callFrom(ctx).failure(failure); err != nil {
			return nil, err
		}
	}
	if err := remember(tx, &h.item, h.record, [][]byte{h.key}, out); err != nil {
		return nil, err
	}
	tx.Replace(h.item)
	return out, nil
}

// isFinal reports whether an error answers the call, because a retry does not help.
func isFinal(err error) bool {
	switch errs.CodeOf(err) {
	case errs.Internal, errs.ProviderUnavailable, errs.RateLimited, errs.Timeout:
		return false
	}
	return true
}

// failure renders an error as an answer.
func (c *call) failure(err error) (*answer, error) {
	r := c.fail(err)
	a, err := encode(r.status, "", r)
	if err != nil {
		return nil, err
	}
	a.code = r.Err.Code
	return a, nil
}

// resolve finds how a claim of a dead call ends, and returns a function that ends it.
func (a Action[I, P, R, T]) resolve(ctx context.Context, r *Router, op Op, h openClaim,
	find bool) (func(context.Context, *store.Tx, openClaim) error, error) {
	var p P
	if err := json.Unmarshal(h.effectParameters, &p); err != nil {
		return nil, err
	}
	var result R
	var failure error = errInterrupted
	if a.Find != nil && find {
		if result, failure = a.Find(ctx, p); failure != nil && !isFinal(failure) {
			return nil, failure
		}
	}
	return func(ctx context.Context, tx *store.Tx, h openClaim) error {
		_, err := a.end(ctx, r, op, tx, h, p, result, failure)
		return err
	}, nil
}

// withCall restores the context of the call that made a claim.
func (h openClaim) withCall(ctx context.Context) context.Context {
	c := &call{Gateway: Gateway{RequestID: h.record.Claim.RequestID}, operation: h.record.Claim.Operation}
	p := &auth.Principal{Owner: h.item.Owner}
	return auth.NewContext(context.WithValue(ctx, callKey{}, c), p)
}

// longestPath bounds the paths that are compared.
const longestPath = 200

// pathHint returns the end of the message about an unknown path, with the path of the API that was probably meant.
func pathHint(unknown string) string {
	if len(unknown) > longestPath {
		return "."
	}
	meant := path.Clean("/" + unknown)
	if !strings.HasPrefix(meant, "/v1/") {
		meant = "/v1" + meant
	}
	for _, template := range Paths {
		if _, literal := compare(meant, template); literal {
			if strings.HasSuffix(unknown, "/") {
				return ": leave out the slash at its end."
			}
			return "; did you mean " + template + "?"
		}
	}
	best, most := "", 0
	for _, template := range Paths {
		if same, _ := compare(meant, template); same > most {
			best, most = template, same
		}
	}
	if best == "" {
		// The resource may be below another.
		for _, template := range Paths {
			if path.Base(template) == path.Base(meant) {
				best = template
				break
			}
		}
	}
	if best == "" {
		return "."
	}
	return "; did you mean " + best + "?"
}

// compare returns the number of equal parts of a path and a template, or 0 if one of the names is not even similar, and
// reports whether all parts are equal.
func compare(text, template string) (same int, literal bool) {
	parts, names := strings.Split(text, "/"), strings.Split(template, "/")
	if len(parts) != len(names) {
		return 0, false
	}
	literal = true
	for i, name := range names {
		switch {
		case parts[i] == name || strings.HasPrefix(name, "{"):
			same++
		case nearest.Nearest(parts[i], []string{name}) == "":
			return 0, false
		default:
			literal = false
		}
	}
	return same, literal
}

// pathID is a parameter of a path that identifies a resource.
type pathID struct {
	name string
	// prefix is the prefix of its ids, and noun the name of the resource.
	prefix, noun string
}

// idsOf returns the parameters of a path that are ids, in their order. It panics if it does not know the resource of a
// parameter called …_id.
func idsOf(path string) (ids []pathID) {
	for segment := range strings.SplitSeq(path, "/") {
		name := strings.Trim(segment, "{}")
		resource, is := strings.CutSuffix(name, "_id")
		if name == segment || !is {
			continue
		}
		prefix, ok := id.Prefix(resource)
		if !ok {
			panic(fmt.Sprintf("httpapi: no resource has ids called %s", name))
		}
		noun := resource
		if prefix == id.APIKey {
			noun = "API key"
		}
		ids = append(ids, pathID{name, prefix, noun})
	}
	return ids
}

// documentIDs returns the ids in the path that an input leaves to PathID, as parameters in the document.
func documentIDs(ids []pathID, input reflect.Type) (params []*huma.Param) {
	fields := reflect.VisibleFields(input)
	for _, p := range ids {
		if slices.ContainsFunc(fields, func(f reflect.StructField) bool { return f.Tag.Get("path") == p.name }) {
			continue
		}
		params = append(params, &huma.Param{Name: p.name, In: "path", Required: true,
			Description: "Id of the " + strings.ReplaceAll(p.noun, "_", " "), Schema: &huma.Schema{
				Type: huma.TypeString, Examples: []any{p.prefix + "_01h455vb4pex5vsknk084sn02q"}}})
	}
	return params
}

// checkPath refuses a request whose path has a malformed id, so that no operation makes a key of it. The answer is the
// one for an id that does not exist.
func checkPath(req *http.Request, ids []pathID) error {
	for _, p := range ids {
		if value := req.PathValue(p.name); !id.Valid(p.prefix, value) {
			return errs.Missing(p.noun, value)
		}
	}
	return nil
}

// idParameters returns the parameters of the query by which an input takes the id of a resource, such as factory_id.
func idParameters(in reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(in) {
		name, _, _ := strings.Cut(f.Tag.Get("query"), ",")
		if noun, ok := strings.CutSuffix(name, "_id"); ok && f.Type.Kind() == reflect.String {
			if _, known := id.Prefix(noun); known {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// checkIDs refuses a parameter of the query that takes an id and has none: a filter by it would find nothing, and the
// caller would not learn why.
func checkIDs(query url.Values, names []string) error {
	for _, name := range names {
		noun := strings.TrimSuffix(name, "_id")
		prefix, _ := id.Prefix(noun)
		if value := query.Get(name); value != "" && !id.Valid(prefix, value) {
			return errs.NotID(name, noun, value)
		}
	}
	return nil
}

// margin is the part of a function's time that is reserved for answering and auditing a call that takes too long.
const margin = 500 * time.Millisecond

// StartLambda serves a handler as a Lambda function behind API Gateway. Others than callers are given the address
// public, unless it is empty. It does not return.
func StartLambda(h http.Handler, public string) {
	metric.SetupLog()
	lambda.Start(Lambda(Published(h, public)))
}

// Published gives a handler the address that others than callers use.
func Published(h http.Handler, public string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		g := GatewayOf(req.Context())
		g.PublicURL = public
		h.ServeHTTP(w, req.WithContext(WithGateway(req.Context(), g)))
	})
}

// Lambda adapts a handler to the events of API Gateway (payload format 1.0).
func Lambda(h http.Handler) func(context.Context,
	events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	return proxy.Handler(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		ctx := req.Context()
		if deadline, ok := ctx.Deadline(); ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
			defer cancel()
		}
		g := gatewayOf(ctx)
		rc, _ := proxy.Gateway(ctx)
		g.BaseURL = web.BaseURL(req.Header.Get("Host"), rc.Stage)
		h.ServeHTTP(w, req.WithContext(WithGateway(ctx, g)))
	}))
}

func gatewayOf(ctx context.Context) Gateway {
	rc, ok := proxy.Gateway(ctx)
	if !ok {
		return Gateway{}
	}
	g := Gateway{
		RequestID: rc.RequestID, SourceIP: rc.Identity.SourceIP, UserAgent: rc.Identity.UserAgent,
		Authorizer: rc.Authorizer,
	}
	// SAM uses the same id and the same time for all calls.
	if lc, ok := lambdacontext.FromContext(ctx); ok && os.Getenv("AWS_SAM_LOCAL") == "true" {
		g.RequestID = id.OfRequest(time.Now(), lc.AwsRequestID)
		return g
	}
	if rc.RequestTimeEpoch > 0 {
		g.ReceivedAt = time.UnixMilli(rc.RequestTimeEpoch)
		g.RequestID = id.OfRequest(g.ReceivedAt, rc.RequestID)
	}
	return g
}

// RequestTime returns the time in the id of a request. Responses that the gateway made itself have ids without it.
func RequestTime(requestID string) (time.Time, bool) {
	text, _, found := strings.Cut(requestID, "-")
	ms, err := strconv.ParseInt(text, 10, 64)
	if !found || err != nil || len(text) != len("1763812345678") {
		return time.Time{}, false
	}
	return time.UnixMilli(ms), true
}
