package crm

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/platform"
	record "github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Synchronize is the kind of the task that reads all products and the changed deals of an integration, every day and
// when it is woken. It heals what webhooks have missed.
const Synchronize task.Kind = "crm.sync"

const (
	// sweepEvery is the time between two synchronizations.
	sweepEvery = 24 * time.Hour
	// sweepSpread is the time over which the synchronizations of integrations are spread.
	sweepSpread = time.Hour
	// overlap is the time by which a synchronization reads deals that the last one may have read. It covers clocks that
	// differ, and changes that the CRM lists late.
	overlap = 10 * time.Minute
	// checkedAtOnce is the number of products whose existence one call checks.
	checkedAtOnce = 50
)

// phase is a part of a synchronization. The empty phase begins one.
type phase string

// The phases, in order.
const (
	phaseProducts phase = "products"
	phaseDeleted  phase = "deleted"
	phaseDeals    phase = "deals"
)

// progress is the payload of a Synchronize task.
type progress struct {
	Connection int   `json:"connection"`
	Phase      phase `json:"phase,omitempty"`
	// Cursor is the CRM's cursor of the next page, and After the one of the products that are checked.
	Cursor string        `json:"cursor,omitempty"`
	After  *store.Cursor `json:"after,omitempty"`
	// Since is the time since which deals are read, and Began the beginning of the present synchronization.
	Since time.Time `json:"since"`
	Began time.Time `json:"began,omitzero"`
	// Requested is Record.Requested at the beginning of the present synchronization.
	Requested int `json:"requested,omitempty"`
	// Imported reports whether the present synchronization has imported products.
	Imported bool `json:"imported,omitempty"`
	Read     int  `json:"read,omitempty"`
	Made     int  `json:"made,omitempty"`
	Failed   int  `json:"failed,omitempty"`
}

func syncMessage(o tenant.Owner, r *Record) task.Message {
	return message(Synchronize, o, r.ID, task.ID(Synchronize, r.ID, r.Connection))
}

// Sync adds to the transaction that an integration is synchronized now. The caller saves the record afterwards: a
// synchronization in progress, which may have read without the new mapping, is followed by another.
func (r *Record) Sync(tx *store.Tx, now time.Time, o tenant.Owner) error {
	r.Requested++
	return task.Wake(tx, now, syncMessage(o, r))
}

// synchronize takes a page a step, and waits for the next synchronization after the last.
func (w *Worker) synchronize(ctx context.Context, r *task.Run) error {
	var p progress
	if err := errors.Join(r.Decode(&p), r.Kept("progress", &p)); err != nil || r.Cause() != nil {
		return err
	}
	c, err := w.open(ctx, r)
	if err != nil {
		return social.Again(err, 0)
	}
	if c == nil || c.r.Connection != p.Connection {
		// A new connection has a task of its own, and so has a connection that is connected again.
		return nil
	}
	last := false
	switch p.Phase {
	case phaseProducts:
		err = w.products(ctx, c, &p)
	case phaseDeleted:
		err = w.deleted(ctx, c, &p)
	case phaseDeals:
		last, err = w.deals(ctx, c, &p)
	default:
		err = w.begin(ctx, c, &p)
	}
	if platform.Refuses(err) || errors.Is(err, task.ErrDeaths) {
		// The connected user may not read these objects, or they end what reads them: the rest goes on.
		w.note(ctx, c.r.ID, err)
		last, err = p.Phase == phaseDeals, nil
		p.Phase, p.Cursor, p.After = phaseDeals, "", nil
	}
	switch {
	case err != nil:
		return c.answer(ctx, err)
	case last:
		return w.wait(ctx, r, p)
	}
	return errors.Join(r.Keep("progress", p), r.Sleep(0))
}

// begin subscribes to the webhooks, reads the pipelines, and begins with the products.
func (w *Worker) begin(ctx context.Context, c *connection, p *progress) error {
	if !c.Facts().Shared {
		if err := c.Subscribe(ctx, c.account(), c.r.HookURL(c.secrets.Hook)); err != nil {
			// The daily synchronization works without webhooks, which not every plan of a CRM has.
			if !platform.Refuses(err) {
				return err
			}
			w.note(ctx, c.r.ID, err)
		}
	}
	var pipelines []crm.Pipeline
	err := c.run.Reading(ctx, func() (err error) {
		pipelines, err = c.Pipelines(ctx, c.account())
		return err
	})
	if errors.Is(err, task.ErrDeaths) {
		w.note(ctx, c.r.ID, err)
		pipelines, err = nil, nil
	}
	if err != nil && !platform.Refuses(err) {
		return err
	}
	pipelines = Described(pipelines)
	*p = progress{Connection: p.Connection, Since: p.Since, Began: w.Now(), Requested: c.r.Requested,
		Phase: phaseProducts}
	if !c.r.Mapping.Products.Import {
		p.Phase = phaseDeals
	}
	c.run.Also(func(ctx context.Context, tx *store.Tx) error {
		it, r, err := w.read(ctx, c.r.ID)
		if err != nil || !r.Usable() || len(pipelines) == 0 || same(r.Pipelines, pipelines) {
			return err
		}
		r.Pipelines = pipelines
		return r.Save(tx, w.Now(), it.Owner, it, "")
	})
	return nil
}

