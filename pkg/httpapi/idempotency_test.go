package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

// count returns the number of things that the caller has.
func (f *fixture) count() int {
	f.t.Helper()
	a := f.call("GET", "/v1/things?limit=100", "")
	var all []thing
	if err := json.Unmarshal(a.Data, &all); err != nil {
		f.t.Fatalf("list: %v: %s", err, a.raw)
	}
	return len(all)
}

func TestARepeatAnswersTheFirstAnswer(t *testing.T) {
	f := newFixture(t)
	key := []string{"Idempotency-Key", "order-17"}
	first := f.call("POST", "/v1/things", `{"name":"a"}`, key...)
	if first.status != http.StatusCreated || first.header.Get("Idempotent-Replayed") != "" {
		t.Fatalf("first call: %d %v %s", first.status, first.header, first.raw)
	}
	again := f.call("POST", "/v1/things", `{"name":"a"}`, key...)
	if again.raw != first.raw || again.status != first.status || again.header.Get("ETag") != first.header.Get("ETag") {
		t.Errorf("the repeat answered\n%d %s, the first call\n%d %s", again.status, again.raw, first.status, first.raw)
	}
	if again.header.Get("Idempotent-Replayed") != "true" {
		t.Error("the repeat does not say that it is one")
	}
	for name, other := range map[string]answer{
		"another body": f.call("POST", "/v1/things", `{"name":"b"}`, key...),
		"another path": f.call("PATCH", "/v1/things/fac_x", `{"name":"a"}`, key...),
	} {
		if other.status != 422 || other.code() != "idempotency_key_reused" || other.Error.Param != "Idempotency-Key" {
			t.Errorf("%s: %d %s", name, other.status, other.raw)
		}
	}
	if n := f.count(); n != 1 {
		t.Errorf("there are %d things", n)
	}
	// The guide says that quotation marks are a part of the key.
	if quoted := f.call("POST", "/v1/things", `{"name":"a"}`, key[0], `"`+key[1]+`"`); quoted.raw == first.raw ||
		quoted.status != http.StatusCreated {
		t.Errorf("a key in quotation marks: %d %s", quoted.status, quoted.raw)
	}
	// Other accounts and the other mode have keys of their own.
	f.caller.Mode = "live"
	if live := f.call("POST", "/v1/things", `{"name":"b"}`, key...); live.status != http.StatusCreated ||
		live.raw == first.raw {
		t.Errorf("live mode: %d %s", live.status, live.raw)
	}
}

// The same JSON in another form is the same request (RFC 8785): libraries write members in an order of their own.
func TestARepeatInAnotherFormIsTheSameRequest(t *testing.T) {
	f := newFixture(t)
	key := []string{"Idempotency-Key", "order-20"}
	body := `{"name":"a","nested":{"size":10},"tags":["x","é"]}`
	first := f.call("POST", "/v1/things", body, key...)
	if first.status != http.StatusCreated {
		t.Fatalf("%d %s", first.status, first.raw)
	}
	for _, same := range []string{
		body, `{"tags":["x","é"],"nested":{"size":10},"name":"a"}`,
		"{ \"name\":\"a\",\n\"nested\": {\"size\":10}, \"tags\":[\"x\",\"é\"]}",
		`{"name":"\u0061","nested":{"size":10},"tags":["x","\u00e9"]}`,
	} {
		a := f.call("POST", "/v1/things", same, key...)
		if a.raw != first.raw || a.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: %d %s", same, a.status, a.raw)
		}
	}
	for _, other := range []string{`{"name":"a","nested":{"size":11},"tags":["x","é"]}`,
		`{"name":"a","nested":{"size":10},"tags":["é","x"]}`, `{"name":"a","nested":{"size":10}}`} {
		if a := f.call("POST", "/v1/things", other, key...); a.status != 422 || a.code() != "idempotency_key_reused" {
			t.Errorf("%s: %d %s", other, a.status, a.raw)
		}
	}
	if n := f.count(); n != 1 {
		t.Errorf("there are %d things", n)
	}
}

// A query may decide the effect of a call, so a repeat with another one is another call.
func TestAKeyWithAnotherQueryIsRefused(t *testing.T) {
	f := newFixture(t)
	httpapi.Write(f.router, httpapi.Op{ID: "noteThing", Method: http.MethodPost, Path: "/v1/things/note",
		Scope: auth.FactoriesWrite, Function: "things", Status: http.StatusCreated},
		func(ctx context.Context, tx *store.Tx, in *struct {
			Note string `query:"note"`
			Body thingBody
		}) (thing, error) {
			return f.things.create(ctx, tx, &struct{ Body thingBody }{in.Body})
		})
	note := func(query string) answer {
		return f.call("POST", "/v1/things/note"+query, `{"name":"a"}`, "Idempotency-Key", "order-19")
	}
	first := note("?note=x")
	if again := note("?note=x"); first.status != http.StatusCreated || again.raw != first.raw {
		t.Errorf("%d %s, then %d %s", first.status, first.raw, again.status, again.raw)
	}
	for _, query := range []string{"?note=y", ""} {
		if a := note(query); a.status != 422 || a.code() != "idempotency_key_reused" {
			t.Errorf("%q: %d %s", query, a.status, a.raw)
		}
	}
}

