package crm

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/text"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Read is the kind of the task that reads one object of a CRM and does what the mapping says.
const Read task.Kind = "crm.read"

// newProduct is the object of a Read task that makes content of a product that was just imported.
const newProduct crm.Object = "new_product"

const (
	// settle is the wait before an object is read, so that its other changes of the same moment are read, too.
	settle = 2 * time.Second
	// readWithin bounds the time for which content is tried to be made, such as while the balance does not suffice.
	readWithin = 24 * time.Hour
	// refusedPause is the wait after content was refused.
	refusedPause = 15 * time.Minute
)

// reading is the payload of a Read task.
type reading struct {
	Object crm.Object `json:"object"`
	ID     string     `json:"id"`
	// Product is the id of the product of newProduct.
	Product string `json:"product,omitempty"`
}

// Hint adds to the transaction the task that reads an object. The version names the change: the commit returns
// store.ErrConflict if there is a task for it already.
func (w *Worker) Hint(tx *store.Tx, o tenant.Owner, integrationID string, object crm.Object, objectID, version,
	productID string) error {
	return Hint(tx, w.Now(), o, integrationID, object, objectID, version, productID)
}

// Hint is Worker.Hint without a worker.
func Hint(tx *store.Tx, now time.Time, o tenant.Owner, integrationID string, object crm.Object, objectID, version,
	productID string) error {
	subject := strings.Join([]string{integrationID, string(object), objectID, version}, "#")
	return task.Create(tx, now, task.Task{
		Message: message(Read, o, integrationID, task.ID(Read, subject, 1)),
		DueAt:   now.Add(settle), Deadline: now.Add(readWithin),
	}, reading{object, objectID, productID})
}

// readObject reads an object and does what the mapping says. What it makes is written in transactions of its own with a
// mark, so that a repeat finds it.
func (w *Worker) readObject(ctx context.Context, r *task.Run) error {
	var p reading
	if err := r.Decode(&p); err != nil || r.Cause() != nil {
		return err
	}
	c, err := w.connected(ctx, r)
	if c == nil {
		return err
	}
	switch p.Object {
	case crm.ProductObject:
		err = w.product(ctx, c, p.ID)
	case newProduct:
		err = w.announce(ctx, c, p)
	default:
		err = w.deal(ctx, c, p.ID)
	}
	var refused *errs.Error
	switch {
	case errors.Is(err, task.ErrDeaths), platform.Refuses(err):
		w.note(ctx, c.r.ID, err)
		return nil
	case errors.Is(err, store.ErrConflict):
		return social.Again(err, 0)
	case errors.As(err, &refused):
		switch w.note(ctx, c.r.ID, err); {
		case refused.Code == errs.ProviderUnavailable || refused.Code == errs.Timeout:
			return social.Again(err, refused.RetryAfter)
		case p.Object == crm.ProductObject:
			return nil // the next change or synchronization reads it again
		case refused.Code == errs.QueueFull:
			return social.Again(err, max(time.Minute, refused.RetryAfter))
		}
		return social.Again(err, max(refusedPause, refused.RetryAfter))
	}
	return c.answer(ctx, err)
}

// product imports a product, or archives it if it was deleted.
func (w *Worker) product(ctx context.Context, c *connection, productID string) error {
	if !c.r.Mapping.Products.Import {
		return nil
	}
	read := w.Now()
	var p crm.Product
	err := c.run.Reading(ctx, func() (err error) {
		p, err = c.Product(ctx, c.account(), productID)
		return err
	})
	if crm.Gone(err) {
		_, err := w.importer().Archive(ctx, c.it.Owner, c.r.ID, productID)
		return err
	}
	if err != nil {
		return err
	}
	_, err = w.take(ctx, c, p, read)
	return err
}

// take imports a product of the CRM, which was read since a time. A product that is new makes content if the mapping
// says so.
func (w *Worker) take(ctx context.Context, c *connection, p crm.Product, read time.Time) (product.Outcome, error) {
	if c.r.FactoryID == nil || p.ID == "" {
		return product.Unchanged, nil
	}
	o := c.it.Owner
	return w.importer().Import(ctx, o, *c.r.FactoryID, product.Foreign{
		Source: c.r.ID, ID: p.ID, SKU: p.SKU, Fallback: c.r.Kind + "-" + p.ID, Name: p.Name,
		Description: p.Description, URL: p.URL, Price: p.Price, Currency: p.Currency, Archived: p.Archived, Read: read,
	}, func(tx *store.Tx, productID string) error {
		c.held.Hold(tx)
		count(tx, c.r.ID, countProducts)
		if !c.r.Imported || !c.r.Mapping.Products.News() {
			return nil
		}
		return w.Hint(tx, o, c.r.ID, newProduct, p.ID, "", productID)
	})
}

