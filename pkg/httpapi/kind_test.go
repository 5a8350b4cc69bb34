package httpapi_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

type object = map[string]any

// kindThing is a kind with a member of each sort: one that callers set, one with parts, one that lists select, and one
// that only the service knows. Callers also send a secret that nobody sees.
type kindThing struct {
	resource.Resource
	Name  string    `json:"name"`
	Note  *string   `json:"note"`
	Price kindPrice `json:"price"`
	State string    `json:"state" filter:"state"`
	// Seed has more digits than a float64.
	Seed int64 `json:"seed"`
}

type kindPrice struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

type createBody struct {
	Name     string            `json:"name"`
	Note     *string           `json:"note,omitempty" nullable:"true"`
	Price    kindPrice         `json:"price"`
	Secret   string            `json:"secret,omitempty"`
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type patchBody struct {
	Name  string  `json:"name,omitempty"`
	Note  *string `json:"note,omitempty" nullable:"true"`
	Price *struct {
		Amount   int64  `json:"amount,omitempty"`
		Currency string `json:"currency,omitempty"`
	} `json:"price,omitempty"`
	State    string                 `json:"state,omitempty" enum:"open,closed"`
	Secret   string                 `json:"secret,omitempty"`
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

type listInput struct {
	httpapi.PageInput
	resource.MetadataFilter
	State []string `query:"state" filter:"state" enum:"open,closed" nullable:"false"`
}

const seed = 1<<62 + 1

// things serves them, and notes what the functions of the kind are given.
type kindThings struct {
	kind    *kind.Kind[kindThing]
	secrets []string
	was     []kindThing
}

func (s *kindThings) Register(r *httpapi.Router) {
	show := func(_ context.Context, f *kind.Found[kindThing]) (kindThing, error) { return *f.Record, nil }
	kind.List[listInput](r, s.kind, httpapi.Op{ID: "listThings"}, show)
	kind.Create(r, s.kind, httpapi.Op{ID: "createThing", Opens: httpapi.Nothing},
		func(_ context.Context, _ *store.Tx, c *kind.Change[kindThing, createBody]) error {
			c.Record.State, c.Record.Seed = "open", seed
			s.secrets = append(s.secrets, c.Body.Secret)
			return nil
		}, show)
	kind.Get(r, s.kind, httpapi.Op{ID: "getThing"}, show)
	kind.Update(r, s.kind, httpapi.Op{ID: "updateThing", Opens: httpapi.Nothing},
		func(_ context.Context, _ *store.Tx, c *kind.Change[kindThing, patchBody]) error {
			s.secrets, s.was = append(s.secrets, c.Body.Secret), append(s.was, *c.Was)
			return nil
		}, show)
	kind.Delete(r, s.kind, httpapi.Op{ID: "deleteThing", Errors: []errs.Code{errs.InvalidState}},
		func(_ context.Context, _ *store.Tx, f *kind.Found[kindThing]) error {
			if f.Record.State == "open" {
				return errs.New(errs.InvalidState, "It is open.")
			}
			return nil
		}, show)
}

func newWorld(t *testing.T) (*servicetest.World, *kindThings) {
	t.Helper()
	w := servicetest.New(t)
	s := &kindThings{kind: kind.Kind[kindThing]{Name: "webhook", ID: id.Webhook, Path: "/v1/webhooks/{webhook_id}",
		Function: "webhook", Tag: "Things", Reads: auth.WebhooksManage, Writes: auth.WebhooksManage,
		Count: func(tx *store.Tx, _ time.Time, it *store.Item) { quota.Take(tx, it, 2, "things") }}.On(w.DB, w.Now)}
	w.Serve(s)
	return w, s
}

func made(w *servicetest.World, name string) (v kindThing) {
	w.T.Helper()
	w.Call(http.MethodPost, "/v1/webhooks", object{"name": name, "note": "a", "price": object{"amount": 5,
		"currency": "EUR"}, "secret": "x", "metadata": object{"a": "1", "b": "2"}}).Into(w.T, http.StatusCreated, &v)
	return v
}

// A patch changes what it names, and nothing else: also what only the service knows stays, to the last digit.
func TestAPatchIsMergedIntoTheRecord(t *testing.T) {
	w, s := newWorld(t)
	v := made(w, "one")
	if v.State != "open" || v.Price != (kindPrice{5, "EUR"}) || v.Version != 1 || v.Seed != seed {
		t.Fatalf("%+v", v)
	}
	at := "/v1/webhooks/" + v.ID
	w.Clock.Add(time.Minute)
	var got kindThing
	w.Call(http.MethodPatch, at, object{"note": nil, "price": object{"amount": 7}, "secret": "y",
		"metadata": object{"a": nil, "c": "3"}}, "If-Match", `"1"`).Into(t, http.StatusOK, &got)
	if got.Name != "one" || got.Note != nil || got.Price != (kindPrice{7, "EUR"}) || got.Version != 2 || got.Seed != seed ||
		len(got.Metadata) != 2 || got.Metadata["c"] != "3" || !got.UpdatedAt.After(got.CreatedAt.Time) {
		t.Errorf("%+v", got)
	}
	if len(s.secrets) != 2 || s.secrets[1] != "y" || s.was[0].Price.Amount != 5 {
		t.Errorf("the kind was given %v and %+v", s.secrets, s.was)
	}
	w.Call(http.MethodPatch, at, object{"name": "two"}, "If-Match", `"1"`).
		Refused(t, http.StatusPreconditionFailed, errs.VersionMismatch, "If-Match")
	var bare kindThing
	w.Call(http.MethodPatch, at, object{"metadata": nil}).Into(t, http.StatusOK, &bare)
	if bare.Metadata == nil || len(bare.Metadata) != 0 {
		t.Errorf("%v", bare.Metadata)
	}
	w.Stranger().Call(http.MethodGet, at, nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
}

func TestMembersWithTheTagAreFilters(t *testing.T) {
	w, _ := newWorld(t)
	first, second := made(w, "one"), made(w, "two")
	w.Call(http.MethodPatch, "/v1/webhooks/"+first.ID, object{"state": "closed"}).Into(t, http.StatusOK, new(kindThing))
	for query, want := range map[string][]string{"": {second.ID, first.ID}, "?state=open": {second.ID},
		"?state=closed": {first.ID}, "?state=closed,open&order=asc": {first.ID, second.ID},
		"?state=open&metadata[a]=1": {second.ID}, "?metadata[a]=2": {}} {
		var all []kindThing
		w.Call(http.MethodGet, "/v1/webhooks"+query, nil).Into(t, http.StatusOK, &all)
		if len(all) != len(want) {
			t.Errorf("%s: %d", query, len(all))
			continue
		}
		for i, v := range all {
			if v.ID != want[i] {
				t.Errorf("%s: %s at %d", query, v.Name, i)
			}
		}
	}
}

// What was deleted is not counted any more. Its kind may refuse the deletion.
func TestADeletedResourceIsNotCounted(t *testing.T) {
	w, _ := newWorld(t)
	first := made(w, "one")
	made(w, "two")
	body := object{"name": "three", "price": object{"amount": 5, "currency": "EUR"}}
	w.Call(http.MethodPost, "/v1/webhooks", body).Refused(t, http.StatusConflict, errs.InvalidState, "")
	at := "/v1/webhooks/" + first.ID
	w.Call(http.MethodDelete, at, nil).Refused(t, http.StatusConflict, errs.InvalidState, "")
	w.Call(http.MethodDelete, at, nil, "If-Match", "1").
		Refused(t, http.StatusBadRequest, errs.InvalidHeader, "If-Match")
	w.Call(http.MethodPatch, at, object{"state": "closed"}).Into(t, http.StatusOK, new(kindThing))
	w.Call(http.MethodDelete, at, nil).Into(t, http.StatusOK, new(kindThing))
	w.Call(http.MethodGet, at, nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
	w.Call(http.MethodPost, "/v1/webhooks", body).Into(t, http.StatusCreated, new(kindThing))
}
