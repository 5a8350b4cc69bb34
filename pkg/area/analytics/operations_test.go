package analytics_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/rolluptest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// world is a table with a factory, called by a test key.
type world struct {
	*servicetest.World
	keeper  *analytics.Keeper
	factory string
}

func newWorld(t *testing.T) *world {
	w := &world{World: servicetest.New(t)}
	w.keeper = analytics.New(w.DB)
	w.Serve(factory.NewService(w.DB, w.Now), analytics.NewService(w.DB, w.Now))
	w.factory = w.makeFactory(w.Caller)
	return w
}

func (w *world) makeFactory(c *apitest.Caller) string {
	w.T.Helper()
	var f struct{ ID string }
	c.Call(http.MethodPost, "/v1/factories", `{"type":"blogger","name":"Blog"}`).Into(w.T, http.StatusCreated, &f)
	return f.ID
}

// locate sets the time zone of the factory, as a schedule does.
func (w *world) locate(zone string) {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), store.IDKey(w.factory))
	if err != nil {
		w.T.Fatal(err)
	}
	it.Doc = []byte(strings.Replace(string(it.Doc), `"schedule":null`, `"schedule":{"timezone":"`+zone+
		`","times":[]}`, 1))
	tx := &store.Tx{}
	tx.Replace(it)
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
}

// happened counts the result of an item at a time.
func (w *world) happened(kind item.Kind, at string, p item.Past) {
	w.T.Helper()
	when, err := time.Parse(time.RFC3339, at)
	if err != nil {
		w.T.Fatal(err)
	}
	p.At = resource.Instant(when)
	r := item.Record{Item: item.Item{Resource: resource.New(id.New(id.ContentItem, when), when, nil),
		FactoryID: w.factory, Kind: kind, State: item.Generated}, History: []item.Past{p}}
	it, err := r.Entry(w.Principal.Owner)
	if err != nil {
		w.T.Fatal(err)
	}
	uncounted := rolluptest.Handle(w.T.Context(), w.keeper, events.DynamoDBEventRecord{
		EventName: "MODIFY", Change: events.DynamoDBStreamRecord{SequenceNumber: "1",
			NewImage: map[string]events.DynamoDBAttributeValue{
				"pk": events.NewStringAttribute(it.PK), "kind": events.NewStringAttribute(it.Kind),
				"acc":  events.NewStringAttribute(string(it.Account)),
				"mode": events.NewStringAttribute(string(it.Mode)), "doc": events.NewStringAttribute(string(it.Doc)),
			}},
	})
	if uncounted != "" {
		w.T.Fatal("the item is not counted")
	}
}

func (w *world) path(query string) string { return "/v1/factories/" + w.factory + "/analytics" + query }

func (w *world) get(query string) (a analytics.Analytics) {
	w.T.Helper()
	w.Call(http.MethodGet, w.path(query), nil).Into(w.T, http.StatusOK, &a)
	return a
}

// rows are those of a series that are not zero, as text.
func rows(a analytics.Analytics) (all []string) {
	text := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	for _, r := range a.Series {
		if r.Amounts != (analytics.Amounts{}) {
			all = append(all, fmt.Sprintf("%s %s %s: %d made, %d failed, %d published, %d", text(r.Day), text(r.Kind),
				text(r.Platform), r.Made, r.Failed, r.Published, r.CostCredits))
		}
	}
	return all
}

