package transfer

import (
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
	"github.com/content-automation/api/pkg/httpapi/schema"
)

// checkers check the resources of lines, by their types.
var checkers sync.Map

// checker returns the checker of a type. Its members may be absent, and there may be others: the line may be of an
// older or a newer version of the service.
func checker(t reflect.Type) *schema.Checker {
	if c, ok := checkers.Load(t); ok {
		return c.(*schema.Checker)
	}
	schemas := schema.NewRegistry()
	root := schemas.Schema(t, true, "")
	c := schema.NewChecker(schemas, root, false, schema.Known{})
	for _, s := range schemas.Map() {
		loosen(s)
	}
	checkers.Store(t, c)
	return c
}

func loosen(s *huma.Schema) {
	if s == nil {
		return
	}
	s.Required = nil
	if s.AdditionalProperties == false {
		s.AdditionalProperties = nil
	}
	s.PrecomputeMessages()
	for _, m := range s.Properties {
		if m.Ref == "" {
			loosen(m)
		}
	}
}

// present returns a JSON value without members that are null.
func present(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = present(v[i])
		}
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, m any) bool { return m == nil })
		for name := range v {
			v[name] = present(v[name])
		}
	}
	return v
}

// parse checks the data of a line against the schema of its type, and returns it as a tree.
func parse(k kind, data []byte) (map[string]any, error) {
	parsed, err := jsontree.Parse(data)
	tree, ok := present(parsed).(map[string]any)
	if err != nil || !ok {
		return nil, errs.Wrap(err, errs.MalformedJSON, "data is no JSON object.")
	}
	if faults := checker(k.of).Check(any(tree)); len(faults) > 0 {
		return nil, schema.Invalid(faults)
	}
	return tree, nil
}

// inputChecker checks the members of resources by the body of the operation that creates them.
type inputChecker struct {
	*schema.Checker
	root *huma.Schema
}

// inputCheckers are these checkers, by the types of bodies.
var inputCheckers sync.Map

func inputCheckerOf(t reflect.Type) inputChecker {
	if c, ok := inputCheckers.Load(t); ok {
		return c.(inputChecker)
	}
	schemas := schema.NewRegistry()
	root := *schemas.Schema(t, false, "")
	root.Required = nil
	root.PrecomputeMessages()
	c := inputChecker{schema.NewChecker(schemas, &root, false, schema.Known{}), &root}
	inputCheckers.Store(t, c)
	return c
}

// The bounds of whatever comes in, which are those of the longest texts and lists that the service itself makes. Many
// members have no others, because no operation takes them.
const (
	mostLetters = 20_000
	mostListed  = 1000
	longestName = 100
)

// checkBounds refuses a value at a place that is larger than what the service makes, or has an address that is none of
// the web.
func checkBounds(v any, at string) error {
	switch v := v.(type) {
	case string:
		if utf8.RuneCountInString(v) > mostLetters {
			return errs.Invalid(at, "is too long: the longest length is %d", mostLetters)
		}
		name := at[strings.LastIndexByte(at, '/')+1:]
		if u, err := url.Parse(v); (name == "url" || strings.HasSuffix(name, "_url")) && (err != nil ||
			u.Scheme != "" &&
				u.Scheme != "https" && u.Scheme != "http" && !strings.HasPrefix(v, FileScheme)) {
			return errs.Invalid(at, "is no address of the web")
		}
	case []any:
		if len(v) > mostListed {
			return errs.Invalid(at, "has too many entries: the most are %d", mostListed)
		}
		for i := range v {
			if err := checkBounds(v[i], at+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if utf8.RuneCountInString(name) > longestName {
				return errs.Invalid(at, "has a name that is longer than %d", longestName)
			}
			if err := checkBounds(v[name], at+"/"+jsontree.Escape(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkInput checks the members of a resource that the operation which creates such a resource takes, too. A member
// that is empty counts as absent.
func checkInput(name string, tree map[string]any) error {
	in := inputs[name]
	sent := tree
	if name == "generation" {
		kind, _ := tree["kind"].(string)
		if in.of = studio.InputOf(provider.Kind(kind)); in.of == nil {
			return errs.Invalid("/kind", "is no kind of a generation")
		}
		sent = map[string]any{"model": tree["model"], "metadata": tree["metadata"]}
		given, _ := tree["input"].(map[string]any)
		maps.Copy(sent, given)
	}
	if in.of == nil {
		return nil
	}
	c, known := inputCheckerOf(in.of), map[string]any{}
	for member, v := range sent {
		if c.root.Properties[member] != nil && !slices.Contains(in.other, member) && !isEmpty(v) {
			known[member] = whole(v)
		}
	}
	body := c.Strip(known)
	faults := c.Check(body)
	if in.rules {
		faults = c.AddRules(in.of, body, faults)
	}
	if len(faults) > 0 {
		return schema.Invalid(faults)
	}
	return nil
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// whole returns a value whose objects have no empty members.
func whole(v any) any {
	switch v := v.(type) {
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = whole(v[i])
		}
		return all
	case map[string]any:
		all := map[string]any{}
		for name, member := range v {
			if !isEmpty(member) {
				all[name] = whole(member)
			}
		}
		return all
	}
	return v
}
