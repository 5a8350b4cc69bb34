package console

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/httpapi/jsontree"
)

// input is an input of a form. It fills a member of the body of the API, whose limits are those of the document.
type input struct {
	// Name is its name, Member the path of the member, and Label and Help say what it is.
	Name, Member, Label, Help string
	// Kind is what it looks like: one of the kinds below. Holder is an example, and Usual the value of a new form.
	Kind, Holder, Usual string
	// Choices are the values of a choice. Of makes them of what the page has read, and None is the choice of none.
	Choices []choice
	Of      func(to map[string]any) []choice
	None    string
	// Examples are shown below it, each with a text.
	Examples []choice
	// For is the trigger for which it counts, if it does not always. Counts reports whether it counts in a form.
	For    string
	Counts func(draft) bool
	// Must reports that the area asks for it although the API does not, and Free that it may be empty although some
	// bodies of the API need it.
	Must, Free bool
	// Wide reports that it takes a line of its own in a form of two columns, and Short that others are beside it.
	Wide, Short bool
	// Added and Removed tell what a change adds to a list, and what it removes.
	Added, Removed string
	limit
}

// The kinds of inputs. One without a kind is a text in a line.
const (
	asURL     = "url"
	asSecret  = "password"
	asEmail   = "email"
	asArea    = "area"
	asDigits  = "digits" // a whole number in a text, which may be empty
	asNumber  = "number" // a whole number
	asSelect  = "select"
	asRadio   = "radio"
	asEvents  = "events"  // patterns of events
	asScopes  = "scopes"  // scopes of a key by resource
	asBoxes   = "boxes"   // some of several values
	asWords   = "words"   // words with commas or spaces between them
	asDate    = "date"    // the time at which a day begins in UTC
	asTime    = "time"    // a time of day
	asCountry = "country" // one of all countries
	asZone    = "zone"    // a time zone
	asJSON    = "json"    // a member as JSON
	asPairs   = "pairs"   // a line for each name with its value: name = value
	asOwn     = "own"     // as the template of the form draws it
)

// form is a form by which people make or change a resource.
type form[T any] struct {
	// Title heads it, and Verb is on its button. Lead is below its title.
	Title, Verb string
	Inputs      []input
	// Template is its template, if it shows more than its inputs. Inline: the form is on the list.
	Template string
	Inline   bool
	// Recent: it needs a recent sign-in. Review: it lists its changes before they are saved.
	Recent, Review bool
	// Add adds what its template needs, Fill what no input fills in the body of a new resource, or what to mend.
	Add  func(r *request, v *view, to map[string]any) error
	Fill func(r *request, d draft, body map[string]any) fieldErrors
	// Patch returns the change, if it is none of inputs. Method is PUT for a form that sets the resource as a whole.
	Patch  func(r *request) map[string]any
	Method string
	// At ends the path of the form, if it is not "/new".
	At string
	// Anew is the name of buttons that only show the form again with what they choose.
	Anew string
	// Made shows a new resource, in place of its page.
	Made func(r *request, made T) error
	// Fixed are inputs that cannot be changed in a resource, with what is shown of them.
	Fixed func(one T) map[string]choice
	// Effects say what follows from a change.
	Effects func(patch map[string]any) []string
	call    string // the method and the path of the API
}

// limit is what the document says of a member.
type limit struct {
	Required    bool
	Least, Most string // of a number
	MaxLength   string // of a text
}

// The file has a line for each input of a declared form: the call, the member, and its limits. A test writes it.
//
//go:embed limits.tsv
var limitFile string

// limits are the limits of members by their calls and paths.
var limits = sync.OnceValue(func() map[[2]string]limit {
	all := map[[2]string]limit{}
	for line := range strings.Lines(limitFile) {
		if p := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(p) == 6 {
			all[[2]string{p[0], p[1]}] = limit{p[2] == "required", p[3], p[4], p[5]}
		}
	}
	return all
})

// draft is what a form has, by the names of its inputs.
type draft map[string][]string

func (d draft) Get(name string) string {
	if len(d[name]) == 0 {
		return ""
	}
	return d[name][0]
}

