package graph

import (
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

// Lifetime sets the metrics of a post, which has one value of each.
func (in Insights) Lifetime(into map[string]**int64) {
	for _, d := range in.Data {
		if field, ok := into[d.Name]; ok && len(d.Values) > 0 {
			*field = platform.Count(d.Values[0].Value)
		}
	}
}

// endTime is the format of the end of a day.
const endTime = "2006-01-02T15:04:05-0700"

// Days adds the values of an account to its days. The end of a day in the answer is after the day, up to a day later.
func (in Insights) Days(days platform.Days, into map[string]func(*platform.Day) **int64) {
	for _, d := range in.Data {
		field, ok := into[d.Name]
		if !ok {
			continue
		}
		for _, v := range d.Values {
			end, err := time.Parse(endTime, v.End)
			if err != nil {
				continue
			}
			if day := days.At(end.Add(-time.Second)); day != nil {
				*field(day) = platform.Count(v.Value)
			}
		}
		if d.Total != nil {
			*field(days.Last()) = platform.Count(d.Total.Value)
		}
	}
}
