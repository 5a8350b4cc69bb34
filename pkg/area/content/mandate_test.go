package content_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/testdata/breadth"
)

// agent returns a caller with another key, which has a mandate.
func (w *world) agent(name string, m keyrecord.Mandate) *apitest.Caller {
	w.T.Helper()
	m.ID = name + ":1"
	c := w.As(func(p *auth.Principal) {
		p.Actor, p.Mandate = auth.Key(id.Derived(id.APIKey, time.UnixMilli(1), name)), m.Terms()
		p.Withhold()
	})
	c.ChangeKey(func(k *keyrecord.Record) { k.Mandate = &m })
	return c
}

// night is a mandate for one platform and the day.
func (w *world) night() keyrecord.Mandate {
	return keyrecord.Mandate{Platforms: []string{"telegram"}, QuietHours: &auth.QuietHours{From: "22:00", To: "08:00",
		Timezone: "UTC"}}
}

// at moves the clock to the next such time of day, and returns it.
func (w *world) at(hour int) time.Time {
	now := w.Now().UTC()
	then := time.Date(now.Year(), now.Month(), now.Day()+1, hour, 0, 0, 0, time.UTC)
	w.Clock.Add(then.Sub(now))
	return then
}

func TestAnAgentPublishesWithinItsMandate(t *testing.T) {
	w := newWorld(t)
	telegram, vk := w.connect("telegram"), w.connect("vk")
	w.attach(telegram, vk)
	agent := w.agent("agent", w.night())
	noon := w.at(12)
	it := w.provide("caption", "Words")
	outside := func(a apitest.Answer, param, limit, from string) {
		t.Helper()
		a.Refused(t, http.StatusForbidden, errs.OutsideMandate, param)
		if from != "null" {
			from = `"` + from + `"`
		}
		a.Context(t, `{"mandate":"agent:1","member":"`+limit+`","from":`+from+`}`)
	}
	evening, morning := noon.Add(11*time.Hour), noon.Add(20*time.Hour).Format(resource.TimeLayout)
	both := []string{telegram, vk}
	outside(agent.Call("POST", path(it.ID, "publish"), object{"social_account_ids": both}), "", "platforms", "null")
	outside(agent.Call("POST", path(it.ID, "schedule"), object{"publish_at": noon.Add(time.Hour),
		"social_account_ids": []string{vk}}), "", "platforms", "null")
	outside(agent.Call("POST", path(it.ID, "schedule"), object{"publish_at": evening}), "", "quiet_hours", morning)
	outside(agent.Call("POST", "/v1/content-items", w.body("publish_at", evening)), "", "quiet_hours", morning)
	// The accounts of the factory that the mandate does not permit are left out.
	var got item.Item
	agent.Call("POST", path(it.ID, "schedule"), object{"publish_at": noon.Add(time.Hour)}).Into(t, 200, &got)
	if fmt.Sprint(got.SocialAccountIDs) != "["+telegram+"]" || len(got.OmittedAccounts) != 1 ||
		got.OmittedAccounts[0].Code != item.OmittedMandate {
		t.Errorf("%+v", got)
	}
	w.at(23)
	own := w.provide("caption", "Others")
	outside(agent.Call("POST", path(own.ID, "publish"), nil), "", "quiet_hours", w.Now().UTC().
		Truncate(time.Hour).Add(9*time.Hour).Format(resource.TimeLayout))
	w.publish(own.ID) // a key without a mandate
	// What a stronger key has scheduled elsewhere is not changed.
	strong := w.provide("caption", "Words")
	w.schedule(strong.ID, w.Now().Add(12*time.Hour), "social_account_ids", []string{vk})
	outside(agent.Call("PATCH", path(strong.ID), object{"caption": "AGENT"}), "", "platforms", "null")
}

func TestANextSlotIsNotInQuietHours(t *testing.T) {
	w := newWorld(t)
	w.attach(w.connect("telegram"))
	w.Call("PATCH", "/v1/factories/"+w.factory, object{"schedule": object{"timezone": "UTC", "times": []string{"07:00",
		"09:00", "23:00"}}}).Into(t, 200, new(object))
	w.at(20)
	it := w.provide("caption", "Words")
	var got item.Item
	w.agent("agent", w.night()).Call("POST", path(it.ID, "schedule"), object{"publish_at": "next_slot"}).
		Into(t, 200, &got)
	if got.PublishAt == nil || got.PublishAt.UTC().Hour() != 9 {
		t.Errorf("it is published at %v", got.PublishAt)
	}
}

