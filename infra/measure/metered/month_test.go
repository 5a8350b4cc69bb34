package metered

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/craft/calendar"
)

// monthsFile shows the plans of three months, below a heading.
const monthsFile, monthsHeading = "testdata/months.md", "# Three months"

// month is a plan of a month that is shown.
type month struct {
	name          string
	factory, plan Object
	products      []string
}

var months = []month{
	{name: "A seller in Germany, in English, without a schedule", factory: Object{"type": "seller", "name": "Nordlauf",
		"language": "en", "region": "DE", "settings": Object{"currency": "EUR", "shop_name": "Nordlauf"}},
		plan: Object{"content_types": []string{"post", "short_video", "carousel"}, "pillars": []Object{
			{"name": "Shoes", "weight": 2}, {"name": "Training"}, {"name": "Repair and care"}, {"name": "Our customers"}},
			"campaigns": []Object{{"name": "Christmas offer", "item_count": 4, "starts_on": "2026-12-01",
				"ends_on": "2026-12-20"}}},
		products: []string{"Trail shoe", "Road shoe", "Rain jacket", "Head lamp"}},
	{name: "A brand in New York, with a schedule", factory: Object{"type": "brand", "name": "Harbour Coffee",
		"language": "en", "region": "US", "schedule": Object{"timezone": "America/New_York", "times": []string{"08:30"}},
		"settings": Object{"brand_name": "Harbour Coffee"}},
		plan: Object{"content_types": []string{"short_video", "post", "carousel"}, "pillars": []Object{
			{"name": "Roasting"}, {"name": "People"}, {"name": "Brewing"}}}},
	{name: "News of a port in Britain, posts alone", factory: Object{"type": "news", "name": "Harbour News",
		"language": "en-GB", "schedule": Object{"timezone": "Europe/London", "times": []string{"07:00"}},
		"settings": Object{}},
		plan: Object{"content_types": []string{"post"}, "pillars": []Object{{"name": "Ships"}, {"name": "Jobs"},
			{"name": "Weather"}, {"name": "Council"}}}},
}

// TestMonthPlans compares the plans of three months, as a caller sees them, with the file. The flag
// -update writes them.
func TestMonthPlans(t *testing.T) {
	w := filled(t)
	var b strings.Builder
	b.WriteString(monthsHeading + "\n\nTopics of the sandbox, as `calendar` shows them while they wait for an approval. " +
		"They stand for what a model writes; days, times, formats, pillars, goals, occasions and products are those of " +
		"live plans.\nWritten by `go test ./infra/measure/metered -update -run MonthPlans`.\n")
	for _, m := range months {
		a, err := w.Call(t.Context(), Request{Operation: "createFactory", Body: m.factory})
		if err != nil {
			t.Fatal(err)
		}
		factoryID, err := a.ID()
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]string{}
		for i, name := range m.products {
			a, err := w.Call(t.Context(), Request{Operation: "createProduct", Body: Object{"factory_id": factoryID,
				"sku": fmt.Sprint("P-", i), "name": name, "price": Object{"amount": 4900, "currency": "EUR"}}})
			if err != nil {
				t.Fatal(err)
			}
			productID, err := a.ID()
			if err != nil {
				t.Fatal(err)
			}
			names[productID] = name
		}
		body := Object{"days": 30, "posts_per_day": 1, "starts_on": "2026-12-01"}
		maps.Copy(body, m.plan)
		p, err := w.propose(t.Context(), factoryID, body)
		if err != nil {
			t.Fatal(err)
		}
		m.check(t, p, names)
		m.print(&b, t, p, names)
	}
	old, err := os.ReadFile(monthsFile)
	if err != nil {
		t.Fatal(err)
	}
	before, was, _ := strings.Cut(string(old), monthsHeading)
	switch now := strings.TrimSuffix(b.String(), "\n") + "\n"; {
	case *update:
		if err := os.WriteFile(monthsFile, []byte(before+now), 0o644); err != nil {
			t.Fatal(err)
		}
	case monthsHeading+was != now:
		t.Errorf("%s is not current: run go test ./infra/measure/metered -update -run MonthPlans", monthsFile)
	}
}

