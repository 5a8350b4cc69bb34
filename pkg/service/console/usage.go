package console

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	client "github.com/content-automation/api/clients/go"
	"github.com/content-automation/api/pkg/base/sheet"
	"github.com/content-automation/api/pkg/base/tenant"
)

const (
	usagePath  = "/settings/usage"
	levelsPath = "/settings/service-levels"
)

func addUsage(open func(string, func(*request) error)) {
	open("GET "+usagePath, showUsage)
	open("GET "+usagePath+".csv", exportUsage)
	open("GET "+levelsPath, showLevels)
}

type account struct{ client.Account }

type balanceEntry struct{ client.BalanceEntry }

// spent returns the credits that an entry has taken. A reserve that was released has taken none.
func (e balanceEntry) spent() int64 {
	if e.Kind != "reserve" || e.State != nil && *e.State == "released" {
		return 0
	}
	return -e.Credits
}

// subjects are the names of what credits are spent on, by the prefix of its id.
var subjects = map[string]string{"cnt": "Content", "gen": "Studio", "trn": "Training", "pln": "Content plans",
	"cht": "Architect", "dgn": "Diagnoses"}

// kindOf returns the name of what an entry was for.
func kindOf(e balanceEntry) string {
	prefix, _, _ := strings.Cut(e.Subject, "_")
	return cmp.Or(subjects[prefix], "Other")
}

// newCreditsChart returns a chart of credits, in which each kind has its colour.
func newCreditsChart(v *view, from time.Time, days int) *chart {
	c := newChart(from, days, v.T("Credits"))
	for i, kind := range slices.Sorted(maps.Values(subjects)) {
		c.colour(v.T(kind), i)
	}
	return c
}

// entryKinds are the names of entries of the ledger that are none of spending.
var entryKinds = map[string]string{"top_up": "Top-up", "release": "Release", "adjust": "Adjustment"}

// Text returns the name of an entry: what it was spent on, or its kind.
func (e balanceEntry) Text() string {
	if e.Kind == "reserve" {
		return kindOf(e)
	}
	return cmp.Or(entryKinds[string(e.Kind)], string(e.Kind))
}

// maxEntries bounds the entries that a chart adds up: 20 calls of the API.
const maxEntries = 2000

// usageOf reads the usage of the account in a mode.
func usageOf(r *request, mode tenant.Mode, query url.Values) (u client.AccountUsage, err error) {
	a := r.api
	a.mode = mode
	return u, a.get(r.Context(), "/v1/usage", query, &u)
}

// usageSince reads the usage of the mode of the page from a day on.
func usageSince(r *request, from time.Time) (client.AccountUsage, error) {
	return usageOf(r, r.session.Mode, url.Values{"from": {from.Format(time.DateOnly)}})
}

// ranges are the periods of the page of usage. Its credits are split by one of splits, its requests by one of
// requestSplits.
var (
	ranges        = []choice{{"7", "7 days"}, {"30", "30 days"}, {"90", "90 days"}, {"month", "This month"}}
	splits        = []choice{{"kind", "Kind"}, {"factory", "Factory"}, {"profile", "Profile"}, {"key", "Key"}}
	requestSplits = []choice{{"key", "Key"}, {"profile", "Profile"}, {"kind", "Kind"}, {"outcome", "Outcome"}}
)

// chosenOf returns the value of a parameter if it is one of the choices, and otherwise the usual one.
func chosenOf(r *request, name string, of []choice, usual string) string {
	value := r.URL.Query().Get(name)
	if slices.ContainsFunc(of, func(c choice) bool { return c.Value == value }) {
		return value
	}
	return usual
}

// periodOf returns the first day of a range, and the number of its days.
func periodOf(name string, now time.Time) (from time.Time, days int) {
	today := now.UTC().Truncate(24 * time.Hour)
	if name == "month" {
		return today.AddDate(0, 0, 1-today.Day()), today.Day()
	}
	days, _ = strconv.Atoi(name) // it is one of the ranges
	return today.AddDate(0, 0, 1-days), days
}

// readUsage has what the page of usage reads.
type readUsage struct {
	Account account
	Entries []balanceEntry
	Partial bool
	Usage   client.AccountUsage
	Names   names
	Keys    []key
	Brands  []brand
}

// usagePage reads what the page of usage shows of a period.
func usagePage(r *request, from time.Time) (u readUsage, err error) {
	err = atOnce(
		func() error { return r.api.get(r.Context(), "/v1/me", nil, &u.Account) },
		func() (err error) { u.Entries, u.Partial, err = r.entriesSince(from); return err },
		func() (err error) { u.Usage, err = usageSince(r, from); return err },
		func() (err error) { u.Keys, err = keysOfAccount(r); return err },
		func() (err error) { u.Brands, err = limitedProfiles(r); return err })
	if err == nil {
		u.Names, err = r.names(mapped(u.Entries, func(e balanceEntry) string { return given(e.FactoryID) })...)
	}
	return u, err
}

