package diagnosis

import (
	"slices"
	"time"
)

// Window is how far back the items lie that a diagnosis reads, and MaxItems how many it
// reads at most: the newest.
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

// Facts are what a diagnosis knows of a factory.
type Facts struct {
	Now     time.Time
	Factory Factory
	// Items are the factory's newest, of the Window before Now.
	Items []Item
	// Posts are what was published, with the figures that the platforms have reported.
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
	// Zone is that of the schedule, and Times how often a day it publishes; 0: there is
	// no schedule.
	Zone     *time.Location
	Times    int
	Accounts []Account
}

// Account is a social account of a factory.
type Account struct {
	ID       string
	Platform string // empty: unknown
}

// Item is a content item. Times that it has not reached are zero.
type Item struct {
	Kind      string
	State     string
	Failure   string // code; empty: it has not failed
	Caption   string
	Hashtags  []string
	Accounts  []string // ids of the social accounts that it goes to
	CreatedAt time.Time
	MadeAt    time.Time
	PublishAt time.Time
}

// made reports whether the item has its content.
func (i Item) made() bool {
	return slices.Contains([]string{itemGenerated, itemScheduled, itemPublishing, itemPublished}, i.State)
}

// Post is an item on a platform, with its figures.
type Post struct {
	Platform    string
	Kind        string
	Topics      []string // those of the factory that it is about
	PublishedAt time.Time
	Views       int
	Reactions   int // likes, comments, shares and saves
}

// Find returns what the facts show, the most severe first.
func Find(f Facts) []Finding {
	return sorted(slices.Concat(cadence(f), failures(f), engagement(f), accounts(f), captions(f), settings(f)))
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

// about names what a finding is about, and the test that it rests on, if any.
func (f Finding) about(subject string, test Test) Finding {
	if subject != "" {
		f.Subject = &subject
	}
	if test != "" {
		f.Test = &test
	}
	return f
}
