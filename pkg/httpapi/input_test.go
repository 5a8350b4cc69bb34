package httpapi_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/httpapi/input"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
	"github.com/content-automation/api/pkg/httpapi/schema"
	"github.com/content-automation/api/pkg/record/resource"
)

type inner struct {
	Size  int `json:"size" minimum:"1"`
	Extra int `json:"extra,omitempty"`
}

type sent struct {
	Name   string             `json:"name" minLength:"1"`
	Title  string             `json:"title,omitempty" format:"not-blank"`
	Note   *string            `json:"note,omitempty" nullable:"true"`
	At     time.Time          `json:"at,omitempty"`
	Inner  *inner             `json:"inner,omitempty"`
	Tags   []string           `json:"tags,omitempty"`
	Labels resource.Metadata  `json:"labels,omitempty"`
	Lines  map[string]inner   `json:"lines,omitempty"`
	Any    map[string]*string `json:"any,omitempty"`
	Mood   string             `json:"mood,omitempty" enum:"good,bad"`
	Line   string             `json:"line,omitempty" format:"line"`
	Once   []string           `json:"once,omitempty" uniqueItems:"true"`
	Part   float64            `json:"part,omitempty" multipleOf:"0.001"`
	Many   []outer            `json:"many,omitempty"`
}

// Bound is embedded, so that it is a part of the paths of package json.
type Bound struct {
	Most int `json:"most,omitempty"`
}

type outer struct{ Bound }

type call struct {
	Since time.Time `query:"since"`
	Body  sent
}

// Rules refuses a title that is the name.
func (s sent) Rules() error {
	if s.Title != "" && s.Title == s.Name {
		return errs.InvalidFields(errs.Detail{Param: "/title", Message: "must not be the name"},
			errs.Detail{Param: "/inner/size", Message: "must be 7"})
	}
	return nil
}

// resourceLike is the resource of the operation.
type resourceLike struct {
	sent
	ID    string `json:"id"`
	State string `json:"state"`
}

// serve reads a call with the body and query, and returns the body of its input, or what is wrong with the call.
func serve(t *testing.T, method, query, body string) (got *sent, refused string) {
	t.Helper()
	r := input.NewReader(reflect.TypeFor[call](), method == http.MethodPatch, schema.ResourceInfo{
		Answer: reflect.TypeFor[resourceLike](), FixedMembers: map[string]string{"state": "cancel it instead"}})
	in, refused := read(t, r, method, query, body)
	if in == nil {
		return nil, refused
	}
	return &in.(*call).Body, ""
}

