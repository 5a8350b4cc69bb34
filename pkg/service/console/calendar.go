package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // Lambda's runtime need not know the time zones.

	client "github.com/content-automation/api/clients/go"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/clock"
)

const calendarPath = "/settings/calendar"

func addCalendar(open func(string, func(*request) error)) {
	open("GET "+calendarPath, showCalendar)
	open("POST "+calendarPath+"/zone", chooseZone)
}

// zones are the time zones that the field of the zone proposes.
var zones = []string{"UTC", "America/Anchorage", "America/Argentina/Buenos_Aires", "America/Bogota", "America/Chicago",
	"America/Denver", "America/Los_Angeles", "America/Mexico_City", "America/New_York", "America/Sao_Paulo",
	"America/Toronto", "Africa/Cairo", "Africa/Johannesburg", "Africa/Lagos", "Africa/Nairobi", "Asia/Almaty",
	"Asia/Baku", "Asia/Bangkok", "Asia/Dubai", "Asia/Hong_Kong", "Asia/Jakarta", "Asia/Jerusalem", "Asia/Karachi",
	"Asia/Kolkata", "Asia/Krasnoyarsk", "Asia/Novosibirsk", "Asia/Omsk", "Asia/Riyadh", "Asia/Seoul", "Asia/Shanghai",
	"Asia/Singapore", "Asia/Tashkent", "Asia/Tbilisi", "Asia/Tokyo", "Asia/Vladivostok", "Asia/Yekaterinburg",
	"Asia/Yerevan", "Australia/Sydney", "Europe/Athens", "Europe/Berlin", "Europe/Istanbul", "Europe/Kaliningrad",
	"Europe/Kyiv", "Europe/Lisbon", "Europe/London", "Europe/Madrid", "Europe/Minsk", "Europe/Moscow", "Europe/Paris",
	"Europe/Samara", "Pacific/Auckland"}

// zoneCookie has the time zone of the browser, which a script has set.
const zoneCookie = "zone"

