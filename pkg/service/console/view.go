package console

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"html/template"
	"io"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/record/connection"
)

var (
	//go:embed templates/*.html
	templates embed.FS

	//go:embed assets/console.css assets/console.js
	assets embed.FS
)

// asset is a file with a name that changes with its content.
type asset struct {
	kind    string
	content []byte
}

// assetFiles are the assets by the names of their files, and by those in links.
type assetFiles struct {
	names  map[string]string
	served map[string]asset
}

// notes are what browsers do not need of a script: comments on lines of their own, and indentation.
var notes = regexp.MustCompile(`(?m)^[ \t]*(//.*\n)?`)

// loadAssets reads the assets when a page first links one.
var loadAssets = sync.OnceValue(func() assetFiles {
	all := assetFiles{map[string]string{}, map[string]asset{}}
	found, _ := fs.Glob(assets, "assets/*")
	for _, file := range found {
		content, _ := assets.ReadFile(file) // it is in the program
		base, kind := path.Base(file), "text/javascript; charset=utf-8"
		if path.Ext(base) == ".css" {
			kind, content = "text/css; charset=utf-8", append([]byte(web.FontFaces("")), content...)
		} else {
			content = notes.ReplaceAll(content, nil)
		}
		sum := sha256.Sum256(content)
		name := strings.TrimSuffix(base, path.Ext(base)) + "-" + hex.EncodeToString(sum[:6]) + path.Ext(base)
		all.names[base], all.served[name] = name, asset{kind, content}
	}
	for name, content := range web.Fonts() {
		all.served[name] = asset{"font/woff2", content}
	}
	return all
})

// serveAsset serves a style, a script or a font, which browsers keep.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	a, ok := loadAssets().served[r.PathValue("name")]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Content-Type", a.kind)
	_, _ = w.Write(a.content)
}

// view is what a template shows.
type view struct {
	Title  string
	Active string // path of the current link of the navigation
	// Notice is what the last form has done, and Error why it did nothing.
	Notice, Error string
	// FieldErrors are what to mend in the form of the page.
	FieldErrors fieldErrors
	// Role is the role of the person, which decides what the page offers.
	Role auth.Role
	// Corner is the account with what waits in it, or nil.
	Corner *corner
	Data   any
	// Dialog reports that the content is for the dialog of an open page.
	Dialog bool

	Prefix   string
	Path     string // of this page, with its query
	Language string
	Person   *session.Person
	Mode     tenant.Mode
	Now      time.Time
	// Zone is the time zone of all times of the page. Adopts reports that a script may set it to that of the browser:
	// the person has chosen none, and the page can be loaded again.
	Zone   *time.Location
	Adopts bool
	// Token is the value of the parameter dialog that a request by a script needs, and FormToken that of the field of
	// every form of a change. A visitor's page has neither.
	Token, FormToken string
	// Once is the idempotency key of the forms of the page.
	Once string
}

// audience are the roles that may open the page of a link.
type audience int

const (
	everybody audience = iota
	managers           // auditors read what managers do
	owners
)

// link is a link of the navigation.
type link struct {
	Path, Text, Icon string
	For              audience
}

// group is a part of the navigation.
type group struct {
	Text  string
	Links []link
}

// navigation are the links of all pages. What few people need is linked on the pages that it belongs to: agent limits
// on that of keys, own apps on that of social accounts, service levels and reports on that of usage.
var navigation = []group{
	{"", []link{{homePath, "Today", "home", everybody}}},
	{"Content", []link{{approvalsPath, "Approvals", "check", everybody},
		{calendarPath, "Calendar", "calendar", everybody}, {contentPath, "Content", "list", everybody},
		{automationsPath, "Automations", "zap", everybody}, {feedsPath, "Product feeds", "gauge", everybody},
		{templatesPath, "Templates", "template", everybody}}},
	{"Clients", []link{{profilesPath, "Clients", "folder", everybody},
		{socialPath, "Social accounts", "share", everybody},
		{integrationsPath, "CRM integrations", "link", everybody}}},
	{"Developers", []link{{keysPath, "API keys", "key", everybody}, {webhooksPath, "Webhooks", "webhook", everybody},
		{eventsPath, "Events", "list", everybody}, {auditPath, "Audit log", "scroll", everybody}}},
	{"Account", []link{{usagePath, "Balance and usage", "chart", everybody},
		{peoplePath, "People", "people", managers}, {signOnPath, "Single sign-on", "shield", managers},
		{programsPath, "Connected programs", "plug", everybody},
		{exportsPath, "Exports", "list", owners}, {erasurePath, "Your data", "trash", owners}}},
}

