// Package input reads the inputs of operations. An input is a struct: its fields with the tags path, query and header
// are parameters, and its field Body is the body. Package huma makes schemas of the types of the fields, which describe
// them in the document, and which what callers send is checked against. Describe describes an input, and Reader reads
// calls.
//
// huma could read calls too, but compiles a function of 15 KB for each type of input: 4.7 MB in a program that serves
// all operations.
package input

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
	"github.com/content-automation/api/pkg/httpapi/schema"
)

// Body is the type of the body of an input, and reports whether it may be left out. The type is nil if there is none.
func Body(input reflect.Type) (body reflect.Type, optional bool) {
	f, ok := input.FieldByName(bodyField)
	if !ok {
		return nil, false
	}
	return f.Type, f.Type.Kind() == reflect.Pointer
}

const bodyField = "Body"

// Describe adds the parameters and the body of an input to an operation of a document.
func Describe(o *huma.Operation, input reflect.Type, schemas huma.Registry) {
	for _, p := range parametersOf(input, schemas, nil) {
		if !slices.ContainsFunc(o.Parameters, func(q *huma.Param) bool { return q.Name == p.Name && q.In == p.In }) {
			o.Parameters = append(o.Parameters, p.Param)
		}
	}
	f, ok := input.FieldByName(bodyField)
	if !ok {
		return
	}
	name := input.Name() + bodyField
	if input.Name() == "" {
		name = o.OperationID + "Request"
	}
	o.RequestBody = &huma.RequestBody{Required: f.Type.Kind() != reflect.Pointer, Content: map[string]*huma.MediaType{
		"application/json": {Schema: huma.SchemaFromField(schemas, f, name)}}}
}

// parameter is a field of an input that is a parameter.
type parameter struct {
	*huma.Param
	// at is the place of the field in the input.
	at []int
	// initial is the value of a parameter that is left out.
	initial string
}

// deepObject is the style of a parameter that takes pairs in brackets, such as metadata[order].
const deepObject = "deepObject"

// parametersOf returns the parameters of a struct that is at a place in an input.
func parametersOf(t reflect.Type, schemas huma.Registry, at []int) (all []parameter) {
	for i := range t.NumField() {
		f, at := t.Field(i), append(slices.Clone(at), i)
		if !f.IsExported() {
			continue
		}
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			all = append(all, parametersOf(f.Type, schemas, at)...)
			continue
		}
		for _, in := range []string{"path", "query", "header"} {
			name, style, _ := strings.Cut(f.Tag.Get(in), ",")
			if name == "" {
				continue
			}
			form := huma.SchemaFromField(schemas, f, "")
			p := &huma.Param{Name: name, In: in, Style: style, Schema: form, Description: form.Description,
				Required: in == "path" || f.Tag.Get("required") == "true"}
			if in == "query" {
				p.Explode = new(bool) // a list has commas
			}
			all = append(all, parameter{p, at, f.Tag.Get("default")})
		}
	}
	return all
}

// Reader reads the calls of an operation.
type Reader struct {
	input      reflect.Type
	schemas    huma.Registry
	parameters []parameter
	body       reflect.StructField
	checker    *schema.Checker // of the body, nil if there is none
	// defaults has the types of the body, and whether their fields may have defaults.
	defaults map[reflect.Type]bool
}

// NewReader returns a reader of calls of an operation with a type of input. The body is a merge patch or not, and known
// is what is known of the resource. Making the schemas takes a good part of a function's start: call it for operations
// that are called.
func NewReader(input reflect.Type, patch bool, known schema.ResourceInfo) *Reader {
	r := &Reader{input: input, schemas: schema.NewRegistry(), defaults: map[reflect.Type]bool{}}
	r.parameters = parametersOf(input, r.schemas, nil)
	for _, p := range r.parameters {
		schema.Fill(p.Schema)
	}
	if body, ok := input.FieldByName(bodyField); ok {
		s := huma.SchemaFromField(r.schemas, body, bodyField)
		r.body, r.checker = body, schema.NewChecker(r.schemas, s, patch, known)
		r.findDefaults(body.Type)
	}
	return r
}

