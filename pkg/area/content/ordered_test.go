package content_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
)

// attach attaches accounts to the factory, in addition to others.
func (w *world) attach(ids ...string) {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), factoryrecord.Key(w.factory))
	if err != nil {
		w.T.Fatal(err)
	}
	for _, accountID := range ids {
		if _, err := factoryrecord.Attach(&it, accountID, w.Now()); err != nil {
			w.T.Fatal(err)
		}
	}
	tx := &store.Tx{}
	tx.Replace(it)
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
}

func broken(r *social.Record) { r.State = social.NeedsReconnect }

// One call generates an item and publishes it at its time.
func TestACreatedItemIsPublishedAtItsTime(t *testing.T) {
	w := newWorld(t)
	telegram, vk, instagram := w.connect("telegram"), w.connect("vk"), w.connect("instagram", broken)
	w.attach(vk, instagram)
	at := w.Now().Add(time.Hour)
	w.Faults.Reset()
	named := w.create("publish_at", at, "social_account_ids", []string{telegram}, "options",
		object{"telegram": object{"silent": true}})
	if ops := w.Faults.Operations(); ops != "BatchGetItem TransactWriteItems" {
		t.Errorf("it took %s", ops)
	}
	if named.State != item.Queued || named.PublishAt == nil || !named.PublishAt.Equal(at) ||
		!slices.Equal(named.SocialAccountIDs, []string{telegram}) || len(named.Publications) != 0 {
		t.Errorf("%+v", named)
	}
	var both []item.Item
	w.Call(http.MethodPost, "/v1/content-items/batch", object{"items": []object{w.body("publish_at", at), w.body()}}).
		Into(t, http.StatusAccepted, &both)
	usual, plain := both[0], both[1]
	w.begin(usual.ID)
	if o := usual.OmittedAccounts; len(o) != 1 || o[0].SocialAccountID != instagram || o[0].Code != "needs_reconnect" ||
		!strings.Contains(o[0].Message, "POST /v1/social/accounts") {
		t.Errorf("%+v", o)
	}
	for _, it := range []item.Item{named, usual, plain} {
		w.do(it.ID)
	}
	w.work()
	if p := w.publications(named.ID); len(p) != 1 || p[0].Options == nil ||
		string(p[0].Options.RawMessage) != `{"silent":true}` || p[0].State != "pending" {
		t.Errorf("%+v", p)
	}
	if got := w.get(usual.ID); got.State != item.Scheduled || !slices.Equal(got.SocialAccountIDs, []string{vk}) ||
		len(got.OmittedAccounts) != 1 {
		t.Errorf("%+v", got)
	}
	w.Clock.Add(at.Sub(w.Now()))
	w.work()
	for id, want := range map[string]item.State{named.ID: item.Published, usual.ID: item.Published,
		plain.ID: item.Generated} {
		if got := w.get(id); got.State != want {
			t.Errorf("it is %s, want %s: %+v", got.State, want, got)
		}
	}
	if got := w.get(named.ID); !got.PublishedAt.Equal(at) {
		t.Errorf("published at %v", got.PublishedAt)
	}
}

// An item that is generated after its time is published then, and one that failed keeps its time for the next attempt.
func TestAnOrderedTimeOutlivesTheAttempt(t *testing.T) {
	w := newWorld(t)
	telegram := w.connect("telegram")
	w.attach(telegram)
	late := w.create("publish_at", w.Now().Add(time.Minute))
	failed := w.generated("publish_at", w.Now().Add(time.Hour), "sandbox", object{"outcome": "failed"})
	canceled := w.create("publish_at", w.Now().Add(time.Hour))
	w.Call(http.MethodPost, path(canceled.ID, "cancel"), nil).Into(t, http.StatusOK, &canceled)
	w.Clock.Add(2 * time.Minute)
	w.do(late.ID)
	w.work()
	if got := w.get(late.ID); got.State != item.Published {
		t.Errorf("%+v", got)
	}
	w.Call(http.MethodPost, path(failed.ID, "regenerate"), nil).Into(t, http.StatusAccepted, &failed)
	w.doAttempt(failed.ID, 2)
	w.work()
	if got := w.get(failed.ID); got.State != item.Scheduled {
		t.Errorf("%+v", got)
	}
	if got := w.get(canceled.ID); got.State != item.Canceled {
		t.Errorf("%+v", got)
	}
	// A time that was cleared stays cleared.
	w.Call(http.MethodPost, path(failed.ID, "schedule"), object{"publish_at": nil}).Into(t, http.StatusOK, &failed)
	w.Call(http.MethodPost, path(failed.ID, "regenerate"), nil).Into(t, http.StatusAccepted, &failed)
	w.doAttempt(failed.ID, 3)
	w.work()
	if got := w.get(failed.ID); got.State != item.Generated || got.PublishAt != nil {
		t.Errorf("%+v", got)
	}
}

