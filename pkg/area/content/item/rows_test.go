package item_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

var rowsOwner = tenant.Of("acc_1", tenant.Live)

// publishing stores an item that is being published on two accounts.
func publishing(t *testing.T, db *store.DB, now time.Time) {
	t.Helper()
	r := &item.Record{Item: item.Item{Resource: resource.New("cnt_1", now, nil), FactoryID: "fac_1", Kind: item.Post,
		State: item.Publishing}}
	for _, accountID := range []string{"soc_1", "soc_2"} {
		r.Item.Publications = append(r.Item.Publications, item.Publication{ContentItemID: r.Item.ID,
			SocialAccountID: accountID,
			Resource:        resource.New("pub_"+accountID, now, nil), State: item.PublicationPublishing})
	}
	tx := &store.Tx{}
	if err := errors.Join(r.Create(tx, rowsOwner), db.Commit(t.Context(), tx)); err != nil {
		t.Fatal(err)
	}
}

// ended returns the transaction that ends the publication to an account.
func ended(t *testing.T, db *store.DB, accountID string, now time.Time) *store.Tx {
	t.Helper()
	it, r, _, err := item.Lookup(t.Context(), db, rowsOwner, "cnt_1")
	if err != nil {
		t.Fatal(err)
	}
	pub, at, tx := r.Item.PublicationTo(accountID), resource.Instant(now), &store.Tx{}
	pub.State, pub.PublishedAt = item.PublicationPublished, &at
	pub.Touch(now)
	if err := errors.Join(r.EndPublishing(tx, rowsOwner, now), item.Replace(tx, it, r)); err != nil {
		t.Fatal(err)
	}
	return tx
}

// Of two publications that end at the same moment, one commits, and the other one ends the item when it is tried again.
func TestTwoPublicationsEndAtTheSameMoment(t *testing.T) {
	db, now := storetest.Open(t, time.Now), time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	publishing(t, db, now)
	one, other := ended(t, db, "soc_1", now), ended(t, db, "soc_2", now)
	if err := db.Commit(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if err := db.Commit(t.Context(), other); !errors.Is(err, store.ErrConflict) {
		t.Fatalf("the second commit: %v", err)
	}
	if err := db.Commit(t.Context(), ended(t, db, "soc_2", now)); err != nil {
		t.Fatal(err)
	}
	if _, r, _, err := item.Lookup(t.Context(), db, rowsOwner, "cnt_1"); err != nil || r.Item.State != item.Published {
		t.Errorf("the item is %s: %v", r.Item.State, err)
	}
}

// A change of a publication leaves the item as it is stored. The version of the item that callers see counts it, also
// after the item has changed and the publication is gone.
func TestAChangeOfAPublicationWritesItsRow(t *testing.T) {
	db, now := storetest.Open(t, time.Now), time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	publishing(t, db, now)
	change := func(by func(*item.Record)) (version, written int64) {
		t.Helper()
		it, r, _, err := item.Lookup(t.Context(), db, rowsOwner, "cnt_1")
		if err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Minute)
		by(r)
		r.Item.Touch(now)
		tx := &store.Tx{}
		if err := errors.Join(item.Replace(tx, it, r), db.Commit(t.Context(), tx)); err != nil {
			t.Fatal(err)
		}
		it, seen, _, err := item.Lookup(t.Context(), db, rowsOwner, "cnt_1")
		if err != nil || seen.Item.Version != r.Item.Version || !seen.Item.UpdatedAt.Equal(now) {
			t.Errorf("the version is %d of %s, want %d: %v", seen.Item.Version, seen.Item.UpdatedAt, r.Item.Version,
				err)
		}
		if strings.Contains(string(it.Doc), "soc_1#") || strings.Contains(string(it.Doc), "pub_") {
			t.Errorf("the item has its publications: %s", it.Doc)
		}
		return seen.Item.Version, it.Version
	}
	measured := func(r *item.Record) { r.Item.PublicationTo("soc_1").Touch(now) }
	for i := range int64(3) {
		if version, written := change(measured); version != 2+i || written != 1 {
			t.Errorf("after %d changes, the version is %d, and the item was written %d times", i+1, version, written)
		}
	}
	if version, written := change(func(r *item.Record) { r.Item.Caption = "New" }); version != 5 || written != 2 {
		t.Errorf("the version is %d, and the item was written %d times", version, written)
	}
	if version, written := change(func(r *item.Record) { r.Item.Publications = nil }); version != 6 || written != 3 {
		t.Errorf("the version is %d, and the item was written %d times", version, written)
	}
}
