package content

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/calendar"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media/compose/theme"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/profile"
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
	quote.CallTerms
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

// create creates an item: open reads what the body refers to, accepted checks the body and plans the work, and then the
// item, its work and its reservation are added to one transaction.
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
	if err := errors.Join(refs.media.Hold(tx, now, mediaUses(r)), refs.keepDraws(tx)); err != nil {
		return out, err
	}
	return s.view(ctx, r)
}

// accepted returns the item of a body after all checks, except for its money, with the price of a mode.
func (s *Service) accepted(ctx context.Context, p *auth.Principal, b createBody, refs references, priced tenant.Mode,
	now time.Time) (*item.Record, error) {
	if _, found := refs.factories[b.FactoryID]; found {
		resource.Makes(ctx, resource.Concern{FactoryID: b.FactoryID, ProfileID: refs.owner.Profile,
			Kind: string(b.Kind)})
	}
	if err := b.check(p.Mode); err != nil {
		return nil, err
	}
	if err := refs.draw(&b, now); err != nil {
		return nil, err
	}
	r, err := s.newRecord(b, refs, priced, now)
	if _, found := refs.factories[b.FactoryID]; err != nil && !found {
		return nil, s.lost(ctx, b.FactoryID, err)
	}
	if err != nil {
		return r, err
	}
	refs.spend(r)
	r.PublishFor(p)
	attached := slices.Concat(refs.factories[b.FactoryID].SocialAccountIDs, b.Accounts)
	if err := refs.meet(s.vary(p.Owner, r, b.Variants.items(), attached, refs)); err != nil {
		return nil, err
	}
	if r.Item.Provided() && b.Accounts == nil {
		err := s.takesOwn(ctx, p, refs.factories[b.FactoryID].SocialAccountIDs, refs, r)
		if err := refs.meet(err); err != nil {
			return nil, err
		}
	}
	if b.PublishAt == nil {
		return r, refs.meet(ruler{s}.lawful(ctx, r, refs.factories[b.FactoryID].SocialAccountIDs, now))
	}
	return r, refs.meet(s.order(ctx, p, b, refs, r, now))
}

// lost returns the error of a factory that was not found. Its message says if the account has it in the other mode.
func (s *Service) lost(ctx context.Context, factoryID string, err error) error {
	_, why := resource.Find(ctx, s.db, id.Factory, factory.Kind, factoryID)
	if errs.CodeOf(why) != errs.NotFound {
		return err
	}
	return errs.At("/factory_id", why)
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
	b.makeAs(f)
	if !factoryrecord.Makes(f.ContentTypes, string(b.Kind), b.Format) {
		return nil, errs.Invalid("/kind", "is not among the content_types of the factory, which are %s",
			strings.Join(f.ContentTypes, ", "))
	}
	if err := checkSong(b.Kind, f.Type); err != nil {
		return nil, err
	}
	r := &item.Record{
		Item: item.Item{
			Resource:  resource.New(id.New(id.ContentItem, now), now, b.Metadata),
			FactoryID: f.ID, Kind: b.Kind, Texts: item.Texts{Hashtags: []string{}},
			Content:  item.Content{Prompt: b.Prompt, Scenes: []item.Scene{}},
			Warnings: []item.Warning{}, Hooks: []string{}, Slides: []item.Slide{},
			Retold: item.Retold{FromParts: []int{}},
			Outlook: item.Outlook{Outdated: item.Ways{}, SocialAccountIDs: []string{},
				OmittedAccounts: []item.OmittedAccount{}},
			Publications: []item.Publication{},
			Sources:      []item.Quoted{},
			State:        item.Queued, Attempt: 1, Source: item.SourceGenerated, AIGenerated: true,
			Variants: map[string]item.Variant{}, Previews: []item.Preview{}, Approval: approvalOf(f),
		},
		Attempt: item.Attempt{Sandbox: b.Sandbox, AcceptedAt: now},
		Outlets: item.Outlets{Automatic: f.AutoPublish},
		Slot:    b.slot,
	}
	b.into(r)
	legal := a.legal[f.ID]
	if r.Item.AdMarking = b.AdMarking; r.Item.AdMarking == nil {
		r.Item.AdMarking = legal.AdMarking
	}
	var err error
	if r.Item.Language, err = factory.Language(b.Language, f.Language); err != nil {
		return nil, err
	}
	if r.Attempt.Adapt, err = a.adapted(&b, f); err != nil {
		return nil, err
	}
	if r.Brief, err = NewBrief(f, legal, a.designs[f.ID]); err != nil {
		return nil, err
	}
	if b.Source == item.SourceProvided {
		if err := a.provide(&b, r); err != nil {
			return nil, err
		}
		return r, item.PlannerOf(r).PlanAdapt(s.offer, mode == tenant.Live)
	}
	return r, s.planGeneration(&b, a, f, r, mode, now)
}

