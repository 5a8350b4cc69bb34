package account

import (
	"cmp"
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

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/store"
)

const (
	// usageDaysKept is the number of days for which the calls of each caller are kept.
	usageDaysKept = 100
	// longestUsage bounds the days of an answer, and usualUsage is their number without a period.
	longestUsage, usualUsage = 92, 30
	// callsOfKind begins the names of the numbers of calls that concerned a kind of content.
	callsOfKind = "calls_of_"
	// mostUsage bounds the counts that an answer adds up: those of 200 callers on every day.
	mostUsage = 200 * longestUsage
)

// usagePartition is the partition of the calls of an account by day and caller. Its items stay when a key is revoked.
func usagePartition(o tenant.Owner) string { return "usage#" + o.String() }

// usageKey is the key of the calls of a caller on a day.
func usageKey(o tenant.Owner, at time.Time, callerID string) store.Key {
	return store.Key{PK: usagePartition(o), SK: at.UTC().Format(time.DateOnly) + "#" + callerID}
}

// isUsage reports whether a key is one of usageKey.
func isUsage(key store.Key) bool { return strings.HasPrefix(key.PK, "usage#") }

// kindOfCaller returns the kind of a caller by its id.
func kindOfCaller(callerID string) string {
	if strings.HasPrefix(callerID, "usr_") {
		return "person"
	}
	return "api_key"
}

// usageUpdate returns the update that adds records to the calls of a caller.
func usageUpdate(records []record) expression.UpdateBuilder {
	var all, bad, broken int64
	kinds := map[string]int64{}
	for _, r := range records {
		all += r.calls
		if r.kind != "" {
			kinds[r.kind] += r.calls
		}
		if r.refused {
			bad += r.calls
		}
		if r.failed {
			broken += r.calls
		}
	}
	u := expression.Add(store.Number(calls), expression.Value(all))
	if bad > 0 {
		u = u.Add(store.Number(refused), expression.Value(bad))
	}
	if broken > 0 {
		u = u.Add(store.Number(failed), expression.Value(broken))
	}
	for kind, n := range kinds {
		u = u.Add(store.Number(callsOfKind+kind), expression.Value(n))
	}
	return store.Expires(u, records[0].at.AddDate(0, 0, usageDaysKept))
}

// UsageCalls are the numbers of calls in some time.
type UsageCalls struct {
	// Calls that were answered, refused and failed ones included.
	Requests int64 `json:"calls"`
	// Calls that were refused by the status 401, 403 or 429: for the key, its address, scope or rate limit.
	Refused int64 `json:"refused"`
	// Calls that were answered with a status from 500.
	Failed int64 `json:"failed"`
}

func (c *UsageCalls) add(o UsageCalls) {
	c.Requests += o.Requests
	c.Refused += o.Refused
	c.Failed += o.Failed
}

// UsageDay is the number of calls with API keys on a day.
type UsageDay struct {
	// Day (UTC).
	Date string `json:"day" format:"date" example:"2026-11-26"`
	UsageCalls
}

// UsageOfKey is the number of calls with one API key.
type UsageOfKey struct {
	// Id of the key. It may be revoked.
	KeyID string `json:"key_id" example:"key_01h455vb4pex5vsknk084sn02q"`
	// Name of the key. Null if the key is not listed any more.
	Name *string `json:"name" example:"CRM integration"`
	UsageCalls
	// Calls on each day of the period, the first day first.
	ByDay []int64 `json:"calls_by_day" nullable:"false" example:"[12,0,31]"`
}

// UsageOfKind is the number of calls that concerned a kind of content.
type UsageOfKind struct {
	// Kind of the content items or the generations of the studio.
	Kind string `json:"kind" example:"post"`
	// Calls that were answered, refused and failed ones included.
	Requests int64 `json:"calls"`
	// Calls on each day of the period, the first day first.
	ByDay []int64 `json:"calls_by_day" nullable:"false" example:"[12,0,31]"`
}