func read(t *testing.T, r *input.Reader, method, query, body string) (in any, refused string) {
	t.Helper()
	var tree any
	if body != "" {
		var err error
		if tree, err = jsontree.Parse([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	in, err := r.Read(httptest.NewRequest(method, "/x?"+query, nil), []byte(body), tree)
	if err == nil {
		return in, ""
	}
	e := errs.As(err)
	if len(e.Details) == 0 {
		return nil, e.Message
	}
	var details []string
	for _, d := range e.Details {
		details = append(details, d.Param+" "+d.Message)
	}
	return nil, strings.Join(details, " | ")
}

const members = "The members are any, at, inner, labels, line, lines, many, mood, name, note, once, part, tags, title"

func TestRefusalsAreTranslated(t *testing.T) {
	for _, c := range []struct{ query, body, want string }{
		{"", `{}`, "/name is required"},
		{"", `{"name":"a","inner":{}}`, "/inner/size is required"},
		{"", `[]`, " The body must be one JSON object, not an array"},
		{"", `null`, " The body must be one JSON object, not null"},
		{"", `{"name":"a","nam":1}`, "/nam is not a member; did you mean name? " + members},
		{"", `{"name":"a","Title":"x"}`, "/Title is not a member; did you mean title? " + members},
		{"", `{"name":"a","at":"noon"}`, "/at " + schema.MustBeTime},
		{"", `{"name":"a","at":"2026-05-01t12:00:00z"}`, "/at " + schema.MustBeTime + ", with T and Z in capital letters"},
		{"since=noon", `{"name":"a"}`, "since " + schema.MustBeTime + "; in a URL, write + as %2B"},
		{"sinc=1", `{"name":"a"}`, "sinc is not a parameter of this operation; did you mean since? It takes since"},
		{"", `{"name":"a","inner":{"size":2e0}}`, "/inner/size must be an integer, written without fraction and " +
			"exponent"},
		{"", `{"name":"a","many":[{},{"most":2e0}]}`, "/many/1/most must be an integer, written without fraction and " +
			"exponent"},
		{"", `{"name":"a","many":[{"most":1},{"most":2e0}]}`, "/many must be an integer, written without fraction " +
			"and exponent"},
		{"", `{"name":""}`, "/name must not be empty"},
		{"", `{"name":"a","tags":[1]}`, "/tags/0 must be a string, not a number"},
		{"", `{"name":"a","labels":{"k.l[0]":"` + strings.Repeat("x", 501) + `"}}`,
			"/labels/k.l[0] is too long: the longest length is 500"},
		{"", `{"name":"a","lines":{"x":{"size":0}}}`, "/lines/x/size must be at least 1"},
		{"since=noon", `{"name":1}`, "since " + schema.MustBeTime + "; in a " +
			"URL, write + as %2B | /name must be a string, not a number"},
		{"", `{"name":" "}`, "/name must not be blank"},
		{"", `{"z":1,"nam":1,"name":"a","b":1}`, "/b is not a member. " + members +
			" | /nam is not a member; did you mean name? " + members + " | /z is not a member. " + members},
		{"", `{"name":"a","inner":{"siz":1}}`, "/inner/size is required | /inner/siz is not a member; did you mean " +
			"size? The members are extra, size"},
		{"", `{"name":"a","lines":{"a/b":{"size":1,"sizes":2}}}`, "/lines/a~1b/sizes is not a member; did you mean " +
			"size? The members are extra, size"},
		{"", `{"name":"a","id":"x","state":"y"}`, "/id cannot be set here; leave it out | /state cannot be set here: " +
			"cancel it instead"},
		{"", `{"name":"a","inner":{"size":"2"}}`, "/inner/size must be an integer, not a string"},
		{"", `{"name":"a","inner":{"size":2.5}}`, "/inner/size must be an integer, written without fraction and " +
			"exponent"},
		{"", `{"name":" ","tags":[null],"title":7}`, "/tags/0 must be a string, not null | /title must be a string, " +
			"not a number | /name must not be blank"},
		{"", `{"name":"a","once":["x","y","x"]}`, "/once must not list a value twice"},
		{"", `{"name":"a","once":[{"a":1}]}`, "/once/0 must be a string, not an object"},
		{"", `{"name":"a","once":[[],[1],{"a":[],"b":1},{"b":1,"a":[]}]}`, "/once/0 must be a string, not an array | " +
			"/once/1 must be a string, not an array | /once/2 must be a string, not an object | /once/3 must be a " +
			"string, not an object | /once must not list a value twice"},
		{"", `{"name":"a","part":64.0005}`, "/part must be a multiple of 0.001"},
		{"", `{"name":"a","any":{"a.b":"x","c[0]":"x","\u00001":"x","d":3}}`, "/any/d must be a string, not a number | " +
			"/any must not have a name with the character U+0000"},
		{"", `{"name":"a","any":{"\u00001.[":4}}`, "/any/\x001.[ must be a string, not a number | " +
			"/any must not have a name with the character U+0000"},
		{"", `{"name":"a","a.b":1,"c":1}`, "/a.b is not a member. " + members + " | /c is not a member. " + members},
		{"", `{"name":"a","mood":"Good"}`, "/mood is not a known value; did you mean good? The values are good, bad"},
		{"", `{"name":"a","mood":"secret"}`, "/mood is not a known value. The values are good, bad"},
		{"", `{"name":"a","line":"a\nb"}`, "/line must not have control characters, such as line breaks"},
		{"", `{"name":"a","line":"a\u2028b"}`, "/line must be one line: leave out the character U+2028 or U+2029, which " +
			"separates lines"},
		{"since=", `{"name":"a"}`, "since is empty; send a value, or leave it out"},
		{"since=1&since=2&x=1", `{"nam":1,"name":2}`, "since " + schema.MustBeTime + "; in a URL, write + as %2B; is sent more than once | x is not a parameter of this " +
			"operation. It takes since | /name must be a string, not a number | /nam is not a member; did you mean " +
			"name? " + members},
		{"", `{"name":"\u3164\u2800","title":"\u115f \uffa0"}`, "/name must not be blank | /title must not be blank"},
		{"", `{"name":"\u200b","title":"\t"}`, "/name must not be blank | /title must not be blank"},
	} {
		if got, refused := serve(t, http.MethodPost, c.query, c.body); got != nil || refused != c.want {
			t.Errorf("%s %s:\n got %q\nwant %q", c.query, c.body, refused, c.want)
		}
	}
	for _, body := range []string{`{"name":"a","part":64}`, `{"name":"a","part":0.007}`, `{"name":"a","part":599.999}`,
		`{"name":"a","title":"","tags":[" "],"labels":{"k":" "}}`, `{"name":" a ","at":"2026-05-01T12:00:00+02:00"}`} {
		if got, refused := serve(t, http.MethodPost, "since=2026-05-01T12:00:00Z", body); got == nil {
			t.Errorf("%s: %s", body, refused)
		}
	}
}

// The largest body takes no longer to refuse than it takes to read it.
func TestALargeBodyIsRefusedAtOnce(t *testing.T) {
	var unknown, wrong strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&unknown, `,"k%d":1`, i)
		wrong.WriteString(",1")
	}
	for body, want := range map[string]string{
		`{"name":"a"` + unknown.String() + `}`:                    "/k0 is not a member",
		`{"name":"a","tags":[1` + wrong.String() + `]}`:           "/tags/0 must be a string, not a number",
		`{"name":"a","labels":{"a":"b"` + unknown.String() + `}}`: "/labels has too many members: the most are 20",
	} {
		began := time.Now()
		_, refused := serve(t, http.MethodPost, "", body)
		if n := strings.Count(refused, " | ") + 1; n != 100 || !strings.HasPrefix(refused, want) {
			t.Errorf("%d problems: %.300s", n, refused)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%.40s… took %s", body, took)
		}
	}
}

func TestRulesAreToldWithTheSchema(t *testing.T) {
	for body, want := range map[string]string{
		`{"name":"a","title":"a","tags":[1]}`: "/tags/0 must be a string, not a number | /title must not be " +
			"the name | /inner/size must be 7",
		`{"name":"a","title":"a","inner":{"size":0}}`: "/inner/size must be 7 | /title must not be the name",
		`{"name":"a","title":"a","inner":7}`: "/inner must be an object, not a number | /title must not be " +
			"the name",
		`{"name":"a","title":"a","at":"noon"}`: "/at " + schema.MustBeTime, // no rules apply to undecodable values
		`[]`:                                   " The body must be one JSON object, not an array",
		`{"name":"a","Title":"a"}`:             "/Title is not a member; did you mean title? " + members,
		`{"name":" ","title":" "}`: "/name must not be blank | /title must not be blank | " +
			"/inner/size must be 7",
	} {
		if _, refused := serve(t, http.MethodPost, "", body); refused != want {
			t.Errorf("%s:\n got %s\nwant %s", body, refused, want)
		}
	}
	if got, refused := serve(t, http.MethodPost, "", `{"name":"a","title":"a"}`); got == nil {
		t.Errorf("what fits the schema is left to the operation: %s", refused)
	}
	if _, refused := serve(t, http.MethodPost, "x=1", `{"name":"a","title":"a"}`); !strings.HasPrefix(refused,
		"x is not") || !strings.HasSuffix(refused, "| /title must not be the name | /inner/size must be 7") {
		t.Errorf("with a bad parameter: %s", refused)
	}
}

func TestNamesOfMetadataAreBounded(t *testing.T) {
	pairs := func(n int) map[string]string {
		m := map[string]string{}
		for i := range n {
			m[fmt.Sprint("k", i)] = "v"
		}
		return m
	}
	for name, c := range map[string]struct {
		pairs map[string]string
		ok    bool
	}{
		"none":             {nil, true},
		"twenty":           {pairs(20), true},
		"twenty-one":       {pairs(21), false},
		"a long name":      {map[string]string{strings.Repeat("ü", 40): "v"}, true},
		"a longer name":    {map[string]string{strings.Repeat("ü", 41): "v"}, false},
		"no name":          {map[string]string{"": "v"}, false},
		"a line feed":      {map[string]string{"a\nb": "v"}, false},
		"a deleted letter": {map[string]string{"a\x7f": "v"}, false},
	} {
		body, err := json.Marshal(map[string]any{"name": "a", "labels": c.pairs})
		if err != nil {
			t.Fatal(err)
		}
		if got, refused := serve(t, http.MethodPost, "", string(body)); (got != nil) != c.ok || !c.ok &&
			!strings.HasPrefix(refused, "/labels ") {
			t.Errorf("%s: %s", name, refused)
		}
	}
}

// huma takes null for a member that was left out, which in a merge patch means
// something else.
func TestAPatchRemovesOnlyWhatMayBeNull(t *testing.T) {
	if _, refused := serve(t, http.MethodPost, "", `{"name":"a","title":null}`); refused != "" {
		t.Errorf("huma refuses null by itself: %s", refused)
	}
	if _, refused := serve(t, http.MethodPatch, "",
		`{"name":"a","title":null,"note":null}`); refused != "/title must not be null: it can be changed, but not removed" {
		t.Errorf("got %q", refused)
	}
	if _, refused := serve(t, http.MethodPatch, "",
		`{"name":"a","inner":{"size":1,"extra":null},"any":{"a":null}}`); refused != "/inner/extra must not be null: it can be changed, but not removed" {
		t.Errorf("got %q", refused)
	}
	if _, refused := serve(t, http.MethodPatch, "",
		`{"name":"a","state":"x","id":1}`); refused != "/id cannot be changed | /state cannot be changed: cancel it instead" {
		t.Errorf("got %q", refused)
	}
	if _, refused := serve(t, http.MethodPatch, "", `{"name":"a","title":" "}`); refused != "/title must not be blank" {
		t.Errorf("got %q", refused)
	}
}

// A format by name holds for parameters as for members.
func TestFormatsOfParametersHold(t *testing.T) {
	type listed struct {
		Mood []string `query:"mood" format:"mood" nullable:"false"`
		Land string   `query:"land" format:"country"`
	}
	format.Define("mood", format.Format{Values: []string{"good", "bad"}})
	r := input.NewReader(reflect.TypeFor[listed](), false, schema.ResourceInfo{})
	for query, want := range map[string]string{
		"mood=good,bad&land=DE": "",
		"mood=good,odd":         "mood is not a known value. The values are good, bad",
		"land=de":               "land must be an ISO 3166-1 code of two letters",
		"land=DE&land=AT":       "land is sent more than once",
		"mood=good&mood=bad":    "mood is sent more than once; send its values in one, with commas between them",
	} {
		if in, refused := read(t, r, http.MethodGet, query, ""); refused != want || (in != nil) != (want == "") {
			t.Errorf("%s: %q", query, refused)
		}
	}
}

// counted is a body with entries that count how often they are decoded.
type counted struct {
	List []entry `json:"list" maxItems:"1"`
}

type entry int

var decoded int

func (e *entry) UnmarshalJSON([]byte) error {
	decoded++
	return nil
}

// A body is decoded to the input, and to nothing else: its tree is at hand.
func TestABodyIsDecodedOnce(t *testing.T) {
	r := input.NewReader(reflect.TypeFor[struct{ Body counted }](), false, schema.ResourceInfo{})
	decoded = 0
	if in, refused := read(t, r, http.MethodPost, "", `{"list":[1]}`); in == nil || decoded != 1 {
		t.Errorf("%d entries were decoded: %s", decoded, refused)
	}
}

// A body that does not fit its schema is not decoded: its entries could take thousands of times its bytes.
func TestARefusedBodyIsNotDecoded(t *testing.T) {
	r := input.NewReader(reflect.TypeFor[struct{ Body counted }](), false, schema.ResourceInfo{})
	decoded = 0
	if in, _ := read(t, r, http.MethodPost, "", `{"list":[1,2,3,4,5,6]}`); in != nil || decoded != 0 {
		t.Errorf("%d entries were decoded", decoded)
	}
}

// Parameters of every type are set, and what is left out gets its default.
func TestParametersAreSet(t *testing.T) {
	type mood string
	type Paged struct {
		Limit int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
		Order string `query:"order" enum:"asc,desc" default:"desc"`
	}
	type list struct {
		Paged
		Moods  []mood            `query:"mood" nullable:"false"`
		Groups []string          `query:"group_by" default:"day" nullable:"false"`
		Whole  bool              `query:"whole"`
		Since  time.Time         `query:"since"`
		Pairs  resource.Metadata `query:"metadata,deepObject"`
		Shop   string            `query:"shop" required:"true"`
	}
	r := input.NewReader(reflect.TypeFor[list](), false, schema.ResourceInfo{})
	since := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for query, want := range map[string]any{
		"shop=a": &list{Paged: Paged{20, "desc"}, Groups: []string{"day"}, Shop: "a"},
		"shop=a&limit=5&order=asc&mood=good,bad&group_by=kind&whole=true&since=2026-05-01T12:00:00Z&" +
			"metadata[a[b]]=1&metadata[c]=2": &list{Paged{5, "asc"}, []mood{"good", "bad"}, []string{"kind"}, true,
			since, resource.Metadata{"a[b]": "1", "c": "2"}, "a"},
		"": "shop required query parameter is missing",
		"limit=x&whole=x&shop=a&order=up": "limit must be an integer | order is not a known value. The values are " +
			"asc, desc | whole must be true or false",
		"limit=0&metadata[a]=" + strings.Repeat("x", 501): "limit must be at least 1 | metadata.a is too long: the " +
			"longest length is 500 | shop required query parameter is missing",
		"shop=a&metadata[a][b]=1&metadata=1": "metadata takes the name of a pair in brackets: metadata[order]=4711 | " +
			"metadata[a][b] is not a parameter of this operation; did you mean metadata[…]? It takes limit, order, mood, " +
			"group_by, whole, since, metadata[…], shop",
	} {
		in, refused := read(t, r, http.MethodGet, query, "")
		if got := cmp.Or[any](in, refused); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", query, got, want)
		}
	}
}

