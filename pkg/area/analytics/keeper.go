package analytics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // Lambda's runtime may lack the time zones.

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/tenant"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue"
)

// contribution is the document with the contribution of a subject so far.
type contribution struct {
	Version int64  `json:"version"`
	Zone    string `json:"zone"`
	Lines   []Line `json:"lines"`
}

// Keeper is the handler of the queue of changes that keeps the sums. It counts each version of a
// subject once, regardless of the order and the repeats of the messages, because it writes the sums
// together with the contribution and the version of the subject.
type Keeper struct{ db *store.DB }

// New returns the handler.
func New(db *store.DB) *Keeper { return &Keeper{db} }

// Count counts the changes of a batch of messages. It returns one error or nil for each message, in their order.
func (k *Keeper) Count(ctx context.Context, batch []events.SQSMessage) []error {
	failed := make([]error, len(batch))
	var order []string
	places, changes := map[string][]int{}, map[string][]change{}
	for i, m := range batch {
		var c change
		if err := json.Unmarshal([]byte(m.Body), &c); err != nil || c.Factory == "" || c.Subject == "" {
			failed[i] = errors.Join(errNoChange, err)
			continue
		}
		if places[c.Factory] == nil {
			order = append(order, c.Factory)
		}
		places[c.Factory] = append(places[c.Factory], i)
		changes[c.Factory] = append(changes[c.Factory], c)
	}
	for _, factory := range order {
		err := k.count(ctx, factory, rollupLatest(changes[factory]))
		for _, i := range places[factory] {
			failed[i] = err
		}
	}
	for i, err := range failed {
		if err != nil {
			slog.Error("change not counted", "message_id", batch[i].MessageId, "error", err)
		}
	}
	return failed
}

// errNoChange reports a message that the relay has not sent.
var errNoChange = errors.New("rollup: not a message of a change")

// rollupLatest returns the changes of the latest version of each subject.
func rollupLatest(changes []change) (all []change) {
	for _, c := range changes {
		i := slices.IndexFunc(all, func(known change) bool { return known.Subject == c.Subject })
		switch {
		case i < 0:
			all = append(all, c)
		case all[i].Version < c.Version:
			all[i] = c
		}
	}
	return all
}

const (
	// mostSubjects bounds the subjects that one transaction counts. A transaction with mostWrites takes no further
	// subject, because it may have 100 writes, and a subject of 16 lines changes up to 65 items.
	mostSubjects = 25
	mostWrites   = 30
	// mostNumbers bounds the numbers of one item in the same way. An update may have 4 KB, and
	// each number takes 10 bytes.
	mostNumbers = 120
	// maxTries bounds the attempts to read data that change concurrently.
	maxTries = 8
)

func (k *Keeper) count(ctx context.Context, factory string, changes []change) error {
	for tries := 0; len(changes) > 0; {
		n, err := k.countSome(ctx, factory, changes[:min(len(changes), mostSubjects)], false)
		switch {
		case err == nil:
			changes, tries = changes[n:], 0
		case errors.Is(err, store.ErrConflict) && tries < maxTries:
			tries++
		default:
			return err
		}
	}
	return nil
}

// countSome counts the first of the changes in one transaction, and returns how many it counted. If
// again is true, it recounts a version that was counted already.
func (k *Keeper) countSome(ctx context.Context, factory string, changes []change, again bool) (n int, err error) {
	keys := []store.Key{factoryrecord.Key(factory)}
	for _, c := range changes {
		keys = append(keys, store.Key{PK: partition(factory), SK: countedItem + c.Subject})
	}
	items, err := k.db.GetAll(ctx, keys...)
	if err != nil {
		return 0, err
	}
	if !isFactory(items[0]) {
		return len(changes), nil // the sandbox was emptied
	}
	name, zone, err := zoneOf(items[0])
	if err != nil {
		return 0, err
	}
	tx, all := &store.Tx{}, sums{}
	for i, c := range changes {
		if tx.Len()+len(all) > mostWrites || all.widest() > mostNumbers {
			break
		}
		n++
		it := items[i+1]
		if err := c.replace(tx, all, it, name, zone, again); err != nil {
			return 0, err
		}
	}
	all.write(tx, changes[0].Owner, factory)
	return n, k.db.Commit(ctx, tx)
}

