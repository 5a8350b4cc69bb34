package httpapi

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/errs"
)

// SecurityScheme is the name of the API key in the document.
const SecurityScheme = "apiKey"

// RequiredScopes is the member of an operation in the document that has its scopes: security requirements have scopes
// for OAuth 2 only.
const RequiredScopes = "x-required-scopes"

// OpensMember is the member of an operation in the document that has what it opens: what a mandate leaves to people.
const OpensMember = "x-opens"

// listed returns several names as a list in a text.
func listed(names []string) string {
	last := len(names) - 1
	return "`" + strings.Join(names[:last], "`, `") + "` and `" + names[last] + "`"
}

// document describes the answers of the operation and the required scope.
func (r *Router) document(o *huma.Operation, op Op, success reflect.Type, codes []errs.Code) {
	o.Summary, o.Description, o.Tags = op.Summary, op.Description, []string{op.Tag}
	o.Security = []map[string][]string{{SecurityScheme: {}}}
	o.Extensions = map[string]any{RequiredScopes: op.scopes(), OpensMember: op.Opens.Names()}
	needs := "Needs the scope `" + string(op.Scope) + "`."
	if len(op.Also) > 0 {
		needs = "Needs the scopes " + listed(op.scopes()) + "."
	}
	o.Description = strings.TrimSpace(o.Description + "\n\n" + needs)
	if op.Ends != nil {
		op.Ends.describe(o)
	}
	schema := r.Schema(success)
	o.Responses = map[string]*huma.Response{strconv.Itoa(op.status()): {
		Description: http.StatusText(op.status()),
		Content:     map[string]*huma.MediaType{"application/json": {Schema: schema}},
	}}
	if op.Method != http.MethodGet {
		o.Parameters = append(o.Parameters, &huma.Param{
			Name: "Idempotency-Key", In: "header",
			Description: "Makes the request idempotent: within 24 hours, a repeat with the same key returns the " +
				"first response and has no further effect",
			Schema: &huma.Schema{Type: huma.TypeString, MinLength: pointerTo(1), MaxLength: pointerTo(255)},
		})
	}
	maps.Copy(o.Responses, r.errorResponses(codes))
}

// errors returns all codes that the operation may return, in order.
func (op Op) errors(takesBody bool) []errs.Code {
	codes := append([]errs.Code{
		errs.MissingAPIKey, errs.InvalidAPIKey, errs.PlanNotAllowed, errs.IPNotAllowed, errs.InsufficientScope,
		errs.PersonRequired, errs.OutsideMandate,
		errs.RateLimited, errs.Internal, errs.ProviderUnavailable, errs.Timeout, errs.ValidationFailed,
	}, op.Errors...)
	if op.AccountWide {
		codes = append(codes, errs.ProfileNotAllowed)
	}
	if strings.Contains(op.Path, "{") {
		codes = append(codes, errs.NotFound)
	}
	if op.Method != http.MethodGet {
		codes = append(codes, errs.InvalidHeader, errs.IdempotencyKeyReused, errs.IdempotencyInProgress,
			errs.BodyTooLarge, errs.UnsupportedMediaType)
	}
	if takesBody {
		codes = append(codes, errs.MalformedJSON)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// Headers are the headers of answers, for the components of the document.
func Headers() map[string]*huma.Param {
	text := func(doc string) *huma.Param {
		return &huma.Param{Description: doc, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	return map[string]*huma.Param{
		"X-Request-Id":     text("Id of the request; the same as request_id in the body"),
		"RateLimit-Policy": text("Limit of the key: q requests in w seconds (draft-ietf-httpapi-ratelimit-headers)"),
		"RateLimit":        text("Remaining quota: r requests for the next t seconds"),
		"ETag":             text("Version of the resource, for If-Match"),
		"Idempotent-Replayed": text("`true` if this is the response of an earlier request with the same " +
			"Idempotency-Key"),
		"WWW-Authenticate": text("`Bearer`"),
		"Deprecation": text("`@` and the Unix time from which on the operation, or a model that the resource uses, " +
			"is deprecated (RFC 9745). Absent if none is"),
		"Sunset": text("Time at which the operation, or a model that the resource uses, ends (RFC 8594). Absent if " +
			"no end is known"),
		"Link": text("Path of the operation to use instead, with the relation successor-version (RFC 5829), or of " +
			"the " +
			"guide to models that end, with the relation deprecation (RFC 9745). Absent if nothing ends"),
		"Location": text("Path that shows how far the work is. Absent of a rehearsal, which creates none"),
		"Retry-After": {Description: "Seconds to wait before the next request. With 202: until it makes " +
			"sense to look at Location", Schema: &huma.Schema{Type: huma.TypeInteger}},
	}
}

// headersNamed returns references to some of Headers.
func headersNamed(names ...string) map[string]*huma.Param {
	m := map[string]*huma.Param{}
	for _, name := range names {
		m[name] = &huma.Param{Ref: "#/components/headers/" + name}
	}
	return m
}

// finish corrects the description that huma generated.
func (r *Router) finish(op Op, success reflect.Type) {
	o := operationOf(r.api.OpenAPI().Paths[op.Path], op.Method)
	delete(r.api.OpenAPI().Components.Schemas.Map(), errorResponse)
	names := []string{"X-Request-Id", "RateLimit-Policy", "RateLimit"}
	if data, ok := success.FieldByName("Data"); ok && data.Type.Implements(reflect.TypeFor[versioned]()) {
		names = append(names, "ETag")
	}
	if data, ok := success.FieldByName("Data"); ok && op.status() == http.StatusAccepted &&
		data.Type.Implements(reflect.TypeFor[Pending]()) {
		names = append(names, "Location", "Retry-After")
	}
	if data, ok := success.FieldByName("Data"); ok && data.Type.Implements(reflect.TypeFor[Ending]()) {
		names = append(names, "Deprecation", "Sunset", "Link")
	}
	if op.Ends != nil {
		names = append(names, "Deprecation", "Sunset", "Link")
	}
	if op.Method != http.MethodGet {
		names = append(names, "Idempotent-Replayed")
	} else if slices.Contains(names, "ETag") {
		o.Parameters = append(o.Parameters, &huma.Param{
			Name: "If-None-Match", In: "header", Schema: &huma.Schema{Type: huma.TypeString},
			Description: "ETag of an earlier response. If the resource has not changed since, the response is 304 " +
				"without a body. Signed URLs in the earlier response expire all the same",
		})
		o.Responses[strconv.Itoa(http.StatusNotModified)] = &huma.Response{Description: http.StatusText(
			http.StatusNotModified), Headers: headersNamed(names...)}
	}
	o.Responses[strconv.Itoa(op.status())].Headers = headersNamed(names...)
	if o.RequestBody == nil {
		return
	}
	if json := o.RequestBody.Content["application/json"]; json != nil && op.Method == http.MethodPatch {
		o.RequestBody.Content["application/merge-patch+json"] = json
	}
}

func operationOf(item *huma.PathItem, method string) *huma.Operation {
	switch method {
	case http.MethodGet:
		return item.Get
	case http.MethodPost:
		return item.Post
	case http.MethodPut:
		return item.Put
	case http.MethodPatch:
		return item.Patch
	default:
		return item.Delete
	}
}

func pointerTo[T any](v T) *T { return &v }
