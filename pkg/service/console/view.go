package console

import (
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
)

var (
	//go:embed templates/*.html
	templates embed.FS

	//go:embed assets/console.css assets/console.js assets/htmx.js
	assets embed.FS
)

// asset is a file with a name that changes with its content.
type asset struct {
	kind    string
	content []byte
}

// assetNames are the names of the assets in links, by the names of their files; served are the files by those.
var assetNames, served = func() (map[string]string, map[string]asset) {
	names, files := map[string]string{}, map[string]asset{}
	found, _ := fs.Glob(assets, "assets/*")
	for _, file := range found {
		content, _ := assets.ReadFile(file) // it is in the program
		base, kind := path.Base(file), "text/css; charset=utf-8"
		if path.Ext(base) == ".css" {
			content = append([]byte(web.FontFaces("")), content...)
		}
		sum := sha256.Sum256(content)
		name := strings.TrimSuffix(base, path.Ext(base)) + "-" + hex.EncodeToString(sum[:6]) + path.Ext(base)
		if path.Ext(base) == ".js" {
			kind = "text/javascript; charset=utf-8"
		}
		names[base], files[name] = name, asset{kind, content}
	}
	for name, content := range web.Fonts() {
		files[name] = asset{"font/woff2", content}
	}
	return names, files
}()

// serveAsset serves a style, a script or a font, which browsers keep.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	a, ok := served[r.PathValue("name")]
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
	// Role is that of the person, which decides what the page offers.
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
	// Zone is the time zone of planned times.
	Zone *time.Location
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

// navigation are the links of all pages.
var navigation = []group{
	{"", []link{{homePath, "Home", "home", everybody}}},
	{"Build", []link{{keysPath, "API keys", "key", everybody}, {mandatesPath, "Mandates", "shield", everybody},
		{webhooksPath, "Webhooks", "webhook", everybody},
		{eventsPath, "Events", "list", everybody}, {auditPath, "Audit log", "scroll", everybody}}},
	{"Content", []link{{approvalsPath, "Approvals", "check", everybody},
		{calendarPath, "Calendar", "calendar", everybody}, {automationsPath, "Automations", "zap", everybody},
		{experimentsPath, "Experiments", "gauge", everybody},
		{monthsPath, "Months of factories", "chart", everybody}}},
	{"Clients", []link{{profilesPath, "Profiles", "folder", everybody},
		{socialPath, "Social accounts", "share", everybody},
		{applicationsPath, "Own applications", "key", everybody},
		{integrationsPath, "CRM integrations", "link", everybody}}},
	{"Account", []link{{usagePath, "Balance and usage", "chart", everybody},
		{levelsPath, "Service levels", "gauge", everybody},
		{peoplePath, "People", "people", managers}, {signOnPath, "Single sign-on", "shield", managers},
		{programsPath, "Connected programs", "plug", everybody},
		{erasurePath, "Erasure", "trash", owners}}},
}

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

// Languages returns the languages of the pages, with their own names.
func (*view) Languages() []language { return languages }

// T translates a text of the pages, with values as fmt.Sprintf.
func (v *view) T(text string, values ...any) string {
	text = translate(v.Language, text)
	if len(values) > 0 {
		return fmt.Sprintf(text, values...)
	}
	return text
}

// Asset returns the path of an asset.
func (v *view) Asset(name string) string { return v.Prefix + "/settings/assets/" + assetNames[name] }

// Time returns a time in full. A script shows it in the time zone of the browser, and its title stays in UTC.
func (v *view) Time(t time.Time) template.HTML {
	if t.IsZero() {
		return "–"
	}
	utc := v.inUTC(t)
	return timeElement(t, utc, utc, " data-local")
}

func (v *view) inUTC(t time.Time) string { return v.Day(t) + t.UTC().Format(", 15:04 UTC") }

// timeElement returns an element of a time, with a title.
func timeElement(t time.Time, title, text, attribute string) template.HTML {
	//nolint:gosec // the texts are escaped, and the time has none
	return template.HTML(`<time datetime="` + t.UTC().Format(time.RFC3339) + `" title="` +
		template.HTMLEscapeString(title) + `"` + attribute + `>` + template.HTMLEscapeString(text) + `</time>`)
}

// Exact returns a time to the millisecond, and Seconds to the second, without the year.
func (v *view) Exact(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return v.Day(t) + t.UTC().Format(", 15:04:05.000 UTC")
}

// Plus returns the number of a row that is counted from 0.
func (*view) Plus(i int) int { return i + 1 }

// Seconds returns a time of this or the last year to the second, as Time does.
func (v *view) Seconds(t time.Time) template.HTML {
	return timeElement(t, v.Day(t)+t.UTC().Format(", 15:04:05 UTC"), v.ShortDay(t)+t.UTC().Format(", 15:04:05 UTC"),
		` data-local="seconds"`)
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
func (v *view) ShortDay(t time.Time) string { return t.UTC().Format("2 ") + v.T(t.UTC().Format("Jan")) }

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
	return timeElement(*t, v.inUTC(*t), v.ago(t), "")
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
		v.Person, v.Mode, v.Zone = &found.Person, found.Mode, zoneOf(found)
		if found.Language != "" {
			v.Language = found.Language
		}
	}
	return v
}

// page is a page of the account area.
type page struct{ all *template.Template }

// tokenField is the field of forms with the token of the session.
const tokenField = "token"

// changeForm opens a form that changes something, and adds its CSRF token.
var changeForm = regexp.MustCompile(`<form\b[^>]*\bmethod="post"[^>]*>`)

const withToken = `$0{{with $$.FormToken}}<input type="hidden" name="` + tokenField + `" value="{{.}}">{{end}}`

// addTemplate parses a template, and adds the tokens to its forms.
func addTemplate(to *template.Template, file string) error {
	text, err := templates.ReadFile(file)
	if err != nil {
		return err
	}
	_, err = to.Parse(changeForm.ReplaceAllString(string(text), withToken))
	return err
}

// parsePages parses the templates. Each page has a content within the same frame.
func parsePages() (map[string]*page, error) {
	frame := template.New("").Funcs(functions)
	for _, file := range []string{"templates/frame.html", "templates/parts.html"} {
		if err := addTemplate(frame, file); err != nil {
			return nil, err
		}
	}
	pages := map[string]*page{}
	files, err := fs.Glob(templates, "templates/*.html")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if name == "frame" || name == "parts" {
			continue
		}
		all, err := frame.Clone()
		if err == nil {
			err = addTemplate(all, file)
		}
		if err != nil {
			return nil, err
		}
		pages[name] = &page{all}
	}
	return pages, nil
}

// render writes the page, or only its content for the dialog.
func (p *page) render(out io.Writer, v *view) error {
	if v.Dialog {
		return p.all.ExecuteTemplate(out, "fragment", v)
	}
	return p.all.ExecuteTemplate(out, "frame", v)
}