func TestARefusalDoesNotUseTheKeyUp(t *testing.T) {
	f := newFixture(t)
	key := []string{"Idempotency-Key", "order-18"}
	if a := f.call("POST", "/v1/things", `{"name":""}`, key...); a.status != 422 {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	if a := f.call("POST", "/v1/things", `{"name":"a"}`, key...); a.status != http.StatusCreated {
		t.Errorf("%d %s", a.status, a.raw)
	}
}

func TestARepeatIsKnownThoughTheResourceHasMovedOn(t *testing.T) {
	f := newFixture(t)
	made := f.call("POST", "/v1/things", `{"name":"a"}`)
	var v thing
	if err := json.Unmarshal(made.Data, &v); err != nil {
		t.Fatal(err)
	}
	headers := []string{"Idempotency-Key", "rename", "If-Match", `"1"`}
	first := f.call("PATCH", "/v1/things/"+v.ID, `{"name":"b"}`, headers...)
	if first.status != http.StatusOK {
		t.Fatalf("%d %s", first.status, first.raw)
	}
	// The version is 2 now, so the operation refuses; yet the effect was ours.
	again := f.call("PATCH", "/v1/things/"+v.ID, `{"name":"b"}`, headers...)
	if again.raw != first.raw || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%d %s", again.status, again.raw)
	}
}

func TestRepeatsSideBySideHaveOneEffect(t *testing.T) {
	f := newFixture(t)
	var wg sync.WaitGroup
	answers := make([]answer, 8)
	for i := range answers {
		wg.Go(func() {
			answers[i] = f.call("POST", "/v1/things", `{"name":"a"}`, "Idempotency-Key", "side-by-side")
		})
	}
	wg.Wait()
	for _, a := range answers {
		if a.raw != answers[0].raw {
			t.Errorf("answers differ:\n%s\n%s", a.raw, answers[0].raw)
		}
	}
	if n := f.count(); n != 1 {
		t.Errorf("there are %d things", n)
	}
}

func TestChangesSideBySideAllHold(t *testing.T) {
	f := newFixture(t)
	made := f.call("POST", "/v1/things", `{"name":"a"}`)
	var v thing
	if err := json.Unmarshal(made.Data, &v); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	answers := make([]answer, 3)
	for i := range answers {
		wg.Go(func() {
			answers[i] = f.call("PATCH", "/v1/things/"+v.ID, fmt.Sprintf(`{"name":"n%d"}`, i))
		})
	}
	wg.Wait()
	var versions []int64
	for _, a := range answers {
		var changed thing
		if err := json.Unmarshal(a.Data, &changed); err != nil || a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.raw)
		}
		versions = append(versions, changed.Version)
	}
	slices.Sort(versions)
	if !slices.Equal(versions, []int64{2, 3, 4}) {
		t.Errorf("versions are %v", versions)
	}
}

func TestMergePatch(t *testing.T) {
	f := newFixture(t)
	made := f.call("POST", "/v1/things", `{"name":"a","tags":["x"]}`)
	var v thing
	if err := json.Unmarshal(made.Data, &v); err != nil {
		t.Fatal(err)
	}
	a := f.call("PATCH", "/v1/things/"+v.ID, `{"tags":null}`, "Content-Type", "application/merge-patch+json",
		"If-Match", `"9", "1"`)
	if err := json.Unmarshal(a.Data, &v); err != nil || v.Name != "a" || v.Tags != nil ||
		a.header.Get("ETag") != `"2"` {
		t.Errorf("%d %v %s", a.status, a.header, a.raw)
	}
}

func TestPages(t *testing.T) {
	now := clock()
	f := newFixtureAt(t, func() time.Time { return now })
	for i := range 5 {
		now = now.Add(time.Millisecond) // ids of one millisecond have no order
		if a := f.call("POST", "/v1/things", fmt.Sprintf(`{"name":"n%d"}`, i)); a.status != http.StatusCreated {
			t.Fatal(a.raw)
		}
	}
	var names []string
	path := "/v1/things?limit=2"
	var cursors []string
	for range 5 {
		a := f.call("GET", path, "")
		var page []thing
		if err := json.Unmarshal(a.Data, &page); err != nil {
			t.Fatalf("%v: %s", err, a.raw)
		}
		for _, v := range page {
			names = append(names, v.Name)
		}
		if a.NextCursor == nil {
			break
		}
		cursors = append(cursors, *a.NextCursor)
		path = "/v1/things?limit=2&cursor=" + *a.NextCursor
		// Resources that are added in between are newer than the cursor, and not listed.
		now = now.Add(time.Millisecond)
		f.call("POST", "/v1/things", `{"name":"new"}`)
	}
	if got := strings.Join(names, " "); len(names) != 5 || strings.Contains(got, "new") {
		t.Errorf("pages gave %s", got)
	}
	f.caller.Account = "acc_2"
	if a := f.call("GET", "/v1/things?limit=2&cursor="+cursors[0], ""); a.status != 400 ||
		a.code() != "invalid_cursor" {
		t.Errorf("another account's cursor: %d %s", a.status, a.raw)
	}
	if a := f.call("GET", "/v1/things", ""); a.status != 200 || string(a.Data) != "[]" || a.NextCursor != nil ||
		!strings.Contains(a.raw, `"next_cursor":null`) {
		t.Errorf("another account's list: %d %s", a.status, a.raw)
	}
}

func TestNothingOfOthersIsFound(t *testing.T) {
	f := newFixture(t)
	made := f.call("POST", "/v1/things", `{"name":"a"}`)
	var v thing
	if err := json.Unmarshal(made.Data, &v); err != nil {
		t.Fatal(err)
	}
	owner := f.caller
	f.caller.Account = "acc_2"
	if a := f.call("GET", "/v1/things/"+v.ID, ""); a.status != 404 || a.code() != "not_found" {
		t.Errorf("another account: %d %s", a.status, a.raw)
	}
	f.caller = owner
	f.caller.Mode = "live"
	if a := f.call("PATCH", "/v1/things/"+v.ID, `{"name":"b"}`); a.status != 404 || a.code() != "not_found" {
		t.Errorf("the other mode: %d %s", a.status, a.raw)
	}
}