// planGeneration completes the record of an item that models make, and plans its parts.
func (s *Service) planGeneration(b *createBody, a references, f factory.Factory, r *item.Record, mode tenant.Mode,
	now time.Time) (err error) {
	switch b.Kind {
	case item.Video:
		format := cmp.Or(b.Format, item.FormatShort)
		r.Item.Format = &format
	case item.Carousel:
		setSlides(r, b.Slides)
	}
	Restyle(&r.Brief, b.trial)
	if err := a.retell(b, r); err != nil {
		return err
	}
	if b.Kind == item.Post {
		r.Headlined = r.Brief.Headlined
		r.Head(said(b.Headline), b.ShowHeadline)
	}
	r.Item.Quality = resource.Text(item.QualityOf(b.Quality, f.Quality))
	if r.Brief.Product, err = a.product(*b, now); err != nil {
		return err
	}
	r.Item.ProductID, r.Item.PromotionID = r.Brief.Product.IDs()
	if p := a.products[b.ProductID]; p != nil && p.Steered && f.AutoPublish {
		r.Item.Approval = item.ApprovalIn(item.ApprovalPending, append(r.Item.Approval.Reasons, item.SteeredProduct)...)
	}
	r.Item.Warnings = b.thinBrief(f, r)
	w := b.choices()
	if err := a.files(&w); err != nil {
		return err
	}
	if !b.Reuse {
		return item.PlannerOf(r).Plan(s.offer, w, mode == tenant.Live)
	}
	return a.planCopies(b, r, w, s.offer, mode == tenant.Live)
}

