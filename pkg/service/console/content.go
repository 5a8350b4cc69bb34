package console

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	client "github.com/content-automation/api/clients/go"
)

const contentPath = "/settings/content-items"

func addContent(open func(string, func(*request) error)) {
	open("GET "+contentPath+"/{id}", func(r *request) error { return r.showItem(http.StatusOK, "") })
	open("POST "+contentPath+"/{id}/decide", decide)
}

// content is a content item as the API answers it.
type content struct {
	ID        string                  `json:"id"`
	Version   int64                   `json:"version"`
	FactoryID string                  `json:"factory_id"`
	Kind      string                  `json:"kind"`
	Prompt    string                  `json:"prompt"`
	Title     string                  `json:"title"`
	Caption   string                  `json:"caption"`
	Hashtags  []string                `json:"hashtags"`
	Script    string                  `json:"script"`
	Previews  []client.ContentPreview `json:"previews"`
	Approval  client.ContentApproval  `json:"approval"`
	Media     []mediaFile             `json:"media"`
	PublishAt *time.Time              `json:"publish_at"`
	State     string                  `json:"state"`
	Failure   *struct {
		Message string `json:"message"`
	} `json:"failure"`
	Publications []client.Publication `json:"publications"`
}

// mediaFile is a file of an item.
type mediaFile struct {
	ID   string `json:"id"`
	Role string `json:"role"`
	Type string `json:"type"`
	URL  string `json:"url"`
	// Thumbnail is the address of a small picture of it, or nil.
	Thumbnail *string `json:"thumbnail_url"`
	Width     int     `json:"width"`
	Height    int     `json:"height"`
	AltText   string  `json:"alt_text"`
	// Provenance is nil for files that say nothing of their origin.
	Provenance *struct {
		Source string `json:"digital_source_type"`
		Signer string `json:"signer"`
	} `json:"provenance"`
}

// Small returns the address of the thumbnail, or of the file if it has none.
func (f mediaFile) Small() string {
	if f.Thumbnail != nil {
		return *f.Thumbnail
	}
	return f.URL
}

// tones are the tones of the states of items, approvals, publications and automations.
var tones = map[string]string{"approved": "good", "pending": "warn", "changes_requested": "bad", "published": "good",
	"scheduled": "good", "failed": "bad", "active": "good", "planned": "warn"}

// Tone returns the tone of a state.
func (*view) Tone(state any) string { return tones[fmt.Sprint(state)] }

// Word translates a state or a kind of the API.
func (v *view) Word(value any) string { return strings.ReplaceAll(v.T(value), "_", " ") }

// Open reports whether the item can be decided about.
func (c content) Open() bool { return c.State == "generated" || c.State == "scheduled" }

// Name returns a text by which people know the item.
func (c content) Name() string {
	for _, text := range []string{c.Title, c.Caption, c.Prompt} {
		if line, _, _ := strings.Cut(strings.TrimSpace(text), "\n"); line != "" {
			return line
		}
	}
	return c.ID
}

// Final returns the files that are published.
func (c content) Final() (all []mediaFile) {
	for _, f := range c.Media {
		if (f.Role == "final" || f.Role == "") && (f.Type == "image" || f.Type == "video") {
			all = append(all, f)
		}
	}
	return all
}

// Made says how the finished media were made, as far as their files do, in a text to translate.
func (c content) Made() string {
	for _, f := range c.Final() {
		switch {
		case f.Provenance == nil:
		case strings.HasSuffix(f.Provenance.Source, "/trainedAlgorithmicMedia"):
			return "AI models have made it."
		case strings.HasSuffix(f.Provenance.Source, "/compositeWithTrainedAlgorithmicMedia"):
			return "AI models have made parts of it."
		default:
			return "No part was generated."
		}
	}
	return ""
}

// Signer is the name in the certificate of the finished media, or empty.
func (c content) Signer() string {
	for _, f := range c.Final() {
		if f.Provenance != nil {
			return f.Provenance.Signer
		}
	}
	return ""
}

// Picture returns a file whose Small is a picture of the item, or nil. A video is one by its thumbnail.
func (c content) Picture() *mediaFile {
	for _, role := range []string{"final", "", "poster", "cover"} {
		for _, f := range c.Media {
			if f.Role == role && (f.Type == "image" || f.Type == "video" && f.Thumbnail != nil) {
				return &f
			}
		}
	}
	return nil
}

// post is what a card of a preview shows.
type post struct {
	Platform, Handle, Title, Caption, Rest string
	Hashtags                               []string
	Media                                  []mediaFile
}

