// Package auditlog has the entries of the audit log, which say who has done what and when. Start with Write. Nothing
// changes an entry; ReportChanges tells if somebody did.
package auditlog

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
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

// EntryKind is the kind of the items of entries.
const EntryKind = "audit_entry"

// Region is the attribute of an entry with the region that has written it.
const Region = "region"

// Keep is the time for which entries are kept.
const Keep = 90 * 24 * time.Hour

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
	it.ListKey = store.Key{}
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

// AlteredMetric counts the entries that were changed or removed other than by their expiry, by the dimension
// ChangeDimension.
const (
	AlteredMetric   = "AuditEntriesAltered"
	ChangeDimension = "change"
)

// ReportChanges reports the entries that a batch of the audit table's stream shows as changed or removed, but for the
// table's own removal of expired ones. The stream does not show that a replica has removed them.
func ReportChanges(batch events.DynamoDBEvent, now time.Time) {
	for _, r := range batch.Records {
		if r.EventName == string(events.DynamoDBOperationTypeInsert) {
			continue
		}
		if by := r.UserIdentity; by != nil && by.Type == "Service" && by.PrincipalID == "dynamodb.amazonaws.com" {
			continue
		}
		it, err := store.FromRecord(r.Change.OldImage)
		removed := r.EventName == string(events.DynamoDBOperationTypeRemove)
		if removed && !it.ExpireAt.IsZero() && it.ExpireAt.Before(now) {
			continue
		}
		metric.Count(AlteredMetric, ChangeDimension, r.EventName)
		slog.Error("audit log altered", "change", r.EventName, "kind", it.Kind, "partition", it.PK, "id", it.SK,
			"error", err)
	}
}