// further are the pages that the menu leaves to others.
var further = []link{{mandatesPath, "Agent limits", "shield", everybody},
	{applicationsPath, "Your own apps", "key", everybody}, {levelsPath, "Service levels", "gauge", everybody},
	{monthsPath, "Reports", "chart", everybody}, {experimentsPath, "Experiments", "chart", everybody},
	{reviewLinksPath, "Review links", "share", everybody}, {profilePath, "Your profile", "people", everybody},
	{notificationsPath, "Notifications", "list", everybody}}

// Navigation returns the links of the pages that the role of the person may read.
func (v *view) Navigation() (all []group) {
	for _, g := range navigation {
		shown := group{Text: g.Text}
		for _, l := range g.Links {
			if l.For == everybody || v.Role == auth.Owner || l.For == managers && (v.Manages() || v.Reads()) {
				shown.Links = append(shown.Links, l)
			}
		}
		all = append(all, shown)
	}
	return all
}

// links returns all pages that the role of the person may read.
func (v *view) links() (all []link) {
	for _, g := range v.Navigation() {
		all = append(all, g.Links...)
	}
	return append(all, further...)
}

func (*view) Languages() []language { return languages }

// T translates a text of the pages, with values as fmt.Sprintf.
func (v *view) T(text any, values ...any) string {
	translated := translate(v.Language, fmt.Sprint(text))
	if len(values) > 0 {
		return fmt.Sprintf(translated, values...)
	}
	return translated
}

// Asset returns the path of an asset.
func (v *view) Asset(name string) string {
	return v.Prefix + "/settings/assets/" + loadAssets().names[name]
}

// Time returns a time in full, in the zone of the page. Its title is in UTC.
func (v *view) Time(t time.Time) template.HTML {
	if t.IsZero() {
		return "–"
	}
	return timeElement(t, v.inUTC(t), v.date(v.in(t))+v.in(t).Format(" 2006, 15:04 MST"))
}

// in returns a time in the zone of the page.
func (v *view) in(t time.Time) time.Time {
	if v.Zone == nil {
		return t.UTC()
	}
	return t.In(v.Zone)
}

// date returns the day and the month of a time.
func (v *view) date(t time.Time) string { return t.Format("2 ") + v.T(t.Format("Jan")) }

func (v *view) inUTC(t time.Time) string { return v.Day(t) + t.UTC().Format(", 15:04 UTC") }

// timeElement returns an element of a time, with a title.
func timeElement(t time.Time, title, text string) template.HTML {
	//nolint:gosec // the texts are escaped, and the time has none
	return template.HTML(`<time datetime="` + t.UTC().Format(time.RFC3339) + `" title="` +
		template.HTMLEscapeString(title) + `">` + template.HTMLEscapeString(text) + `</time>`)
}

// Exact returns a time to the millisecond, and Seconds to the second, without the year. All times of a page are in one
// zone.
func (v *view) Exact(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return v.date(v.in(t)) + v.in(t).Format(" 2006, 15:04:05.000 MST")
}

// Plus returns the number of a row that is counted from 0.
func (*view) Plus(i int) int { return i + 1 }

// Seconds returns a time of this or the last year to the second, as Time does.
func (v *view) Seconds(t time.Time) template.HTML {
	return timeElement(t, v.Day(t)+t.UTC().Format(", 15:04:05 UTC"), v.date(v.in(t))+v.in(t).Format(", 15:04:05 MST"))
}

