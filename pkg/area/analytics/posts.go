package analytics

import (
	"context"
	"math"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/statistics"
	"github.com/content-automation/api/pkg/base/tenant"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

const (
	oneDay = 24 * time.Hour
	// planned is the longest time between the creation of an item and its publication that is looked for.
	planned = 120 * oneDay
	// readFor bounds the time for which items are read. Its function has 15 seconds.
	readFor = 8 * time.Second
)

// post is a published post with its figures.
type post struct {
	id, platform string
	kind         platform.Kind
	at           time.Time
	counts       item.Counts
}

// value returns the value of a metric of the post, and reports whether it is known.
func (p post) value(metric string) (float64, bool) { return p.counts.Value(metric) }

// posts collects posts of a period, to which bounds belong.
type posts struct {
	from, to time.Time // the end is excluded
	now      time.Time
	mode     tenant.Mode
	takes    func(item.Publication) bool
	all      []post
	// past is the number of simulated posts, imported that of posts that the service has not published, and complete
	// reports whether all items were read. Own are the ids at their platforms of posts that it has.
	past, imported int
	complete       bool
	own            map[string]bool
}

func (c *posts) within(at time.Time) bool { return !at.Before(c.from) && at.Before(c.to) }

// add adds the posts of an item. Posts that are deleted at their platform still count.
func (c *posts) add(r *item.Record) {
	for i := range r.Item.Publications {
		pub := &r.Item.Publications[i]
		if !pub.Taken() || pub.PublishedAt == nil || !c.within(pub.PublishedAt.Time) {
			continue
		}
		if pub.PlatformPostID != nil {
			if c.own == nil {
				c.own = map[string]bool{}
			}
			c.own[pub.Platform+" "+*pub.PlatformPostID] = true
		}
		if c.takes != nil && !c.takes(*pub) {
			continue
		}
		// The clock of a sandbox moves without the times of its posts.
		if c.mode == tenant.Live && c.now.Sub(pub.PublishedAt.Time) < item.Settled {
			continue
		}
		if m := pub.SettledMetrics(); m != nil {
			c.all = append(c.all, post{pub.ID, pub.Platform, platform.Kind(r.Item.Kind), pub.PublishedAt.Time,
				m.Counts})
		}
	}
}

// read adds the posts of the items of a list, the latest first. It ends early if they are too many for the time.
func (s *Service) read(ctx context.Context, c *posts, q store.Query) error {
	q.Limit = 100
	for s.now().Sub(c.now) < readFor {
		page, err := item.List(ctx, s.db, q)
		if err != nil {
			return err
		}
		for _, r := range page.Records {
			c.add(r)
		}
		if q.After = page.Next; q.After == nil {
			c.complete = true
			break
		}
	}
	return nil
}

// ofFactory returns the posts of a factory.
func (s *Service) ofFactory(ctx context.Context, factory store.Item, from, to time.Time) (*posts, error) {
	c := &posts{from: from, to: to, now: s.now(), mode: factory.Owner.Mode}
	err := s.read(ctx, c, store.Query{
		Index: store.ByParent, Partition: item.ParentPartition(factory.Owner, factory.PK),
		From: id.First(id.ContentItem, from.Add(-planned)), To: id.First(id.ContentItem, to.Add(time.Millisecond)),
	})
	if err != nil {
		return c, err
	}
	accounts, err := s.accountsOf(ctx, factory)
	if err != nil {
		return c, err
	}
	return c, s.earlier(ctx, c, factory.Owner, accounts...)
}

// ofAccount returns the posts on a social account.
func (s *Service) ofAccount(ctx context.Context, it store.Item, a social.Record, from, to time.Time) (*posts, error) {
	c := &posts{from: from, to: to, now: s.now(), mode: it.Owner.Mode,
		takes: func(pub item.Publication) bool { return pub.SocialAccountID == a.ID }}
	err := s.read(ctx, c, store.Query{Index: store.ByDue, Partition: item.CalendarPartition(it.Owner),
		From: resource.SortableTime(from), To: resource.SortableTime(to)})
	if err != nil {
		return c, err
	}
	return c, s.earlier(ctx, c, it.Owner, a)
}

// earlier adds the imported posts of accounts. Accounts of a sandbox have simulated ones until their import.
func (s *Service) earlier(ctx context.Context, c *posts, o tenant.Owner, accounts ...social.Record) error {
	var ids []string
	for _, a := range accounts {
		ids = append(ids, a.ID)
	}
	known, err := social.Past(ctx, s.db, o, c.from, c.to, ids...)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		all := known[a.ID]
		if len(all) == 0 && c.mode == tenant.Test {
			c.simulate(a)
		}
		for _, p := range all {
			if c.within(p.At) && !c.own[a.Platform+" "+p.ID] {
				c.all = append(c.all, post{"", a.Platform, p.Kind, p.At, item.Counts(p.Metrics)})
				if c.imported++; c.mode == tenant.Test {
					c.past++
				}
			}
		}
	}
	return nil
}

// simulate adds the earlier posts of an account of the sandbox, and returns their number.
func (c *posts) simulate(a social.Record) {
	adapter, ok := registry.Sandbox(a.Platform, func() time.Time { return c.now })
	if !ok {
		return
	}
	simulated, ok := adapter.(*registry.SandboxPlatform)
	if !ok || a.PlatformID == "" {
		return
	}
	for _, p := range simulated.Earlier(a.PlatformID, a.CreatedAt.Time) {
		if c.within(p.At) {
			c.all = append(c.all, post{"", a.Platform, p.Kind, p.At, item.Counts(p.Metrics)})
			c.past++
		}
	}
}

// accountsOf reads the social accounts of a factory.
func (s *Service) accountsOf(ctx context.Context, factory store.Item) (all []social.Record, err error) {
	ids, err := factoryrecord.Accounts(&factory)
	if err != nil {
		return nil, err
	}
	items, err := s.db.GetAll(ctx, store.IDKeys(ids)...)
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		if it.Kind != social.Kind || !it.Owner.Same(factory.Owner) {
			continue
		}
		a, err := social.Decode(&it)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// sample is the posts whose value of a metric is known, with the value in relation to the median of their group.
type sample struct {
	posts    []post
	values   []float64
	relative []float64
}

// sampleOf returns the sample of posts. The group of a post is its platform, because platforms differ in what they
// count, unless platforms are compared.
func sampleOf(all []post, metric string, platforms bool) (s sample) {
	var groups []string
	for _, p := range all {
		if v, ok := p.value(metric); ok {
			s.posts, s.values = append(s.posts, p), append(s.values, v)
			if platforms {
				p.platform = ""
			}
			groups = append(groups, p.platform)
		}
	}
	relative := statistics.Relative(s.values, groups)
	kept := sample{}
	for i, r := range relative {
		if !math.IsNaN(r) { // more than half of the posts of the group have 0
			kept.posts, kept.values = append(kept.posts, s.posts[i]), append(kept.values, s.values[i])
			kept.relative = append(kept.relative, r)
		}
	}
	return kept
}

// rounded returns a number with four digits after the point.
func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }
