package fal

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/content-automation/api/testdata/providers/sample"
)

// detail is one error in an input.
type detail struct {
	Loc  []string `json:"loc"`
	Msg  string   `json:"msg"`
	Type string   `json:"type"`
}

// schema describes the input and the output of a model.
type schema struct {
	kind   string
	named  string // the member of the result with the file
	prompt string // the member with the prompt; "-" if there is none
	fields fields
}

// fields are the members of an input.
type fields map[string]field

// field is a member of an input.
type field struct {
	required bool
	check    check
}

// check returns the error in a value, or "".
type check func(v any) string

// and returns the fields with more added.
func (f fields) and(more fields) fields {
	all := maps.Clone(f)
	maps.Copy(all, more)
	return all
}

// need returns a field that is required.
func need(check check) field { return field{true, check} }

// maybe returns a field that is optional.
func maybe(check check) field { return field{false, check} }

// check returns the errors in an input. Unlike the real models, it also refuses unknown
// members.
func (s schema) check(input map[string]any) []detail {
	return s.fields.check([]string{"body"}, input)
}

func (f fields) check(at []string, input map[string]any) (wrong []detail) {
	for _, name := range slices.Sorted(maps.Keys(input)) {
		here := append(slices.Clone(at), name)
		field, ok := f[name]
		if !ok {
			wrong = append(wrong, detail{here, "Extra inputs are not permitted", "extra_forbidden"})
			continue
		}
		if msg := field.check(input[name]); msg != "" {
			kind := "value_error"
			if strings.Contains(fmt.Sprint(input[name]), unsafe) {
				kind = "content_policy_violation"
			}
			wrong = append(wrong, detail{here, msg, kind})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if _, ok := input[name]; f[name].required && !ok {
			wrong = append(wrong, detail{append(slices.Clone(at), name), "Field required", "missing"})
		}
	}
	return wrong
}

// unsafe is a text that the content filter finds.
const unsafe = "[unsafe]"

// text returns a check for a text with a length within bounds.
func text(least, most int) check {
	return func(v any) string {
		s, ok := v.(string)
		if n := utf8.RuneCountInString(s); !ok || n < least || n > most {
			return fmt.Sprintf("Input should be a string of %d to %d characters", least, most)
		}
		if strings.Contains(s, unsafe) {
			return "The content could not be processed because it contained material flagged by a content checker"
		}
		return ""
	}
}

// oneOf returns a check for one of some texts.
func oneOf(values ...string) check {
	return func(v any) string {
		if s, ok := v.(string); !ok || !slices.Contains(values, s) {
			return fmt.Sprintf("Input should be %s", strings.Join(values, ", "))
		}
		return ""
	}
}

// number returns a check for a whole number within bounds.
func number(least, most float64) check {
	return func(v any) string {
		if n, ok := v.(float64); !ok || n != math.Trunc(n) || n < least || n > most {
			return fmt.Sprintf("Input should be an integer of %v to %v", least, most)
		}
		return ""
	}
}

// flag is a check for true or false.
func flag(v any) string {
	if _, ok := v.(bool); !ok {
		return "Input should be a valid boolean"
	}
	return ""
}

// address is a check for the address of a readable file.
func address(v any) string {
	s, ok := v.(string)
	u, err := url.Parse(s)
	if !ok || err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return "Input should be a valid URL"
	}
	return ""
}

// object returns a check for an object with the fields.
func object(f fields) check {
	return func(v any) string {
		o, ok := v.(map[string]any)
		if !ok {
			return "Input should be an object"
		}
		if wrong := f.check(nil, o); wrong != nil {
			return fmt.Sprintf("%s: %s", strings.Join(wrong[0].Loc, "."), wrong[0].Msg)
		}
		return ""
	}
}

// list returns a check for a list of one or more values that pass a check.
func list(each check) check {
	return func(v any) string {
		items, ok := v.([]any)
		if !ok || len(items) == 0 {
			return "Input should be a list"
		}
		for _, item := range items {
			if msg := each(item); msg != "" {
				return msg
			}
		}
		return ""
	}
}

// size returns a check for the name of a size, or for a width and a height. Both must be
// multiples of a step, and their product must be within bounds.
func size(step int, least, most float64) check {
	preset := oneOf("square_hd", "square", "portrait_4_3", "portrait_16_9", "landscape_4_3", "landscape_16_9")
	edge := number(64, 4096)
	return func(v any) string {
		if _, ok := v.(string); ok {
			return preset(v)
		}
		if msg := object(fields{"width": need(edge), "height": need(edge)})(v); msg != "" {
			return msg
		}
		o := v.(map[string]any)
		w, h := o["width"].(float64), o["height"].(float64)
		if math.Mod(w, float64(step)) != 0 || math.Mod(h, float64(step)) != 0 || w*h < least || w*h > most {
			return fmt.Sprintf("%v x %v is no multiple of %d with %v to %v pixels", w, h, step, least, most)
		}
		return ""
	}
}

// promptOf returns the prompt of an input.
func (s schema) promptOf(input map[string]any) string {
	name := s.prompt
	if name == "" {
		name = "prompt"
	}
	switch v := input[name].(type) {
	case string:
		return v
	case []any: // a dialogue
		var said []string
		for _, item := range v {
			if o, ok := item.(map[string]any); ok {
				said = append(said, fmt.Sprint(o["text"]))
			}
		}
		return strings.Join(said, "\n")
	}
	return ""
}

// output returns the output for an input.
func (s schema) output(input map[string]any) output {
	o := output{kind: s.kind, named: s.named, ratio: shapeOf(input), count: 1,
		length: lengthOf(s.kind, input, s.promptOf(input))}
	if n, ok := input["num_images"].(float64); ok {
		o.count = int(n)
	}
	if _, speaks := s.fields["output_format"]; speaks && s.kind == sample.Voice {
		o.hex = input["output_format"] != "url"
	}
	return o
}
