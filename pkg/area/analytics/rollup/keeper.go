package rollup

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"

	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue"
)

// counted is the document of what a subject has contributed so far.
type counted struct {
	Version int64  `json:"version"`
	Zone    string `json:"zone"`
	Lines   []Line `json:"lines"`
}

// Keeper is the handler of the queue of changes that keeps the sums. It counts each
// version of a subject once, in whatever order and however often the messages come: with
// the sums it writes what the subject has contributed so far, and its version.
type Keeper struct{ db *store.DB }

// New makes the handler.
func New(db *store.DB) *Keeper { return &Keeper{db} }

// Holding returns the handler, which keeps the messages of a batch invisible while it
// counts them.
func (k *Keeper) Holding(h *queue.Holder) func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
	return func(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
		held := h.Hold(ctx, batch.Records)
		failed := k.Count(ctx, batch.Records)
		held.End(ctx, failed)
		return queue.Response(batch.Records, failed), nil
	}
}

// Count counts the changes of a batch of messages. It returns at the place of each its
// error or nil.
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
		err := k.count(ctx, factory, latest(changes[factory]))
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

// errNoChange reports a message that is none of the relay.
var errNoChange = errors.New("rollup: not a message of a change")

// latest returns the changes of the latest version of each subject.
func latest(changes []change) (all []change) {
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
	// mostSubjects is how many subjects one transaction counts. mostWrites is where it
	// takes no further one: a transaction has at most 100 writes, and a subject of 16 lines
	// changes at most 65 items.
	mostSubjects = 25
	mostWrites   = 30
	// mostNumbers does the same for the numbers of one item: an update may have 4 KB,
	// and 10 bytes for each number.
	mostNumbers = 150
	// maxTries is how often what has changed meanwhile is read again.
	maxTries = 8
)

// count counts changes of a factory.
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

// countSome counts the first of the changes in one transaction, and returns how many.
// Again counts a version that was counted once more, as it is now.
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
		return len(changes), nil // a sandbox that was emptied
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

// replace replaces what was counted of a subject, in an item that may not exist, by a
// change, unless it is no newer. It adds the difference to the sums.
func (c change) replace(tx *store.Tx, all sums, it store.Item, name string, zone *time.Location, again bool) error {
	var old counted
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
	if err := it.Encode(counted{c.Version, name, c.Lines}); err != nil {
		return err
	}
	if exists {
		tx.Replace(it)
	} else {
		tx.Create(it, nil)
	}
	return nil
}

// countTo adds what was counted to sums, so many times.
func (c counted) countTo(all sums, times int64) error {
	if len(c.Lines) == 0 {
		return nil
	}
	zone, err := Zone(c.Zone)
	if err != nil {
		return err
	}
	return all.count(c.Lines, c.Zone, zone, times)
}
