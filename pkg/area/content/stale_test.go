package content_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/feed"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/task"
)

// moves has the catalog have another row of a product, and content follow it.
func (s *shelf) moves(sku, row string) {
	s.w.T.Helper()
	if s.rows[sku] = row; row == "" {
		delete(s.rows, sku)
	}
	s.sync()
	s.follow()
}

// waits checks that an item waits for its product, which is not as it shows it in some ways.
func (w *world) waits(name, itemID string, ways ...item.Way) {
	w.T.Helper()
	got := w.get(itemID)
	if got.State != item.Generated || got.WaitsFor != item.WaitsForProduct || !slices.Equal(got.Outdated, ways) {
		w.T.Fatalf("%s: it is %s, waits for %s, outdated %v", name, got.State, got.WaitsFor, got.Outdated)
	}
}

// goesOut checks that an item is scheduled as it was, and is published.
func (s *shelf) goesOut(name, itemID string) {
	s.w.T.Helper()
	s.w.work()
	if got := s.w.get(itemID); got.State != item.Scheduled || got.WaitsFor != item.WaitsForTime ||
		len(got.Outdated) != 0 {
		s.w.T.Fatalf("%s: it is %s, waits for %s, outdated %v", name, got.State, got.WaitsFor, got.Outdated)
	}
	if got := s.publishes(itemID, 48*time.Hour); got.State != item.Published || len(got.Outdated) != 0 {
		s.w.T.Errorf("%s: it is %s, outdated %v", name, got.State, got.Outdated)
	}
}

// What an item waits for may be over in other ways than by the price that it shows.
func TestWhatEndsTheWaitForAProduct(t *testing.T) {
	w := newWorld(t)
	s, telegram := newShelf(w), w.connect("telegram")
	for name, row := range map[string]string{"currency": "129 USD", "gone": "", "sold out": "129 EUR,out of stock"} {
		it := s.present("A", telegram, 24*time.Hour)
		s.moves("A", row)
		w.waits(name, it.ID, map[string]item.Way{"currency": item.PriceChanged, "gone": item.Removed,
			"sold out": item.SoldOut}[name])
		s.moves("A", "129 EUR")
		s.goesOut(name, it.ID)
	}
	// Its owner edits and schedules it meanwhile.
	it := s.present("A", telegram, 24*time.Hour)
	s.moves("A", "139 EUR")
	w.waits("edited", it.ID, item.PriceChanged)
	w.Call(http.MethodPatch, path(it.ID), object{"caption": "Neu."}).Into(t, http.StatusOK, new(any))
	w.waits("edited", it.ID, item.PriceChanged)
	w.schedule(it.ID, w.Now().Add(24*time.Hour).Truncate(time.Second))
	s.moves("A", "129 EUR")
	s.goesOut("scheduled by its owner", it.ID)
	// The feed comes to keep content.
	it = s.present("A", telegram, 24*time.Hour)
	s.moves("A", "129 EUR,out of stock")
	w.waits("kept", it.ID, item.SoldOut)
	feeds := "/v1/factories/" + s.seller + "/feed"
	s.Call(http.MethodPut, feeds, object{"format": "csv", "on_sold_out": "keep",
		"source": object{"url": "https://93.184.215.14/feed.csv"}}).Into(t, http.StatusOK, new(any))
	s.sync()
	s.follow()
	s.goesOut("kept", it.ID)
	// Without a feed nothing tells when the product is again as it was: the item waits for its owner.
	it = s.present("A", telegram, 24*time.Hour)
	s.moves("A", "139 EUR")
	w.waits("without a feed", it.ID, item.PriceChanged)
	round := s.feed().FollowRound
	s.Call(http.MethodDelete, feeds, nil).Into(t, http.StatusOK, new(any))
	w.Clock.Add(3 * time.Second)
	s.take(task.ID(feed.FollowKind, s.seller, round+1))
	got := s.publishes(it.ID, 48*time.Hour)
	if got.State != item.Generated || got.WaitsFor != item.WaitsForSlot || got.PublishAt != nil ||
		!slices.Equal(got.Outdated, item.Ways{item.PriceChanged}) {
		t.Errorf("without a feed it is %s, waits for %s until %v, outdated %v", got.State, got.WaitsFor, got.PublishAt,
			got.Outdated)
	}
	// A product that was deleted does not come back.
	s2 := newShelf(w)
	it = s2.present("B", telegram, 24*time.Hour)
	s2.Call(http.MethodDelete, "/v1/products/"+s2.product("B"), nil).Into(t, http.StatusOK, new(any))
	if got = s2.publishes(it.ID, 24*time.Hour); got.State != item.Generated || got.WaitsFor != item.WaitsForProduct {
		t.Errorf("with a product that was deleted it is %s, waits for %s", got.State, got.WaitsFor)
	}
}

