// Package chain makes the audit log tamper-evident. For each account and day it keeps a chain of links, each with the
// hashes of the entries that it covers and the hash of the link before. The links are made from the stream of the audit
// table, so that calls do not wait for them, and their hashes are logged: who alters an entry and rebuilds the chain
// differs from the log. Start with Chain.Handle, which adds entries, and Verify, which checks them.
package chain

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// EntryKind is the kind of the items of entries, and linkKind that of links.
const (
	EntryKind = "audit_entry"
	linkKind  = "audit_link"
)

// Region is the attribute of an entry with the region that has written it.
const Region = "region"

// Keep is the time for which entries are kept. A link is kept a day longer.
const Keep = 90 * 24 * time.Hour

const day = 24 * time.Hour

// Name identifies a chain by its account and day (UTC).
type Name struct {
	Account tenant.Account
	Day     time.Time
}

// On returns the chain of an account and the day (UTC) of a time.
func On(account tenant.Account, at time.Time) Name { return Name{account, at.UTC().Truncate(day)} }

// nameOf returns the chain of an entry, by the day of its id.
func nameOf(entry store.Item) (Name, error) {
	at, ok := id.Time(entry.SK)
	if !ok {
		return Name{}, fmt.Errorf("chain: %q is no id of an entry", entry.SK)
	}
	return On(entry.Account, at), nil
}

// Date returns the day, for example 2026-11-22.
func (n Name) Date() string { return n.Day.Format(time.DateOnly) }

// Prefix begins the partitions of links.
const Prefix = "chain#"

// partition is the partition of the chain's links.
func (n Name) partition() string { return Prefix + string(n.Account) + "#" + n.Date() }

// link is the document of a link.
type link struct {
	Chain    string `json:"chain"`
	Sequence int    `json:"sequence"` // from 1
	// Before is the hash of the link before. It is empty in the first.
	Before  string    `json:"before"`
	At      time.Time `json:"at"`
	Entries []covered `json:"entries"`
	// Positions are the places in the stream up to which the chain is complete, by the region of the stream and the
	// partition of the entries. The records of a partition are in the order of their writes.
	Positions map[string]string `json:"positions"`
}

// covered is an entry in a link.
type covered struct {
	Partition string `json:"partition"`
	ID        string `json:"id"`
	Hash      string `json:"hash"`
}

func (l link) item(n Name) (store.Item, error) {
	it := store.Item{
		Key: store.Key{PK: n.partition(), SK: fmt.Sprintf("%08d", l.Sequence)}, Kind: linkKind,
		Owner:    tenant.Of(n.Account, ""),
		ExpireAt: n.Day.Add(day + Keep + day),
	}
	return it, it.Encode(l)
}