// What is published by itself keeps to the mandate: it waits for the end of the quiet hours, and leaves other platforms
// out.
func TestAutomaticPublicationKeepsToTheMandate(t *testing.T) {
	w := newWorld(t)
	telegram := w.connect("telegram")
	w.attach(telegram, w.connect("vk"))
	w.Call("PATCH", "/v1/factories/"+w.factory, object{"auto_publish": true}).Into(t, 200, new(object))
	agent := w.agent("agent", w.night())
	w.at(23)
	var it item.Item
	agent.Call("POST", "/v1/content-items", w.body()).Into(t, 202, &it)
	w.Clock.Add(time.Second)
	w.do(it.ID)
	w.work()
	if got := w.get(it.ID); got.State != item.Generated {
		t.Fatalf("at night it is %s", got.State)
	}
	w.Clock.Add(9 * time.Hour)
	w.work()
	got := w.get(it.ID)
	if got.State != item.Published || len(got.Publications) != 1 || got.Publications[0].SocialAccountID != telegram ||
		len(got.OmittedAccounts) != 1 || got.OmittedAccounts[0].Code != item.OmittedMandate {
		t.Errorf("in the morning: %+v", got)
	}
}

// An item whose time has become a quiet one waits for another time once it is generated.
func TestAnOrderInNewQuietHoursWaitsForATime(t *testing.T) {
	w := newWorld(t)
	w.attach(w.connect("telegram"))
	agent := w.agent("agent", keyrecord.Mandate{})
	evening := w.at(12).Add(8 * time.Hour)
	var it item.Item
	agent.Call("POST", "/v1/content-items", w.body("publish_at", evening)).Into(t, 202, &it)
	agent.ChangeKey(func(k *keyrecord.Record) {
		k.Mandate.QuietHours = &auth.QuietHours{From: "19:00", To: "21:00", Timezone: "UTC"}
	})
	w.Clock.Add(time.Second)
	w.do(it.ID)
	w.work()
	w.Clock.Add(12 * time.Hour)
	w.work()
	if got := w.get(it.ID); got.State != item.Generated || got.WaitsFor != item.WaitsForSlot {
		t.Errorf("it is %s and waits for %s", got.State, got.WaitsFor)
	}
}

// The rights are those of the time of publication: an end of the mandate, and a platform that it lost, count.
func TestAMandateThatWasNarrowedEndsWhatIsScheduled(t *testing.T) {
	for name, narrow := range map[string]func(*world, *keyrecord.Mandate){
		"ended": func(w *world, m *keyrecord.Mandate) { at := resource.Instant(w.Now()); m.Until = &at },
		"other": func(_ *world, m *keyrecord.Mandate) { m.Platforms = []string{"vk"} },
		"held":  func(_ *world, m *keyrecord.Mandate) { m.NeedsPerson = []auth.Act{auth.ActPublish} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.attach(w.connect("telegram"))
			agent := w.agent("agent", w.night())
			at := w.at(12).Add(time.Hour)
			it := w.provide("caption", "Words")
			agent.Call("POST", path(it.ID, "schedule"), object{"publish_at": at}).Into(t, 200, new(object))
			agent.ChangeKey(func(k *keyrecord.Record) { narrow(w, k.Mandate) })
			w.Clock.Add(time.Hour)
			w.work()
			if got := w.get(it.ID); got.State != item.Failed || got.Failure.Code != item.FailedAuthority {
				t.Errorf("it is %s: %+v", got.State, got.Failure)
			}
		})
	}
}

