package chain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// AlteredMetric counts the entries and links that were changed or removed other than by
// their expiry, by the dimension ChangeDimension.
const (
	AlteredMetric   = "AuditEntriesAltered"
	ChangeDimension = "change"
)

// Chain is the handler of the audit table's stream.
type Chain struct {
	db  *store.DB
	now func() time.Time
}

// New makes the handler; it appends to the chains in the audit table.
func New(db *store.DB, now func() time.Time) *Chain { return &Chain{db, now} }

// record is an entry in a batch of the stream.
type record struct {
	store.Item
	place    int // in the batch
	position string
	// stream identifies the stream that the position belongs to: a replica of the table has a stream of its own.
	stream string
}

// Handle appends the new entries of a batch to their chains, one link for each chain. It
// returns the first record that is in no chain: the stream then delivers that record
// and all later ones again, and those that a chain has already are left out.
func (c *Chain) Handle(ctx context.Context, batch events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	for _, r := range batch.Records {
		if r.EventName != string(events.DynamoDBOperationTypeInsert) {
			c.reportAltered(r)
		}
	}
	failed := len(batch.Records)
	order, chains := byChain(batch)
	for _, n := range order {
		if err := c.extend(ctx, n, chains[n], nil); err != nil {
			slog.Error("audit chain not extended", "account", n.Account, "day", n.Date(), "error", err)
			failed = min(failed, chains[n][0].place)
		}
	}
	out := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
	if failed < len(batch.Records) {
		out.BatchItemFailures = append(out.BatchItemFailures,
			events.DynamoDBBatchItemFailure{ItemIdentifier: batch.Records[failed].Change.SequenceNumber})
	}
	return out, nil
}

// Redrive appends the entries of a batch that are in no link. The chains may have gone on
// since the stream has given the batch up, so all links are read.
func (c *Chain) Redrive(ctx context.Context, batch events.DynamoDBEvent) error {
	order, chains := byChain(batch)
	for _, n := range order {
		var r Report
		known, err := r.links(ctx, c.db, n)
		if err == nil {
			err = c.extend(ctx, n, chains[n], known)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// byChain returns the new entries of a batch by their chains, and the chains in the order of their first entries. An
// entry that cannot be decoded is put aside: the check of its chain names it.
func byChain(batch events.DynamoDBEvent) (order []Name, chains map[Name][]record) {
	chains = map[Name][]record{}
	for i, r := range batch.Records {
		if r.EventName != string(events.DynamoDBOperationTypeInsert) {
			continue
		}
		entry, err := store.FromRecord(r.Change.NewImage)
		if err == nil && entry.Kind != EntryKind {
			continue
		}
		var n Name
		if err == nil {
			n, err = nameOf(entry)
		}
		if err != nil {
			metric.PutAside("sequence_number", r.Change.SequenceNumber, "kind", EntryKind, "partition", entry.PK, "id",
				entry.SK, "error", err)
			continue
		}
		if chains[n] == nil {
			order = append(order, n)
		}
		chains[n] = append(chains[n], record{entry, i, r.Change.SequenceNumber, r.AWSRegion + "/" + entry.PK})
	}
	return order, chains
}

// reportAltered reports a change or removal, but for the table's own removal of expired
// entries. The stream does not show that a replica has removed it.
func (c *Chain) reportAltered(r events.DynamoDBEventRecord) {
	if by := r.UserIdentity; by != nil && by.Type == "Service" && by.PrincipalID == "dynamodb.amazonaws.com" {
		return
	}
	it, err := store.FromRecord(r.Change.OldImage)
	if r.EventName == string(events.DynamoDBOperationTypeRemove) && !it.ExpireAt.IsZero() &&
		it.ExpireAt.Before(c.now()) {
		return
	}
	metric.Count(AlteredMetric, ChangeDimension, r.EventName)
	slog.Error("audit log altered", "change", r.EventName, "kind", it.Kind, "partition", it.PK, "id", it.SK,
		"error", err)
}

// maxTries is the number of times that a link is made again because a concurrent one was
// made: the entries of the modes of an account are in different shards.
const maxTries = 8

// errTaken reports that the link's place in the chain is taken.
var errTaken = errors.New("chain: another link was made at the same time")

// extend adds a link with the records that the chain does not have: those past its
// position, or those that are not among the known entries of its links.
func (c *Chain) extend(ctx context.Context, n Name, records []record, known map[string]map[string]string) (err error) {
	for range maxTries {
		if err = c.tryExtend(ctx, n, records, known); !errors.Is(err, errTaken) {
			return err
		}
	}
	return err
}

func (c *Chain) tryExtend(ctx context.Context, n Name, records []record, known map[string]map[string]string) error {
	last, err := c.db.List(ctx, store.Query{Index: store.Table, Partition: n.partition(), Limit: 1})
	if err != nil {
		return err
	}
	next := link{Chain: n.partition(), Sequence: 1, At: resource.Instant(c.now()).Time, Positions: map[string]string{}}
	if len(last.Items) > 0 {
		var l link
		if err := last.Items[0].Decode(&l); err != nil {
			return err
		}
		next.Sequence, next.Before = l.Sequence+1, hashOf(last.Items[0])
		for partition, position := range l.Positions {
			next.Positions[partition] = position
		}
	}
	// The positions of another region's stream say nothing of this one.
	elsewhere := func(r record) bool { return next.Positions[r.stream] == "" }
	if known == nil && len(last.Items) > 0 && slices.ContainsFunc(records, elsewhere) {
		if known, err = (&Report{}).links(ctx, c.db, n); err != nil {
			return err
		}
	}
	for _, r := range records {
		past := comparePositions(r.position, next.Positions[r.stream]) > 0
		if known == nil && !past || known[r.PK][r.SK] != "" {
			continue
		}
		hash, err := r.Digest()
		if err != nil {
			return err
		}
		next.Entries = append(next.Entries, covered{r.PK, r.SK, hash})
		if past {
			next.Positions[r.stream] = r.position
		}
	}
	if len(next.Entries) == 0 {
		return nil
	}
	it, err := next.item(n)
	if err != nil {
		return err
	}
	tx := &store.Tx{}
	tx.Create(it, errTaken)
	if err := c.db.Commit(ctx, tx); err != nil {
		return fmt.Errorf("chain: link %d: %w", next.Sequence, err)
	}
	slog.Info("audit link", "account", n.Account, "day", n.Date(), "sequence", next.Sequence, "entries",
		len(next.Entries), "hash", hashOf(it))
	return nil
}

// comparePositions compares sequence numbers of a stream: decimal numbers of up to 40 digits.
func comparePositions(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
