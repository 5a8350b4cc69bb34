package console

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"html/template"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/record/connection"
)

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

// colours is the number of colours of series.
const colours = 6

// colour gives a name the n-th colour, whatever its rank is.
func (c *chart) colour(name string, n int) { c.classes[name] = "c" + strconv.Itoa(n%colours+1) }

// colourAll gives names the colours in the order of their ids, which is that of their age: a new name changes none of
// them, and names have the same colour only if there are more names than colours between them.
func (c *chart) colourAll(nameOf map[string]string) {
	for i, id := range slices.Sorted(maps.Keys(nameOf)) {
		if name := nameOf[id]; c.classes[name] == "" {
			c.colour(name, i)
		}
	}
}

// classOf returns the colour of a name: always the same one.
func (c *chart) classOf(name string) string {
	if class, ok := c.classes[name]; ok {
		return class
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name))
	return "c" + strconv.Itoa(int(sum.Sum32()%colours)+1)
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

// of returns the sum of a day.
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
	for i := range d.Series {
		d.Series[i].Class = c.classOf(d.Series[i].Name)
	}
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

// draw returns the SVG. All that it contains are numbers, and texts that are escaped.
func (c *chart) draw(d Drawn, v *view) template.HTML {
	highest := int64(1)
	for day := range c.days {
		highest = max(highest, c.of(day))
	}
	top := rounded(highest)
	height := func(value int64) float64 { return float64(value) / float64(top) * (chartHeight - chartBottom - 8) }
	var out strings.Builder
	label := template.HTMLEscapeString(fmt.Sprintf("%s: %d", c.unit, d.Total))
	fmt.Fprintf(&out, `<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="%s">`, chartWidth, chartHeight,
		label)
	for i := range 5 {
		value := top * int64(i) / 4
		y := chartHeight - chartBottom - height(value)
		fmt.Fprintf(&out, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, chartLeft, chartWidth, y, y)
		if i%2 == 0 {
			fmt.Fprintf(&out, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`, chartLeft-6, y+4, short(value))
		}
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
			fmt.Fprintf(&out, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" `+
				`rx="1.5"><title>%s</title></rect>`,
				s.Class, x+step*0.14, y, step*0.72, max(h, 1), template.HTMLEscapeString(fmt.Sprintf("%s, %s: %d",
					v.ShortDay(c.from.AddDate(0, 0, day)), s.Name, value)))
		}
		if (c.days-1-day)%max(1, (c.days+3)/5) == 0 {
			fmt.Fprintf(&out, `<text x="%.1f" y="%d" text-anchor="%s">%s</text>`, x+step/2, chartHeight-6,
				anchor(day, c.days), template.HTMLEscapeString(v.ShortDay(c.from.AddDate(0, 0, day))))
		}
	}
	out.WriteString(`</svg>`)
	return template.HTML(out.String()) //nolint:gosec // all texts are escaped above
}

// anchor returns the side of a label at which its day is, so that no label leaves the chart.
func anchor(day, days int) string {
	switch {
	case day == days-1:
		return "end"
	case day == 0:
		return "start"
	}
	return "middle"
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

// wideSpark draws a spark as wide as its place, with the area below it.
func wideSpark(values []int64, text string) template.HTML {
	if len(values) == 0 {
		return ""
	}
	low, high := slices.Min(values), slices.Max(values)
	if low > 0 && high-low < high/4 {
		low = max(0, low-high/4) // a small change does not look like a large one
	} else {
		low = 0
	}
	var points strings.Builder
	step := 300 / float64(max(1, len(values)-1))
	for i, value := range values {
		fmt.Fprintf(&points, "%.1f,%.1f ", float64(i)*step, 46-float64(value-low)/float64(max(1, high-low))*42)
	}
	line := strings.TrimSpace(points.String())
	return template.HTML(fmt.Sprintf( //nolint:gosec // the text is escaped
		`<svg class="wide" viewBox="0 0 300 48" preserveAspectRatio="none" role="img" aria-label="%s">`+
			`<polygon points="0,48 %s 300,48" fill="currentColor" opacity="0.12"/><polyline points="%s" fill="none" `+
			`stroke="currentColor" stroke-width="1.5" stroke-linejoin="round" vector-effect="non-scaling-stroke"/>`+
			`</svg>`,
		template.HTMLEscapeString(text), line, line))
}

// chartOfKey draws the requests of a key.
func chartOfKey(k key, v *view) Drawn {
	if len(k.Days) == 0 {
		return Drawn{}
	}
	from, _ := time.Parse(time.DateOnly, k.Days[0].Date)
	c := newChart(from, len(k.Days), v.T("Requests"))
	c.classes[v.T("Accepted")], c.classes[v.T("Refused")] = "cgood", "cbad"
	for _, d := range k.Days {
		at, _ := time.Parse(time.DateOnly, d.Date)
		c.add(v.T("Accepted"), at, d.Requests-d.Refused)
		c.add(v.T("Refused"), at, d.Refused)
	}
	return c.done(v)
}

// functions are the functions of the templates.
var functions = template.FuncMap{
	"grouped": grouped, "record": connection.RecordName, "spark": spark, "wide": wideSpark, "icon": icon,
	"logo": web.Logo, "label": web.Label, "service": func() string { return web.ServiceName },
	"mark":   func() template.HTML { return web.Mark("var(--primary)", "var(--primary-foreground)") },
	"groups": groupLines,
	// A part of a page gets the page and a value.
	"pair":   func(page, value any) map[string]any { return map[string]any{"Page": page, "Value": value} },
	"pageOf": pageOf,
	"copying": func(page *view, text, label string) map[string]any {
		return map[string]any{"Page": page, "Text": text, "Label": page.T(label)}
	},
	"choosing": func(page *view, label string, of []option) map[string]any {
		return map[string]any{"Page": page, "Label": page.T(label), "Options": of}
	},
	"list": func(list ...string) []string { return list }, "bool": func(b *bool) bool { return *b },
	"join": func(list []string) string { return strings.Join(list, ", ") },
	"deref": func(value any) any {
		switch v := value.(type) {
		case *string:
			if v != nil {
				return *v
			}
		case *int:
			if v != nil {
				return *v
			}
		case *int64:
			if v != nil {
				return *v
			}
		case *float64:
			if v != nil {
				return strconv.FormatFloat(*v, 'f', -1, 64)
			}
		case *time.Time:
			if v != nil {
				return *v
			}
			return time.Time{}
		}
		return "–"
	},
	"width": func(share int64) string { return strconv.FormatInt(share*3, 10) },
}
