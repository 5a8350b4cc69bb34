package auth

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/errs"
)

// Act is a kind of act that a mandate may leave to people.
type Act string

// The acts that a mandate may leave to people.
const (
	ActPublish Act = "publish"
	ActSpend   Act = "spend"
	ActDelete  Act = "delete"
	ActInvite  Act = "invite"
)

// Acts lists all acts with what each is, in the order of the documents.
var Acts = []struct {
	Act  Act
	Text string
}{
	{ActPublish, "Schedule, publish and approve content"},
	{ActSpend, "Spend credits"},
	{ActDelete, "Delete"},
	{ActInvite, "Open the account to others: addresses, secrets, rights and copies, as by webhooks, keys, review " +
		"links " +
		"and exports"},
}

// AllActs returns the names of all acts, in the order of the documents.
func AllActs() []Act {
	all := make([]Act, len(Acts))
	for i, a := range Acts {
		all[i] = a.Act
	}
	return all
}

// Mandate bounds what an API key does without a person. A key may have none.
type Mandate struct {
	// ID is the id of the key and the version of the key that has set the mandate.
	ID string `json:"id"`
	// CreditsADay is the number of credits that the key may spend on a day (UTC). Nil means no limit.
	CreditsADay *int64 `json:"credits_a_day,omitempty"`
	// Platforms are the platforms that the key may publish to. Nil means all.
	Platforms []string `json:"platforms,omitempty"`
	// QuietHours are the hours in which no publication begins. Nil means none.
	QuietHours *QuietHours `json:"quiet_hours,omitempty"`
	// NeedsPerson are the acts that only people do.
	NeedsPerson []Act `json:"needs_person,omitempty"`
	// Until is the time from which on the key does nothing any more. Nil means never.
	Until *time.Time `json:"until,omitempty"`
}

// QuietHours are hours of each day in a time zone. From may be later than To: then they contain midnight.
type QuietHours struct {
	// Time of day at which they begin (HH:MM).
	From string `json:"from" example:"22:00"`
	// Time of day at which they end (HH:MM).
	To string `json:"to" example:"08:00"`
	// IANA time zone in which both times of day are meant.
	Timezone string `json:"timezone" example:"Europe/Berlin"`
}

// Check returns the name of the member that is not valid, and what is wrong with it, or empty texts.
func (q QuietHours) Check() (member, problem string) {
	if _, err := time.LoadLocation(q.Timezone); err != nil || q.Timezone == "" || q.Timezone == "Local" {
		return "timezone", "is not an IANA time zone; write it as Europe/Berlin"
	}
	if !clock.Valid(q.From) {
		return "from", "is not a time of day; write it as 22:00"
	}
	if !clock.Valid(q.To) {
		return "to", "is not a time of day; write it as 08:00"
	}
	if q.From == q.To {
		return "to", "must differ from from. For hours that never end, leave publishing to people by needs_person"
	}
	return "", ""
}

// End returns the end of the quiet hours that contain a time, or the zero time if none do. They were checked.
func (q *QuietHours) End(at time.Time) time.Time {
	if q == nil {
		return time.Time{}
	}
	zone, err := time.LoadLocation(q.Timezone)
	if err != nil {
		return time.Time{}
	}
	local := at.In(zone)
	now := local.Format(clock.Layout)
	quiet := q.From <= now && now < q.To
	if q.From > q.To {
		quiet = q.From <= now || now < q.To
	}
	if !quiet {
		return time.Time{}
	}
	to, _ := clock.Parse(q.To)
	if q.From > q.To && now >= q.From {
		to += 24 * time.Hour
	}
	end := clock.On(local, to)
	if !end.After(at) { // clocks show the end a second time
		shown, _ := clock.Parse(now)
		end = at.Truncate(time.Minute).Add(to - shown)
	}
	return end.UTC()
}

// Within returns the first member by which a mandate permits more than another, or an empty name. A nil mandate
// permits everything.
func (m *Mandate) Within(most *Mandate) string {
	switch {
	case most == nil:
		return ""
	case m == nil:
		return "mandate"
	case most.CreditsADay != nil && (m.CreditsADay == nil || *m.CreditsADay > *most.CreditsADay):
		return "credits_a_day"
	case most.Platforms != nil && (m.Platforms == nil || slices.ContainsFunc(m.Platforms, func(p string) bool {
		return !slices.Contains(most.Platforms, p)
	})):
		return "platforms"
	case most.QuietHours != nil && (m.QuietHours == nil || *m.QuietHours != *most.QuietHours):
		return "quiet_hours"
	case slices.ContainsFunc(most.NeedsPerson, func(a Act) bool { return !slices.Contains(m.NeedsPerson, a) }):
		return "needs_person"
	case most.Until != nil && (m.Until == nil || m.Until.After(*most.Until)):
		return "until"
	}
	return ""
}

