package graph

import (
	"net/url"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// Insights is the answer of Meta's insights.
type Insights struct {
	Data []struct {
		Name   string `json:"name"`
		Values []struct {
			Value int64  `json:"value"`
			End   string `json:"end_time"`
		} `json:"values"`
		Total *struct {
			Value int64 `json:"value"`
		} `json:"total_value"`
	} `json:"data"`
}

// Lifetime sets the metrics of a post, which has one value of each. A field with several metrics has their sum.
func (in Insights) Lifetime(into map[string]**int64) {
	for _, d := range in.Data {
		if field, ok := into[d.Name]; ok && len(d.Values) > 0 {
			sum := d.Values[0].Value
			if *field != nil {
				sum += **field
			}
			*field = &sum
		}
	}
}

// Query returns the parameters of a call for the metrics of an account by day.
func Query(days platform.Days, now time.Time, metrics string) url.Values {
	return url.Values{"metric": {metrics}, "period": {"day"}, "since": {strconv.FormatInt(days[0].Date.Unix(), 10)},
		"until": {strconv.FormatInt(now.Unix(), 10)}}
}

// Days adds the values of an account to its days. The map has the names of the figures of the metrics. The end of a day
// in the answer is after the day, up to a day later.
func (in Insights) Days(days platform.Days, into map[string]string) {
	for _, d := range in.Data {
		name, ok := into[d.Name]
		if !ok {
			continue
		}
		for _, v := range d.Values {
			end, err := time.Parse(TimeLayout, v.End)
			if err != nil {
				continue
			}
			if day := days.At(end.Add(-time.Second)); day != nil {
				*day.Of(name) = platform.Count(v.Value)
			}
		}
		if d.Total != nil {
			*days.Last().Of(name) = platform.Count(d.Total.Value)
		}
	}
}
