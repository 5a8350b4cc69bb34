package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
	"github.com/content-automation/api/pkg/record/resource"
)

// IfMatch holds the header of a conditional change. Embed it in the input of every PATCH and DELETE of a resource.
type IfMatch struct {
	// ETag of the version to change. The request fails with 412 if the resource has changed since.
	IfMatch string `header:"If-Match"`
}

// ETag returns the entity tag of a version.
func ETag(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

// entityTag is an element of the headers of conditional requests: "*", or an entity tag (RFC 9110, 8.8.3).
var entityTag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(\*|(?:W/)?"[\x21\x23-\x7E\x80-\xFF]*")\s*(?:,|$)`)
})

// noTag is an entity tag that no version has.
const noTag = `""`

// entityTags returns the elements of a header of conditional requests, which may stand on several lines, or false if it
// has none, or another text.
func entityTags(lines []string) (tags []string, ok bool) {
	for rest := strings.Join(lines, ","); rest != ""; {
		if empty, found := strings.CutPrefix(strings.TrimLeft(rest, " \t"), ","); found {
			rest = empty // RFC 9110, 5.6.1: an empty element does not count
			continue
		}
		m := entityTag().FindStringSubmatch(rest)
		if m == nil {
			return nil, strings.TrimSpace(rest) == "" && len(tags) > 0
		}
		tags = append(tags, m[1])
		rest = rest[len(m[0]):]
	}
	return tags, len(tags) > 0
}

// takesIfMatch reports whether an input is or has the header of a conditional change.
func takesIfMatch(in reflect.Type) bool {
	header := reflect.TypeFor[IfMatch]()
	return in == header || slices.ContainsFunc(reflect.VisibleFields(in),
		func(f reflect.StructField) bool { return f.Type == header })
}

// conditions reads the headers of a conditional change into one line. One that is empty or malformed is refused: a
// condition that was lost would be a change without one.
func conditions(h http.Header) error {
	if lines, sent := h["If-Match"]; sent {
		tags, ok := entityTags(lines)
		if !ok || slices.Contains(tags, "*") && len(tags) > 1 {
			return invalidCondition(`If-Match must be an ETag in double quotes, as GET returns it, such as "3", or ` +
				"several with commas between them, or * alone.")
		}
		h["If-Match"] = []string{strings.Join(tags, ", ")}
	}
	lines, sent := h["If-None-Match"]
	if !sent {
		return nil
	}
	if tags, ok := entityTags(lines); !ok || len(tags) > 1 || tags[0] != "*" {
		return invalidCondition("If-None-Match of a change can only be *. Send the ETag of the version that you " +
			"change as If-Match.")
	}
	// RFC 9110, 13.1.2: the change is for a resource that does not exist. No version of one that exists matches.
	h["If-Match"] = []string{noTag}
	return nil
}

func invalidCondition(message string) error {
	e := errs.New(errs.InvalidHeader, "%s", message)
	e.Param = "If-Match"
	return e
}

// Check returns version_mismatch unless the header is absent, "*", or names the version. Weak tags never match for a
// change (RFC 9110, 13.1.1).
func (h IfMatch) Check(version int64) error {
	if h.IfMatch == "" {
		return nil
	}
	tags, _ := entityTags([]string{h.IfMatch})
	// The tag of an answer that shows more than its resource has the version, a hyphen and the rest.
	of := strings.TrimSuffix(ETag(version), `"`)
	if slices.ContainsFunc(tags, func(tag string) bool {
		return tag == "*" || tag == of+`"` || strings.HasPrefix(tag, of+"-")
	}) {
		return nil
	}
	e := errs.New(errs.VersionMismatch, "The resource has changed: its version is now %d. Read it again, and repeat "+
		"the change with its ETag.", version)
	e.Param = "If-Match"
	return e
}

// Require is Check for a call that is also refused without the header, or with one that names no version.
func (h IfMatch) Require(version int64) error {
	if tag := strings.TrimSpace(h.IfMatch); tag != "" && tag != "*" {
		return h.Check(version)
	}
	return invalidCondition("This operation needs the header If-Match with the ETag of the version that " +
		"you have seen: its version in double quotes, such as \"3\".")
}