// Usage is the number of calls of an account in a period.
type Usage struct {
	// First day of the period (UTC).
	From string `json:"from" format:"date" example:"2026-11-01"`
	// Last day of the period (UTC).
	To string `json:"to" format:"date" example:"2026-11-30"`
	// All calls with API keys, also with revoked ones.
	UsageCalls
	// The same on each day of the period, the first day first.
	Days []UsageDay `json:"days" nullable:"false"`
	// The same by key, the most used one first.
	Keys []UsageOfKey `json:"keys" nullable:"false"`
	// The calls that concerned content of one kind, by kind, the most used one first.
	Kinds []UsageOfKind `json:"kinds" nullable:"false"`
	// Calls by people in the account area. They are not part of the other numbers.
	People UsageCalls `json:"people"`
}

type usageInput struct {
	// First day (UTC), such as 2026-11-01, up to 92 days before to. Absent: 29 days before to.
	From string `query:"from" maxLength:"10" example:"2026-11-01"`
	// Last day (UTC), included. Absent: today.
	To string `query:"to" maxLength:"10" example:"2026-11-30"`
}

// period returns the days of the input.
func (in *usageInput) period(now time.Time) (from, to time.Time, err error) {
	to = now.UTC().Truncate(24 * time.Hour)
	if in.To != "" {
		// The first day must not be before the year 1 either.
		if to, err = time.Parse(time.DateOnly, in.To); err != nil || to.Year() < 2 {
			return from, to, errs.Invalid("to", "is not a day; write it as 2026-11-30")
		}
	}
	from = to.AddDate(0, 0, 1-usualUsage)
	if in.From != "" {
		if from, err = time.Parse(time.DateOnly, in.From); err != nil {
			return from, to, errs.Invalid("from", "is not a day; write it as 2026-11-01")
		}
	}
	if from.After(to) || to.Sub(from) >= longestUsage*24*time.Hour {
		return from, to, errs.Invalid("from", "must be up to %d days before to", longestUsage-1)
	}
	return from, to, nil
}

// registerUsage adds the operation to the router.
func (s *Service) registerUsage(r *httpapi.Router) {
	httpapi.Read(r, httpapi.Op{
		ID: "getUsage", Method: http.MethodGet, Path: "/v1/usage", Scope: auth.AccountRead, AccountWide: true,
		Function: "account", Tag: "Account",
		Summary: "Get the calls of the account",
		Description: "Adds up the calls of the account in a period, by day and by key. Calls with revoked keys are " +
			"part of it. A live key shows what live keys did, a test key the sandbox. Calls are counted about a " +
			"minute after they were made, and kept for 100 days. A call that the gateway answers on its own is not " +
			"counted.", Opens: httpapi.Nothing,
	}, s.usage)
}

func (s *Service) usage(ctx context.Context, in *usageInput) (out Usage, err error) {
	p := auth.FromContext(ctx)
	from, to, err := in.period(s.now())
	if err != nil {
		return out, err
	}
	days := int(to.Sub(from)/(24*time.Hour)) + 1
	out = Usage{From: from.Format(time.DateOnly), To: to.Format(time.DateOnly), Days: make([]UsageDay, days)}
	for day := range out.Days {
		out.Days[day].Date = from.AddDate(0, 0, day).Format(time.DateOnly)
	}
	keys, kinds := map[string]*UsageOfKey{}, usageByKind{}
	read := 0
	err = s.db.Each(ctx, store.Query{Index: store.Table, Partition: usagePartition(p.Owner.Of("")), OldestFirst: true,
		From: out.From + "#", To: out.To + "#~", Limit: mostCounts}, func(it store.Item) error {
		date, callerID, _ := strings.Cut(it.SK, "#")
		at, err := time.Parse(time.DateOnly, date)
		if read++; err != nil || read > mostUsage {
			return err
		}
		c := UsageCalls{it.Numbers[calls], it.Numbers[refused], it.Numbers[failed]}
		if kindOfCaller(callerID) == "person" {
			out.People.add(c)
			return nil
		}
		of := keys[callerID]
		if of == nil {
			of = &UsageOfKey{KeyID: callerID, ByDay: make([]int64, days)}
			keys[callerID] = of
		}
		day := int(at.Sub(from) / (24 * time.Hour))
		out.add(c)
		out.Days[day].add(c)
		of.add(c)
		of.ByDay[day] += c.Requests
		for name, n := range it.Numbers {
			if kind, ok := strings.CutPrefix(name, callsOfKind); ok {
				kinds.add(kind, day, days, n)
			}
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	out.Kinds = kinds.sorted()
	return out, s.nameKeys(ctx, p.Account, &out, keys)
}

// usageByKind are the calls by the kind of content.
type usageByKind map[string]*UsageOfKind

func (u usageByKind) add(kind string, day, days int, n int64) {
	if u[kind] == nil {
		u[kind] = &UsageOfKind{Kind: kind, ByDay: make([]int64, days)}
	}
	u[kind].Requests += n
	u[kind].ByDay[day] += n
}

func (u usageByKind) sorted() []UsageOfKind {
	all := make([]UsageOfKind, 0, len(u))
	for _, of := range u {
		all = append(all, *of)
	}
	slices.SortFunc(all, func(a, b UsageOfKind) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Kind, b.Kind))
	})
	return all
}