// posts returns the item as each platform shows it, or as it is if no platform is planned.
func (r *request) posts(c content) (all []post, err error) {
	handles, err := r.handles()
	if err != nil {
		return nil, err
	}
	for _, p := range c.Previews {
		one := post{Platform: string(p.Platform), Title: given(p.Title), Caption: given(p.Caption), Rest: given(p.Rest),
			Hashtags: p.Hashtags}
		if p.SocialAccountID != nil {
			one.Handle = handles[*p.SocialAccountID]
		}
		for _, id := range p.MediaIDs {
			f, err := r.file(c, id)
			if err != nil {
				return nil, err
			}
			if f.URL != "" {
				one.Media = append(one.Media, f)
			}
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		all = []post{{Title: c.Title, Caption: c.Caption, Hashtags: c.Hashtags, Media: c.Final()}}
	}
	return all, nil
}

// file returns a file of an item. A variant may have files of its own, which the item does not list.
func (r *request) file(c content, id string) (f mediaFile, err error) {
	if i := slices.IndexFunc(c.Media, func(f mediaFile) bool { return f.ID == id }); i >= 0 {
		return c.Media[i], nil
	}
	err = r.api.get(r.Context(), "/v1/media/"+url.PathEscape(id), nil, &f)
	if missing(err) {
		return mediaFile{}, nil
	}
	return f, err
}

// permitMedia lets the page show files of the service, which are on the host of a bucket.
func (r *request) permitMedia(files ...mediaFile) {
	sources := ""
	for _, f := range files {
		u, err := url.Parse(f.URL)
		if err != nil || u.Host == "" || strings.ContainsAny(u.Host, " ;,'\"") {
			continue
		}
		if origin := " " + u.Scheme + "://" + u.Host; !strings.Contains(sources+" ", origin+" ") {
			sources += origin
		}
	}
	if sources != "" {
		r.w.Header().Set("Content-Security-Policy",
			strings.Replace(policy, "img-src 'self'", "media-src"+sources+"; img-src 'self'"+sources, 1))
	}
}

// listAll reads a list whose pages have at most 100 rows, up to a number of rows.
func listAll[T any](ctx context.Context, a api, path string, query url.Values, most int) (all []T, err error) {
	q := url.Values{"limit": {"100"}}
	for name, values := range query {
		q[name] = values
	}
	for {
		var some []T
		next, err := a.list(ctx, path, q, &some)
		if err != nil {
			return nil, err
		}
		if all = append(all, some...); next == "" || len(all) >= most {
			return all, nil
		}
		q.Set("cursor", next)
	}
}

// mostNames bounds the rows of the lists from which people choose.
const mostNames = 500

// named is something with a name: a factory or a profile.
type named struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	Email     string  `json:"email"`
	Type      string  `json:"type"`
	ProfileID *string `json:"profile_id"`
}

// names are the factories and profiles of the account.
type names struct{ Factories, Profiles []named }

func (r *request) names() (n names, err error) {
	if n.Factories, err = listAll[named](r.Context(), r.api, "/v1/factories", nil, mostNames); err != nil {
		return n, err
	}
	n.Profiles, err = listAll[named](r.Context(), r.api, "/v1/profiles", nil, mostNames)
	return n, err
}

// Factory returns the name of a factory, or its id.
func (n names) Factory(id string) string { return nameOf(n.Factories, id) }

// Profile returns the name of a profile, or its id.
func (n names) Profile(id string) string { return nameOf(n.Profiles, id) }

// ProfileOf returns the name of the profile of a factory, or an empty text.
func (n names) ProfileOf(factory string) string {
	for _, f := range n.Factories {
		if f.ID == factory && f.ProfileID != nil {
			return n.Profile(*f.ProfileID)
		}
	}
	return ""
}

func nameOf(all []named, id string) string {
	for _, one := range all {
		if one.ID == id {
			return one.Name
		}
	}
	return id
}

// handles returns the names of the social accounts on their platforms, by their ids.
func (r *request) handles() (map[string]string, error) {
	all, err := listAll[socialAccount](r.Context(), r.api, "/v1/social/accounts", nil, mostNames)
	found := map[string]string{}
	for _, a := range all {
		found[a.ID] = given(a.Handle)
	}
	return found, err
}

func (r *request) showItem(status int, message string) error {
	var c content
	if err := r.api.get(r.Context(), r.apiPath("content-items"), nil, &c); err != nil {
		return err
	}
	posts, err := r.posts(c)
	if err != nil {
		return err
	}
	var files []mediaFile
	for _, p := range posts {
		files = append(files, p.Media...)
	}
	r.permitMedia(files...)
	v := r.view("Content item", approvalsPath)
	v.Error = message
	v.Data = map[string]any{"Item": c, "Names": callersOf(r, true), "Posts": posts, "Note": r.PostFormValue("note")}
	return r.show(status, "content-item", v)
}