// MonthNamed returns a month, such as 2026-11, by its name.
func (v *view) MonthNamed(month string) string {
	at, err := time.Parse("2006-01", month)
	if err != nil {
		return month
	}
	return v.MonthOf(at)
}

// ShortDay returns a date without its year.
func (v *view) ShortDay(t time.Time) string { return v.date(t.UTC()) }

// Day returns the date that a time has in UTC.
func (v *view) Day(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return v.ShortDay(t) + t.UTC().Format(" 2006")
}

// Ago returns how long ago something was. Its title is the time.
func (v *view) Ago(t *time.Time) template.HTML {
	if t == nil || t.IsZero() {
		return template.HTML(template.HTMLEscapeString(v.ago(t))) //nolint:gosec // it is escaped
	}
	return timeElement(*t, v.inUTC(*t), v.ago(t))
}

func (v *view) ago(t *time.Time) string {
	if t == nil || t.IsZero() {
		return v.T("Never")
	}
	passed := v.Now.Sub(*t)
	switch {
	case passed < 2*time.Minute:
		return v.T("Just now")
	case passed < 2*time.Hour:
		return v.T("%d minutes ago", int(passed.Minutes()))
	case passed < 48*time.Hour:
		return v.T("%d hours ago", int(passed.Hours()))
	case passed < 60*24*time.Hour:
		return v.T("%d days ago", int(passed.Hours())/24)
	default:
		return v.Day(*t)
	}
}

// newView returns the view of a request. Found is nil for a visitor.
func (s *site) newView(r *http.Request, found *session.Session) *view {
	v := &view{Prefix: s.prefix, Path: r.URL.RequestURI(), Language: preferred(r.Header.Get("Accept-Language")),
		Now: s.Now(), Once: rand.Text(), Mode: tenant.Live, Zone: time.UTC}
	if r.Method != http.MethodGet || !own(v.Path) {
		v.Path = "/settings"
	}
	// A script may read the answer to any other request, such as an error: it is that for a visitor.
	if found != nil && ofPage(r) {
		v.Token, v.FormToken = tokenOf(r, forDialogs), tokenOf(r, forForms)
		v.Person, v.Mode, v.Zone = &found.Person, found.Mode, zoneOf(r, found)
		v.Adopts = r.Method == http.MethodGet && found.Zone == ""
		if found.Language != "" {
			v.Language = found.Language
		}
	}
	return v
}

// screen returns the template of a page.
type screen func() (*template.Template, error)

// render writes the page, or only its content for the dialog.
func (s screen) render(out io.Writer, v *view) error {
	all, err := s()
	if err != nil {
		return err
	}
	if v.Dialog {
		return all.ExecuteTemplate(out, "fragment", v)
	}
	return all.ExecuteTemplate(out, "frame", v)
}

// tokenField is the field of forms with the token of the session.
const tokenField = "token"

// changeForm opens a form that changes something, and adds its CSRF token.
var changeForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<form\b[^>]*\bmethod="post"[^>]*>`)
})

const withToken = `$0{{with formToken $$}}<input type="hidden" name="` + tokenField + `" value="{{.}}">{{end}}`

// formToken returns the token of the page that shows a form. Templates of rows get a page with a value.
func formToken(of any) (string, error) {
	if row, ok := of.(map[string]any); ok {
		of = row["Page"]
	}
	page, ok := of.(*view)
	if !ok {
		return "", fmt.Errorf("a form is shown by %T, which is no page", of)
	}
	return page.FormToken, nil
}

// Templates are laid out for people. A line break between tags, attributes and actions is no part of a page, and one
// beside a text is a space.
var (
	layout    = regexp.MustCompile(`([>}"])\s*\n\s*([<{])`)
	lineBreak = regexp.MustCompile(`\s*\n\s*`)
)

