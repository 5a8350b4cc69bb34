// Package analytics shows how much content a factory has made and published, how much failed, the cost of the content
// and its reception, by day, kind and platform. Service.Register has the operations, and Keeper keeps the sums that
// they read.
package analytics

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/statistics"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// The bounds of a period, in days.
const (
	mostDays    = 366
	defaultDays = 30
)

// The dimensions of a series.
const (
	byDay      = "day"
	byKind     = "kind"
	byPlatform = "platform"
)

// Amounts are sums of all metrics.
type Amounts struct {
	// Successful attempts at content items. An item that was generated again counts again.
	Made int64 `json:"made"`
	// Failed attempts at content items.
	Failed int64 `json:"failed"`
	// Publications. An item on two platforms counts twice.
	Published int64 `json:"published"`
	// Credits charged for content items and trainings. Always 0 in the sandbox.
	CostCredits int64 `json:"cost_credits"`
	// Views of the publications.
	Views int64 `json:"views"`
	// Likes of the publications.
	Likes int64 `json:"likes"`
	// Comments on the publications.
	Comments int64 `json:"comments"`
	// Shares of the publications.
	Shares int64 `json:"shares"`
	// Saves of the publications.
	Saves int64 `json:"saves"`
	// Impressions of the publications. Null: none of their platforms has it.
	//
	// The others are nil if no platform has them.
	Impressions *int64 `json:"impressions"`
	// Sum of the reach of the publications. A person whom two of them reach counts twice. Null: none of their platforms
	// has it.
	Reach *int64 `json:"reach"`
	// Seconds for which the publications were watched. Null: none of their platforms has it.
	WatchTime *int64 `json:"watch_time_seconds"`
	// Clicks on the publications. Null: none of their platforms has it.
	Clicks *int64 `json:"clicks"`
}

// sum is the sums of a group, with the platforms of its publications.
type sum struct {
	RollupAmounts
	platforms map[string]bool
}

func (s *sum) add(a RollupAmounts, platform string) {
	for i := range a {
		s.RollupAmounts[i] += a[i]
	}
	if a[Published] > 0 && platform != "" {
		if s.platforms == nil {
			s.platforms = map[string]bool{}
		}
		s.platforms[platform] = true
	}
}

// known returns the sum of a metric, or nil if it is 0 because no platform of the group has the metric.
func (s *sum) known(metric int, name string) *int64 {
	n := s.RollupAmounts[metric]
	if n != 0 {
		return &n
	}
	for p := range s.platforms {
		if row, ok := registry.Find(p); ok && slices.Contains(row.Capabilities.Metrics, name) {
			return &n
		}
	}
	return nil
}

func amounts(s sum) Amounts {
	a := s.RollupAmounts
	return Amounts{
		Made: a[Made], Failed: a[Failed], Published: a[Published], CostCredits: a[Spend],
		Views: a[Views], Likes: a[Likes], Comments: a[Comments], Shares: a[Shares],
		Saves: a[Saves], Impressions: s.known(Impressions, "impressions"),
		Reach: s.known(Reach, "reach"), WatchTime: s.known(WatchTime, "watch_time_seconds"),
		Clicks: s.known(Clicks, "clicks"),
	}
}

// Row has the sums of one group.
type Row struct {
	// Day, in the time zone. Null where the series is not by day.
	Day *string `json:"day" format:"date"`
	// Kind of content. Null where the series is not by kind, and for what is of none, such as a training.
	Kind *string `json:"kind" enum:"post,video,carousel,story,music_clip"`
	// Platform. Null where the series is not by platform, and for what happens on none, such as generation.
	Platform *string `json:"platform"`
	Amounts
}

// Analytics are the sums of a period.
type Analytics struct {
	// Id of the factory.
	FactoryID string `json:"factory_id"`
	// First day.
	From string `json:"from" format:"date"`
	// Last day.
	To string `json:"to" format:"date"`
	// Time zone of the days (IANA).
	Timezone string `json:"timezone" example:"Europe/Berlin"`
	// What the series is by.
	GroupBy []string `json:"group_by" nullable:"false" enum:"day,kind,platform"`
	// Sums of the whole period.
	Totals Amounts `json:"totals"`
	// Comparison of two sets of publications. Null without compare.
	//
	// Comparison is nil unless the caller asks for one.
	Comparison *Comparison `json:"comparison"`
	// Sums by group, ordered by day, kind and platform. By day it has all days of the period, for each kind and
	// platform that has something in the period.
	Series []Row `json:"series" nullable:"false"`
}

// Service reads analytics.
type Service struct {
	db  *store.DB
	now func() time.Time
}

// NewService returns the service on the state table. It makes no call.
func NewService(db *store.DB, now func() time.Time) *Service { return &Service{db, now} }

