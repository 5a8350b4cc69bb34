package fuzz

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-lambda-go/events"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/content-automation/api/pkg/base/errs"
)

// sometimes are headers that only some answers of an operation have: repeats, and those that name what ends.
var sometimes = []string{"Idempotent-Replayed", "Deprecation", "Sunset", "Link"}

// ofWork are the headers of answers whose work goes on. A rehearsal begins none.
var ofWork = []string{"Location", "Retry-After"}

// rehearsed matches the answer of a rehearsal.
var rehearsed = regexp.MustCompile(`"rehearsal":\{"id":"rhl_`)

// check returns an error if the response to a call has a status of at least 500, or if the document does not allow
// it.
func check(c *call, out events.APIGatewayProxyResponse) error {
	if out.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("status %d", out.StatusCode)
	}
	known := c.op.Responses[out.StatusCode]
	header := http.Header(out.MultiValueHeaders).Get
	if out.StatusCode == http.StatusNotModified {
		if known == nil || out.Body != "" {
			return fmt.Errorf("status %d with the body %q", out.StatusCode, out.Body)
		}
		return nil
	}
	body, err := jsonschema.UnmarshalJSON(strings.NewReader(out.Body))
	if err != nil {
		return err
	}
	envelope, _ := body.(object)
	failure, failed := envelope["error"].(object)
	if failed != (out.StatusCode >= 300) {
		return fmt.Errorf("status %d does not fit the envelope", out.StatusCode)
	}
	if id := header("X-Request-Id"); id == "" || any(id) != envelope["request_id"] &&
		header("Idempotent-Replayed") == "" {
		return fmt.Errorf("X-Request-Id is %q", id)
	}
	if failed {
		code := errs.Code(textOf(failure["code"]))
		if (code == errs.UnknownPath || code == errs.MethodNotAllowed) && len(c.ids) > 0 {
			return nil // an odd id results in another path
		}
		if !slices.Contains(c.op.Errors, code) {
			return fmt.Errorf("the operation does not declare the code %s", code)
		}
		if err := checkPlaces(c, failure); err != nil {
			return err
		}
	}
	if known == nil || known.Schema == nil {
		return fmt.Errorf("the document has no status %d", out.StatusCode)
	}
	// The document describes whole resources, and fields chooses some of their members.
	if failed || c.query.Get("fields") == "" {
		if err := c.op.Check(out.StatusCode, []byte(out.Body)); err != nil {
			return err
		}
	}
	for _, name := range known.Headers {
		if slices.Contains(ofWork, name) && rehearsed.MatchString(out.Body) {
			continue
		}
		if header(name) == "" && !slices.Contains(sometimes, name) && (name != "Retry-After" || out.StatusCode < 300 ||
			out.StatusCode == http.StatusTooManyRequests) {
			return fmt.Errorf("the header %s is missing", name)
		}
	}
	return nil
}

func textOf(v any) string {
	text, _ := v.(string)
	return text
}

// checkPlaces checks the places of the request that an error names.
func checkPlaces(c *call, failure object) error {
	tree := sync.OnceValue(func() (tree any) { // nil if the body is not JSON
		_ = json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(c.body, []byte("\ufeff")))).Decode(&tree)
		return tree
	})
	details, _ := failure["details"].([]any)
	for _, one := range append(details, failure) {
		d := one.(object)
		if err := checkPlace(c, tree, textOf(d["param"]), textOf(d["message"])); err != nil {
			return err
		}
	}
	return nil
}

// hasQuery reports whether a query has a parameter. The error of an unknown one names its first 64 characters.
func hasQuery(query url.Values, param string) bool {
	for name := range query {
		if name == param || len([]rune(param)) == 64 && strings.HasPrefix(name, param) {
			return true
		}
	}
	return false
}

// unescaped replaces what JSON Pointer escapes.
var unescaped = strings.NewReplacer("~1", "/", "~0", "~")

// checkPlace checks that an error names a parameter, a place in the body, or a missing member of such a place.
func checkPlace(c *call, body func() any, param, message string) error {
	if param == "" {
		return nil
	}
	if !strings.HasPrefix(param, "/") {
		if param == "Idempotency-Key" || param == "Content-Type" ||
			slices.ContainsFunc(c.op.parameters, func(p parameter) bool { return p.name == param }) ||
			hasQuery(c.query, param) {
			return nil
		}
		return fmt.Errorf("no parameter is called %q", param)
	}
	if c.op.body == nil {
		return nil // the place is in a draft or a proposal
	}
	parts, tree := strings.Split(param[1:], "/"), body()
	for i, part := range parts {
		part = unescaped.Replace(part)
		switch v := tree.(type) {
		case object:
			next, ok := v[part]
			if !ok && i < len(parts)-1 && strings.Contains(message, "is required") {
				return nil
			}
			if !ok && i < len(parts)-1 {
				return fmt.Errorf("the body has nothing at %s", param)
			}
			tree = next
		case []any:
			n, err := strconv.Atoi(part)
			if err != nil || n >= len(v) {
				return fmt.Errorf("the body has nothing at %s", param)
			}
			tree = v[n]
		default:
			if i < len(parts)-1 {
				return fmt.Errorf("the body has nothing at %s", param)
			}
		}
	}
	return nil
}