// addTemplate parses a template, and adds the tokens to its forms.
func addTemplate(to *template.Template, file string) error {
	text, err := templates.ReadFile(file)
	if err != nil {
		return err
	}
	page := lineBreak.ReplaceAllString(layout.ReplaceAllString(string(text), "$1$2"), " ")
	_, err = to.Parse(changeForm().ReplaceAllString(page, withToken))
	return err
}

// sharedFiles are the templates that are no pages.
var sharedFiles = []string{"templates/frame.html", "templates/parts.html"}

// frame is the frame of all pages, with the parts that they share.
var frame = sync.OnceValues(func() (*template.Template, error) {
	frame := template.New("").Funcs(functions)
	return frame, errors.Join(addTemplate(frame, sharedFiles[0]), addTemplate(frame, sharedFiles[1]))
})

// screens are the pages by name. A page is parsed when it is first shown, because the first page after a cold start
// would wait for all others.
var screens = sync.OnceValue(func() map[string]screen {
	files, _ := fs.Glob(templates, "templates/*.html") // the pattern is right
	pages := map[string]screen{}
	for _, file := range files {
		if slices.Contains(sharedFiles, file) {
			continue
		}
		pages[strings.TrimSuffix(path.Base(file), ".html")] = sync.OnceValues(func() (*template.Template, error) {
			shared, err := frame()
			if err != nil {
				return nil, err
			}
			all, err := shared.Clone()
			if err != nil {
				return nil, err
			}
			return all, addTemplate(all, file)
		})
	}
	return pages
})

// The file has a line for each text: English, a tab, and Russian.
//
//go:embed texts.tsv
var textFile string

// language is a language of the pages.
type language struct{ Code, Name string }

var languages = []language{{"en", "English"}, {"ru", "Русский"}}

func known(code string) bool {
	return slices.ContainsFunc(languages, func(l language) bool { return l.Code == code })
}

// russian are the Russian texts by the English ones.
var russian = sync.OnceValue(func() map[string]string { return columns(textFile) })

// columns returns the second column of a file with two by the first one.
func columns(file string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(file) {
		if first, second, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			all[first] = second
		}
	}
	return all
}

// translate returns a text in a language. A text that the file lacks, such as a message of the API, stays English.
func translate(code, text string) string {
	if code == "ru" {
		if other, ok := russian()[text]; ok {
			return other
		}
	}
	return text
}

// preferred returns the language of the pages that a browser prefers most.
func preferred(header string) string {
	codes := make([]string, len(languages))
	for i, l := range languages {
		codes[i] = l.Code
	}
	return web.Language(header, codes)
}

// The file has a line for each icon: its name, a tab, and its outline of 24 by 24 units, after Lucide (ISC licence).
//
//go:embed icons.tsv
var iconFile string

var icons = sync.OnceValue(func() map[string]string { return columns(iconFile) })

// icon draws an icon, which says nothing of its own.
func icon(name string) template.HTML {
	//nolint:gosec // constants
	return template.HTML(`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" ` +
		`stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" width="16" height="16">` + icons()[name] +
		`</svg>`)
}

// chart is a chart of stacked bars, one for each day. It is drawn as SVG without styles of its own, which the policy of
// the pages would refuse.
type chart struct {
	from   time.Time
	unit   string
	series map[string][]int64
	days   int
	// classes are the colours of names that have one of their own.
	classes map[string]string
}

// Series is a row of the chart's legend, and of the table that says the same in words.
type Series struct {
	Name, Class string
	Total       int64
}

// Drawn is a finished chart.
type Drawn struct {
	SVG    template.HTML
	Series []Series
	Total  int64
	// Rows are the days with values, for those who do not see the picture. Each has a value for each series.
	Rows []DrawnRow
}

// DrawnRow is a day of a chart. A value below 0 is none.
type DrawnRow struct {
	Day    string
	Values []int64
}

func newChart(from time.Time, days int, unit string) *chart {
	return &chart{from, unit, map[string][]int64{}, days, map[string]string{}}
}

// colours is the number of colours of series, and of clients.
const colours = 12

// colour returns the class of the n-th colour.
func colour(n int) string { return "c" + strconv.Itoa(n%colours+1) }