// hashOf returns the hash of a link.
func hashOf(it store.Item) string {
	sum := sha256.Sum256(it.Doc)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// longest is the number of characters that are kept of a text that the caller chose.
const longest = 512

// Entry is one call.
type Entry struct {
	// Id of the entry.
	ID string `json:"id"`
	// Time at which the gateway received the request, UTC.
	At resource.Time `json:"at"`
	// Id of the request; of publication.published, that of the one which has ordered the publication. Empty if no
	// request has made the entry.
	RequestID string `json:"request_id"`
	// Who made the request.
	Actor Actor `json:"actor"`
	// API key of the request. Null if it was not made with an API key.
	KeyID *string `json:"key_id"`
	// Id of the mandate under which the API key acted. Null if it has none.
	Mandate *string `json:"mandate"`
	// operationId. Null if the path or method is unknown. A change by an operator of the service is named admin.…,
	// such as admin.account.update. social.callback, integrations.callback: the end of a connection by OAuth.
	// review.decide: a decision on the page of a review link. person.… and sign_on.…: an act of a person in the account
	// area, such as person.sign_in or sign_on.enforce; sign_on.set_provider is made by whoever has the set-up link.
	// erasure.…: an owner requested, canceled or exported an erasure, or it has ended.
	// publication.published: a post was published, as the request has ordered.
	OperationID resource.Text `json:"operation_id" example:"createFactory"`
	// Factory of what the request concerned. Null if it concerned none or several, and for a repeat that was answered
	// from the record of its Idempotency-Key.
	FactoryID *string `json:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Profile of what the request concerned, or to which the API key is bound. Null if there is none, or several.
	ProfileID *string `json:"profile_id" example:"prf_01h455vb4pex5vsknk084sn02q"`
	// Kind of the content item or the generation of the studio that the request concerned, such as post, carousel or
	// image. Null if it concerned none, or several kinds.
	Kind *string `json:"kind" example:"post"`
	// HTTP method. Null for a change by an operator.
	Method resource.Text `json:"method" example:"POST"`
	// Path, without the query. For a change by an operator, the command. For a sign-in by a sign-on connection and for
	// a change of sign-on, what it concerns follows.
	Path string `json:"path" example:"/v1/factories"`
	// HTTP status of the response.
	Status int `json:"status" example:"201"`
	// Error code; of social.callback the error that the return_url is sent, link_used or internal; of person.sign_in
	// the reason for which nobody was admitted. Null if the request succeeded.
	ErrorCode *string `json:"error_code"`
	// Address of the caller. Null if it has none.
	IP resource.Text `json:"ip"`
	// User-Agent of the caller. Null if none was sent.
	UserAgent resource.Text `json:"user_agent"`
	// Milliseconds from receipt by the gateway to the response.
	LatencyMS int64 `json:"latency_ms"`
	// Number of requests for which the entry stands. More than 1 for one of many requests of a key that were refused
	// within a minute.
	Count int `json:"count"`
	// SHA-256 of the dossier of a post that was published, in hexadecimal, of publication.published. Null for others.
	DossierSHA256 *string `json:"dossier_sha256"`
}

// Actor is who makes a request.
type Actor struct {
	// Kind of actor. operator: an operator of the service. directory: a sign-on connection, by which the customer's
	// directory calls SCIM, whose set-up link was used, or by which somebody was not admitted. social_account: a
	// browser in which access to a social account was granted or denied. review_link: a browser in which content was
	// approved or sent back. integration: a browser in which access to a CRM was granted or denied.
	Kind string `json:"kind" enum:"api_key,person,operator,social_account,directory,review_link,integration"`
	// Id of the API key, person, social account, integration, review link or sign-on connection, or name of the
	// operator.
	ID string `json:"id"`
}

// ReadFilter is the filter of what people have read in the account area. Other entries have no value, and pass a bound
// at NoRead.
const (
	ReadFilter = "read"
	NoRead     = "none"
	personRead = "person" // greater than NoRead
)

// The filters of what a call concerned. ConcernFilter is that of a profile, beside that of the owner of an entry.
const (
	FactoryFilter = "factory"
	ConcernFilter = "concern"
	KindFilter    = "kind"
)

// Write writes an entry, and notes the region that writes it. An entry that exists is never changed.
func Write(ctx context.Context, db *store.DB, region string, owner tenant.Owner, by auth.Actor, e Entry) error {
	e.ID, e.Actor = id.New(id.AuditEntry, e.At.Time), Actor{string(by.Kind), by.ID}
	e.Path, e.UserAgent = text.ClipText(e.Path, longest), resource.Text(text.ClipText(string(e.UserAgent), longest))
	keyID := ""
	if by.Kind == auth.APIKey {
		keyID, e.KeyID = by.ID, &by.ID
	}
	it, err := store.NewItem(EntryKind, owner, e.ID, e)
	if err != nil {
		return err
	}
	// Entries are listed by account and mode: the table's own key serves that, and saves an index.
	it.Key = store.Key{PK: owner.String(), SK: e.ID}
	it.Listed = store.Key{}
	it.Filters = map[string]string{
		"key_id": keyID, "operation_id": string(e.OperationID), "status": strconv.Itoa(e.Status),
		"request": e.RequestID,
	}
	for name, value := range map[string]*string{FactoryFilter: e.FactoryID, ConcernFilter: e.ProfileID,
		KindFilter: e.Kind} {
		if value != nil {
			it.Filters[name] = *value
		}
	}
	if by.Kind == auth.Person {
		// A sign-in by GET is none of the reads.
		if it.Filters["person_id"] = by.ID; e.Method == http.MethodGet && strings.HasPrefix(e.Path, "/v1/") {
			it.Filters[ReadFilter] = personRead
		}
	}
	if region != "" {
		it.Attributes = map[string]string{Region: region}
	}
	it.ExpireAt = e.At.Add(Keep)
	tx := &store.Tx{}
	tx.Create(it, nil)
	return db.Commit(ctx, tx)
}

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

// StreamHandler is a handler of a stream. It returns the first record of a batch that must come
// again, with all later ones. Records that come again have no second effect.
type StreamHandler func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error)

// Follow returns a handler that calls others side by side with the same records. A failure of one does not keep the
// others from doing their work on the batch. The first record that one of them wants comes again to all.
func Follow(all ...StreamHandler) StreamHandler {
	return func(ctx context.Context, batch events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		answers, failed := make([]events.DynamoDBEventResponse, len(all)), make([]error, len(all))
		var running sync.WaitGroup
		for i, handle := range all {
			running.Go(func() { answers[i], failed[i] = handle(ctx, batch) })
		}
		running.Wait()
		first := len(batch.Records)
		for _, a := range answers {
			for _, f := range a.BatchItemFailures {
				is := func(r events.DynamoDBEventRecord) bool { return r.Change.SequenceNumber == f.ItemIdentifier }
				if at := slices.IndexFunc(batch.Records, is); at >= 0 {
					first = min(first, at)
				}
			}
		}
		// An empty list means that all succeeded; null would mean that all failed.
		out := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
		if first < len(batch.Records) {
			metric.Failed()
			out.BatchItemFailures = append(out.BatchItemFailures,
				events.DynamoDBBatchItemFailure{ItemIdentifier: batch.Records[first].Change.SequenceNumber})
		}
		return out, errors.Join(failed...)
	}
}
