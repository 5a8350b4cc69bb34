package item

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/guard"
	"github.com/content-automation/api/pkg/craft/prompt"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
)

// The bounds of what a prompt says about the channel. They are in bytes, because the price of a text is fixed by them.
const (
	recalled               = 60 // items that are read
	maxExamples, maxRecent = 3, 12
	exampleSize            = 1200
	recentSize             = 200
)

// memory is what the prompt of a text says about the channel.
type memory struct {
	// platforms are the names of those that the item may be published to.
	platforms []string
	// examples are texts to learn from, and recent are the openings of the latest texts.
	examples, recent []string
	// bestHooks is the kind of first lines that has had the best figures, if enough are known.
	bestHooks prompt.HookKind
}

// longestMemory stands for a memory that is not read yet, in prices.
func longestMemory() *memory {
	m := &memory{bestHooks: "contradiction"} // the longest name that a kind of first lines has
	for range maxExamples {
		m.examples = append(m.examples, strings.Repeat("x", exampleSize))
	}
	for range maxRecent {
		m.recent = append(m.recent, strings.Repeat("x", recentSize))
	}
	return m
}

// recall reads the memory for an item from the newest items of its channel.
func recall(ctx context.Context, db *store.DB, o tenant.Owner, r *Record) (*memory, error) {
	m := &memory{}
	accounts, err := accountsOf(ctx, db, o, r)
	if err != nil {
		return nil, err
	}
	for _, it := range accounts {
		m.platforms = append(m.platforms, it.Filters["platform"])
	}
	slices.Sort(m.platforms)
	m.platforms = slices.Compact(m.platforms)
	page, err := List(ctx, db, store.Query{Index: store.ByParent, Partition: ParentPartition(o, r.Item.FactoryID),
		OneOf: map[string][]string{"state": WrittenStates()}, Limit: recalled})
	if err != nil {
		return nil, err
	}
	var all []*Record
	for _, other := range page.Records {
		if other.Item.ID != r.Item.ID && other.Item.ID != r.Item.origin() && other.Item.Caption != "" {
			all = append(all, other)
		}
	}
	if m.learn(r, all); len(m.examples) < maxExamples {
		return m, m.start(ctx, db, o, r, accounts)
	}
	return m, nil
}

// leastText is the size of the shortest earlier post that is an example, in bytes.
const leastText = 80

// start fills the examples with earlier posts of the accounts, as long as the channel has too few measured texts of its
// own: those with the most reactions. They are in the language of the channel, so that an item in another has none.
func (m *memory) start(ctx context.Context, db *store.DB, o tenant.Owner, r *Record, accounts []store.Item) error {
	if len(accounts) == 0 {
		return nil
	}
	found, err := db.Lookup(ctx, factoryrecord.Key(r.Item.FactoryID))
	if err != nil {
		return err
	}
	var f struct {
		Language string `json:"language"`
	}
	if found.Kind == "" || found.Decode(&f) != nil || !sameLanguage(f.Language, r.Item.Language) {
		return nil
	}
	var ids []string
	for _, it := range accounts {
		if it.Kind != "" {
			ids = append(ids, it.PK)
		}
	}
	now := r.Item.CreatedAt.Time
	known, err := social.Past(ctx, db, o, now.Add(-social.PastSince), now, ids...)
	if err != nil {
		return err
	}
	past := slices.Concat(slices.Collect(maps.Values(known))...)
	reactions := func(p platform.PastPost) int64 { return Counts(p.Metrics).Reactions() }
	slices.SortFunc(past, func(a, b platform.PastPost) int {
		return cmp.Or(cmp.Compare(reactions(b), reactions(a)), b.At.Compare(a.At), cmp.Compare(a.ID, b.ID))
	})
	for _, p := range past {
		if len(m.examples) < maxExamples && len(p.Text) >= leastText {
			m.examples = append(m.examples, clipBytes(p.Text, exampleSize))
		}
	}
	return nil
}

// learn chooses the examples and the openings among items of the channel, the newest first.
func (m *memory) learn(r *Record, all []*Record) {
	m.bestHooks = bestHook(all)
	var good []*Record
	for _, other := range all {
		if len(m.recent) < maxRecent {
			opening, _, _ := strings.Cut(string(other.Item.Caption), "\n")
			m.recent = append(m.recent, clipBytes(string(other.Item.Title)+": "+opening, recentSize))
		}
		if _, measured := other.Item.Engagement(); sameLanguage(other.Item.Language, r.Item.Language) &&
			(measured || other.Edited()) {
			good = append(good, other)
		}
	}
	slices.SortStableFunc(good, func(a, b *Record) int {
		x, measured := a.Item.Engagement()
		y, other := b.Item.Engagement()
		if measured != other {
			return map[bool]int{true: -1, false: 1}[measured]
		}
		return cmp.Compare(y, x)
	})
	for _, other := range good[:min(len(good), maxExamples)] {
		m.examples = append(m.examples, clipBytes(string(other.Item.Caption), exampleSize))
	}
}

