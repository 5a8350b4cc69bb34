package content

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// maxBatch bounds the items of a batch.
const maxBatch = 50

// defaultSlides is the number of slides of a carousel whose body names none.
const defaultSlides = 5

// maxWrites bounds the writes of a batch. A transaction takes 100, some of which record the answer.
const maxWrites = 94

type batchBody struct {
	// Items to create: all or none.
	Items []createBody `json:"items" minItems:"1" maxItems:"50" nullable:"false"`
	quote.Given
}

type batchInput struct {
	Body batchBody
}

// batch holds the items that a call has created, in their order.
type batch []item.Item

// Pending returns the list of the created items, and the time to look at it.
func (b batch) Pending() (path string, after time.Duration) {
	if b[0].Rehearsal != nil {
		return "", 0
	}
	for _, it := range b {
		after = max(after, it.Usual)
	}
	return "/v1/content-items?limit=" + strconv.Itoa(maxBatch) + "&" + resource.MadeAt(b[0].CreatedAt.Time), after
}

// Schema describes the answer in the OpenAPI document.
func (batch) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: r.Schema(reflect.TypeFor[item.Item](), true, "")}
}

// registerCreate adds the operations that create items to the router.
func (s *Service) registerCreate(r *httpapi.Router) {
	codes := []errs.Code{errs.NotFound, errs.InvalidState, errs.UnsupportedModel, errs.UnsupportedMedia,
		errs.InsufficientBalance, errs.SpendLimitReached, errs.QueueFull, errs.ProviderUnavailable, errs.RuleViolated}
	create := op("createContentItem", http.MethodPost, "/v1/content-items", auth.ContentWrite, "Create a content item",
		"The item is generated in the background, with the current settings of the factory, whose `content_types` "+
			"must contain its kind. The event `content.generated` or `content.failed` reports its end. The cost "+
			"depends on the request: it is reserved now, charged when the item is generated, and released if it "+
			"fails, but for the completed parts where finished media cannot be made of what you gave. Canceling "+
			"charges the parts that were completed and releases the rest. With `publish_at` it is scheduled as soon "+
			"as it is generated, as by `POST /v1/content-items/{content_item_id}/schedule`. With a test key nothing "+
			"is spent, and `sandbox` selects the result.").Opening(httpapi.Spending | httpapi.Publishing)
	create.Status, create.Errors = http.StatusAccepted, codes
	httpapi.Write(r, create, s.create)

	batch := op("createContentItems", http.MethodPost, "/v1/content-items/batch", auth.ContentWrite,
		"Create several content items",
		"Creates up to 50 items, each like `POST /v1/content-items`, or none: if one is refused, nothing is created "+
			"or spent. The response lists them in the order of the request. If several are refused, `details` lists "+
			"all, and `code` is that of the first. With `rehearse` nothing is created: the first item of the response "+
			"has the `rehearsal` of the batch, with each refusal.").Opening(httpapi.Spending | httpapi.Publishing)
	batch.Status, batch.Errors = http.StatusAccepted, append(slices.Clone(codes), errs.QuoteUsed)
	httpapi.Write(r, batch, s.createBatch)
}

func (s *Service) create(ctx context.Context, tx *store.Tx, in *createInput) (out item.Item, err error) {
	p, now := auth.FromContext(ctx), s.now()
	refs, err := s.open(ctx, p, in.Body)
	if err != nil {
		return out, err
	}
	r, err := s.accepted(ctx, p, in.Body, refs, p.Mode, now)
	if err != nil {
		return out, err
	}
	if err := rehearsedError(p, r); err != nil {
		return out, err
	}
	if err := s.moderator.check(ctx, p.Mode, in.Body.own()); err != nil {
		return out, err
	}
	claim(tx, s.now(), refs.owner, r)
	if r.Attempt.Finished() {
		if err := item.PlannerOf(r).Finish(tx, now, refs.owner); err != nil {
			return out, err
		}
	} else {
		order := item.PlannerOf(r).Order(refs.owner)
		r.Item.Usual = order.Usual()
		if r.Attempt.Ticket, err = generate.Accept(tx, now, order, ledger.PayerOf(now, p),
			refs.balance); err != nil {
			return out, err
		}
	}
	if err := r.Create(tx, refs.owner); err != nil {
		return out, err
	}
	if err := errors.Join(refs.media.Hold(tx, now, held(r)), refs.keepDraws(tx)); err != nil {
		return out, err
	}
	return s.view(ctx, r)
}

// held returns the numbers of the records that show each media.
func held(records ...*item.Record) map[string]int {
	n := map[string]int{}
	for _, r := range records {
		for _, mediaID := range r.MediaIDs() {
			n[mediaID]++
		}
	}
	return n
}

// checkRehearsal rejects instructions for the sandbox that come with a live key, or contradict each other.
func checkRehearsal(r *item.Rehearsal, mode tenant.Mode) error {
	if r == nil {
		return nil
	}
	return cmp.Or(httpapi.CheckSandbox(true, mode), r.Check(r.Outcome))
}

// rehearsedError returns the error that the records' rehearsals request, or nil.
func rehearsedError(p *auth.Principal, records ...*item.Record) error {
	var outcome string
	var credits int64
	for _, r := range records {
		if r.Attempt.Sandbox == nil {
			continue
		}
		credits += item.PlannerOf(r).LivePrice()
		if generate.RehearsedError(r.Attempt.Sandbox.Outcome, 0, p) != nil && outcome == "" {
			outcome = r.Attempt.Sandbox.Outcome
		}
	}
	return generate.RehearsedError(outcome, credits, p)
}

