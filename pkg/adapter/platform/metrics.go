package platform

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
