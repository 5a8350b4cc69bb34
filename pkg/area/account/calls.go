package account

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/area/audit/chain"
	"github.com/content-automation/api/pkg/store"
)

// CallCounter is the handler of the audit table's stream. It counts each entry once, even if its record comes twice: a
// count has the position of the last record in it, and the records of one account come in the order of their positions.
type CallCounter struct{ db *store.DB }

// NewCallCounter returns the handler, which writes into the state table.
func NewCallCounter(db *store.DB) *CallCounter { return &CallCounter{db} }

// record is one entry of the audit log.
type record struct {
	place    int // in the batch
	position string
	seen     string // the attribute with the position of the last record
	at       time.Time
	failed   bool
	refused  bool
	ms       int64
	stands   int64 // for so many calls
	// usage is the key of the calls of its caller on its day. It is empty for callers that are not counted.
	usage store.Key
	// kind is the kind of content that it concerned, or empty.
	kind string
}

// Handle counts a batch. It returns the first record that was not counted: the stream
// then delivers that record and all later ones again.
func (c *CallCounter) Handle(ctx context.Context, batch events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	var order, callers []store.Key
	groups := map[store.Key][]record{}
	for i, r := range batch.Records {
		key, entry, ok := readRecord(r)
		if !ok {
			continue
		}
		entry.place = i
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], entry)
		if of := entry.usage; of.PK != "" {
			if groups[of] == nil {
				callers = append(callers, of)
			}
			groups[of] = append(groups[of], entry)
		}
	}
	uncounted := len(batch.Records)
	for _, key := range append(order, callers...) {
		if err := c.count(ctx, key, groups[key]); err != nil {
			slog.Error("calls not counted", "partition", key.PK, "operation", key.SK, "error", err)
			uncounted = min(uncounted, groups[key][0].place)
		}
	}
	out := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
	if uncounted < len(batch.Records) {
		out.BatchItemFailures = append(out.BatchItemFailures,
			events.DynamoDBBatchItemFailure{ItemIdentifier: batch.Records[uncounted].Change.SequenceNumber})
	}
	return out, nil
}

// readRecord reads the record of a new entry, with the key of its count. It returns false
// for a record that is not a call of an operation.
func readRecord(r events.DynamoDBEventRecord) (key store.Key, entry record, ok bool) {
	it, err := store.FromRecord(r.Change.NewImage)
	if r.EventName != string(events.DynamoDBOperationTypeInsert) || err == nil && it.Kind != chain.EntryKind {
		return key, entry, false
	}
	// The stream of a replica has the entries of other regions, too. They are counted there, and counts are copied.
	if by := it.Attributes[chain.Region]; err == nil && by != "" && r.AWSRegion != "" && by != r.AWSRegion {
		return key, entry, false
	}
	var e struct {
		At        time.Time
		Operation string `json:"operation_id"`
		Status    int
		MS        int64 `json:"latency_ms"`
		Count     int64
		Actor     chain.Actor
		Kind      string
	}
	if err == nil {
		err = it.Decode(&e)
	}
	if err != nil {
		slog.Error("audit entry not read", "sequence_number", r.Change.SequenceNumber, "error", err)
		return key, entry, false
	}
	// Changes by operators are no calls, and requests of unknown paths none of an operation.
	if e.Operation == "" || strings.HasPrefix(e.Operation, "admin.") {
		return key, entry, false
	}
	// Positions are decimal numbers of up to 40 digits. With zeros before them they compare as texts.
	at := fmt.Sprintf("%040s", r.Change.SequenceNumber)
	entry = record{position: at, seen: seenIn(r.AWSRegion), at: e.At, failed: e.Status >= 500,
		refused: slices.Contains(refusals, e.Status), ms: e.MS, stands: max(e.Count, 1), kind: e.Kind}
	if counted(e.Actor) {
		entry.usage = usageKey(it.Owner, e.At, e.Actor.ID)
	}
	return keyOf(partition(it.Owner), e.At, e.Operation), entry, true
}

// refusals are the statuses of calls that were refused before they were carried out.
var refusals = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests}

// seenIn returns the attribute of a count for the stream of a region: each replica of the
// table has a stream of its own, with positions of its own.
func seenIn(region string) string {
	if region == "" {
		return position
	}
	return position + "_" + region
}

// levelMaxTries is the number of times that a count is tried that has seen some of its records.
const levelMaxTries = 3

// count adds records, which are in the order of their positions, to a count.
func (c *CallCounter) count(ctx context.Context, key store.Key, records []record) error {
	for range levelMaxTries {
		sum := Counts{Classes: make([]int64, len(Bounds)+1)}
		for _, r := range records {
			sum.Calls += r.stands
			sum.Classes[classOf(r.ms)] += r.stands
			if r.failed {
				sum.Failed += r.stands
			}
		}
		seen := store.Attribute(records[0].seen)
		u := sum.update(records[0].at)
		if isUsage(key) {
			u = usageUpdate(records)
		}
		u = u.Set(seen, expression.Value(records[len(records)-1].position))
		_, err := c.db.Update(ctx, key, u,
			expression.Or(seen.AttributeNotExists(), seen.LessThan(expression.Value(records[0].position))))
		met, known := store.ConflictOf(err)
		if !known {
			return err
		}
		last := met.Attributes[records[0].seen]
		for len(records) > 0 && records[0].position <= last {
			records = records[1:]
		}
		if len(records) == 0 {
			return nil
		}
	}
	return errors.New("level: another function counts the same records")
}
