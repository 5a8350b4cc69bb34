package main

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// madeContent makes a factory with a content item. It returns the account, the factory's id and
// the attributes of the item.
func madeContent(t *testing.T, db *store.DB, now func() time.Time) (account, factoryID string,
	attributes map[string]string) {
	t.Helper()
	c := apitest.New(t, db, &apitest.Log{}, now, factory.NewService(db, now))
	var f struct{ ID string }
	c.Call(http.MethodPost, "/v1/factories", `{"type":"blogger","name":"Blog"}`).Into(t, http.StatusCreated, &f)
	r := item.Record{Item: item.Item{Resource: resource.New(id.New(id.ContentItem, now()), now(), nil), FactoryID: f.ID,
		Kind: item.Post, State: item.Generated}, History: []item.Past{{At: resource.Instant(now()), Made: 1}}}
	it, err := r.Entry(c.Principal.Owner)
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Create(it, nil)
	if err := db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	return string(it.Account), f.ID, map[string]string{"pk": it.PK, "sk": it.SK, "kind": it.Kind,
		"acc": string(it.Account), "mode": string(it.Mode), "doc": string(it.Doc)}
}

func TestAnalyticsAreVerifiedAndRebuilt(t *testing.T) {
	o := newOperator(t)
	account, factoryID, _ := madeContent(t, o.db, o.clock.Now)
	o.clock.Add(time.Hour)
	before := storetest.Snapshot(t, o.db)
	out, err := o.try("analytics", "verify", "--factory", factoryID)
	if !errors.Is(err, analytics.ErrWrong) || !strings.Contains(out, "is not counted as of its version 1") ||
		storetest.Snapshot(t, o.db) != before || len(o.entries(account+"#live")) != 0 {
		t.Errorf("%s, %v", out, err)
	}
	var r analytics.Report
	if o.run(&r, "analytics", "rebuild", "--factory", factoryID, "--operator", "ada"); r.WrongTotal != 1 ||
		r.Totals["made"] != 1 || r.Counted != 1 {
		t.Errorf("%+v", r)
	}
	if all := o.entries(account + "#live"); len(all) != 1 || all[0].OperationID != "admin.analytics.rebuild" ||
		all[0].Actor.ID != "ada" {
		t.Errorf("%+v", all)
	}
	if o.run(&r, "analytics", "verify", "--factory", factoryID); r.WrongTotal != 0 || r.Factory != factoryID ||
		r.Items != 1 {
		t.Errorf("%+v", r)
	}
	for _, args := range [][]string{{"analytics", "verify", "--factory", "fac_x"}, {"analytics", "rebuild"},
		{"analytics", "mend"}} {
		if _, err := o.try(args...); err == nil {
			t.Errorf("%v succeeds", args)
		}
	}
}