// decide approves an item, or requests changes. It is refused if the item has changed since the person saw it.
func decide(r *request) error {
	note := strings.TrimSpace(r.PostFormValue("note"))
	action, body := "/approve", map[string]any{}
	if r.PostFormValue("decision") == "changes_requested" {
		if action = "/request-changes"; note == "" {
			return r.showItem(http.StatusUnprocessableEntity,
				mark(r, "note", "Write in the note what is to be changed."))
		}
	}
	if note != "" {
		body["note"] = note
	}
	a := r.api
	a.version = r.PostFormValue("version")
	err := a.change(r.Context(), http.MethodPost, r.apiPath("approvals")+action, r.once(), body, nil)
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showItem(http.StatusUnprocessableEntity, message)
	}
	return r.redirect(approvalsPath + "?done=" + strings.TrimPrefix(action, "/"))
}

const (
	approvalsPath   = "/settings/approvals"
	reviewLinksPath = "/settings/review-links"
)

func addApprovals(open func(string, func(*request) error)) {
	open("GET "+approvalsPath, listApprovals)
}

// approvalStates are the states of the queue.
var approvalStates = []choice{{"pending,changes_requested", "All"}, {"pending", "pending"},
	{"changes_requested", "changes_requested"}}

// listApprovals shows the items that wait for a decision. What is being generated is not shown yet.
func listApprovals(r *request) error {
	given, query := r.filters("factory_id", "profile_id", "approval")
	if given["approval"] == "" {
		query.Set("approval", approvalStates[0].Value)
	}
	query.Set("state", "generated,scheduled")
	n, err := r.names()
	if err != nil {
		return err
	}
	var all []content
	next, err := r.api.list(r.Context(), "/v1/content-items", query, &all)
	message, err := messageOf(err)
	if err != nil {
		return err
	}
	var pictures []mediaFile
	for _, c := range all {
		if p := c.Picture(); p != nil {
			pictures = append(pictures, *p)
		}
	}
	r.permitMedia(pictures...)
	v := r.view("Approvals", approvalsPath)
	v.Error = message
	v.Notice = map[string]string{
		"approve":         "The item is approved.",
		"request-changes": "Changes are requested. The item stays here until it is approved.",
	}[r.URL.Query().Get("done")]
	v.Data = map[string]any{"Items": all, "More": r.more(next), "Filters": given, "Names": n, "States": approvalStates}
	return r.show(http.StatusOK, "approvals", v)
}

// mays are what people may do on the page of a link.
var mays = []choice{{"view", "Look at the content"}, {"decide", "Also approve it and request changes"}}

// mostDays is the number of days for which a review link is valid, and mostChosen that of the items that it can have.
const mostDays, mostChosen = 30, 50

var reviewLinks = page[client.ReviewLink]{
	Title: "Review links", Lead: "Pages on which people without an account see content, or decide about it.",
	Active: approvalsPath, Path: reviewLinksPath, API: "/v1/review-links", List: "review-links", Icon: "share",
	Empty: "There are no review links yet", Names: true,
	Columns: []column{{Text: "Name"}, {Text: "Content", At: "md"}, {Text: "Permission", At: "sm"},
		{Text: "Ends", At: "sm"}, {Text: "State"}, {Text: "Actions", Quiet: true}},
	Name: func(l client.ReviewLink) string { return cmp.Or(l.Name, l.ID) },
	Create: &form[client.ReviewLink]{Title: "Create a review link", Verb: "Create the link", Recent: true,
		Template: "review-link-new", Inputs: []input{
			{Name: "name", Member: "name", Label: "Name", Help: "The heading of the page. It may be empty."},
			{Name: "factory_id", Member: "factory_id", Label: "Factory", Kind: asOwn},
			{Name: "may", Member: "may", Label: "People may", Kind: asRadio, Choices: mays, Usual: mays[1].Value},
			{Name: "days", Label: "Days", Kind: asNumber, Usual: "7", Must: true,
				Help:  "The page ends after these days: 30 at most.",
				limit: limit{Least: "1", Most: strconv.Itoa(mostDays)}}},
		Add: chosenItems, Fill: fillReviewLink,
		Made: func(r *request, made client.ReviewLink) error {
			v := r.view("The review link", approvalsPath)
			v.Data = made
			return r.show(http.StatusOK, "review-link-made", v)
		}},
	Actions: []action[client.ReviewLink]{{Name: "delete", Method: http.MethodDelete, Done: "deleted",
		Ask: &confirmation{Title: "Delete the review link",
			Text: "The page ends at once. Whoever has its address sees nothing any more."}}},
	Done: map[string]string{"deleted": "The review link is deleted."},
}

