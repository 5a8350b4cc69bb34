package analytics

import (
	"context"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

type input struct {
	factory.FactoryPath
	// First day, as 2026-11-01. Absent: 29 days before the last.
	From string `query:"from"`
	// Last day, included, as 2026-11-30. Absent: today.
	To string `query:"to"`
	// What the series is by, separated by commas.
	GroupBy []string `query:"group_by" enum:"day,kind,platform" uniqueItems:"true" default:"day" nullable:"false"`
	// Time zone of the days (IANA), as Europe/Berlin. Absent: that of the factory's schedule, or else UTC.
	Timezone string `query:"timezone"`
	ComparisonRequest
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) { NewService(e.DB, e.Now).Register(r) }

// Register adds the operations of the area to the router.
func (s *Service) Register(r *httpapi.Router) {
	s.registerImports(r)
	httpapi.Read(r, httpapi.Op{
		ID: "getFactoryAnalytics", Method: http.MethodGet, Path: "/v1/factories/{factory_id}/analytics",
		Scope: auth.FactoriesRead, Function: "factory", Tag: "Factories",
		Summary: "Get the analytics of a factory",
		Description: "Sums over the content of the factory in a period of up to 366 days. Each attempt, charge and " +
			"publication counts on the day on which it happened. What a deleted item has come to stays counted. " +
			"The sums follow the content within seconds.\n\nWith `compare`, the answer also compares two sets of " +
			"publications of the period, and says whether the difference is more than chance.", Opens: httpapi.Nothing,
	}, s.get)
	httpapi.Read(r, httpapi.Op{
		ID: "getBestTimes", Method: http.MethodGet, Path: "/v1/analytics/best-times", Scope: auth.FactoriesRead,
		Function: "factory", Tag: "Analytics", Errors: []errs.Code{errs.NotFound},
		Summary: "Get the best times to publish",
		Description: "Compares the hours of the week in which the publications of a factory or of a social account " +
			"were published in the last 180 days. Each hour has its mean effect with an interval of 95% and the " +
			"number of its publications. With fewer than 30 publications, the answer says how many there are, and " +
			"has no hours.", Opens: httpapi.Nothing,
	}, s.bestTimes)
	httpapi.List(r, httpapi.Op{
		ID: "listAccountMetrics", Method: http.MethodGet, Path: "/v1/analytics/accounts", Scope: auth.FactoriesRead,
		Function: "factory", Tag: "Analytics", Errors: []errs.Code{errs.NotFound, errs.InvalidCursor},
		Sheet: "account-metrics.csv", Summary: "List the metrics of a social account",
		Description: "Lists followers and totals of a social account by day, the earliest first. Platforms with a " +
			"history (`account_history` of listPlatforms) also tell up to 89 days before the connection. The figures " +
			"of others are read once a day from then on. Days without figures are left out. With the header `Accept: " +
			"text/csv`, the answer is a file of comma-separated values with all days.", Opens: httpapi.Nothing,
	}, s.accountDays)
}

// query has the parameters of the query. A missing day is the zero time, and a missing zone is empty.
type query struct {
	from, to time.Time
	zone     *time.Location
}

// period is a range of days, both ends included, as times of UTC.
type period struct{ from, to time.Time }

func (in *input) parse() (a query, err error) {
	var zone error
	from, first := day("from", in.From)
	to, last := day("to", in.To)
	if in.Timezone != "" {
		if a.zone, err = clock.Zone(in.Timezone); err != nil {
			zone = errZone()
		}
	}
	a.from, a.to = from, to
	return a, errs.All(first, last, zone)
}

func errZone() error {
	return errs.Invalid("timezone", "is not an IANA time zone; write it as Europe/Berlin")
}

func day(param, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.DateOnly, s)
	if err != nil || at.IsZero() {
		return at, errs.Invalid(param, "is not a day; write it as 2026-11-22")
	}
	return at, nil
}

// in returns the period of the query for the local time now.
func (a query) in(now time.Time) period {
	p := period{a.from, a.to}
	if p.to.IsZero() {
		p.to = time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	}
	if p.from.IsZero() {
		p.from = p.to.AddDate(0, 0, 1-defaultDays)
	}
	return p
}

// days returns the number of days in the period. It is zero or less if the period ends before it begins.
func (p period) days() int { return int((p.to.Unix()-p.from.Unix())/(24*60*60)) + 1 }

// check returns an error if a period has no days, or too many.
func (p period) check() error {
	switch days := p.days(); {
	case days < 1:
		return errs.Invalid("from", "is after the last day, which is %s", p.to.Format(time.DateOnly))
	case days > mostDays:
		return errs.Invalid("from", "makes a period of %d days to %s. Ask for at most %d days at once", days,
			p.to.Format(time.DateOnly), mostDays)
	}
	return nil
}

type importBody struct {
	// Social account whose earlier posts are read. It has to be connected.
	AccountID string `json:"social_account_id" example:"soc_01h455vb4pex5vsknk084sn02q"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type importInput struct{ Body importBody }

var postImports = kind.Kind[social.PostImport]{Name: social.ImportKind, ID: id.PostImport,
	Path: "/v1/analytics/imports/{post_import_id}", Function: "factory", Tag: "Analytics", Reads: auth.SocialManage,
	Writes: auth.SocialManage}

// registerImports adds the operations of imports to the router.
func (s *Service) registerImports(r *httpapi.Router) {
	imports := postImports.On(s.db, s.now)
	httpapi.Write(r, imports.Op(httpapi.Op{ID: "importPosts", Summary: "Import the earlier posts of an account",
		Description: "Imports the posts that a social account published before it was connected, with their figures: " +
			"those of the last 12 months, at most 500. Best times, comparisons and diagnoses count them as " +
			"imported posts. They cost nothing, and the service never publishes or changes them. An import " +
			"starts by itself when an account is connected; call this operation to read the figures again. " +
			"Each post is imported once. The event `post_import.completed` reports the end. `past_posts` of " +
			"listPlatforms reports which platforms list earlier posts.",
		Opens: httpapi.Nothing, Status: http.StatusAccepted, Errors: []errs.Code{errs.NotFound, errs.InvalidState}},
		http.MethodPost, "/v1/analytics/imports"), s.createImport)
	kind.Get(r, imports, httpapi.Op{ID: "getPostImport", Summary: "Get an import of posts",
		Description: "Shows how many posts were read. An import is kept for 30 days, and its posts for 400 after " +
			"they were read for the last time."},
		func(_ context.Context, f *kind.Found[social.PostImport]) (social.PostImport, error) {
			return *f.Record, nil
		})
}

func (s *Service) createImport(ctx context.Context, tx *store.Tx, in *importInput) (out social.PostImport, err error) {
	it, acct, _, err := s.account(ctx, in.Body.AccountID)
	if err != nil {
		return out, errs.At("/social_account_id", err)
	}
	row, _ := registry.Find(acct.Platform)
	switch {
	case row.Capabilities.Past.Page == 0:
		return out, errs.Invalid("/social_account_id", "is on %s, which lists no earlier posts", row.Capabilities.Label)
	case !acct.Usable():
		return out, errs.New(errs.InvalidState, "The social account is %s. Connect it first.", acct.State).
			In(string(acct.State), "connect")
	}
	return acct.StartImport(tx, s.now(), it.Owner, in.Body.Metadata)
}
