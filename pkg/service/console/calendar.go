package console

import (
	"net/http"
	"net/url"
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

// zoneOf returns the time zone that a person has chosen.
func zoneOf(s *session.Session) *time.Location {
	if s == nil || s.Zone == "" {
		return time.UTC
	}
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		return time.UTC // it was checked when it was chosen
	}
	return zone
}

// chooseZone changes the time zone of the calendar and of planned times.
func chooseZone(r *request) error {
	name := strings.TrimSpace(r.PostFormValue("zone"))
	// The name Local would be the zone of the machine.
	if zone, err := time.LoadLocation(name); err != nil || name == "" || zone == time.Local {
		return r.showCalendarOf(http.StatusUnprocessableEntity, "There is no such time zone. Choose one of the list.")
	}
	if err := r.site.Sessions.Change(r.Context(), r.session, func(s *session.Session) { s.Zone = name }); err != nil {
		return err
	}
	return r.back()
}

// planned is an entry of the calendar as the API answers it.
type planned struct {
	ID              *string                `json:"id"`
	State           string                 `json:"state"`
	PlannedAt       time.Time              `json:"planned_at"`
	ContentItemID   string                 `json:"content_item_id"`
	FactoryID       string                 `json:"factory_id"`
	Kind            string                 `json:"kind"`
	Title           string                 `json:"title"`
	Caption         string                 `json:"caption"`
	Approval        client.ContentApproval `json:"approval"`
	SocialAccountID *string                `json:"social_account_id"`
	Platform        *string                `json:"platform"`
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
	Week             bool
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

// step returns the day by which the calendar moves on, or back.
func (s span) step(by int) time.Time {
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
	zone := zoneOf(r.session)
	q := r.URL.Query()
	today, _ := time.Parse(time.DateOnly, r.site.Now().In(zone).Format(time.DateOnly))
	anchor, err := time.Parse(time.DateOnly, q.Get("date"))
	if err != nil {
		anchor = today
	}
	s := spanOf(anchor, q.Get("view") == "week")
	from, to := s.bounds(zone)
	given, query := r.filters("factory_id", "profile_id", "platform")
	query.Set("from", from.Format(time.RFC3339))
	query.Set("to", to.Format(time.RFC3339))
	query.Set("order", "asc")
	query.Set("limit", "100")
	n, err := r.names()
	if err != nil {
		return err
	}
	var platforms []client.SocialPlatform
	if err := r.api.get(r.Context(), "/v1/social/platforms", nil, &platforms); err != nil {
		return err
	}
	handles, err := r.handles()
	if err != nil {
		return err
	}
	all, err := listAll[planned](r.Context(), r.api, "/v1/publications", query, mostPlanned)
	refused, err := messageOf(err)
	if err != nil {
		return err
	}
	v := r.view("Calendar", calendarPath)
	switch v.Error = message; {
	case message != "":
	case refused != "":
		v.Error = refused
	case len(all) >= mostPlanned:
		v.Error = "The period has more entries than the calendar shows. Choose a week, a factory or a profile."
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
	view, here := "month", calendarPath
	if s.Week {
		view = "week"
	}
	if r.Method == http.MethodGet {
		here = v.Path
	}
	v.Data = map[string]any{"Span": s, "Days": s.days(r.site.Now(), zone, all), "Names": n, "Platforms": platforms,
		"Filters": given, "View": view, "Zones": zones, "Zone": zone.String(), "Handles": handles, "Here": here,
		"Earlier": link(view, s.step(-1)), "Later": link(view, s.step(1)), "Today": link(view, today),
		"Month": link("month", anchor), "Week": link("week", anchor), "WeekOf": func(at time.Time) string {
			return link("week", at)
		}}
	return r.show(status, "calendar", v)
}

// Weekday returns the short name of the weekday of a day, Date its date, and MonthOf its month.
func (v *view) Weekday(d time.Time) string { return v.T(d.Format("Mon")) }

// Date returns a day with its weekday.
func (v *view) Date(d time.Time) string {
	return v.Weekday(d) + ", " + d.Format("2") + " " + v.T(d.Format("Jan")) + d.Format(" 2006")
}

// MonthOf returns the month of a day.
func (v *view) MonthOf(d time.Time) string { return v.T(d.Format("January")) + d.Format(" 2006") }

// Clock returns the time of day in the chosen zone.
func (v *view) Clock(t time.Time) string { return t.In(v.Zone).Format("15:04") }

// At returns a time in the chosen zone.
func (v *view) At(t time.Time) string {
	t = t.In(v.Zone)
	return v.Date(t) + t.Format(", 15:04 MST")
}