// has reports whether the caller already has the answer with this ETag (RFC 9110, 13.1.2).
func (c *call) has(etag string) bool {
	if etag == "" {
		return false
	}
	tags, _ := entityTags([]string{c.ifNoneMatch})
	return slices.ContainsFunc(tags, func(tag string) bool {
		return tag == "*" || strings.TrimPrefix(tag,
			"W/") == etag
	})
}

// Matches is Check for the headers of a call that changes a resource. A call that only reads it has none.
func Matches(version int64, headers []IfMatch) error {
	for _, h := range headers {
		if err := h.Check(version); err != nil {
			return err
		}
	}
	return nil
}

// MergePatch applies the body of the call, a JSON merge patch (RFC 7396), to the changeable members of a resource.
func MergePatch[T any](ctx context.Context, current T) (T, error) {
	return Merge(current, callFrom(ctx).parsedBody)
}

// MergeRecord is MergePatch for a record that need not have all members of the body.
func MergeRecord[T any](ctx context.Context, current T) (T, error) {
	sent, _ := callFrom(ctx).parsedBody.(map[string]any) // the schema permits nothing else
	known := MembersOf(reflect.TypeFor[T]())
	has := map[string]any{}
	for name, value := range sent {
		if slices.Contains(known, name) {
			has[name] = value
		}
	}
	return Merge(current, has)
}

// Merge applies a parsed merge patch to the changeable members of a resource. Members that the patch does not name stay
// exactly as they are.
func Merge[T any](current T, patch any) (T, error) {
	var merged T
	doc, err := json.Marshal(current)
	if err != nil {
		return merged, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(doc, &members); err != nil {
		return merged, err
	}
	changes, _ := patch.(map[string]any) // the schema permits nothing else
	for name, change := range changes {
		var value any
		if is, ok := members[name]; ok {
			if err := json.Unmarshal(is, &value); err != nil {
				return merged, err
			}
		}
		value = jsontree.Merge(value, change)
		if pairs, _ := value.(map[string]any); name == "metadata" && len(pairs) > resource.MaxPairs {
			// The schema bounds the patch, but not the result.
			return merged, errs.Invalid("/metadata", "must have at most %d pairs", resource.MaxPairs)
		}
		if delete(members, name); change == nil {
			continue
		}
		if members[name], err = json.Marshal(value); err != nil {
			return merged, err
		}
	}
	if doc, err = json.Marshal(members); err != nil {
		return merged, err
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.DisallowUnknownFields()
	if err := d.Decode(&merged); err != nil {
		return merged, errs.Wrap(err, errs.ValidationFailed, "The patch does not fit the resource. Check the types "+
			"of its members.")
	}
	return merged, nil
}

// Patched returns the members in the body of the call, a JSON merge patch, even if they change nothing: true for a
// member that it sets, false for one that it removes.
func Patched(ctx context.Context) map[string]bool {
	sent, _ := callFrom(ctx).parsedBody.(map[string]any) // the schema permits nothing else
	members := map[string]bool{}
	for name, value := range sent {
		members[name] = value != nil
	}
	return members
}

// Placed corrects the places that an error about a merged resource names: the body of the call, a JSON merge patch, may
// have sent other members only. Such a place becomes the deepest one that the body has, and the message of its detail
// begins with the former.
func Placed(ctx context.Context, err error) error {
	var e *errs.Error
	if !errors.As(err, &e) {
		return err
	}
	sent, moved := callFrom(ctx).parsedBody, *e
	moved.Param, moved.Details = placeIn(sent, e.Param), slices.Clone(e.Details)
	for i, d := range moved.Details {
		if param := placeIn(sent, d.Param); param != d.Param {
			moved.Details[i] = errs.Detail{Param: param, Message: d.Param + " " + d.Message}
		}
	}
	return &moved
}

// placeIn returns the part of a pointer that a JSON value has. Its last member may be missing.
func placeIn(tree any, param string) string {
	if !strings.HasPrefix(param, "/") { // it is no pointer
		return param
	}
	parts := strings.Split(param[1:], "/")
	for i, part := range parts[:len(parts)-1] {
		var next any
		switch v := tree.(type) {
		case map[string]any:
			next = v[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
		case []any:
			if n, err := strconv.Atoi(part); err == nil && n >= 0 && n < len(v) {
				next = v[n]
			}
		}
		if next == nil {
			return strings.TrimSuffix("/"+strings.Join(parts[:i], "/"), "/")
		}
		tree = next
	}
	return param
}
