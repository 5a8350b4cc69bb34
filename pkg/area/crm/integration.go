package crm

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
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
	Kind string `json:"kind" filter:"kind" example:"hubspot"`
	// State of the integration. pending: an administrator of the CRM has not yet granted access. needs_reconnect: the
	// CRM has ended the access, or the key or person in created_by has none any more, which last_failure says; connect
	// the integration again. disconnected: it was disconnected, and is deleted after 90 days.
	State State `json:"state" filter:"state" enum:"pending,connected,needs_reconnect,disconnected"`
	// Name of the account in the CRM. Null until the integration is connected.
	Name resource.Text `json:"name" example:"acme.amocrm.ru"`
	// Profile that it belongs to. Null: the account as a whole.
	ProfileID *tenant.Profile `json:"profile_id"`
	// Id of the factory that gets the products and makes the content. Null: none.
	FactoryID *string `json:"factory_id" filter:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
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
	// SealedCredentials is the Credentials, encrypted.
	SealedCredentials []byte `json:"sealed,omitempty"`
	// Hook is the hash of the secret in the address of its webhooks.
	Hook string `json:"hash,omitempty"`
	// Base is the address of the API, to which webhooks are sent and notes link.
	Base string `json:"base"`
	// Connection counts how often the integration was connected, and Tokens the stored tokens.
	Connection int `json:"connection,omitempty"`
	Tokens     int `json:"tokens,omitempty"`
	// RefusedToken counts the tokens at the last answer that a token has ended.
	RefusedToken int `json:"refused_token,omitempty"`
	// Requests counts how often callers have requested a synchronization.
	Requests int `json:"requested,omitempty"`
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

// NewID returns the id of an integration that is made now.
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

// place sets the time at which the item of an integration that is not used expires.
func (r *Record) place(it *store.Item) {
	it.ExpireAt = time.Time{}
	switch r.State {
	case Disconnected:
		it.ExpireAt = r.UpdatedAt.Add(keepDisconnected)
	case Pending:
		it.ExpireAt = r.UpdatedAt.Add(keepPending)
	}
}

// Save adds the record to the transaction: a new one if the item has no version, and otherwise a changed one. It adds
// an event of the type unless the type is empty.
func (r *Record) Save(tx *store.Tx, now time.Time, o tenant.Owner, it store.Item, t event.Type) error {
	stored := *r
	stored.AuthorizationURL = nil // it has the state in clear
	if it.Version == 0 {
		var err error
		if it, err = store.NewItem(Kind, o, r.ID, stored); err != nil {
			return err
		}
		r.place(&it)
		tx.Create(it, nil)
	} else {
		r.Touch(now)
		stored.Resource = r.Resource
		r.place(&it)
		if err := tx.Rewrite(it, stored); err != nil {
			return err
		}
	}
	if t == "" {
		return nil
	}
	return event.Add(tx, now, o, t, r.View(now))
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

// Disconnect is the kind of the task that ends the webhooks and the access at the CRM.
const Disconnect task.Kind = "crm.disconnect"

// revokeWithin bounds the time for which the access is tried to be ended.
const revokeWithin = 24 * time.Hour

// identityKind is the kind of the item that names the integration of an account of a CRM.
const identityKind = "crm_identity"

// IdentityKey is the key of the item that names the integration of an owner for an account of a CRM. It prevents that
// an account is connected twice, and finds the integrations of a webhook that names the account alone.
func IdentityKey(o tenant.Owner, kind, remote string) store.Key {
	return store.IDKey("crm#" + o.String() + "#" + kind + "#" + remote)
}

// RemotePartition is the partition of store.ByParent that lists the identities of an account of a CRM.
func RemotePartition(mode tenant.Mode, kind, remote string) string {
	return "crm#" + string(mode) + "#" + kind + "#" + remote
}

// Identity is the document of that item.
type Identity struct {
	Integration string `json:"integration"`
}

// Connect adds to the transaction that an integration is connected: its record and identity, and the tasks that
// refresh its token and synchronize it. The caller has filled in the record and sealed the secrets, and has read the
// identity, which names no other integration.
func (r *Record) Connect(tx *store.Tx, now time.Time, o tenant.Owner, it, identity store.Item, a crm.Account) error {
	r.State, r.Consent, r.AuthorizationURL = Connected, nil, nil
	if r.Former != "" && r.Former != a.ID {
		r.Mapping, r.Pipelines, r.Imported = Mapping{}, nil, false
	}
	r.Remote, r.Name, r.Former = a.ID, resource.Text(text.ClipLine(a.Name, 200)), ""
	r.Connection++
	r.stored(now, a.Token)
	if identity.Version == 0 {
		identity = store.Item{Key: IdentityKey(o, r.Kind, a.ID), Kind: identityKind, Owner: o,
			Parent: store.Key{PK: RemotePartition(o.Mode, r.Kind, a.ID), SK: r.ID}}
		if err := identity.Encode(Identity{r.ID}); err != nil {
			return err
		}
		tx.Create(identity, nil)
	}
	if !r.ExpiresAt.IsZero() {
		t := task.Task{Message: refreshMessage(o, r), DueAt: now.Add(r.pause(now))}
		if err := task.Create(tx, now, t, social.Refreshing{Connection: r.Connection}); err != nil {
			return err
		}
	}
	if r.FirstAt.IsZero() {
		r.FirstAt = now
	}
	since := r.FirstAt
	if r.LastSync != nil {
		since = r.LastSync.At.Add(-time.Hour)
	}
	if err := task.Create(tx, now, task.Task{Message: syncMessage(o, r)}, progress{Connection: r.Connection,
		Since: since}); err != nil {
		return err
	}
	return r.Save(tx, now, o, it, "")
}

// disconnecting is the payload of a Disconnect task.
type disconnecting struct {
	Kind string `json:"kind,omitempty"`
	// SealedCredentials is the Credentials of the connection. It is dropped at the end.
	SealedCredentials []byte `json:"sealed,omitempty"`
}

// Disconnect adds the end of an integration, whose item was read, to the transaction. The transaction forgets the
// tokens, and a task does the rest.
func (r *Record) Disconnect(ctx context.Context, db *store.DB, tx *store.Tx, now time.Time, it store.Item) error {
	if r.Remote != "" {
		identity, err := db.Lookup(ctx, IdentityKey(it.Owner, r.Kind, r.Remote))
		if err != nil {
			return err
		}
		if identity.Version > 0 {
			tx.Delete(identity)
		}
	}
	if len(r.SealedCredentials) > 0 && r.Connection > 0 {
		t := task.Task{Message: message(Disconnect, it.Owner, r.ID, task.ID(Disconnect, r.ID, r.Connection)),
			Deadline: now.Add(revokeWithin)}
		if err := task.Create(tx, now, t, disconnecting{Kind: r.Kind, SealedCredentials: r.SealedCredentials}); err !=
			nil {
			return err
		}
		// It would wait for the next day to find that there is nothing to do.
		if err := task.Wake(tx, now, syncMessage(it.Owner, r)); err != nil {
			return err
		}
	}
	r.State, r.SealedCredentials, r.Hook, r.Consent, r.AuthorizationURL = Disconnected, nil, "", nil, nil
	if r.Remote != "" {
		r.Former = r.Remote
	}
	r.ExpiresAt, r.Remote = time.Time{}, ""
	r.Connection++
	return r.Save(tx, now, it.Owner, it, "")
}

// disconnect ends the webhooks and the access. It does neither if the integration was connected again, because some
// CRMs would end the new connection, too.
func (w *Worker) disconnect(ctx context.Context, r *task.Run) error {
	var p disconnecting
	if err := r.Decode(&p); err != nil {
		return err
	}
	if r.Cause() != nil {
		// The token is already forgotten here, and expires at the CRM.
		slog.Warn("access of an integration not revoked", "integration_id", r.Subject, "error", r.Cause())
		r.Forget("sealed")
		return nil
	}
	_, present, err := w.read(ctx, r.Subject)
	if err != nil {
		return social.Again(err, 0)
	}
	if adapter := w.Systems.Of(r.Mode, p.Kind); adapter != nil && !present.Usable() {
		var secrets Credentials
		if err := w.Vault.Open(ctx, r.Owner, r.Subject, p.SealedCredentials, &secrets); err != nil {
			return social.Again(err, time.Minute)
		}
		if !r.Knows("unsubscribed") && !adapter.Facts().Shared {
			err := adapter.Unsubscribe(ctx, secrets.Account, present.HookURL(secrets.Hook))
			if err != nil && r.Failures < 3 {
				return social.Again(err, time.Minute)
			}
			if err := r.Keep("unsubscribed", true); err != nil {
				return err
			}
		}
		if err := adapter.Revoke(ctx, secrets.Account); err != nil {
			return social.Again(err, time.Minute)
		}
	}
	r.Forget("sealed")
	return nil
}

// apply checks the settings of an integration that was another before. It reports whether the factory or the mapping
// has changed; then the caller is the one on whose behalf content is made.
func (s *Service) apply(ctx context.Context, o tenant.Owner, was, r *Record) (changed bool, err error) {
	moved := !resource.Equal(was.FactoryID, r.FactoryID)
	for _, m := range []*Mapping{&was.Mapping, &r.Mapping} {
		if m.Stages == nil {
			m.Stages = []Stage{}
		}
	}
	if !moved && reflect.DeepEqual(was.Mapping, r.Mapping) {
		return false, nil
	}
	p := auth.FromContext(ctx)
	if err := s.checkFactory(ctx, o, was, r, moved); err != nil {
		return false, err
	}
	if err := checkMapping(p, r.Pipelines, r.Mapping); err != nil {
		return false, err
	}
	if moved || !r.Mapping.Products.Import {
		r.Imported = false
	}
	answers(r, p)
	return true, nil
}

// answers makes a caller the one on whose behalf the integration acts.
func answers(r *Record, p *auth.Principal) {
	r.Authority = authority.Of(p, auth.AccountManage, auth.ProductsWrite, auth.ContentWrite, auth.ContentPublish)
	r.CreatedBy = p.Actor.ID
}

// checkFactory refuses a factory that does not fit the mapping.
func (s *Service) checkFactory(ctx context.Context, o tenant.Owner, was, r *Record, moved bool) error {
	needed := r.Mapping.Products.Import || len(r.Mapping.Stages) > 0
	if r.FactoryID == nil {
		if needed {
			return errs.Invalid("/factory_id", "is missing: the mapping needs a factory")
		}
		return nil
	}
	if moved && was.FactoryID != nil {
		if r.Counts.Products > 0 {
			return errs.Invalid("/factory_id", "cannot change after products were imported into %s. Connect another "+
				"integration", *was.FactoryID)
		}
	}
	it, err := resource.Find(ctx, s.db, id.Factory, factoryrecord.Kind, *r.FactoryID)
	if err != nil || !factoryrecord.Usable(it, it.Owner) {
		return factoryrecord.RefError(err, *r.FactoryID)
	}
	if it.Owner != o {
		return errs.Invalid("/factory_id", "is of another profile than the integration")
	}
	if r.Mapping.Products.Import {
		if err := factoryrecord.CheckSeller(it, "/factory_id", "products"); err != nil {
			return err
		}
	}
	return checkKinds(it, r.Mapping)
}

// checkKinds refuses kinds of content that the factory does not make.
func checkKinds(it store.Item, m Mapping) error {
	var f struct {
		Types []string `json:"content_types"`
	}
	if err := it.Decode(&f); err != nil {
		return err
	}
	var found []error
	check := func(param, kind string) {
		if !factoryrecord.Makes(f.Types, kind, "") {
			found = append(found, errs.Invalid(param, "is not among the content_types of the factory, which are %s",
				strings.Join(f.Types, ", ")))
		}
	}
	if m.Products.News() {
		check("/mapping/products/kind", *m.Products.Kind)
	}
	for i, stage := range m.Stages {
		check(fmt.Sprintf("/mapping/stages/%d/kind", i), stage.Kind)
	}
	return errs.All(found...)
}

// checkMapping refuses stages that the CRM does not have, and what the caller may not do itself.
func checkMapping(p *auth.Principal, pipelines []crm.Pipeline, m Mapping) error {
	var found []error
	if m.Products.Import {
		if err := p.Require(auth.ProductsWrite, "/mapping/products/import"); err != nil {
			return err
		}
	}
	switch kind, template := m.Products.Kind, m.Products.Template; {
	case (kind == nil) != (template == nil):
		found = append(found, errs.Invalid("/mapping/products", "must have both kind and template, or neither"))
	case kind != nil && !m.Products.Import:
		found = append(found, errs.Invalid("/mapping/products/import", "must be true, as content is made of products "+
			"that are imported"))
	case kind != nil:
		if err := p.Require(auth.ContentWrite, "/mapping/products/kind"); err != nil {
			return err
		}
		found = append(found, blank("/mapping/products/template", *template))
	}
	seen := map[[2]string]bool{}
	for i, stage := range m.Stages {
		at := fmt.Sprintf("/mapping/stages/%d", i)
		if err := p.Require(auth.ContentWrite, "/mapping/stages"); err != nil {
			return err
		}
		found = append(found, blank(at+"/template", stage.Template.Template))
		if name := [2]string{stage.Pipeline, stage.Stage}; seen[name] {
			found = append(found, errs.Invalid(at+"/stage", "is in the mapping already"))
		} else {
			seen[name] = true
		}
		if len(pipelines) == 0 {
			continue // they are not read yet
		}
		n := slices.IndexFunc(pipelines, func(p crm.Pipeline) bool { return p.ID == stage.Pipeline })
		switch {
		case n < 0:
			found = append(found, errs.Invalid(at+"/pipeline", "is not the id of a pipeline of the CRM. pipelines has "+
				"them; synchronize the integration if it is new"))
		case !slices.ContainsFunc(pipelines[n].Stages, func(s crm.Stage) bool { return s.ID == stage.Stage }):
			found = append(found, errs.Invalid(at+"/stage", "is not the id of a stage of the pipeline. pipelines has "+
				"them; synchronize the integration if it is new"))
		}
	}
	return errs.All(found...)
}

func blank(param, value string) error {
	if text.IsBlank(value) {
		return errs.Invalid(param, "is blank")
	}
	return nil
}
