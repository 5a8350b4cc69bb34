package console

import (
	"cmp"
	"encoding/csv"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	client "github.com/content-automation/api/clients/go"
	"github.com/content-automation/api/pkg/base/sheet"
	"github.com/content-automation/api/pkg/base/tenant"
)

// entry is an entry of the audit log. Further is the number of other entries of its request.
type entry struct {
	client.AuditEntry
	Further int `json:"-"`
}

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

// Own reports whether the entry is a read of a person in the account area.
func (e entry) Own() bool {
	return e.Actor.Kind == "person" && given(e.Method) == http.MethodGet && strings.HasPrefix(e.Path, "/v1/")
}

// callRow is a row of the list: one call, or the reads of a person within a minute.
type callRow struct {
	entry
	// Caller, Factory and Profile are names. The latter are empty if the call concerned none.
	Caller, Factory, Profile string
	// Reads is the number of merged reads. 0: the row is one call.
	Reads int
}

// rowsOfCalls merges the reads of a person that follow each other within a minute.
func rowsOfCalls(all []entry, of callers) (rows []callRow) {
	for _, e := range all {
		if n := len(rows) - 1; n >= 0 && e.Own() && rows[n].Own() && rows[n].Actor == e.Actor && rows[n].Status < 400 &&
			e.Status < 400 && rows[n].At.Sub(e.At) < time.Minute {
			rows[n].Reads = max(rows[n].Reads, 1) + 1
			continue
		}
		rows = append(rows, callRow{entry: e, Caller: of.name(e), Factory: of.Factory(given(e.FactoryID)),
			Profile: of.Profile(given(e.ProfileID))})
	}
	return rows
}

// callers are the keys and the people of the account by name, and what their calls concern.
type callers struct {
	Keys, People []named
	names
}

// callersOf reads the names of who calls the API, and of the factories that calls concern. A person who may not read
// people sees their ids.
func callersOf(r *request, factories []string) (c callers) {
	var all sync.WaitGroup
	for path, into := range map[string]*[]named{"/v1/api-keys": &c.Keys, "/v1/people": &c.People} {
		all.Go(func() {
			found, err := listAll[named](r.Context(), r.api, path, nil, mostNames)
			if err != nil && path != "/v1/people" {
				slog.Warn("names are shown as ids", "of", path, "error", err)
			}
			for _, one := range found {
				one.Name = cmp.Or(one.Name, one.Email, one.ID)
				*into = append(*into, one)
			}
		})
	}
	if factories != nil {
		all.Go(func() {
			var err error
			if c.names, err = r.names(factories...); err != nil {
				slog.Warn("names are shown as ids", "of", "factories", "error", err)
			}
		})
	}
	all.Wait()
	return c
}

// By returns the name of a key or a person, or the id.
func (c callers) By(id string) string { return nameOf(slices.Concat(c.Keys, c.People), id) }

// name returns the name of the caller of an entry, or the id.
func (c callers) name(e entry) string {
	switch e.Actor.Kind {
	case "api_key", "person":
		return c.By(e.Actor.ID)
	}
	return strings.ReplaceAll(string(e.Actor.Kind), "_", " ") + " " + e.Actor.ID
}

// The filters of the log that need one click: how far it reaches back, and the class of the status.
var (
	withins  = []choice{{"1h", "Last hour"}, {"24h", "24 hours"}, {"168h", "7 days"}, {"", "90 days"}}
	statuses = []choice{{"", "All"}, {"2xx", "2xx"}, {"4xx", "4xx"}, {"5xx", "5xx"}}
)

// callKinds are the kinds of content and of generations of the studio that calls concern.
var callKinds = slices.Concat(contentKinds, []choice{{"image", "Image"}, {"music", "Music"}, {"voice", "Voice"},
	{"avatar", "Avatar"}})

// narrowCalls leaves out what people read in the account area, unless the page is asked for it or for one request, and
// what is before the chosen time.
func narrowCalls(r *request, query url.Values) {
	if by, err := time.ParseDuration(chosenOf(r, "within", withins, "")); err == nil && query.Get("from") == "" {
		query.Set("from", r.site.Now().Add(-by).UTC().Format(time.RFC3339))
	}
	if r.URL.Query().Get("reads") == "" && query.Get("request_id") == "" {
		query.Set("exclude_person_reads", "true")
	} else {
		query.Set("limit", "100") // because many of them become one row of the page
	}
}

// calls are the entries of the audit log.
var calls = page[entry]{
	Title: "Audit log", Lead: "All calls of the last 90 days.", Path: auditPath, API: "/v1/audit-log", ID: "request",
	List: "audit", Icon: "scroll", Empty: "There are no calls here",
	Columns: []column{{Text: "Time"}, {Text: "Status"}, {Text: "Operation"}, {Text: "Caller", At: "sm"},
		{Text: "Content", At: "lg"}, {Text: "Duration", At: "md", End: true}},
	Filters: []string{"key_id", "person_id", "factory_id", "profile_id", "kind"}, Narrow: narrowCalls,
	Folded: []input{{Name: "operation_id", Label: "Operation", Holder: "createApiKey"},
		{Name: "status", Label: "Status", Holder: "429"}, {Name: "request_id", Label: "Id of the request"},
		{Name: "from", Label: "From", Kind: asDate}, {Name: "to", Label: "To", Kind: asDate}},
	More: addCallers, Show: "call", Heading: "Call", Read: callOf,
	Below: func(r *request, _ *view, e entry, to map[string]any) error {
		to["Call"] = rowsOfCalls([]entry{e}, callersOf(r, []string{given(e.FactoryID)}))[0]
		to["Sandbox"] = r.session.Mode == tenant.Test
		return nil
	},
}

