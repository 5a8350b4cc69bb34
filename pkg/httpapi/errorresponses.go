package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/errs"
)

// errorResponse is the schema of all error responses. No operation returns all codes, so finish removes the schema from
// the document, to which huma adds it.
const errorResponse = "ErrorResponse"

// contexts are the types of the context of errors, by code.
var contexts = map[errs.Code]struct {
	shape  reflect.Type
	always bool
}{
	errs.InvalidState:        {reflect.TypeFor[errs.StateContext](), false},
	errs.InsufficientBalance: {reflect.TypeFor[errs.BalanceContext](), true},
	errs.SpendLimitReached:   {reflect.TypeFor[errs.SpendContext](), true},
	errs.OutsideMandate:      {reflect.TypeFor[errs.MandateContext](), true},
	errs.RuleViolated:        {reflect.TypeFor[errs.RuleContext](), true},
	errs.RateLimited:         {reflect.TypeFor[errs.RateContext](), false},
}

// common are the codes that most operations return. The names of schemas of sets of codes omit them.
var common = []errs.Code{
	errs.InvalidHeader, errs.MalformedJSON, errs.MissingAPIKey, errs.InvalidAPIKey, errs.InsufficientBalance,
	errs.SpendLimitReached,
	errs.InsufficientScope, errs.PlanNotAllowed, errs.IPNotAllowed, errs.PersonRequired, errs.OutsideMandate,
	errs.IdempotencyInProgress, errs.ValidationFailed,
	errs.IdempotencyKeyReused,
	errs.RateLimited,
}

// alike are the statuses whose answers depend only on the codes, not on the operation.
var alike = []int{
	http.StatusUnauthorized, http.StatusForbidden, http.StatusPreconditionFailed, http.StatusRequestEntityTooLarge,
	http.StatusUnsupportedMediaType,
	http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable,
	http.StatusGatewayTimeout,
}

// errorResponses describes the errors of an operation by status, each with its codes. Operations with the same codes
// share the schema, and also the response if all answers of the status are alike.
func (r *Router) errorResponses(codes []errs.Code) map[string]*huma.Response {
	byStatus := map[int][]errs.Code{}
	for _, code := range codes {
		status, _ := Status(code)
		byStatus[status] = append(byStatus[status], code)
	}
	components := r.api.OpenAPI().Components
	if components.Responses == nil {
		components.Responses = map[string]*huma.Response{}
	}
	responses := map[string]*huma.Response{}
	for status, codes := range byStatus {
		name := errorResponseName(status, codes)
		response := describeError(status, codes, r.errorSchema(name, codes))
		if slices.Contains(alike, status) {
			components.Responses[name] = response
			response = &huma.Response{Ref: "#/components/responses/" + name}
		}
		responses[strconv.Itoa(status)] = response
	}
	return responses
}

// describeError describes the answer with a status.
func describeError(status int, codes []errs.Code, schema *huma.Schema) *huma.Response {
	texts := make([]string, len(codes))
	for i, code := range codes {
		texts[i] = "`" + string(code) + "`"
	}
	headers := []string{"X-Request-Id", "RateLimit-Policy", "RateLimit"}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		headers = append(headers, "WWW-Authenticate")
	case http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		headers = append(headers, "Retry-After")
	}
	return &huma.Response{
		Description: http.StatusText(status) + ": " + strings.Join(texts, ", "),
		Headers:     headersNamed(headers...),
		Content:     map[string]*huma.MediaType{"application/json": {Schema: schema}},
	}
}

// errorResponseName returns the name of a set of codes of a status: NotFound for one code, or
// UnprocessableEntityOrUnsupportedModel for the common ones of a status and another.
func errorResponseName(status int, codes []errs.Code) string {
	own := slices.DeleteFunc(slices.Clone(codes), func(c errs.Code) bool { return slices.Contains(common, c) })
	name := strings.ReplaceAll(http.StatusText(status), " ", "")
	if len(codes) == 1 {
		return PascalCase(string(codes[0]))
	} else if shared := len(codes) - len(own); shared == 1 {
		i := slices.IndexFunc(codes, func(c errs.Code) bool { return slices.Contains(common, c) })
		name = PascalCase(string(codes[i]))
	}
	for _, code := range own {
		name += "Or" + PascalCase(string(code))
	}
	return name
}

// errorSchema returns the schema of an error response with one of the codes.
func (r *Router) errorSchema(name string, codes []errs.Code) *huma.Schema {
	schemas := r.api.OpenAPI().Components.Schemas.Map()
	if r.refused == nil {
		r.describeErrors()
	}
	var variants []Variant
	for _, code := range codes {
		variants = append(variants, r.failure(code))
	}
	failure := Union(schemas, "ErrorBody", "code", variants)
	s := *r.refused
	failure.Description = s.Properties["error"].Description
	s.Properties = maps.Clone(s.Properties)
	s.Properties["error"] = failure
	name += "Response"
	if was := schemas[name]; was != nil && len(was.Properties["error"].OneOf) != len(failure.OneOf) {
		panic(fmt.Sprintf("httpapi: two sets of codes have the name %s", name))
	}
	schemas[name] = &s
	return RefTo(name)
}

// failure describes the error with a code, and its context.
func (r *Router) failure(code errs.Code) Variant {
	v := Variant{Value: string(code), Name: PascalCase(string(code)) + "Error", Description: errs.InfoOf(code).Meaning}
	if c, ok := contexts[code]; ok {
		v.Members = map[string]*huma.Schema{"context": {Ref: r.Schema(c.shape).Ref,
			Description: "Data about the error"}}
		if c.always {
			v.Required = []string{"context"}
		}
	}
	return v
}

// describeErrors adds the common parts of all errors to the document.
func (r *Router) describeErrors() {
	schemas := r.api.OpenAPI().Components.Schemas.Map()
	r.Schema(reflect.TypeFor[ErrorResponse]())
	r.refused = schemas[errorResponse]
	members := schemas["ErrorBody"].Properties
	members["code"].Enum = Enum(errs.Codes).Enum
	delete(members, "context") // it depends on the code
}