// An address with another value than ids and numbers names nothing.
func TestAPathWithAnotherValueNamesNothing(t *testing.T) {
	r := input.NewReader(reflect.TypeFor[struct {
		Number int `path:"number" minimum:"1"`
	}](), false, schema.ResourceInfo{})
	for number, want := range map[string]string{"7": "", "0": "The path names nothing: number must be at least 1.",
		"x": "The path names nothing: number must be an integer."} {
		req := httptest.NewRequest(http.MethodGet, "/x", nil)
		req.SetPathValue("number", number)
		_, err := r.Read(req, nil, nil)
		if (err == nil) != (want == "") || err != nil && (errs.CodeOf(err) != errs.NotFound ||
			errs.As(err).Message != want) {
			t.Errorf("%s: %v", number, err)
		}
	}
}

// What a body leaves out gets its default: in objects, in lists, and in objects that may be left out.
func TestABodyHasItsDefaults(t *testing.T) {
	type part struct {
		Share int      `json:"share,omitempty" default:"1"`
		Alpha float64  `json:"alpha,omitempty" default:"0.05"`
		Parts []part   `json:"parts,omitempty"`
		Names []string `json:"names,omitempty"`
	}
	type body struct {
		Mode  string `json:"mode,omitempty" default:"each"`
		First *part  `json:"first,omitempty"`
		Parts []part `json:"parts,omitempty"`
	}
	r := input.NewReader(reflect.TypeFor[struct{ Body *body }](), false, schema.ResourceInfo{})
	for sent, want := range map[string]*body{
		"":                      nil,
		`{}`:                    {Mode: "each"},
		`{"mode":"all"}`:        {Mode: "all"},
		`{"first":{"share":3}}`: {Mode: "each", First: &part{Share: 3, Alpha: 0.05}},
		`{"parts":[{"alpha":0.1,"parts":[{}]}]}`: {Mode: "each", Parts: []part{{Share: 1, Alpha: 0.1,
			Parts: []part{{Share: 1, Alpha: 0.05}}}}},
	} {
		in, refused := read(t, r, http.MethodPost, "", sent)
		if refused != "" || !reflect.DeepEqual(in.(*struct{ Body *body }).Body, want) {
			t.Errorf("%s: %s %+v", sent, refused, in)
		}
	}
}