// Read returns a pointer to the input of a call with a body, of which tree is the parsed form. All faults of the call
// are in one error.
func (r *Reader) Read(req *http.Request, body []byte, tree any) (any, error) {
	in, query := reflect.New(r.input), req.URL.Query()
	var faults []errs.Detail
	for _, p := range r.parameters {
		found := r.set(in.Elem().FieldByIndex(p.at), p, req, query)
		if len(found) > 0 && p.In == "path" {
			// An address with another value than ids and numbers names nothing.
			return nil, errs.New(errs.NotFound, "The path names nothing: %s %s.", p.Name, found[0].Message)
		}
		faults = append(faults, found...)
	}
	faults = append(faults, misnamed(query, r.parameters)...)
	if r.checker != nil && len(body) > 0 {
		found := r.checker.Check(tree)
		if faults = append(faults, found...); len(faults) > 0 {
			faults = r.checker.AddRules(r.body.Type, tree, faults)
		}
		// A body that does not fit its schema is not decoded: its types could take thousands of times its bytes.
		if len(found) == 0 {
			faults = append(faults, r.decode(in.Elem().FieldByIndex(r.body.Index), body, tree)...)
		}
	}
	if len(faults) > 0 {
		return nil, schema.Invalid(faults)
	}
	return in.Interface(), nil
}

// set sets the field of a parameter to what a call sends, and returns the faults of that.
func (r *Reader) set(field reflect.Value, p parameter, req *http.Request, query url.Values) []errs.Detail {
	var value any
	var fault string
	if p.Style == deepObject {
		value = setPairs(field, p.Name, query)
	} else if sent := cmp.Or(p.sent(req, query), p.initial); sent != "" {
		value, fault = parse(field, sent)
	} else if p.Required {
		fault = "required " + p.In + " parameter is missing"
	}
	switch {
	case fault != "":
		return []errs.Detail{{Param: p.Name, Message: fault}}
	case value == nil:
		return nil
	}
	path, result := huma.NewPathBuffer(nil, 0), huma.ValidateResult{}
	path.Push(p.Name)
	huma.Validate(r.schemas, p.Schema, path, huma.ModeWriteToServer, value, &result)
	var faults []errs.Detail
	for _, err := range result.Errors {
		d := err.(huma.ErrorDetailer).ErrorDetail()
		name, _, _ := strings.Cut(d.Location, "[") // which of several values it is
		faults = append(faults, errs.Detail{Param: name, Message: schema.Refine(d.Message, d.Value)})
	}
	return faults
}

// sent returns the text that a call sends, or "".
func (p parameter) sent(req *http.Request, query url.Values) string {
	switch p.In {
	case "path":
		return req.PathValue(p.Name)
	case "header":
		return req.Header.Get(p.Name)
	default:
		return query.Get(p.Name)
	}
}

// parse sets a field to the value of a text, and returns the value as huma checks it, or what is wrong with it.
func parse(field reflect.Value, sent string) (value any, fault string) {
	switch field.Kind() {
	case reflect.String:
		field.SetString(sent)
		return sent, ""
	case reflect.Slice:
		values := strings.Split(sent, ",")
		field.Set(reflect.MakeSlice(field.Type(), len(values), len(values)))
		for i, one := range values {
			field.Index(i).SetString(one)
		}
		return values, ""
	case reflect.Int:
		n, err := strconv.ParseInt(sent, 10, 64)
		if err != nil {
			return nil, validation.MsgExpectedInteger
		}
		field.SetInt(n)
		return n, ""
	case reflect.Float64:
		n, err := strconv.ParseFloat(sent, 64)
		if err != nil {
			return nil, validation.MsgExpectedNumber
		}
		field.SetFloat(n)
		return n, ""
	case reflect.Bool:
		is, err := strconv.ParseBool(sent)
		if err != nil {
			return nil, validation.MsgExpectedBoolean
		}
		field.SetBool(is)
		return is, ""
	}
	at, ok := field.Addr().Interface().(*time.Time)
	if !ok {
		panic("input: a parameter or a default cannot have the type " + field.Type().String())
	}
	var err error
	if *at, err = time.Parse(time.RFC3339Nano, sent); err != nil {
		return nil, schema.MustBeTime + "; in a URL, write + as %2B"
	}
	return sent, ""
}

// memberOf returns the object and the member that the name of a parameter names, such as metadata[order]. The name of
// the member goes to the last bracket, so that it may have brackets itself: metadata[a[b]]. An object in an object, as
// metadata[a][b] would be, has no members.
func memberOf(name string) (object, member string, ok bool) {
	object, member, ok = strings.Cut(name, "[")
	member, closed := strings.CutSuffix(member, "]")
	return object, member, ok && closed && member != "" && !strings.Contains(member, "][")
}