// colour gives a name the n-th colour, whatever its rank is.
func (c *chart) colour(name string, n int) { c.classes[name] = colour(n) }

// colourAll gives names the colours in the order of their ids, which is that of their age: a new name changes none of
// them.
func (c *chart) colourAll(nameOf map[string]string) {
	for i, id := range slices.Sorted(maps.Keys(nameOf)) {
		if name := nameOf[id]; c.classes[name] == "" {
			c.colour(name, i)
		}
	}
}

// classOf returns the colour that a name has if no other name of the chart has it.
func (c *chart) classOf(name string) string {
	if class, ok := c.classes[name]; ok {
		return class
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name))
	return colour(int(sum.Sum32() % colours))
}

// distinct gives the series of the chart their colours. Two have the same only if there are more series than colours:
// the larger one keeps its own, and the other takes one that is free.
func (c *chart) distinct(all []Series) {
	taken := map[string]bool{}
	var late []int
	for i := range all {
		if all[i].Class = c.classOf(all[i].Name); taken[all[i].Class] {
			late = append(late, i)
		}
		taken[all[i].Class] = true
	}
	for _, i := range late {
		for n := range colours {
			if class := colour(n); !taken[class] {
				all[i].Class, taken[class] = class, true
				break
			}
		}
	}
}

// add adds a value to the day of a time.
func (c *chart) add(name string, at time.Time, value int64) {
	day := int(at.Sub(c.from) / (24 * time.Hour))
	if day < 0 || day >= c.days || value <= 0 {
		return
	}
	if c.series[name] == nil {
		c.series[name] = make([]int64, c.days)
	}
	c.series[name][day] += value
}

func (c *chart) of(day int) (sum int64) {
	for _, values := range c.series {
		sum += values[day]
	}
	return sum
}

// The size of a chart.
const (
	chartWidth  = 440
	chartHeight = 170
	chartLeft   = 40
	chartBottom = 24
)

