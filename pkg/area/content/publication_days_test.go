package content_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/store"
	fakevk "github.com/content-automation/api/testdata/platforms/vk"
)

// days returns the figures of the account by day.
func (w *publicationWorld) days(from, to time.Time) []platform.Day {
	w.t.Helper()
	items, err := w.db.GetAll(w.t.Context(), social.DaysKeys(w.account.ID, from, to)...)
	if err != nil {
		w.t.Fatal(err)
	}
	all, err := social.Days(items, owner, from, to)
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// measure takes the reading of accounts that is due.
func (w *publicationWorld) measure() {
	w.t.Helper()
	for range 4 {
		w.deliver(w.due(social.Measure), 2)
	}
}

// The figures of an account are read when it is connected, with those of earlier days, and then once a day.
func TestFiguresOfAnAccountByDay(t *testing.T) {
	w := newPublicationWorld(t, "instagram")
	today := platform.Midnight(w.clock.Now())
	w.measure()
	all := w.days(today.AddDate(0, 0, -89), today)
	if len(all) != 30 || all[29].Followers == nil || *all[29].Followers != 4200 || all[3].Reach == nil {
		t.Fatalf("there are %d days: %+v", len(all), all)
	}
	calls := w.fake.Calls()
	w.measure()
	if w.fake.Calls() != calls {
		t.Error("the account is read twice on a day")
	}
	for n := range 3 {
		w.clock.Advance(day)
		w.measure()
		if got := w.days(today, platform.Midnight(w.clock.Now())); len(got) != n+2 {
			t.Errorf("after %d days there are %d", n+1, len(got))
		}
		if w.fake.Calls() == calls {
			t.Errorf("the account is not read on day %d", n+1)
		}
		calls = w.fake.Calls()
	}
	// A figure of an earlier reading stays, and another owner sees none.
	if first := w.days(today, today); len(first) != 1 || first[0].Followers == nil {
		t.Errorf("the first day is %+v", first)
	}
	items, err := w.db.GetAll(t.Context(), social.DaysKeys(w.account.ID, today, today)...)
	if err != nil {
		t.Fatal(err)
	}
	if foreign, err := social.Days(items, tenant.Of("acc_2", tenant.Live), today, today); err != nil || foreign != nil {
		t.Errorf("another account sees %+v, %v", foreign, err)
	}
}

// The task ends with the connection, and there is none for a platform without figures.
func TestReadingAccountsEnds(t *testing.T) {
	w := newPublicationWorld(t, "instagram")
	w.measure()
	it, err := w.db.Get(t.Context(), store.IDKey(w.account.ID))
	if err != nil {
		t.Fatal(err)
	}
	r, err := social.Decode(&it)
	if err != nil {
		t.Fatal(err)
	}
	w.commit(func(tx *store.Tx) error { return r.Disconnect(tx, w.clock.Now(), it) })
	calls := w.fake.Calls()
	for range 3 {
		w.clock.Advance(day)
		w.measure()
	}
	if due := w.due(social.Measure); len(due) > 0 || w.fake.Calls() != calls {
		t.Errorf("%d readings are due after the disconnection", len(due))
	}
	w = newPublicationWorld(t, "rutube")
	w.measure()
	w.clock.Advance(2 * day)
	if due := w.due(social.Measure); len(due) > 0 {
		t.Error("an account without figures is read")
	}
}

// A platform that fails is asked again, and a right that is not granted does not end the connection.
func TestReadingAccountsUnderFaults(t *testing.T) {
	w := newPublicationWorld(t, "tiktok")
	w.reseal(func(a *platform.Account) { a.Token.Scopes = []string{"video.publish"} })
	w.measure()
	today := platform.Midnight(w.clock.Now())
	if got := w.days(today, today); len(got) > 0 {
		t.Errorf("without the right there are %+v", got)
	}
	if it, err := w.db.Get(t.Context(), store.IDKey(w.account.ID)); err != nil {
		t.Error(err)
	} else if r, err := social.Decode(&it); err != nil || !r.Usable() {
		t.Errorf("the account is %s, %v", r.State, err)
	}
	w = newPublicationWorld(t, "instagram")
	for range 3 {
		w.fake.Fail(w.fake.Calls()+1, platformtest.ServerError)
		w.deliver(w.due(social.Measure), 1)
		if got := w.days(today, today); len(got) > 0 {
			t.Fatalf("after an error of the platform there are %+v", got)
		}
		w.clock.Advance(10 * time.Minute)
	}
	w.fake.Calm()
	w.measure()
	if got := w.days(today, today); len(got) != 1 {
		t.Errorf("after the faults there are %+v", got)
	}
}

// An account whose credentials cannot be opened, or whose platform refuses the figures for good, is tried once a day,
// and the log has it once. The key service is asked again for a while, because its errors pass.
func TestReadingAccountsThatCannotBeRead(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	for name, c := range map[string]struct {
		platform string
		vault    *seal.Envelope // nil: the usual one
		scopes   []string
		most     int // attempts a day
	}{
		"another key":    {"instagram", sealtest.Envelope("other"), nil, 1},
		"no key service": {"instagram", seal.NewEnvelope(noKeys{}, time.Now), nil, 10},
		"a refusal":      {"tiktok", nil, []string{"video.publish"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPublicationWorld(t, c.platform)
			w.last()
			usual := w.worker.Vault
			if c.vault != nil {
				w.worker.Vault = social.Vault{Envelope: c.vault}
			}
			w.reads(c.scopes, usual)
			w.deliver(w.due(social.Measure), 2) // starts the import of earlier posts
			log.Reset()
			tried := 0
			for range 3 * 24 * 60 / 10 { // three days
				w.clock.Advance(10 * time.Minute)
				due := w.due(social.Measure)
				tried += len(due)
				w.deliver(due, 2)
			}
			if tried < 3 || tried > 4*c.most {
				t.Errorf("in three days there are %d attempts, want up to %d a day", tried, c.most)
			}
			if n := strings.Count(log.String(), "figures of an account not read"); n != 1 {
				t.Errorf("the log has it %d times: %s", n, &log)
			}
			w.worker.Vault = usual
			w.reads([]string{}, usual)
			w.clock.Advance(day)
			w.measure()
			if today := platform.Midnight(w.clock.Now()); len(w.days(today, today)) != 1 {
				t.Error("in the end the account is not read")
			}
		})
	}
}

// reads sets the scopes of the account, unless they are nil.
func (w *publicationWorld) reads(scopes []string, vault social.Vault) {
	if scopes == nil {
		return
	}
	now := w.worker.Vault
	w.worker.Vault = vault
	w.reseal(func(a *platform.Account) { a.Token.Scopes = scopes })
	w.worker.Vault = now
}

// Days without figures are not stored, and earlier ones are read again until the platform tells them.
func TestEarlierDaysFollowTheRight(t *testing.T) {
	w := newPublicationWorld(t, "vk")
	w.last()
	fake := w.fake.(*fakevk.Fake)
	fake.Editor = true
	w.measure()
	first := platform.Midnight(w.clock.Now())
	if got := w.days(first.AddDate(0, 0, -89), first); len(got) != 1 || got[0].Reach != nil {
		t.Fatalf("without the right there are %+v", got)
	}
	fake.Editor = false
	w.clock.Advance(day)
	w.measure()
	if got := w.days(first.AddDate(0, 0, -88), first.AddDate(0, 0, 1)); len(got) != 90 || got[0].Reach == nil {
		t.Errorf("with the right there are %d days", len(got))
	}
}

// noKeys is a key service that is out of order.
type noKeys struct{}

func (noKeys) Generate(context.Context, string) (key, wrapped []byte, err error) {
	return nil, nil, errors.New("connection reset")
}

func (noKeys) Unwrap(context.Context, string, []byte) ([]byte, error) {
	return nil, errors.New("connection reset")
}