// keyName returns the name of a key, or its id.
func (u readUsage) keyName(id string) string {
	for _, k := range u.Keys {
		if k.ID == id {
			return k.Name
		}
	}
	for _, k := range u.Usage.Keys {
		if k.KeyID == id && k.Name != nil {
			return *k.Name
		}
	}
	return id
}

// part returns the name of what an entry of the ledger is part of.
func (u readUsage) part(v *view, e balanceEntry, split string) string {
	switch {
	case split == "kind":
		return v.T(kindOf(e))
	case split == "key" && e.KeyID != nil:
		return u.keyName(*e.KeyID)
	case split == "key":
		return v.T("Without a key")
	case split == "profile" && e.ProfileID != nil:
		return u.Names.Profile(*e.ProfileID)
	case split == "profile":
		return v.T("Without a profile")
	case e.FactoryID == nil:
		return v.T("Without a factory")
	}
	return u.Names.Factory(*e.FactoryID)
}

// profileOf returns the name of the profile that a key is bound to.
func (u readUsage) profileOf(v *view, id string) string {
	for _, k := range u.Keys {
		switch {
		case k.ID == id && len(k.ProfileIDs) == 1:
			return u.Names.Profile(k.ProfileIDs[0])
		case k.ID == id && len(k.ProfileIDs) > 1:
			return v.T("Several profiles")
		}
	}
	return v.T("Without a profile")
}

// paint gives the keys, profiles or factories of a chart their colours.
func (u readUsage) paint(c *chart, split string) {
	nameOf := map[string]string{}
	switch split {
	case "key":
		for _, k := range u.Keys {
			nameOf[k.ID] = k.Name
		}
	case "profile":
		for _, p := range u.Names.Profiles {
			nameOf[p.ID] = p.Name
		}
	case "factory":
		for _, f := range u.Names.Factories {
			nameOf[f.ID] = f.Name
		}
	}
	c.colourAll(nameOf)
}

func (u readUsage) requests(v *view, from time.Time, days int, split string) *chart {
	c := newChart(from, days, v.T("Requests"))
	u.paint(c, split)
	if split == "outcome" {
		accepted, refused, failed := v.T("Accepted"), v.T("Refused"), v.T("Failed")
		c.classes[accepted], c.classes[refused], c.classes[failed] = "cgood", "cbad", "c3"
		for day, d := range u.Usage.Days {
			at := from.AddDate(0, 0, day)
			c.add(accepted, at, d.Calls-d.Refused-d.Failed)
			c.add(refused, at, d.Refused)
			c.add(failed, at, d.Failed)
		}
		return c
	}
	if split == "kind" {
		for i, kind := range append(callKinds, choice{Text: "Other"}) {
			c.colour(v.T(kind.Text), i)
		}
		of := make([]int64, days)
		for _, k := range u.Usage.Kinds {
			for day, n := range k.CallsByDay {
				c.add(v.T(textOf(callKinds, k.Kind)), from.AddDate(0, 0, day), n)
				of[day] += n
			}
		}
		for day, d := range u.Usage.Days {
			c.add(v.T("Other"), from.AddDate(0, 0, day), d.Calls-of[day])
		}
		return c
	}
	for _, k := range u.Usage.Keys {
		name := u.keyName(k.KeyID)
		if split == "profile" {
			name = u.profileOf(v, k.KeyID)
		}
		for day, n := range k.CallsByDay {
			c.add(name, from.AddDate(0, 0, day), n)
		}
	}
	return c
}

func showUsage(r *request) error {
	chosen, split := chosenOf(r, "range", ranges, "30"), chosenOf(r, "by", splits, "kind")
	requestSplit := chosenOf(r, "requests", requestSplits, "key")
	from, days := periodOf(chosen, r.site.Now())
	u, err := usagePage(r, from)
	if err != nil {
		return err
	}
	v := r.view("Balance and usage", usagePath)
	credits := newCreditsChart(v, from, days)
	u.paint(credits, split)
	byFactory, month := map[string]int64{}, newMonth(r.site.Now(), u.Account.Balance.Credits)
	var spent int64
	for _, e := range u.Entries {
		credits.add(u.part(v, e, split), e.CreatedAt, e.spent())
		byFactory[u.part(v, e, "factory")] += e.spent()
		spent += e.spent()
		month.add(e.CreatedAt, e.spent())
	}
	data := map[string]any{"Account": u.Account, "Credits": credits.done(v), "ByFactory": bars(byFactory),
		"Requests": u.requests(v, from, days, requestSplit).done(v), "Entries": u.Entries[:min(len(u.Entries), 20)],
		"Spent": spent, "Partial": u.Partial, "Usage": u.Usage, "Ranges": optionsOf(r, "range", chosen, ranges),
		"Splits":        optionsOf(r, "by", split, splits),
		"RequestSplits": optionsOf(r, "requests", requestSplit, requestSplits),
		"Limits":        u.limits(), "Export": r.site.prefix + usagePath + ".csv?" + url.Values{"range": {chosen},
			"by": {split}}.Encode(), "Low": u.Account.Balance.Credits <= u.Account.Balance.LowThreshold}
	if days >= r.site.Now().UTC().Day() && !u.Partial {
		data["Forecast"], data["Month"] = grouped(month.end()), month.done(v)
	}
	v.Data = data
	return r.show(http.StatusOK, "usage", v)
}