// mediaUses counts the records that show each media.
func mediaUses(records ...*item.Record) map[string]int {
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

// setSlides sets the slides of a carousel.
func setSlides(r *item.Record, slides []slideBody) {
	if slides == nil {
		slides = make([]slideBody, defaultSlides)
	}
	for i, slide := range slides {
		r.Item.Slides = append(r.Item.Slides, item.Slide{Text: slide.Text, Body: resource.Text(slide.body())})
		if slide.Text != "" {
			r.CallerTexts.Slides = append(r.CallerTexts.Slides, i)
		}
	}
}

// chooseFormat makes a video without a format a long one, if the factory makes no others.
func (b *createBody) chooseFormat(types []string) {
	if b.Kind == item.Video && b.Format == "" && !factoryrecord.Makes(types, string(b.Kind), item.FormatShort) {
		b.Format = item.FormatLong
	}
}

// makeAs sets how a video, or another item that plays, is made as its factory has it, where the body says nothing of
// it.
func (b *createBody) makeAs(f factory.Factory) {
	if b.Source == item.SourceProvided || b.Reuse {
		return
	}
	if m, named := catalog.Find(b.Model); b.Kind == item.Video && b.Visuals == "" &&
		(!named || m.Kind == provider.KindVideo == (f.Visuals == item.VisualsClips)) {
		b.Visuals = string(f.Visuals)
	}
	if b.Kind == item.Video && b.Music == "" {
		b.Music = string(f.Music)
	}
	if f.DurationSeconds != nil && b.DurationSeconds == nil && b.Script == nil && b.Scenes == nil &&
		(item.Options{DurationSeconds: f.DurationSeconds, Model: b.Model}).Check(b.Kind,
			cmp.Or(b.Format, item.FormatShort)) == nil {
		b.DurationSeconds = f.DurationSeconds
	}
}

// batchOp is the operation that creates several items.
const batchOp = "createContentItems"

// acceptance is a batch while it is checked, and then accepted or rehearsed.
type acceptance struct {
	*Service
	p      *auth.Principal
	now    time.Time
	bodies []createBody
	refs   references
	terms  *quote.Terms
	// records has the record of each body, or nil for one that a rehearsal refuses.
	records []*item.Record
}

// createBatch creates several items as create does, in one transaction, or shows what they would be.
func (s *Service) createBatch(ctx context.Context, tx *store.Tx, in *batchInput) (out batch, err error) {
	a := &acceptance{Service: s, p: auth.FromContext(ctx), now: s.now(), bodies: in.Body.Items}
	if a.terms, err = quote.Open(ctx, s.db, a.now, batchOp, in.Body.CallTerms); err != nil {
		return out, err
	}
	if a.refs, err = s.open(ctx, a.p, a.bodies...); err != nil {
		return out, err
	}
	if err := a.terms.Stamp(a.refs.stamp(a.bodies)); err != nil {
		return out, err
	}
	if err := a.check(ctx); err != nil {
		return out, err
	}
	filled := a.terms.Tx(tx)
	if out, err = a.enter(ctx, filled); err != nil {
		return out, err
	}
	if a.terms.Rehearsed() {
		return a.rehearse(ctx, tx, filled, out)
	}
	var reserved int64
	var ids []string
	for _, r := range a.records {
		reserved += r.Attempt.Credits
		ids = append(ids, r.Item.ID)
	}
	return out, a.terms.Use(tx, a.refs.owner, reserved, ids...)
}

// check makes the records of the bodies. It checks everything but the balance.
func (a *acceptance) check(ctx context.Context) error {
	var bad batchErrors
	var accepted []*item.Record
	for i, b := range a.bodies {
		if a.terms.Rehearsed() {
			a.refs.collect = func(err error) error { return a.terms.MeetAt(i, err) }
		}
		r, err := a.accepted(ctx, a.p, b, a.refs, a.p.Mode, a.now)
		if err != nil {
			// An item of no factory cannot be shown in a rehearsal.
			if a.terms.Rehearsed() && id.Valid(id.Factory, b.FactoryID) {
				err = a.terms.MeetAt(i, err)
			} else {
				err = bad.add(i, err)
			}
			if err != nil {
				return err
			}
			a.records = append(a.records, nil)
			continue
		}
		bound, err := a.terms.Bound(i, r.Attempt.PriceBasis())
		if err != nil {
			return err
		}
		r.Attempt.Bound(bound)
		a.records, accepted = append(a.records, r), append(accepted, r)
	}
	if err := bad.err(); err != nil {
		return err
	}
	if err := a.terms.Meet(a.moderator.checkAll(ctx, a.p.Mode, a.bodies)); err != nil {
		return err
	}
	return a.terms.Meet(rehearsedError(a.p, accepted...))
}

// enter adds the items to the transaction, with their work.
func (a *acceptance) enter(ctx context.Context, tx *store.Tx) (out batch, err error) {
	var works []generate.Order
	var accepted []*item.Record
	for _, r := range a.records {
		if r == nil {
			continue
		}
		if accepted = append(accepted, r); !r.Attempt.Finished() {
			order := item.PlannerOf(r).Order(a.refs.owner)
			r.Item.Usual = order.Usual()
			works = append(works, order)
		}
	}
	var ticket generate.Ticket
	if len(works) > 0 {
		ticket, err = generate.AcceptBatch(tx, a.now, works, ledger.PayerOf(a.now, a.p), a.refs.balance)
		if err := a.terms.Meet(err); err != nil {
			return out, err
		}
	}
	if err := errors.Join(a.refs.media.Hold(tx, a.now, mediaUses(accepted...)), a.refs.keepDraws(tx)); err != nil {
		return out, err
	}
	for _, r := range accepted {
		claim(tx, a.now, a.refs.owner, r)
		if r.Attempt.Finished() {
			if err := item.PlannerOf(r).Finish(tx, a.now, a.refs.owner); err != nil {
				return out, err
			}
		} else {
			r.Attempt.Ticket = ticket
		}
		if err := r.Create(tx, a.refs.owner); err != nil {
			return out, err
		}
		v, err := a.view(ctx, r)
		if err != nil {
			return out, err
		}
		out = append(out, v)
	}
	if n := tx.Len(); n > maxWrites {
		return out, a.terms.Meet(errs.Invalid("/items", "are too many for one call: they are created all or none, in "+
			"one transaction of at most %d writes, and those with source provided or next_slot take several. Send at "+
			"most %d such items in a call", maxWrites, len(accepted)*maxWrites/n))
	}
	return out, nil
}

// batchErrors collects why items of a batch cannot be accepted.
type batchErrors struct {
	first   *errs.Error
	details []errs.Detail
}

// add notes the error of the i-th item. It returns err unchanged unless callers may see it.
func (f *batchErrors) add(i int, err error) error {
	var e *errs.Error
	if !errors.As(err, &e) {
		return err
	}
	at := fmt.Sprintf("/items/%d", i)
	for _, d := range detailsOf(e) {
		f.details = append(f.details, errs.Detail{Param: at + d.Param, Message: d.Message})
	}
	f.first = cmp.Or(f.first, e)
	return nil
}

// detailsOf returns the details of an error, or the error as one.
func detailsOf(e *errs.Error) []errs.Detail {
	if e.Details != nil {
		return e.Details
	}
	return []errs.Detail{{Param: e.Param, Message: e.Message}}
}

// addAt notes the error of the item with an id, which the body names in a place.
func (f *batchErrors) addAt(place, itemID string, err error) error {
	var e *errs.Error
	if !errors.As(err, &e) {
		return err
	}
	for _, d := range detailsOf(e) {
		message := itemID + ": " + d.Message
		if d.Param != "" {
			message = itemID + ": " + d.Param + ": " + d.Message
		}
		f.details = append(f.details, errs.Detail{Param: place, Message: message})
	}
	f.first = cmp.Or(f.first, e)
	return nil
}

// err returns the error of the whole batch, or nil if no item was refused.
func (f *batchErrors) err() error {
	if f.first == nil {
		return nil
	}
	e := errs.InvalidFields(f.details...)
	e.Code, e.Context = f.first.Code, f.first.Context
	return e
}

// Rules refuses members that do not fit the kinds of the items.
func (b *batchBody) Rules() error {
	var bad batchErrors
	for i := range b.Items {
		if err := b.Items[i].Rules(); err != nil {
			if err := bad.add(i, err); err != nil {
				return err
			}
		}
	}
	return bad.err()
}

// NewBrief returns the brief of a factory. The design is that of its template, or nil.
func NewBrief(f factory.Factory, legal profile.Legal, design *theme.Theme) (item.Brief, error) {
	settings, err := f.Settings.MarshalJSON()
	if err != nil {
		return item.Brief{}, err
	}
	topics := make([]string, len(f.Topics))
	for i, t := range f.Topics {
		topics[i] = string(t)
	}
	return item.NewBrief(item.Factory{
		ID: f.ID, Region: legal.Country(), Zone: zoneOf(f, legal.Country()), Name: f.Name, Type: string(f.Type),
		Description: string(f.Description),
		Audience:    string(f.Audience), Tone: string(f.Tone),
		Topics: topics, Settings: settings, Models: f.Models, Replace: f.ReplaceRetiredModels,
		CaptionLine: f.AICaptionLine,
		TunedModel:  f.TrainedText(), Logo: f.Files.Logo,
		Intro: f.Files.Intro, Outro: f.Files.Outro,
		Sells: f.Type == factory.Seller, Design: design,
	})
}

// zoneOf returns the time zone of a factory: that of its schedule, or else of its country.
func zoneOf(f factory.Factory, country string) string {
	if f.Schedule != nil {
		return f.Schedule.Timezone
	}
	return calendar.Zone(calendar.Country(country, f.Language, ""))
}

// A prompt below these says too little to write from: words, and characters in scripts without spaces.
const (
	leastWords      = 6
	leastCharacters = 15
)

// mostFacts is the number of facts that a warning names.
const mostFacts = 3

// thinBrief warns that a text will be generic, and names the facts that would help most. It returns none if the prompt
// or the factory says enough, or if the caller gives the facts in another way.
func (b *createBody) thinBrief(f factory.Factory, r *item.Record) []item.Warning {
	var s struct {
		Sources, Credentials []any
		Voice                struct{ Samples []string }
	}
	_ = json.Unmarshal(f.Settings, &s) // they were checked when they were set
	words, characters := len(strings.Fields(b.Prompt)), utf8.RuneCountInString(b.Prompt)
	short := words < leastWords && characters < leastWords*leastCharacters/2
	if words == 1 { // perhaps of a script without spaces
		short = characters < leastCharacters
	}
	given := r.Brief.Product != nil || r.Origin != nil || b.slot != nil ||
		len(r.CallerTexts.Texts)+len(r.CallerTexts.Slides) > 0
	if !short || given || f.Description != "" && f.Audience != "" {
		return []item.Warning{}
	}
	missing := []item.MissingFact{{Member: "prompt",
		Ask: "Say what has happened, where, when and with whom: a place, a number, a name."}}
	for _, fact := range []struct {
		lacks       bool
		member, ask string
	}{
		{f.Type == factory.Seller, "product_id", "Name the product: its description, price and promotion become " +
			"facts."},
		{f.Type == factory.News && len(s.Sources) == 0, "factory.settings.sources",
			"Add the addresses of sources to report from."},
		{f.Description == "", "factory.description",
			"Say what the channel is about, and what it has that others have not."},
		{f.Audience == "", "factory.audience", "Say who reads it, and what they want to know or to do."},
		{f.Type == factory.Expert && len(s.Credentials) == 0, "factory.settings.credentials",
			"Say what the expert may be asked about, and why."},
		{len(s.Voice.Samples) == 0, "factory.settings.voice.samples",
			"Add three posts of yours: texts learn their length, rhythm and address."},
	} {
		if fact.lacks {
			missing = append(missing, item.MissingFact{Member: fact.member, Ask: fact.ask})
		}
	}
	missing = slices.Clip(missing[:min(len(missing), mostFacts)])
	return []item.Warning{{Code: item.ThinBrief, Facts: missing,
		Message: "The prompt and the factory say little, so the text will be general. Add the facts, and regenerate " +
			"the item."}}
}

// New is an item that the service makes on behalf of a caller.
type New struct {
	FactoryID, Kind, Prompt string
	// ProductID is the product that it presents, or empty.
	ProductID string
	Metadata  resource.Metadata
}

// Make adds an item to the transaction, on behalf of a principal. Make and the commit refuse it as createContentItem
// does.
func (s *Service) Make(ctx context.Context, tx *store.Tx, p *auth.Principal, n New) (item.Item, error) {
	return s.create(auth.NewContext(ctx, p), tx, &createInput{createBody{
		FactoryID: n.FactoryID, Kind: item.Kind(n.Kind), Prompt: n.Prompt, ProductID: n.ProductID, Metadata: n.Metadata,
	}})
}

// CreateShape returns the JSON Schema of the body of createContentItem, without its factory.
func CreateShape() (json.RawMessage, error) {
	return httpapi.Shape(reflect.TypeFor[createBody](), "factory_id", "publish_at", "social_account_ids", "options",
		"metadata", "sandbox")
}

// ChangeShape returns the JSON Schema of the body of updateContentItem.
func ChangeShape() (json.RawMessage, error) {
	return httpapi.Shape(reflect.TypeFor[patchBody](), "metadata")
}

// Find returns an item of the caller.
func (s *Service) Find(ctx context.Context, itemID string) (item.Item, error) {
	r, _, err := s.find(ctx, itemID)
	if err != nil {
		return item.Item{}, err
	}
	return r.Public(), nil
}

// ChangeFrom is updateContentItem with a parsed JSON value as its body. Places in errors begin with the member body.
func (s *Service) ChangeFrom(ctx context.Context, tx *store.Tx, itemID string, body map[string]any) (out item.Item,
	err error) {
	r, it, err := s.find(ctx, itemID)
	if err != nil {
		return out, err
	}
	if err := r.Item.Permit(item.Update); err != nil {
		return out, err
	}
	if err := httpapi.CheckPatch(reflect.TypeFor[patchBody](), body); err != nil {
		return out, errs.Below("/body", err)
	}
	set, err := httpapi.Merge(textsOf(r), body)
	if err != nil {
		return out, errs.Below("/body", err)
	}
	sent := map[string]bool{}
	for name, value := range body {
		sent[name] = value != nil
	}
	out, err = s.change(ctx, tx, it, r, set, sent)
	return out, errs.Below("/body", err)
}

// Check checks a body of createContentItem, a parsed JSON value, as the operation does, except for
// its money. Places in errors begin with the member body.
func (s *Service) Check(ctx context.Context, body any) error {
	b, err := httpapi.Member[createBody]("body", body)
	if err != nil {
		return err
	}
	p := auth.FromContext(ctx)
	refs, err := s.open(ctx, p, b)
	if err != nil {
		return err
	}
	_, err = s.accepted(ctx, p, b, refs, p.Mode, s.now())
	return errs.Below("/body", err)
}

// CheckBody checks a body of createContentItem, a parsed JSON value, by itself: it reads nothing that the body refers
// to. Places in errors begin with the member body.
func CheckBody(body any) error {
	b, err := httpapi.Member[createBody]("body", body)
	if err != nil {
		return err
	}
	return errs.Below("/body", b.Rules())
}

// CreateFrom is createContentItem with a parsed JSON value as its body. Places in errors begin with the member body.
func (s *Service) CreateFrom(ctx context.Context, tx *store.Tx, body any) (item.Item, error) {
	b, err := httpapi.Member[createBody]("body", body)
	if err != nil {
		return item.Item{}, err
	}
	it, err := s.create(ctx, tx, &createInput{Body: b})
	return it, errs.Below("/body", err)
}

// order records when and where a new item is published. It refuses what scheduling would refuse, as far as that is
// known before the item is generated.
func (s *Service) order(ctx context.Context, p *auth.Principal, b createBody, refs references, r *item.Record,
	now time.Time) error {
	if err := p.Require(auth.ContentPublish, "/publish_at"); err != nil {
		return err
	}
	if err := b.PublishAt.check(refs.clock); err != nil {
		return err
	}
	f := refs.factories[b.FactoryID]
	w := &publishRequest{s: s, owner: refs.owner, accountIDs: b.Accounts, items: refs.accounts, options: b.Options,
		factory: f, gate: publication.Gate{Record: r, At: b.PublishAt.Time.Time, Any: b.PublishAt.Next}}
	if b.PublishAt.Next {
		w.gate.At = refs.clock
	}
	targets, err := w.targets(ctx, f.SocialAccountIDs)
	if err != nil {
		return err
	}
	at := b.PublishAt.Time
	if b.PublishAt.Next {
		slot, accounts, err := s.next(ctx, f, r, targets, refs.clock, *refs.slots)
		if err != nil {
			return err
		}
		at = resource.Instant(slot)
		for _, accountID := range accounts {
			*refs.slots = append(*refs.slots, item.Slot{Account: accountID, At: at})
			r.ClaimedAccounts = append(r.ClaimedAccounts, accountID)
		}
	}
	r.Item.PublishAt, r.RequestedSchedule = &at, &item.ScheduleRequest{Options: maps.Clone(b.Options)}
	r.Item.SocialAccountIDs = append([]string{}, b.Accounts...)
	return nil
}

// accountKeys returns the keys of the accounts that bodies name.
func accountKeys(bodies []createBody) (keys []store.Key) {
	for _, b := range bodies {
		for _, accountID := range slices.Concat(b.Accounts, slices.Sorted(maps.Keys(b.Variants))) {
			if key := store.IDKey(accountID); id.Valid(id.SocialAccount, accountID) && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}
