package content_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
)

// page is a page of a list whose results have some of their members.
type page struct {
	Data       []map[string]json.RawMessage
	NextCursor *string `json:"next_cursor"`
}

// sparse reads a page of the content items.
func (w *world) sparse(query string) (p page) {
	w.T.Helper()
	a := w.Call(http.MethodGet, "/v1/content-items?"+query, nil)
	if err := json.Unmarshal([]byte(a.Raw), &p); err != nil || a.Status != http.StatusOK {
		w.T.Fatalf("%d %s", a.Status, a.Raw)
	}
	return p
}

// A list returns the members that its caller names, with the id.
func TestListsReturnSomeMembers(t *testing.T) {
	w := newWorld(t)
	it := w.provide("caption", "Words")
	p := w.sparse("fields=state,approval,title")
	names := slices.Sorted(maps.Keys(p.Data[0]))
	if len(p.Data) != 1 || !slices.Equal(names, []string{"approval", "id", "state", "title"}) ||
		string(p.Data[0]["id"]) != `"`+it.ID+`"` || !strings.Contains(string(p.Data[0]["approval"]), `"state":"none"`) {
		t.Errorf("%v", p.Data)
	}
	a := w.Call(http.MethodGet, "/v1/content-items?fields=state,publish_att", nil)
	a.Refused(t, 422, errs.ValidationFailed, "fields")
	if !strings.Contains(a.Error.Message, "did you mean publish_at?") {
		t.Errorf("%s", a.Error.Message)
	}
	if got := w.sparse("limit=1"); len(got.Data[0]) < 40 {
		t.Errorf("without fields there are %d members", len(got.Data[0]))
	}
}

// Sorted by the time of publication, a list has what has a time, and its cursors stay valid while items are added.
func TestListsFollowTheTimeOfPublication(t *testing.T) {
	w := newWorld(t)
	other := w.makeFactory(object{"type": "blogger", "name": "Other", "language": "de"})
	w.attach(w.connect("telegram"))
	now := w.Now()
	var want []string
	for _, hours := range []int{5, 1, 9, 3} {
		w.provide("caption", "Words", "publish_at", now.Add(time.Duration(hours)*time.Hour))
	}
	w.provide("caption", "Without a time")
	for _, hours := range []int{1, 3, 5, 9} {
		want = append(want, now.Add(time.Duration(hours)*time.Hour).UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	times := func(p page) (all []string) {
		for _, it := range p.Data {
			all = append(all, strings.Trim(string(it["publish_at"]), `"`))
		}
		return all
	}
	const query = "order_by=publish_at&order=asc&fields=publish_at"
	first := w.sparse(query + "&limit=2")
	w.provide("caption", "Later", "publish_at", now.Add(4*time.Hour))
	rest := w.sparse(query + "&limit=2&cursor=" + *first.NextCursor)
	if got := slices.Concat(times(first), times(rest)); !slices.Equal(got[:2], want[:2]) ||
		got[2] != now.Add(4*time.Hour).UTC().Format("2006-01-02T15:04:05.000Z") || got[3] != want[2] {
		t.Errorf("%v, want %v with one between", got, want)
	}
	got := times(w.sparse("order_by=publish_at&fields=publish_at&factory_id=" + w.factory + "&publish_from=" + want[1] +
		"&publish_to=" + want[3]))
	if len(got) != 3 || got[0] != want[2] || got[2] != want[1] {
		t.Errorf("the latest first, in a period: %v", got)
	}
	if got := w.sparse("order_by=publish_at&factory_id=" + other); len(got.Data) != 0 {
		t.Errorf("another factory has %d", len(got.Data))
	}
	w.provide("caption", "Tagged", "publish_at", now.Add(7*time.Hour), "metadata", object{"order": "4711"})
	got = times(w.sparse("order_by=publish_at&state=generated,scheduled&kind=post&metadata[order]=4711"))
	if len(got) != 1 {
		t.Errorf("with its metadata there is %v", got)
	}
	if got := w.sparse("order_by=publish_at&state=failed"); len(got.Data) != 0 {
		t.Errorf("%d have failed", len(got.Data))
	}
	w.Call(http.MethodGet, "/v1/content-items?order_by=publish_at&from="+want[0], nil).
		Refused(t, 422, errs.ValidationFailed, "order_by")
}