func same(a, b []crm.Pipeline) bool {
	return slices.EqualFunc(a, b, func(a, b crm.Pipeline) bool {
		return a.ID == b.ID && a.Name == b.Name && slices.Equal(a.Stages, b.Stages)
	})
}

func (w *Worker) products(ctx context.Context, c *connection, p *progress) error {
	read := w.Now()
	var page crm.Page[crm.Product]
	err := c.run.Reading(ctx, func() (err error) {
		page, err = c.Products(ctx, c.account(), p.Cursor)
		return err
	})
	if err != nil {
		return err
	}
	for _, product := range page.Items {
		p.Read++
		done, err := w.take(ctx, c, product, read)
		var refused *errs.Error
		switch {
		case errors.As(err, &refused) && refused.Code != errs.ProviderUnavailable && refused.Code != errs.Timeout:
			p.Failed++
			w.note(ctx, c.r.ID, err)
		case err != nil:
			return err
		case done != record.Unchanged:
			p.Made++
		}
	}
	if p.Cursor = page.Next; p.Cursor == "" {
		p.Phase, p.Imported = phaseDeleted, true
	}
	return nil
}

// deleted archives those of a page of imported products that the CRM does not have any more.
func (w *Worker) deleted(ctx context.Context, c *connection, p *progress) error {
	ids, next, err := w.importer().Bound(ctx, c.it.Owner, c.r.ID, p.After, checkedAtOnce)
	if err != nil {
		return err
	}
	if len(ids) > 0 {
		var existing []string
		err := c.run.Reading(ctx, func() (err error) {
			existing, err = c.Existing(ctx, c.account(), ids)
			return err
		})
		if err != nil {
			return err
		}
		for _, id := range ids {
			if slices.Contains(existing, id) {
				continue
			}
			archived, err := w.importer().Archive(ctx, c.it.Owner, c.r.ID, id)
			if err != nil {
				return err
			}
			if archived {
				p.Made++
			}
		}
	}
	if p.After = next; next == nil {
		p.Phase = phaseDeals
	}
	return nil
}

// deals starts a Read task for each deal of a page that is in a stage that makes content and has made none. It reports
// whether the page was the last.
func (w *Worker) deals(ctx context.Context, c *connection, p *progress) (last bool, err error) {
	if len(c.r.Mapping.Stages) == 0 {
		return true, nil
	}
	var page crm.Page[crm.Deal]
	err = c.run.Reading(ctx, func() (err error) {
		page, err = c.Deals(ctx, c.account(), p.Since.Add(-overlap), p.Cursor)
		return err
	})
	if err != nil {
		return false, err
	}
	p.Read += len(page.Items)
	for _, d := range page.Items {
		if d.Changed.Before(c.r.FirstAt.Truncate(time.Second)) || c.r.before(d) || c.r.stageOf(d) == nil {
			continue
		}
		made, err := w.DB.Lookup(ctx, madeKey(c.it.Owner, c.r.ID, d.ID, d.Pipeline, d.Stage))
		if err != nil {
			return false, err
		}
		if made.Kind != "" {
			continue
		}
		tx := &store.Tx{}
		if err := w.Hint(tx, c.it.Owner, c.r.ID, crm.DealObject, d.ID, strconv.FormatInt(d.Changed.Unix(), 36),
			""); err != nil {
			return false, err
		}
		if err := w.DB.Commit(ctx, tx); err != nil && !errors.Is(err, store.ErrConflict) {
			return false, err
		}
	}
	p.Cursor = page.Next
	return p.Cursor == "", nil
}

// wait ends a synchronization, whose result callers see, and waits for the next one. That follows at once if it was
// requested since this one began.
func (w *Worker) wait(ctx context.Context, r *task.Run, p progress) error {
	_, seen, err := w.read(ctx, r.Subject)
	if err != nil {
		return social.Again(err, 0)
	}
	now, pause := w.Now(), time.Duration(0)
	if seen.Requested == p.Requested {
		pause = sweepEvery - task.Jitter(sweepSpread)
	}
	r.Also(func(ctx context.Context, tx *store.Tx) error {
		it, present, err := w.read(ctx, r.Subject)
		if err != nil || !present.Usable() {
			return err
		}
		if present.Requested != seen.Requested {
			return task.ErrMoved
		}
		present.LastSync = &Sync{At: resource.Instant(now), Read: p.Read, Made: p.Made, Failed: p.Failed}
		present.Imported = present.Imported || p.Imported && present.Mapping.Products.Import
		return present.Save(tx, now, it.Owner, it, "")
	})
	return errors.Join(r.Keep("progress", progress{Connection: p.Connection, Since: p.Began}), r.Sleep(pause))
}