// nameKeys adds the keys to the usage, with their names.
func (s *Service) nameKeys(ctx context.Context, account tenant.Account, out *Usage, keys map[string]*UsageOfKey) error {
	out.Keys = make([]UsageOfKey, 0, len(keys))
	for _, of := range keys {
		out.Keys = append(out.Keys, *of)
	}
	slices.SortFunc(out.Keys, func(a, b UsageOfKey) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.KeyID, b.KeyID))
	})
	wanted := make([]store.Key, len(out.Keys))
	for i, of := range out.Keys {
		wanted[i] = credential.KeyOf(account, of.KeyID)
	}
	items, err := s.db.GetAll(ctx, wanted...)
	for i, it := range items {
		var k struct {
			Name string `json:"name"`
		}
		if it.Kind != "" && it.Decode(&k) == nil && k.Name != "" {
			out.Keys[i].Name = &k.Name
		}
	}
	return err
}

// counted reports whether the calls of a caller are counted by caller.
func counted(by auditlog.Actor) bool {
	return by.ID != "" && (by.Kind == "api_key" || by.Kind == "person")
}

// CallCounter is the handler of the audit table's stream. It counts each entry once, even if its record comes twice: a
// count has the position of the last record in it, and the records of one account come in the order of their positions.
type CallCounter struct{ db *store.DB }

// NewCallCounter returns the handler, which writes into the state table.
func NewCallCounter(db *store.DB) *CallCounter { return &CallCounter{db} }

// record is one entry of the audit log.
type record struct {
	place             int // in the batch
	position          string
	positionAttribute string // the attribute with the position of the last record
	at                time.Time
	failed            bool
	refused           bool
	ms                int64
	calls             int64 // for so many calls
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
	if r.EventName != string(events.DynamoDBOperationTypeInsert) || err == nil && it.Kind != auditlog.EntryKind {
		return key, entry, false
	}
	// The stream of a replica has the entries of other regions, too. They are counted there, and counts are copied.
	if by := it.Attributes[auditlog.Region]; err == nil && by != "" && r.AWSRegion != "" && by != r.AWSRegion {
		return key, entry, false
	}
	var e struct {
		At        time.Time
		Operation string `json:"operation_id"`
		Status    int
		MS        int64 `json:"latency_ms"`
		Count     int64
		Actor     auditlog.Actor
		Kind      string
	}
	if err == nil {
		err = it.Decode(&e)
	}
	if err != nil {
		metric.PutAside("sequence_number", r.Change.SequenceNumber, "kind", auditlog.EntryKind, "partition", it.PK,
			"id", it.SK, "error", err)
		return key, entry, false
	}
	// Changes by operators are no calls, and requests of unknown paths none of an operation.
	if e.Operation == "" || strings.HasPrefix(e.Operation, "admin.") {
		return key, entry, false
	}
	// Positions are decimal numbers of up to 40 digits. With zeros before them they compare as texts.
	at := fmt.Sprintf("%040s", r.Change.SequenceNumber)
	entry = record{position: at, positionAttribute: seenIn(r.AWSRegion), at: e.At, failed: e.Status >= 500,
		refused: slices.Contains(refusals, e.Status), ms: e.MS, calls: max(e.Count, 1), kind: e.Kind}
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
			sum.Calls += r.calls
			sum.Classes[classOf(r.ms)] += r.calls
			if r.failed {
				sum.Failed += r.calls
			}
		}
		seen := store.Attribute(records[0].positionAttribute)
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
		last := met.Attributes[records[0].positionAttribute]
		for len(records) > 0 && records[0].position <= last {
			records = records[1:]
		}
		if len(records) == 0 {
			return nil
		}
	}
	return errors.New("level: another function counts the same records")
}