// exportUsage writes the days of a period as a file of comma-separated values. With a split, each part has a column of
// its credits.
func exportUsage(r *request) error {
	split := chosenOf(r, "by", splits, "")
	from, days := periodOf(chosenOf(r, "range", ranges, "30"), r.site.Now())
	u, err := usagePage(r, from)
	if err != nil {
		return err
	}
	v := r.view("", "")
	credits := newChart(from, days, "")
	for _, e := range u.Entries {
		credits.add(u.part(v, e, split), e.CreatedAt, e.spent())
	}
	head := []string{"date", "credits", "requests", "refused"}
	var parts []string
	if split != "" {
		for _, name := range slices.Sorted(maps.Keys(credits.series)) {
			parts = append(parts, name)
			head = append(head, sheet.Text("credits: "+name))
		}
	}
	rows := [][]string{head}
	for i, d := range u.Usage.Days[:min(days, len(u.Usage.Days))] {
		row := []string{d.Day, strconv.FormatInt(credits.of(i), 10), strconv.FormatInt(d.Calls, 10),
			strconv.FormatInt(d.Refused, 10)}
		for _, name := range parts {
			row = append(row, strconv.FormatInt(credits.series[name][i], 10))
		}
		rows = append(rows, row)
	}
	return r.download("usage.csv", rows)
}

// entriesSince reads the ledger from a time on, and reports whether there are more entries than it reads.
func (r *request) entriesSince(from time.Time) (all []balanceEntry, partial bool, err error) {
	all, err = listAll[balanceEntry](r.Context(), r.api, "/v1/balance/entries",
		url.Values{"from": {from.Format(time.RFC3339)}}, maxEntries+1)
	return all, len(all) > maxEntries, err
}

// bar is a bar of a list, with its share of the largest in percent.
type bar struct {
	Name  string
	Value int64
	Share int64
}

// bars returns the largest values, the largest first.
func bars(values map[string]int64) (all []bar) {
	for name, value := range values {
		if value > 0 {
			all = append(all, bar{Name: name, Value: value})
		}
	}
	slices.SortFunc(all, func(a, b bar) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Name, b.Name))
	})
	all = all[:min(len(all), 8)]
	for i := range all {
		all[i].Share = max(1, all[i].Value*100/all[0].Value)
	}
	return all
}

// month is the chart of what the current month costs in all: a line up to now, a dotted one to the month's end, and a
// red one where the credits end.
type month struct {
	now, first time.Time
	days       int
	byDay      []int64
	balance    int64
}

func newMonth(now time.Time, balance int64) *month {
	now = now.UTC()
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	days := int(first.AddDate(0, 1, 0).Sub(first) / (24 * time.Hour))
	return &month{now, first, days, make([]int64, now.Day()), balance}
}

// add adds what an entry has spent, if it is of this month.
func (m *month) add(at time.Time, spent int64) {
	if day := int(at.Sub(m.first) / (24 * time.Hour)); !at.Before(m.first) && day < len(m.byDay) {
		m.byDay[day] += spent
	}
}

// spent returns what the month has cost up to now.
func (m *month) spent() (sum int64) {
	for _, n := range m.byDay {
		sum += n
	}
	return sum
}

// end returns what the month costs if it goes on as it began. The first hours of a month tell little.
func (m *month) end() int64 {
	passed := max(m.now.Sub(m.first), 24*time.Hour)
	return int64(float64(m.spent()) * float64(m.days) * float64(24*time.Hour) / float64(passed))
}

