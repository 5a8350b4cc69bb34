package httpapi_test

import (
	"encoding/json"
	"net/http"
	"testing"
)

func TestNullRemovesOnlyWhatMayBeMissing(t *testing.T) {
	f := newFixture(t)
	made := f.call("POST", "/v1/things", `{"name":"a","tags":["x"]}`)
	var v thing
	if err := json.Unmarshal(made.Data, &v); err != nil {
		t.Fatal(err)
	}
	runs := f.things.runs.Load()
	for _, patch := range []string{`{"name":null}`, `{"tags":null,"name": null }`, `{"name":"b","name":null}`} {
		if a := f.call("PATCH", "/v1/things/"+v.ID, patch); a.status != 422 || a.code() != "validation_failed" ||
			a.Error.Param != "/name" {
			t.Errorf("%s: %d %s", patch, a.status, a.raw)
		}
	}
	if n := f.things.runs.Load(); n != runs {
		t.Errorf("%d refused calls ran the operation", n-runs)
	}
	if a := f.call("PATCH", "/v1/things/"+v.ID, `{"tags":null}`); a.status != 200 {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if a := f.call("GET", "/v1/things/"+v.ID, ""); a.status != 200 || a.header.Get("ETag") != `"2"` {
		t.Errorf("%d %s", a.status, a.raw)
	}
}

func TestAChangeGetsThroughAmongOthers(t *testing.T) {
	f := newFixture(t)
	made := f.call("POST", "/v1/things", `{"name":"a"}`)
	var v thing
	if err := json.Unmarshal(made.Data, &v); err != nil {
		t.Fatal(err)
	}
	others := 0
	var meddle func()
	meddle = func() {
		others++
		if a := f.call("PATCH", "/v1/things/"+v.ID, `{"name":"b"}`); a.status != 200 {
			t.Errorf("another's change: %d %s", a.status, a.raw)
		}
		if others < 7 {
			f.things.between = meddle
		}
	}
	f.things.between = meddle
	if a := f.call("PATCH", "/v1/things/"+v.ID, `{"tags":["x"]}`); a.status != 200 || a.header.Get("ETag") != `"9"` {
		t.Errorf("after %d others: %d %s", others, a.status, a.raw)
	}
}

// Headers of conditions are read in one way: several lines are one list, and what is empty or malformed is refused,
// since a condition that was lost would be a change without one.
func TestHeadersOfConditions(t *testing.T) {
	f := newFixture(t)
	var v thing
	if err := json.Unmarshal(f.call("POST", "/v1/things", `{"name":"a"}`).Data, &v); err != nil {
		t.Fatal(err)
	}
	path := "/v1/things/" + v.ID
	for name, c := range map[string]struct {
		header http.Header
		status int
	}{
		"empty":             {http.Header{"If-Match": {""}}, 400},
		"blank":             {http.Header{"If-Match": {" , "}}, 400},
		"no quotes":         {http.Header{"If-Match": {"1"}}, 400},
		"half a tag":        {http.Header{"If-Match": {`"1`}}, 400},
		"a star and a tag":  {http.Header{"If-Match": {`*, "1"`}}, 400},
		"another, and it":   {http.Header{"If-Match": {`"99"`, `"1"`}}, 200},
		"two others":        {http.Header{"If-Match": {`"99"`, `"98"`}}, 412},
		"a tag with commas": {http.Header{"If-Match": {`"a,1,b"`}}, 412},
		"weak":              {http.Header{"If-Match": {`W/"1"`}}, 412},
		"none may exist":    {http.Header{"If-None-Match": {"*"}}, 412},
		"none, nor a tag":   {http.Header{"If-None-Match": {`"1"`}}, 400},
		"none, and empty":   {http.Header{"If-None-Match": {""}}, 400},
	} {
		var headers []string
		for key, lines := range c.header {
			for _, line := range lines {
				headers = append(headers, key, line)
			}
		}
		a := f.call("PATCH", path, `{"name":"a"}`, headers...)
		if a.status != c.status || c.status == 400 && a.code() != "invalid_header" {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
		}
	}
}

// A part of a query that cannot be read is told, and not left out.
func TestAMalformedQueryIsRefused(t *testing.T) {
	f := newFixture(t)
	for _, query := range []string{"limit=%zz", "limit=1;order=asc", "order=asc&amp;limit=1", "%", "limit=2&x=%1"} {
		if a := f.call("GET", "/v1/things?"+query, ""); a.status != 422 || a.code() != "validation_failed" {
			t.Errorf("%s: %d %s", query, a.status, a.raw)
		}
	}
}

// No text and no name of a body has a control character other than line breaks and tabs, or a noncharacter.
func TestCharactersOfNoText(t *testing.T) {
	f := newFixture(t)
	for body, param := range map[string]string{
		`{"name":"a","metadata":{"k":"a\u0000b"}}`: "/metadata/k", `{"name":"a","metadata":{"k":"\ufffe"}}`: "/metadata/k",
		`{"name":"a","tags":["x","\u001b[31m"]}`: "/tags/1", `{"name":"a","metadata":{"k\b":"v"}}`: "/metadata",
	} {
		if a := f.call("POST", "/v1/things", body); a.status != 422 || a.Error.Param != param {
			t.Errorf("%s: %d %s", body, a.status, a.raw)
		}
	}
	if a := f.call("POST", "/v1/things", `{"name":"a","metadata":{"k":"a\n\tb\r\n"}}`); a.status >= 300 {
		t.Errorf("line breaks and tabs: %d %s", a.status, a.raw)
	}
}