func TestAMandateLeavesActsToPeople(t *testing.T) {
	w := newWorld(t)
	w.live(1000)
	w.attach(w.connect("telegram"))
	it := w.provide("caption", "Words")
	at := w.Now().Add(time.Hour)
	agent := w.agent("agent", keyrecord.Mandate{NeedsPerson: auth.AllActs()})
	for name, c := range map[string]struct {
		method, path, param string
		body                any
	}{
		"publish":             {"POST", path(it.ID, "publish"), "", nil},
		"schedule":            {"POST", path(it.ID, "schedule"), "", object{"publish_at": at}},
		"approve":             {"POST", "/v1/approvals/" + it.ID + "/approve", "", nil},
		"publish what is new": {"POST", "/v1/content-items", "/publish_at", w.body("publish_at", at)},
		"spend":               {"POST", "/v1/content-items", "", w.body()},
		"delete":              {"DELETE", path(it.ID), "", nil},
		"invite":              {"POST", "/v1/review-links", "", object{"content_item_ids": []string{it.ID}}},
	} {
		t.Run(name, func(t *testing.T) {
			agent.Call(c.method, c.path, c.body).Refused(t, http.StatusForbidden, errs.PersonRequired, c.param)
		})
	}
	// It prepares what a person publishes.
	var own item.Item
	agent.Call("POST", "/v1/content-items", object{"factory_id": w.factory, "kind": "post", "source": "provided",
		"caption": "Prepared"}).Into(t, 202, &own)
	agent.Call("PATCH", path(own.ID), object{"caption": "Better"}).Into(t, 200, new(object))
	w.publish(own.ID)
	if w.credits() != 1000 {
		t.Errorf("%d credits are left", w.credits())
	}
}

// trial is a random sequence of calls of an agent, with what its mandate permits, read without the code that checks it.
type trial struct {
	w        *world
	agent    *apitest.Caller
	m        keyrecord.Mandate
	random   *rand.Rand
	accounts map[string]string // ids by platform
	mu       sync.Mutex
	spent    map[string]int64 // by day
	broken   []string
}

// quiet reports whether the mandate permits no publication at a time. Its zone is UTC.
func (s *trial) quiet(at time.Time) bool {
	q := s.m.QuietHours
	if q == nil {
		return false
	}
	minute := func(clock string) int {
		of, _ := time.Parse("15:04", clock)
		return of.Hour()*60 + of.Minute()
	}
	now, from, to := at.UTC().Hour()*60+at.UTC().Minute(), minute(q.From), minute(q.To)
	for m := from; m != to; m = (m + 1) % (24 * 60) {
		if m == now {
			return true
		}
	}
	return false
}

func (s *trial) fail(format string, args ...any) {
	s.broken = append(s.broken, fmt.Sprintf(format, args...))
}

// judge compares what a call has done with the mandate.
func (s *trial) judge(what string, a apitest.Answer, began time.Time, named []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.Status >= 500 {
		s.fail("%s: %s", what, a.Raw)
	}
	if a.Error != nil {
		return
	}
	var it item.Item
	a.Into(s.w.T, a.Status, &it)
	now := began.UTC()
	if s.m.Until != nil && !now.Before(s.m.Until.Time) {
		s.fail("%s after the end at %v", what, s.m.Until)
	}
	if it.ReservedCredits > 0 {
		day := now.Format(time.DateOnly)
		if s.spent[day] += it.ReservedCredits; s.m.CreditsADay != nil && s.spent[day] > *s.m.CreditsADay {
			s.fail("%s spends: %d of %d on %s", what, s.spent[day], *s.m.CreditsADay, day)
		}
		if slices.Contains(s.m.NeedsPerson, auth.ActSpend) {
			s.fail("%s spends", what)
		}
	}
	if what == "delete" && slices.Contains(s.m.NeedsPerson, auth.ActDelete) {
		s.fail("it deletes")
	}
	goesOut := len(it.Publications) > 0 || it.State == item.Scheduled || it.State == item.Publishing ||
		it.PublishAt != nil
	if what == "delete" || !goesOut {
		return
	}
	if slices.Contains(s.m.NeedsPerson, auth.ActPublish) {
		s.fail("%s publishes: %s", what, it.State)
	}
	at := now
	if it.PublishAt != nil {
		at = it.PublishAt.Time
	}
	if s.quiet(at) || s.m.Until != nil && !at.Before(s.m.Until.Time) {
		s.fail("%s publishes at %v", what, at)
	}
	for _, accountID := range slices.Concat(it.SocialAccountIDs, named) {
		for name, of := range s.accounts {
			if of == accountID && s.m.Platforms != nil && !slices.Contains(s.m.Platforms, name) {
				s.fail("%s publishes on %s", what, name)
			}
		}
	}
}