func (f *form[T]) fixed(one T) map[string]choice {
	if f.Fixed == nil {
		return nil
	}
	return f.Fixed(one)
}

// sent returns what the person has entered. A form that was not sent has the usual values.
func (f *form[T]) sent(r *request) draft {
	_ = r.ParseForm() // a form that cannot be read is empty
	d := draft{}
	for _, in := range f.Inputs {
		values := r.Form[in.Name]
		switch in.Kind {
		case asWords:
			values = strings.Fields(strings.ReplaceAll(strings.Join(values, " "), ",", " "))
		case asScopes:
			values = chosenScopes(r)
		}
		if r.Form.Has(in.Name) {
			d[in.Name] = nil
		}
		for _, value := range values {
			switch value = strings.TrimSpace(value); in.Kind {
			case asJSON:
				value = indented(value)
			case asCountry:
				value = strings.ToUpper(value)
			}
			if id, err := r.resolve(in.Name, value); err == nil && id != value {
				value = id
				r.Form.Set(in.Name, id) // the form shows its name if it is shown again
			}
			if value != "" {
				d[in.Name] = append(d[in.Name], value)
			}
		}
		if in.Usual != "" && r.Method == http.MethodGet && d[in.Name] == nil {
			d[in.Name] = []string{in.Usual}
		}
	}
	return d
}

// of returns the form of a resource as it is.
func (f *form[T]) of(one T) draft {
	d := draft{}
	for _, in := range f.Inputs {
		switch d[in.Name] = textsAt(one, in.Member); {
		case in.Kind == asPairs && len(d[in.Name]) > 0:
			d[in.Name] = []string{strings.Join(d[in.Name], "\n")}
		case in.Kind == asJSON:
			text, _ := json.Marshal(within(treeOf(one), in.Member)) // it was JSON
			d[in.Name] = []string{indented(string(text))}
		}
	}
	return d
}

// indented returns JSON with a line for each member, in the order of their names. Other text stays as it is.
func indented(text string) string {
	value, err := jsontree.Parse([]byte(text))
	if err != nil {
		return text
	}
	b, _ := json.MarshalIndent(value, "", "  ") // it was JSON
	return string(b)
}

// whole returns the body of a form that sets a resource as a whole.
func (f *form[T]) whole(r *request, d draft) (body map[string]any, found fieldErrors) {
	body, found = f.body(d)
	if found == nil && f.Fill != nil {
		found = f.Fill(r, d, body)
	}
	return body, found
}

// pairs reads lines of names and values. It reports false if a line has none.
func pairs(text string) (map[string]any, bool) {
	all := map[string]any{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if name, value = strings.TrimSpace(name), strings.TrimSpace(value); !ok || name == "" || value == "" {
			return nil, false
		}
		all[name] = value
	}
	return all, true
}

// counts reports whether an input counts: that of another trigger does not.
func (d draft) counts(in input) bool {
	return (in.For == "" || in.For == d.Get("trigger")) && (in.Counts == nil || in.Counts(d))
}

// shown returns values as the form shows them: a time as its day.
func (in input) shown(values []string) []string {
	if in.Kind != asDate || len(values) == 0 {
		return values
	}
	return []string{values[0][:min(len(values[0]), len(time.DateOnly))]}
}

// value returns the value of an input for the API, or nil without one, and whether it can be read.
func (f *form[T]) value(d draft, in input) (value any, ok bool) {
	switch text := d.Get(in.Name); {
	case text == "" && slices.Contains([]string{asNumber, asEvents, asScopes}, in.Kind):
		return nil, false
	case text != "" && slices.Contains([]string{asEvents, asScopes, asBoxes, asWords}, in.Kind):
		return d[in.Name], true
	case text == "" && !in.Free && limits()[[2]string{f.call, in.Member}].Required:
		return "", true // the API says what it lacks
	case text == "":
		return nil, true
	case in.Kind == asPairs:
		return pairs(text)
	case in.Kind == asJSON:
		value, err := jsontree.Parse([]byte(text))
		return value, err == nil
	case in.Kind == asDigits, in.Kind == asNumber:
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil
	case in.Kind == asDate && len(text) <= len(time.DateOnly):
		day, err := time.Parse(time.DateOnly, text)
		return day.Format(time.RFC3339), err == nil
	default:
		return text, true
	}
}