// replace replaces the counted contribution of a subject by a change, unless the change is no
// newer. The item of the subject may not exist yet. It adds the difference to the sums.
func (c change) replace(tx *store.Tx, all sums, it store.Item, name string, zone *time.Location, again bool) error {
	var old contribution
	exists := it.Kind != ""
	if exists {
		if err := it.Decode(&old); err != nil {
			return err
		}
	} else {
		it = newItem(c.Owner, c.Factory, countedItem+c.Subject)
	}
	same := exists && sameLines(old.Lines, c.Lines) && old.Zone == name
	if old.Version > c.Version || old.Version == c.Version && (!again || same) {
		return nil
	}
	if err := old.countTo(all, -1); err != nil {
		return err
	}
	if err := all.count(c.Lines, name, zone, 1); err != nil {
		return err
	}
	if err := it.Encode(contribution{c.Version, name, c.Lines}); err != nil {
		return err
	}
	tx.Put(it)
	return nil
}

// countTo adds the counted contribution to sums, multiplied by times.
func (c contribution) countTo(all sums, times int64) error {
	if len(c.Lines) == 0 {
		return nil
	}
	zone, err := clock.Zone(c.Zone)
	if err != nil {
		return err
	}
	return all.count(c.Lines, c.Zone, zone, times)
}

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
	{item.EndKind, []string{item.EndedState}, ofContent},
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

// Kind is the kind of all items of this package. The items of a factory share a partition.
//
// An item of daySums has the sums of a month by day. The days are in the time zone that the factory
// had when they were counted, and the item has the number of lines of each zone. An item of
// quarterSums has the sums of a day (UTC) by quarter of an hour, which add up to the days of any
// zone. An item of countedItem has the contribution of a subject so far.
const Kind = "analytics"

// The prefixes of the sort keys.
const (
	daySums     = "day#"
	quarterSums = "quarter#"
	countedItem = "counted#"
	// after, appended to a prefix, sorts after every key with that prefix.
	after = "~"
)

// kinds has the kinds of content by their numbers in the names of cells, in which 0 stands for no
// kind. The numbers are stored, so new kinds go to the end.
var kinds = append([]platform.Kind{""}, platform.Kinds()...)

// numbersOf returns the numbers of a kind and a platform in the names of cells.
func numbersOf(kind, name string) (k, p int, err error) {
	if k = slices.Index(kinds, platform.Kind(kind)); k < 0 {
		return 0, 0, fmt.Errorf("rollup: no number for the kind %q", kind)
	}
	if name == "" {
		return k, 0, nil
	}
	row, ok := registry.Find(name)
	if !ok {
		return 0, 0, fmt.Errorf("rollup: no number for the platform %q", name)
	}
	return k, row.Number, nil
}

// valuesOf returns the kind and the platform of a cell.
func valuesOf(c cell) (kind, name string, err error) {
	if c.kind >= len(kinds) || c.metric >= metrics {
		return "", "", fmt.Errorf("rollup: no kind or metric of the number in %s", c.name())
	}
	if c.platform == 0 {
		return string(kinds[c.kind]), "", nil
	}
	rows := registry.Rows()
	i := slices.IndexFunc(rows, func(r registry.Row) bool { return r.Number == c.platform })
	if i < 0 {
		return "", "", fmt.Errorf("rollup: no platform of the number in %s", c.name())
	}
	return string(kinds[c.kind]), rows[i].Name, nil
}

// zonePrefix is the prefix of the names of numbers that count the lines of a zone.
const zonePrefix = "zone:"

const (
	month   = "2006-01"
	quarter = 15 * time.Minute
)

func partition(factory string) string { return "analytics#" + factory }

