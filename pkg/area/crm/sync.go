package crm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/platform"
	record "github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/budget"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/httpapi"
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
	Cursor     string        `json:"cursor,omitempty"`
	NextCursor *store.Cursor `json:"after,omitempty"`
	// Since is the time since which deals are read, and Began the beginning of the present synchronization.
	Since time.Time `json:"since"`
	Began time.Time `json:"began,omitzero"`
	// Requests is Record.Requests at the beginning of the present synchronization.
	Requests int `json:"requested,omitempty"`
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
	r.Requests++
	return task.Wake(tx, now, syncMessage(o, r))
}

// synchronize takes a page a step, and waits for the next synchronization after the last.
func (w *Worker) synchronize(ctx context.Context, r *task.Run) error {
	var p progress
	if err := errors.Join(r.Decode(&p), r.Recall("progress", &p)); err != nil || r.Cause() != nil {
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
		p.Phase, p.Cursor, p.NextCursor = phaseDeals, "", nil
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
	*p = progress{Connection: p.Connection, Since: p.Since, Began: w.Now(), Requests: c.r.Requests,
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
	ids, next, err := w.importer().Bound(ctx, c.it.Owner, c.r.ID, p.NextCursor, checkedAtOnce)
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
	if p.NextCursor = next; next == nil {
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
		if d.ChangedAt.Before(c.r.FirstAt.Truncate(time.Second)) || c.r.before(d) || c.r.stageOf(d) == nil {
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
		if err := w.Hint(tx, c.it.Owner, c.r.ID, crm.DealObject, d.ID, strconv.FormatInt(d.ChangedAt.Unix(), 36),
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
	if seen.Requests == p.Requests {
		pause = sweepEvery - task.Jitter(sweepSpread)
	}
	r.Also(func(ctx context.Context, tx *store.Tx) error {
		it, present, err := w.read(ctx, r.Subject)
		if err != nil || !present.Usable() {
			return err
		}
		if present.Requests != seen.Requests {
			return task.ErrMoved
		}
		present.LastSync = &Sync{At: resource.Instant(now), Read: p.Read, Made: p.Made, Failed: p.Failed}
		present.Imported = present.Imported || p.Imported && present.Mapping.Products.Import
		return present.Save(tx, now, it.Owner, it, "")
	})
	return errors.Join(r.Keep("progress", progress{Connection: p.Connection, Since: p.Began}), r.Sleep(pause))
}

// ReadKind is the kind of the task that reads one object of a CRM and does what the mapping says.
const ReadKind task.Kind = "crm.read"

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
		Message: message(ReadKind, o, integrationID, task.ID(ReadKind, subject, 1)),
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
func (w *Worker) take(ctx context.Context, c *connection, p crm.Product, read time.Time) (record.Outcome, error) {
	if c.r.FactoryID == nil || p.ID == "" {
		return record.Unchanged, nil
	}
	o := c.it.Owner
	return w.importer().Import(ctx, o, *c.r.FactoryID, record.Foreign{
		Source: c.r.ID, ID: p.ID, SKU: p.SKU, Fallback: c.r.Kind + "-" + p.ID, Name: p.Name,
		Description: p.Description, URL: p.URL, Price: p.Price, Currency: p.Currency, Archived: p.Archived,
		ReadAt: read,
	}, func(tx *store.Tx, productID string) error {
		c.authority.Hold(tx)
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
	return !d.EnteredAt.IsZero() && d.EnteredAt.Before(r.FirstAt.Truncate(time.Second))
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
	if !c.authority.Has(auth.ContentWrite) {
		return errs.New(errs.InsufficientScope, "%s does not have the scope %s any more. Set the mapping with another "+
			"key.", c.authority.Actor.ID, auth.ContentWrite)
	}
	c.authority.Hold(tx)
	itemID, err := w.Content.Make(ctx, tx, c.authority.Principal, piece)
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

// Refresh is the kind of the task that refreshes the token of an integration before it ends.
const Refresh task.Kind = "crm.refresh"

func refreshMessage(o tenant.Owner, r *Record) task.Message {
	return message(Refresh, o, r.ID, task.ID(Refresh, r.ID, r.Connection))
}

// pause returns the time until the next refresh. It leaves a sixth of the token's life for failures.
func (r *Record) pause(now time.Time) time.Duration {
	life := r.ExpiresAt.Sub(r.RefreshedAt)
	return max(0, r.RefreshedAt.Add(life-life/6).Sub(now))
}

// refresh refreshes the token of an integration again and again.
func (w *Worker) refresh(ctx context.Context, r *task.Run) error {
	var p social.Refreshing
	if err := r.Decode(&p); err != nil {
		return err
	}
	c, err := w.open(ctx, r)
	if err != nil {
		return social.Again(err, 0)
	}
	if c == nil || c.r.Connection != p.Connection || c.r.ExpiresAt.IsZero() {
		return nil
	}
	used, now := c.r.Tokens, w.Now()
	if refused := used > 0 && c.r.RefusedToken == used; !refused && now.Sub(c.r.RefreshedAt) < social.JustNow {
		return r.Sleep(max(social.JustNow, c.r.pause(now)))
	}
	token, err := social.Renew(ctx, r, func(ctx context.Context) (platform.Token, error) {
		return c.Adapter.Refresh(ctx, c.account())
	})
	if task.Waits(err) {
		return err
	}
	if err != nil {
		return r.End(func(ctx context.Context, tx *store.Tx) error { return c.Lost(ctx, tx, err) })
	}
	c.secrets.Account.Token = token
	sealed, err := w.Vault.Seal(ctx, r.Owner, c.r.ID, c.secrets)
	if err != nil {
		return social.Again(err, 0)
	}
	now = w.Now()
	r.Also(func(ctx context.Context, tx *store.Tx) error {
		it, present, err := w.read(ctx, r.Subject)
		if err != nil || !present.Usable() || present.Tokens != used {
			return err // it was disconnected or connected again during the step
		}
		present.SealedCredentials = sealed
		present.stored(now, token)
		return present.Save(tx, now, it.Owner, it, "")
	})
	after := c.r
	if after.stored(now, token); after.ExpiresAt.IsZero() {
		return nil
	}
	return r.Sleep(after.pause(now))
}

// stored notes in the record that a token was stored.
func (r *Record) stored(now time.Time, token platform.Token) {
	r.Tokens++
	r.RefreshedAt, r.ExpiresAt = now, token.ExpiresAt
}

// hooks is what a webhook may have. Those that are forms have few values.
var hooks = budget.Budget{Name: "webhook of a CRM", Bytes: maxHook, Elements: 20_000, Depth: 50, Time: 5 * time.Second}

const (
	// maxHook is the size of the largest webhook.
	maxHook = 256 << 10
	// maxHints bounds the objects of one webhook. The daily synchronization reads the others.
	maxHints = 100
	// maxIntegrations bounds the integrations with one account of a CRM that a webhook of all accounts is for.
	maxIntegrations = 20
)

// hook receives a webhook, and returns the status of the answer. A webhook is a hint: it starts tasks that read the
// objects. A repeat of it starts none.
func (s *Service) hook(req *http.Request, token string) int {
	ctx := req.Context()
	body, err := io.ReadAll(io.LimitReader(req.Body, maxHook+1))
	if err != nil || len(body) > maxHook || hooks.JSON(ctx, body) != nil {
		return http.StatusRequestEntityTooLarge
	}
	h := crm.Hook{URL: httpapi.GatewayOf(ctx).BaseURL + req.URL.RequestURI(), Header: req.Header, Body: body,
		At: s.now()}
	if adapter := s.systems.Of(tenant.Live, token); adapter != nil && adapter.Facts().Shared {
		err = s.shared(ctx, adapter, h)
	} else {
		err = s.own(ctx, token, h)
	}
	switch {
	case err == nil:
		return http.StatusOK
	case errors.Is(err, store.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, crm.ErrForged):
		return http.StatusForbidden
	}
	slog.Error("webhook of a CRM not taken", "error", err)
	return http.StatusServiceUnavailable // the CRM sends it again
}

// own takes a webhook that was sent to the address of an integration.
func (s *Service) own(ctx context.Context, token string, h crm.Hook) error {
	integrationID, secret, _ := strings.Cut(token, ".")
	if !id.Valid(id.Integration, integrationID) {
		return store.ErrNotFound
	}
	it, err := s.db.Get(ctx, store.IDKey(integrationID))
	if err != nil {
		return err
	}
	if it.Kind != Kind {
		return store.ErrNotFound
	}
	r, err := Decode(&it)
	if err != nil {
		return err
	}
	if !web.MatchesBearer(secret, r.Hook) {
		return store.ErrNotFound
	}
	if !r.Usable() {
		return nil // what it names is read when the integration is connected again
	}
	var c Credentials
	if err := s.vault.Open(ctx, it.Owner, r.ID, r.SealedCredentials, &c); err != nil {
		return err
	}
	hints, err := s.systems.Of(it.Owner.Mode, r.Kind).Hints(ctx, c.Account, h)
	if err != nil {
		return err
	}
	return s.take(ctx, it.Owner, &r, hints, h.Body)
}

// shared takes a webhook that was sent to the address of all accounts of a CRM.
func (s *Service) shared(ctx context.Context, adapter crm.Adapter, h crm.Hook) error {
	hints, err := adapter.Hints(ctx, crm.Account{}, h)
	if err != nil {
		return err
	}
	accounts := map[string][]crm.Hint{}
	for _, hint := range hints {
		accounts[hint.Account] = append(accounts[hint.Account], hint)
	}
	for account, hints := range accounts {
		page, err := s.db.List(ctx, store.Query{Index: store.ByParent, Limit: maxIntegrations,
			Partition: RemotePartition(tenant.Live, adapter.Name(), account)})
		if err != nil {
			return err
		}
		for _, listed := range page.Items {
			it, err := s.db.Lookup(ctx, store.IDKey(listed.Parent.SK))
			if err != nil {
				return err
			}
			if it.PK == "" {
				continue
			}
			r, err := Decode(&it)
			if err != nil {
				return err
			}
			if r.Usable() && r.Remote == account {
				if err := s.take(ctx, it.Owner, &r, hints, h.Body); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// take starts a task for each hint whose object the mapping uses. The body of the webhook names the change: a repeat of
// the webhook finds the tasks.
func (s *Service) take(ctx context.Context, o tenant.Owner, r *Record, hints []crm.Hint,
	body []byte) error {
	sum := sha256.Sum256(body)
	version := hex.EncodeToString(sum[:12])
	for _, hint := range hints[:min(len(hints), maxHints)] {
		switch {
		case len(hint.ID) > 64,
			hint.Object == crm.DealObject && len(r.Mapping.Stages) == 0,
			hint.Object == crm.ProductObject && !r.Mapping.Products.Import:
			continue
		}
		tx := &store.Tx{}
		if err := Hint(tx, s.now(), o, r.ID, hint.Object, hint.ID, version, ""); err != nil {
			return err
		}
		if err := s.db.CommitOnce(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}
