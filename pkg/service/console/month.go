package console

import (
	"fmt"
	"html/template"
	"strings"
	"time"
)

// month is the chart of what the current month costs in all: a line up to now, a dotted one to the month's end, and a
// red one where the credits end.
type month struct {
	now, first time.Time
	days       int
	byDay      []int64
	balance    int64
}

func newMonth(now time.Time, balance int64) *month {
	now = now.UTC()
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	days := int(first.AddDate(0, 1, 0).Sub(first) / (24 * time.Hour))
	return &month{now, first, days, make([]int64, now.Day()), balance}
}

// add adds what an entry has spent, if it is of this month.
func (m *month) add(at time.Time, spent int64) {
	if day := int(at.Sub(m.first) / (24 * time.Hour)); !at.Before(m.first) && day < len(m.byDay) {
		m.byDay[day] += spent
	}
}

// spent returns what the month has cost up to now.
func (m *month) spent() (sum int64) {
	for _, n := range m.byDay {
		sum += n
	}
	return sum
}

// end returns what the month costs if it goes on as it began. The first hours of a month tell little.
func (m *month) end() int64 {
	passed := max(m.now.Sub(m.first), 24*time.Hour)
	return int64(float64(m.spent()) * float64(m.days) * float64(24*time.Hour) / float64(passed))
}

// done draws the chart. Its table has the sum at the end of each day.
func (m *month) done(v *view) Drawn {
	spent, end := m.spent(), m.end()
	limit := spent + max(0, m.balance)
	d := Drawn{Total: spent, Series: []Series{{v.T("Spent in all"), "c1", spent}, {v.T("Forecast"), "c6", end},
		{v.T("Credits that there are"), "cbad", limit}}}
	// A limit that is far away would flatten the lines.
	top := max(spent, end)
	shown := limit <= 3*max(top, 1)
	if shown {
		top = max(top, limit)
	}
	top = rounded(max(1, top))
	x := func(day float64) float64 {
		return chartLeft + day/float64(m.days)*(chartWidth-chartLeft)
	}
	y := func(value int64) float64 {
		return chartHeight - chartBottom - float64(value)/float64(top)*(chartHeight-chartBottom-8)
	}
	var points strings.Builder
	fmt.Fprintf(&points, "%.1f,%.1f", x(0), y(0))
	var sum int64
	at := float64(0)
	for day, n := range m.byDay {
		sum += n
		if at = float64(day + 1); day == len(m.byDay)-1 {
			at = min(at, m.now.Sub(m.first).Hours()/24)
		}
		fmt.Fprintf(&points, " %.1f,%.1f", x(at), y(sum))
		d.Rows = append(d.Rows, DrawnRow{v.ShortDay(m.first.AddDate(0, 0, day)), []int64{sum, -1, limit}})
	}
	d.Rows = append(d.Rows, DrawnRow{v.ShortDay(m.first.AddDate(0, 0, m.days-1)), []int64{-1, end, limit}})
	label := fmt.Sprintf("%s: %d. %s: %d. %s: %d", d.Series[0].Name, spent, d.Series[1].Name, end, d.Series[2].Name,
		limit)
	var out strings.Builder
	fmt.Fprintf(&out, `<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="%s">`, chartWidth, chartHeight,
		template.HTMLEscapeString(label))
	for i := range 3 {
		value := top * int64(i) / 2
		fmt.Fprintf(&out, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" `+
			`text-anchor="end">%s</text>`, chartLeft, chartWidth, y(value), y(value), chartLeft-6, y(value)+4,
			short(value))
	}
	fmt.Fprintf(&out, `<polyline class="l1" points="%s"/>`+
		`<line class="dotted" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, points.String(), x(at), y(spent),
		x(float64(m.days)), y(end))
	if shown {
		fmt.Fprintf(&out, `<line class="limit" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, chartLeft, chartWidth, y(limit),
			y(limit))
	}
	for _, day := range []int{0, m.days / 2, m.days - 1} {
		fmt.Fprintf(&out, `<text x="%.1f" y="%d" text-anchor="%s">%s</text>`, x(float64(day)+0.5), chartHeight-6,
			anchor(day, m.days), template.HTMLEscapeString(v.ShortDay(m.first.AddDate(0, 0, day))))
	}
	out.WriteString(`</svg>`)
	d.SVG = template.HTML(out.String()) //nolint:gosec // all texts are escaped above
	return d
}
