package content

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

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
func (b *regenerateBody) media() []media.Member {
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
	if found := b.Texts.check(r.Kind); len(found) > 0 {
		return found[0]
	}
	b.into(r)
	if b.Slides != nil && len(b.Slides) != len(r.Slides) {
		return errs.Invalid("/slides", "must be %d, as the item has", len(r.Slides))
	}
	if err := b.correctSlides(r); err != nil {
		return err
	}
	if r.Head(said(b.Headline), b.ShowHeadline); !b.Reuse {
		return nil
	}
	if r.Headlined && r.Headline == "" {
		return errs.Invalid("/headline", "is required: the item has none, and with reuse no model writes it")
	}
	return item.AttemptAt(r).CheckReuse()
}

// correctSlides sets the texts of the slides that the body corrects. With reuse, the other text of a slide stays.
func (b *regenerateBody) correctSlides(r *item.Record) error {
	for i, slide := range b.Slides {
		if slide.Text == "" && slide.Body == nil {
			continue
		}
		given := slices.Contains(r.Given.Slides, i)
		s := &r.Slides[i]
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
			r.Given.Slides = append(r.Given.Slides, i)
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
	beside = append(beside, media.Keys(b.media())...)
	r, it, others, err := s.findWith(ctx, in.ID, beside, in.IfMatch)
	if err != nil {
		return out, err
	}
	before, a := r.Counts(), references{media: media.Of(it.Owner, others[funds:])}
	if err := s.plan(ctx, r, b, a, live); err != nil {
		return out, err
	}
	if err := s.moderator.check(ctx, p.Mode, b.own()); err != nil {
		return out, err
	}
	if err := r.Move(item.Queued); err != nil {
		return out, err
	}
	r.Attempt++
	r.Publications = []item.Publication{}
	r.Sandbox, r.Accepted, r.Failure, r.Progress = b.Sandbox, now, nil, 0
	r.AskAgain()
	r.PublishFor(p)
	if err := rehearsedError(p, r); err != nil {
		return out, err
	}
	var balance ledger.Balance
	if live {
		balance = ledger.FundsOf(others[:funds])
	}
	order := item.AttemptAt(r).Order(it.Owner)
	r.Usual = order.Usual()
	if r.Ticket, err = generate.Accept(tx, now, order, ledger.PayerOf(now, p),
		balance); err != nil {
		return out, err
	}
	r.Count(tx, now, before)
	if err := a.media.Use(tx, now); err != nil {
		return out, err
	}
	return s.write(ctx, tx, it, r)
}

// plan plans a further attempt at an item. It checks the caller's earlier music again.
func (s *Service) plan(ctx context.Context, r *item.Record, b regenerateBody, a references, live bool) (err error) {
	if err := r.Permit(item.Regenerate); err != nil {
		return err
	}
	if err := b.Rules(); err != nil {
		return err
	}
	item.AttemptAt(r).Bound(nil) // a quote is for the first attempt
	if r.Provided() {
		if !b.empty() {
			return errs.Invalid("", "takes no members for a content item of your own media, but sandbox")
		}
		return item.AttemptAt(r).CheckAgain()
	}
	if r.DeepFake || r.PromotionID != nil { // rules decide what the media show
		if _, _, err := (ruler{s}).obey(ctx, r); err != nil {
			return err
		}
	}
	if b.Prompt != nil {
		r.Prompt = *b.Prompt
	}
	r.Quality = cmp.Or(resource.Text(b.Quality), r.Quality)
	if err := b.correct(r); err != nil {
		return err
	}
	if !b.Reuse {
		if err := s.refresh(ctx, r); err != nil {
			return err
		}
	}
	w := item.Options{Model: b.Model, DurationSeconds: b.DurationSeconds, Visuals: b.Visuals, Music: b.Music,
		Cover: b.Cover, Script: said(b.Script), Scenes: scenesOf(b.Scenes), Reuse: b.Reuse}
	if same := b.Visuals == "" || r.Visuals != nil && b.Visuals == *r.Visuals; same {
		w.Model = cmp.Or(b.Model, string(r.Model))
	}
	if w.Music == "" && r.Music != nil && trackOf(*r.Music).IsID() {
		w.Music = *r.Music
		if a.media, err = media.Read(ctx, s.db, []media.Member{trackOf(w.Music)}); err != nil {
			return err
		}
	}
	if w.Cover == "" && r.Cover != nil && coverOf(*r.Cover).IsID() {
		w.Cover = *r.Cover
		if a.media, err = media.Read(ctx, s.db, []media.Member{coverOf(w.Cover)}); err != nil {
			return err
		}
	}
	if err := a.files(&w); err != nil {
		return err
	}
	then := *r
	then.GeneratedAt = nil // its media are made again
	if err := law.Refused(law.Check(item.FactsOf(&then, &item.Publication{}, s.now()))); err != nil {
		return err
	}
	return item.AttemptAt(r).Plan(s.offer, w, live)
}
