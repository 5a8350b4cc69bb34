package content_test

import (
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/store"
)

const day = 24 * time.Hour

// readable is an adapter with other limits of its readings.
type readable struct {
	platform.Adapter
	reads  *platform.Reads
	budget *platform.Budget
}

func (r readable) Capabilities() platform.Capabilities {
	c := r.Adapter.Capabilities()
	c.Reads, c.Budget = r.reads, r.budget
	return c
}

// last gives the account a token that lasts as long as the test.
func (w *publicationWorld) last() {
	w.t.Helper()
	w.reseal(func(a *platform.Account) {
		access, refresh := w.fake.(granter).Grant(365 * day)
		a.Token.Access, a.Token.Refresh = platform.Secret(access), platform.Secret(refresh)
	})
}

// reseal changes the sealed account.
func (w *publicationWorld) reseal(change func(*platform.Account)) {
	w.t.Helper()
	it, err := w.db.Get(w.t.Context(), store.IDKey(w.account.ID))
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := social.Decode(&it)
	if err != nil {
		w.t.Fatal(err)
	}
	_, a, err := w.worker.Vault.Token(w.t.Context(), owner, &r)
	if err != nil {
		w.t.Fatal(err)
	}
	change(&a)
	if r.SealedAccount, err = w.worker.Vault.Seal(w.t.Context(), owner, r.ID, a); err != nil {
		w.t.Fatal(err)
	}
	w.commit(func(tx *store.Tx) error { return r.Replace(tx, w.clock.Now(), it, "") })
}

// posted publishes the item, and returns the time of its post.
func (w *publicationWorld) posted() time.Time {
	w.t.Helper()
	w.publish()
	for range 100 {
		if _, r := w.read(); r.Item.State == item.Published {
			return r.Item.Publications[0].PublishedAt.Time
		}
		w.deliver(w.due(), 1)
		w.clock.Advance(10 * time.Second)
	}
	w.t.Fatal("it is not published")
	return time.Time{}
}

// to moves the clock to an age of a post, and takes the readings that are due then. Each message arrives twice.
func (w *publicationWorld) to(at time.Time, age time.Duration) []item.Metrics {
	w.t.Helper()
	w.clock.Advance(at.Add(age).Sub(w.clock.Now()))
	for range 3 {
		w.deliver(w.due(publication.Read), 2)
	}
	return w.history()
}

// history returns the metrics of the publication over time.
func (w *publicationWorld) history() []item.Metrics {
	w.t.Helper()
	_, r := w.read()
	return w.historyOf(r.Item.Publications[0].ID)
}

func (w *publicationWorld) historyOf(publicationID string) []item.Metrics {
	w.t.Helper()
	found, err := w.db.GetAll(w.t.Context(), item.ReadingsKey(publicationID))
	if err != nil {
		w.t.Fatal(err)
	}
	all, err := item.History(found[0])
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// The metrics are read after 1, 6 and 24 hours, and then each day up to the 90th.
func TestTheScheduleOfReadings(t *testing.T) {
	w := newPublicationWorld(t, "rutube")
	w.last()
	at := w.posted()
	ages := []time.Duration{time.Hour, 6 * time.Hour}
	for n := range 90 {
		ages = append(ages, time.Duration(n+1)*day)
	}
	for i, age := range ages {
		if before := w.to(at, age-time.Minute); len(before) != i {
			t.Fatalf("a minute before the age %v, there are %d readings, want %d", age, len(before), i)
		}
		if got := w.to(at, age); len(got) != i+1 {
			t.Fatalf("at the age %v, there are %d readings, want %d", age, len(got), i+1)
		}
	}
	all := w.to(at, 120*day)
	if len(all) != 92 {
		t.Errorf("there are %d readings, want 92", len(all))
	}
	for i, m := range all {
		if got := m.ReadAt.Sub(at); got < ages[i] || got > ages[i]+time.Minute || m.Views == nil || m.Likes != nil {
			t.Errorf("the reading %d is of the age %v, want %v: %+v", i, got, ages[i], m)
		}
	}
}

// Readings that nobody could take are not made up for, because they would all be the same.
func TestReadingsAfterAPause(t *testing.T) {
	w := newPublicationWorld(t, "rutube")
	w.last()
	at := w.posted()
	if got := w.to(at, 10*day+time.Hour); len(got) != 1 {
		t.Errorf("after ten days there are %d readings, want 1", len(got))
	}
	if got := w.to(at, 11*day); len(got) != 2 {
		t.Errorf("on the next day there are %d readings, want 2", len(got))
	}
}

// The readings of an item that is deleted expire.
func TestReadingsOfADeletedItem(t *testing.T) {
	w := newPublicationWorld(t, "rutube")
	w.last()
	if all := w.to(w.posted(), time.Hour); len(all) != 1 {
		t.Errorf("there are %+v", all)
	}
	_, r := w.read()
	w.commit(func(tx *store.Tx) error { return publication.Forget(tx, w.clock.Now(), owner, r) })
	if all := w.historyOf(r.Item.Publications[0].ID); len(all) != 0 {
		t.Errorf("there are %+v", all)
	}
}

// Readings beyond the bounds of a platform are left out: those of a number, and those of a part of its budget, which
// they share with publications.
func TestReadingsAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		reads  *platform.Reads
		budget *platform.Budget
		most   int64
	}{
		"a number": {reads: &platform.Reads{Max: 3}, most: 3},
		"a part of the budget": {reads: &platform.Reads{Price: 5, Part: 4},
			budget: &platform.Budget{Max: 80, Shared: true, Cost: func(platform.Post) int { return 1 }}, most: 4},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPublicationWorld(t, "rutube")
			w.worker.Platforms = only{readable{w.worker.Platforms.(only).Adapter, c.reads, c.budget}}
			var items []string
			for n := range 6 {
				if n > 0 {
					w.makeItem("cnt_" + string(rune('2'+n)))
				}
				items = append(items, w.item)
				w.posted()
			}
			perDay := map[string]int64{}
			for range 24 * 4 {
				w.clock.Advance(time.Hour)
				for range 4 {
					w.deliver(w.due(publication.Read), 2)
				}
			}
			for _, w.item = range items {
				for _, m := range w.history() {
					perDay[m.ReadAt.UTC().Format(time.DateOnly)]++
				}
			}
			var total int64
			for on, n := range perDay {
				if total += n; n > c.most {
					t.Errorf("on %s there are %d readings, want at most %d", on, n, c.most)
				}
			}
			if total < 6 {
				t.Errorf("there are %d readings in four days: %v", total, perDay)
			}
		})
	}
}

// A reading of a post whose account cannot be opened is left out.
func TestReadingsWithoutCredentials(t *testing.T) {
	w := newPublicationWorld(t, "rutube")
	w.last()
	at := w.posted()
	usual := w.worker.Vault
	w.worker.Vault = social.Vault{Envelope: sealtest.Envelope("other")}
	if got := w.to(at, time.Hour); len(got) != 0 {
		t.Fatalf("there are %d readings", len(got))
	}
	w.clock.Advance(time.Hour)
	if due := w.due(publication.Read); len(due) > 0 {
		t.Error("the reading is tried again before the next one")
	}
	w.worker.Vault = usual
	if got := w.to(at, 6*time.Hour); len(got) != 1 {
		t.Errorf("afterwards there are %d readings", len(got))
	}
}