// An item whose accounts all broke while it was generated stays generated, and says why.
func TestAnOrderedItemWithoutUsableAccounts(t *testing.T) {
	w := newWorld(t)
	telegram := w.connect("telegram")
	it := w.create("publish_at", w.Now().Add(time.Hour), "social_account_ids", []string{telegram})
	w.alter(telegram, broken)
	w.do(it.ID)
	w.work()
	if got := w.get(it.ID); got.State != item.Generated || len(got.OmittedAccounts) != 1 ||
		got.OmittedAccounts[0].Code != "needs_reconnect" {
		t.Errorf("%+v", got)
	}
}

func TestBadOrdersAreRefused(t *testing.T) {
	w := newWorld(t)
	telegram, instagram := w.connect("telegram"), w.connect("instagram")
	lost := w.connect("vk", broken)
	elsewhere := w.connectFor(w.Live().Principal.Owner, "vk")
	soon := w.Now().Add(time.Hour)
	only := func(ids ...string) []any { return []any{"publish_at", soon, "social_account_ids", ids} }
	for name, c := range map[string]struct {
		members []any
		status  int
		code    errs.Code
		param   string
	}{
		"past": {[]any{"publish_at", w.Now(), "social_account_ids", []string{telegram}}, 422,
			errs.ValidationFailed, "/publish_at"},
		"far": {[]any{"publish_at", w.Now().Add(181 * 24 * time.Hour), "social_account_ids", []string{telegram}},
			422, errs.ValidationFailed, "/publish_at"},
		"accounts alone":     {[]any{"social_account_ids", []string{telegram}}, 422, errs.ValidationFailed, "/social_account_ids"},
		"options alone":      {[]any{"options", object{"telegram": object{}}}, 422, errs.ValidationFailed, "/options"},
		"no account":         {[]any{"publish_at", soon}, 422, errs.ValidationFailed, "/social_account_ids"},
		"another's account":  {only(elsewhere), 404, errs.NotFound, "/social_account_ids/0"},
		"broken account":     {only(telegram, lost), 422, errs.ValidationFailed, "/social_account_ids/1"},
		"kind":               {append(only(telegram), "kind", "story"), 422, errs.ValidationFailed, "/kind"},
		"caption":            {append(only(instagram), "caption", strings.Repeat("x", 2300)), 422, errs.ValidationFailed, "/caption"},
		"option of no other": {append(only(telegram), "options", object{"vk": object{"privacy": "public"}}), 422, errs.ValidationFailed, "/options/vk"},
	} {
		t.Run(name, func(t *testing.T) {
			w.Call(http.MethodPost, "/v1/content-items", w.body(c.members...)).Refused(t, c.status, c.code, c.param)
			if strings.HasPrefix(c.param, "/") && c.status == 422 {
				w.Call(http.MethodPost, "/v1/content-items/batch",
					object{"items": []object{w.body(), w.body(c.members...)}}).Refused(t, 422, c.code, "/items/1"+c.param)
			}
		})
	}
	if list := apitest.All[item.Item](w.Caller, "/v1/content-items", 100); len(list) != 0 {
		t.Errorf("%d items were created", len(list))
	}
	w.Principal.Scopes = []auth.Scope{auth.ContentRead, auth.ContentWrite}
	w.Call(http.MethodPost, "/v1/content-items", w.body(only(telegram)...)).Refused(t, 403, errs.InsufficientScope,
		"/publish_at")
}

