// Package erasure erases an account or a profile that its owner wants erased, after a time in which they can think
// better of it, and after a last export. It has the table of all kinds of items, and deletes items as their own
// operations do; the reset of a sandbox and the operator's command use both. docs/transfer.md describes it.
package erasure

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/engagement"
	"github.com/content-automation/api/pkg/area/feed"
	"github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/template"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/shelf"
	templaterecord "github.com/content-automation/api/pkg/record/template"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Kind is the kind of the item of an erasure, and TaskKind that of its task.
const (
	Kind               = "erasure"
	TaskKind task.Kind = "erasure"
)

// The time between the wish of an owner and the erasure. An account takes a month, so that a whole cycle of bills and
// reports passes in which somebody misses it, as with the deletions of GitHub and Google. A profile is one client of
// many: a week has a weekend in it.
const (
	ProfileWait = 7 * 24 * time.Hour
	AccountWait = 30 * 24 * time.Hour
)

// The time before the erasure at which the last export begins at the latest. An export ends within a day, so that the
// one of a profile has almost all, and can be fetched with a key for days after the erasure. Nobody has a key of an
// erased account: its last export can be fetched until the erasure, for as long as its files are kept.
const (
	profileLead = 24 * time.Hour
	accountLead = 7 * 24 * time.Hour
)

// State is the state of an erasure.
type State string

// The states. In Waiting everything works as before.
const (
	Waiting  State = "waiting"
	Erasing  State = "erasing"
	Done     State = "done"
	Canceled State = "canceled"
)

// Record is the stored document of an erasure. The last one of an account or profile is stored.
type Record struct {
	// Scope is the account, or the profile with its mode.
	Scope tenant.Owner `json:"scope"`
	// Name of the account or profile. It is removed when an account is erased.
	Name  string `json:"name,omitempty"`
	State State  `json:"state"`
	// Number counts the erasures of the scope that were asked for.
	Number int `json:"number"`
	// By is the id of the person who has asked for it.
	By      string    `json:"by"`
	AskedAt time.Time `json:"asked_at"`
	// EraseAt is the time before which the erasure does not begin.
	EraseAt time.Time `json:"erase_at"`
	// ExportID is the last export, which has begun at ExportAt. Told is the export of whose end people have heard.
	ExportID       string    `json:"export_id"`
	ExportAt       time.Time `json:"export_at"`
	ReportedExport string    `json:"told,omitempty"`
	// ExportRenewed reports that the export near the end of the time was started, which happens once: an export that
	// fails each time does not hold the erasure up.
	ExportRenewed bool `json:"renewed,omitempty"`
	// EndedAt is the time at which it was done or canceled, and Items the number of items that were erased.
	EndedAt time.Time `json:"ended_at,omitzero"`
	Items   int       `json:"items,omitempty"`
}

// Whole reports whether the account itself is erased.
func (r *Record) Whole() bool { return r.Scope.Profile == "" }

// lead is the time before the erasure at which the last export begins at the latest.
func (r *Record) lead() time.Duration {
	if r.Whole() {
		return accountLead
	}
	return profileLead
}

// Open reports whether the erasure waits or goes on.
func (r *Record) Open() bool { return r.State == Waiting || r.State == Erasing }

// ScopeName names the scope of an erasure among those of its account: account, or the id of a profile.
func ScopeName(o tenant.Owner) string {
	if o.Profile == "" {
		return "account"
	}
	return string(o.Profile)
}

// Key is the key of the erasure of a scope.
func Key(o tenant.Owner) store.Key {
	return store.IDKey("erasure#" + string(o.Account) + "#" + ScopeName(o))
}

// owner is the owner of the items of the erasures of an account. It has no profile, so that the erasure of a profile
// does not take its own note.
func owner(a tenant.Account) tenant.Owner { return tenant.Of(a, "") }

// message is the message of the task of an erasure.
func (r *Record) message() task.Message {
	subject := Key(r.Scope).PK
	return task.Message{ID: task.ID(TaskKind, subject, r.Number), Kind: TaskKind, Queue: topology.Transfer,
		Subject: subject, Owner: tenant.Of(r.Scope.Account, tenant.Live)}
}

// exported is the owner of what the last export has: the live data of an account.
func (r *Record) exported() tenant.Owner {
	if r.Whole() {
		return tenant.Of(r.Scope.Account, tenant.Live)
	}
	return r.Scope
}

// export adds a new last export to the transaction.
func (r *Record) export(tx *store.Tx, now time.Time) error {
	x, err := transfer.Last(tx, now, r.exported())
	r.ExportID, r.ExportAt = x.ID, now
	return err
}