// done draws the chart. Its table has the sum at the end of each day.
func (m *month) done(v *view) Drawn {
	spent, end := m.spent(), m.end()
	limit := spent + max(0, m.balance)
	d := Drawn{Total: spent, Series: []Series{{v.T("Spent in all"), "c1", spent}, {v.T("Forecast"), "c12", end},
		{v.T("Credits available"), "cbad", limit}}}
	// A limit that is far away would flatten the lines.
	top := max(spent, end)
	shown := limit <= 3*max(top, 1)
	if shown {
		top = max(top, limit)
	}
	top = rounded(max(1, top))
	x := func(day float64) float64 {
		return chartLeft + day/float64(m.days)*(chartWidth-chartLeft)
	}
	y := func(value int64) float64 {
		return chartHeight - chartBottom - float64(value)/float64(top)*(chartHeight-chartBottom-8)
	}
	var points strings.Builder
	fmt.Fprintf(&points, "%.1f,%.1f", x(0), y(0))
	var sum int64
	at := float64(0)
	for day, n := range m.byDay {
		sum += n
		if at = float64(day + 1); day == len(m.byDay)-1 {
			at = min(at, m.now.Sub(m.first).Hours()/24)
		}
		fmt.Fprintf(&points, " %.1f,%.1f", x(at), y(sum))
		d.Rows = append(d.Rows, DrawnRow{v.ShortDay(m.first.AddDate(0, 0, day)), []int64{sum, -1, limit}})
	}
	d.Rows = append(d.Rows, DrawnRow{v.ShortDay(m.first.AddDate(0, 0, m.days-1)), []int64{-1, end, limit}})
	out := newDrawing(v, fmt.Sprintf("%s: %d. %s: %d. %s: %d", d.Series[0].Name, spent, d.Series[1].Name, end,
		d.Series[2].Name, limit))
	for i := range 3 {
		value := top * int64(i) / 2
		out.grid(y(value), short(value))
	}
	out.add(`<polyline class="l1" points="%s"/><line class="dotted" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`,
		points.String(), x(at), y(spent), x(float64(m.days)), y(end))
	if shown {
		out.add(`<line class="limit" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, chartLeft, chartWidth, y(limit), y(limit))
	}
	for _, day := range []int{0, m.days / 2, m.days - 1} {
		out.day(x(float64(day)+0.5), day, m.days, m.first.AddDate(0, 0, day))
	}
	d.SVG = out.done()
	return d
}

// mostLimits bounds the profiles whose spending is read.
const mostLimits = 20

// limitedProfiles reads the profiles that have a spending limit, with what they have spent.
func limitedProfiles(r *request) (some []brand, err error) {
	all, err := listAll[brand](r.Context(), r.api, "/v1/profiles", nil, mostNames)
	for _, p := range all {
		if p.SpendLimitCredits != nil && len(some) < mostLimits {
			some = append(some, p)
		}
	}
	return some, errors.Join(err, each(some, func(p *brand) error {
		return r.api.get(r.Context(), "/v1/profiles/"+url.PathEscape(p.ID), nil, p)
	}))
}

// limited is a limit of a month with what is spent of it.
type limited struct {
	Name, Path   string
	Spent, Limit int64
}

// limited returns the limit of a profile that has spent something.
func (p brand) limited(spent int64) limited {
	return limited{p.Name, profilesPath + "/" + p.ID, spent, client.Value(p.SpendLimitCredits)}
}

// Share returns the part of the limit that is spent, in percent up to 100.
func (l limited) Share() int64 { return min(100, l.Spent*100/max(1, l.Limit)) }

func (l limited) Tone() string {
	switch {
	case l.Share() >= 100:
		return "cbad"
	case l.Share() >= 80:
		return "c3"
	}
	return "c1"
}

// limits returns the spending limits of keys and profiles, the fullest first.
func (u readUsage) limits() (all []limited) {
	for _, k := range u.Keys {
		if k.Active() && k.SpendLimitCredits != nil {
			all = append(all, limited{k.Name, keysPath + "/" + k.ID, k.UsedThisMonthCredits, *k.SpendLimitCredits})
		}
	}
	for _, p := range u.Brands {
		if p.SpendLimitCredits != nil {
			all = append(all, p.limited(p.Usage.UsedCredits))
		}
	}
	slices.SortStableFunc(all, func(a, b limited) int { return cmp.Compare(b.Share(), a.Share()) })
	return all
}

// chosenMonth returns the month of the address, such as 2026-11, or else this one, and the last months.
func (r *request) chosenMonth(n int) (month string, months []string) {
	now := r.site.Now().UTC()
	for back := range n {
		months = append(months, now.AddDate(0, -back, 1-now.Day()).Format("2006-01"))
	}
	month = r.URL.Query().Get("month")
	if _, err := time.Parse("2006-01", month); err != nil {
		month = months[0]
	}
	return month, months
}

func showLevels(r *request) error {
	month, months := r.chosenMonth(6)
	var l client.ServiceLevels
	if err := r.api.get(r.Context(), "/v1/service-levels", url.Values{"month": {month}}, &l); err != nil {
		return err
	}
	v := r.view("Service levels", levelsPath)
	v.Data = map[string]any{"Levels": l, "Months": months, "Month": month}
	return r.show(http.StatusOK, "levels", v)
}
