package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/engagement"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// ResetKind is the kind of the task that empties a sandbox.
const ResetKind task.Kind = "sandbox.reset"

// kinds are the kinds of items that are deleted, in this order, with their id prefixes. The
// factories are the last, so that a caller who sees none knows that the sandbox is empty.
var kinds = []struct{ name, prefix string }{
	{plan.ItemKind, id.ContentPlan}, // makes items
	{"automation", id.Automation},   // makes items
	{experiment.ItemKind, id.Experiment},
	{item.ItemKind, id.ContentItem},
	{item.ReviewLinkKind, id.ReviewLink},
	{engagement.Kind, id.Comment},
	{"generation", id.Generation},
	{incoming.ItemKind, id.Media},
	{training.ItemKind, id.Training},
	{catalog.TrainedKind, id.Model},
	{event.Kind, id.Event},
	{analytics.Kind, id.Factory},
	{architect.DraftKind, id.Draft},
	{architect.Kind, id.Chat},
	{advice.DiagnosisItemKind, id.Diagnosis},
	{advice.ProposalItemKind, id.Proposal},
	{product.PromotionKind, id.Promotion},
	{product.ItemKind, id.Product},
	{social.DaysKind, id.SocialAccount},
	{social.PastKind, id.SocialAccount},
	{social.ImportKind, id.PostImport},
	{social.Kind, id.SocialAccount},
	{social.ApplicationKind, id.Application},
	{transfer.ExportItem, id.Export},
	{transfer.ImportItem, id.Import},
	{"factory", id.Factory},
}

const (
	// atOnce is the number of items that one step deletes.
	atOnce = 25
	// lag is the time to wait for the index to show the latest writes.
	lag = 2 * time.Second
	// tries is the number of times that the deletion of an item that keeps changing is tried in one step.
	tries = 5
)

// progress is the payload of the task.
type progress struct {
	// Before is the time of the request: later items stay.
	Before time.Time `json:"before"`
	// At is the index of the kind that is being deleted.
	At int `json:"at"`
	// Found reports that this pass over the kinds has deleted something, and Again that it
	// is not the first: the index lags behind the latest writes.
	Found bool `json:"found,omitempty"`
	Again bool `json:"again,omitempty"`
}

// StartReset adds to the transaction the task that empties the sandbox of an account. Its id
// is new each time, so that two calls of the same millisecond do not conflict.
func StartReset(tx *store.Tx, now time.Time, account tenant.Account) error {
	o := tenant.Of(account, tenant.Test)
	return task.Create(tx, now, task.Task{Message: task.Message{
		ID: task.ID(ResetKind, id.New("reset", now), 1), Kind: ResetKind, Queue: topology.GenerateText,
		Subject: string(account), Owner: o,
	}}, progress{Before: now})
}

// Resetter does the steps of the task.
type Resetter struct {
	DB *store.DB
	// Loaders open the items that something is generated for, by their kind.
	Loaders map[string]generate.Loader
	Now     func() time.Time
}

var _ task.Handler = (*Resetter)(nil)

// Handlers returns the handlers of the kinds of tasks that empty a sandbox.
func (h *Resetter) Handlers() map[task.Kind]task.Handler {
	return map[task.Kind]task.Handler{ResetKind: h, generate.Expire: expiry{h}}
}

// expiry is the handler of generate.Expire.
type expiry struct{ *Resetter }

// Step deletes the resource, if it is still there.
func (e expiry) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	if s.Mode != tenant.Test {
		return o, task.Permanent(fmt.Errorf("reset: %s is not a sandbox", s.Owner))
	}
	if _, err := e.delete(ctx, s.Owner, store.IDKey(s.Subject)); err != nil {
		return o, task.Again(fmt.Errorf("reset: delete %s: %w", s.Subject, err))
	}
	o.Done = true
	return o, nil
}