func (s *Service) get(ctx context.Context, in *input) (out Analytics, err error) {
	asked, err := in.parse()
	if err != nil {
		return out, err
	}
	if err := in.ComparisonRequest.check(); err != nil {
		return out, err
	}
	if !id.Valid(id.Factory, in.ID) {
		return out, errs.Missing(factoryrecord.Kind, in.ID)
	}
	// The time zone, and with it the present day, is known after the factory is read.
	likely := asked.in(s.now().UTC())
	if days := likely.days(); days < 0 || days > mostDays+1 {
		return out, likely.check()
	}
	found, sums, err := resource.FindAll(ctx, s.db, id.Factory, []string{in.ID},
		DayKeys(in.ID, likely.from, likely.to)...)
	if err != nil {
		return out, err
	}
	it := found[in.ID]
	if !factoryrecord.Usable(it, auth.FromContext(ctx).Owner) {
		return out, errs.Missing(factoryrecord.Kind, in.ID)
	}
	zone := asked.zone
	if zone == nil {
		if zone, err = ZoneOf(it); err != nil {
			return out, err
		}
	}
	p := asked.in(s.now().In(zone))
	if err := p.check(); err != nil {
		return out, err
	}
	days, err := Days(ctx, s.db, in.ID, p.from, p.to, zone, sums)
	if err != nil {
		return out, err
	}
	total, series := group(days, p, in.GroupBy)
	compared, err := s.compare(ctx, in, it, zone, p)
	if err != nil {
		return out, err
	}
	return Analytics{
		Comparison: compared,
		FactoryID:  in.ID, From: p.from.Format(time.DateOnly), To: p.to.Format(time.DateOnly), Timezone: zone.String(),
		GroupBy: in.GroupBy,
		Totals:  amounts(total), Series: series,
	}, nil
}

// ByKind returns the analytics of a factory of the caller for the last 30 days, by kind of content.
func (s *Service) ByKind(ctx context.Context, factoryID string) (Analytics, error) {
	return s.get(ctx, &input{FactoryPath: factory.FactoryPath{ID: factoryID}, GroupBy: []string{byKind}})
}

// group adds up sums, and returns them in the order of the series.
func group(days map[Group]RollupAmounts, p period, by []string) (total sum, series []Row) {
	sums := map[Group]*sum{}
	for g, a := range days {
		on := g.Platform
		total.add(a, on)
		if !slices.Contains(by, byDay) {
			g.Day = ""
		}
		if !slices.Contains(by, byKind) {
			g.Kind = ""
		}
		if !slices.Contains(by, byPlatform) {
			g.Platform = ""
		}
		if sums[g] == nil {
			sums[g] = &sum{}
		}
		sums[g].add(a, on)
	}
	if slices.Contains(by, byDay) {
		fill(sums, p, len(by) == 1)
	}
	order := slices.SortedFunc(maps.Keys(sums), func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Platform, b.Platform))
	})
	series = make([]Row, len(order))
	for i, g := range order {
		series[i] = Row{resource.OrNil(g.Day), resource.OrNil(g.Kind), resource.OrNil(g.Platform), amounts(*sums[g])}
	}
	return total, series
}

// fill adds the days without data to each series. If only is true, the sums are one series, which
// exists even without data.
func fill(sums map[Group]*sum, p period, only bool) {
	lines := map[Group]bool{}
	if only {
		lines[Group{}] = true
	}
	for g := range sums {
		lines[Group{Kind: g.Kind, Platform: g.Platform}] = true
	}
	for day := p.from; !day.After(p.to); day = day.AddDate(0, 0, 1) {
		for g := range lines {
			g.Day = day.Format(time.DateOnly)
			if _, ok := sums[g]; !ok {
				sums[g] = &sum{}
			}
		}
	}
}

// AccountDay has the figures of a social account on a day.
type AccountDay struct {
	// Day, in UTC.
	Day string `json:"day" format:"date"`
	// Social account.
	SocialAccountID string `json:"social_account_id"`
	// Platform of the account.
	Platform string `json:"platform"`
	// Number of followers at the end of the day, or when they were read. Null: the platform does not have it.
	Followers *int64 `json:"followers"`
	// Followers who came on the day. Null: the platform does not have it.
	Gained *int64 `json:"followers_gained"`
	// Followers who went on the day. Null: the platform does not have it.
	Lost *int64 `json:"followers_lost"`
	// Number of posts of the account. Null: the platform does not have it.
	Posts *int64 `json:"posts"`
	// People who visited the page of the account on the day. Null: the platform does not have it.
	Visitors *int64 `json:"visitors"`
	item.Counts
}

type accountsInput struct {
	httpapi.SliceInput
	// Social account.
	AccountID string `query:"social_account_id" required:"true" example:"soc_01h455vb4pex5vsknk084sn02q"`
	// First day, as 2026-11-01. Absent: 29 days before the last.
	From string `query:"from"`
	// Last day, included, as 2026-11-30. Absent: today, in UTC.
	To string `query:"to"`
}

