package automation

import (
	"net/url"
	"strings"
	"time"
	_ "time/tzdata" // Lambda's runtime need not know the time zones.

	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/errs"
)

// entry is something that an automation makes one item of.
type entry struct {
	// key is the same each time that the entry is found.
	key string
	// values replace the names in double braces in a template.
	values map[string]string
	// product is the id of the product that the item presents, or empty.
	product string
	// published is its date, or nil.
	published *time.Time
}

// check refuses members that do not fit the kind, and expressions that never come.
func (t Trigger) check() error {
	switch {
	case t.Kind == OfFeed && t.URL == "":
		return errs.Invalid("/trigger/url", "is required for the kind feed")
	case t.Kind != OfFeed && t.URL != "":
		return errs.Invalid("/trigger/url", "is for the kind feed only")
	case t.Kind == OfTime && t.Cron == "":
		return errs.Invalid("/trigger/cron", "is required for the kind time")
	case t.Kind != OfTime && t.Cron != "":
		return errs.Invalid("/trigger/cron", "is for the kind time only")
	case t.Kind == OfTime:
		_, err := t.times()
		return err
	}
	return nil
}

// times reads the cron expression.
func (t Trigger) times() (*clock.Cron, error) {
	times, err := clock.ParseCron(t.Cron)
	if err != nil {
		return nil, errs.Invalid("/trigger/cron", "is not a minute, hour, day of month, month and day of week; "+
			"write them as "+
			"30 9 * * 1-5")
	}
	return times, nil
}

// zone returns the time zone of a factory, which is UTC if it has none.
func zone(f factory.Factory) *time.Location {
	if f.Schedule == nil {
		return time.UTC
	}
	z, err := time.LoadLocation(f.Schedule.Timezone)
	if err != nil {
		return time.UTC // the zone was checked when it was set
	}
	return z
}

// next returns the first time of the cron expression after a time.
func (t Trigger) next(f factory.Factory, after time.Time) (time.Time, error) {
	times, err := t.times()
	if err != nil {
		return time.Time{}, err
	}
	at := times.Next(after.In(zone(f)))
	if at.IsZero() {
		return at, errs.Invalid("/trigger/cron", "never comes within five years")
	}
	return at, nil
}

// wall returns the time that a clock on the wall shows, to the minute.
func wall(at time.Time) string { return at.Format("2006-01-02T15:04") }

// occurrence returns the entry of a time.
func occurrence(at time.Time) entry {
	return entry{key: wall(at), values: map[string]string{"date": at.Format(time.DateOnly), "time": at.Format("15:04")}}
}

// sampleOf returns an entry such as a trigger finds, for the check of a template.
func sampleOf(kind string, now time.Time) entry {
	switch kind {
	case OfTime:
		return occurrence(now)
	case OfProduct:
		return entry{values: map[string]string{"name": "Name", "description": "Description", "url": sampleURL},
			product: "sample"}
	}
	return entry{values: map[string]string{"title": "Title", "summary": "Summary", "url": sampleURL}}
}

const sampleURL = "https://www.example.com/"

// The lengths to which the texts of a feed are cut, so that a template that fits goes on to fit.
const (
	mostTitle   = 200
	mostSummary = 1000
)

// fill returns the body of createContentItem that a template makes of an entry. A sample has no product.
func (e entry) fill(template map[string]any, factoryID string, utm *UTM, sample bool) map[string]any {
	values := make([]string, 0, 2*len(e.values))
	for name, value := range e.values {
		if name == "url" {
			value = utm.on(value)
		}
		values = append(values, "{{"+name+"}}", value)
	}
	body, _ := replaced(template, strings.NewReplacer(values...)).(map[string]any)
	body["factory_id"] = factoryID
	if e.product != "" && !sample {
		body["product_id"] = e.product
	}
	return body
}

// replaced returns a JSON value with the names in its texts replaced.
func replaced(v any, by *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return by.Replace(v)
	case []any:
		all := make([]any, len(v))
		for i, one := range v {
			all[i] = replaced(one, by)
		}
		return all
	case map[string]any:
		all := make(map[string]any, len(v)+2)
		for name, one := range v {
			all[name] = replaced(one, by)
		}
		return all
	}
	return v
}

// on returns an address with the parameters. Those that it has stay.
func (u *UTM) on(address string) string {
	if u == nil || address == "" {
		return address
	}
	to, err := url.Parse(address)
	if err != nil {
		return address
	}
	q := to.Query()
	for _, p := range []struct{ name, value string }{{"utm_source", u.Source}, {"utm_medium", u.Medium},
		{"utm_campaign", u.Campaign}, {"utm_term", u.Term}, {"utm_content", u.Content}} {
		if p.value != "" && !q.Has(p.name) {
			q.Set(p.name, p.value)
		}
	}
	to.RawQuery = q.Encode()
	return to.String()
}

func trimBody(param string) string { return strings.TrimPrefix(param, "/body") }
