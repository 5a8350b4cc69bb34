package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	usagePath  = "/settings/usage"
	levelsPath = "/settings/service-levels"
)

func addUsage(open func(string, func(*request) error)) {
	open("GET "+usagePath, showUsage)
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

const (
	// usageDays is the number of days of the charts.
	usageDays = 30
	// maxEntries bounds the entries that a chart adds up: 20 calls of the API.
	maxEntries = 2000
)

func showUsage(r *request) error {
	from := r.site.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-usageDays)
	var me account
	var entries []balanceEntry
	var keys []key
	var factories []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	errs := make([]error, 4)
	var partial bool
	var all sync.WaitGroup
	all.Go(func() { errs[0] = r.api.get(r.Context(), "/v1/me", nil, &me) })
	all.Go(func() { entries, partial, errs[1] = r.entriesSince(from) })
	all.Go(func() {
		if _, errs[2] = r.api.list(r.Context(), "/v1/api-keys", cursor(r), &keys); errs[2] == nil {
			r.addUsage(keys)
		}
	})
	all.Go(func() {
		_, errs[3] = r.api.list(r.Context(), "/v1/factories", url.Values{"limit": {"100"}}, &factories)
	})
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	v := r.view("Balance and usage", usagePath)
	names := map[string]string{}
	for _, f := range factories {
		names[f.ID] = f.Name
	}
	byKind := newChart(from, usageDays, v.T("Credits"))
	byFactory := map[string]int64{}
	var spent int64
	for _, e := range entries {
		byKind.add(v.T(kindOf(e)), e.CreatedAt, e.spent())
		name := v.T("Without a factory")
		if e.FactoryID != nil {
			name = cmp.Or(names[*e.FactoryID], *e.FactoryID)
		}
		byFactory[name] += e.spent()
		spent += e.spent()
	}
	byKey := newChart(from, usageDays, v.T("Requests"))
	for _, k := range keys {
		for _, d := range k.Days {
			at, _ := time.Parse(time.DateOnly, d.Date)
			byKey.add(k.Name, at, d.Requests)
		}
	}
	v.Data = map[string]any{"Account": me, "ByKind": byKind.done(), "ByFactory": bars(byFactory),
		"ByKey": byKey.done(), "Entries": entries[:min(len(entries), 20)], "Spent": spent, "Partial": partial,
		"Low": me.Balance.Credits <= me.Balance.LowThreshold}
	return r.show(http.StatusOK, "usage", v)
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

// measured are the service levels of some calls as the API answers them.
type measured struct {
	Operation    string   `json:"operation_id"`
	Calls        int64    `json:"calls"`
	Failed       int64    `json:"failed"`
	Availability *float64 `json:"availability_percent"`
	ErrorRate    *float64 `json:"error_rate_percent"`
	P50          *int64   `json:"latency_p50_ms"`
	P95          *int64   `json:"latency_p95_ms"`
	P99          *int64   `json:"latency_p99_ms"`
}

// levels are the service levels of a month as the API answers them.
type levels struct {
	Month      string     `json:"month"`
	Met        *bool      `json:"met"`
	All        measured   `json:"all"`
	Operations []measured `json:"operations"`
	Targets    struct {
		Availability float64 `json:"availability_percent"`
		ErrorRate    float64 `json:"error_rate_percent"`
		P95          int64   `json:"latency_p95_ms"`
	} `json:"targets"`
	Deliveries struct {
		Count   int64    `json:"count"`
		Failed  int64    `json:"failed"`
		Success *float64 `json:"success_percent"`
	} `json:"deliveries"`
}

func showLevels(r *request) error {
	month := r.URL.Query().Get("month")
	if _, err := time.Parse("2006-01", month); err != nil {
		month = r.site.Now().UTC().Format("2006-01")
	}
	var l levels
	if err := r.api.get(r.Context(), "/v1/service-levels", url.Values{"month": {month}}, &l); err != nil {
		return err
	}
	var months []string
	first := r.site.Now().UTC()
	first = first.AddDate(0, 0, 1-first.Day())
	for back := range 6 {
		months = append(months, first.AddDate(0, -back, 0).Format("2006-01"))
	}
	v := r.view("Service levels", levelsPath)
	v.Data = map[string]any{"Levels": l, "Months": months, "Month": month}
	return r.show(http.StatusOK, "levels", v)
}
