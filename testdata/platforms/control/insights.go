package control

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Insights answers a call of Meta's insights of an account: a value for each whole day of the period, or the total of a
// metric without days. It returns false if a parameter is missing, or the metric is unknown.
func Insights(w http.ResponseWriter, r *http.Request, most int, known ...string) bool {
	q := r.URL.Query()
	since, err := strconv.ParseInt(q.Get("since"), 10, 64)
	until, other := strconv.ParseInt(q.Get("until"), 10, 64)
	data := []any{}
	for _, name := range strings.Split(q.Get("metric"), ",") {
		if !strings.Contains(" "+strings.Join(known, " ")+" ", " "+name+" ") {
			return false
		}
		if name == "followers_count" {
			data = append(data, map[string]any{"name": name, "total_value": map[string]int{"value": 4200}})
			continue
		}
		from, to := time.Unix(since, 0).UTC(), time.Unix(until, 0).UTC()
		if err != nil || other != nil || !from.Before(to) || to.Sub(from) > time.Duration(most+1)*24*time.Hour {
			return false
		}
		values := []any{}
		for at := from.AddDate(0, 0, 1); !at.After(to.AddDate(0, 0, 1)); at = at.AddDate(0, 0, 1) {
			values = append(values, map[string]any{"value": 100 + at.Day(), "end_time": at.Format("2006-01-02T15:04:05-0700")})
		}
		data = append(data, map[string]any{"name": name, "period": "day", "values": values})
	}
	JSON(w, http.StatusOK, map[string]any{"data": data})
	return true
}

// Search answers with pages of places, and one page without a place.
func Search(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.Query().Get("q") == "" || r.URL.Query().Get("fields") != "id,name,location" {
		return false
	}
	JSON(w, http.StatusOK, map[string]any{"data": []any{
		map[string]any{"id": "106078429431815", "name": "Acme Store", "location": map[string]string{
			"street": "1 High Street", "city": "London", "country": "United Kingdom"}},
		map[string]any{"id": "106078429431816", "name": "Acme fans"},
	}})
	return true
}