// body returns the members that a form fills, without those that have no value.
func (f *form[T]) body(d draft) (body map[string]any, found fieldErrors) {
	body = map[string]any{}
	for _, in := range f.Inputs {
		value, ok := f.value(d, in)
		switch {
		case !d.counts(in) || in.Member == "":
		case !ok && in.Kind == asJSON:
			_, err := jsontree.Parse([]byte(d.Get(in.Name)))
			return nil, about(in.Name, err.Error())
		case !ok:
			return nil, about(in.Name, mends["/"+in.Member].text)
		case value != nil:
			at, names := body, strings.Split(in.Member, "/")
			for _, name := range names[:len(names)-1] {
				if at[name] == nil {
					at[name] = map[string]any{}
				}
				at, _ = at[name].(map[string]any) // it was made above
			}
			at[names[len(names)-1]] = value
		}
	}
	return body, nil
}

// patch returns the members of the body that a form changes. A member within another one changes it as a whole.
func (f *form[T]) patch(before, d draft) (patch map[string]any, found fieldErrors) {
	for _, in := range f.Inputs {
		if in.Kind == asDate && f.same(in, before, d) {
			d[in.Name] = before[in.Name] // which may have a time of day
		}
	}
	body, found := f.body(d)
	if found != nil {
		return nil, found
	}
	patch = map[string]any{}
	for _, in := range f.Inputs {
		if f.same(in, before, d) {
			continue
		}
		path := strings.Split(in.Member, "/")
		patch[path[0]] = body[path[0]]
		remove(patch, path)
		if in.Kind == asJSON {
			was, _ := jsontree.Parse([]byte(before.Get(in.Name))) // it is that of the resource
			removed(was, patch[path[0]])
		}
	}
	return patch, nil
}

// removed sets what an object has no more to null in the one that replaces it, as a merge patch needs it.
func removed(was, now any) {
	before, _ := was.(map[string]any)
	after, isObject := now.(map[string]any)
	for name, value := range before {
		if _, has := after[name]; has {
			removed(value, after[name])
		} else if isObject {
			after[name] = nil
		}
	}
}

// remove sets the first member of a path that has no value to null.
func remove(at map[string]any, path []string) {
	for _, name := range path {
		inner, _ := at[name].(map[string]any)
		if at[name] == nil {
			at[name] = nil
		}
		if inner == nil {
			return
		}
		at = inner
	}
}

// same reports whether a form does not change an input. A secret that is left empty stays.
func (f *form[T]) same(in input, before, d draft) bool {
	return in.Member == "" || !d.counts(in) || in.Kind == asSecret && d.Get(in.Name) == "" ||
		slices.Equal(slices.Sorted(slices.Values(in.shown(before[in.Name]))),
			slices.Sorted(slices.Values(in.shown(d[in.Name]))))
}

// proposal lists the changes of a form in words.
func (f *form[T]) proposal(v *view, subject string, before, d draft, patch map[string]any) proposal {
	p := proposal{Title: f.Title, Subject: subject, Active: v.Active}
	for _, in := range f.Inputs {
		switch {
		case f.same(in, before, d):
			continue
		case in.Added != "":
			p.Changes = changedSet(v, p.Changes, in.Added, in.Removed, before[in.Name], d[in.Name])
		default:
			p.Changes = append(p.Changes, v.T(in.Label)+": "+in.words(v, before)+" → "+in.words(v, d))
		}
	}
	if f.Effects != nil {
		for _, text := range f.Effects(patch) {
			p.Effects = append(p.Effects, v.T(text))
		}
	}
	return p
}

// words returns what a form has in an input, in words.
func (in input) words(v *view, d draft) string {
	if d.Get(in.Name) == "" {
		return v.T(cmp.Or(in.None, "None"))
	}
	if day, err := time.Parse(time.DateOnly, strings.Join(in.shown(d[in.Name]), "")); in.Kind == asDate && err == nil {
		return v.Day(day)
	}
	return strings.Join(d[in.Name], ", ")
}