// newRecord returns the item of a body in the voice of its factory.
func (s *Service) newRecord(b createBody, a references, mode tenant.Mode, now time.Time) (*item.Record, error) {
	b = a.derived(b)
	f, found := a.factories[b.FactoryID]
	if !found {
		e := errs.Missing(factory.Kind, b.FactoryID)
		e.Param = "/factory_id"
		return nil, e
	}
	if f.State == factory.StatePaused {
		e := errs.New(errs.InvalidState, "The factory %s is paused and takes no new content items. Set its state to "+
			"active first.", f.ID)
		e.Param = "/factory_id"
		if err := a.meet(e.In(f.State, "update")); err != nil {
			return nil, err
		}
	}
	b.chooseFormat(f.ContentTypes)
	if !factoryrecord.Makes(f.ContentTypes, string(b.Kind), b.Format) {
		return nil, errs.Invalid("/kind", "is not among the content_types of the factory, which are %s",
			strings.Join(f.ContentTypes, ", "))
	}
	if b.Kind == item.MusicClip && !prompt.Makes(string(f.Type), prompt.Song) {
		return nil, errs.Invalid("/kind", "must not be music_clip for a factory of type %s. Make a post or a video of "+
			"the subject, or make the music with a factory of type musician", f.Type)
	}
	r := &item.Record{
		Item: item.Item{
			Resource:  resource.New(id.New(id.ContentItem, now), now, b.Metadata),
			FactoryID: f.ID, Kind: b.Kind, Texts: item.Texts{Hashtags: []string{}},
			Content:  item.Content{Prompt: b.Prompt, Scenes: []item.Scene{}},
			Warnings: []item.Warning{}, Hooks: []string{}, Slides: []item.Slide{},
			Retold:       item.Retold{FromParts: []int{}},
			Outlook:      item.Outlook{SocialAccountIDs: []string{}, OmittedAccounts: []item.OmittedAccount{}},
			Publications: []item.Publication{},
			Sources:      []item.Quoted{},
			State:        item.Queued, Attempt: 1, Source: item.SourceGenerated, AIGenerated: true,
			Variants: map[string]item.Variant{}, Previews: []item.Preview{}, Approval: approvalOf(f),
		},
		Attempt: item.Attempt{Sandbox: b.Sandbox, Accepted: now},
		Outlets: item.Outlets{Automatic: f.AutoPublish},
		Slot:    b.slot,
	}
	r.Item.Experiment = b.drawn
	b.into(r)
	legal := a.legal[f.ID]
	if r.Item.AdMarking = b.AdMarking; r.Item.AdMarking == nil {
		r.Item.AdMarking = legal.AdMarking
	}
	r.Item.DeepFake, r.Item.Labelled = b.DeepFake, b.Labelled
	var err error
	if r.Item.Language, err = factory.Language(b.Language, f.Language); err != nil {
		return nil, err
	}
	if r.Attempt.Adapt, err = a.adapted(&b, f); err != nil {
		return nil, err
	}
	if b.Source == item.SourceProvided {
		if r.Brief, err = newBrief(f, legal); err != nil {
			return nil, err
		}
		if err := a.provide(&b, r); err != nil {
			return nil, err
		}
		return r, item.PlannerOf(r).PlanAdapt(s.offer, mode == tenant.Live)
	}
	switch b.Kind {
	case item.Video:
		format := cmp.Or(b.Format, item.FormatShort)
		r.Item.Format = &format
	case item.Carousel:
		setSlides(r, b.Slides)
	}
	if r.Brief, err = newBrief(f, legal); err != nil {
		return nil, err
	}
	Restyle(&r.Brief, b.drawn)
	if err := a.retell(&b, r); err != nil {
		return nil, err
	}
	if b.Kind == item.Post {
		r.Headlined = r.Brief.Headlined
		r.Head(said(b.Headline), b.ShowHeadline)
	}
	r.Item.Quality = resource.Text(item.QualityOf(b.Quality, f.Quality))
	if r.Brief.Product, err = a.product(b, now); err != nil {
		return nil, err
	}
	r.Item.ProductID, r.Item.PromotionID = r.Brief.Product.IDs()
	if p := a.products[b.ProductID]; p != nil && p.Steered && f.AutoPublish {
		r.Item.Approval = item.ApprovalIn(item.ApprovalPending, append(r.Item.Approval.Reasons, item.SteeredProduct)...)
	}
	r.Item.Warnings = b.thinBrief(f, r)
	w := b.choices()
	if err := a.files(&w); err != nil {
		return nil, err
	}
	if !b.Reuse {
		return r, item.PlannerOf(r).Plan(s.offer, w, mode == tenant.Live)
	}
	return r, a.planCopies(&b, r, w, s.offer, mode == tenant.Live)
}

// setSlides sets the slides of a carousel.
func setSlides(r *item.Record, slides []slideBody) {
	if slides == nil {
		slides = make([]slideBody, defaultSlides)
	}
	for i, slide := range slides {
		r.Item.Slides = append(r.Item.Slides, item.Slide{Text: slide.Text, Body: resource.Text(slide.body())})
		if slide.Text != "" {
			r.Given.Slides = append(r.Given.Slides, i)
		}
	}
}

// chooseFormat makes a video without a format a long one, if the factory makes no others.
func (b *createBody) chooseFormat(types []string) {
	if b.Kind == item.Video && b.Format == "" && !factoryrecord.Makes(types, string(b.Kind), item.FormatShort) {
		b.Format = item.FormatLong
	}
}
