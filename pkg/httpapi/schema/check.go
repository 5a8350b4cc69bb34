// Package schema has the schemas of the types of operations, their names in the document, and the one check of what
// callers send against them. NewRegistry makes the schemas of types, and Checker checks bodies by them.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
)

// maxProblems bounds the reported faults of a body: a large body may have thousands.
const maxProblems = 100

// Checker checks values from callers against a schema.
type Checker struct {
	schemas huma.Registry
	root    *huma.Schema
	// patch reports whether a value is a merge patch.
	patch    bool
	resource ResourceInfo
}

// NewChecker returns a checker for a schema of a registry, whose formats it expands.
func NewChecker(schemas huma.Registry, root *huma.Schema, patch bool, known ResourceInfo) *Checker {
	Expand(schemas, root)
	return &Checker{schemas, root, patch, known}
}

// Check returns the faults of a body, in the order of its members.
func (c *Checker) Check(tree any) []errs.Detail { return c.checkAt(tree, "") }

func (c *Checker) checkAt(value any, top string) []errs.Detail {
	w := &walk{Checker: c, top: top}
	w.value(c.root, value, top, c.patch)
	at := map[string]bool{}
	for _, p := range w.details {
		at[p.Param] = true
	}
	if hasForbidden(value) {
		w.forbidden(value, top)
	}
	for _, p := range w.lateDetails {
		if !at[p.Param] && len(w.details) < maxProblems {
			w.details = append(w.details, p)
		}
	}
	return w.details
}

// Check checks a value of a body against the schema of a type. Member is the name of its member of the body.
func Check(t reflect.Type, member string, value any) error {
	return refused(checkerOf(t, false).checkAt(value, "/"+jsontree.Escape(member)))
}

// CheckPatch checks a merge patch against the schema of a body.
func CheckPatch(t reflect.Type, patch any) error { return refused(checkerOf(t, true).Check(patch)) }

// checkers are the checkers of types that have been checked: a schema is made by reflection over a whole type.
var checkers sync.Map // of whole to *Checker

type wholeBody struct {
	reflect.Type
	patch bool
}

func checkerOf(t reflect.Type, patch bool) *Checker {
	if c, ok := checkers.Load(wholeBody{t, patch}); ok {
		return c.(*Checker)
	}
	schemas := NewRegistry()
	c, _ := checkers.LoadOrStore(wholeBody{t, patch}, NewChecker(schemas, schemas.Schema(t, false, ""), patch,
		ResourceInfo{}))
	return c.(*Checker)
}

func refused(problems []errs.Detail) error {
	if len(problems) == 0 {
		return nil
	}
	return Invalid(problems)
}