// shownForm is a form as its template shows it.
type shownForm struct {
	Title, Verb, Action, Version string
	Inputs                       []shownInput
}

func (s shownForm) Input(name string) shownInput {
	for _, in := range s.Inputs {
		if in.Name == name {
			return in
		}
	}
	return shownInput{}
}

// Within returns the inputs whose members are within another one.
func (s shownForm) Within(member string) (some []shownInput) {
	for _, in := range s.Inputs {
		if strings.HasPrefix(in.Member, member+"/") {
			some = append(some, in)
		}
	}
	return some
}

// shownInput is an input with its values.
type shownInput struct {
	input
	Values []string
	// Fixed is shown in place of an input that cannot be changed.
	Fixed *choice
}

// Value returns what an input in a line has.
func (s shownInput) Value() string {
	if s.Kind == asWords {
		return strings.Join(s.Values, ", ")
	}
	return draft{"": s.Values}.Get("")
}

// Type returns the type of an input in a line, if it is no text.
func (s shownInput) Type() string {
	if slices.Contains([]string{asURL, asSecret, asEmail, asNumber, asDate, asTime}, s.Kind) {
		return s.Kind
	}
	return ""
}

// Needed reports whether the browser asks for a value.
func (s shownInput) Needed() bool { return s.Must || s.Required && !s.Free && s.For == "" }

// box is a box of an input.
type box struct {
	Name string
	choice
	Chosen bool
}

// Box returns the box of a choice, and Profile that of a profile.
func (s shownInput) Box(c choice) box { return box{s.Name, c, s.Chosen(c.Value)} }

func (s shownInput) Profile(of named) box { return s.Box(choice{of.ID, of.Name}) }

func (s shownInput) Chosen(value string) bool { return slices.Contains(s.Values, value) }

// Single reports whether a single type of events is chosen.
func (s shownInput) Single() bool {
	return slices.ContainsFunc(s.Values, func(t string) bool { return !strings.HasSuffix(t, "*") })
}

// Patterns are the types of events that the form offers, and Types are all of them.
func (shownInput) Patterns() []string { return patterns }

// Types are the types of events by area, for people who want single ones.
func (shownInput) Types() []string { return eventTypes }

// shown returns the form with what it has.
func (f *form[T]) shown(action, version string, d draft, to map[string]any) shownForm {
	s := shownForm{Title: f.Title, Verb: f.Verb, Action: action, Version: version}
	for _, in := range f.Inputs {
		if in.Of != nil {
			in.Choices = in.Of(to)
		}
		if in.Member != "" {
			in.limit = limits()[[2]string{f.call, in.Member}]
		}
		s.Inputs = append(s.Inputs, shownInput{input: in, Values: in.shown(d[in.Name])})
	}
	return s
}

// treeOf returns a resource as the API writes it.
func treeOf(one any) (tree any) {
	text, err := json.Marshal(one)
	if err == nil {
		err = json.Unmarshal(text, &tree)
	}
	if err != nil {
		return nil
	}
	return tree
}

// textAt returns the text of a member, or an empty one.
func textAt(one any, member string) string { return draft{"": textsAt(one, member)}.Get("") }

// textsAt returns the texts of a member of a resource.
func textsAt(one any, member string) []string {
	return textsOf(within(treeOf(one), member))
}

// within returns the value at a path of a resource, or nil.
func within(tree any, path string) any {
	for name := range strings.SplitSeq(path, "/") {
		of, _ := tree.(map[string]any)
		tree = of[name]
	}
	return tree
}

func textsOf(value any) (all []string) {
	switch v := value.(type) {
	case string:
		if v != "" {
			all = []string{v}
		}
	case float64:
		all = []string{strconv.FormatFloat(v, 'f', -1, 64)}
	case []any:
		for _, one := range v {
			all = append(all, textsOf(one)...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			for _, text := range textsOf(v[name]) {
				all = append(all, name+" = "+text)
			}
		}
	}
	return all
}
