package analytics

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/area/factory"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue"
)

// counted is the document with the contribution of a subject so far.
type counted struct {
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

// Holding returns the handler that keeps the messages of a batch invisible while it counts them.
func (k *Keeper) Holding(h *queue.Holder) func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
	return func(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
		held := h.Hold(ctx, batch.Records)
		failed := k.Count(ctx, batch.Records)
		held.End(ctx, failed)
		return queue.Response(batch.Records, failed), nil
	}
}

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

// countTo adds the counted contribution to sums, multiplied by times.
func (c counted) countTo(all sums, times int64) error {
	if len(c.Lines) == 0 {
		return nil
	}
	zone, err := factory.Zone(c.Zone)
	if err != nil {
		return err
	}
	return all.count(c.Lines, c.Zone, zone, times)
}