func (w *world) shows(query string, want ...string) {
	w.T.Helper()
	if got := rows(w.get(query)); !slices.Equal(got, want) {
		w.T.Errorf("%s shows\n%s\nwant\n%s", query, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAnalyticsOfThirtyDays(t *testing.T) {
	w := newWorld(t)
	w.happened(item.Post, "2026-04-02T00:00:00Z", item.Past{Made: 1, Credits: 20})
	w.happened(item.Video, "2026-05-01T11:00:00Z", item.Past{Made: 1, Published: 1, Credits: 300})
	w.happened(item.Post, "2026-05-01T11:59:59Z", item.Past{Failed: 1})
	w.happened(item.Post, "2026-04-01T23:59:59Z", item.Past{Made: 1, Credits: 20}) // too early
	w.Faults.Reset()
	a := w.get("")
	if trips := w.Faults.Operations(); trips != "BatchGetItem" {
		t.Errorf("it was read by %s", trips)
	}
	if a.FactoryID != w.factory || a.From != "2026-04-02" || a.To != "2026-05-01" || a.Timezone != "UTC" ||
		!slices.Equal(a.GroupBy, []string{"day"}) || len(a.Series) != 30 {
		t.Errorf("%+v", a)
	}
	if a.Totals != (analytics.Amounts{Made: 2, Failed: 1, Published: 1, CostCredits: 320}) {
		t.Errorf("%+v", a.Totals)
	}
	if first, last := a.Series[0], a.Series[29]; *first.Day != "2026-04-02" || *last.Day != "2026-05-01" ||
		first.Made != 1 || last.Made != 1 || last.Failed != 1 || *a.Series[1].Day != "2026-04-03" ||
		a.Series[1].Amounts != (analytics.Amounts{}) {
		t.Errorf("%+v, %+v", first, last)
	}
}

func TestASeriesIsGrouped(t *testing.T) {
	w := newWorld(t)
	w.happened(item.Post, "2026-04-30T10:00:00Z", item.Past{Made: 1, Credits: 20})
	w.happened(item.Video, "2026-05-01T11:00:00Z", item.Past{Made: 1, Credits: 300})
	w.happened(item.Post, "2026-05-01T11:00:00Z", item.Past{Made: 1, Credits: 20})
	w.shows("?group_by=kind", "- post -: 2 made, 0 failed, 0 published, 40",
		"- video -: 1 made, 0 failed, 0 published, 300")
	w.shows("?group_by=platform", "- - -: 3 made, 0 failed, 0 published, 340")
	w.shows("?group_by=kind,day&from=2026-04-30", "2026-04-30 post -: 1 made, 0 failed, 0 published, 20",
		"2026-05-01 post -: 1 made, 0 failed, 0 published, 20",
		"2026-05-01 video -: 1 made, 0 failed, 0 published, 300")
	if a := w.get("?group_by=day,kind&from=2026-04-30"); len(a.Series) != 4 || *a.Series[1].Kind != "video" ||
		*a.Series[1].Day != "2026-04-30" || !slices.Equal(a.GroupBy, []string{"day", "kind"}) {
		t.Errorf("%+v", a)
	}
	w.shows("?group_by=kind&from=2026-05-02&to=2026-05-09")
	if a := w.get("?from=2026-05-02&to=2026-05-09"); len(a.Series) != 8 || a.Totals != (analytics.Amounts{}) {
		t.Errorf("%+v", a)
	}
	if a := w.get("?group_by=day,kind&from=2026-05-02&to=2026-05-09"); a.Series == nil || len(a.Series) != 0 {
		t.Errorf("%+v", a)
	}
}

// A day of Berlin and one of New York begin at other times, and are 23 and 25 hours long
// where the clocks are changed.
func TestDaysAreThoseOfTheTimeZone(t *testing.T) {
	w := newWorld(t)
	w.locate("Europe/Berlin")
	w.Clock.Add(200 * 24 * time.Hour)
	for _, at := range []string{"2026-10-24T21:59:59Z", "2026-10-24T22:00:00Z", "2026-10-25T22:59:59Z",
		"2026-10-25T23:00:00Z"} {
		w.happened(item.Post, at, item.Past{Made: 1})
	}
	const one, two, three = "2026-10-24 - -: 1 made, 0 failed, 0 published, 0",
		"2026-10-25 - -: 2 made, 0 failed, 0 published, 0", "2026-10-26 - -: 1 made, 0 failed, 0 published, 0"
	w.Faults.Reset()
	w.shows("", one, two, three)
	if trips := w.Faults.Operations(); trips != "BatchGetItem" {
		t.Errorf("in the factory's time zone it was read by %s", trips)
	}
	w.Faults.Reset()
	w.shows("?timezone=UTC&from=2026-10-01&to=2026-10-31", "2026-10-24 - -: 2 made, 0 failed, 0 published, 0",
		"2026-10-25 - -: 2 made, 0 failed, 0 published, 0")
	if trips := w.Faults.Operations(); trips != "BatchGetItem Query" {
		t.Errorf("in another time zone it was read by %s", trips)
	}
	w.shows("?timezone=Asia/Kathmandu&from=2026-10-25&to=2026-10-26",
		"2026-10-25 - -: 2 made, 0 failed, 0 published, 0", "2026-10-26 - -: 2 made, 0 failed, 0 published, 0")
	w.shows("?timezone=America/New_York&from=2026-10-25&to=2026-10-25",
		"2026-10-25 - -: 2 made, 0 failed, 0 published, 0")
}

// Today and the last thirty days are those of the factory, wherever its days are.
func TestTodayIsThatOfTheFactory(t *testing.T) {
	for zone, want := range map[string][2]string{"Pacific/Kiritimati": {"2026-04-03", "2026-05-02"},
		"Pacific/Pago_Pago": {"2026-04-02", "2026-05-01"}} {
		w := newWorld(t)
		w.locate(zone)
		if a := w.get(""); a.From != want[0] || a.To != want[1] || a.Timezone != zone {
			t.Errorf("%s: %+v", zone, a)
		}
		if a := w.get("?from=" + want[1]); len(a.Series) != 1 {
			t.Errorf("%s: %+v", zone, a)
		}
	}
	w := newWorld(t)
	w.locate("Pacific/Pago_Pago")
	w.Clock.Add(-2 * time.Hour)
	w.Call(http.MethodGet, w.path("?from=2026-05-01"), nil).Refused(t, 422, errs.ValidationFailed, "from")
	if a := w.get("?from=2025-04-30"); len(a.Series) != 366 { // until 2026-04-30, though it is May elsewhere
		t.Errorf("%d days", len(a.Series))
	}
}

func TestPeriodsThatAreRefused(t *testing.T) {
	w := newWorld(t)
	for query, c := range map[string]struct{ param, says string }{
		"?from=2026-05-02":               {"from", "from: is after the last day, which is 2026-05-01"},
		"?from=2026-04-02&to=2026-04-01": {"from", "from: is after the last day, which is 2026-04-01"},
		"?from=2025-04-30": {"from", "from: makes a period of 367 days to 2026-05-01. Ask for at most " +
			"366 days at once"},
		"?from=0001-01-02&to=9999-12-31": {"from", "days to 9999-12-31"},
		"?from=yesterday":                {"from", "from: is not a day; write it as 2026-11-22"},
		"?to=2026-02-30":                 {"to", "to: is not a day; write it as 2026-11-22"},
		"?to=2026-05-01T00:00:00Z":       {"to", "to: is not a day; write it as 2026-11-22"},
		"?timezone=Mars/Base":            {"timezone", "timezone: is not an IANA time zone; write it as Europe/Berlin"},
		"?timezone=Local":                {"timezone", "timezone: is not an IANA time zone; write it as Europe/Berlin"},
		"?timezone=../../../etc/passwd":  {"timezone", "timezone: is not an IANA time zone; write it as Europe/Berlin"},
		"?group_by=hour":                 {"group_by", ""},
		"?group_by=day,day":              {"group_by", ""},
		"?from=x&timezone=y":             {"from", "and 1 more"},
	} {
		a := w.Call(http.MethodGet, w.path(query), nil)
		a.Refused(t, 422, errs.ValidationFailed, c.param)
		if !strings.Contains(a.Error.Message, c.says) {
			t.Errorf("%s: %s", query, a.Error.Message)
		}
	}
	if a := w.get("?from=2025-05-01"); len(a.Series) != 366 {
		t.Errorf("%d days", len(a.Series))
	}
}

func TestAnalyticsOfWhatIsNotThere(t *testing.T) {
	w := newWorld(t)
	w.happened(item.Post, "2026-05-01T11:00:00Z", item.Past{Made: 1})
	for _, c := range []*apitest.Caller{w.Live(), w.Stranger()} {
		c.Call(http.MethodGet, w.path(""), nil).Refused(t, 404, errs.NotFound, "")
	}
	for name, trips := range map[string]string{"fac_x": "", "fac_" + strings.Repeat("x", 3000): "",
		id.New(id.Factory, w.Now()): "BatchGetItem"} {
		w.Faults.Reset()
		w.Call(http.MethodGet, "/v1/factories/"+name+"/analytics", nil).Refused(t, 404, errs.NotFound, "")
		if got := w.Faults.Operations(); got != trips { // no key of the table may be that long
			t.Errorf("%.20s was looked for by %s", name, got)
		}
	}
	w.As(func(p *auth.Principal) { p.Scopes = []auth.Scope{auth.ContentRead} }).Call(http.MethodGet, w.path(""),
		nil).Refused(t, 403, errs.InsufficientScope, "")
	it, err := w.DB.Get(t.Context(), store.IDKey(w.factory))
	if err != nil {
		t.Fatal(err)
	}
	it.Filters["state"] = "deleted"
	tx := &store.Tx{}
	tx.Replace(it)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	w.Call(http.MethodGet, w.path(""), nil).Refused(t, 404, errs.NotFound, "")
}
