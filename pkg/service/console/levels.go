package console

import (
	"net/http"
	"net/url"
	"time"
)

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
