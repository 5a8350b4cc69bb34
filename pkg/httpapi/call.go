package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/record/resource"
)

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
	secret    seal.Secret
	began     time.Time
	operation string // operationId
	method    string
	path      string
	query     string // in a canonical form; may be empty
	body      []byte
	sent      any // the body, parsed
	// misnamed is the error of a path with a malformed id. It is reported after the other errors of the request.
	misnamed error
	// ifNoneMatch names the versions that the caller has. It is empty for calls that change something.
	ifNoneMatch string
	// sheet reports whether the caller accepts comma-separated values.
	sheet bool
	// idempotencyKey is empty if the caller sent none.
	idempotencyKey string
	code           errs.Code
	// refused is the error of a call that was refused, or nil.
	refused *errs.Error
}

type callKey struct{}

// PublicURL returns the address of the API that browsers of people and owners, platforms, CRMs and directories are
// given, without a slash at its end. It is the caller's, unless callers need a client certificate.
func PublicURL(ctx context.Context) string {
	c := callFrom(ctx)
	return cmp.Or(c.PublicURL, c.BaseURL)
}

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
