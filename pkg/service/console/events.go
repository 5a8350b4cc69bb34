package console

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/sheet"
)

const (
	eventsPath = "/settings/events"
	auditPath  = "/settings/audit-log"
)

func addEvents(open func(string, func(*request) error)) {
	open("GET "+eventsPath, listEvents)
	open("GET "+auditPath, listAudit)
	open("GET "+auditPath+".csv", exportAudit)
}

// event is an event as the API answers it.
type event struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	CreatedAt time.Time `json:"created_at"`
	Data      struct {
		Object json.RawMessage `json:"object"`
	} `json:"data"`
}

// Body returns the object of the event, indented.
func (e event) Body() string {
	var value any
	if json.Unmarshal(e.Data.Object, &value) != nil {
		return ""
	}
	text, _ := json.MarshalIndent(value, "", "  ") // it was decoded before
	return string(text)
}

// filters are the values of the fields that filter a list.
func (r *request) filters(names ...string) (given map[string]string, query url.Values) {
	given, query = map[string]string{}, cursor(r)
	for _, name := range names {
		value := strings.TrimSpace(r.URL.Query().Get(name))
		given[name] = value
		if value == "" {
			continue
		}
		// A form has days, and the API times. The last day is included.
		if day, err := time.Parse(time.DateOnly, value); err == nil && (name == "from" || name == "to") {
			if name == "to" {
				day = day.AddDate(0, 0, 1)
			}
			value = day.Format(time.RFC3339)
		}
		query.Set(name, value)
	}
	return given, query
}

// more returns the link to the next page of a list with the filters of this one.
func (r *request) more(next string) string {
	if next == "" {
		return ""
	}
	q := r.URL.Query()
	q.Set("cursor", next)
	return r.site.prefix + r.URL.Path + "?" + q.Encode()
}

func listEvents(r *request) error {
	given, query := r.filters("type", "object_id", "from", "to")
	var all []event
	v := r.view("Events", eventsPath)
	next, err := r.api.list(r.Context(), "/v1/events", query, &all)
	found, err := refused(err)
	if err != nil {
		return err
	}
	v.mend(found)
	v.Data = map[string]any{"Events": all, "More": r.more(next), "Filters": given}
	return r.show(http.StatusOK, "events", v)
}

// entry is an entry of the audit log as the API answers it.
type entry struct {
	At    time.Time `json:"at"`
	Actor struct {
		Kind string `json:"kind"`
		ID   string `json:"id"`
	} `json:"actor"`
	Operation string  `json:"operation_id"`
	Method    string  `json:"method"`
	Path      string  `json:"path"`
	Status    int     `json:"status"`
	ErrorCode *string `json:"error_code"`
	IP        string  `json:"ip"`
	UserAgent string  `json:"user_agent"`
	RequestID string  `json:"request_id"`
	LatencyMS int     `json:"latency_ms"`
	Count     int     `json:"count"`
}

// Tone returns the tone of the status.
func (e entry) Tone() string {
	switch {
	case e.Status < 400:
		return "good"
	case e.Status < 500:
		return "warn"
	default:
		return "bad"
	}
}

var auditFilters = []string{"from", "to", "key_id", "operation_id", "status", "request_id"}

func listAudit(r *request) error {
	given, query := r.filters(auditFilters...)
	var all []entry
	v := r.view("Audit log", auditPath)
	next, err := r.api.list(r.Context(), "/v1/audit-log", query, &all)
	found, err := refused(err)
	if err != nil {
		return err
	}
	v.mend(found)
	if r.FormValue("leak") != "" {
		v.Notice = "The key and those made with it are revoked. These are the calls that were made with it: look for " +
			"addresses that you do not know, and for calls after the leak."
	}
	export := url.Values{}
	for name, value := range given {
		if value != "" {
			export.Set(name, value)
		}
	}
	v.Data = map[string]any{"Entries": all, "More": r.more(next), "Filters": given,
		"Export": r.site.prefix + auditPath + ".csv?" + export.Encode()}
	return r.show(http.StatusOK, "audit", v)
}

// maxExport is the number of entries of a file: an answer of the gateway has at most 6 MB.
const maxExport = 10_000

// exportAudit writes the entries as a file of comma-separated values.
func exportAudit(r *request) error {
	_, query := r.filters(auditFilters...)
	query.Set("limit", "100")
	var all []entry
	for {
		var some []entry
		next, err := r.api.list(r.Context(), "/v1/audit-log", query, &some)
		if err != nil {
			return err
		}
		if all = append(all, some...); next == "" || len(all) >= maxExport {
			break
		}
		query.Set("cursor", next)
	}
	h := r.w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="audit-log.csv"`)
	out := csv.NewWriter(r.w)
	_ = out.Write([]string{"at", "request_id", "actor_kind", "actor_id", "operation_id", "method", "path", "status",
		"error_code", "ip", "user_agent", "latency_ms", "count"})
	for _, e := range all {
		code := ""
		if e.ErrorCode != nil {
			code = *e.ErrorCode
		}
		row := []string{e.At.Format(time.RFC3339Nano), e.RequestID, e.Actor.Kind, e.Actor.ID, e.Operation, e.Method,
			e.Path, strconv.Itoa(e.Status), code, e.IP, e.UserAgent, strconv.Itoa(e.LatencyMS), strconv.Itoa(e.Count)}
		for i := range row {
			row[i] = sheet.Text(row[i])
		}
		_ = out.Write(row)
	}
	out.Flush()
	return out.Error()
}