// zoneOf returns the time zone that a person has chosen, or else that of the browser.
func zoneOf(r *http.Request, s *session.Session) *time.Location {
	name := s.Zone
	if c, err := r.Cookie(zoneCookie); err == nil && name == "" {
		name = c.Value
	}
	zone, err := clock.Zone(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

// chooseZone changes the time zone of the calendar and of planned times.
func chooseZone(r *request) error {
	name := strings.TrimSpace(r.PostFormValue("zone"))
	if _, err := clock.Zone(name); err != nil {
		return r.showCalendarOf(http.StatusUnprocessableEntity, "There is no such time zone. Choose one of the list.")
	}
	if err := r.site.Sessions.Change(r.Context(), r.session, func(s *session.Session) { s.Zone = name }); err != nil {
		return err
	}
	return r.redirect(r.back(homePath))
}

// planned is an entry of the calendar, with what people see of it: the face of the client, the social account, and a
// picture of the item.
type planned struct {
	client.PublishingEntry
	PlannedAt time.Time  `json:"planned_at"`
	Face      face       `json:"-"`
	Account   outlet     `json:"-"`
	Picture   *mediaFile `json:"-"`
}

// Status returns how far the post is, in a word of people, with its tone.
func (p planned) Status() choice {
	switch {
	case p.State == "failed":
		return choice{"bad", "not published"}
	case p.State == "published", p.State == "publishing", p.State == "deleted":
		return choice{tones[string(p.State)], string(p.State)}
	case undecided[p.Approval.State].Text != "":
		return undecided[p.Approval.State]
	case p.State == "planned":
		return choice{"warn", "planned"}
	}
	return choice{"good", "ready"}
}

func (p planned) Movable() bool { return p.State == "planned" || p.State == "pending" }

// Name returns a text by which people know the post.
func (p planned) Name() string { return cmp.Or(given(p.Title), given(p.Caption)) }

// dressed adds to posts what people see of them: the face of the client, the account, and a picture.
func (r *request) dressed(all []planned, query url.Values) (names, error) {
	factories := mapped(all, func(p planned) string { return p.FactoryID })
	var n names
	var accounts map[string]outlet
	pictures := map[string]*mediaFile{}
	err := atOnce(func() (err error) { n, err = r.names(append(factories, query.Get("factory_id"))...); return err },
		func() (err error) { accounts, err = r.outlets(); return err },
		func() error {
			// The list of items has the pictures of a period in few calls.
			q := url.Values{"order_by": {"publish_at"}, "fields": {"media"}, "publish_from": query["from"],
				"publish_to": query["to"]}
			for _, name := range []string{"factory_id", "profile_id"} {
				if value := query.Get(name); value != "" {
					q.Set(name, value)
				}
			}
			items, err := listAll[content](r.Context(), r.api, "/v1/content-items", q, mostPlanned)
			for _, c := range items {
				pictures[c.ID] = c.Picture()
			}
			return err
		})
	var faces []*face
	for i := range all {
		p := &all[i]
		p.Face, p.Account = n.FaceOf(p.FactoryID), accounts[given(p.SocialAccountID)]
		p.Picture = pictures[p.ContentItemID]
		faces = append(faces, &p.Face)
	}
	distinct(faces)
	return n, err
}

// picturesOf returns the pictures of posts.
func picturesOf(all []planned) (some []mediaFile) {
	for _, p := range all {
		if p.Picture != nil {
			some = append(some, *p.Picture)
		}
	}
	return some
}

// day is a day of the calendar.
type day struct {
	At      time.Time // its date
	Today   bool
	Outside bool // of another month
	Entries []planned
	// More is the number of entries that a month leaves out.
	More int
}

// The calendar shows up to a number of entries of a period, and of a day in a month.
const (
	mostPlanned = 1000
	mostOfDay   = 4
)

// span is the period of a calendar. Its days are dates without a zone, because a day may begin at 01:00 in one.
type span struct {
	// Anchor is the chosen day.
	Anchor, From, To time.Time
	// Week reports that it shows all entries of its days, and Day that it is one day.
	Week, Day bool
}

// spanOf returns the weeks of the month of a day, or its week. A week begins on Monday.
func spanOf(anchor time.Time, week bool) span {
	monday := func(of time.Time) time.Time { return of.AddDate(0, 0, -(int(of.Weekday())+6)%7) }
	s := span{Anchor: anchor, Week: week, From: monday(anchor)}
	s.To = s.From.AddDate(0, 0, 7)
	if !week {
		first := anchor.AddDate(0, 0, 1-anchor.Day())
		s.From = monday(first)
		s.To = monday(first.AddDate(0, 1, -1)).AddDate(0, 0, 7)
	}
	return s
}

// ofView returns the period of a view that shows a day.
func ofView(view string, anchor time.Time) span {
	s := spanOf(anchor, view == "week")
	if view == "day" {
		s.Week, s.Day, s.From, s.To = true, true, anchor, anchor.AddDate(0, 0, 1)
	}
	return s
}

// step returns the day by which the calendar moves on, or back.
func (s span) step(by int) time.Time {
	if s.Day {
		return s.Anchor.AddDate(0, 0, by)
	}
	if s.Week {
		return s.Anchor.AddDate(0, 0, 7*by)
	}
	return s.Anchor.AddDate(0, by, 1-s.Anchor.Day())
}

// bounds returns the times between which the days are in a zone. An hour more does no harm, as days skips it.
func (s span) bounds(zone *time.Location) (from, to time.Time) {
	in := func(d time.Time, by time.Duration) time.Time {
		return clock.Instant(d, zone).Add(by).UTC()
	}
	return in(s.From, -time.Hour), in(s.To, time.Hour)
}

// days returns the days of the period with their entries in a zone, which are sorted by time.
func (s span) days(now time.Time, zone *time.Location, all []planned) (days []day) {
	today := now.In(zone).Format(time.DateOnly)
	at := map[string]int{}
	for d := s.From; d.Before(s.To); d = d.AddDate(0, 0, 1) {
		name := d.Format(time.DateOnly)
		at[name] = len(days)
		days = append(days, day{At: d, Today: name == today, Outside: !s.Week && d.Month() != s.Anchor.Month()})
	}
	for _, e := range all {
		i, ok := at[e.PlannedAt.In(zone).Format(time.DateOnly)]
		switch {
		case !ok:
		case !s.Week && len(days[i].Entries) == mostOfDay:
			days[i].More++
		default:
			days[i].Entries = append(days[i].Entries, e)
		}
	}
	return days
}

func showCalendar(r *request) error { return r.showCalendarOf(http.StatusOK, "") }

func (r *request) showCalendarOf(status int, message string) error {
	zone := zoneOf(r.Request, r.session)
	q := r.URL.Query()
	today, _ := time.Parse(time.DateOnly, r.site.Now().In(zone).Format(time.DateOnly))
	anchor, err := time.Parse(time.DateOnly, q.Get("date"))
	if err != nil {
		anchor = today
	}
	view := chosenOf(r, "view", calendarViews, "month")
	s := ofView(view, anchor)
	from, to := s.bounds(zone)
	given, query := r.filters("factory_id", "profile_id", "platform")
	query.Set("from", from.Format(time.RFC3339))
	query.Set("to", to.Format(time.RFC3339))
	query.Set("order", "asc")
	query.Set("limit", "100")
	var platforms []client.SocialPlatform
	if err := r.api.get(r.Context(), "/v1/social/platforms", nil, &platforms); err != nil {
		return err
	}
	all, err := listAll[planned](r.Context(), r.api, "/v1/publications", query, mostPlanned)
	refused, err := messageOf(err)
	if err != nil {
		return err
	}
	n, err := r.dressed(all, query)
	if err != nil {
		return err
	}
	r.permitMedia(picturesOf(all)...)
	v := r.view("Calendar", calendarPath)
	switch v.Error = message; {
	case message != "":
	case refused != "":
		v.Error = refused
	case len(all) >= mostPlanned:
		v.Error = "The period has more entries than the calendar shows. Choose a week, a factory or a client."
	}
	link := func(view string, at time.Time) string {
		to := url.Values{"view": {view}, "date": {at.Format(time.DateOnly)}}
		for name, value := range given {
			if value != "" {
				to.Set(name, value)
			}
		}
		return r.site.prefix + calendarPath + "?" + to.Encode()
	}
	here := calendarPath
	if r.Method == http.MethodGet {
		here = v.Path
	}
	views := mapped(calendarViews, func(c choice) option {
		return option{c.Text, link(c.Value, anchor), c.Value == view}
	})
	v.Data = map[string]any{"Span": s, "Days": s.days(r.site.Now(), zone, all), "Names": n, "Platforms": platforms,
		"Filters": given, "View": view, "Zone": cmp.Or(r.PostFormValue("zone"), zone.String()), "Here": here,
		"Views": views, "Earlier": link(view, s.step(-1)), "Later": link(view, s.step(1)), "Today": link(view, today),
		"Clients": clientsOf(all), "DayOf": func(at time.Time) string { return link("day", at) }}
	return r.show(status, "calendar", v)
}

// calendarViews are the periods of the calendar.
var calendarViews = []choice{{"month", "Month"}, {"week", "Week"}, {"day", "Day"}}

// clientsOf returns the faces of posts, each once, by name.
func clientsOf(all []planned) (faces []face) {
	for _, p := range all {
		if !slices.Contains(faces, p.Face) {
			faces = append(faces, p.Face)
		}
	}
	slices.SortFunc(faces, func(a, b face) int { return cmp.Compare(a.Name, b.Name) })
	return faces
}

// Weekday returns the short name of the weekday of a day, Date its date, and MonthOf its month.
func (v *view) Weekday(d time.Time) string { return v.T(d.Format("Mon")) }

func (v *view) Date(d time.Time) string { return v.Weekday(d) + ", " + v.date(d) + d.Format(" 2006") }

// LongDate returns a day in words, without its year.
func (v *view) LongDate(d time.Time) string { return v.T(d.Weekday().String()) + ", " + v.date(d) }

// Local returns a time in the zone of the page, as a field of a form has it.
func (v *view) Local(t time.Time) string { return v.in(t).Format("2006-01-02T15:04") }

func (v *view) MonthOf(d time.Time) string { return v.T(d.Format("January")) + d.Format(" 2006") }

// Clock returns the time of day in the chosen zone.
func (v *view) Clock(t time.Time) string { return v.in(t).Format("15:04") }

// At returns a time in the chosen zone.
func (v *view) At(t time.Time) string { return v.Date(v.in(t)) + v.in(t).Format(", 15:04 MST") }
