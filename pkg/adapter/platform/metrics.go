package platform

import (
	"context"
	"time"
)

// Metrics are the counts of a post since it was published, or of an account on a day. A count that
// the platform does not have is nil.
type Metrics struct {
	Impressions *int64 `json:"impressions,omitempty"`
	Reach       *int64 `json:"reach,omitempty"`
	Views       *int64 `json:"views,omitempty"`
	WatchTime   *int64 `json:"watch_time_seconds,omitempty"`
	Likes       *int64 `json:"likes,omitempty"`
	Comments    *int64 `json:"comments,omitempty"`
	Shares      *int64 `json:"shares,omitempty"`
	Saves       *int64 `json:"saves,omitempty"`
	Clicks      *int64 `json:"clicks,omitempty"`
}

// Names are the names of the members of Metrics, in their order.
var Names = [...]string{"impressions", "reach", "views", "watch_time_seconds", "likes", "comments", "shares", "saves",
	"clicks"}

// All returns pointers to the members, in the order of Names.
func (m *Metrics) All() [len(Names)]**int64 {
	return [...]**int64{&m.Impressions, &m.Reach, &m.Views, &m.WatchTime, &m.Likes, &m.Comments, &m.Shares, &m.Saves,
		&m.Clicks}
}

// Named returns the names of the counts that are known.
func (m Metrics) Named() (names []string) {
	for i, count := range m.All() {
		if *count != nil {
			names = append(names, Names[i])
		}
	}
	return names
}

// Or returns the metrics with the counts of earlier ones in place of those that are not known.
func (m Metrics) Or(earlier Metrics) Metrics {
	before := earlier.All()
	for i, count := range m.All() {
		if *count == nil {
			*count = *before[i]
		}
	}
	return m
}

// Reads bounds the readings of the metrics of posts of all accounts of the operator's application.
// Readings beyond the bounds are left out: the next one follows at its time.
type Reads struct {
	// Max is how many readings the platform takes on a day, or 0 if the bound is that of Price.
	Max int
	// Price is what a reading uses of Capabilities.Budget, and Part the part of the budget that
	// readings may use: 4 is a fourth. Both are 0 if readings use nothing of it.
	Price, Part int
}

// AccountFigures describes the figures of an account.
type AccountFigures struct {
	// Names are the names of the members of Day that the platform has.
	Names []string
	// History reports whether the platform tells earlier days. Otherwise, the figures are those of
	// the moment, and are read once a day.
	History bool
	// Price is what a reading uses of Capabilities.Budget instead of Reads.Price, or 0.
	Price int
}

// Day has the figures of an account on a day, in UTC. A figure that the platform does not have is nil.
type Day struct {
	Date time.Time `json:"date"`
	// Followers is how many followers the account has at the end of the day, or when it is read.
	Followers *int64 `json:"followers,omitempty"`
	// Gained and Lost are the followers who came and went on the day.
	Gained *int64 `json:"followers_gained,omitempty"`
	Lost   *int64 `json:"followers_lost,omitempty"`
	// Posts is how many posts the account has.
	Posts *int64 `json:"posts,omitempty"`
	// Metrics count what happened on the day to all posts of the account.
	Metrics
}

// Or returns the day with the figures of an earlier reading in place of those that are not known.
func (d Day) Or(earlier Day) Day {
	for _, f := range []struct{ now, before **int64 }{{&d.Followers, &earlier.Followers}, {&d.Gained, &earlier.Gained},
		{&d.Lost, &earlier.Lost}, {&d.Posts, &earlier.Posts}} {
		if *f.now == nil {
			*f.now = *f.before
		}
	}
	d.Metrics = d.Metrics.Or(earlier.Metrics)
	return d
}

// Named returns the names of the figures that are known.
func (d Day) Named() (names []string) {
	for _, f := range []struct {
		name  string
		value *int64
	}{{"followers", d.Followers}, {"followers_gained", d.Gained}, {"followers_lost", d.Lost}, {"posts", d.Posts}} {
		if f.value != nil {
			names = append(names, f.name)
		}
	}
	return append(names, d.Metrics.Named()...)
}

// AccountReader is a platform that tells figures of accounts. Its Capabilities.Account is set.
type AccountReader interface {
	// Days reads the figures of an account from a day to the present one, in order. Days without figures may be
	// left out. A platform without a history returns the present day alone. The error is of any kind except
	// Unknown and Restart.
	Days(ctx context.Context, a Account, from time.Time) ([]Day, error)
}

// Midnight returns the beginning of the day of a time in UTC.
func Midnight(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
