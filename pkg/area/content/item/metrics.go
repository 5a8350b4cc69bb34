package item

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
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

// ReadingsKind is the kind of the item with the metrics of a publication over time. With them, the row of a
// publication would be up to ten times as long, and each of its writes would cost ten times as much.
const ReadingsKind = "publication_readings"

// ReadingsKey is the key of that item.
func ReadingsKey(publicationID string) store.Key { return store.IDKey(publicationID) }

// maxReadings bounds the readings of the metrics of a publication that are kept. The schedule has 92.
const maxReadings = 120

// ComparisonAge is the age at which the metrics of posts are compared: a younger post has had less time.
const ComparisonAge = 24 * time.Hour

// readings is the document of an item of ReadingsKind.
type readings struct {
	Readings []reading `json:"readings"`
}

// History returns the metrics of a publication over time, the earliest first, from the item at its ReadingsKey.
func History(it store.Item) ([]Metrics, error) {
	all := []Metrics{}
	if it.Kind != ReadingsKind {
		return all, nil
	}
	var doc readings
	if err := it.Decode(&doc); err != nil {
		return nil, err
	}
	for _, r := range doc.Readings {
		all = append(all, Metrics(r))
	}
	return all, nil
}

// NoteMetrics adds to the transaction that the metrics of a publication were read. It is the item at its ReadingsKey.
func NoteMetrics(tx *store.Tx, owner tenant.Owner, pub *Publication, it store.Item) error {
	var doc readings
	if it.Kind == ReadingsKind {
		if err := it.Decode(&doc); err != nil {
			return err
		}
	}
	now := reading(*pub.Metrics)
	doc.Readings = append(doc.Readings, now)
	doc.Readings = doc.Readings[max(0, len(doc.Readings)-maxReadings):]
	if pub.Posting.ComparedMetrics == nil && now.ReadAt.Sub(pub.PublishedAt.Time) >= ComparisonAge {
		pub.Posting.ComparedMetrics = &now
	}
	create := it.Kind != ReadingsKind
	if create {
		it = store.Item{Key: ReadingsKey(pub.ID), Kind: ReadingsKind, Owner: owner}
	}
	if err := it.Encode(doc); err != nil {
		return err
	}
	if create {
		tx.Create(it, nil)
	} else {
		tx.Replace(it)
	}
	return nil
}

// SettledMetrics returns the metrics of the publication at its first reading at or after the age Settled, or its last
// metrics if there is no such reading.
func (p *Publication) SettledMetrics() *Metrics {
	if at := p.Posting.ComparedMetrics; at != nil {
		m := Metrics(*at)
		return &m
	}
	return p.Metrics
}

// Performance is a text of a channel with the figures of its posts.
type Performance struct {
	ID      string `json:"content_item_id"`
	Kind    Kind   `json:"kind"`
	Title   string `json:"title"`
	Opening string `json:"caption"`
	Pillar  string `json:"pillar,omitempty"`
	// Hook is the kind of its first line.
	Hook string `json:"hook_kind,omitempty"`
	// Views and the counts of reactions are those of all its posts together.
	Views    int64 `json:"views"`
	Likes    int64 `json:"likes"`
	Comments int64 `json:"comments"`
	Shares   int64 `json:"shares"`
	Saves    int64 `json:"saves"`
	// Rate is what Engagement returns, in thousandths.
	Rate float64 `json:"reactions_per_1000_views"`
}

// maxQuoted is the number of characters of a caption that a performance quotes.
const maxQuoted = 300

// Extremes returns the n texts with the best and with the worst figures, each of them best first. No text is in both.
func Extremes(all []*Record, n int) (best, worst []Performance) {
	measured := withFigures(all)
	half := min(n, (len(measured)+1)/2)
	for _, r := range measured[:half] {
		best = append(best, r.performance())
	}
	for _, r := range measured[max(len(measured)-n, half):] {
		worst = append(worst, r.performance())
	}
	return best, worst
}

// withFigures returns the items whose figures are known, the best first.
func withFigures(all []*Record) []*Record {
	known := slices.DeleteFunc(slices.Clone(all), func(r *Record) bool {
		_, ok := r.Item.Engagement()
		return !ok
	})
	slices.SortStableFunc(known, func(a, b *Record) int {
		x, _ := a.Item.Engagement()
		y, _ := b.Item.Engagement()
		return cmp.Compare(y, x)
	})
	return known
}

// BestHook returns the kind of first lines whose posts have the best figures, or nothing if too few are measured.
func BestHook(all []*Record) prompt.HookKind { return bestHook(all) }