// mandates returns the mandates that bind the principal: that of its key, and those of the keys that have made its key.
func (p *Principal) mandates() (all []*Mandate) {
	if p.Mandate != nil {
		all = append(all, p.Mandate)
	}
	for _, maker := range p.Makers {
		if maker.Mandate != nil {
			all = append(all, maker.Mandate)
		}
	}
	return all
}

// MandateID returns the id of the mandate of the principal's key, or an empty text.
func (p *Principal) MandateID() string {
	if p.Mandate == nil {
		return ""
	}
	return p.Mandate.ID
}

// leaves returns the mandate that leaves an act to people, or nil.
func (p *Principal) leaves(act Act) *Mandate {
	for _, m := range p.mandates() {
		if slices.Contains(m.NeedsPerson, act) {
			return m
		}
	}
	return nil
}

// Withhold takes the scope content:publish from a principal whose mandate leaves publishing to people: it prepares what
// they publish.
func (p *Principal) Withhold() {
	if p.leaves(ActPublish) != nil {
		p.Scopes = slices.DeleteFunc(slices.Clone(p.Scopes), func(s Scope) bool { return s == ContentPublish })
	}
}

// RequirePerson returns person_required if a mandate leaves an act to people.
func (p *Principal) RequirePerson(act Act) error {
	m := p.leaves(act)
	if m == nil {
		return nil
	}
	return errs.New(errs.PersonRequired, "The mandate %s of the API key leaves this to people, as its needs_person "+
		"has %s. Ask a person of the account to do it in the account area, or with a key without such a "+
		"mandate.", m.ID, act)
}

// RequireMandate returns outside_mandate if a mandate has ended.
func (p *Principal) RequireMandate(now time.Time) error {
	for _, m := range p.mandates() {
		if m.Until != nil && !now.Before(*m.Until) {
			return m.outside("until", time.Time{}, "The mandate %s of the API key ended at %s, and the key does "+
				"nothing any more. Ask a person of the account to set a later end in the account area, or use another "+
				"key.", m.ID, m.Until.UTC().Format(time.RFC3339))
		}
	}
	return nil
}

// RequirePlatform returns outside_mandate unless the mandates permit posts on a platform.
func (p *Principal) RequirePlatform(platform string) error {
	for _, m := range p.mandates() {
		if m.Platforms != nil && !slices.Contains(m.Platforms, platform) {
			return m.outside("platforms", time.Time{}, "The mandate %s of the API key permits publishing on %s, "+
				"not on %s. Choose other accounts, or ask a person of the account to publish there.", m.ID,
				strings.Join(m.Platforms, ", "), platform)
		}
	}
	return nil
}

// RequireHour returns outside_mandate if the mandates permit no publication at a time.
func (p *Principal) RequireHour(at time.Time) error {
	for _, m := range p.mandates() {
		if end := m.QuietHours.End(at); !end.IsZero() {
			return m.outside("quiet_hours", end, "The mandate %s of the API key permits no publication from %s to %s "+
				"(%s), and the time is %s. Choose a time from %s on.", m.ID, m.QuietHours.From, m.QuietHours.To,
				m.QuietHours.Timezone, at.UTC().Format(time.RFC3339), end.Format(time.RFC3339))
		}
		if m.Until != nil && !at.Before(*m.Until) {
			return m.outside("until", time.Time{}, "The mandate %s of the API key ends at %s, and nothing of it is "+
				"published later. Choose an earlier time than %s, or ask a person of the account.", m.ID,
				m.Until.UTC().Format(time.RFC3339), at.UTC().Format(time.RFC3339))
		}
	}
	return nil
}

// RequirePost returns outside_mandate unless the mandates permit a change of what is public on a platform now.
func (p *Principal) RequirePost(platform string, now time.Time) error {
	if err := p.RequirePlatform(platform); err != nil {
		return err
	}
	return p.RequireHour(now)
}

// QuietUntil returns the end of the quiet hours that contain a time, or the zero time if the mandates have none.
func (p *Principal) QuietUntil(at time.Time) (end time.Time) {
	for _, m := range p.mandates() {
		if one := m.QuietHours.End(at); one.After(end) {
			end = one
		}
	}
	return end
}

func (m *Mandate) outside(member string, from time.Time, format string, args ...any) error {
	c := errs.MandateContext{Mandate: m.ID, Member: member}
	if !from.IsZero() {
		text := from.Format("2006-01-02T15:04:05.000Z")
		c.From = &text
	}
	return errs.New(errs.OutsideMandate, "%s", fmt.Sprintf(format, args...)).With(c)
}
