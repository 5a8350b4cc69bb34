package httpapi_test

import (
	"encoding/json"
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
