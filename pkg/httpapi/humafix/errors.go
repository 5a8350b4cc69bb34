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
	"github.com/content-automation/api/pkg/httpapi/schema"
)

// render renders an error; see RenderWith.
var render func(context.Context, *errs.Error) huma.StatusError

// RenderWith sets the form of errors of huma's own checks. huma builds them by variables of its package, so there is
// one form for the program: set it in init.
func RenderWith(as func(context.Context, *errs.Error) huma.StatusError) {
	render = as
	huma.NewError = func(status int, msg string, causes ...error) huma.StatusError {
		return render(context.Background(), translate(status, msg, causes, nil))
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, causes ...error) huma.StatusError {
		return render(ctx.Context(), translate(status, msg, causes, callFrom(ctx.Context())))
	}
}

// translate turns an error of huma's into an error of this service. huma checks parameters, and decodes bodies. Only
// the place and the message of each cause are used, never the value from the caller.
func translate(status int, msg string, causes []error, c *call) *errs.Error {
	if status != http.StatusUnprocessableEntity {
		return errs.As(fmt.Errorf("huma: %d %s: %w", status, msg, errors.Join(causes...)))
	}
	if c == nil {
		c = &call{}
	}
	ofBody := slices.ContainsFunc(c.problems, func(d errs.Detail) bool {
		return d.Param == "" || strings.HasPrefix(d.Param, "/")
	})
	var problems []errs.Detail
	for _, cause := range causes {
		d, ok := cause.(huma.ErrorDetailer)
		switch {
		case !ok:
			problems = append(problems, errs.Detail{Message: cause.Error()})
		case strings.HasPrefix(d.ErrorDetail().Location, "path."):
			// An address with another value than ids and numbers names nothing.
			return errs.New(errs.NotFound, "The path names nothing: %s %s.",
				strings.TrimPrefix(d.ErrorDetail().Location, "path."), detail(d.ErrorDetail(), c.tree).Message)
		case ofBody && d.ErrorDetail().Location == "body":
			// A body that does not fit the schema need not fit the input.
		default:
			problems = append(problems, detail(d.ErrorDetail(), c.tree))
		}
	}
	if problems = append(problems, c.problems...); len(problems) == 0 {
		return errs.Invalid("", "%s", msg)
	}
	return schema.Invalid(problems)
}

// Only a refusal needs the pattern: most cold starts do not compile it.
var noInteger = regexp.MustCompile(`^json: cannot unmarshal number \S+ into Go struct field [^.\s]+\.(\S+) of type ` +
	`u?int`)

func detail(e *huma.ErrorDetail, sent any) errs.Detail {
	if m := noInteger.FindStringSubmatch(e.Message); m != nil {
		// The schema takes 1.0 for an integer, but the decoder does not.
		return errs.Detail{Param: field(strings.Split(m[1], "."), sent), Message: schema.MustBeInteger}
	}
	_, name, _ := strings.Cut(e.Location, ".") // such as query.limit
	d := errs.Detail{Message: schema.Refine(e.Message, e.Value)}
	d.Param, _, _ = strings.Cut(name, "[") // which of several values it is
	switch {
	case strings.HasPrefix(e.Message, "invalid date/time"):
		d.Message = schema.MustBeTime + "; in a URL, write + as %2B"
	case e.Message == "invalid integer":
		d.Message = validation.MsgExpectedInteger
	case e.Message == "invalid boolean":
		d.Message = validation.MsgExpectedBoolean
	}
	return d
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