// Without a time or accounts of its own, a schedule takes those that are planned, and leaves out broken accounts.
func TestAScheduleTakesWhatIsPlanned(t *testing.T) {
	w := newWorld(t)
	telegram, youtube, lost := w.connect("telegram"), w.connect("youtube"), w.connect("vk", broken)
	w.attach(telegram, youtube, lost)
	at := w.Now().Add(time.Hour)
	made := w.generated("publish_at", at)
	var it item.Item
	w.Call(http.MethodPost, path(made.ID, "schedule"), nil).Into(t, http.StatusOK, &it)
	if it.State != item.Scheduled || !it.PublishAt.Equal(at) || len(it.Publications) != 1 ||
		!slices.Equal(it.SocialAccountIDs, []string{telegram}) {
		t.Errorf("%+v", it)
	}
	left := map[string]string{}
	for _, o := range it.OmittedAccounts {
		left[o.SocialAccountID] = o.Code
	}
	if fmt.Sprint(left) != fmt.Sprint(map[string]string{youtube: "unsupported_kind", lost: "needs_reconnect"}) {
		t.Errorf("left out are %v", left)
	}
	// A change of the accounts keeps the time.
	w.alter(lost, func(r *social.Record) { r.State = social.Connected })
	w.Call(http.MethodPost, path(made.ID, "schedule"), object{"social_account_ids": []string{lost}}).Into(t,
		http.StatusOK, &it)
	if !it.PublishAt.Equal(at) || len(it.OmittedAccounts) != 0 || len(it.Publications) != 1 ||
		it.Publications[0].SocialAccountID != lost {
		t.Errorf("%+v", it)
	}
	none := w.generated()
	w.Call(http.MethodPost, path(none.ID, "schedule"), object{}).Refused(t, 422, errs.ValidationFailed, "/publish_at")
	w.Call(http.MethodPost, path(none.ID, "schedule"), object{"publish_at": at,
		"social_account_ids": []string{youtube}}).Refused(t, 422, errs.ValidationFailed, "/kind")
	w.factory = w.makeFactory(object{"type": "blogger", "name": "Films"})
	w.attach(youtube)
	none = w.generated()
	a := w.Call(http.MethodPost, path(none.ID, "schedule"), object{"publish_at": at})
	if a.Refused(t, 422, errs.ValidationFailed, "/social_account_ids"); !strings.Contains(a.Raw, "kind post") {
		t.Errorf("it says %s", a.Raw)
	}
	w.Clock.Add(2 * time.Hour)
	w.Call(http.MethodPost, path(made.ID, "schedule"), nil).Refused(t, 422, errs.ValidationFailed, "/publish_at")
}

func TestItemsAreFoundByTheirTimeAndMetadata(t *testing.T) {
	w := newWorld(t)
	telegram := w.connect("telegram")
	w.attach(telegram)
	day := 24 * time.Hour
	from := w.Now().Add(10 * day)
	var ids []string
	for n := range 4 {
		it := w.create("publish_at", from.Add(time.Duration(n)*day), "metadata",
			object{"week": fmt.Sprint(n / 2), "order": fmt.Sprint(n)})
		ids = append(ids, it.ID)
	}
	ids = append(ids, w.create("metadata", object{"week": "0 1", "a.b": "ü&="}).ID, w.create().ID,
		w.create("metadata", object{"a[b]": "1", "c]": "2", "[d": "3", "[": "4", "a": "5", "a[b": "6"}).ID)
	at := func(d time.Duration) string { return from.Add(d).Format(time.RFC3339) }
	for query, want := range map[string][]int{
		"publish_from=" + at(day):                              {3, 2, 1},
		"publish_to=" + at(day):                                {0},
		"publish_from=" + at(day) + "&publish_to=" + at(3*day): {2, 1},
		"publish_from=" + at(day) + "&publish_to=" + at(3*day) + "&factory_id=" + w.factory: {2, 1},
		"publish_from=" + at(9*day):                  {},
		"metadata[week]=0":                           {1, 0},
		"metadata%5Bweek%5D=1&metadata%5Border%5D=3": {3},
		"metadata[week]=1&metadata[order]=0":         {},
		"metadata[week]=0&publish_from=" + at(day) + "&order=asc&state=queued,generated": {1},
		"metadata[a.b]=%C3%BC%26%3D": {4},
		"metadata[week]=0%201":       {4},
		"metadata[a[b]]=1":           {6},
		"metadata%5Ba%5Bb%5D%5D=1&metadata[a]=5&metadata[a[b]=6": {6},
		"metadata[c]]=2":   {6},
		"metadata[[d]=3":   {6},
		"metadata[[]=4":    {6},
		"metadata[a[b]]=2": {},
		"metadata[b]=1":    {},
	} {
		var got []int
		for _, it := range apitest.All[item.Item](w.Caller, "/v1/content-items?"+query, 1) {
			got = append(got, slices.Index(ids, it.ID))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	for query, param := range map[string]string{
		"metadata=a": "metadata", "metadata[]=a": "metadata[]", "metadata[a][b]=c": "metadata[a][b]", "metadata[a": "metadata[a",
		"metadata[a]=": "metadata[a]", "meta[a]=b": "meta[a]", "metadata[a]=b&metadata[a]=c": "metadata[a]",
		"publish_from=" + at(day) + "&publish_to=" + at(day): "publish_from", "publish_from=monday": "publish_from",
	} {
		w.Call(http.MethodGet, "/v1/content-items?"+query, nil).Refused(t, 422, errs.ValidationFailed, param)
	}
	// A list follows changes.
	w.Call(http.MethodPatch, path(ids[0]), object{"metadata": object{"week": "9"}}).Into(t, http.StatusOK, new(item.Item))
	if got := apitest.All[item.Item](w.Caller, "/v1/content-items?metadata[week]=9", 10); len(got) != 1 {
		t.Errorf("found %+v", got)
	}
}
