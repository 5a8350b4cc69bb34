package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	client "github.com/content-automation/api/clients/go"
	"github.com/content-automation/api/pkg/base/money"
)

const feedsPath = "/settings/feeds"

// addFeeds adds what people do with a feed beside its declared pages.
func addFeeds(open func(string, func(*request) error)) {
	open("GET "+feedsPath+"/{id}/runs/{run}/refusals.csv", refusalsFile)
}

// shop is a factory that sells, with its feed if it has one.
type shop struct {
	ID   string       `json:"id"`
	Name string       `json:"name"`
	Feed *client.Feed `json:"-"`
}

var feeds = page[shop]{
	Title: "Product feeds", Lead: "The catalogs of your shops follow these feeds, and posts follow the catalogs.",
	Path: feedsPath, API: "/v1/factories", List: "feeds", Icon: "gauge", Empty: "There is no factory of a seller here",
	Hint:    "A feed belongs to a factory of the type seller.",
	Columns: []column{{Text: "Shop"}, {Text: "Source", At: "md"}, {Text: "Last run", At: "sm"}, {Text: "State"}},
	Narrow: func(_ *request, query url.Values) {
		query.Set("type", "seller")
		query.Set("limit", "20")
	},
	More: func(r *request, _ *view, rows []shop, _ map[string]any) error {
		return each(rows, func(s *shop) (err error) {
			s.Feed, err = feedOf(r, s.ID)
			return err
		})
	},
	Done: map[string]string{"deleted": "The feed is deleted. The products stay."},
}

// feedOf reads the feed of a factory, or nil if it has none.
func feedOf(r *request, factoryID string) (*client.Feed, error) {
	var f client.Feed
	err := r.api.get(r.Context(), "/v1/factories/"+url.PathEscape(factoryID)+"/feed", nil, &f)
	if missing(err) {
		return nil, nil
	}
	return &f, err
}

// feedPage is the feed of a factory with its name. A feed that is not set has no version.
type feedPage struct {
	client.Feed
	Name string `json:"-"`
}

// Last returns the last run, or an empty one.
func (f feedPage) Last() client.FeedRun { return client.Value(f.LastRun) }

// readFeed reads the feed of the page, and the name of its factory.
func readFeed(r *request) (f feedPage, err error) {
	var of named
	var found *client.Feed
	err = atOnce(
		func() error { return r.api.get(r.Context(), r.apiPath("factories"), nil, &of) },
		func() (err error) { found, err = feedOf(r, r.PathValue("id")); return err })
	f = feedPage{client.Value(found), of.Name}
	f.FactoryID = r.PathValue("id")
	return f, err
}

// The choices of the forms of a feed.
var (
	feedFormats = []choice{{"google_xml", "Google, XML"}, {"google_tsv", "Google, TSV"}, {"yml", "Yandex Market, YML"},
		{"shopify_csv", "Shopify, CSV"}, {"csv", "CSV with a mapping"}, {"json_lines", "JSON lines"}}
	feedSchedules = []choice{{"manual", "By hand"}, {"hourly", "Each hour"}, {"daily", "Each day"}}
	feedPolicies  = []choice{{"hold", "Posts wait for the product"}, {"keep", "Posts stay as they are"},
		{"withdraw", "Posts wait, and published ones are deleted"}}
	feedPhotos = []choice{{"main", "The main one"}, {"all", "All, up to 10"}, {"none", "None"}}
)

// mostHeldRows bounds the items that are looked through for those that wait, and mostRefusals the refusals of a page.
const (
	mostHeldRows = 300
	mostRefusals = 50
)