// call makes one random call of the agent, and judges it.
func (s *trial) call(n int, ready string) {
	began := s.w.Now()
	at := began.Add(time.Duration(1+n*37%4000) * time.Minute)
	var named []string
	if n%3 > 0 {
		for i, name := range []string{"telegram", "vk", "instagram"} {
			if n>>i&1 > 0 {
				named = append(named, s.accounts[name])
			}
		}
	}
	body := object{}
	if named != nil {
		body["social_account_ids"] = named
	}
	switch n % 7 {
	case 0, 1:
		s.judge("create", s.agent.Call("POST", "/v1/content-items", s.w.body()), began, nil)
	case 2:
		s.judge("order", s.agent.Call("POST", "/v1/content-items", with(s.w.body("publish_at", at),
			"social_account_ids", []string{s.accounts["telegram"]})), began, []string{s.accounts["telegram"]})
	case 3:
		s.judge("schedule", s.agent.Call("POST", path(ready, "schedule"), with(body, "publish_at", at)), began, named)
	case 4:
		s.judge("queue", s.agent.Call("POST", path(ready, "schedule"), with(body, "publish_at", "next_slot")), began,
			named)
	case 5:
		s.judge("publish", s.agent.Call("POST", path(ready, "publish"), body), began, named)
	default:
		s.judge("delete", s.agent.Call("DELETE", path(ready), nil), began, nil)
	}
}

// mandate draws a mandate for the sequence, from nothing to everything.
func (s *trial) mandate() (m keyrecord.Mandate) {
	r := s.random
	m.NeedsPerson = []auth.Act{}
	if r.IntN(4) > 0 {
		credits := r.Int64N(5 * postPrice)
		m.CreditsADay = &credits
	}
	for _, name := range []string{"telegram", "vk", "instagram"} {
		if r.IntN(2) > 0 {
			m.Platforms = append(m.Platforms, name)
		}
	}
	if r.IntN(2) > 0 {
		from := r.IntN(24)
		m.QuietHours = &auth.QuietHours{From: fmt.Sprintf("%02d:30", from), Timezone: "UTC",
			To: fmt.Sprintf("%02d:15", (from+1+r.IntN(22))%24)}
	}
	for _, act := range auth.AllActs() {
		if r.IntN(6) == 0 {
			m.NeedsPerson = append(m.NeedsPerson, act)
		}
	}
	if r.IntN(3) == 0 {
		at := resource.Instant(s.w.Now().Add(time.Duration(r.IntN(72)) * time.Hour))
		m.Until = &at
	}
	return m
}

// No sequence of calls of an agent, several of them at once, does what its mandate does not permit.
func TestNoAgentExceedsItsMandate(t *testing.T) {
	w := newWorld(t)
	w.live(100_000_000)
	accounts := map[string]string{}
	for _, name := range []string{"telegram", "vk", "instagram"} {
		accounts[name] = w.connect(name)
	}
	w.attach(accounts["telegram"], accounts["vk"])
	w.Call("PATCH", "/v1/factories/"+w.factory, object{"schedule": object{"timezone": "UTC", "times": []string{"01:00",
		"05:45", "09:00", "13:20", "17:00", "21:00", "23:10"}}}).Into(t, 200, new(object))
	done := map[bool]int{}
	for seed := range breadth.Of(40, 10_000) {
		s := &trial{w: w, random: rand.New(rand.NewPCG(uint64(seed), 5)), accounts: accounts, spent: map[string]int64{}}
		s.m = s.mandate()
		s.agent = w.agent(fmt.Sprint("agent", seed), s.m)
		for range 2 + s.random.IntN(4) {
			var calls sync.WaitGroup
			for range 1 + s.random.IntN(3) {
				n, ready := s.random.IntN(1_000_000), w.provide("caption", "Words").ID
				calls.Go(func() { s.call(n, ready) })
			}
			calls.Wait()
			w.Clock.Add(time.Duration(s.random.IntN(14)) * time.Hour)
		}
		if len(s.broken) > 0 {
			t.Fatalf("sequence %d, mandate %+v: %v", seed, s.m, s.broken)
		}
		done[len(s.spent) > 0]++
	}
	if done[true] == 0 || done[false] == 0 {
		t.Errorf("sequences that spent and did not: %v", done)
	}
}
