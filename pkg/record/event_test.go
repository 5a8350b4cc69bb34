package record_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

type eventObject = map[string]any

// world is a table with a caller of the events' operations.
type eventWorld struct {
	*servicetest.World
	signer *media.Signer
	sign   error // of the credentials that addresses are signed with
}

func eventNewWorld(t *testing.T) *eventWorld {
	w := &eventWorld{World: servicetest.New(t)}
	var err error
	w.signer, err = media.NewSigner(aws.Config{Region: "eu-central-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, w.sign
		})}, "bucket", w.Clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	w.Serve(account.NewEvents(w.DB, w.signer))
	return w
}

// happen commits an event of the caller's account.
func (w *eventWorld) happen(mode tenant.Mode, t event.Type, object any, files ...media.File) store.Item {
	w.T.Helper()
	it, err := event.New(w.Clock.Now(), tenant.Of(w.Principal.Account, mode), t, object, files)
	if err != nil {
		w.T.Fatal(err)
	}
	w.create(it)
	w.Clock.Add(time.Minute)
	return it
}

func (w *eventWorld) create(it store.Item) {
	w.T.Helper()
	w.Commit(func(tx *store.Tx) error {
		tx.Create(it, nil)
		return nil
	})
}

func TestTheTypes(t *testing.T) {
	want := strings.Fields(`content.generated content.published content.failed content.canceled content.deleted
		content.updated content.scheduled content.unscheduled content.approved content.changes_requested
		publication.deleted comment.created comment.replied
		factory.created factory.updated proposal.created proposal.applied balance.low content_plan.proposed content_plan.completed content_plan.failed
		studio.generated studio.failed training.completed training.failed diagnosis.completed social_account.connected social_account.needs_reconnect
		webhook.disabled api_key.expiring api_key.created api_key.rotated api_key.revoked integration.needs_reconnect automation.failed
		model.retiring experiment.decided media.ready media.rejected post_import.completed export.completed import.completed
		feed.completed feed.held feed.failed product.outdated`)
	var got []string
	for _, k := range event.Types {
		got = append(got, string(k.Type))
		if k.Summary == "" {
			t.Errorf("%s is unexplained", k.Type)
		}
		// Lists are filtered by the prefix of a type.
		for _, other := range event.Types {
			if other.Type != k.Type && strings.HasPrefix(string(other.Type), string(k.Type)) {
				t.Errorf("%s begins with %s", other.Type, k.Type)
			}
		}
		var sample eventObject
		if err := json.Unmarshal(event.SampleObject(k.Type), &sample); err != nil || sample["id"] == nil {
			t.Errorf("%s has no sample: %v", k.Type, err)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestAnEventIsReadAsItHappened(t *testing.T) {
	w := eventNewWorld(t)
	at := w.Clock.Now()
	it := w.happen("test", event.BalanceLow, eventObject{"id": "acc_1", "credits": 7, "note": "<&>"})
	a := w.Call(http.MethodGet, "/v1/events/"+it.PK, nil)
	var got event.Event
	a.Into(t, http.StatusOK, &got)
	if got.ID != it.PK || !id.Valid(id.Event, got.ID) || got.Type != event.BalanceLow || !got.CreatedAt.Equal(at) ||
		got.AccountID != w.Principal.Account || got.Mode != "test" || got.APIVersion != "v1" {
		t.Errorf("%+v", got)
	}
	var o eventObject
	if err := json.Unmarshal(got.Data.Object, &o); err != nil || len(o) != 3 || o["credits"] != 7.0 ||
		o["note"] != "<&>" {
		t.Errorf("%s, %v", got.Data.Object, err)
	}
	if a.Header.Get("ETag") != "" {
		t.Error("an event never changes, and has an ETag")
	}
	row := storetest.Rows(t, w.DB)[0]
	if row["kind"] != "event" || row["ttl"] != fmt.Sprint(at.Add(30*24*time.Hour).Unix()) {
		t.Errorf("%v", row)
	}
}

func TestMediaAreSignedForEachReading(t *testing.T) {
	w := eventNewWorld(t)
	file := media.File{ID: "cnt_1_1_1", Type: media.Image, MIMEType: "image/png", Key: "media/acc_1/test/cnt_1/1/1.png",
		Width: 4, Height: 5, Bytes: 7, SHA256: "00"}
	it := w.happen("test", event.ContentGenerated, eventObject{"id": "cnt_1", "factory_id": "fac_1", "media": []any{},
		"title": "T"}, file)
	read := func() (o struct {
		ID, Title string
		Media     []media.View
	}) {
		t.Helper()
		var e event.Event
		w.Call(http.MethodGet, "/v1/events/"+it.PK, nil).Into(t, http.StatusOK, &e)
		if err := json.Unmarshal(e.Data.Object, &o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	first := read()
	if first.ID != "cnt_1" || first.Title != "T" || len(first.Media) != 1 || first.Media[0].ID != file.ID ||
		first.Media[0].Width != 4 || !strings.Contains(first.Media[0].URL, file.Key) {
		t.Errorf("%+v", first)
	}
	w.Clock.Add(time.Hour)
	if second := read(); second.Media[0].URL == first.Media[0].URL {
		t.Error("an hour later the address is the old one")
	}
	if table := storetest.Snapshot(t, w.DB); strings.Contains(table, "X-Amz-Signature") ||
		!strings.Contains(table, file.Key) {
		t.Errorf("the table has\n%s", table)
	}
	if raw := w.Call(http.MethodGet, "/v1/events", nil).Raw; !strings.Contains(raw, "X-Amz-Signature") ||
		strings.Contains(raw, `"files"`) {
		t.Errorf("listed as %s", raw)
	}
	w.sign = errors.New("no credentials")
	w.Call(http.MethodGet, "/v1/events/"+it.PK, nil).Refused(t, 500, errs.Internal, "")
}

func TestWhatHasNoMediaStaysAsItIs(t *testing.T) {
	w := eventNewWorld(t)
	it := w.happen("test", event.ContentFailed, json.RawMessage(`{"b":1,"a":[],"media":[]}`))
	e, err := event.Render(t.Context(), it, w.signer)
	if err != nil || string(e.Data.Object) != `{"b":1,"a":[],"media":[]}` {
		t.Errorf("%s, %v", e.Data.Object, err)
	}
}

func TestTheBodyIsTheRenderedEvent(t *testing.T) {
	w := eventNewWorld(t)
	file := media.File{ID: "cnt_1_1_1", Type: media.Image, MIMEType: "image/png", Key: "media/a.png"}
	for name, it := range map[string]store.Item{
		"without media": w.happen("test", event.ContentFailed,
			eventObject{"id": "cnt_1", "title": "<&> ü \u2028 \"quoted\""}),
		"with media": w.happen("live", event.ContentGenerated, eventObject{"id": "cnt_1", "media": []any{}}, file),
	} {
		it, err := w.DB.Get(t.Context(), it.Key)
		if err != nil {
			t.Fatal(err)
		}
		e, err := event.Render(t.Context(), it, w.signer)
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := event.Body(t.Context(), it, w.signer); err != nil || string(got) != string(want) ||
			e.ID != it.PK {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
	}
	w.sign = errors.New("no credentials")
	it := w.happen("test", event.ContentGenerated, eventObject{"id": "cnt_1"}, file)
	if body, err := event.Body(t.Context(), it, w.signer); err == nil {
		t.Errorf("without credentials it is %s", body)
	}
}

func TestWhatCannotBeWritten(t *testing.T) {
	for _, object := range []any{func() {}, "text", []int{1}} {
		if it, err := event.New(time.Now(), tenant.Of("acc_1", tenant.Test), event.BalanceLow, object,
			nil); err == nil {
			t.Errorf("%T became %+v", object, it)
		}
	}
}

func TestListFiltersAndPeriod(t *testing.T) {
	w := eventNewWorld(t)
	start := w.Clock.Now()
	var all []string
	// The clock of the item's function was ahead of that of its first event.
	item, acc := id.New(id.ContentItem, start.Add(30*time.Second)), id.New(id.Account, start.Add(-time.Hour))
	for i := range 6 {
		all = append(all, w.happen("test", []event.Type{event.ContentGenerated, event.BalanceLow}[i%2],
			eventObject{"id": []string{item, acc, item}[i%3]}).PK)
	}
	at := func(i int) string {
		return url.QueryEscape(start.Add(time.Duration(i) * time.Minute).Format(time.RFC3339))
	}
	for query, want := range map[string][]int{
		"":                    {5, 4, 3, 2, 1, 0},
		"type=balance.low":    {5, 3, 1},
		"type=content.failed": nil,
		"type=content.*":      {4, 2, 0},
		"type=content_plan.*": nil,
		"type=*":              {5, 4, 3, 2, 1, 0},
		"type=content.failed,balance.low,content.*":                 {5, 4, 3, 2, 1, 0},
		"type=content.failed,balance.low":                           {5, 3, 1},
		"type=content.failed,*":                                     {5, 4, 3, 2, 1, 0},
		"order=asc&type=content_plan.*,content.*":                   {0, 2, 4},
		"object_id=" + item:                                         {5, 3, 2, 0},
		"object_id=" + acc:                                          {4, 1},
		"order=asc&object_id=" + item:                               {0, 2, 3, 5},
		"object_id=" + item + "&type=balance.low,content.failed":    {5, 3},
		"object_id=" + item + "&from=" + at(2) + "&to=" + at(4):     {3, 2},
		"object_id=" + id.New(id.ContentItem, start):                nil,
		"object_id=" + id.New(id.ContentItem, start.Add(time.Hour)): nil,
		"type=balance.*&from=" + at(2):                              {5, 3},
		"from=" + at(4):                                             {5, 4},
		"to=" + at(1):                                               {0},
		"from=" + at(1) + "&to=" + at(4):                            {3, 2, 1},
		"type=balance.low&from=" + at(2):                            {5, 3},
		"from=2020-01-01T00:00:00Z":                                 {5, 4, 3, 2, 1, 0},
		"from=1960-01-01T00:00:00Z":                                 {5, 4, 3, 2, 1, 0},
		"to=1960-01-01T00:00:00Z":                                   nil,
		"from=9999-12-31T23:59:59Z":                                 nil,
	} {
		for limit := 1; limit <= 7; limit += 2 {
			var got []int
			for _, e := range apitest.All[event.Event](w.Caller, "/v1/events?"+query, limit) {
				got = append(got, slices.Index(all, e.ID))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d at a time: got %v, want %v", query, limit, got, want)
			}
		}
	}
	for query, param := range map[string]string{"type=content.made": "type", "type=content": "type",
		"type=con*": "type", "type=content.generated,balance.lost": "type", "type=balance.low,": "type",
		"object_id=cnt_1": "object_id", "object_id=": "object_id", "from=x": "from", "from=" + at(2) +
			"&to=" + at(1): "from", "mode=live": "mode"} {
		w.Call(http.MethodGet, "/v1/events?"+query, nil).Refused(t, 422, errs.ValidationFailed, param)
	}
	cursor := "&limit=1&cursor=" + *w.Call(http.MethodGet, "/v1/events?limit=1&type=content.*,balance.low",
		nil).NextCursor
	w.Call(http.MethodGet, "/v1/events?type=balance.low,content.*"+cursor, nil).Into(t, http.StatusOK,
		new([]event.Event))
	for _, query := range []string{"type=content.*", "", "type=content.*,balance.low&object_id=" + item,
		"type=content.*,balance.low&order=asc"} {
		w.Call(http.MethodGet, "/v1/events?"+query+cursor, nil).Refused(t, 400, errs.InvalidCursor, "cursor")
	}
}

func TestNothingOfOthersIsFound(t *testing.T) {
	w := eventNewWorld(t)
	it := w.happen("test", event.BalanceLow, eventObject{"id": "acc_1"})
	live := w.happen("live", event.BalanceLow, eventObject{"id": "acc_1"})
	for name, c := range map[string]*apitest.Caller{"another account": w.Stranger(), "the other mode": w.Live()} {
		c.Call(http.MethodGet, "/v1/events/"+it.PK, nil).Refused(t, 404, errs.NotFound, "")
		for _, e := range apitest.All[event.Event](c, "/v1/events", 10) {
			if e.ID != live.PK || name == "another account" {
				t.Errorf("%s lists %+v", name, e)
			}
		}
	}
	for _, unknown := range []string{id.New(id.Event, w.Clock.Now()), "evt_1", string(w.Principal.Account)} {
		w.Call(http.MethodGet, "/v1/events/"+unknown, nil).Refused(t, 404, errs.NotFound, "")
	}
	w.As(func(p *auth.Principal) { p.Scopes = []auth.Scope{auth.AccountManage} }).Call(http.MethodGet,
		"/v1/events", nil).
		Refused(t, 403, errs.InsufficientScope, "")
}

func TestAnEventIsKeptFor30Days(t *testing.T) {
	w := eventNewWorld(t)
	it := w.happen("test", event.BalanceLow, eventObject{"id": "acc_1"})
	w.Clock.Add(30*24*time.Hour - time.Minute - time.Second)
	w.Call(http.MethodGet, "/v1/events/"+it.PK, nil).Into(t, http.StatusOK, new(event.Event))
	w.Clock.Add(time.Second)
	w.Call(http.MethodGet, "/v1/events/"+it.PK, nil).Refused(t, 404, errs.NotFound, "")
	if got := apitest.All[event.Event](w.Caller, "/v1/events", 10); len(got) != 0 {
		t.Errorf("listed are %+v", got)
	}
}

func TestAReferenceNamesAllThatRoutingNeeds(t *testing.T) {
	w := eventNewWorld(t)
	it := w.happen("test", event.ContentGenerated, eventObject{"id": "cnt_1", "factory_id": "fac_1"})
	read, err := w.DB.Get(t.Context(), it.Key)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := event.RefOf(read),
		(event.Ref{ID: it.PK, Type: event.ContentGenerated, Owner: tenant.Of(w.Principal.Account, tenant.Test),
			Factory: "fac_1"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if ref := event.RefOf(w.happen("test", event.BalanceLow, eventObject{"id": "acc_1"})); ref.Factory != "" {
		t.Errorf("%+v", ref)
	}
}

func TestEventsOfAllAccountsAreListedByTime(t *testing.T) {
	w := eventNewWorld(t)
	var want []string
	used := map[string]int{}
	for i := range 200 {
		it := w.happen([]tenant.Mode{tenant.Test, tenant.Live}[i%2], event.BalanceLow, eventObject{"id": "acc_1"})
		want = append(want, it.PK)
		used[it.Due.PK]++
	}
	if len(used) != event.Shards || len(event.Partitions()) != event.Shards {
		t.Errorf("200 events are in %v", used)
	}
	all := w.DB.Merge(store.Query{Index: store.ByDue, From: want[10], To: want[189], Limit: 7}, event.Partitions())
	var got []string
	for {
		items, err := all.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(items) == 0 {
			break
		}
		for _, it := range items {
			got = append(got, it.PK)
		}
	}
	if !slices.Equal(got, want[10:190]) {
		t.Errorf("got %v\nwant %v", got, want[10:190])
	}
}

func TestASampleIsReadButNotListed(t *testing.T) {
	w := eventNewWorld(t)
	it, err := event.NewSample(w.Clock.Now(), tenant.Of(w.Principal.Account, tenant.Test), event.ContentGenerated)
	if err != nil {
		t.Fatal(err)
	}
	w.create(it)
	if got := apitest.All[event.Event](w.Caller, "/v1/events", 10); len(got) != 0 {
		t.Errorf("listed are %+v", got)
	}
	if row := storetest.Rows(t, w.DB)[0]; row["kind"] == event.Kind {
		t.Error("the relay would send it to everybody")
	}
	e, err := event.Render(t.Context(), it, w.signer)
	if err != nil || e.Type != event.ContentGenerated || e.AccountID != w.Principal.Account {
		t.Errorf("%+v, %v", e, err)
	}
	at := w.Clock.Now()
	if a, b := event.Sample(event.BalanceLow, tenant.Of("acc_1", tenant.Test), at),
		event.Sample(event.BalanceLow, tenant.Of("acc_1", tenant.Test), at); a.ID != b.ID ||
		!id.Valid(id.Event, a.ID) || a.Type != event.BalanceLow {
		t.Errorf("%+v, %+v", a, b)
	}
}