// keep is the time for which the note of the erasure of a profile stays. That of an account stays for good, without its
// name: it says why the entries of its balance have no account.
const keep = 90 * 24 * time.Hour

// into writes the record into its item.
func (r *Record) into(it *store.Item) error {
	it.Key, it.Kind, it.Owner = Key(r.Scope), Kind, owner(r.Scope.Account)
	it.ListKey = store.Key{PK: store.OwnerPartition(it.Owner, Kind), SK: ScopeName(r.Scope)}
	it.Filters, it.ExpireAt = map[string]string{"state": string(r.State)}, time.Time{}
	if !r.Open() && (!r.Whole() || r.State == Canceled) {
		it.ExpireAt = r.EndedAt.Add(keep)
	}
	return it.Encode(r)
}

// tell adds an e-mail about the erasure to the transaction: when an owner asks for it, and when its last export has
// failed. What names its text.
func (r *Record) tell(tx *store.Tx, now time.Time, what, about string) error {
	n := person.News{Notice: person.NoticeWork, TextName: "erasure." + what, Path: "/settings/erasure",
		Values: map[string]string{"name": r.Name, "at": r.EraseAt.UTC().Format("2006-01-02 15:04 UTC"),
			"scope": "erased_profile"}}
	if r.Whole() {
		n.Values["scope"] = "erased_account"
	}
	return person.AddNotice(tx, now, r.Scope.Account, Key(r.Scope).PK+"#"+strconv.Itoa(r.Number)+"#"+what+about, n)
}

// Service is what owners do about erasures.
type Service struct {
	db  *store.DB
	now func() time.Time
}

// NewService makes the service of owners on the state table.
func NewService(db *store.DB, now func() time.Time) *Service { return &Service{db, now} }

// List returns the last erasures of an account and its profiles.
func (s *Service) List(ctx context.Context, account tenant.Account) (all []Record, err error) {
	q := store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(owner(account), Kind), Limit: 100,
		OldestFirst: true}
	err = s.db.Each(ctx, q, func(it store.Item) error {
		var r Record
		if err := it.Decode(&r); err != nil {
			return err
		}
		all = append(all, r)
		return nil
	})
	return all, err
}

// Find returns the last erasure of a scope. The error is not_found without one.
func (s *Service) Find(ctx context.Context, scope tenant.Owner) (r Record, it store.Item, err error) {
	it, err = s.db.Get(ctx, Key(scope))
	if errors.Is(err, store.ErrNotFound) {
		return r, it, errs.New(errs.NotFound, "Nobody has asked for the erasure.")
	}
	if err == nil {
		err = it.Decode(&r)
	}
	return r, it, err
}

// Ask has an account or a profile erased later. The last export begins in the same transaction.
func (s *Service) Ask(ctx context.Context, scope tenant.Owner, name, personID string) (Record, error) {
	now := s.now()
	was, it, err := s.Find(ctx, scope)
	if err != nil && errs.CodeOf(err) != errs.NotFound {
		return Record{}, err
	}
	if was.Open() {
		return was, errs.New(errs.InvalidState, "The erasure was asked for already. It can be canceled until it "+
			"begins.")
	}
	r := Record{Scope: scope, Name: name, State: Waiting, Number: was.Number + 1, By: personID, AskedAt: now,
		EraseAt: now.Add(AccountWait)}
	if !r.Whole() {
		r.EraseAt = now.Add(ProfileWait)
	}
	tx := &store.Tx{}
	if err := errors.Join(r.export(tx, now), r.tell(tx, now, "asked", ""), r.into(&it)); err != nil {
		return r, err
	}
	if it.Version == 0 {
		// An expired note, which DynamoDB has not removed yet, is replaced.
		tx.CreateExpiring(it, now.Unix(), store.ErrConflict)
	} else {
		tx.Replace(it)
	}
	if err := task.Create(tx, now, task.Task{Message: r.message()}, nil); err != nil {
		return r, err
	}
	return r, again(s.db.Commit(ctx, tx))
}

// again returns the error of a change for the person who has asked for it.
func again(err error) error {
	if errors.Is(err, store.ErrConflict) {
		return errs.Wrap(err, errs.InvalidState, "The erasure was changed by somebody else at the same time. Look at "+
			"it again.")
	}
	return err
}