// Invalid turns faults into one error, with one detail for each invalid field.
func Invalid(problems []errs.Detail) *errs.Error {
	var details []errs.Detail
	said, at := map[errs.Detail]bool{}, map[string]int{}
	for _, d := range problems {
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

// walk is one check of a value.
type walk struct {
	*Checker
	// top is the JSON pointer of the value in the body.
	top string
	// lateDetails are faults in what a member says. They are reported after those of its form, and only for members
	// without one of those.
	details, lateDetails []errs.Detail
	// first reports that the first fault is all that is wanted, without its words.
	first bool
	// hints counts the names for which the nearest known one was looked for.
	hints int
}

// full reports whether no more faults are wanted.
func (w *walk) full() bool { return len(w.details) >= maxProblems || w.first && len(w.details) > 0 }

func (w *walk) add(at, message string) {
	if len(w.details) < maxProblems {
		w.details = append(w.details, errs.Detail{Param: at, Message: message})
	}
}

func (w *walk) addLate(at, message string) {
	if len(w.lateDetails) < maxProblems {
		w.lateDetails = append(w.lateDetails, errs.Detail{Param: at, Message: message})
	}
}

// value checks a part of the value. The argument at is its JSON pointer, and patch reports whether null removes
// members of it.
func (w *walk) value(s *huma.Schema, value any, at string, patch bool) {
	s = w.resolve(s)
	if s == nil || value == nil && s.Nullable || w.full() {
		return
	}
	if len(s.AnyOf)+len(s.AllOf) > 0 || s.Not != nil {
		panic("schema: anyOf, allOf and not are words of the document, and not checked")
	}
	if len(s.OneOf) > 0 {
		if s = w.alternative(s, value); s == nil {
			w.add(at, validation.MsgExpectedMatchExactlyOneSchema)
			return
		}
	}
	switch v := value.(type) {
	case map[string]any:
		if s.Type == huma.TypeObject {
			w.object(s, v, at, patch)
			return
		}
	case []any:
		if s.Type == huma.TypeArray {
			w.list(s, v, at)
			return
		}
	}
	w.leaf(s, value, at)
}

// alternative returns the first alternative of a schema that a value fits, or nil.
func (c *Checker) alternative(s *huma.Schema, value any) *huma.Schema {
	for _, one := range s.OneOf {
		w := &walk{Checker: c, first: true}
		if w.value(one, value, "", false); len(w.details) == 0 {
			return c.resolve(one)
		}
	}
	return nil
}

func (c *Checker) resolve(s *huma.Schema) *huma.Schema {
	if s != nil && s.Ref != "" {
		return c.schemas.SchemaFromRef(s.Ref)
	}
	return s
}

func (w *walk) object(s *huma.Schema, sent map[string]any, at string, patch bool) {
	if s.MinProperties != nil && len(sent) < *s.MinProperties {
		w.add(at, huma.ErrorFormatter(validation.MsgExpectedMinProperties, *s.MinProperties))
	}
	if s.MaxProperties != nil && len(sent) > *s.MaxProperties {
		w.add(at, huma.ErrorFormatter(validation.MsgExpectedMaxProperties, *s.MaxProperties))
	}
	if names, ok := s.Extensions[PropertyNames].(*huma.Schema); ok && !w.named(names, sent) {
		w.addLate(at, "names must have 1 to "+strconv.Itoa(*names.MaxLength)+
			" characters, and be free of control characters")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		member, here := w.resolve(s.Properties[name]), at+"/"+jsontree.Escape(name)
		value, ok := sent[name]
		switch required := slices.Contains(s.Required, name); {
		case !ok && required:
			w.add(here, w.missing(member))
		case !ok:
		case value == nil && (!required || s.Nullable):
			// Null stands for a member that is not sent, but in a merge patch it removes the member.
			if patch && !member.Nullable {
				w.addLate(here, "must not be null: it can be changed, but not removed")
			}
		default:
			w.value(member, value, here, patch)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if s.Properties[name] != nil {
			continue
		}
		if w.full() {
			return
		}
		switch others := s.AdditionalProperties.(type) {
		case *huma.Schema:
			w.value(others, sent[name], at+"/"+jsontree.Escape(name), false)
		case bool:
			if !others {
				w.add(at+"/"+jsontree.Escape(name), w.unexpected(s, name, at))
			}
		}
	}
}

// named reports whether all names of an object fit a schema.
func (w *walk) named(names *huma.Schema, object map[string]any) bool {
	var result huma.ValidateResult
	for name := range object {
		huma.Validate(w.schemas, names, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, name, &result)
	}
	return len(result.Errors) == 0
}

func (w *walk) list(s *huma.Schema, sent []any, at string) {
	if s.MinItems != nil && len(sent) < *s.MinItems {
		w.add(at, huma.ErrorFormatter(validation.MsgExpectedMinItems, *s.MinItems))
	}
	if s.MaxItems != nil && len(sent) > *s.MaxItems {
		w.add(at, huma.ErrorFormatter(validation.MsgExpectedMaxItems, *s.MaxItems))
	}
	if s.UniqueItems && repeats(bounded(s, sent)) {
		w.addLate(at, validation.MsgExpectedArrayItemsUnique)
	}
	for i, item := range bounded(s, sent) {
		if w.full() {
			return
		}
		w.value(s.Items, item, at+"/"+strconv.Itoa(i), false)
	}
}

// bounded returns the entries of a list that its schema permits. The rest is a fault, and nothing looks at it.
func bounded(s *huma.Schema, sent []any) []any {
	if s != nil && s.MaxItems != nil {
		return sent[:min(len(sent), *s.MaxItems)]
	}
	return sent
}

// repeats reports whether a list has a value twice.
func repeats(items []any) bool {
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		text, err := json.Marshal(item) // the members of objects are in order
		if err != nil || seen[string(text)] {
			return err == nil
		}
		seen[string(text)] = true
	}
	return false
}

// leaf checks a text, a number, a boolean, or a value of the wrong type. huma checks what is not about other values.
func (w *walk) leaf(s *huma.Schema, value any, at string) {
	if of := s.MultipleOf; of != nil {
		// huma takes the remainder of floating point numbers, by which 64 is no multiple of 0.001.
		plain := *s
		plain.MultipleOf, s = nil, &plain
		if n, ok := value.(float64); ok && !isMultiple(n, *of) {
			w.addLate(at, huma.ErrorFormatter(validation.MsgExpectedNumberBeMultipleOf, *of))
		}
	}
	var result huma.ValidateResult
	huma.Validate(w.schemas, s, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, value, &result)
	for _, cause := range result.Errors {
		message := cause.(huma.ErrorDetailer).ErrorDetail().Message
		switch object := message == validation.MsgExpectedObject; {
		case object && at == "":
			w.add(at, "The body must be one JSON object, not "+kindOf(value))
		case object && at != w.top:
			w.add(at, Refine(message, value)+w.show(s))
		default:
			w.add(at, Refine(message, value))
		}
	}
	said, ok := value.(string)
	if !ok || s.Type != huma.TypeString {
		return
	}
	switch required := s.MinLength != nil && *s.MinLength > 0; {
	case (required || s.Format == format.NotBlank && said != "") && text.IsBlank(said):
		w.addLate(at, "must not be blank")
	case strings.Contains(s.Pattern, oneLine) && text.HasHidden(said):
		w.addLate(at, "must not have characters that hide text or turn it round")
	case strings.Contains(s.Pattern, oneLine) && strings.ContainsAny(said, "\u2028\u2029"):
		w.addLate(at, "must be one line: leave out the character U+2028 or U+2029, which separates lines")
	}
}

// hasForbidden reports whether forbidden would report something. It makes no places.
func hasForbidden(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.ContainsFunc(v, text.IsForbidden)
	case []any:
		return slices.ContainsFunc(v, hasForbidden)
	case map[string]any:
		for name, one := range v {
			if strings.ContainsFunc(name, text.IsForbidden) || hasForbidden(one) {
				return true
			}
		}
	}
	return false
}

// forbidden reports the texts and names of a value, whatever its schema, that have characters which stand in no text.
func (w *walk) forbidden(value any, at string) {
	if len(w.lateDetails) >= maxProblems {
		return
	}
	switch v := value.(type) {
	case string:
		if r, n, found := text.Forbidden(v); found {
			w.addLate(at, fmt.Sprintf("must not have the character U+%04X, which is at the place %d", r, n+1))
		}
	case []any:
		for i, one := range v {
			w.forbidden(one, at+"/"+strconv.Itoa(i))
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if r, _, found := text.Forbidden(name); found {
				w.addLate(at, fmt.Sprintf("must not have a name with the character U+%04X", r))
				continue
			}
			w.forbidden(v[name], at+"/"+jsontree.Escape(name))
		}
	}
}

// isMultiple reports whether a number is a multiple of another, up to the rounding of binary numbers.
func isMultiple(v, of float64) bool {
	const exact = 1e-9
	n := v / of
	return math.Abs(n-math.Round(n)) <= exact*max(1, math.Abs(n))
}

// ResourceInfo describes the resource of an operation, to explain the refusal of a member.
type ResourceInfo struct {
	// Answer is the type of the resource.
	Answer reflect.Type
	// FixedMembers are members that cannot be sent, of the resource or not, with the alternative to each.
	FixedMembers map[string]string
}

// has reports whether the resource has a member of that name.
func (k ResourceInfo) has(name string) bool {
	if k.Answer == nil || k.Answer.Kind() != reflect.Struct {
		return false
	}
	return slices.ContainsFunc(reflect.VisibleFields(k.Answer), func(f reflect.StructField) bool {
		member, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return member == name
	})
}

// maxHints bounds the unknown members for which the nearest known one is looked for.
const maxHints = 20

// unexpected explains the refusal of a member of the object at a JSON pointer.
func (w *walk) unexpected(s *huma.Schema, name, at string) string {
	how := w.resource.FixedMembers[name]
	switch {
	case w.first:
		return ""
	case at != w.top || how == "" && !w.resource.has(name):
		members := slices.Sorted(maps.Keys(s.Properties))
		if w.hints++; w.hints > maxHints {
			name = "" // which is near to none
		}
		return Unknown("is not a member", name, "The members are ", members)
	case w.patch && how != "":
		return "cannot be changed: " + how
	case w.patch:
		return "cannot be changed"
	case how != "":
		return "cannot be set here: " + how
	}
	return "cannot be set here; leave it out"
}

// longestSample bounds a sample in a message, in bytes.
const longestSample = 120

// missing returns the message about a member that is required and was not sent: with all values of a closed list, or
// with a value of the member, if there is one that is short.
func (c *Checker) missing(member *huma.Schema) string {
	if member.Type == huma.TypeArray {
		if items := c.resolve(member.Items); items != nil && len(items.Enum) > 0 {
			return isRequired + ": a list of " + valuesOf(items.Enum)
		}
	}
	if len(member.Enum) > 0 {
		return isRequired + ": one of " + valuesOf(member.Enum)
	}
	text, err := json.Marshal(c.sample(member))
	if err != nil || string(text) == "null" || len(text) > longestSample {
		return isRequired
	}
	return isRequired + ", such as " + string(text)
}

// valuesOf lists the values of an enumeration.
func valuesOf(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, ", ")
}

