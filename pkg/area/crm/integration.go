package crm

import (
	"math"
	"time"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Kind is the kind of an integration's item.
const Kind = "integration"

// State is the state of an integration.
type State string

// The states of an integration.
const (
	Pending        State = "pending"
	Connected      State = "connected"
	NeedsReconnect State = "needs_reconnect"
	Disconnected   State = "disconnected"
)

// HooksPath is the path below which the webhooks of CRMs arrive.
const HooksPath = "/integrations/hooks/"

// Integration is a connection to a CRM as callers see it.
type Integration struct {
	resource.Resource
	// CRM.
	Kind string `json:"kind" example:"hubspot"`
	// State of the integration. pending: an administrator of the CRM has not yet granted access. needs_reconnect: the
	// CRM has ended the access, or the key or person in created_by has none any more, which last_failure says; connect
	// the integration again. disconnected: it was disconnected, and is deleted after 90 days.
	State State `json:"state" enum:"pending,connected,needs_reconnect,disconnected"`
	// Name of the account in the CRM. Null until the integration is connected.
	Name resource.Text `json:"name" example:"acme.amocrm.ru"`
	// Profile that it belongs to. Null: the account as a whole.
	ProfileID *tenant.Profile `json:"profile_id"`
	// Id of the factory that gets the products and makes the content. Null: none.
	FactoryID *string `json:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// What the integration does with products and stages.
	Mapping Mapping `json:"mapping"`
	// Pipelines of the CRM with their stages, as of the last synchronization.
	Pipelines []crm.Pipeline `json:"pipelines" nullable:"false"`
	// Last complete synchronization. Null: there was none.
	LastSync *Sync `json:"last_sync"`
	// Last failure of the integration, of a product, of content or of a note. Null: there was none.
	LastFailure *Failure `json:"last_failure"`
	// Numbers since the integration was created.
	Counts Counts `json:"counts"`
	// URL of a page that an administrator of the CRM opens in a browser to grant access, once and within 30 minutes. It
	// is in the response that asks for the access only: null in all others.
	AuthorizationURL *string `json:"authorization_url"`
	// Id of the API key, or of the person, on whose behalf it makes content: the one that last set its mapping, or
	// connected it.
	CreatedBy string `json:"created_by" example:"key_01h455vb4pex5vsknk084sn02q"`
}

// Pending returns the path of an integration that synchronizes, and the time to look at it.
func (i Integration) Pending() (path string, after time.Duration) {
	return "/v1/integrations/" + i.ID, 10 * time.Second
}

// Mapping decides what an integration does with the objects of a CRM.
type Mapping struct {
	// What is done with products.
	Products Products `json:"products"`
	// Stages that make content. A deal makes one item in each of them, once.
	Stages []Stage `json:"stages" nullable:"false"`
}

// Products is what an integration does with products.
type Products struct {
	// Whether the products of the CRM become products of the factory, which is of type seller. A product that is
	// deleted in the CRM is archived.
	Import bool `json:"import"`
	// Kind of the content that is made of a product that is added to the CRM later. Null: none is made.
	Kind *string `json:"kind" enum:"post,video,carousel,story" example:"carousel"`
	// Prompt of that content, which presents the product. Null: none is made.
	Template *string `json:"template" example:"Present our new product"`
}

// News reports whether a product that is added later makes content.
func (p Products) News() bool { return p.Import && p.Kind != nil && p.Template != nil }

// Template describes the content that is made.
type Template struct {
	// Kind of content.
	Kind string `json:"kind" enum:"post,video,carousel,story" example:"post"`
	// Prompt of the content. The facts of the deal are added to it as data.
	Template string `json:"template" format:"deal-template"`
}

// Stage is a stage of deals that makes content.
type Stage struct {
	// Id of the pipeline in the CRM.
	Pipeline string `json:"pipeline" minLength:"1" maxLength:"100" example:"7"`
	// Id of the stage in the CRM.
	Stage string `json:"stage" minLength:"1" maxLength:"100" example:"142"`
	Template
}

// Sync is the result of a synchronization.
type Sync struct {
	// Time at which it ended.
	At resource.Time `json:"at"`
	// Number of products and deals that it read.
	Read int `json:"read"`
	// Number of products that it created, changed or archived. Content is made afterwards, and is in counts.
	Made int `json:"made"`
	// Number of products that could not be imported. last_failure has the reason of the last one.
	Failed int `json:"failed"`
}

// Failure is why something failed.
type Failure struct {
	// Time of the failure.
	At resource.Time `json:"at"`
	// Code of the error.
	Code errs.Code `json:"code" example:"insufficient_balance"`
	// What happened.
	Message string `json:"message"`
}

// Counts are the numbers of an integration.
type Counts struct {
	// Products that it has created.
	Products int64 `json:"product_count"`
	// Content items that it has created.
	Items int64 `json:"item_count"`
	// Notes that it has written to deals.
	Notes int64 `json:"note_count"`
}

// Record is the stored document of an integration.
type Record struct {
	Integration
	// Remote is the CRM's id of the account.
	Remote string `json:"remote,omitempty"`
	// Sealed is the Credentials, encrypted.
	Sealed []byte `json:"sealed,omitempty"`
	// Hook is the hash of the secret in the address of its webhooks.
	Hook string `json:"hash,omitempty"`
	// Base is the address of the API, to which webhooks are sent and notes link.
	Base string `json:"base"`
	// Connection counts how often the integration was connected, and Tokens the stored tokens.
	Connection int `json:"connection,omitempty"`
	Tokens     int `json:"tokens,omitempty"`
	// RefusedToken counts the tokens at the last answer that a token has ended.
	RefusedToken int `json:"refused_token,omitempty"`
	// Requested counts how often callers have requested a synchronization.
	Requested int `json:"requested,omitempty"`
	// ExpiresAt is the end of the token, or zero.
	ExpiresAt   time.Time `json:"expires_at,omitzero"`
	RefreshedAt time.Time `json:"refreshed_at,omitzero"`
	// FirstAt is when the integration was first connected: deals that were changed before make nothing.
	FirstAt time.Time `json:"first_at,omitzero"`
	// Former is the account of the CRM that a disconnected integration had. Its mapping is for that account alone.
	Former string `json:"former,omitempty"`
	// Imported reports whether all products were imported once, so that further ones are new.
	Imported bool `json:"imported,omitempty"`
	// Authority is the principal who last set the mapping or connected the integration.
	Authority authority.Authority `json:"authority,omitzero"`
	// Consent is the pending authorization, or nil.
	Consent *authority.Consent `json:"consent,omitempty"`
}

// Credentials are the secrets of an integration.
type Credentials struct {
	Account crm.Account `json:"account"`
	// Hook is the secret in the address of the webhooks.
	Hook string `json:"hook"`
}

// NewID returns the id of a new integration.
func NewID(now time.Time) string { return id.New(id.Integration, now) }

// View returns the integration as callers see it.
func (r *Record) View(now time.Time) Integration {
	i := r.Integration
	i.AuthorizationURL = nil
	if i.Pipelines == nil {
		i.Pipelines = []crm.Pipeline{}
	}
	if i.Mapping.Stages == nil {
		i.Mapping.Stages = []Stage{}
	}
	return i
}

// Usable reports whether the CRM can be called.
func (r *Record) Usable() bool { return r.State == Connected }

// Decode returns the record of an integration's item.
func Decode(it *store.Item) (r Record, err error) { return r, it.Decode(&r) }

// How long an integration that is not used stays.
const (
	keepDisconnected = 90 * 24 * time.Hour
	keepPending      = 7 * 24 * time.Hour
)

// writeTo writes the record and its keys into its item.
func (r *Record) writeTo(it *store.Item) error {
	it.Filters = map[string]string{"kind": r.Kind, "state": string(r.State)}
	if r.FactoryID != nil {
		it.Filters["factory_id"] = *r.FactoryID
	}
	it.ExpireAt = time.Time{}
	switch r.State {
	case Disconnected:
		it.ExpireAt = r.UpdatedAt.Add(keepDisconnected)
	case Pending:
		it.ExpireAt = r.UpdatedAt.Add(keepPending)
	}
	stored := *r
	stored.AuthorizationURL = nil // it has the state in clear
	return it.Encode(stored)
}

// Save adds the record to the transaction: a new one if the item has no version, and otherwise a changed one. It adds
// an event of the type unless the type is empty.
func (r *Record) Save(tx *store.Tx, now time.Time, o tenant.Owner, it store.Item, t event.Type) error {
	if it.Version == 0 {
		var err error
		if it, err = store.NewItem(Kind, o, r.ID, nil); err != nil {
			return err
		}
		if err := r.writeTo(&it); err != nil {
			return err
		}
		tx.Create(it, nil)
	} else {
		r.Touch(now)
		if err := r.writeTo(&it); err != nil {
			return err
		}
		tx.Replace(it)
	}
	if t == "" {
		return nil
	}
	e, err := event.New(now, o, t, r.View(now), nil)
	if err != nil {
		return err
	}
	tx.Create(e, nil)
	return nil
}

// HookURL returns the address of its webhooks.
func (r *Record) HookURL(secret string) string { return r.Base + HooksPath + r.ID + "." + secret }

// The names of the counters.
const (
	countProducts = "products"
	countItems    = "items"
	countNotes    = "notes"
)

func countKey(integrationID, name string) store.Key {
	return store.IDKey("crmcount#" + integrationID + "#" + name)
}

// count adds one to a counter.
func count(tx *store.Tx, integrationID, name string) {
	tx.Count(countKey(integrationID, name), 1, math.MaxInt64, store.ErrConflict)
}

// CountKeys returns the keys of the counters of an integration, and CountsOf their values.
func CountKeys(integrationID string) []store.Key {
	return []store.Key{countKey(integrationID, countProducts), countKey(integrationID, countItems),
		countKey(integrationID, countNotes)}
}

// CountsOf returns the values of the counters that were read by CountKeys.
func CountsOf(items []store.Item) Counts {
	return Counts{Products: items[0].Count(), Items: items[1].Count(), Notes: items[2].Count()}
}