// chip is a filter that is set, with the address of the page without it.
type chip struct{ Text, Without string }

// filterNames are the names of filters in chips.
var filterNames = []choice{{"key_id", "Key"}, {"person_id", "Person"}, {"factory_id", "Factory"},
	{"profile_id", "Profile"}, {"kind", "Kind"}, {"operation_id", "Operation"}, {"type", "Type"},
	{"object_id", "Resource"}, {"request_id", "Id of the request"}, {"from", "From"}, {"to", "To"}}

// chipsOf returns the filters that are set. Shown are the values by name, if they have one.
func chipsOf(r *request, v *view, given, shown map[string]string) (all []chip) {
	for _, f := range filterNames {
		value := given[f.Value]
		if value == "" {
			continue
		}
		all = append(all, chip{v.T(f.Text) + ": " + cmp.Or(shown[value], value), pathWith(r, f.Value, "")})
	}
	return all
}

// pathWith returns the address of the page with another value of a parameter, from its first page on.
func pathWith(r *request, name, value string) string {
	q := r.URL.Query()
	q.Del("cursor")
	q.Del("leak")
	if q.Set(name, value); value == "" {
		q.Del(name)
	}
	if len(q) == 0 {
		return r.site.prefix + r.URL.Path
	}
	return r.site.prefix + r.URL.Path + "?" + q.Encode()
}

// option is a choice with the address of the page that has it.
type option struct {
	Text, Path string
	Chosen     bool
}

// optionsOf returns the choices of a parameter as links.
func optionsOf(r *request, name, chosen string, of []choice) []option {
	return mapped(of, func(c choice) option { return option{c.Text, pathWith(r, name, c.Value), c.Value == chosen} })
}

// addCallers merges the rows of the log, and adds the names of who calls and what the filters choose.
func addCallers(r *request, v *view, all []entry, to map[string]any) error {
	set, _ := to["Filters"].(map[string]string)
	set["within"], set["reads"] = chosenOf(r, "within", withins, ""), r.URL.Query().Get("reads")
	if r.FormValue("leak") != "" {
		v.Notice = "The key and those made with it are revoked. These are the calls that were made with it: look for " +
			"addresses that you do not know, and for calls after the leak."
	}
	of := callersOf(r, append(mapped(all, func(e entry) string { return given(e.FactoryID) }), set["factory_id"]))
	shown := map[string]string{}
	for _, one := range slices.Concat(of.Keys, of.People, of.Factories, of.Profiles) {
		shown[one.ID] = one.Name
	}
	var kinds []named
	for _, kind := range callKinds {
		shown[kind.Value] = v.T(kind.Text)
		kinds = append(kinds, named{ID: kind.Value, Name: v.T(kind.Text)})
	}
	reads := pathWith(r, "reads", "1")
	if set["reads"] != "" {
		reads = pathWith(r, "reads", "")
	}
	export := r.URL.Query()
	export.Del("cursor")
	maps.Copy(to, map[string]any{"Rows": rowsOfCalls(all, of), "Callers": of, "Names": of, "Kinds": kinds,
		"Chips": chipsOf(r, v, set, shown), "Within": optionsOf(r, "within", set["within"], withins),
		"Statuses": optionsOf(r, "status", set["status"], statuses), "Reads": reads,
		"Export": r.site.prefix + auditPath + ".csv?" + export.Encode()})
	return nil
}

// callOf returns the call of the page. Few requests have more than one entry.
func callOf(r *request) (e entry, err error) {
	var all []entry
	err = r.api.get(r.Context(), "/v1/audit-log", url.Values{"request_id": {r.PathValue("request")}}, &all)
	if err != nil {
		return e, err
	}
	if len(all) == 0 {
		return e, &failure{Status: http.StatusNotFound, Message: "There is no call with this id in the last 90 days."}
	}
	all[0].Further = len(all) - 1
	return all[0], nil
}

// given returns a text that may be absent.
func given(text *string) string { return client.Value(text) }

// maxExport is the number of entries of a file: an answer of the gateway has at most 6 MB.
const maxExport = 10_000

// exportedMembers are the columns of the file: members of an entry, by their paths.
var exportedMembers = []string{"at", "request_id", "actor/kind", "actor/id", "operation_id", "method", "path", "status",
	"error_code", "ip", "user_agent", "latency_ms", "count", "factory_id", "profile_id", "kind"}

// exportAudit writes the entries as a file of comma-separated values.
func exportAudit(r *request) error {
	_, query := calls.filters(r)
	query.Set("limit", "100")
	all, err := listAll[entry](r.Context(), r.api, "/v1/audit-log", query, maxExport)
	if err != nil {
		return err
	}
	rows := [][]string{mapped(exportedMembers, func(member string) string {
		return strings.ReplaceAll(member, "/", "_")
	})}
	for _, e := range all {
		tree := treeOf(e)
		rows = append(rows, mapped(exportedMembers, func(member string) string {
			return sheet.Text(strings.Join(textsOf(within(tree, member)), " "))
		}))
	}
	return r.download("audit-log.csv", rows)
}

// download answers with a file of comma-separated values.
func (r *request) download(name string, rows [][]string) error {
	h := r.w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	return csv.NewWriter(r.w).WriteAll(rows)
}