// The fewest posts of a kind of first lines, and the fewest kinds, of which one can be the best.
const leastOfKind, leastKinds = 5, 2

// bestHook returns the kind of first lines whose posts have the highest median of Engagement, or "" if too few posts
// are measured.
func bestHook(all []*Record) (best prompt.HookKind) {
	rates := map[string][]float64{}
	for _, r := range all {
		if rate, ok := r.Item.Engagement(); ok && r.Item.HookKind != "" {
			rates[string(r.Item.HookKind)] = append(rates[string(r.Item.HookKind)], rate)
		}
	}
	maps.DeleteFunc(rates, func(_ string, of []float64) bool { return len(of) < leastOfKind })
	if len(rates) < leastKinds {
		return ""
	}
	most := -1.0
	for _, kind := range slices.Sorted(maps.Keys(rates)) {
		slices.Sort(rates[kind])
		if median := rates[kind][len(rates[kind])/2]; median > most {
			best, most = prompt.HookKind(kind), median
		}
	}
	return best
}

// Edited reports whether a person has changed its caption after it was generated.
func (r *Record) Edited() bool { return r.Draft != "" && r.Draft != string(r.Item.Caption) }

// The views below which a rate says nothing.
const leastViews = 50

// Engagement returns the reactions to the posts of the item for each view, and false if too few views are known.
// Comments, shares and saves take readers more trouble than likes, and count more.
func (r *Item) Engagement() (rate float64, ok bool) {
	var views, reactions int64
	for _, p := range r.Publications {
		m := p.Metrics
		if m == nil || m.Views == nil {
			continue
		}
		views += *m.Views
		for n, weight := range map[*int64]int64{m.Likes: 1, m.Comments: 3, m.Shares: 4, m.Saves: 4} {
			if n != nil {
				reactions += weight * *n
			}
		}
	}
	if views < leastViews {
		return 0, false
	}
	return float64(reactions) / float64(views), true
}

// accountsOf reads the social accounts that an item may be published to: its own, and those of its factory.
func accountsOf(ctx context.Context, db *store.DB, o tenant.Owner, r *Record) ([]store.Item, error) {
	items, err := db.GetAll(ctx, append(store.IDKeys(r.Item.SocialAccountIDs), factoryrecord.Key(r.Item.FactoryID))...)
	if err != nil {
		return nil, err
	}
	accounts := items[:len(r.Item.SocialAccountIDs)]
	if factory := items[len(accounts)]; factoryrecord.Usable(factory, o) {
		ids, err := factoryrecord.Accounts(&factory)
		if err != nil {
			return nil, err
		}
		others, err := db.GetAll(ctx, store.IDKeys(ids)...)
		if err != nil {
			return nil, err
		}
		accounts = append(slices.Clone(accounts), others...)
	}
	return slices.DeleteFunc(accounts, func(it store.Item) bool { return it.Owner != o }), nil
}

// The items of the table that stand for the channel's texts: a signature of each, by the id of its item and the number
// of the attempt. The transaction that makes an item generated writes its signature. Each is an item of its own, so
// that the items of a plan that end at the same time do not wait for each other.
const (
	textKind = "content_text"
	// keepText is the time for which a signature is kept: a text that is older may be repeated.
	keepText = 365 * 24 * time.Hour
)

type textSignature struct {
	Signature guard.Signature `json:"signature"`
}

func textsPartition(factoryID string) string { return "content_texts#" + factoryID }

// pastTexts returns the signatures of the channel's latest texts, without those of some items.
func pastTexts(ctx context.Context, db *store.DB, factoryID string, without ...string) (all []guard.Past, err error) {
	page, err := db.List(ctx,
		store.Query{Index: store.Table, Partition: textsPartition(factoryID), Limit: guard.MaxPast})
	if err != nil {
		return nil, err
	}
	for _, it := range page.Items {
		var s textSignature
		itemID, _, _ := strings.Cut(it.SK, "#")
		if slices.Contains(without, itemID) {
			continue
		}
		if err := it.Decode(&s); err != nil {
			return nil, err
		}
		all = append(all, guard.Past{ID: itemID, Signature: s.Signature})
	}
	return all, nil
}

// usedScenes returns the numbers of the scenes that other short videos of the same item have in the same language,
// among the newest items of the factory.
func usedScenes(ctx context.Context, db *store.DB, o tenant.Owner, r *Record) (used []int, err error) {
	page, err := db.List(ctx, store.Query{Index: store.ByParent, Partition: ParentPartition(o, r.Item.FactoryID),
		OneOf: map[string][]string{"state": WrittenStates(), "kind": {string(Video), string(Story)}}, Limit: recalled})
	if err != nil {
		return nil, err
	}
	for _, it := range page.Items {
		other, err := Decode(&it)
		if err != nil {
			return nil, err
		}
		if other.Item.ID != r.Item.ID && other.Item.origin() == r.Item.origin() &&
			sameLanguage(other.Item.Language, r.Item.Language) {
			used = append(used, other.Item.FromParts...)
		}
	}
	slices.Sort(used)
	return slices.Compact(used), nil
}
