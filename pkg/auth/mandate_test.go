package auth_test

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
)

func TestQuietHours(t *testing.T) {
	night := &auth.QuietHours{From: "22:00", To: "08:00", Timezone: "Europe/Berlin"}
	early := &auth.QuietHours{From: "22:00", To: "02:30", Timezone: "Europe/Berlin"}
	lunch := &auth.QuietHours{From: "12:00", To: "13:30", Timezone: "UTC"}
	for _, c := range []struct {
		hours   *auth.QuietHours
		at, end string // no end: they are not quiet
	}{
		{night, "2027-01-15T20:59:59Z", ""},
		{night, "2027-01-15T21:00:00Z", "2027-01-16T07:00:00Z"},
		{night, "2027-01-16T06:59:59Z", "2027-01-16T07:00:00Z"},
		{night, "2027-01-16T07:00:00Z", ""},
		{night, "2027-03-27T22:00:00Z", "2027-03-28T06:00:00Z"}, // the clock is put forward in this night
		{night, "2027-10-30T21:00:00Z", "2027-10-31T07:00:00Z"}, // and back in this one
		{early, "2027-10-31T00:15:30Z", "2027-10-31T00:30:00Z"}, // 02:15, which comes again
		{early, "2027-10-31T00:45:00Z", ""},
		{early, "2027-10-31T01:15:30Z", "2027-10-31T01:30:00Z"}, // and does
		{lunch, "2027-01-15T11:59:59Z", ""},
		{lunch, "2027-01-15T12:00:00Z", "2027-01-15T13:30:00Z"},
		{lunch, "2027-01-15T13:30:00Z", ""},
		{nil, "2027-01-15T12:00:00Z", ""},
	} {
		at, _ := time.Parse(time.RFC3339, c.at)
		end := ""
		if got := c.hours.End(at); !got.IsZero() {
			end = got.Format(time.RFC3339)
		}
		if end != c.end {
			t.Errorf("%+v at %s end at %q, want %q", c.hours, c.at, end, c.end)
		}
	}
	for want, q := range map[string]auth.QuietHours{"timezone": {From: "22:00", To: "08:00", Timezone: "Mars/Crater"},
		"from": {From: "24:00", To: "08:00", Timezone: "UTC"}, "to": {From: "22:00", To: "8:00", Timezone: "UTC"},
		"": *night} {
		if member, problem := q.Check(); member != want || (problem == "") != (want == "") {
			t.Errorf("%+v: %s %s, want %s", q, member, problem, want)
		}
	}
	if member, _ := (auth.QuietHours{From: "08:00", To: "08:00", Timezone: "UTC"}).Check(); member != "to" {
		t.Error("hours without an end are taken")
	}
}

func TestAMandateIsNoWiderThanAnother(t *testing.T) {
	day := time.Date(2027, 1, 15, 0, 0, 0, 0, time.UTC)
	later, ten, eleven := day.Add(time.Second), int64(10), int64(11)
	quiet := &auth.QuietHours{From: "22:00", To: "08:00", Timezone: "UTC"}
	full := auth.Mandate{CreditsADay: &ten, Platforms: []string{"telegram", "vk"}, QuietHours: quiet,
		NeedsPerson: []auth.Act{auth.ActDelete}, Until: &day}
	change := func(by func(*auth.Mandate)) *auth.Mandate {
		m := full
		by(&m)
		return &m
	}
	for want, wider := range map[string][]*auth.Mandate{
		"mandate": {nil},
		"credits_a_day": {change(func(m *auth.Mandate) { m.CreditsADay = nil }),
			change(func(m *auth.Mandate) { m.CreditsADay = &eleven })},
		"platforms": {change(func(m *auth.Mandate) { m.Platforms = nil }),
			change(func(m *auth.Mandate) { m.Platforms = []string{"vk", "tiktok"} })},
		"quiet_hours": {change(func(m *auth.Mandate) { m.QuietHours = nil }), change(func(m *auth.Mandate) {
			m.QuietHours = &auth.QuietHours{From: "23:00", To: "08:00", Timezone: "UTC"}
		})},
		"needs_person": {change(func(m *auth.Mandate) { m.NeedsPerson = []auth.Act{auth.ActSpend} })},
		"until": {change(func(m *auth.Mandate) { m.Until = nil }), change(func(m *auth.Mandate) {
			m.Until = &later
		})},
		"": {&full, change(func(m *auth.Mandate) {
			m.Platforms, m.NeedsPerson = []string{"vk"}, []auth.Act{auth.ActSpend, auth.ActDelete}
		})},
	} {
		for _, m := range wider {
			if got := m.Within(&full); got != want {
				t.Errorf("%+v permits more by %q, want %q", m, got, want)
			}
			if got := m.Within(nil); got != "" {
				t.Errorf("without a mandate, %s is wider", got)
			}
		}
	}
}

// The mandates of the keys that have made a key bind it, too.
func TestMandatesOfMakersBind(t *testing.T) {
	now := time.Date(2027, 1, 15, 12, 0, 0, 0, time.UTC)
	past := now.Add(-time.Second)
	p := func(m auth.Mandate) *auth.Principal {
		m.ID = "key_1:2"
		return &auth.Principal{Scopes: auth.AllScopes(), Makers: []auth.KeyLimit{{Key: "key_1", Mandate: &m}}}
	}
	for name, err := range map[string]error{
		"outside_mandate until":     p(auth.Mandate{Until: &past}).RequireMandate(now),
		"outside_mandate platforms": p(auth.Mandate{Platforms: []string{"vk"}}).RequirePlatform("telegram"),
		"outside_mandate quiet_hours": p(auth.Mandate{QuietHours: &auth.QuietHours{From: "11:00", To: "13:00",
			Timezone: "UTC"}}).RequireHour(now),
		"person_required ": p(auth.Mandate{NeedsPerson: []auth.Act{auth.ActDelete}}).MayCall(auth.ContentWrite,
			"DELETE"),
	} {
		limit := ""
		if c, ok := errs.As(err).Context.(errs.MandateContext); ok {
			limit = c.Member
		}
		if got := string(errs.CodeOf(err)) + " " + limit; got != name {
			t.Errorf("%s: got %s (%v)", name, got, err)
		}
	}
	held := p(auth.Mandate{NeedsPerson: []auth.Act{auth.ActPublish}})
	held.Withhold()
	if held.Has(auth.ContentPublish) || !held.Has(auth.ContentWrite) ||
		errs.CodeOf(held.MayCall(auth.ContentPublish, "POST")) != errs.PersonRequired ||
		errs.CodeOf(held.Require(auth.ContentPublish, "/publish_at")) != errs.PersonRequired {
		t.Errorf("%+v", held.Scopes)
	}
}