// show asks for a sample of a schema, or returns an empty text if there is none.
func (c *Checker) show(s *huma.Schema) string {
	sample := c.sample(s)
	text, err := json.Marshal(sample)
	if sample == nil || err != nil {
		return ""
	}
	return ": send " + string(text)
}

// sample returns a value by the examples of a schema and its required members, or nil if some have none.
func (c *Checker) sample(s *huma.Schema) any {
	s = c.resolve(s)
	switch {
	case s == nil:
		return nil
	case len(s.Examples) > 0:
		return s.Examples[0]
	case len(s.Required) == 0:
		return nil
	}
	object := map[string]any{}
	for _, name := range s.Required {
		if object[name] = c.sample(s.Properties[name]); object[name] == nil {
			return nil
		}
	}
	return object
}

// Replace huma's texts about invalid values. It copies them into its schemas, so they must be set before any is made.
func init() {
	for text, ours := range map[*string]string{
		&validation.MsgExpectedBoolean:                "must be true or false",
		&validation.MsgExpectedNumber:                 "must be a number",
		&validation.MsgExpectedInteger:                "must be an integer",
		&validation.MsgExpectedString:                 "must be a string",
		&validation.MsgExpectedArray:                  "must be an array",
		&validation.MsgExpectedObject:                 "must be an object",
		&validation.MsgExpectedArrayItemsUnique:       "must not list a value twice",
		&validation.MsgExpectedOneOf:                  mustBeOneOf + "%s",
		&validation.MsgExpectedMinimumNumber:          "must be at least %.15g",
		&validation.MsgExpectedExclusiveMinimumNumber: "must be more than %.15g",
		&validation.MsgExpectedMaximumNumber:          "must be at most %.15g",
		&validation.MsgExpectedExclusiveMaximumNumber: "must be less than %.15g",
		&validation.MsgExpectedNumberBeMultipleOf:     "must be a multiple of %v",
		&validation.MsgExpectedMinLength:              tooShort + "the shortest length is %d",
		&validation.MsgExpectedMaxLength:              "is too long: the longest length is %d",
		&validation.MsgExpectedBePattern:              "must be %s",
		&validation.MsgExpectedMatchPattern:           mustMatch + "%s",
		&validation.MsgExpectedMinItems:               "has too few entries: the fewest are %d",
		&validation.MsgExpectedMaxItems:               "has too many entries: the most are %d",
		&validation.MsgExpectedMinProperties:          "has too few members: the fewest are %d",
		&validation.MsgExpectedMaxProperties:          "has too many members: the most are %d",
		&validation.MsgExpectedRFC3339DateTime:        MustBeTime,
		&validation.MsgExpectedRFC3339Date:            "must be a day, written as 2026-05-01",
		&validation.MsgExpectedRFC3986URI:             "must be a URL, written as https://example.com/page%.0s",
		&validation.MsgExpectedPropertyNameInObject:   isRequired,
	} {
		*text = ours
	}
}