var feedPages = page[feedPage]{
	Title: "Product feeds", Path: feedsPath, One: "/v1/factories/{id}/feed", Read: readFeed, Show: "feed",
	Name: func(f feedPage) string { return f.Name }, Below: belowFeed,
	Edit: &form[feedPage]{Method: http.MethodPut, Recent: true, Inputs: []input{
		{Name: "url", Member: "source/url", Label: "Address of the feed", Kind: asURL,
			Holder: "https://shop.example.com/google.xml",
			Help:   "In the sandbox, https://shop.example.com/sandbox.xml is a shop whose prices move with its clock."},
		{Name: "media_id", Member: "source/media_id", Label: "Or the id of a file that you have uploaded",
			Holder: "med_…"},
		{Name: "format", Member: "format", Label: "Format", Kind: asSelect, Choices: feedFormats},
		{Name: "mapping", Member: "mapping", Label: "Columns of a CSV", Kind: asPairs,
			Help: "A line for each member with its column, such as: price = Preis. Without one, the column has the " +
				"name of the member."},
		{Name: "currency", Member: "currency", Label: "Currency of prices that have none", Holder: "EUR"},
		{Name: "schedule", Member: "schedule", Label: "It is read", Kind: asSelect, Choices: feedSchedules},
		{Name: "daily_time", Member: "daily_time", Label: "Time of day, if it is read each day", Holder: "06:30"},
		{Name: "on_price_change", Member: "on_price_change", Label: "If a price, an offer or a photo changes",
			Kind: asSelect, Choices: feedPolicies},
		{Name: "remake_per_day", Member: "remake_per_day", Label: "Posts that are made again a day by themselves",
			Kind: asDigits, Help: "For credits, if a price, an offer or a photo changes. 0: people make them again."},
		{Name: "on_sold_out", Member: "on_sold_out", Label: "If a product is sold out", Kind: asSelect,
			Choices: feedPolicies},
		{Name: "on_removed", Member: "on_removed", Label: "If a product leaves the feed", Kind: asSelect,
			Choices: feedPolicies},
		{Name: "photos", Member: "photos", Label: "Photos of products", Kind: asSelect, Choices: feedPhotos}},
		Fill: func(_ *request, d draft, body map[string]any) fieldErrors {
			if d.Get("schedule") != "daily" {
				delete(body, "daily_time")
			}
			return nil
		}},
	Actions: []action[feedPage]{
		{Name: "sync", Method: http.MethodPost, API: "/sync", Done: "sync"},
		{Name: "confirm", Method: http.MethodPost, API: "/sync", Done: "confirmed",
			Ask: &confirmation{Title: "Archive the products that are gone", Verb: "Archive them",
				Text: "No new posts are made of archived products. A later run brings back what the feed has again."},
			Effects: func(_ *request, v *view, f feedPage) ([]string, error) {
				return []string{v.T("Products that are archived: %s.", grouped(f.Last().Gone))}, nil
			},
			Fields: func(_ *request, f feedPage) []choice { return []choice{{"run", f.Last().ID}} },
			Body:   sentAs("run", "confirm_run_id")},
		{Name: "delete", Method: http.MethodDelete, Done: "deleted", ToList: true, Ask: &confirmation{
			Title: "Delete the feed", Text: "It is not read any more. Its products and its runs stay."}}},
	Done: map[string]string{"changed": "The feed is set.", "sync": "The feed is being read.",
		"confirmed": "The run goes on, and archives what is gone."},
}

// belowFeed adds the runs of a feed, and the items that wait for a product.
func belowFeed(r *request, _ *view, f feedPage, to map[string]any) error {
	if to["Set"] = f.Version > 0; f.Version == 0 {
		return nil
	}
	query := cursor(r)
	query.Set("limit", "10")
	return atOnce(
		func() error {
			var runs []client.FeedRun
			next, err := r.api.list(r.Context(), r.at("/v1/factories/{id}/feed/runs"), query, &runs)
			to["Runs"] = runs
			if to["Next"] = ""; next != "" {
				to["Next"] = "?cursor=" + url.QueryEscape(next)
			}
			return err
		},
		func() (err error) {
			to["Held"], err = heldItems(r, f.FactoryID, "")
			return err
		})
}

// heldItems returns the newest items of a factory that wait for their product, or for the given one.
func heldItems(r *request, factoryID, productID string) (held []content, err error) {
	all, err := listAll[content](r.Context(), r.api, "/v1/content-items", url.Values{"factory_id": {factoryID},
		"state":  {"generated"},
		"fields": {"title,caption,prompt,version,product_id,waits_for,outdated"}}, mostHeldRows)
	for _, c := range all {
		if c.WaitsFor == "product" && (productID == "" || given(c.ProductID) == productID) {
			held = append(held, c)
		}
	}
	return held, err
}

var feedRuns = page[client.FeedRun]{
	Active: feedsPath, Path: feedsPath + "/{id}/runs", API: "/v1/factories/{id}/feed/runs", ID: "run", Show: "feed-run",
	Heading: "Run of a feed", Names: true,
	Below: func(r *request, _ *view, run client.FeedRun, to map[string]any) error {
		from, _ := strconv.Atoi(r.FormValue("from")) // without a number it is the first one
		from = min(max(from, 0), len(run.Refusals))
		until := min(from+mostRefusals, len(run.Refusals))
		if to["Refusals"] = run.Refusals[from:until]; until < len(run.Refusals) {
			to["Next"] = "?from=" + strconv.Itoa(until)
		}
		return nil
	},
}