// announce makes content of a product that was just imported.
func (w *Worker) announce(ctx context.Context, c *connection, p reading) error {
	if !c.r.Mapping.Products.News() {
		return nil
	}
	return w.make(ctx, c, madeKey(c.it.Owner, c.r.ID, p.ID, string(newProduct), ""), Piece{
		Kind: *c.r.Mapping.Products.Kind, Prompt: *c.r.Mapping.Products.Template, ProductID: p.Product,
		Metadata: resource.Metadata{"integration_id": c.r.ID,
			"crm_product_id": text.ClipLetters(p.ID, resource.MaxPairLength)},
	}, "")
}

// deal makes the content of the stage that a deal is in.
func (w *Worker) deal(ctx context.Context, c *connection, dealID string) error {
	var d crm.Deal
	err := c.run.Reading(ctx, func() (err error) {
		d, err = c.Deal(ctx, c.account(), dealID)
		return err
	})
	if crm.Gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	stage := c.r.stageOf(d)
	if stage == nil || c.r.before(d) {
		return nil
	}
	return w.make(ctx, c, madeKey(c.it.Owner, c.r.ID, d.ID, d.Pipeline, d.Stage), Piece{
		Kind: stage.Kind, Prompt: prompt(stage.Template.Template, d),
		Metadata: resource.Metadata{"integration_id": c.r.ID,
			"crm_deal_id": text.ClipLetters(d.ID, resource.MaxPairLength)},
	}, d.ID)
}

// before reports whether a deal came into its stage before the integration was first connected. Of a CRM that does not
// tell it, no deal did.
func (r *Record) before(d crm.Deal) bool {
	return !d.Entered.IsZero() && d.Entered.Before(r.FirstAt.Truncate(time.Second))
}

// stageOf returns the stage of the mapping that a deal is in, or nil.
func (r *Record) stageOf(d crm.Deal) *Stage {
	i := slices.IndexFunc(r.Mapping.Stages, func(s Stage) bool {
		return s.Pipeline == d.Pipeline && s.Stage == d.Stage
	})
	if i < 0 {
		return nil
	}
	return &r.Mapping.Stages[i]
}

// madeKind is the kind of the item that marks that content was made.
const madeKind = "crm_made"

// madeKey is the key of the mark that an object has made its content in a stage. A mark stays as long as the
// integration may see the object again.
func madeKey(o tenant.Owner, integrationID, objectID, pipeline, stage string) store.Key {
	return store.IDKey(strings.Join([]string{"crmmade", o.String(), integrationID, objectID, pipeline, stage}, "#"))
}

// make makes a content item once: one transaction writes the item with its price, the mark, and the task that writes
// the note to the deal. If the mark exists it does nothing.
func (w *Worker) make(ctx context.Context, c *connection, mark store.Key, piece Piece, dealID string) error {
	if made, err := w.DB.Lookup(ctx, mark); err != nil || made.PK != "" {
		return err
	}
	if c.r.FactoryID == nil {
		return nil
	}
	piece.FactoryID = *c.r.FactoryID
	tx, now := &store.Tx{}, w.Now()
	if !c.held.Has(auth.ContentWrite) {
		return errs.New(errs.InsufficientScope, "%s does not have the scope %s any more. Set the mapping with another "+
			"key.", c.held.Actor.ID, auth.ContentWrite)
	}
	c.held.Hold(tx)
	itemID, err := w.Content.Make(ctx, tx, c.held.Principal, piece)
	if err != nil {
		return err
	}
	it := store.Item{Key: mark, Kind: madeKind, Owner: c.it.Owner}
	if err := it.Encode(map[string]string{"content_item": itemID}); err != nil {
		return err
	}
	tx.Create(it, nil)
	count(tx, c.r.ID, countItems)
	if dealID != "" {
		t := task.Task{Message: message(Note, c.it.Owner, c.r.ID, task.ID(Note, itemID, 1)), DueAt: now.Add(firstLook),
			Deadline: now.Add(noteWithin)}
		if err := task.Create(tx, now, t, noting{Deal: dealID, Item: itemID, Since: now}); err != nil {
			return err
		}
	}
	return w.DB.Commit(ctx, tx)
}