const (
	isRequired  = "is required"
	mustBe      = "must be "
	mustBeOneOf = mustBe + "one of "
	mustMatch   = "must match the pattern "
	tooShort    = "is too short: "
)

// The messages about numbers and times that package json refuses.
const (
	MustBeInteger = "must be an integer, written without fraction and exponent"
	MustBeTime    = "must be a time with its zone, written as 2026-05-01T12:00:00Z or 2026-05-01T14:00:00+02:00"
)

// Refine completes a message of huma's without repeating the value: by the type of a value of the wrong type, and by
// the value of an enumeration that is close.
func Refine(message string, sent any) string {
	switch message {
	case validation.MsgExpectedBoolean, validation.MsgExpectedNumber, validation.MsgExpectedInteger,
		validation.MsgExpectedString, validation.MsgExpectedArray, validation.MsgExpectedObject:
		kind := kindOf(sent)
		if kind == "a number" && message == validation.MsgExpectedInteger {
			return MustBeInteger
		}
		return message + ", not " + kind
	case MustBeTime:
		value, _ := sent.(string)
		if _, err := time.Parse(time.RFC3339, strings.ToUpper(value)); err == nil {
			return message + ", with T and Z in capital letters"
		}
	case mustMatch + format.OneLine:
		return "must not have control characters, such as line breaks"
	}
	if sent == "" && strings.HasPrefix(message, tooShort) {
		return "must not be empty"
	}
	if names, ok := strings.CutPrefix(message, mustBeOneOf); ok {
		value, _ := sent.(string) // of another type it is near to none
		return text.NotOneOf(value, strings.Split(names, ", "))
	}
	return message
}

