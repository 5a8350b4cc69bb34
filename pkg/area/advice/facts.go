package advice

import (
	"slices"
	"time"
)

// Window is the age of the oldest items that a diagnosis reads, and MaxItems the number of
// items that it reads at most: the newest.
const (
	Window   = 90 * 24 * time.Hour
	MaxItems = 1000
)

// The states of items that facts are about.
const (
	itemGenerated  = "generated"
	itemScheduled  = "scheduled"
	itemPublishing = "publishing"
	itemPublished  = "published"
	itemFailed     = "failed"
	itemCanceled   = "canceled"
)

// Facts are the data of a factory that a diagnosis uses.
type Facts struct {
	Now     time.Time
	Factory Factory
	// Items are the factory's newest, of the Window before Now.
	Items []Item
	// Posts are the published posts, with the figures that the platforms have reported.
	Posts []Post
}

// Factory are the settings of a factory.
type Factory struct {
	CreatedAt    time.Time
	Active       bool
	Description  string
	Audience     string
	Tone         string
	Topics       []string
	ContentTypes []string
	// Zone is the time zone of the schedule, and Times the number of its times a day, or 0 if there is no schedule.
	Zone     *time.Location
	Times    int
	Accounts []Account
}

// Account is a social account of a factory.
type Account struct {
	ID       string
	Platform string // empty: unknown
	Handle   string // empty: unknown
	// Lost reports that nothing can be published to it until its owner connects it again.
	Lost bool
}

// Item is a content item. Times that it has not reached are zero.
type Item struct {
	Kind      string
	State     string
	Failure   string // code; empty if it has not failed
	Caption   string
	Hashtags  []string
	Accounts  []string // ids of the social accounts that it goes to
	CreatedAt time.Time
	MadeAt    time.Time
	PublishAt time.Time
	// Publications are those that have ended.
	Publications []Publication
}

// Publication is the end of a publication.
type Publication struct {
	At      time.Time
	Failure string // code; empty if it was published
}

// made reports whether the item has its content.
func (i Item) made() bool {
	return slices.Contains([]string{itemGenerated, itemScheduled, itemPublishing, itemPublished}, i.State)
}

// Post is an item on a platform, with its figures.
type Post struct {
	Platform    string
	Kind        string
	Topics      []string // topics of the factory that the finding names
	PublishedAt time.Time
	Views       int
	Reactions   int // likes, comments, shares and saves
}

// Find returns the findings from the facts, the most severe first.
func Find(f Facts) []Finding {
	return sorted(slices.Concat(cadence(f), failures(f), publications(f), engagement(f),
		accounts(f), captions(f), settings(f)))
}

// made returns when items were made, oldest first.
func (f Facts) made() (times []time.Time) {
	for _, it := range f.Items {
		if it.made() && !it.MadeAt.IsZero() {
			times = append(times, it.MadeAt)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	return times
}

// found makes a finding. Pairs are names and numbers of the evidence.
func found(code Code, severity Severity, message string, pairs ...any) Finding {
	f := Finding{Code: code, Severity: severity, Message: message, Evidence: map[string]float64{}}
	for i := 0; i < len(pairs); i += 2 {
		switch n := pairs[i+1].(type) {
		case int:
			f.Evidence[pairs[i].(string)] = float64(n)
		case float64:
			f.Evidence[pairs[i].(string)] = round(n)
		}
	}
	return f
}

// about sets the subject of a finding, and the test that it rests on, if any.
func (f Finding) about(subject string, test Test) Finding {
	if subject != "" {
		f.Subject = &subject
	}
	if test != "" {
		f.Test = &test
	}
	return f
}