// check checks what a caller expects of a month.
func (m month) check(t *testing.T, p plan.Plan, names map[string]string) {
	t.Helper()
	if p.State != plan.Proposed || len(p.Calendar) != 30 || p.ReservedCredits != 0 {
		t.Fatalf("%s: %s with %d topics", m.name, p.State, len(p.Calendar))
	}
	var occasions string
	for _, one := range p.Calendar {
		occasions += string(one.Occasion) + ", "
		about := string(one.Pillar)
		if one.ProductID != "" {
			about = names[string(one.ProductID)]
		}
		if about == "" {
			about = m.factory["name"].(string) // a day of news has no pillar
		}
		if !strings.HasPrefix(one.Topic, about+": ") || !strings.Contains(one.Topic, string(one.Angle)) {
			t.Errorf("%s: %q is not about %s, with the angle %q", m.name, one.Topic, about, one.Angle)
		}
	}
	if !strings.Contains(occasions, "Christmas Day") {
		t.Errorf("%s knows no Christmas: %s", m.name, occasions)
	}
}

// print writes a month: its days, and how its values are spread.
func (m month) print(b *strings.Builder, t *testing.T, p plan.Plan, names map[string]string) {
	t.Helper()
	zone, err := time.LoadLocation(p.Timezone)
	if err != nil {
		t.Fatal(err)
	}
	country := string(p.Country)
	if !slices.Contains(calendar.Countries(), country) {
		t.Errorf("%s is of %q", m.name, country)
	}
	fmt.Fprintf(b, "\n## %s\n\nZone %s, country %s, written %d hours ahead", m.name, p.Timezone, country,
		*p.WriteAheadHours)
	if p.ProductShare > 0 {
		fmt.Fprintf(b, ", products in %d %% of the items", p.ProductShare)
	}
	b.WriteString(".\n\n| Day | Time | Format | Pillar | Goal | Occasion or campaign | Topic |\n|---|---|---|---|---|---|---|\n")
	for _, one := range p.Calendar {
		at, note := one.PublishAt.In(zone), string(one.Occasion)
		if one.Campaign != "" {
			note = strings.TrimPrefix(note+"; "+string(one.Campaign), "; ")
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", at.Format("Mon 2 Jan"), at.Format("15:04"), one.ContentType,
			one.Pillar, strings.TrimPrefix(string(one.Goal), "readers "), note, one.Topic)
	}
	b.WriteString("\n")
	table := func(title string, column func(plan.Topic) string) {
		cells, columns, rows := map[[2]string]int{}, map[string]bool{}, map[string]bool{}
		for _, one := range p.Calendar {
			columns[column(one)], rows[string(one.Pillar)] = true, true
			cells[[2]string{string(one.Pillar), column(one)}]++
		}
		heads := slices.Sorted(maps.Keys(columns))
		fmt.Fprintf(b, "| %s | %s |\n|---|%s\n", title, strings.Join(heads, " | "), strings.Repeat("--:|", len(heads)))
		for _, row := range slices.Sorted(maps.Keys(rows)) {
			fmt.Fprintf(b, "| %s |", row)
			for _, head := range heads {
				fmt.Fprintf(b, " %d |", cells[[2]string{row, head}])
			}
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	table("Pillar and format", func(one plan.Topic) string { return one.ContentType })
	table("Pillar and goal", func(one plan.Topic) string { return strings.TrimPrefix(string(one.Goal), "readers ") })
	if len(m.products) > 0 {
		table("Pillar and product", func(one plan.Topic) string {
			if one.ProductID == "" {
				return "without"
			}
			return names[string(one.ProductID)]
		})
	}
}
