package main

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/service/api"
	"github.com/content-automation/api/pkg/store/storetest"
)

// TestMain keeps the log of injected faults out of the tests' output.
func TestMain(m *testing.M) {
	quiet()
	m.Run()
}

func TestWhatDiffersIsTidied(t *testing.T) {
	key, err := auth.NewKey(tenant.Live, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	one, other, item := id.New(id.Factory, time.Now()), id.New(id.Factory, time.Now()), id.New(id.ContentItem, time.Now())
	text := `{"ids":["` + one + `","` + other + `","` + one + `","` + item + `_1_1"],"secret":"` + key + `","request_id":"` + rand.Text() + `","next_cursor":"AbC-1"}`
	want := `{"ids":["fac_01h455vb4pex5vsknk084sn02q","fac_01h455vb4pex5vsknk084sn02r","fac_01h455vb4pex5vsknk084sn02q","cnt_01h455vb4pex5vsknk084sn02q_1_1"],` +
		`"secret":"svc_live_` + strings.Repeat("EXAMPLE", 7) + `","request_id":"1763812345678-6f9a4e7e-2f0b-4d3c-9b1e-0a5f1c7d8e21","next_cursor":"EXAMPLEcursorEXAMPLEcursorEXAMPLEcursorEXAMPLE"}`
	if got := string(newTidier().json(text)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestARecordingIsTheSameEachTime records an operation twice, each code included.
func TestARecordingIsTheSameEachTime(t *testing.T) {
	storetest.UseMemory()
	for _, route := range api.Routes() {
		if route.OperationID != "rotateApiKey" {
			continue
		}
		first, err := recordOperation(t.Context(), route)
		if err != nil {
			t.Fatal(err)
		}
		second, err := recordOperation(t.Context(), route)
		if err != nil {
			t.Fatal(err)
		}
		if string(first.response) != string(second.response) || string(first.request) != string(second.request) {
			t.Errorf("first %s, then %s", first.response, second.response)
		}
		if len(first.errors) != len(route.Errors) {
			t.Errorf("%d of %d codes are recorded", len(first.errors), len(route.Errors))
		}
		for code, answer := range first.errors {
			if string(answer) != string(second.errors[code]) {
				t.Errorf("first %s, then %s", answer, second.errors[code])
			}
		}
	}
}

func TestACodeThatIsNeverAnsweredIsRefused(t *testing.T) {
	storetest.UseMemory()
	for _, route := range api.Routes() {
		if route.OperationID != "listPlans" {
			continue
		}
		for _, code := range []errs.Code{errs.QueueFull, errs.NotFound} {
			route.Errors = []errs.Code{code}
			if _, err := recordOperation(t.Context(), route); err == nil || !strings.Contains(err.Error(), string(code)) {
				t.Errorf("%s: got %v", code, err)
			}
		}
	}
}

func TestAnswersOfSeveralOperationsAreShared(t *testing.T) {
	usual, other := []byte(`{"n":1}`), []byte(`{"n":2}`)
	all := shared(map[string]recorded{
		"a": {errors: refusedBy{errs.NotFound: other}}, "b": {errors: refusedBy{errs.NotFound: usual}}, "c": {errors: refusedBy{errs.NotFound: usual}},
		"d": {errors: refusedBy{errs.NotFound: other}}, "e": {errors: refusedBy{errs.NotFound: usual}}, "f": {errors: refusedBy{errs.NotFound: []byte(`{}`)}},
	})
	for operation, want := range map[string]string{"a": "not_found.a", "b": "not_found", "c": "not_found", "d": "not_found.a", "e": "not_found", "f": ""} {
		if got := all.Operations[operation].Errors[errs.NotFound]; got.Shared != want || (got.Value == nil) != (want != "") {
			t.Errorf("%s: %+v", operation, got)
		}
	}
	if len(all.Shared) != 2 || string(all.Shared["not_found"]) != string(usual) || string(all.Shared["not_found.a"]) != string(other) {
		t.Errorf("shared: %s", all.Shared)
	}
}