// waiting reads an erasure that has not begun.
func (s *Service) waiting(ctx context.Context, scope tenant.Owner) (r Record, it store.Item, err error) {
	r, it, err = s.Find(ctx, scope)
	switch {
	case err != nil:
		return r, it, err
	case r.State == Erasing:
		return r, it, errs.New(errs.InvalidState, "The erasure has begun, and cannot be canceled any more.")
	case r.State != Waiting:
		return r, it, errs.New(errs.InvalidState, "No erasure waits: it was canceled, or is done.")
	}
	return r, it, nil
}

// Cancel ends an erasure that has not begun.
func (s *Service) Cancel(ctx context.Context, scope tenant.Owner) (Record, error) {
	r, it, err := s.waiting(ctx, scope)
	if err != nil {
		return r, err
	}
	work, err := s.db.Get(ctx, store.IDKey(r.message().ID))
	if err != nil {
		return r, fmt.Errorf("erasure: the task of %s: %w", it.PK, err)
	}
	now, tx := s.now(), &store.Tx{}
	r.State, r.EndedAt = Canceled, now
	if err := errors.Join(r.into(&it), task.Cancel(tx, work)); err != nil {
		return r, err
	}
	tx.Replace(it)
	return r, again(s.db.Commit(ctx, tx))
}

// Export starts another last export, after the one before has ended. The erasure does not begin before it has ended.
func (s *Service) Export(ctx context.Context, scope tenant.Owner) (Record, error) {
	r, it, err := s.waiting(ctx, scope)
	if err != nil {
		return r, err
	}
	x, found, err := transfer.Find(ctx, s.db, r.ExportID)
	if err != nil {
		return r, err
	}
	if found && x.State == transfer.Running {
		return r, errs.New(errs.InvalidState, "The last export is not complete yet. Wait for its end.")
	}
	now, tx := s.now(), &store.Tx{}
	if err := errors.Join(r.export(tx, now), r.into(&it), task.Wake(tx, now, r.message())); err != nil {
		return r, err
	}
	tx.Replace(it)
	return r, again(s.db.Commit(ctx, tx))
}

// KindOf has the properties of a kind of items.
type KindOf struct {
	Name string
	// Prefix is that of the ids of what an owner has made. Items of the kind are listed by their owner, and deleted as
	// their own operation does, in the order of the table. The others go with them, or at the end.
	Prefix string
	// Own marks the customer's data, which the operator's export has. Other kinds are the service's own: work in
	// progress, notes for look-ups, secrets, and records for repeated calls.
	Own bool
	// Unfinished are the states in which a task works on the item.
	Unfinished []string
	// Row marks a part of an item that is a row of its own. The ids of its tasks name it, and their subject is the
	// item.
	Row bool
	// Parts is the member of the document whose elements have their own tasks while they are in the state Working.
	Parts, Working string
	// Kept marks what stays after an erasure: what the law may require, and the note of the erasure itself.
	Kept bool
}