// chosenItems adds the items that the queue passes on in the address of the form.
func chosenItems(r *request, v *view, to map[string]any) error {
	var items []content
	for i, id := range r.Form["item"] {
		if i == mostChosen {
			v.Error = "A review link has at most 50 items. The others are left out."
			break
		}
		var c content
		switch err := r.api.get(r.Context(), "/v1/content-items/"+url.PathEscape(id), nil, &c); {
		case missing(err):
		case err != nil:
			return err
		default:
			items = append(items, c)
		}
	}
	to["Items"] = items
	return nil
}

// fillReviewLink adds what the link shows and when it ends.
func fillReviewLink(r *request, d draft, body map[string]any) fieldErrors {
	days, err := strconv.Atoi(d.Get("days"))
	if err != nil || days < 1 || days > mostDays {
		return about("days", "A review link is valid for 1 to 30 days.")
	}
	// The days count from the time at which the form was opened, so that a repeat of the form is the same call.
	opened, err := strconv.ParseInt(r.PostFormValue("opened"), 10, 64)
	if err != nil {
		opened = r.site.Now().Unix()
	}
	body["expires_at"] = time.Unix(opened, 0).UTC().AddDate(0, 0, days).Format(time.RFC3339)
	if items := r.PostForm["item"]; len(items) > 0 {
		body["content_item_ids"] = items
		delete(body, "factory_id")
	}
	return nil
}

const (
	experimentsPath = "/settings/experiments"
	monthsPath      = "/settings/factory-months"
)

func addExperiments(open func(string, func(*request) error)) {
	open("GET "+monthsPath, showFactoryMonth)
}

// An experiment has its results at each look, and those of each arm.
type (
	armResult       = client.ExperimentResult
	experimentLook  = client.ExperimentLook
	experimentOfAPI = client.ExperimentDetails
)

var experiments = page[experimentOfAPI]{
	Title: "Experiments", Path: experimentsPath, API: "/v1/experiments", List: "experiments", Icon: "chart",
	Names:   true,
	Lead:    "They compare posts that differ by chance alone, and claim only what the figures support.",
	Empty:   "There are no experiments here",
	Filters: []string{"factory_id", "state"},
	States:  []string{"draft", "running", "decided", "inconclusive", "stopped"},
	Show:    "experiment", Name: func(e experimentOfAPI) string { return e.Question },
	Below: func(_ *request, v *view, e experimentOfAPI, to map[string]any) error {
		to["Intervals"] = intervalsOf(e, v)
		return nil
	},
}

// intervals is the chart of an arm: its interval at each look.
type intervals struct {
	Factor, Arm string
	SVG         template.HTML
	Rows        []intervalRow
}

// intervalRow is a look, for those who do not see the picture.
type intervalRow struct {
	Day                    string
	N                      int64
	Estimate, Lower, Upper string
}

// cases writes an effect as the part of cases in which a post of the arm does better.
func cases(effect float64) string { return strconv.FormatFloat(100*(0.5+effect), 'f', 0, 64) + " %" }

// intervalsOf returns the charts of the arms of an experiment that are compared with a first one.
func intervalsOf(e experimentOfAPI, v *view) (all []intervals) {
	for _, now := range e.Results {
		first := slices.IndexFunc(e.Results, func(o armResult) bool { return o.Factor == now.Factor })
		if e.Results[first].Arm == now.Arm {
			continue
		}
		one := intervals{Factor: now.Factor, Arm: now.Arm}
		var looks []experimentLook
		for _, look := range e.History {
			same := func(o armResult) bool { return o.Factor == now.Factor && o.Arm == now.Arm }
			i := slices.IndexFunc(look.Results, same)
			if i < 0 || look.Results[i].Estimate == nil {
				continue
			}
			o := look.Results[i]
			looks = append(looks, experimentLook{At: look.At, Results: []armResult{o}})
			one.Rows = append(one.Rows, intervalRow{v.ShortDay(look.At), o.N, cases(*o.Estimate), cases(*o.Lower),
				cases(*o.Upper)})
		}
		if len(looks) > 0 {
			one.SVG = drawIntervals(looks, v.T("Share of cases in which %s does better", now.Arm), v)
		}
		all = append(all, one)
	}
	return all
}

