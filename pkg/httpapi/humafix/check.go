package humafix

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
	"github.com/content-automation/api/pkg/record/resource"
)

// maxProblems bounds the reported faults of a body: a large body may have thousands.
const maxProblems = 100

// checker checks a value from a caller against a schema.
type checker struct {
	schemas huma.Registry
	schema  *huma.Schema
	// patch reports whether the value is a merge patch.
	patch bool
	known Known
}

// newChecker returns a checker for a schema. It takes over the checks that huma does not do well, and changes the
// schemas for that.
func newChecker(schemas huma.Registry, schema *huma.Schema, patch bool, known Known) *checker {
	c := &checker{schemas, schema, patch, known}
	c.takeOver(schema, map[*huma.Schema]bool{})
	return c
}

// oneLine is the part of a pattern by which a text has no control characters. Such a text has no hidden ones either.
const oneLine = `\x00-\x1F`

// check returns the faults of the body of a call.
func (c *checker) check(tree any) []error { return c.within(tree, tree, "body", "") }

// within checks a part of a value from a caller. The argument place is its location in huma's form, and pointer in the
// form of a JSON pointer.
func (c *checker) within(value, sent any, place, pointer string) []error {
	path := huma.NewPathBuffer([]byte(place), len(place))
	var result huma.ValidateResult
	huma.Validate(c.schemas, c.schema, path, huma.ModeWriteToServer, quote(value), &result)
	sent = quote(sent)
	// huma returns unknown members in no order.
	slices.SortStableFunc(result.Errors, func(a, b error) int {
		if isUnexpected(a) && isUnexpected(b) {
			return strings.Compare(locationOf(a), locationOf(b))
		}
		return 0
	})
	result.Errors = result.Errors[:min(len(result.Errors), maxProblems)]
	var found []error
	at := map[string]bool{}
	for _, cause := range result.Errors {
		p := problem(detail(cause, sent))
		p.Param = unquote.Replace(p.Param)
		if isUnexpected(cause) {
			p.Message = c.unexpected(value, strings.TrimPrefix(p.Param, pointer))
		}
		p.Message += c.advice(value, strings.TrimPrefix(p.Param, pointer), p.Message)
		found, at[p.Param] = append(found, p), true
	}
	more := c.walk(c.schema, value, pointer, nil)
	if c.patch {
		more = c.nulls(c.schema, value, pointer, more)
	}
	for _, p := range more {
		if !at[p.Param] && len(found) < maxProblems {
			found = append(found, p)
		}
	}
	return found
}

// Check checks a value of a body against the schema of a type. Member is the name of its member of the body.
func Check(t reflect.Type, member string, value any) error {
	schemas := newRegistry()
	c := newChecker(schemas, schemas.Schema(t, false, ""), false, Known{})
	sent := map[string]any{member: value}
	if problems := c.within(value, sent, "body."+member, "/"+jsontree.Escape(member)); len(problems) > 0 {
		return Invalid(problems, sent)
	}
	return nil
}

// CheckPatch checks a merge patch against the schema of a body.
func CheckPatch(t reflect.Type, patch any) error {
	schemas := newRegistry()
	c := newChecker(schemas, schemas.Schema(t, false, ""), true, Known{})
	if problems := c.check(patch); len(problems) > 0 {
		return Invalid(problems, patch)
	}
	return nil
}

// problem is a fault that huma does not find.
type problem errs.Detail

func (p problem) Error() string { return p.Param + ": " + p.Message }

func (c *checker) resolve(s *huma.Schema) *huma.Schema {
	if s != nil && s.Ref != "" {
		return c.schemas.SchemaFromRef(s.Ref)
	}
	return s
}

// walk adds blank texts that must not be blank, objects with members whose names are not permitted, and the faults that
// the checks taken over from huma find.
func (c *checker) walk(schema *huma.Schema, value any, pointer string, found []problem) []problem {
	if schema = c.branch(schema, value); schema == nil {
		return found
	}
	if message := taken(schema, value); message != "" {
		found = append(found, problem{Param: pointer, Message: message})
	}
	switch v := value.(type) {
	case string:
		required := schema.MinLength != nil && *schema.MinLength > 0
		if (required || schema.Format == NotBlank && v != "") && resource.IsBlank(v) {
			return append(found, problem{Param: pointer, Message: "must not be blank"})
		}
		if strings.Contains(schema.Pattern, oneLine) && strings.ContainsFunc(v, text.IsHidden) {
			return append(found, problem{Param: pointer, Message: "must not have characters that hide text or turn it round"})
		}
	case []any:
		for i, item := range v {
			found = c.walk(schema.Items, item, pointer+"/"+strconv.Itoa(i), found)
		}
	case map[string]any:
		if names, ok := schema.Extensions[propertyNames].(*huma.Schema); ok && !c.named(names, v) {
			found = append(found, problem{Param: pointer,
				Message: "names must have 1 to " + strconv.Itoa(*names.MaxLength) +
					" characters, and be free of control characters"})
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			member := schema.Properties[name]
			if member == nil {
				member, _ = schema.AdditionalProperties.(*huma.Schema)
			}
			found = c.walk(member, v[name], pointer+"/"+jsontree.Escape(name), found)
		}
	}
	return found
}

// named reports whether all names of an object fit a schema.
func (c *checker) named(names *huma.Schema, object map[string]any) bool {
	var result huma.ValidateResult
	for name := range object {
		huma.Validate(c.schemas, names, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, name, &result)
	}
	return len(result.Errors) == 0
}

// nulls adds the members that a merge patch would remove, but must not, including those in objects that it changes.
// huma takes null for a missing member.
func (c *checker) nulls(schema *huma.Schema, patch any, pointer string, found []problem) []problem {
	members, _ := patch.(map[string]any)
	if schema = c.branch(schema, patch); schema == nil {
		return found
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		member, at := c.resolve(schema.Properties[name]), pointer+"/"+jsontree.Escape(name)
		switch {
		case member == nil:
		case members[name] != nil:
			found = c.nulls(member, members[name], at, found)
		case !member.Nullable:
			found = append(found, problem{Param: at, Message: "must not be null: it can be changed, but not removed"})
		}
	}
	return found
}
