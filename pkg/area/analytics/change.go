package analytics

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue"
)

// The metrics, by their indexes in Amounts. The numbers are stored, so new metrics go to the end.
const (
	Made = iota
	Failed
	Published
	Spend
	Views
	Likes
	Comments
	Shares
	Saves
	Impressions
	Reach
	WatchTime
	Clicks
	metrics
)

// RollupAmounts are the sums of all metrics.
type RollupAmounts [metrics]int64

// Line is an event of a subject at a time.
type Line struct {
	At time.Time `json:"at"`
	// Kind is the kind of the content, or empty for a line without content. Platform is empty
	// for a line without a platform.
	Kind     string        `json:"kind"`
	Platform string        `json:"platform,omitempty"`
	Amounts  RollupAmounts `json:"amounts"`
}

// change is the whole contribution of a subject to the sums of its factory, as of one version of
// the subject. It is the body of a message.
type change struct {
	tenant.Owner
	Factory string    `json:"factory"`
	Subject string    `json:"subject"`
	Version int64     `json:"version"`
	Updated time.Time `json:"updated"`
	Lines   []Line    `json:"lines"`
}

// Source is a kind of items that contribute to the sums. A subject that has contributed once may
// change its lines, but always has at least one.
type Source struct {
	Kind string
	// States are the states in which an item may have a new contribution. The stream's filter
	// and the relay drop all other items.
	States []string
	read   func(store.Item) (change, error)
}

// Sources lists all sources.
var Sources = []Source{
	{item.ItemKind, []string{string(item.Generated), string(item.Published), string(item.Failed),
		string(item.Canceled)}, ofContent},
	{item.EndKind, []string{item.StateEnded}, ofContent},
	{item.PublicationKind, []string{item.PublicationPublished, item.PublicationDeleted}, ofPublication},
	{training.ItemKind, []string{string(training.Completed)}, ofTraining},
}

// Passes reports whether the stream's filter passes a change of an item.
func Passes(kind, state string) bool {
	return slices.ContainsFunc(Sources,
		func(s Source) bool { return s.Kind == kind && slices.Contains(s.States, state) })
}

// StateFilter returns the filter of an item that stores its state.
const StateFilter = "state"

// Message returns the message of an item that was written. It returns false if the item contributes
// nothing. The counted contribution of a subject stays after the subject is deleted.
func Message(it store.Item) (m queue.Message, ok bool, err error) {
	of := slices.IndexFunc(Sources, func(s Source) bool { return s.Kind == it.Kind })
	if of < 0 {
		return m, false, nil
	}
	c, err := Sources[of].read(it)
	if err != nil || len(c.Lines) == 0 {
		return m, false, err
	}
	body, err := json.Marshal(c)
	return queue.Message{Body: string(body), Group: string(it.Account)}, err == nil, err
}

// ofContent returns the contribution of a content item.
func ofContent(it store.Item) (change, error) {
	var r struct {
		Item struct {
			ID        string
			FactoryID string `json:"factory_id"`
			Kind      string
			Version   int64
			UpdatedAt time.Time `json:"updated_at"`
		}
		History []item.Past
	}
	if err := it.Decode(&r); err != nil {
		return change{}, err
	}
	of := r.Item
	c := change{Owner: it.Owner, Factory: of.FactoryID, Subject: of.ID, Version: of.Version, Updated: of.UpdatedAt}
	for _, p := range r.History {
		c.Lines = append(c.Lines, Line{At: p.At.Time, Kind: of.Kind, Amounts: RollupAmounts{Made: p.Made,
			Failed:    p.Failed,
			Published: p.Published, Spend: p.Credits}})
	}
	return c, nil
}

// ofPublication returns the contribution of a publication.
func ofPublication(it store.Item) (change, error) {
	p, err := item.DecodeRow(&it)
	return ofPost(it.Owner, p), err
}

// ofPost returns the contribution of a post to the day on which it was published: nothing if it was deleted since.
func ofPost(o tenant.Owner, p item.Row) change {
	if p.PublishedAt == nil {
		return change{}
	}
	l := Line{At: p.PublishedAt.Time, Kind: string(p.ContentKind), Platform: p.Platform}
	if p.State == item.PublicationPublished {
		l.Amounts[Published] = 1
		if m := p.Metrics; m != nil {
			for metric, n := range map[int]*int64{Views: m.Views, Likes: m.Likes, Comments: m.Comments,
				Shares: m.Shares, Saves: m.Saves, Impressions: m.Impressions, Reach: m.Reach, WatchTime: m.WatchTime,
				Clicks: m.Clicks} {
				if n != nil {
					l.Amounts[metric] = *n
				}
			}
		}
	}
	return change{Owner: o, Factory: p.FactoryID, Subject: p.ID, Version: p.Version, Updated: p.UpdatedAt.Time,
		Lines: []Line{l}}
}

// ofTraining returns the contribution of a training, which is its cost.
func ofTraining(it store.Item) (change, error) {
	r, err := training.Decode(&it)
	if err != nil {
		return change{}, err
	}
	c := change{Owner: it.Owner, Factory: r.FactoryID, Subject: r.ID, Version: r.Version, Updated: r.UpdatedAt.Time}
	if r.State == training.Completed && r.CostCredits > 0 {
		c.Lines = []Line{{At: r.UpdatedAt.Time, Amounts: RollupAmounts{Spend: r.CostCredits}}}
	}
	return c, nil
}

// sameLines reports whether two lists of lines are the same.
func sameLines(a, b []Line) bool {
	return slices.EqualFunc(a, b, func(a, b Line) bool {
		return a.At.Equal(b.At) && a.Kind == b.Kind && a.Platform == b.Platform && a.Amounts == b.Amounts
	})
}
