package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

// line is a text that must not be empty.
type line string

func (line) Schema(huma.Registry) *huma.Schema {
	least := 1
	s := &huma.Schema{Type: huma.TypeString, MinLength: &least}
	s.PrecomputeMessages()
	return s
}

func TestBodiesOfWhichSomethingWouldBeLost(t *testing.T) {
	f := newFixture(t)
	for name, c := range map[string]struct {
		body, code, param string
		status            int
	}{
		"not UTF-8":                {"{\"name\":\"a\xff\"}", "malformed_json", "", 400},
		"half a character":         {`{"name":"a\ud83db"}`, "malformed_json", "", 400},
		"half of one at the end":   {`{"name":"a\ud83d"}`, "malformed_json", "", 400},
		"the other half":           {`{"name":"\ude00a"}`, "malformed_json", "", 400},
		"both halves turned round": {`{"name":"\ude00\ud83d"}`, "malformed_json", "", 400},
		"both halves":              {`{"name":"\uD83D\uDE00"}`, "", "", 201},
		"no escape but its look":   {`{"name":"\\ud83d"}`, "", "", 201},
		"a member twice":           {`{"name":"a","name":"b"}`, "validation_failed", "/name", 422},
		"twice by another writing": {`{"name":"a","n\u0061me":"b"}`, "validation_failed", "/name", 422},
		"a nested member twice": {`{"name":"a","metadata":{"a/b~":"1","a/b~":"2"}}`, "validation_failed",
			"/metadata/a~1b~0", 422},
		"twice in an item":            {`{"tags":["x",{"a":[],"b":{},"a":1}]}`, "validation_failed", "/tags/1/a", 422},
		"the same name in two places": {`{"name":"a","metadata":{"name":"1","tags":"2"}}`, "", "", 201},
		"a blank text":                {`{"name":" \u00a0\u3000"}`, "validation_failed", "/name", 422},
		"nothing to be seen":          {`{"name":"\u200b"}`, "validation_failed", "/name", 422},
		"white space around a text":   {`{"name":" a "}`, "", "", 201},
		"a blank one that may be":     {`{"name":"a","metadata":{"k":" "},"tags":[" "]}`, "", "", 201},
		"a blank text in a list":      {`{"name":"a","lines":["b"," "]}`, "validation_failed", "/lines/1", 422},
		"cut off":                     {`{"name":"a","name"`, "malformed_json", "", 400},
		"nothing but brackets":        {strings.Repeat("[", 50_000), "malformed_json", "", 400},
		"closed too often":            {`{"name":"a"}]}`, "malformed_json", "", 400},
	} {
		t.Run(name, func(t *testing.T) {
			a := f.call("POST", "/v1/things", c.body)
			if a.status != c.status || a.code() != c.code {
				t.Fatalf("answered %d %s", a.status, a.raw)
			}
			if a.Error != nil && a.Error.Param != c.param {
				t.Errorf("param is %q, want %q", a.Error.Param, c.param)
			}
		})
	}
	// A body that is not JSON gets that error, whatever its bytes.
	if a := f.call("POST", "/v1/things", "\xff\xd8\xff", "Content-Type",
		"image/jpeg"); a.status != http.StatusUnsupportedMediaType {
		t.Errorf("a picture: %d %s", a.status, a.raw)
	}
}

func TestMessagesAndPlaces(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct{ body, param, message string }{
		{`{"name":"a","metadata":{"crm.id":1}}`, "/metadata/crm.id", "string"},
		{`{"name":"a","metadata":{"a.b[0]/c~":1,"a":"x"}}`, "/metadata/a.b[0]~1c~0", "string"},
		{`{"name":"a","x.y[1]":1}`, "/x.y[1]", "not a member"},
		{`{"name":"a","nested":{}}`, "/nested/size", "is required"},
		{`{"name":"a","tags":["b",["c"]]}`, "/tags/1", "string"},
		{`{"name":"a","metadata":{"k":"` + strings.Repeat("v", 501) + `"}}`, "/metadata/k", "500"},
		{`null`, "", "The body must be one JSON object"},
		{`{"name":"a","nested":{"size":2e0}}`, "/nested/size", "integer"},
		{`{"name":"a","nested":{"size":2e0}}`, "/nested/size", "integer"},
	} {
		a := f.call("POST", "/v1/things", c.body)
		if a.status != http.StatusUnprocessableEntity || a.Error.Param != c.param ||
			!strings.Contains(a.Error.Message, c.message) || strings.Contains(a.Error.Message, "Go struct") {
			t.Errorf("%s: %d %s", c.body, a.status, a.raw)
		}
	}
}

func TestMediaTypesHaveNoCase(t *testing.T) {
	f := newFixture(t)
	for kind, want := range map[string]int{"Application/JSON": 201, "APPLICATION/JSON; charset=UTF-8": 201,
		"TEXT/PLAIN": 415} {
		if a := f.call("POST", "/v1/things", `{"name":"a"}`, "Content-Type", kind); a.status != want {
			t.Errorf("%s: %d %s", kind, a.status, a.raw)
		}
	}
}