// Kinds are all kinds of items of both tables, except counters. Each new kind must be added: the check of a restored
// table reports items of kinds that are missing here. Plans and automations make items, and so are the first. The
// factories are the last of those that an owner has made, so that a caller who sees none knows that the sandbox is
// empty.
var Kinds = []KindOf{
	{Name: plan.ItemKind, Prefix: id.ContentPlan, Own: true, Unfinished: states(plan.Queued, plan.Planning,
		plan.Proposed, plan.Generating)},
	{Name: automation.ItemKind, Prefix: id.Automation, Own: true},
	{Name: experiment.ItemKind, Prefix: id.Experiment, Own: true},
	{Name: item.ItemKind, Prefix: id.ContentItem, Own: true, Unfinished: states(item.Queued, item.Generating,
		item.Scheduled, item.Publishing)},
	{Name: item.ReviewLinkKind, Prefix: id.ReviewLink, Own: true},
	{Name: engagement.Kind, Prefix: id.Comment, Own: true},
	{Name: studio.ItemKind, Prefix: id.Generation, Own: true, Unfinished: states(studio.Queued, studio.Generating)},
	{Name: media.ItemKind, Prefix: id.Media, Own: true, Unfinished: states(media.Pending)},
	{Name: training.ItemKind, Prefix: id.Training, Own: true, Unfinished: states(training.Queued, training.Running)},
	{Name: catalog.TrainedKind, Prefix: id.Model, Own: true},
	{Name: event.Kind, Prefix: id.Event, Own: true},
	{Name: analytics.Kind, Prefix: id.Factory, Own: true},
	{Name: architect.DraftKind, Prefix: id.Draft, Own: true},
	{Name: architect.Kind, Prefix: id.Chat, Own: true},
	{Name: advice.DiagnosisItemKind, Prefix: id.Diagnosis, Own: true, Unfinished: states(advice.Queued,
		advice.Running)},
	{Name: advice.ProposalItemKind, Prefix: id.Proposal, Own: true},
	{Name: feed.RunItem, Prefix: id.FeedRun, Own: true, Unfinished: states(feed.Queued, feed.Running)},
	{Name: product.PromotionKind, Prefix: id.Promotion, Own: true},
	{Name: product.ItemKind, Prefix: id.Product, Own: true, Parts: "photos", Working: string(media.Pending)},
	{Name: social.DaysKind, Prefix: id.SocialAccount},
	{Name: social.PastKind, Prefix: id.SocialAccount, Own: true},
	{Name: social.ImportKind, Prefix: id.PostImport, Own: true, Unfinished: states(social.ImportRunning)},
	{Name: social.Kind, Prefix: id.SocialAccount, Own: true},
	{Name: social.ApplicationKind, Prefix: id.Application, Own: true},
	{Name: template.PreviewKind, Prefix: template.PreviewPrefix, Unfinished: states(studio.Queued, studio.Generating)},
	{Name: templaterecord.Kind, Prefix: id.Template, Own: true},
	{Name: transfer.ExportItem, Prefix: id.Export, Unfinished: states(transfer.Running)},
	{Name: transfer.ImportItem, Prefix: id.Import, Own: true, Unfinished: states(transfer.Running)},
	{Name: factoryrecord.Kind, Prefix: id.Factory, Own: true},

	{Name: ledger.Kind, Own: true, Kept: true},
	{Name: Kind, Own: true, Kept: true},

	{Name: account.Kind, Own: true}, {Name: "api_key", Own: true}, {Name: auditlog.EntryKind, Own: true},
	{Name: "balance", Own: true}, {Name: item.EndKind, Own: true}, {Name: "content_plan_recipe", Own: true},
	{Name: "sample_event", Own: true}, {Name: crm.Kind, Own: true}, {Name: webhook.Kind, Own: true},
	{Name: webhook.DeliveryKind, Own: true}, {Name: person.Kind, Own: true}, {Name: connection.ItemKind, Own: true},
	{Name: shelf.Kind, Own: true},
	{Name: "domain", Own: true}, {Name: "group", Own: true}, {Name: profile.Kind, Own: true},
	{Name: "purse", Own: true}, {Name: "quote", Own: true}, {Name: generate.RegisterKind, Own: true},
	{Name: item.ReadingsKind, Own: true}, {Name: publication.DossierKind, Own: true},
	{Name: item.PublicationKind, Own: true, Row: true, Unfinished: states(item.PublicationPublishing)},

	{Name: "answer"}, {Name: "applications"}, {Name: "audit_link"}, {Name: "automated"}, {Name: "breaker"},
	{Name: "checkpoint"}, {Name: "content_plan_book"}, {Name: "content_plan_items"}, {Name: "content_source"},
	{Name: "content_text"}, {Name: "crm_identity"}, {Name: "crm_made"}, {Name: "email"}, {Name: "foreign_product"},
	{Name: "inflight"}, {Name: "invitation"}, {Name: "offer_lock"}, {Name: "profile_logo"}, {Name: "profile_uses"},
	{Name: "publish_slot"}, {Name: "rehearsal"}, {Name: "sandbox_clock"},
	{Name: "secret"}, {Name: "sku"}, {Name: "social_identity"}, {Name: "token"}, {Name: factoryrecord.CountsKind},
	{Name: item.ShownKind}, {Name: templaterecord.NotesKind},
	{Name: generate.CertificateKind}, {Name: generate.LikenessKind}, {Name: session.GrantKind},
	{Name: session.ProgramKind}, {Name: session.SpentKind}, {Name: social.LookupItemKind}, {Name: task.ItemKind},
	{Name: task.OutboxKind}, {Name: transfer.NamedFile}, {Name: transfer.Imported}, {Name: quota.BytesKind},
}

// states returns states as documents have them.
func states[S ~string](all ...S) []string {
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = string(s)
	}
	return texts
}

// ByName are the kinds by their names.
var ByName = func() map[string]KindOf {
	all := map[string]KindOf{}
	for _, k := range Kinds {
		all[k.Name] = k
	}
	return all
}()

// OwnedKinds are the kinds of what an owner has made, in the order in which it is deleted.
var OwnedKinds = func() (all []KindOf) {
	for _, k := range Kinds {
		if k.Prefix != "" {
			all = append(all, k)
		}
	}
	return all
}()
