package content

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/law"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

type patchBody struct {
	Texts
	// What differs on a platform or on a social account, by its id. A null value removes that variant; null removes
	// all.
	Variants variantsPatch `json:"variants,omitempty" nullable:"true"`
	// Marking of advertising. Null removes it: the next publication takes that of the factory, or else of its profile.
	AdMarking *profile.AdMarkingPatch `json:"ad_marking,omitempty"`
	// Pairs to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

type patchInput struct {
	ItemPath
	httpapi.IfMatch
	Body patchBody
}

// endInput is the input of the operations that end an item or its work.
type endInput struct {
	ItemPath
	httpapi.IfMatch
}

// registerChanges adds the operations that change items to the router.
func (s *Service) registerChanges(r *httpapi.Router) {
	const one = "/v1/content-items/{content_item_id}"
	update := op("updateContentItem", http.MethodPatch, one, auth.ContentWrite, "Change a content item",
		"Takes a JSON merge patch (RFC 7396) of title, caption, hashtags, variants, ad_marking and metadata, until "+
			"publishing begins. "+
			"Generation never overwrites a text that you have set, neither a running attempt nor a later one. A text "+
			"set to null is generated again by the next attempt. The title of a finished story or music clip is part "+
			"of its media: regenerate the item with `reuse` to change it. A change of an item that is going to be "+
			"published by itself, such as a scheduled one, needs the scope content:publish too, unless the item waits "+
			"for an approval again.").Opening(httpapi.Publishing)
	update.Errors = []errs.Code{errs.VersionMismatch, errs.InvalidState, errs.ProviderUnavailable, errs.RuleViolated}
	const correct = "POST /v1/content-items/{content_item_id}/regenerate with reuse corrects it in the finished media"
	update.FixedMembers = map[string]string{
		"slides": correct, "headline": correct, "script": correct, "scenes": correct, "music": correct,
		"cover": correct, "media": "create another item", "ai_generated": "create another item",
		"prompt": "POST /v1/content-items/{content_item_id}/regenerate takes a new prompt",
		"model":  "POST /v1/content-items/{content_item_id}/regenerate takes another model",
		"state": "POST /v1/content-items/{content_item_id}/cancel cancels the item, /regenerate makes " +
			"it again",
		"publish_at":         "POST /v1/content-items/{content_item_id}/schedule sets it",
		"social_account_ids": "POST /v1/content-items/{content_item_id}/schedule sets them",
	}
	httpapi.Write(r, update, s.update)

	remove := op("deleteContentItem", http.MethodDelete, one, auth.ContentWrite, "Delete a content item",
		"Cancels the item if it is queued or being generated. The parts that were completed are charged; the rest of "+
			"the reserved credits is released at once. The media of all attempts are deleted. The response, and the "+
			"event `content.deleted`, show the item in its last state. An item cannot be deleted while it is being "+
			"published.").Opening(httpapi.Deletion)
	remove.Errors = []errs.Code{errs.VersionMismatch, errs.InvalidState}
	httpapi.Write(r, remove, s.remove)

	regenerate := op("regenerateContentItem", http.MethodPost, one+"/regenerate", auth.ContentWrite,
		"Regenerate a content item",
		"Starts a new attempt at an item that has failed or is generated or canceled. It costs as much as a new "+
			"item. With `reuse` it composes the parts that are there again, and only what you correct is made anew "+
			"and charged: a corrected script is spoken again as a whole; a scene with another `visual`, `music` and "+
			"`cover` with the value generated are made again; titles, headlines, texts of slides, texts on scenes "+
			"and media of your own are free; prices of a product in a feed become those of now. `createEstimate` "+
			"returns the price before. Without `reuse`, it uses the "+
			"settings that the factory had when the item was created, and its product as it is now, and keeps the "+
			"texts that you have set. The media and texts of the earlier attempt are shown until the new one has "+
			"succeeded. The files of all attempts are kept until the item is deleted.").
		Opening(httpapi.Spending | httpapi.Publishing)
	regenerate.Status = http.StatusAccepted
	regenerate.Errors = []errs.Code{errs.VersionMismatch, errs.InvalidState, errs.UnsupportedModel,
		errs.UnsupportedMedia, errs.InsufficientBalance, errs.SpendLimitReached, errs.QueueFull,
		errs.ProviderUnavailable, errs.RuleViolated}
	httpapi.Write(r, regenerate, s.regenerate)

	cancel := op("cancelContentItem", http.MethodPost, one+"/cancel", auth.ContentWrite, "Cancel a content item",
		"Stops an item that is queued or being generated, and sends the event `content.canceled`. The parts that "+
			"were completed are charged, and are in `media`; the rest of the reserved credits is released at once. "+
			"`cancel_cost_credits` of the item is the charge if you canceled it now. An item that is already "+
			"generated cannot be canceled: delete it, or leave it.").Opening(httpapi.Nothing)
	cancel.Errors = []errs.Code{errs.VersionMismatch, errs.InvalidState}
	httpapi.Write(r, cancel, s.cancel)
}

// texts are the members of an item that a patch may change.
type texts struct {
	item.Texts
	Metadata  resource.Metadata       `json:"metadata"`
	Variants  map[string]item.Variant `json:"variants"`
	AdMarking *profile.AdMarking      `json:"ad_marking"`
}

func textsOf(r *item.Record) texts {
	return texts{r.Item.Texts, r.Item.Metadata, r.Item.Variants, r.Item.AdMarking}
}

func (s *Service) update(ctx context.Context, tx *store.Tx, in *patchInput) (out item.Item, err error) {
	r, it, err := s.find(ctx, in.ID, in.IfMatch)
	if err != nil {
		return out, err
	}
	if err := r.Item.Permit(item.Update); err != nil {
		return out, err
	}
	set, err := httpapi.MergePatch(ctx, textsOf(r))
	if err != nil {
		return out, err
	}
	return s.change(ctx, tx, it, r, set, httpapi.Patched(ctx))
}

// change takes the changed texts of an item over. Sent has the members of the patch, as httpapi.Patched returns them.
func (s *Service) change(ctx context.Context, tx *store.Tx, it store.Item, r *item.Record, set texts,
	sent map[string]bool) (out item.Item, err error) {
	before, was := r.Item.Title, textsOf(r)
	if sent, ok := sent["variants"]; ok || sent {
		if err := s.patchVariants(ctx, tx, it.Owner, r, set.Variants); err != nil {
			return out, err
		}
	}
	for _, text := range bodyTexts {
		if set, ok := sent[text.name]; ok {
			r.CallerTexts.Set(set, item.Text(text.name))
		}
	}
	if r.Item.GeneratedAt != nil && set.Caption != "" && set.Caption != r.Item.Caption {
		r.Draft = string(cmp.Or(resource.Text(r.Draft), r.Item.Caption))
	}
	if err := law.CheckMarking(set.AdMarking); err != nil {
		return out, err
	}
	r.Item.Texts, r.Item.Metadata, r.Item.AdMarking = set.Texts, set.Metadata.OrEmpty(), set.AdMarking
	r.Item.Hashtags = append([]string{}, set.Hashtags...)
	if given, ok := sent["title"]; ok {
		if err = r.CheckTexts(); given && set.Title != before && r.Item.GeneratedAt != nil && !r.Item.Runs() &&
			r.Item.InMedia() {
			err = errs.Invalid("/title", "is part of the finished media. POST "+
				"/v1/content-items/{content_item_id}/regenerate with reuse and title composes them again, free of "+
				"charge")
		}
	}
	if r.Item.Provided() {
		r.CallerTexts.Set(true, item.Title, item.Caption, item.Hashtags)
		if len(r.Own) == 0 && r.Item.Caption == "" {
			err = errs.All(err, errs.Invalid("/caption", "is required, as the post has no media"))
		}
	}
	if err := errs.All(err, s.fits(ctx, it.Owner, r, was)); err != nil {
		return out, err
	}
	if err := s.moderator.check(ctx, it.Owner.Mode, textsOf(r).own(was)); err != nil {
		return out, err
	}
	if err := s.takeAuthority(ctx, r, was); err != nil {
		return out, err
	}
	happened, err := s.askAgain(ctx, tx, it.Owner, r, was)
	if err != nil {
		return out, err
	}
	if !reflect.DeepEqual(textsOf(r), was) {
		happened = append(happened, event.ContentUpdated)
	}
	return s.write(ctx, tx, it, r, happened...)
}

// takeAuthority records that the item is published with the caller's rights from now on. It refuses a caller who may
// not publish if the item would be published without a further call, unless it goes back to its approval.
func (s *Service) takeAuthority(ctx context.Context, r *item.Record, was texts) error {
	now, p := textsOf(r), auth.FromContext(ctx)
	now.Metadata = was.Metadata
	if reflect.DeepEqual(now, was) {
		return nil
	}
	if r.GoesOut() && !p.Has(auth.ContentPublish) {
		asked := *r
		asked.Item.AskAgain()
		if required, err := s.required(ctx, &asked); err != nil {
			return err
		} else if !required {
			if err := p.RequirePerson(auth.ActPublish); err != nil {
				return err
			}
			return errs.New(errs.InsufficientScope, "The content item is going to be published by itself, so that a "+
				"change needs the scope %s, which the API key lacks. Use a key that has it, or clear the schedule "+
				"first.",
				auth.ContentPublish)
		}
	}
	r.PublishFor(p)
	return nil
}

// fits refuses a change of the texts of a scheduled item that its platforms do not take, a rule of law forbids, or the
// mandate of the caller does not permit.
func (s *Service) fits(ctx context.Context, o tenant.Owner, r *item.Record, was texts) error {
	now := textsOf(r)
	now.Metadata = was.Metadata
	if r.Item.State != item.Scheduled || reflect.DeepEqual(now, was) {
		return nil
	}
	return publication.Refused(publication.Of(s.planned(ctx, o, r), publication.ReasonMandate,
		publication.ReasonChoices, publication.ReasonRule, publication.ReasonPost))
}

// planned returns what the gate refuses of the publications that an item is scheduled for, on behalf of the caller. The
// accounts are not read: their state counts at the time of publication.
func (s *Service) planned(ctx context.Context, o tenant.Owner, r *item.Record) []publication.Refusal {
	g := publication.Gate{Record: r, By: auth.FromContext(ctx), At: r.Item.PlannedAt()}
	var targets []publication.Target
	for _, pub := range r.Item.Publications {
		acct := social.Account{Resource: resource.Resource{ID: pub.SocialAccountID}, Platform: pub.Platform}
		targets = append(targets, publication.Target{Account: social.Record{Account: acct}, Options: pub.Options,
			Limits: s.limits(o.Mode)(pub.Platform), Param: "/social_account_ids"})
	}
	return g.Ask(targets...)
}

func (s *Service) cancel(ctx context.Context, tx *store.Tx, in *endInput) (out item.Item, err error) {
	r, it, work, err := s.findWork(ctx, in)
	if err != nil {
		return out, err
	}
	if err := r.Item.Permit(item.Cancel); err != nil {
		return out, err
	}
	if err := stop(tx, s.now(), it, r, work); err != nil {
		return out, err
	}
	if err := item.Replace(tx, it, r); err != nil {
		return out, err
	}
	if err := r.Notify(tx, it.Owner, event.ContentCanceled); err != nil {
		return out, err
	}
	return s.view(ctx, r)
}

// findWork reads an item and the task of its current attempt; the first attempt's is read in the same round trip.
func (s *Service) findWork(ctx context.Context, in *endInput) (r *item.Record, it, work store.Item, err error) {
	r, it, beside, err := s.findWith(ctx, in.ID, []store.Key{generate.TaskKey(in.ID, 1)}, in.IfMatch)
	if err != nil {
		return nil, it, work, err
	}
	if r.Item.Attempt == 1 || !r.Item.Runs() {
		return r, it, beside[0], nil
	}
	work, err = s.db.Lookup(ctx, generate.TaskKey(r.Item.ID, r.Item.Attempt))
	return r, it, work, err
}

// stop cancels an item that runs, and its work, in the transaction.
func stop(tx *store.Tx, now time.Time, it store.Item, r *item.Record, work store.Item) error {
	charged, made, err := generate.Cancel(tx, now, it.Owner, &r.Attempt.Ticket, work)
	if err != nil {
		return err
	}
	return r.Stop(tx, now, charged, made)
}

// write adds the changed record and its events to the transaction, and returns the changed item.
func (s *Service) write(ctx context.Context, tx *store.Tx, it store.Item, r *item.Record,
	happened ...event.Type) (item.Item, error) {
	r.Item.Touch(s.now())
	return s.answer(ctx, tx, it, r, happened...)
}

// answer saves r and its events without setting UpdatedAt: the caller has done that.
func (s *Service) answer(ctx context.Context, tx *store.Tx, it store.Item, r *item.Record,
	happened ...event.Type) (item.Item, error) {
	if err := item.Replace(tx, it, r); err != nil {
		return item.Item{}, err
	}
	for _, t := range happened {
		if err := r.Notify(tx, it.Owner, t); err != nil {
			return item.Item{}, err
		}
	}
	return s.view(ctx, r)
}

// remove deletes an item. The answer shows its last state without media, which are removed. It
// shows an item that was running as canceled.
func (s *Service) remove(ctx context.Context, tx *store.Tx, in *endInput) (out item.Item, err error) {
	r, it, work, err := s.findWork(ctx, in)
	if err != nil {
		return out, err
	}
	if err := r.Item.Permit(item.Delete); err != nil {
		return out, err
	}
	now := s.now()
	tx.Delete(it)
	if err := s.release(ctx, tx, r); err != nil {
		return out, err
	}
	if err := publication.Forget(tx, now, it.Owner, r); err != nil {
		return out, err
	}
	if err := experiment.Delete(ctx, s.db, tx, it.Owner, r, now); err != nil {
		return out, err
	}
	if r.Item.Runs() {
		cost := r.Item.CostCredits
		if err := stop(tx, s.now(), it, r, work); err != nil {
			return out, err
		}
		if r.Item.CostCredits > cost {
			end, err := r.End(it.Owner, now)
			if err != nil {
				return out, err
			}
			tx.Create(end, nil)
		}
	} else {
		r.Item.Touch(now)
	}
	if err := generate.RemoveFiles(tx, now, it.Owner, r.Item.ID, r.Item.Attempt); err != nil {
		return out, err
	}
	r.Item.Media, r.Files, r.Attempt.LeftoverFiles, r.Item.Slides = []media.View{}, nil, nil,
		slices.Clone(r.Item.Slides)
	for i := range r.Item.Slides {
		r.Item.Slides[i].MediaID = nil
	}
	return r.Public(), r.Notify(tx, it.Owner, event.ContentDeleted)
}

type regenerateBody struct {
	Texts
	// Absent: unchanged.
	Prompt *string `json:"prompt,omitempty" minLength:"1" maxLength:"4000"`
	// Id of a model of the catalog. Absent: unchanged, or with other visuals the factory's.
	Model string `json:"model,omitempty" maxLength:"100"`
	// Quality of the texts, as of a new item. Absent: unchanged.
	Quality string `json:"quality,omitempty" enum:"draft,standard,best"`
	// Length in seconds, as of a new item. Absent: unchanged.
	DurationSeconds *int `json:"duration_seconds,omitempty" minimum:"5" maximum:"180" example:"30"`
	// What is seen in a video. Absent: unchanged.
	Visuals string `json:"visuals,omitempty" enum:"clips,stills"`
	// What is heard under the voice of a video; generated makes new music. Absent: unchanged.
	Music string `json:"music,omitempty" format:"music" example:"none"`
	// Cover of a music clip; generated makes a new one. Absent: unchanged.
	Cover string `json:"cover,omitempty" format:"cover" example:"generated"`
	// Uses the parts of the last attempt that succeeded again, or else the completed parts of the last one. Only what
	// is corrected is made anew and charged. prompt, model, quality, duration_seconds and visuals are not for such an
	// attempt.
	Reuse bool `json:"reuse,omitempty" default:"false"`
	// Simulated result of the attempt. For test keys only.
	Sandbox *item.Rehearsal `json:"sandbox,omitempty"`
}

// media returns the members that name media.
func (b *regenerateBody) media() []incoming.Member {
	return mediaOf(createBody{Music: b.Music, Cover: b.Cover})
}

// Rules refuses members that change more than an attempt that reuses parts can.
func (b *regenerateBody) Rules() error {
	if !b.Reuse {
		return nil
	}
	var found []error
	for _, m := range []struct {
		param string
		sent  bool
	}{{"/prompt", b.Prompt != nil}, {"/model", b.Model != ""}, {"/duration_seconds", b.DurationSeconds != nil},
		{"/visuals", b.Visuals != ""}, {"/quality", b.Quality != ""}} {
		if m.sent {
			found = append(found, errs.Invalid(m.param, "is not for an attempt that reuses parts. Leave it or reuse "+
				"out"))
		}
	}
	return errs.All(found...)
}

// empty reports whether the body asks for the same attempt again.
func (b *regenerateBody) empty() bool {
	same := *b
	same.Sandbox = nil
	return reflect.ValueOf(same).IsZero()
}

// correct sets the texts of an item that the body corrects.
func (b *regenerateBody) correct(r *item.Record) error {
	if found := b.Texts.check(r.Item.Kind); len(found) > 0 {
		return found[0]
	}
	b.into(r)
	if b.Slides != nil && len(b.Slides) != len(r.Item.Slides) {
		return errs.Invalid("/slides", "must be %d, as the item has", len(r.Item.Slides))
	}
	if err := b.correctSlides(r); err != nil {
		return err
	}
	if r.Head(said(b.Headline), b.ShowHeadline); !b.Reuse {
		return nil
	}
	if r.Headlined && r.Item.Headline == "" {
		return errs.Invalid("/headline", "is required: the item has none, and with reuse no model writes it")
	}
	return item.PlannerOf(r).CheckReuse()
}

// correctSlides sets the texts of the slides that the body corrects. With reuse, the other text of a slide stays.
func (b *regenerateBody) correctSlides(r *item.Record) error {
	for i, slide := range b.Slides {
		if slide.Text == "" && slide.Body == nil {
			continue
		}
		given := slices.Contains(r.CallerTexts.Slides, i)
		s := &r.Item.Slides[i]
		if keeps := given || b.Reuse; !keeps {
			s.Text, s.Body = "", ""
		}
		s.Text = cmp.Or(slide.Text, s.Text)
		if slide.Body != nil {
			s.Body = resource.Text(slide.body())
		}
		if s.Text == "" {
			return errs.Invalid(fmt.Sprintf("/slides/%d/body", i), "needs text, the heading above it")
		}
		if !given {
			r.CallerTexts.Slides = append(r.CallerTexts.Slides, i)
		}
	}
	return nil
}

type regenerateInput struct {
	ItemPath
	httpapi.IfMatch
	Body *regenerateBody
}

func (s *Service) regenerate(ctx context.Context, tx *store.Tx, in *regenerateInput) (out item.Item, err error) {
	p, now := auth.FromContext(ctx), s.now()
	var b regenerateBody
	if in.Body != nil {
		b = *in.Body
	}
	live := p.Mode == tenant.Live
	if err := checkRehearsal(b.Sandbox, p.Mode); err != nil {
		return out, err
	}
	var beside []store.Key
	if live {
		beside = ledger.FundsKeys(p.Account, now)
	}
	funds := len(beside)
	beside = append(beside, incoming.Keys(b.media())...)
	r, it, others, err := s.findWith(ctx, in.ID, beside, in.IfMatch)
	if err != nil {
		return out, err
	}
	a := references{media: incoming.Of(it.Owner, others[funds:])}
	if err := s.again(ctx, tx, it, r, b, a, others[:funds]); err != nil {
		return out, err
	}
	r.PublishFor(p)
	return s.write(ctx, tx, it, r)
}

// again adds a further attempt at an item to the transaction, but not the item. The items of funds are read for live
// keys.
func (s *Service) again(ctx context.Context, tx *store.Tx, it store.Item, r *item.Record, b regenerateBody,
	a references, funds []store.Item) error {
	p, now, before := auth.FromContext(ctx), s.now(), r.Counts()
	live := p.Mode == tenant.Live
	if err := s.plan(ctx, r, b, a, live); err != nil {
		return err
	}
	if err := s.moderator.check(ctx, p.Mode, b.own()); err != nil {
		return err
	}
	if err := r.Item.Move(item.Queued); err != nil {
		return err
	}
	r.Item.Attempt++
	r.Item.Publications = []item.Publication{}
	r.Attempt.Sandbox, r.Attempt.AcceptedAt, r.Item.Failure, r.Item.Progress = b.Sandbox, now, nil, 0
	r.Item.AskAgain()
	r.Item.Remake = nil
	if r.Item.Outdated = (item.Ways{}); r.NotPublished == item.WaitsForProduct {
		r.NotPublished = ""
	}
	if err := rehearsedError(p, r); err != nil {
		return err
	}
	var balance ledger.Balance
	if live {
		balance = ledger.FundsOf(funds)
	}
	order := item.PlannerOf(r).Order(it.Owner)
	r.Item.Usual = order.Usual()
	ticket, err := generate.Accept(tx, now, order, ledger.PayerOf(now, p), balance)
	if err != nil {
		return err
	}
	r.Attempt.Ticket = ticket
	r.Count(tx, now, before)
	return a.media.Use(tx, now)
}

// RemakeCredits returns the credits of another attempt at an item that shows its product as it is now, with the parts
// that it has, on behalf of a principal. It changes the record.
func (s *Service) RemakeCredits(ctx context.Context, p *auth.Principal, r *item.Record) (int64, error) {
	r.Item.State = item.Generated
	err := s.plan(auth.NewContext(ctx, p), r, regenerateBody{Reuse: true}, references{}, p.Mode == tenant.Live)
	return r.Attempt.Credits, err
}

// Remake adds such an attempt to the transaction. The caller writes the item.
func (s *Service) Remake(ctx context.Context, tx *store.Tx, p *auth.Principal, it store.Item, r *item.Record) error {
	var funds []store.Item
	if p.Mode == tenant.Live {
		var err error
		if funds, err = s.db.GetAll(ctx, ledger.FundsKeys(p.Account, s.now())...); err != nil {
			return err
		}
	}
	return s.again(auth.NewContext(ctx, p), tx, it, r, regenerateBody{Reuse: true}, references{}, funds)
}

// plan plans a further attempt at an item. It checks the caller's earlier music again.
func (s *Service) plan(ctx context.Context, r *item.Record, b regenerateBody, a references, live bool) (err error) {
	if err := r.Item.Permit(item.Regenerate); err != nil {
		return err
	}
	if err := b.Rules(); err != nil {
		return err
	}
	r.Attempt.Bound(nil) // a quote is for the first attempt
	if r.Item.Provided() {
		if !b.empty() {
			return errs.Invalid("", "takes no members for a content item of your own media, but sandbox")
		}
		return item.PlannerOf(r).CheckAgain()
	}
	if r.Item.DeepFake || r.Item.PromotionID != nil { // rules decide what the media show
		if _, _, err := (ruler{s}).obey(ctx, r); err != nil {
			return err
		}
	}
	if b.Prompt != nil {
		r.Item.Prompt = *b.Prompt
	}
	r.Item.Quality = cmp.Or(resource.Text(b.Quality), r.Item.Quality)
	if err := b.correct(r); err != nil {
		return err
	}
	if err := s.refresh(ctx, r, b.Reuse); err != nil {
		return err
	}
	w := item.Options{Model: b.Model, DurationSeconds: b.DurationSeconds, Visuals: b.Visuals, Music: b.Music,
		Cover: b.Cover, Script: said(b.Script), Scenes: scenesOf(b.Scenes), Reuse: b.Reuse}
	if same := b.Visuals == "" || r.Item.Visuals != nil && b.Visuals == *r.Item.Visuals; same {
		w.Model = cmp.Or(b.Model, string(r.Item.Model))
	}
	if w.Music == "" && r.Item.Music != nil && trackOf(*r.Item.Music).IsID() {
		w.Music = *r.Item.Music
		if a.media, err = incoming.Read(ctx, s.db, []incoming.Member{trackOf(w.Music)}); err != nil {
			return err
		}
	}
	if w.Cover == "" && r.Item.Cover != nil && coverOf(*r.Item.Cover).IsID() {
		w.Cover = *r.Item.Cover
		if a.media, err = incoming.Read(ctx, s.db, []incoming.Member{coverOf(w.Cover)}); err != nil {
			return err
		}
	}
	if err := a.files(&w); err != nil {
		return err
	}
	then := *r
	then.Item.GeneratedAt = nil // its media are made again
	if err := law.Refused(law.Check(item.FactsOf(&then, &item.Publication{}, s.now()))); err != nil {
		return err
	}
	return item.PlannerOf(r).Plan(s.offer, w, live)
}

const (
	// moderateWithin bounds the time of a moderation, for which the caller waits.
	moderateWithin = 10 * time.Second
	// moderatedAtOnce is the number of requests at the same time, and moderatedBytes the size of the texts of one.
	moderatedAtOnce = 8
	moderatedBytes  = 10_000
)

// moderator moderates the texts of live keys. It moderates none if it has no provider.
type moderator struct{ provider.Moderator }

// Moderated has the own texts of live keys moderated. Without a moderator, none are.
func (s *Service) Moderated(m provider.Moderator) *Service {
	s.moderator = moderator{m}
	return s
}

// own is a text written by the caller, and the member it came from.
type own struct{ param, text string }

// owns are the texts of a body.
type owns []own

func (o *owns) add(param string, texts ...string) {
	if text := strings.TrimSpace(strings.Join(texts, " ")); text != "" {
		*o = append(*o, own{param, text})
	}
}

// variant adds the texts of a variant.
func (o *owns) variant(key string, v item.Variant) {
	at := "/variants/" + key
	if v.Title != nil {
		o.add(at+"/title", *v.Title)
	}
	if v.Caption != nil {
		o.add(at+"/caption", *v.Caption)
	}
	o.add(at+"/hashtags", v.Hashtags...)
}

// own returns the texts of a new item that are published.
func (b *createBody) own() (all owns) {
	all = b.Texts.own()
	given := b.Variants.items()
	for _, key := range slices.Sorted(maps.Keys(given)) {
		all.variant(key, given[key])
	}
	return all
}

// own returns the texts that differ from others.
func (t texts) own(was texts) (all owns) {
	for _, text := range bodyTexts {
		name := item.Text(text.name)
		if now, before := t.Plain(name), was.Plain(name); now != nil && *now != *before {
			all.add("/"+text.name, string(*now))
		}
	}
	if !slices.Equal(t.Hashtags, was.Hashtags) {
		all.add("/hashtags", t.Hashtags...)
	}
	for _, key := range slices.Sorted(maps.Keys(t.Variants)) {
		v, before := t.Variants[key], was.Variants[key]
		if same(v.Title, before.Title) {
			v.Title = nil
		}
		if same(v.Caption, before.Caption) {
			v.Caption = nil
		}
		if slices.Equal(v.Hashtags, before.Hashtags) {
			v.Hashtags = nil
		}
		all.variant(key, v)
	}
	return all
}

func same(a, b *string) bool { return a == nil || b != nil && *a == *b }

// ModerateCaption refuses a caption that the moderation stops, as creating an item does.
func (s *Service) ModerateCaption(ctx context.Context, mode tenant.Mode, caption string) error {
	return s.moderator.check(ctx, mode, owns{{"/caption", caption}})
}

// check refuses texts that the moderation stops, before anything is stored or reserved. The refusal names them.
func (m moderator) check(ctx context.Context, mode tenant.Mode, all owns) error {
	if m.Moderator == nil || mode != tenant.Live || len(all) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, moderateWithin)
	defer cancel()
	var parts []owns
	size := 0
	for _, o := range all {
		if size += len(o.text); len(parts) == 0 || size > moderatedBytes {
			parts, size = append(parts, nil), len(o.text)
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], o)
	}
	stopped, err := m.flagged(ctx, parts)
	if err != nil || len(stopped) == 0 {
		return err
	}
	var found []errs.Detail
	for _, part := range stopped {
		alone := make([]owns, len(part))
		for i, o := range part {
			alone[i] = owns{o}
		}
		why := "was stopped by the moderation of texts. Change it"
		if named, err := m.flagged(ctx, alone); err != nil {
			return err
		} else if len(named) > 0 {
			alone = named
		} else {
			why = "was stopped by the moderation of texts, together with others. Change them"
		}
		for _, o := range alone {
			found = append(found, errs.Detail{Param: o[0].param, Message: why})
		}
	}
	return errs.InvalidFields(found...)
}

// checkAll is check for the items of a batch.
func (m moderator) checkAll(ctx context.Context, mode tenant.Mode, bodies []createBody) error {
	var all owns
	for i := range bodies {
		for _, o := range bodies[i].own() {
			all = append(all, own{fmt.Sprintf("/items/%d%s", i, o.param), o.text})
		}
	}
	return m.check(ctx, mode, all)
}

func (m moderator) flagged(ctx context.Context, parts []owns) (stopped []owns, err error) {
	flags := make([]bool, len(parts))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(moderatedAtOnce)
	for i, part := range parts {
		group.Go(func() (err error) {
			texts := make([]string, len(part))
			for i, o := range part {
				texts[i] = o.text
			}
			flags[i], err = m.Moderate(ctx, strings.Join(texts, "\n"))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, errs.Wrap(err, errs.ProviderUnavailable, "The texts could not be moderated, and nothing was "+
			"stored. Send the call again.")
	}
	for i, flag := range flags {
		if flag {
			stopped = append(stopped, parts[i])
		}
	}
	return stopped, nil
}