func TestOtherKindsOfJSONAreNone(t *testing.T) {
	f := newFixture(t)
	var v thing
	if err := json.Unmarshal(f.call("POST", "/v1/things", `{"name":"a"}`).Data, &v); err != nil {
		t.Fatal(err)
	}
	const merge = "application/merge-patch+json"
	for _, c := range []struct {
		method, path, kind string
		status             int
	}{
		{"POST", "/v1/things", "application/json;charset=utf-8", 201}, {"POST", "/v1/things", merge, 415},
		{"POST", "/v1/things", "application/vnd.acme+json", 415},
		{"POST", "/v1/things", "json", 415}, {"POST", "/v1/things", "application/json, text/plain", 415},
		{"PATCH", "/v1/things/" + v.ID, merge, 200},
		{"PATCH", "/v1/things/" + v.ID, "Application/Merge-Patch+JSON; charset=utf-8", 200},
		{"PATCH", "/v1/things/" + v.ID, "application/json-patch+json", 415},
		{"PATCH", "/v1/things/" + v.ID, "application/json", 200},
	} {
		if a := f.call(c.method, c.path, `{"name":"b"}`, "Content-Type", c.kind); a.status != c.status ||
			a.status == 415 && a.code() != "unsupported_media_type" {
			t.Errorf("%s of %s: %d %s", c.method, c.kind, a.status, a.raw)
		}
	}
	for kind, want := range map[string]string{
		"application/x-www-form-urlencoded": "not application/x-www-form-urlencoded.",
		"application/json; charset=utf-16":  "charset", "application/json; charset=latin1": "charset",
		merge: "for PATCH only", "application/json, text/plain": "malformed",
		"application/" + strings.Repeat("x", 500): "with the header Content-Type: application/json, not application/xx",
	} {
		a := f.call("POST", "/v1/things", `{"name":"b"}`, "Content-Type", kind)
		if a.status != 415 || !strings.Contains(a.Error.Message, want) || len(a.Error.Message) > 250 {
			t.Errorf("%s: %d %s", kind, a.status, a.raw)
		}
	}
	// Without a body, the error is that it is missing, not that it is of another kind.
	if a := f.call("POST", "/v1/things", "", "Content-Type", "text/plain"); a.code() != "malformed_json" ||
		!strings.Contains(a.Error.Message, "is missing") {
		t.Errorf("%d %s", a.status, a.raw)
	}
}

func TestAnOperationWithoutABodyRefusesOne(t *testing.T) {
	f := newFixture(t)
	ran := 0
	httpapi.Write(f.router, httpapi.Op{ID: "rotateThing", Method: http.MethodPost, Path: "/v1/things/rotate",
		Scope: auth.FactoriesWrite, Function: "things"},
		func(context.Context, *store.Tx, *struct{}) (thing, error) {
			ran++
			return thing{}, nil
		})
	for _, body := range []string{"", "{}", " {}\n"} {
		if a := f.call("POST", "/v1/things/rotate", body); a.status != http.StatusOK {
			t.Errorf("%q: %d %s", body, a.status, a.raw)
		}
	}
	for _, body := range []string{`{"overlap_seconds":0}`, "junk", "null"} {
		if a := f.call("POST", "/v1/things/rotate", body); a.status != http.StatusUnprocessableEntity ||
			a.code() != "validation_failed" {
			t.Errorf("%q: %d %s", body, a.status, a.raw)
		}
	}
	if ran != 3 {
		t.Errorf("it ran %d times", ran)
	}
}

// The local gateway hands paths over decoded.
func TestDecodedPaths(t *testing.T) {
	f := newFixture(t)
	handle := httpapi.Lambda(f.router)
	for path, want := range map[string]string{
		"/v1/things/\x00": "not_found", "/v1/things/a\nb": "not_found", "/v1/things/50%": "not_found",
		"/v1/things/%zz":     "not_found",
		"/v1/things?limit=0": "unknown_path", "/v1/things#a": "unknown_path", "/v1/things/a b": "not_found",
		"/v1/things/%41": "not_found",
	} {
		out, err := handle(t.Context(), f.gatewayEvent("GET", path))
		var a answer
		if err == nil {
			err = json.Unmarshal([]byte(out.Body), &a)
		}
		if err != nil || out.StatusCode != http.StatusNotFound || a.code() != want {
			t.Errorf("%q: %+v, %v", path, out, err)
		}
	}
}

// A tree of a text costs an item and its string, as does decoding it to the input. A second parse of the body would
// add at least a string for each.
func TestABodyIsParsedOnce(t *testing.T) {
	f := newFixture(t)
	httpapi.Read(f.router, httpapi.Op{ID: "countThings", Method: http.MethodPost, Path: "/v1/things/count",
		Scope: auth.FactoriesRead, Function: "things"},
		func(_ context.Context, in *struct{ Body thingBody }) (int, error) { return len(in.Body.Tags), nil })
	values, err := f.caller.Encode()
	if err != nil {
		t.Fatal(err)
	}
	allocations := func(tags int) float64 {
		body := `{"name":"a","tags":["` + strings.Repeat(`tag","`, tags-1) + `tag"]}`
		return testing.AllocsPerRun(20, func() {
			if a := f.callAs(values, "POST", "/v1/things/count", body); string(a.Data) != strconv.Itoa(tags) {
				t.Fatal(a.raw)
			}
		})
	}
	if each := (allocations(2000) - allocations(1000)) / 1000; each > 5.5 {
		t.Errorf("a text of the body costs %.1f allocations", each)
	} else {
		t.Logf("a text of the body costs %.1f allocations", each)
	}
}

// Reads refuse a body as the document says, of whatever kind and size: it has neither 413
// nor 415 for them.
func TestReadsTakeNoBody(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct {
		body, kind string
		status     int
	}{
		{`{"name":"a"}`, "application/json", 422}, {"name=a", "application/x-www-form-urlencoded", 422},
		{strings.Repeat("x", 300<<10), "text/plain", 422},
		{"{}", "application/json", 200}, {" ", ";;;", 200},
	} {
		a := f.call("GET", "/v1/things", c.body, "Content-Type", c.kind)
		if a.status != c.status || c.status == 422 && a.code() != "validation_failed" {
			t.Errorf("%.20s as %s: %d %s", c.body, c.kind, a.status, a.raw)
		}
	}
}