// refusalsFile leads to the file of all refusals of a run.
func refusalsFile(r *request) error {
	run, err := feedRuns.read(r)
	if err != nil {
		return err
	}
	if run.RefusalsURL == nil {
		return &failure{Status: http.StatusNotFound, Message: "The run has refused nothing."}
	}
	http.Redirect(r.w, r.Request, *run.RefusalsURL, http.StatusSeeOther)
	return nil
}

// doneOf returns the number of rows of a run that are done.
func doneOf(r client.FeedRun) int64 { return min(r.Created+r.Changed+r.Unchanged+r.Refused, r.Total) }

// Share returns the part of the rows of a run that is done, of 100.
func (*view) Share(r client.FeedRun) int64 { return doneOf(r) * 100 / max(r.Total, 1) }

// Left tells how much of a run is done, in words.
func (v *view) Left(r client.FeedRun) string {
	if r.Total == 0 {
		return v.T("The feed is being fetched and checked.")
	}
	return v.T("%s of %s rows", grouped(doneOf(r)), grouped(r.Total))
}

// runCounts are the counts of a run, with what they are.
var runCounts = []choice{{"read", "Read"}, {"created", "Created"}, {"changed", "Changed"}, {"unchanged", "Unchanged"},
	{"archived", "Archived"}, {"refused", "Refused"}}

// CountsOf returns the counts of a run, by what they are.
func (*view) CountsOf(r client.FeedRun) (all []choice) {
	for i, n := range []int64{r.Read, r.Created, r.Changed, r.Unchanged, r.Archived, r.Refused} {
		all = append(all, choice{grouped(n), runCounts[i].Text})
	}
	return all
}

// Money writes a price in the language of the page.
func (v *view) Money(p client.ProductPrice) string { return money.Price(p).In(v.Language) }

// rowChanges are the names of what a feed changes, and ways those of how a product is not what a post shows.
var (
	rowChanges = []choice{{"added", "new in the feed"}, {"price", "price"}, {"sale_price", "sale price"},
		{"availability", "availability"}, {"photo", "main photo"}, {"removed", "gone from the feed"},
		{"offer", "offer"}, {"sold_out", "sold out"}}
	availabilities = []choice{{"in_stock", "in stock"}, {"out_of_stock", "out of stock"}, {"preorder", "preorder"},
		{"backorder", "backorder"}}
)

// textOf returns the text of a value among some choices, or the value if it is none of them.
func textOf(of []choice, value any) string {
	text := fmt.Sprint(value)
	if i := slices.IndexFunc(of, func(c choice) bool { return c.Value == text }); i >= 0 {
		return of[i].Text
	}
	return text
}

func (v *view) Change(what any) string { return v.T(textOf(rowChanges, what)) }

// Ways names in which ways the product of an item is not what the item shows.
func (v *view) Ways(c content) string {
	all := make([]string, len(c.Outdated))
	for i, way := range c.Outdated {
		all[i] = v.Change(way)
	}
	return strings.Join(all, ", ")
}

func (v *view) Stock(availability any) string { return v.T(textOf(availabilities, availability)) }

var feedProducts = page[client.Product]{
	Title: "Products of the shop", Active: feedsPath, Path: feedsPath + "/{id}/products", API: "/v1/products",
	ID: "product", List: "feed-products", Show: "feed-product", Filters: []string{"sku"}, Names: true,
	Empty: "There are no products here", Icon: "folder",
	Columns: []column{{Text: "Product"}, {Text: "Price"}, {Text: "Availability", At: "sm"}, {Text: "State", At: "sm"}},
	Narrow:  func(r *request, query url.Values) { query.Set("factory_id", r.PathValue("id")) },
	Name:    func(p client.Product) string { return cmp.Or(p.Name, p.Sku) },
	More: func(r *request, _ *view, _ []client.Product, to map[string]any) error {
		to["Factory"] = r.PathValue("id")
		return nil
	},
	Below: func(r *request, _ *view, p client.Product, to map[string]any) (err error) {
		to["Held"], err = heldItems(r, p.FactoryID, p.ID)
		return err
	},
}