// kindOf names the JSON type of a value.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	default:
		return "a number"
	}
}

// maxNames bounds the names that a message lists.
const maxNames = 16

// Unknown returns the message about an unknown name. It suggests the nearest known one, and lists the known ones if
// they are few.
func Unknown(message, name, list string, known []string) string {
	hint := text.NearestHint(name, known)
	message += hint
	if len(known) > maxNames {
		if hint == "" {
			message += "; leave it out"
		}
		return message
	}
	if hint == "" {
		message += "."
	}
	if len(known) == 0 {
		return message + " " + list + "none"
	}
	return message + " " + list + strings.Join(known, ", ")
}

// RuleChecker is a body with rules that its schema does not state. Their violations are reported together with
// violations of the schema, so the rules must accept a body with missing members. A body that fits the schema is left
// to its operation.
type RuleChecker interface{ Rules() error }

// AddRules adds the violated rules of a body of a type to the faults that were found.
func (c *Checker) AddRules(body reflect.Type, tree any, found []errs.Detail) []errs.Detail {
	if body.Kind() == reflect.Pointer {
		body = body.Elem()
	}
	v := reflect.New(body).Interface()
	ruled, ok := v.(RuleChecker)
	if !ok {
		return found
	}
	if _, ok := tree.(map[string]any); !ok {
		return found // reported already
	}
	text, err := json.Marshal(c.strip(c.root, tree))
	if err != nil {
		return found
	}
	// A member of the wrong type is omitted. It is reported already.
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal(text, v); err != nil && !errors.As(err, &wrong) {
		return found
	}
	err = ruled.Rules()
	if err == nil {
		return found
	}
	e := errs.As(err)
	if e.Details == nil {
		e = errs.InvalidFields(errs.Detail{Param: e.Param, Message: e.Message})
	}
	told := slices.Clone(found)
	for _, d := range e.Details[:min(len(e.Details), maxProblems)] {
		// A rule knows the other members: it says 10 to 60 of a short video where the schema says at most 180.
		same := slices.IndexFunc(found, func(p errs.Detail) bool { return p.Param == d.Param && ofForm(p.Message) })
		if same >= 0 {
			found[same] = d
			continue
		}
		if !slices.ContainsFunc(told, func(p errs.Detail) bool { return isWithin(p.Param, d.Param) }) {
			found = append(found, d)
		}
	}
	return found
}

// Strip returns a body without the members that the schema does not know.
func (c *Checker) Strip(tree any) any { return c.strip(c.root, tree) }

// strip returns a value without the members that its schema does not know, and without the entries above the most. The
// decoder would take one for another that differs in case.
func (c *Checker) strip(s *huma.Schema, value any) any {
	if s = c.resolve(s); s != nil && len(s.OneOf) > 0 {
		s = c.alternative(s, value)
	}
	if s == nil {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		known := map[string]any{}
		for name, member := range v {
			one := s.Properties[name]
			if one == nil {
				one, _ = s.AdditionalProperties.(*huma.Schema)
			}
			if one != nil || s.AdditionalProperties != false {
				known[name] = c.strip(one, member)
			}
		}
		return known
	case []any:
		v = bounded(s, v)
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = c.strip(s.Items, item)
		}
		return items
	}
	return value
}

// isWithin reports whether a fault at a JSON pointer concerns a member, a part of it, or a value that contains it.
func isWithin(at, member string) bool {
	shorter, longer := at, member
	if len(longer) < len(shorter) {
		shorter, longer = longer, shorter
	}
	rest, ok := strings.CutPrefix(longer, shorter)
	return ok && strings.HasPrefix(at, "/") && (rest == "" || rest[0] == '/')
}

// ofForm reports whether a message is about the bounds or the form of a value, or says no more than that it is missing.
// Of a value of the wrong type rules see nothing.
func ofForm(message string) bool {
	return message == isRequired || strings.HasPrefix(message, mustBe) && !slices.ContainsFunc([]string{
		validation.MsgExpectedBoolean, validation.MsgExpectedNumber, validation.MsgExpectedInteger,
		validation.MsgExpectedString, validation.MsgExpectedArray, validation.MsgExpectedObject,
	}, func(text string) bool { return strings.HasPrefix(message, text) })
}
