package console

import (
	"cmp"
	"encoding/csv"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

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

// account is the account as the API answers it.
type account struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Plan    string `json:"plan"`
	Balance struct {
		Credits      int64 `json:"credits"`
		LowThreshold int64 `json:"low_threshold"`
	} `json:"balance"`
	RateLimit struct {
		Limit  int `json:"limit"`
		Window int `json:"window_seconds"`
	} `json:"rate_limit"`
}

// balanceEntry is an entry of the ledger as the API answers it.
type balanceEntry struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind"`
	Credits   int64     `json:"credits"`
	State     *string   `json:"state"`
	Subject   string    `json:"subject"`
	FactoryID *string   `json:"factory_id"`
	CreatedAt time.Time `json:"created_at"`
}

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

// maxEntries bounds the entries that a chart adds up: 20 calls of the API.
const maxEntries = 2000

// usageOfAccount is the usage as the API answers it.
type usageOfAccount struct {
	calls
	Failed int64        `json:"failed"`
	Days   []dayOfKey   `json:"days"`
	Keys   []usageOfOne `json:"keys"`
	People calls        `json:"people"`
}

// usageOfOne is the usage of one key, which may be revoked.
type usageOfOne struct {
	calls
	KeyID string  `json:"key_id"`
	Name  *string `json:"name"`
	ByDay []int64 `json:"requests_by_day"`
}

// usageOf reads the usage of the account in a mode.
func usageOf(r *request, mode tenant.Mode, query url.Values) (u usageOfAccount, err error) {
	a := r.api
	a.mode = mode
	return u, a.get(r.Context(), "/v1/usage", query, &u)
}

// ranges are the periods of the page of usage, and splits what its credits are split by.
var (
	ranges = []choice{{"7", "7 days"}, {"30", "30 days"}, {"90", "90 days"}, {"month", "This month"}}
	splits = []choice{{"kind", "Kind"}, {"factory", "Factory"}, {"profile", "Profile"}}
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

// forecast returns what a month costs if it goes on as it began.
func forecast(spent int64, now time.Time) int64 {
	first := time.Date(now.UTC().Year(), now.UTC().Month(), 1, 0, 0, 0, 0, time.UTC)
	passed, whole := now.Sub(first), first.AddDate(0, 1, 0).Sub(first)
	if passed < 24*time.Hour {
		passed = 24 * time.Hour // the first hours tell little
	}
	return int64(float64(spent) * float64(whole) / float64(passed))
}

// readUsage has what the page of usage reads.
type readUsage struct {
	Account account
	Entries []balanceEntry
	Partial bool
	Usage   usageOfAccount
	Names   names
}

// usagePage reads what the page of usage shows of a period.
func usagePage(r *request, from time.Time) (u readUsage, err error) {
	errs := make([]error, 4)
	var all sync.WaitGroup
	all.Go(func() { errs[0] = r.api.get(r.Context(), "/v1/me", nil, &u.Account) })
	all.Go(func() { u.Entries, u.Partial, errs[1] = r.entriesSince(from) })
	all.Go(func() {
		u.Usage, errs[2] = usageOf(r, r.session.Mode, url.Values{"from": {from.Format(time.DateOnly)}})
	})
	all.Go(func() { u.Names, errs[3] = r.names() })
	all.Wait()
	return u, errors.Join(errs...)
}

// part returns the name of what an entry of the ledger is part of.
func (u readUsage) part(v *view, e balanceEntry, split string) string {
	switch {
	case split == "kind":
		return v.T(kindOf(e))
	case e.FactoryID == nil:
		return v.T("Without a factory")
	case split == "profile":
		return cmp.Or(u.Names.ProfileOf(*e.FactoryID), v.T("Without a profile"))
	}
	return u.Names.Factory(*e.FactoryID)
}

func showUsage(r *request) error {
	chosen, split := chosenOf(r, "range", ranges, "30"), chosenOf(r, "by", splits, "kind")
	from, days := periodOf(chosen, r.site.Now())
	u, err := usagePage(r, from)
	if err != nil {
		return err
	}
	v := r.view("Balance and usage", usagePath)
	credits := newChart(from, days, v.T("Credits"))
	for i, kind := range slices.Sorted(maps.Values(subjects)) {
		credits.colour(v.T(kind), i)
	}
	byFactory := map[string]int64{}
	var spent, thisMonth int64
	for _, e := range u.Entries {
		credits.add(u.part(v, e, split), e.CreatedAt, e.spent())
		byFactory[u.part(v, e, "factory")] += e.spent()
		if spent += e.spent(); e.CreatedAt.UTC().Format("2006-01") == r.site.Now().UTC().Format("2006-01") {
			thisMonth += e.spent()
		}
	}
	requests := newChart(from, days, v.T("Requests"))
	for _, k := range u.Usage.Keys {
		name := k.KeyID
		if k.Name != nil {
			name = *k.Name
		}
		for day, n := range k.ByDay {
			requests.add(name, from.AddDate(0, 0, day), n)
		}
	}
	data := map[string]any{"Account": u.Account, "Credits": credits.done(v), "ByFactory": bars(byFactory),
		"Requests": requests.done(v), "Entries": u.Entries[:min(len(u.Entries), 20)], "Spent": spent,
		"Partial": u.Partial, "Usage": u.Usage, "Ranges": ranges, "Range": chosen, "Splits": splits, "Split": split,
		"Low": u.Account.Balance.Credits <= u.Account.Balance.LowThreshold}
	if days >= r.site.Now().UTC().Day() && !u.Partial {
		data["Forecast"] = grouped(forecast(thisMonth, r.site.Now()))
	}
	v.Data = data
	return r.show(http.StatusOK, "usage", v)
}

// exportUsage writes the days of a period as a file of comma-separated values.
func exportUsage(r *request) error {
	from, days := periodOf(chosenOf(r, "range", ranges, "30"), r.site.Now())
	u, err := usagePage(r, from)
	if err != nil {
		return err
	}
	spent := make([]int64, days)
	for _, e := range u.Entries {
		if day := int(e.CreatedAt.Sub(from) / (24 * time.Hour)); day >= 0 && day < days {
			spent[day] += e.spent()
		}
	}
	h := r.w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="usage.csv"`)
	out := csv.NewWriter(r.w)
	_ = out.Write([]string{"date", "credits", "requests", "refused"})
	for i, d := range u.Usage.Days {
		if i < days {
			_ = out.Write([]string{d.Date, strconv.FormatInt(spent[i], 10), strconv.FormatInt(d.Requests, 10),
				strconv.FormatInt(d.Refused, 10)})
		}
	}
	out.Flush()
	return out.Error()
}

// entriesSince reads the ledger from a time on, and reports whether there are more entries than it reads.
func (r *request) entriesSince(from time.Time) (all []balanceEntry, partial bool, err error) {
	q := url.Values{"limit": {"100"}, "from": {from.Format(time.RFC3339)}}
	for {
		var some []balanceEntry
		next, err := r.api.list(r.Context(), "/v1/balance/entries", q, &some)
		if err != nil {
			return nil, false, err
		}
		if all = append(all, some...); next == "" || len(all) >= maxEntries {
			return all, next != "", nil
		}
		q.Set("cursor", next)
	}
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