// Lessons returns the items whose texts are worth learning from: edited by a person, in the best quarter by their
// figures, or published where the figures are unknown. The order stays.
func Lessons(all []*Record) []*Record {
	known := withFigures(all)
	best := map[string]bool{}
	for _, r := range known[:(len(known)+3)/4] {
		best[r.Item.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(r *Record) bool {
		_, measured := r.Item.Engagement()
		return !r.Edited() && !best[r.Item.ID] && (measured || r.Item.State != Published)
	})
}

func (r *Record) performance() Performance {
	p := Performance{ID: r.Item.ID, Kind: r.Item.Kind, Title: string(r.Item.Title),
		Opening: provider.Clip(string(r.Item.Caption),
			maxQuoted),
		Hook: string(r.Item.HookKind)}
	if r.Slot != nil {
		p.Pillar = r.Slot.Pillar
	}
	for _, publication := range r.Item.Publications {
		m := publication.Metrics
		if m == nil {
			continue
		}
		for n, sum := range map[*int64]*int64{m.Views: &p.Views, m.Likes: &p.Likes, m.Comments: &p.Comments,
			m.Shares: &p.Shares, m.Saves: &p.Saves} {
			if n != nil {
				*sum += *n
			}
		}
	}
	rate, _ := r.Item.Engagement()
	p.Rate = float64(int(rate*1e6)) / 1e3
	return p
}

// ReadComments is the kind of the task that reads the comments on a publication. The engagement area has its handler.
const ReadComments task.Kind = "comments.read"

// Reading is the payload of a ReadComments task.
type Reading struct {
	Publication string    `json:"publication"`
	Account     string    `json:"account"`
	At          time.Time `json:"at"` // of the publication
}

// Comments are read every often in the first hour of a post, then hourly for a day, then daily for readFor.
const (
	often   = 5 * time.Minute
	readFor = 30 * 24 * time.Hour
	// rehearsed is the time of the first look with a test key.
	rehearsed = time.Second
)

// Next returns the time until the next look, and reports whether there is one.
func (p Reading) Next(now time.Time, c platform.Commenting) (time.Duration, bool) {
	age := now.Sub(p.At)
	for _, at := range c.ReadAt {
		if at > age {
			return at - age, true
		}
	}
	switch {
	case c.ReadAt != nil || age >= readFor:
		return 0, false
	case age < time.Hour:
		return often, true
	case age < 24*time.Hour:
		return task.Jitter(time.Hour), true
	}
	return task.Jitter(24 * time.Hour), true
}

// WatchComments adds to the transaction the task that reads the comments on a publication, if its platform shows them.
func (r *Record) WatchComments(tx *store.Tx, now time.Time, o tenant.Owner, pub *Publication,
	limits platform.Capabilities) error {
	if !limits.Comments.Reads || pub.PlatformPostID == nil || r.Item.Kind == Story {
		return nil
	}
	p := Reading{Publication: pub.ID, Account: pub.SocialAccountID, At: pub.PublishedAt.Time}
	wait, _ := p.Next(now, limits.Comments)
	if o.Mode == tenant.Test {
		wait = rehearsed
	}
	return task.Create(tx, now, task.Task{Message: ReadingOf(o, r.Item.ID, pub.ID), DueAt: now.Add(wait)}, p)
}

// ReadingOf returns the message of the task that reads the comments on a publication. A publication is published once.
func ReadingOf(o tenant.Owner, itemID, publicationID string) task.Message {
	return task.Message{ID: task.ID(ReadComments, publicationID, 1), Kind: ReadComments, Queue: topology.Publish,
		Subject: itemID, Owner: o}
}

// PostKind is the kind of the item at PostKey.
const PostKind = "platform_post"

// PostKey is the key of the item that names the publication of a post of a platform, so that webhooks of the platform
// find it.
func PostKey(platform, remoteAccount, postID string) store.Key {
	return store.IDKey("post#" + platform + "#" + remoteAccount + "#" + postID)
}

// PostDocument is the document of the item at PostKey.
type PostDocument struct {
	Item        string `json:"item"`
	Publication string `json:"publication"`
	Account     string `json:"account"` // of the service
}

// Entry returns the item at a key. It expires when the comments on the post are read no more.
func (a PostDocument) Entry(now time.Time, o tenant.Owner, key store.Key) (store.Item, error) {
	doc, err := json.Marshal(a)
	if err != nil {
		return store.Item{}, fmt.Errorf("item: %w", err)
	}
	return store.Item{Key: key, Kind: PostKind, Owner: o, Doc: doc, ExpireAt: now.Add(readFor)}, nil
}