// done draws the chart with the dates of a page.
func (c *chart) done(v *view) Drawn {
	var d Drawn
	for name, values := range c.series {
		s := Series{Name: name}
		for _, value := range values {
			s.Total += value
		}
		d.Total += s.Total
		d.Series = append(d.Series, s)
	}
	slices.SortFunc(d.Series, func(a, b Series) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
	c.distinct(d.Series)
	for day := range c.days {
		row := DrawnRow{Day: v.ShortDay(c.from.AddDate(0, 0, day)), Values: make([]int64, len(d.Series))}
		var sum int64
		for i, s := range d.Series {
			row.Values[i] = c.series[s.Name][day]
			sum += row.Values[i]
		}
		if sum > 0 {
			d.Rows = append(d.Rows, row)
		}
	}
	d.SVG = c.draw(d, v)
	return d
}

// drawing is the SVG of a chart. All that it contains are numbers, and texts that are escaped.
type drawing struct {
	strings.Builder
	v *view
}

func newDrawing(v *view, label string) *drawing {
	d := &drawing{v: v}
	d.add(`<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="%s">`, chartWidth, chartHeight, label)
	return d
}

// add adds a piece of SVG. Texts are escaped.
func (d *drawing) add(format string, values ...any) {
	for i, value := range values {
		if text, ok := value.(string); ok {
			values[i] = template.HTMLEscapeString(text)
		}
	}
	fmt.Fprintf(d, format, values...)
}

// grid draws a line across the chart, with its text if it has one.
func (d *drawing) grid(y float64, text string) {
	d.add(`<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, chartLeft, chartWidth, y, y)
	if text != "" {
		d.add(`<text x="%d" y="%.1f" text-anchor="end">%s</text>`, chartLeft-6, y+4, text)
	}
}

// day writes the date of one of the days below the chart. The first and the last are at its edges, so that no text
// leaves it.
func (d *drawing) day(x float64, day, days int, at time.Time) {
	side := "middle"
	switch day {
	case days - 1:
		side = "end"
	case 0:
		side = "start"
	}
	d.add(`<text x="%.1f" y="%d" text-anchor="%s">%s</text>`, x, chartHeight-6, side, d.v.ShortDay(at))
}

func (d *drawing) done() template.HTML {
	return template.HTML(d.String() + `</svg>`) //nolint:gosec // all texts are escaped above
}

// dated reports whether a day among many has its date below the chart: up to about five do, and the last one does.
func dated(day, days int) bool { return (days-1-day)%max(1, (days+3)/5) == 0 }

// draw returns the SVG.
func (c *chart) draw(d Drawn, v *view) template.HTML {
	highest := int64(1)
	for day := range c.days {
		highest = max(highest, c.of(day))
	}
	top := rounded(highest)
	height := func(value int64) float64 { return float64(value) / float64(top) * (chartHeight - chartBottom - 8) }
	out := newDrawing(v, fmt.Sprintf("%s: %d", c.unit, d.Total))
	for i := range 5 {
		value, text := top*int64(i)/4, ""
		if i%2 == 0 {
			text = short(value)
		}
		out.grid(chartHeight-chartBottom-height(value), text)
	}
	step := float64(chartWidth-chartLeft) / float64(c.days)
	for day := range c.days {
		x, y := chartLeft+float64(day)*step, float64(chartHeight-chartBottom)
		for _, s := range d.Series {
			value := c.series[s.Name][day]
			if value == 0 {
				continue
			}
			h := height(value)
			y -= h
			out.add(`<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="1.5">`+
				`<title>%s, %s: %d</title></rect>`, s.Class, x+step*0.14, y, step*0.72, max(h, 1),
				v.ShortDay(c.from.AddDate(0, 0, day)), s.Name, value)
		}
		if dated(day, c.days) {
			out.day(x+step/2, day, c.days, c.from.AddDate(0, 0, day))
		}
	}
	return out.done()
}

// rounded returns the next number with one leading digit that four divides well.
func rounded(value int64) int64 {
	power := int64(math.Pow10(len(strconv.FormatInt(value, 10)) - 1))
	for _, step := range []int64{1, 2, 4, 6, 8, 10} {
		if top := step * power; top >= value && top >= 4 {
			return top
		}
	}
	return 4
}

// short returns a number in few characters.
func short(value int64) string {
	switch {
	case value >= 10_000_000:
		return strconv.FormatInt(value/1_000_000, 10) + "M"
	case value >= 10_000:
		return strconv.FormatInt(value/1_000, 10) + "k"
	default:
		return strconv.FormatInt(value, 10)
	}
}

// grouped returns a number with spaces between its thousands.
func grouped(value int64) string {
	digits := strconv.FormatInt(value, 10)
	sign := ""
	if value < 0 {
		sign, digits = "−", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u00a0" + digits[i:]
	}
	return sign + digits
}

// spark draws a line without axes. The text is what it says to those who do not see it.
func spark(values []int64, text string) template.HTML {
	if len(values) == 0 {
		return ""
	}
	highest := max(1, slices.Max(values))
	var points strings.Builder
	step := 110 / float64(max(1, len(values)-1))
	for i, value := range values {
		fmt.Fprintf(&points, "%.1f,%.1f ", 1+float64(i)*step, 29-float64(value)/float64(highest)*26)
	}
	return template.HTML(fmt.Sprintf( //nolint:gosec // the text is escaped
		`<svg class="spark" viewBox="0 0 112 32" role="img" aria-label="%s"><polyline points="%s" fill="none" `+
			`stroke="currentColor" stroke-width="1.5" stroke-linejoin="round"/></svg>`,
		template.HTMLEscapeString(text), strings.TrimSpace(points.String())))
}

// chartOfKey draws the requests of a key.
func chartOfKey(k key, v *view) Drawn {
	if len(k.UsageByDay) == 0 {
		return Drawn{}
	}
	from, _ := time.Parse(time.DateOnly, k.UsageByDay[0].Day)
	c := newChart(from, len(k.UsageByDay), v.T("Requests"))
	c.classes[v.T("Accepted")], c.classes[v.T("Refused")] = "cgood", "cbad"
	for _, d := range k.UsageByDay {
		at, _ := time.Parse(time.DateOnly, d.Day)
		c.add(v.T("Accepted"), at, d.Calls-d.Refused)
		c.add(v.T("Refused"), at, d.Refused)
	}
	return c.done(v)
}

// functions are the functions of the templates.
var functions = template.FuncMap{
	"grouped": grouped, "record": connection.RecordName, "spark": spark, "icon": icon,
	"logo":    func(platform any) template.HTML { return web.Logo(fmt.Sprint(platform)) },
	"label":   func(platform any) string { return web.Label(fmt.Sprint(platform)) },
	"service": func() string { return web.ServiceName },
	"mark":    func() template.HTML { return web.Mark("var(--primary)", "var(--primary-foreground)") },
	"groups":  groupLines,
	// A part of a page gets the page and a value.
	"pair":   func(page, value any) map[string]any { return map[string]any{"Page": page, "Value": value} },
	"to":     func(path, text string) choice { return choice{path, text} },
	"pageOf": pageOf, "formToken": formToken,
	"copying": func(page *view, text, label string) map[string]any {
		return map[string]any{"Page": page, "Text": text, "Label": page.T(label)}
	},
	"choosing": func(page *view, label string, of []option) map[string]any {
		return map[string]any{"Page": page, "Label": page.T(label), "Options": of}
	},
	"choose":  chooserOf,
	"pick":    pickerOf,
	"times":   func(a, b int) int { return a * b },
	"add":     func(a, b int64) int64 { return a + b },
	"queryOf": func(query string) template.URL { return template.URL(query) }, //nolint:gosec // url.Values wrote it
	"list":    func(list ...string) []string { return list }, "bool": func(b *bool) bool { return *b },
	"join":  func(list any) string { return strings.Join(textsOf(treeOf(list)), ", ") },
	"deref": deref,
	"width": func(share int64) string { return strconv.FormatInt(share*3, 10) },
}

// chooser is a field in which a person chooses one of many: a select, or with many options a text of which they type a
// part.
type chooser struct {
	Page               *view
	Name, Label, Value string
	Options            []named
	Many               bool
}

func chooserOf(page *view, name, label, value string, of []named) chooser {
	return chooser{page, name, page.T(label), value, of, page.Many(name)}
}

// listed are the factories and profiles that a page names.
func (v *view) listed() names {
	data, _ := v.Data.(map[string]any)
	if of, ok := data["Names"].(interface{ all() names }); ok {
		return of.all()
	}
	return names{}
}

// Many reports whether a field chooses one of more factories or profiles than a select should have.
func (v *view) Many(field string) bool { return v.listed().Many[field] }

// NameOf returns the name of a factory or profile, or its id.
func (v *view) NameOf(id string) string {
	n := v.listed()
	return nameOf(slices.Concat(n.Factories, n.Profiles), id)
}

// Zones are the time zones that fields propose.
func (*view) Zones() []string { return zones }

// picker is a filter of a list without a visible label. All is its choice of everything.
type picker struct {
	chooser
	All string
}

// Field returns the field without its choice of everything.
func (p picker) Field() chooser { return p.chooser }

func pickerOf(page *view, name, label, all string, of []named) picker {
	data, _ := page.Data.(map[string]any)
	set, _ := data["Filters"].(map[string]string)
	return picker{chooserOf(page, name, label, set[name], of), page.T(all)}
}

// deref returns what a pointer points to, and a dash for none.
func deref(value any) any {
	of := reflect.ValueOf(value)
	if t, ok := value.(*time.Time); ok && t == nil {
		return time.Time{}
	}
	if of.Kind() != reflect.Pointer || of.IsNil() {
		return "–"
	}
	if n, ok := value.(*float64); ok {
		return strconv.FormatFloat(*n, 'f', -1, 64)
	}
	return of.Elem().Interface()
}