// newItem returns an empty item of a factory. The items of a sandbox are listed with the age of the
// factory, so that the reset of the sandbox finds them.
func newItem(o tenant.Owner, factory, sk string) store.Item {
	it := store.Item{Key: store.Key{PK: partition(factory), SK: sk}, Kind: Kind, Owner: o, Numbers: map[string]int64{}}
	if o.Mode == tenant.Test {
		it.ListKey = store.Key{PK: store.OwnerPartition(o, Kind), SK: factory}
	}
	return it
}

// zoneOf returns the time zone of a factory's item, which is that of its schedule, or UTC.
func zoneOf(of store.Item) (name string, zone *time.Location, err error) {
	var f struct {
		Schedule *struct{ Timezone string }
	}
	if err := json.Unmarshal(of.Doc, &f); err != nil {
		return "", nil, fmt.Errorf("rollup: decode %s: %w", of.PK, err)
	}
	if f.Schedule == nil || f.Schedule.Timezone == "" {
		return "UTC", time.UTC, nil
	}
	zone, err = clock.Zone(f.Schedule.Timezone)
	return f.Schedule.Timezone, zone, err
}

// isFactory reports whether the item is a factory, deleted or not.
func isFactory(it store.Item) bool { return it.Kind == factoryrecord.Kind }

// cell names a sum within an item. It has two digits each for the day in its month or the quarter
// in its day, the kind, the platform and the metric.
type cell struct {
	n, kind, platform, metric int
}

func (c cell) name() string {
	return fmt.Sprintf("%02d%02d%02d%02d", c.n, c.kind, c.platform, c.metric)
}

// cellOf parses the name of a cell.
func cellOf(name string) (c cell, err error) {
	if len(name) != 8 {
		return c, fmt.Errorf("rollup: %q names no sum", name)
	}
	for i, part := range []*int{&c.n, &c.kind, &c.platform, &c.metric} {
		n, err := strconv.ParseUint(name[2*i:2*i+2], 10, 8)
		if err != nil {
			return c, fmt.Errorf("rollup: %q names no sum", name)
		}
		*part = int(n)
	}
	return c, nil
}

// sums maps the sort keys of items to their numbers by name.
type sums map[string]map[string]int64

func (s sums) add(sk, name string, n int64) {
	if s[sk] == nil {
		s[sk] = map[string]int64{}
	}
	if s[sk][name] += n; s[sk][name] == 0 {
		delete(s[sk], name)
	}
	if len(s[sk]) == 0 {
		delete(s, sk)
	}
}

// count adds lines in a time zone to the sums, multiplied by times.
func (s sums) count(lines []Line, name string, zone *time.Location, times int64) error {
	for _, l := range lines {
		kind, number, err := numbersOf(l.Kind, l.Platform)
		if err != nil {
			return err
		}
		c := cell{kind: kind, platform: number}
		local, utc := l.At.In(zone), l.At.UTC()
		day, hours := daySums+local.Format(month), quarterSums+utc.Format(time.DateOnly)
		s.add(day, zonePrefix+name, times)
		for metric, n := range l.Amounts {
			c.metric = metric
			c.n = local.Day()
			s.add(day, c.name(), n*times)
			c.n = int(utc.Sub(utc.Truncate(24*time.Hour)) / quarter)
			s.add(hours, c.name(), n*times)
		}
	}
	return nil
}

// widest returns the greatest number of numbers in one item.
func (s sums) widest() (n int) {
	for _, numbers := range s {
		n = max(n, len(numbers))
	}
	return n
}

// write adds the sums to the sums in the table.
func (s sums) write(tx *store.Tx, o tenant.Owner, factory string) {
	for _, sk := range slices.Sorted(maps.Keys(s)) {
		it := newItem(o, factory, sk)
		it.Numbers = s[sk]
		tx.Add(it)
	}
}

// isPure reports whether all lines of an item of days were counted in a zone.
func isPure(days store.Item, zone string) bool {
	for name, n := range days.Numbers {
		if of, ok := strings.CutPrefix(name, zonePrefix); ok && n != 0 && of != zone {
			return false
		}
	}
	return true
}