// setPairs sets a field to the pairs of a parameter that takes them in brackets, and returns them as a parsed body has
// them, or nil if there are none.
func setPairs(field reflect.Value, parameter string, query url.Values) any {
	tree := map[string]any{}
	for name, values := range query {
		object, member, ok := memberOf(name)
		if !ok || object != parameter {
			continue
		}
		if field.IsNil() {
			field.Set(reflect.MakeMap(field.Type()))
		}
		field.SetMapIndex(reflect.ValueOf(member), reflect.ValueOf(values[0]))
		tree[member] = values[0]
	}
	if len(tree) == 0 {
		return nil
	}
	return tree
}

// The faults of parameters that are reported, and the length of a name in them: a query may have thousands.
const (
	mostParameters = 20
	mostName       = 64
)

// misnamed returns the first faults in the names of the parameters of a query, repeated parameters, and empty ones.
func misnamed(query url.Values, all []parameter) (found []errs.Detail) {
	var names, objects, lists []string
	for _, p := range all {
		switch {
		case p.In != "query":
		case p.Style == deepObject:
			names, objects = append(names, p.Name+"[…]"), append(objects, p.Name)
		default:
			names = append(names, p.Name)
		}
		if p.Schema.Type == huma.TypeArray {
			lists = append(lists, p.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if len(found) == mostParameters {
			break
		}
		object, _, isMember := memberOf(name)
		p := errs.Detail{Param: text.ClipText(name, mostName)}
		switch values := query[name]; {
		case slices.Contains(objects, name):
			p.Message = "takes the name of a pair in brackets: " + name + "[order]=4711"
		case !slices.Contains(names, name) && !(isMember && slices.Contains(objects, object)):
			p.Message = schema.Unknown("is not a parameter of this operation", p.Param, "It takes ", names)
		case len(values) > 1:
			p.Message = "is sent more than once"
			if slices.Contains(lists, name) { // as clients do that do not read explode
				p.Message += "; send its values in one, with commas between them"
			}
		case values[0] == "":
			p.Message = "is empty; send a value, or leave it out"
		default:
			continue
		}
		found = append(found, p)
	}
	return found
}

// decode decodes a body that fits its schema, with its defaults. The faults are of what schemas do not say.
func (r *Reader) decode(body reflect.Value, sent []byte, tree any) []errs.Detail {
	err := json.Unmarshal(jsontree.Whole(sent), body.Addr().Interface())
	if err == nil {
		r.setDefaults(body)
		return nil
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" && strings.HasPrefix(wrong.Value, "number ") &&
		wrong.Type.Kind() >= reflect.Int && wrong.Type.Kind() <= reflect.Uint64 {
		// The schema takes 1e0 for an integer, but the decoder does not.
		return []errs.Detail{{Param: memberAt(strings.Split(wrong.Field, "."), tree), Message: schema.MustBeInteger}}
	}
	return []errs.Detail{{Message: err.Error()}}
}

// findDefaults notes whether a field of a type, or of a type in it, may have a default.
func (r *Reader) findDefaults(t reflect.Type) bool {
	has, known := r.defaults[t]
	if known {
		return has
	}
	r.defaults[t] = true // for a type in itself
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		has = r.findDefaults(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			has = f.IsExported() && (r.findDefaults(f.Type) || f.Tag.Get("default") != "") || has
		}
	}
	r.defaults[t] = has
	return has
}

// setDefaults sets the fields of a value that a body left out to their defaults.
func (r *Reader) setDefaults(v reflect.Value) {
	if !r.defaults[v.Type()] {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			r.setDefaults(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			r.setDefaults(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			if initial := f.Tag.Get("default"); initial != "" && v.Field(i).IsZero() {
				parse(v.Field(i), initial)
			}
			r.setDefaults(v.Field(i))
		}
	}
}

// memberAt turns the path of a struct's field, as package json writes it, into a JSON pointer. The path names embedded
// structs, which are not members of the body, and omits the indexes of lists: if several items have the field, the
// pointer ends at their list.
func memberAt(path []string, sent any) string {
	if len(path) == 0 {
		return ""
	}
	switch v := sent.(type) {
	case map[string]any:
		if next, ok := v[path[0]]; ok {
			return "/" + jsontree.Escape(path[0]) + memberAt(path[1:], next)
		}
		return memberAt(path[1:], v)
	case []any:
		last, found, times := path[len(path)-1], "", 0
		for i, item := range v {
			if place := memberAt(path, item); strings.HasSuffix(place, "/"+jsontree.Escape(last)) {
				found, times = "/"+strconv.Itoa(i)+place, times+1
			}
		}
		if times == 1 {
			return found
		}
	}
	return ""
}