// Offers begin, end and move between the run that has read them and the post.
func TestOffersBetweenARunAndAPost(t *testing.T) {
	start := apitest.NewClock().Now()
	day := func(n int) string { return start.AddDate(0, 0, n).Format("2006-01-02T15:04Z") }
	sale := func(price string, from, to int) string {
		return "129 EUR,in_stock," + price + "," + day(from) + "/" + day(to)
	}
	changed := item.Ways{item.OfferChanged}
	for _, c := range []struct {
		name, before, after string // after is empty if no run follows
		want                item.Ways
	}{
		{"it goes on", sale("99 EUR", -1, 9), "", nil},
		{"it ends", sale("99 EUR", -1, 2), "", changed},
		{"it begins", sale("99 EUR", 2, 9), "", changed},
		{"it begins later", sale("99 EUR", 4, 9), "", nil},
		{"it is put off", sale("99 EUR", -1, 9), sale("99 EUR", 5, 9), changed},
		{"it ends earlier", sale("99 EUR", -1, 9), sale("99 EUR", -1, 5), changed},
		{"it ends later", sale("99 EUR", -1, 9), sale("99 EUR", -1, 12), nil},
		{"it costs less", sale("99 EUR", -1, 9), sale("89 EUR", -1, 9), changed},
		{"it costs the same in another currency", "129 EUR", "129 CHF", item.Ways{item.PriceChanged}},
		{"the price changes and changes back", "129 EUR", "back", nil},
		{"it ends and begins anew", sale("99 EUR", -1, 9), "back", changed}, // the law compares it with another price
	} {
		w := newWorld(t)
		s, telegram := newShelf(w), w.connect("telegram")
		s.rows["A"] = c.before
		s.sync()
		made := w.generated("factory_id", s.seller, "product_id", s.product("A"))
		it := w.schedule(made.ID, w.Now().Add(72*time.Hour).Truncate(time.Second), "social_account_ids",
			[]string{telegram})
		if c.after == "back" {
			s.rows["A"] = "139 EUR"
			s.sync()
			c.after = c.before
		}
		if c.after != "" {
			s.rows["A"] = c.after
			s.sync()
		}
		got := s.publishes(it.ID, 72*time.Hour)
		if held := got.WaitsFor == item.WaitsForProduct; held != (c.want != nil) || held && !slices.Equal(got.Outdated,
			c.want) || !held && got.State != item.Published {
			t.Errorf("%s: it is %s, waits for %s, outdated %v", c.name, got.State, got.WaitsFor, got.Outdated)
		}
	}
}

// A post that has waited at its account for an earlier one is compared once more before anything is sent.
func TestAPostThatWaitsAtItsAccount(t *testing.T) {
	w := newWorld(t)
	s, telegram := newShelf(w), w.connect("telegram")
	first := w.generated("factory_id", s.seller, "product_id", s.product("B"))
	at := w.Now().Add(time.Hour).Truncate(time.Second)
	w.schedule(first.ID, at, "social_account_ids", []string{telegram}, "sandbox", object{"delay_seconds": 60})
	made := w.generated("factory_id", s.seller, "product_id", s.product("A"))
	w.schedule(made.ID, at.Add(time.Second), "social_account_ids", []string{telegram})
	w.Clock.Add(time.Hour + time.Second)
	w.work()
	if a, b := w.get(first.ID).State, w.get(made.ID).State; a != item.Publishing || b != item.Publishing {
		t.Fatalf("they are %s and %s", a, b)
	}
	s.rows["A"] = "139 EUR"
	s.sync()
	for range 3 {
		w.Clock.Add(time.Minute)
		w.work()
	}
	got := w.get(made.ID)
	if w.get(first.ID).State != item.Published || got.State != item.Failed || got.Failure == nil ||
		got.Failure.Code != item.FailedOutdated || !got.Failure.Retryable {
		t.Fatalf("it is %s, %+v", got.State, got.Failure)
	}
	w.Call(http.MethodPost, path(made.ID, "regenerate"), object{}).Into(t, http.StatusAccepted, new(any))
	w.doAttempt(made.ID, 2)
	w.publish(made.ID, "social_account_ids", []string{telegram})
	if got = s.publishes(made.ID, time.Minute); got.State != item.Published || s.shows(made.ID).Amount != 13900 {
		t.Errorf("it is %s with %s", got.State, s.shows(made.ID))
	}
}

// An item whose product changes while it is generated waits as soon as it is to be scheduled or published by itself.
func TestAProductThatChangesDuringTheGeneration(t *testing.T) {
	w := newWorld(t)
	s, telegram := newShelf(w), w.connect("telegram")
	w.Call(http.MethodPatch, "/v1/factories/"+s.seller, object{"auto_publish": true}).Into(t, http.StatusOK, new(any))
	w.factory = s.seller
	w.attach(telegram)
	for name, members := range map[string][]any{"at once": nil,
		"at a time": {"publish_at", w.Now().Add(24 * time.Hour).Truncate(time.Second)}} {
		it := w.create(append(members, "factory_id", s.seller, "product_id", s.product("A"))...)
		s.moves("A", "139 EUR") // it is not followed yet
		w.do(it.ID)
		w.work()
		w.waits(name, it.ID, item.PriceChanged)
		if n := w.events(it.ID)[event.ContentUnscheduled]; n != 1 {
			t.Errorf("%s: content.unscheduled happened %d times", name, n)
		}
		s.moves("A", "129 EUR")
		if w.work(); len(members) > 0 {
			s.goesOut(name, it.ID)
		} else if got := w.get(it.ID); got.State != item.Published {
			t.Errorf("%s: it is %s, waits for %s", name, got.State, got.WaitsFor)
		}
	}
}
