package item

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/record/resource"
)

// Counts are the figures of the vocabulary of all platforms. A figure that a platform does not have is null.
type Counts struct {
	// How often it was shown. Null: the platform does not have it.
	Impressions *int64 `json:"impressions"`
	// How many people or accounts it was shown to, each counted once. Null: the platform does not have it.
	Reach *int64 `json:"reach"`
	// Views as the platform counts them. Null: the platform does not have it.
	Views *int64 `json:"views"`
	// Seconds for which it was watched, in all. Null: the platform does not have it.
	WatchTime *int64 `json:"watch_time_seconds"`
	// Likes and other reactions. Null: the platform does not have it.
	Likes *int64 `json:"likes"`
	// Comments and replies. Null: the platform does not have it.
	Comments *int64 `json:"comments"`
	// Shares, reposts and quotes. Null: the platform does not have it.
	Shares *int64 `json:"shares"`
	// Saves and bookmarks. Null: the platform does not have it.
	Saves *int64 `json:"saves"`
	// Clicks on it or on its links, as the platform counts them. Null: the platform does not have it.
	Clicks *int64 `json:"clicks"`
}

// Metrics are the counts of a post.
type Metrics struct {
	Counts
	// Time at which they were read.
	ReadAt resource.Time `json:"read_at"`
}

// ReadMetrics returns the metrics that were read at a time. A figure that is not known keeps its value of an earlier
// reading, which may be nil.
func ReadMetrics(m platform.Metrics, before *Metrics, at time.Time) *Metrics {
	if before != nil {
		m = m.Or(platform.Metrics(before.Counts))
	}
	return &Metrics{Counts(m), resource.Instant(at)}
}

// Reactions returns the sum of the likes, comments, shares and saves.
func (c Counts) Reactions() (n int64) {
	for _, count := range []*int64{c.Likes, c.Comments, c.Shares, c.Saves} {
		if count != nil {
			n += *count
		}
	}
	return n
}

// Engagement is the metric that relates the reactions to a post to how often it was shown.
const Engagement = "engagement"

// minShown is the number of views below which a post says nothing about engagement.
const minShown = 100

// Value returns the value of a metric, and reports whether it is known.
func (c Counts) Value(metric string) (float64, bool) {
	m := platform.Metrics(c)
	if metric != Engagement {
		count := *m.All()[slices.Index(platform.Names[:], metric)]
		if count == nil {
			return 0, false
		}
		return float64(*count), true
	}
	for _, shown := range []*int64{c.Views, c.Impressions, c.Reach} {
		if shown != nil {
			return float64(c.Reactions()) / float64(*shown), *shown >= minShown
		}
	}
	return 0, false
}

// reading is Metrics in the stored form: a list of the time in milliseconds and of the counts. It has a fourth of the
// length of an object, and items have many readings.
type reading Metrics

func (r reading) MarshalJSON() ([]byte, error) {
	m := platform.Metrics(r.Counts)
	at := r.ReadAt.UnixMilli()
	list := []*int64{&at}
	for _, count := range m.All() {
		list = append(list, *count)
	}
	for len(list) > 0 && list[len(list)-1] == nil {
		list = list[:len(list)-1]
	}
	return json.Marshal(list)
}

func (r *reading) UnmarshalJSON(data []byte) error {
	var list []*int64
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	var m platform.Metrics
	if len(list) == 0 || list[0] == nil || len(list) > 1+len(m.All()) {
		return fmt.Errorf("item: a reading of %d numbers", len(list))
	}
	for i, count := range list[1:] {
		*m.All()[i] = count
	}
	*r = reading{Counts(m), resource.Instant(time.UnixMilli(*list[0]))}
	return nil
}