// drawIntervals draws the interval of each look, with its estimate, around the line of no difference. All texts are
// escaped.
func drawIntervals(looks []experimentLook, label string, v *view) template.HTML {
	const height = chartHeight - chartBottom - 16
	y := func(effect float64) float64 { return 8 + (0.5-effect)*height }
	var out strings.Builder
	fmt.Fprintf(&out, `<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="%s">`, chartWidth, chartHeight,
		template.HTMLEscapeString(label))
	for _, effect := range []float64{-0.5, -0.25, 0, 0.25, 0.5} {
		fmt.Fprintf(&out, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, chartLeft, chartWidth, y(effect),
			y(effect))
		fmt.Fprintf(&out, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`, chartLeft-6, y(effect)+4, cases(effect))
	}
	step := min(float64(chartWidth-chartLeft)/float64(len(looks)), 40)
	for i, look := range looks {
		o, x := look.Results[0], chartLeft+float64(i)*step
		title := template.HTMLEscapeString(fmt.Sprintf("%s: %s (%s–%s)", v.ShortDay(look.At), cases(*o.Estimate),
			cases(*o.Lower), cases(*o.Upper)))
		left, wide, top := x+step*0.2, step*0.6, y(*o.Upper)
		fmt.Fprintf(&out, `<rect class="c1" opacity="0.35" x="%.1f" y="%.1f" width="%.1f" height="%.1f">`, left, top,
			wide, max(y(*o.Lower)-top, 1))
		fmt.Fprintf(&out, `<title>%s</title></rect>`, title)
		fmt.Fprintf(&out, `<rect class="c1" x="%.1f" y="%.1f" width="%.1f" height="3"/>`, left, y(*o.Estimate)-1.5,
			wide)
		if (len(looks)-1-i)%max(1, (len(looks)+3)/5) == 0 {
			fmt.Fprintf(&out, `<text x="%.1f" y="%d" text-anchor="%s">%s</text>`, x+step/2, chartHeight-6,
				anchor(i, len(looks)), template.HTMLEscapeString(v.ShortDay(look.At)))
		}
	}
	out.WriteString(`</svg>`)
	return template.HTML(out.String()) //nolint:gosec // all texts are escaped above
}

// monthFigures are what the month of a factory may show.
var monthFigures = []choice{{"views", "Views"}, {"likes", "Likes"}, {"comments", "Comments"}, {"shares", "Shares"},
	{"saves", "Saves"}, {"published", "Publications"}, {"cost_credits", "Credits"}}

func showFactoryMonth(r *request) error {
	n, err := r.names()
	if err != nil {
		return err
	}
	given := url.Values{"factory_id": {r.URL.Query().Get("factory_id")}}
	factory := given.Get("factory_id")
	if factory == "" && len(n.Factories) > 0 {
		factory = n.Factories[0].ID
	}
	now := r.site.Now().UTC()
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	var months []string
	for back := range 12 {
		months = append(months, first.AddDate(0, -back, 0).Format("2006-01"))
	}
	if at, err := time.Parse("2006-01", r.URL.Query().Get("month")); err == nil {
		first = at
	}
	figure := chosenOf(r, "figure", monthFigures, "views")
	v := r.view("Months of factories", monthsPath)
	data := map[string]any{"Names": n, "Factory": factory, "Months": months, "Month": first.Format("2006-01"),
		"Figures": monthFigures, "Figure": figure}
	if factory != "" {
		chart, err := factoryMonth(r, v, factory, first, figure)
		if v.Error, err = messageOf(err); err != nil {
			return err
		}
		data["Chart"] = chart
	}
	v.Data = data
	return r.show(http.StatusOK, "factory-month", v)
}

// factoryMonth draws a figure of a factory by day and platform.
func factoryMonth(r *request, v *view, factory string, first time.Time, figure string) (d Drawn, err error) {
	last := first.AddDate(0, 1, -1)
	var answer struct {
		Series []map[string]any `json:"series"`
	}
	err = r.api.get(r.Context(), "/v1/factories/"+url.PathEscape(factory)+"/analytics", url.Values{
		"from": {first.Format(time.DateOnly)}, "to": {last.Format(time.DateOnly)}, "timezone": {"UTC"},
		"group_by": {"day,platform"}}, &answer)
	if err != nil {
		return d, err
	}
	c := newChart(first, last.Day(), figure)
	for _, row := range answer.Series {
		day, _ := row["day"].(string)
		at, err := time.Parse(time.DateOnly, day)
		value, _ := row[figure].(float64)
		name, _ := row["platform"].(string)
		if name == "" {
			name = v.T("All platforms")
		}
		if err == nil {
			c.add(name, at, int64(value))
		}
	}
	return c.done(v), nil
}
