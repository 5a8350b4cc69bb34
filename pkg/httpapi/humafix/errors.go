package humafix

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
)

// render renders an error; see RenderWith.
var render func(context.Context, *errs.Error) huma.StatusError

// RenderWith sets the form of errors of huma's own checks. huma builds them by variables of its package, so there is
// one form for the program: set it in init.
func RenderWith(as func(context.Context, *errs.Error) huma.StatusError) {
	render = as
	// Names that differ from a member's only in case are typing mistakes, too.
	huma.ValidateStrictCasing = true
	huma.NewError = func(status int, msg string, causes ...error) huma.StatusError {
		return render(context.Background(), translate(status, msg, causes, nil))
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, causes ...error) huma.StatusError {
		return render(ctx.Context(), translate(status, msg, causes, callFrom(ctx.Context())))
	}
}

// translate turns an error of huma's checks into an error of this service. Only the place and the message of each cause
// are used, never the value from the caller.
func translate(status int, msg string, causes []error, c *call) *errs.Error {
	if status != http.StatusUnprocessableEntity {
		return errs.As(fmt.Errorf("huma: %d %s: %w", status, msg, errors.Join(causes...)))
	}
	if c == nil {
		c = &call{}
	}
	if slices.ContainsFunc(c.problems, isOfBody) {
		// A body that does not fit the schema need not fit the input.
		causes = slices.DeleteFunc(slices.Clone(causes), isOfDecoding)
	}
	causes = append(causes, c.problems...)
	if len(causes) == 0 {
		return errs.Invalid("", "%s", msg)
	}
	return Invalid(causes, c.tree)
}

// isOfBody reports whether a problem is in the body, not in a parameter.
func isOfBody(cause error) bool {
	p, ok := cause.(problem)
	return ok && (p.Param == "" || strings.HasPrefix(p.Param, "/"))
}

// isOfDecoding reports whether an error comes from decoding a body to its input.
func isOfDecoding(cause error) bool {
	d, ok := cause.(huma.ErrorDetailer)
	return ok && d.ErrorDetail().Location == "body"
}

// Invalid turns the errors of a check against a schema into one error of this service, with one detail for each invalid
// field.
func Invalid(causes []error, sent any) *errs.Error {
	var details []errs.Detail
	said := map[errs.Detail]bool{}
	at := map[string]int{}
	for _, cause := range causes {
		d := detail(cause, sent)
		i, known := at[d.Param]
		switch {
		case !known:
			at[d.Param] = len(details)
			details = append(details, d)
		case !said[d]:
			details[i].Message += "; " + d.Message
		}
		said[d] = true
	}
	return errs.InvalidFields(details...)
}

// Only a refusal needs the patterns: most cold starts do not compile them.
var (
	requiredProperty = regexp.MustCompile(`^expected required property (\S+) to be present$`)
	noInteger        = regexp.MustCompile(`^json: cannot unmarshal number \S+ into Go struct field [^.\s]+\.(\S+) of type u?int`)
	bracket          = regexp.MustCompile(`\[(\d+)\]`)
)

func detail(cause error, sent any) errs.Detail {
	if p, ok := cause.(problem); ok {
		return errs.Detail(p)
	}
	d, ok := cause.(huma.ErrorDetailer)
	if !ok {
		return errs.Detail{Message: cause.Error()}
	}
	e := d.ErrorDetail()
	param, message := pointer(e.Location, sent), e.Message
	if m := requiredProperty.FindStringSubmatch(message); m != nil {
		param, message = param+"/"+m[1], isRequired
	}
	if m := noInteger.FindStringSubmatch(message); m != nil {
		// The schema takes 1.0 for an integer, but the decoder does not.
		param, message = field(strings.Split(m[1], "."), sent), mustBeInteger
	}
	switch {
	case param == "" && message == validation.MsgExpectedObject:
		message = "The body must be one JSON object, not " + kindOf(e.Value)
	case strings.HasPrefix(message, "invalid date/time"):
		message = mustBeTime + "; in a URL, write + as %2B"
	case message == "invalid integer":
		message = validation.MsgExpectedInteger
	case message == "invalid boolean":
		message = validation.MsgExpectedBoolean
	default:
		message = refine(message, e.Value)
	}
	return errs.Detail{Param: param, Message: message}
}

// pointer turns huma's location ("body.topics[1]") into a JSON pointer ("/topics/1"), and that of a parameter
// ("query.limit") into its name.
func pointer(location string, sent any) string {
	in, name, _ := strings.Cut(location, ".")
	if in != "body" {
		name, _, _ = strings.Cut(name, "[") // which of several values it is
		return name
	}
	return locate(name, sent)
}

// locate turns huma's place in a body ("topics[1]", "metadata.crm.id") into a JSON pointer. Names may contain dots and
// brackets, so it follows the place through the value from the caller. If that ends, as at a missing member, the rest
// is parsed as it is written.
func locate(place string, sent any) string {
	if place == "" {
		return ""
	}
	switch v := sent.(type) {
	case map[string]any:
		found := ""
		for end := range len(place) + 1 {
			if end < len(place) && place[end] != '.' && place[end] != '[' {
				continue
			}
			if _, ok := v[place[:end]]; ok {
				found = place[:end]
			}
		}
		if found != "" {
			return "/" + jsontree.Escape(found) + locate(strings.TrimPrefix(place[len(found):], "."), v[found])
		}
	case []any:
		digits, rest, _ := strings.Cut(strings.TrimPrefix(place, "["), "]")
		if n, err := strconv.Atoi(digits); err == nil && n >= 0 && n < len(v) {
			return "/" + digits + locate(strings.TrimPrefix(rest, "."), v[n])
		}
	}
	return "/" + strings.ReplaceAll(bracket.ReplaceAllString(place, ".$1"), ".", "/")
}

// field turns the path of a struct's field, as package json writes it, into a JSON pointer. The path names embedded
// structs, which are not members of the body, and omits the indexes of lists: if several items have the field, the
// pointer ends at their list.
func field(path []string, sent any) string {
	if len(path) == 0 {
		return ""
	}
	switch v := sent.(type) {
	case map[string]any:
		if next, ok := v[path[0]]; ok {
			return "/" + jsontree.Escape(path[0]) + field(path[1:], next)
		}
		return field(path[1:], v)
	case []any:
		last, found, times := path[len(path)-1], "", 0
		for i, item := range v {
			if place := field(path, item); strings.HasSuffix(place, "/"+jsontree.Escape(last)) {
				found, times = "/"+strconv.Itoa(i)+place, times+1
			}
		}
		if times == 1 {
			return found
		}
	}
	return ""
}