// accountDays lists the figures of an account by day.
func (s *Service) accountDays(ctx context.Context, in *accountsInput) (page httpapi.Page[AccountDay], err error) {
	from, first := day("from", in.From)
	to, last := day("to", in.To)
	if err := errs.All(first, last); err != nil {
		return page, err
	}
	p := query{from: from, to: to}.in(s.now().UTC())
	if err := p.check(); err != nil {
		return page, err
	}
	it, acct, months, err := s.account(ctx, in.AccountID, social.DaysKeys(in.AccountID, p.from, p.to)...)
	if err != nil {
		return page, err
	}
	days, err := social.Days(months, it.Owner, p.from, p.to)
	if err != nil {
		return page, err
	}
	all := make([]AccountDay, len(days))
	for i, d := range days {
		all[i] = show(acct, d)
	}
	return httpapi.Slice(ctx, all, map[string]string{"account": in.AccountID, "from": in.From, "to": in.To},
		in.SliceInput, func(d AccountDay) string { return d.Day })
}

func show(a social.Record, d platform.Day) AccountDay {
	return AccountDay{Day: d.Date.Format(time.DateOnly), SocialAccountID: a.ID, Platform: a.Platform,
		Followers: d.Followers, Gained: d.Gained, Lost: d.Lost, Posts: d.Posts, Visitors: d.Visitors,
		Counts: item.Counts(d.Metrics)}
}

// account reads a social account of the caller, and other items with it.
func (s *Service) account(ctx context.Context, accountID string, others ...store.Key) (it store.Item, r social.Record,
	beside []store.Item, err error) {
	it, beside, err = resource.FindWith(ctx, s.db, id.SocialAccount, social.Kind, accountID, others...)
	if err != nil {
		return it, r, nil, err
	}
	r, err = social.Decode(&it)
	return it, r, beside, err
}

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
	includes func(item.Publication) bool
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
		if c.includes != nil && !c.includes(*pub) {
			continue
		}
		// The clock of a sandbox moves without the times of its posts.
		if c.mode == tenant.Live && c.now.Sub(pub.PublishedAt.Time) < item.ComparisonAge {
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
		includes: func(pub item.Publication) bool { return pub.SocialAccountID == a.ID }}
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

// Group is the key of a sum: a day, such as 2026-11-22, and the kind and platform of content.
type Group struct{ Day, Kind, Platform string }

// margin is the greatest distance between the days of two time zones, plus one.
const margin = 3 * 24 * time.Hour

// DayKeys returns the keys of the items from which Days reads the sums, for days in any time zone.
// There is one item for each month.
func DayKeys(factory string, from, to time.Time) (keys []store.Key) {
	last := to.Add(margin)
	for m := firstOf(from.Add(-margin)); !m.After(last); m = m.AddDate(0, 1, 0) {
		keys = append(keys, store.Key{PK: partition(factory), SK: daySums + m.Format(month)})
	}
	return keys
}

func firstOf(day time.Time) time.Time {
	return time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// ZoneOf returns the time zone of a factory's item, which is that of its schedule, or UTC.
func ZoneOf(factory store.Item) (*time.Location, error) {
	_, zone, err := zoneOf(factory)
	return zone, err
}

// Days returns the sums of a range of days, both ends included, in a time zone. The argument read
// has the items of DayKeys, which suffice if the factory had that time zone. For a different zone,
// Days reads the items of quarters, which takes a further round trip for each megabyte.
func Days(ctx context.Context, db *store.DB, factory string, from, to time.Time, zone *time.Location,
	read []store.Item) (map[Group]RollupAmounts, error) {
	all := totals{}
	pure := true
	for _, it := range read {
		pure = pure && isPure(it, zone.String())
	}
	first, last := from.Format(time.DateOnly), to.Format(time.DateOnly)
	if pure {
		for _, it := range read {
			if it.Kind != Kind {
				continue
			}
			at, err := time.Parse(daySums+month, it.SK)
			if err != nil {
				return nil, err
			}
			day := func(n int) string { return at.AddDate(0, 0, n-1).Format(time.DateOnly) }
			if err := all.add(it, first, last, day); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	q := store.Query{
		Index: store.Table, Partition: partition(factory), OldestFirst: true, Limit: 1000,
		From: quarterSums + from.Add(-margin).Format(time.DateOnly),
		To:   quarterSums + to.Add(margin).Format(time.DateOnly),
	}
	err := db.Each(ctx, q, func(it store.Item) error {
		at, err := time.Parse(quarterSums+time.DateOnly, it.SK)
		if err != nil {
			return err
		}
		return all.add(it, first, last,
			func(n int) string { return at.Add(time.Duration(n) * quarter).In(zone).Format(time.DateOnly) })
	})
	return all, err
}

// totals maps groups to their sums.
type totals map[Group]RollupAmounts

// add adds the cells of an item; day returns the day of the first number in the name of a cell.
func (t totals) add(it store.Item, first, last string, day func(n int) string) error {
	for name, n := range it.Numbers {
		if n == 0 || strings.HasPrefix(name, zonePrefix) {
			continue
		}
		c, err := cellOf(name)
		if err != nil {
			return err
		}
		kind, platform, err := valuesOf(c)
		if err != nil {
			return err
		}
		g := Group{day(c.n), kind, platform}
		if g.Day < first || g.Day > last {
			continue
		}
		sum := t[g]
		sum[c.metric] += n
		t[g] = sum
	}
	return nil
}