// Step deletes the next items. Done again it finds others, or none.
func (h *Resetter) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	if s.Mode != tenant.Test {
		return o, task.Permanent(fmt.Errorf("reset: %s is not a sandbox", s.Owner))
	}
	var p progress
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	kind := kinds[p.At]
	page, err := h.DB.List(ctx, store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(s.Owner, kind.name),
		To: id.First(kind.prefix, p.Before.Add(time.Millisecond)), Limit: atOnce, OldestFirst: true,
	})
	if err != nil {
		return o, task.Again(err)
	}
	deleted := 0
	for _, it := range page.Items {
		found, err := h.delete(ctx, s.Owner, it.Key)
		if err != nil {
			return o, task.Again(fmt.Errorf("reset: delete %s: %w", it.PK, err))
		}
		if found {
			deleted++
		}
	}
	switch {
	case deleted > 0:
		p.Found = true
	case len(page.Items) > 0:
		o.Wait = lag // all of them are deleted, which the index does not show yet
	case p.At+1 < len(kinds):
		p.At++
	case p.Found || !p.Again:
		p, o.Wait = progress{Before: p.Before, Again: true}, lag
	default:
		o.Done = true
	}
	o.Payload = p
	return o, nil
}

// delete deletes an item, and reports whether there was one. What is being generated for
// it is canceled, and its files are removed by a task.
func (h *Resetter) delete(ctx context.Context, o tenant.Owner, key store.Key) (found bool, err error) {
	for range tries {
		it, err := h.DB.Lookup(ctx, key)
		switch {
		case err != nil || it.PK == "":
			return false, err
		case !it.Owner.Same(o):
			return false, fmt.Errorf("reset: %s belongs to %s", key.PK, it.Owner)
		}
		if it.Kind == plan.ItemKind {
			err = plan.Remove(ctx, h.DB, h.Now(), it,
				func(ctx context.Context, key store.Key) (bool, error) { return h.delete(ctx, o, key) })
		} else {
			err = h.deletion(ctx, it)
		}
		if !errors.Is(err, store.ErrConflict) {
			return err == nil, err
		}
	}
	return false, store.ErrConflict
}

// deletion deletes an item as its own operation does.
func (h *Resetter) deletion(ctx context.Context, it store.Item) error {
	tx := &store.Tx{}
	if err := h.add(ctx, tx, it); err != nil {
		return err
	}
	return h.DB.Commit(ctx, tx)
}

// add adds the deletion of an item to the transaction.
func (h *Resetter) add(ctx context.Context, tx *store.Tx, it store.Item) error {
	if it.Kind == incoming.ItemKind {
		r, err := incoming.Decode(&it)
		if err != nil {
			return err
		}
		work, err := h.DB.GetAll(ctx, incoming.TaskKey(it.PK))
		if err != nil {
			return err
		}
		return incoming.Delete(tx, h.Now(), it, r, work[0])
	}
	if it.Kind == product.ItemKind || it.Kind == product.PromotionKind {
		return product.Discard(tx, h.Now(), it)
	}
	if it.Kind == training.ItemKind {
		return training.Cleaner{DB: h.DB, Now: h.Now}.Discard(ctx, tx, it)
	}
	quota.Free(tx, h.Now(), it)
	tx.Delete(it)
	if it.Kind == item.ItemKind {
		r, err := item.Decode(&it)
		if err != nil {
			return err
		}
		publication.Forget(tx, h.Now(), it.Owner, r)
		if err := h.release(ctx, tx, it.Owner, r); err != nil {
			return err
		}
	}
	if it.Kind == factoryrecord.Kind {
		return factoryrecord.RemoveBook(ctx, tx, h.DB, it.PK)
	}
	loader, ok := h.Loaders[it.Kind]
	if !ok {
		return nil
	}
	work, err := loader.Open(it)
	if err != nil {
		return err
	}
	if attempt := work.Waits(); attempt > 0 {
		items, err := h.DB.GetAll(ctx, generate.TaskKey(it.PK, attempt))
		if err != nil {
			return err
		}
		if _, _, err := generate.Cancel(tx, h.Now(), it.Owner, work.Ticket(), items[0]); err != nil {
			return err
		}
	}
	var doc struct{ Attempt int }
	if err := it.Decode(&doc); err != nil {
		return err
	}
	return generate.RemoveFiles(tx, h.Now(), it.Owner, it.PK, max(doc.Attempt, 1))
}

// release adds to the transaction that an item no longer shows media of the caller.
func (h *Resetter) release(ctx context.Context, tx *store.Tx, o tenant.Owner, r *item.Record) error {
	held, keys := map[string]int{}, []store.Key{}
	for _, mediaID := range r.MediaIDs() {
		held[mediaID], keys = -1, append(keys, store.IDKey(mediaID))
	}
	media, err := h.DB.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	return incoming.Of(o, media).Hold(tx, h.Now(), held)
}
