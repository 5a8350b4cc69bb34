package publishing

import (
	_ "embed"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // Lambda's runtime need not know the time zones.

	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/web"
)

// The file has a line for each text: English, and after a tab each of the other languages in their order.
//
//go:embed texts.tsv
var textFile string

// language is a language of the review page.
type language struct {
	Code, Name string
	// date is the pattern of a date: its day, the name of its month and its year.
	date string
}

var languages = []language{{"en", "English", "%d %s %d"}, {"ru", "Русский", "%d %s %d"},
	{"de", "Deutsch", "%d. %s %d"}, {"es", "Español", "%d de %s de %d"}, {"fr", "Français", "%d %s %d"},
	{"pt", "Português", "%d de %s de %d"}}

var codes = func() (all []string) {
	for _, l := range languages {
		all = append(all, l.Code)
	}
	return all
}()

// translations are the texts in all languages but English, by the English ones.
var translations = sync.OnceValue(func() map[string][]string {
	texts := map[string][]string{}
	for line := range strings.Lines(textFile) {
		all := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		texts[all[0]] = all[1:]
	}
	return texts
})

// choices are what the reader of a page has chosen: the language, or that of the browser, the time zone, or those of
// the factories, and whether only posts are shown that wait for a decision.
type choices struct {
	language int
	zone     *time.Location
	todo     bool
	query    url.Values
}

// choicesOf reads the address of a page and the header Accept-Language.
func choicesOf(req *http.Request) choices {
	given, c := req.URL.Query(), choices{query: url.Values{}}
	code := web.Language(req.Header.Get("Accept-Language"), codes)
	if asked := given.Get("lang"); web.Language(asked, codes) == asked {
		code = asked
		c.query.Set("lang", asked)
	}
	for i, known := range codes {
		if known == code {
			c.language = i
		}
	}
	if name := given.Get("zone"); len(name) <= 64 {
		if zone, err := factory.Zone(name); err == nil {
			c.zone = zone
			c.query.Set("zone", name)
		}
	}
	if given.Get("todo") != "" {
		c.todo = true
		c.query.Set("todo", "1")
	}
	return c
}

// after returns the address of the page after a decision.
func (c choices) after(d decision) string {
	q := url.Values{"done": {d.what}, "on": {d.itemID}}
	for name, values := range c.query {
		q[name] = values
	}
	return "?" + q.Encode() + "#" + d.itemID
}

// T translates a text of the page, with values as fmt.Sprintf.
func (c choices) T(text string, values ...any) string {
	if c.language > 0 {
		if all := translations()[text]; c.language <= len(all) {
			text = all[c.language-1]
		}
	}
	if len(values) > 0 {
		return fmt.Sprintf(text, values...)
	}
	return text
}

// Language implements web.Translated.
func (c choices) Language() string { return codes[c.language] }

// Languages returns the languages that the reader can choose.
func (c choices) Languages() []language { return languages }

// Zones returns the time zones that the reader can choose: one for each offset, and those of many people.
func (c choices) Zones() []string { return zones }

// Zone returns the chosen time zone, or an empty text.
func (c choices) Zone() string { return c.query.Get("zone") }

// Todo reports whether only posts are shown that wait for a decision.
func (c choices) Todo() bool { return c.todo }

var zones = []string{"UTC", "Pacific/Honolulu", "America/Anchorage", "America/Los_Angeles", "America/Denver",
	"America/Chicago", "America/New_York", "America/Sao_Paulo", "Europe/London", "Europe/Lisbon", "Europe/Berlin",
	"Europe/Paris", "Europe/Madrid", "Europe/Kyiv", "Europe/Istanbul", "Europe/Moscow", "Europe/Samara", "Asia/Dubai",
	"Asia/Yekaterinburg", "Asia/Almaty", "Asia/Kolkata", "Asia/Novosibirsk", "Asia/Bangkok", "Asia/Shanghai",
	"Asia/Singapore", "Asia/Tokyo", "Asia/Vladivostok", "Australia/Sydney", "Pacific/Auckland"}

// at returns a time in words: in the chosen time zone, or else in that of the factory.
func (c choices) at(t time.Time, factory *time.Location) string {
	zone := c.zone
	if zone == nil {
		zone = factory
	}
	if zone == nil {
		zone = time.UTC
	}
	t = t.In(zone)
	return fmt.Sprintf(languages[c.language].date, t.Day(), c.T(t.Month().String()), t.Year()) +
		t.Format(", 15:04") + " (" + zone.String() + ")"
}
