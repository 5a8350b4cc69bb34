package console

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	experimentsPath = "/settings/experiments"
	monthsPath      = "/settings/factory-months"
)

func addExperiments(open func(string, func(*request) error)) {
	open("GET "+experimentsPath, showExperiments)
	open("GET "+experimentsPath+"/{id}", showExperiment)
	open("GET "+monthsPath, showFactoryMonth)
}

// armResult is what is known of an arm as the API answers it.
type armResult struct {
	Factor   string   `json:"factor"`
	Arm      string   `json:"arm"`
	Assigned int      `json:"assigned"`
	N        int      `json:"n"`
	Estimate *float64 `json:"estimate"`
	Lower    *float64 `json:"lower"`
	Upper    *float64 `json:"upper"`
}

// experimentLook has the results of an experiment at a time.
type experimentLook struct {
	At      time.Time   `json:"at"`
	Results []armResult `json:"results"`
}

// experimentOfAPI is an experiment as the API answers it.
type experimentOfAPI struct {
	ID        string `json:"id"`
	FactoryID string `json:"factory_id"`
	Question  string `json:"question"`
	State     string `json:"state"`
	Posts     int    `json:"posts"`
	Needed    int    `json:"needed_posts"`
	Metric    struct {
		Name     string `json:"name"`
		Platform string `json:"platform"`
		After    int    `json:"after_hours"`
	} `json:"metric"`
	StartedAt *time.Time       `json:"started_at"`
	Results   []armResult      `json:"results"`
	Winners   []armResult      `json:"winners"`
	History   []experimentLook `json:"history"`
}

// experimentStates are the states of experiments, in their order.
var experimentStates = []string{"draft", "running", "decided", "inconclusive", "stopped"}

func showExperiments(r *request) error {
	given, query := r.filters("factory_id", "state")
	n, err := r.names()
	if err != nil {
		return err
	}
	var all []experimentOfAPI
	next, err := r.api.list(r.Context(), "/v1/experiments", query, &all)
	refused, err := form(err)
	if err != nil {
		return err
	}
	v := r.view("Experiments", experimentsPath)
	v.Error = refused
	v.Data = map[string]any{"Experiments": all, "More": r.more(next), "Filters": given, "Names": n,
		"States": experimentStates}
	return r.show(http.StatusOK, "experiments", v)
}

func showExperiment(r *request) error {
	var e experimentOfAPI
	if err := r.api.get(r.Context(), r.apiPath("experiments"), nil, &e); err != nil {
		return err
	}
	n, err := r.names()
	if err != nil {
		return err
	}
	v := r.view(e.Question, experimentsPath)
	v.Data = map[string]any{"Experiment": e, "Names": n, "Intervals": intervalsOf(e, v)}
	return r.show(http.StatusOK, "experiment", v)
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
	N                      int
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
			looks = append(looks, experimentLook{look.At, []armResult{o}})
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
		if v.Error, err = form(err); err != nil {
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
