package item

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Plan sets the parts of the record's attempt, their models and the price. Options without
// a model stand for the factory's model. The item's model must be able to make the item.
// The other parts use the factory's models if these can make them.
func (r *Planner) Plan(offer catalog.Offer, w Options, live bool) error {
	r.attempt.Articles, r.attempt.SourcesRead, r.attempt.UsesCopies = nil, false, w.Copies.numbered()
	r.planExcerpt(w)
	if err := r.take(w); err != nil {
		return err
	}
	if err := r.boundExcerpt(); err != nil {
		return err
	}
	lead := r.lead()
	m, unable := r.chooseLead(offer, lead, w, live)
	if unable != nil && m.ID == "" {
		return unable
	}
	count, clips := max(len(r.item.Slides), 1), []int(nil)
	if r.item.Kind == Video {
		var err error
		if clips, err = r.divide(&lead, m, w.Reuse || w.Copies != nil); err != nil {
			return err
		}
		count = len(clips)
	}
	if r.place(count); r.attempt.Excerpt != nil && w.Copies != nil {
		r.attempt.ProductPhotos = nil
	}
	p := r.partOf(lead, m)
	if err := m.Check(r.writer.foreseen(p), ""); err != nil && unable == nil {
		unable = ofFactory(cannot(m, r.attempt.Shape, p.Ratio, err), w.Model == "" &&
			r.brief.Models[string(lead.kind)] != "")
	}
	if p.Seconds > 0 && p.Seconds < lead.seconds && unable == nil {
		unable = errs.Invalid("/duration_seconds", "must be at most %d for the model %s", p.Seconds+r.writer.around(),
			m.ID)
	}
	if unable != nil && !w.Reuse {
		return unable
	}
	r.item.Model, r.attempt.Parts, r.attempt.Credits = resource.Text(m.ID), nil, 0
	r.item.AspectRatio, r.item.Seconds = nil, resource.OrNil(p.Seconds)
	if len(lead.ratios) > 0 {
		r.item.AspectRatio = resource.OrNil(cmpRatio(p, lead))
	}
	steps := r.steps(lead, count, p.FromStill)
	if r.attempt.Excerpt != nil {
		steps = slices.Insert(steps, 0, step{role: roleExcerpt, kind: provider.KindText})
	}
	if len(r.attempt.Adapt) > 0 && !w.Reuse {
		steps = slices.Insert(steps, len(steps)-1, step{role: roleAdapt, kind: provider.KindText})
	}
	for _, st := range steps {
		if r.addResult(st, w) {
			continue
		}
		var err error
		switch {
		case st.role == roleFinal:
			r.attempt.Parts = append(r.attempt.Parts, finalPart())
		case unable != nil && (st.role == roleItem || st.role == roleStill):
			err = unable
		case st.role == roleItem:
			if p.Number = st.number; clips != nil && st.kind == provider.KindVideo {
				p.Seconds = m.Length(clips[st.number-1])
			}
			err = r.add(p, m, live)
		default:
			err = r.choose(offer, st, live)
		}
		if err != nil {
			return err
		}
	}
	if err := r.polish(offer, live); err != nil {
		return err
	}
	return r.checkCovered(w)
}

// addResult adds the part of a step whose result is copied or used again. It reports whether there is one.
func (r *Planner) addResult(st step, w Options) bool {
	if p := r.copyOf(st, w); p != nil {
		if st.role != roleStill {
			r.attempt.Parts = append(r.attempt.Parts, *p)
		}
		return true
	}
	made := r.earlierResult(st, w)
	if made != nil {
		again := r.partOf(st, catalog.Model{})
		again.Reuse = made
		r.attempt.Parts = append(r.attempt.Parts, again)
	}
	return made != nil
}

// finalPart returns the part that makes the finished media.
func finalPart() part {
	return part{Part: generate.Part{Kind: provider.KindCompose, Provider: generate.Composed}, Role: roleFinal}
}

// lead returns the step of the item's own model.
func (r *Planner) lead() step {
	switch r.attempt.Shape {
	case "carousel":
		return step{role: roleItem, kind: provider.KindImage, ratios: r.brief.ratios("1:1")}
	case "short video", "long video":
		st := step{role: roleItem, kind: provider.KindVideo, ratios: []string{"9:16"}, seconds: shortScene}
		if r.attempt.Shape == "long video" {
			st.ratios, st.seconds = []string{"16:9"}, longScene
		}
		if *r.item.Visuals == VisualsStills {
			st.kind, st.seconds = provider.KindImage, stillScene
		}
		return st
	case "story":
		return step{role: roleItem, kind: provider.KindImage, ratios: []string{"9:16"}}
	case "story clip":
		return step{role: roleItem, kind: provider.KindVideo, ratios: []string{"9:16"},
			seconds: *r.item.DurationSeconds - r.writer.around()}
	case "music clip":
		return step{role: roleItem, kind: provider.KindMusic, seconds: *r.item.DurationSeconds}
	}
	return step{role: roleItem, kind: provider.KindImage, ratios: r.brief.ratios()}
}

// steps returns the generations of the item. count is the number of pictures or clips that the item's model makes, and
// stills reports whether each clip needs a picture to start from.
func (r *Planner) steps(lead step, count int, stills bool) []step {
	text := step{role: roleText, kind: provider.KindText}
	var all []step
	if r.item.Kind == Video {
		between := *r.item.DurationSeconds - r.writer.around()
		speech := between - pauses
		if !r.callerTexts.Has(Script) {
			text.role, text.seconds, text.number = roleScript, speech, count
		}
		all = []step{{role: roleVoice, kind: provider.KindVoice, seconds: speech}}
		if *r.item.Music == MusicGenerated {
			all = append(all, step{role: roleMusic, kind: provider.KindMusic, seconds: between})
		}
	}
	if !r.complete() {
		all = append([]step{text}, all...)
	}
	if r.item.Kind == MusicClip && *r.item.Cover == CoverGenerated {
		all = append(all, step{role: roleCover, kind: provider.KindImage, ratios: []string{"1:1"}})
	}
	for n := range count {
		if r.attempt.photo(n+1) != nil {
			continue
		}
		if count > 1 || r.item.Kind == Video {
			lead.number = n + 1
		}
		if stills {
			all = append(all, step{role: roleStill, kind: provider.KindImage, ratios: lead.ratios, number: lead.number})
		}
		all = append(all, lead)
	}
	return append(all, step{role: roleFinal, kind: provider.KindCompose})
}

// place chooses which of the pictures or clips are photos of the product: every other one, beginning with the first, up
// to the number of photos.
func (r *Planner) place(count int) {
	r.attempt.ProductPhotos = nil
	p := r.brief.Product
	if p == nil || r.item.Kind == MusicClip || r.attempt.Shape == "story clip" {
		return
	}
	for n := 1; n <= count && len(r.attempt.ProductPhotos) < len(p.Photos); n += 2 {
		r.attempt.ProductPhotos = append(r.attempt.ProductPhotos, shownPhoto{n, p.Photos[len(r.attempt.ProductPhotos)]})
	}
}

// PlanAdapt adds the part that adapts the texts, if any are to be.
func (r *Planner) PlanAdapt(offer catalog.Offer, live bool) error {
	if len(r.attempt.Adapt) == 0 {
		return nil
	}
	return r.choose(offer, step{role: roleAdapt, kind: provider.KindText}, live)
}

// Retell bases the item on another item. If numbers is not nil, only those scenes or slides are used. The item keeps a
// copy of their texts, so that a later change or deletion of the other item has no effect. Retell returns invalid_state
// if the other item has no finished texts, and validation_failed for a number that it does not have.
func (r *Planner) Retell(from *Record, numbers []int) error {
	if !slices.Contains(writtenStates, from.Item.State) || from.Item.Caption == "" && from.Item.Title == "" {
		e := errs.New(errs.InvalidState, "The content item %s has no finished texts. Wait until it is generated.",
			from.Item.ID)
		e.Param = "/from_content_item_id"
		return e.In(string(from.Item.State))
	}
	o := &prompt.Origin{Kind: string(from.Item.Kind), Language: from.Item.Language, Title: string(from.Item.Title),
		Caption: string(from.Item.Caption)}
	count := max(len(from.Item.Scenes), len(from.Item.Slides))
	if r.item.FromParts = []int{}; numbers != nil && r.attempt.Excerpt == nil {
		r.item.FromParts = numbers
	}
	if numbers == nil {
		for n := range count {
			numbers = append(numbers, n+1)
		}
	}
	for i, n := range numbers {
		if n > count {
			return errs.Invalid(fmt.Sprintf("/from_parts/%d", i), "must be at most %d, the number of scenes or "+
				"slides of the content item", count)
		}
		if len(from.Item.Scenes) > 0 {
			o.Scenes = append(o.Scenes, prompt.OriginScene(from.Item.Scenes[n-1].forModel()))
		} else {
			o.Slides = append(o.Slides, prompt.OriginSlide{Heading: from.Item.Slides[n-1].Text,
				Body: string(from.Item.Slides[n-1].Body)})
		}
	}
	r.item.FromContentItemID, r.record.Origin = &from.Item.ID, o
	return nil
}

// Excerpts reports whether the service chooses the scenes of another item that this one retells: for a short video, or
// a story that is a clip, of a longer video of which the caller names no scenes, and writes no script.
func (r *Planner) Excerpts(from *Record, w Options, reuse bool) bool {
	if len(from.Item.Scenes) < 2 || from.Item.Format == nil || from.Item.DurationSeconds == nil || w.Script != "" ||
		w.Scenes != nil {
		return false
	}
	format, long := "", *from.Item.Format == FormatLong
	if r.item.Format != nil {
		format = *r.item.Format
	}
	shape := shapeOf(r.item.Kind, format, w.Model)
	wanted := lengths[shape].usual
	if w.DurationSeconds != nil {
		wanted = *w.DurationSeconds
	}
	switch {
	case wanted >= *from.Item.DurationSeconds:
		return false
	case shape == "short video" && long, shape == "story clip" && long:
		return true
	}
	return r.item.Kind == Video && reuse && w.DurationSeconds != nil
}

// Excerptible returns the numbers of the scenes that can be chosen: all, or those that can be copied.
func (from *Planner) Excerptible(copies bool) (numbers []int) {
	for n := range from.item.Scenes {
		made := func(done result) bool { return done.Role == roleItem && done.Number == n+1 }
		if !copies || slices.ContainsFunc(from.attempt.Results, made) {
			numbers = append(numbers, n+1)
		}
	}
	return numbers
}

// PlanCopies is Plan for an item that retells another of its kind with copies of its parts. In the same language,
// the scenes keep their words.
func (r *Planner) PlanCopies(offer catalog.Offer, w Options, live bool) error {
	var scenes []Scene
	for _, s := range r.record.Origin.Scenes {
		scenes = append(scenes, sceneOf(provider.Scene(s)))
	}
	if _, ok := w.Copies.parts[copyKey{role: roleMusic}]; ok && w.Music == "" {
		generated := MusicGenerated
		r.item.Music = &generated
	}
	switch own := w.Script != "" || w.Scenes != nil; {
	case r.attempt.Excerpt != nil:
		r.item.Scenes, r.item.Script = scenes, resource.Text(scriptOf(scenes))
		r.callerTexts.Set(sameLanguage(r.record.Origin.Language, r.item.Language), Script)
	case r.item.Kind == MusicClip:
		w.DurationSeconds = &w.Copies.Seconds
	case r.item.Kind != Video || own:
	case sameLanguage(r.record.Origin.Language, r.item.Language):
		w.Scenes = scenes
	default:
		w.DurationSeconds, r.item.Scenes = &w.Copies.Seconds, scenes
	}
	err := r.Plan(offer, w, live)
	if !r.callerTexts.Has(Script) || r.attempt.Excerpt != nil {
		r.item.Scenes = []Scene{} // they are written, or chosen
	}
	if r.attempt.Excerpt != nil {
		r.item.Script = ""
	}
	return err
}

// ownShape is the name of the pipeline of items whose media the caller provides.
const ownShape = "own"

// Provide makes the caller's files the media of the item, and plans what is left to do: nothing, unless they are to be
// fitted, or texts are to be adapted.
func (r *Planner) Provide(files []media.File) {
	r.attempt.Shape, r.attempt.Parts, r.attempt.Credits = ownShape, nil, 0
	r.record.Own = files
	r.callerTexts.Set(true, Title, Caption, Hashtags)
	if len(r.record.Own) > 0 && r.item.Fitted() {
		r.attempt.Parts = append(r.attempt.Parts, finalPart())
		return
	}
	r.record.Files = r.record.own(media.Final) // which the item also shows while its texts are adapted
}

// Finish ends a new item of which nothing is left to be made. It is generated at once.
func (r *Planner) Finish(tx *store.Tx, now time.Time, o tenant.Owner) error {
	at := r.item.UpdatedAt
	r.item.State, r.item.GeneratedAt, r.item.Progress = Generated, &at, 100
	r.record.note(Past{At: at, Made: 1})
	return errors.Join(generate.ExpireLater(tx, now, o, r.item.ID), r.record.Notify(tx, o, event.ContentGenerated),
		r.record.autoPublish(tx, now, o))
}

// CheckAgain refuses another attempt at an item of the caller's media of which nothing was to be made.
func (r *Planner) CheckAgain() error {
	if len(r.attempt.Parts) > 0 {
		return nil
	}
	return errs.New(errs.InvalidState, "The media and texts of the content item are your own, so there is nothing to "+
		"generate. Change its texts by PATCH /v1/content-items/{content_item_id}, or create another item.").
		In(string(r.item.State), string(Update), string(Delete))
}

// Present makes a planned item present a product, or no product if it is nil. It returns the credits by which the item
// costs less than with LongestProduct: for its texts, and for the pictures and clips that photos replace.
func (r *Planner) Present(p *Product) (saved int64) {
	r.brief.Product = p
	r.item.ProductID, r.item.PromotionID = p.IDs()
	made := func(p part) bool { return p.Role == roleItem || p.Role == roleStill }
	count := max(len(r.item.Slides), 1, r.attempt.Parts[0].Scenes)
	r.place(count)
	parts := r.attempt.Parts
	r.attempt.Parts = nil
	for _, one := range parts {
		if made(one) && r.attempt.photo(max(one.Number, 1)) != nil {
			saved += one.Credits
			continue
		}
		for i, c := range one.Calls() {
			if m, ok := catalog.FindIn(c.Model, c.PricedIn); ok && one.Kind == provider.KindText && c.Credits > 0 {
				if credits, err := m.PriceOf(r.writer.foreseenCall(one, c.Name)); err == nil && credits < c.Credits {
					saved += c.Credits - credits
					one.setCredits(i, credits)
				}
			}
		}
		r.attempt.Parts = append(r.attempt.Parts, one)
	}
	if r.attempt.Quote != nil {
		saved = r.attempt.Credits - min(r.attempt.Credits, r.attempt.price())
	}
	r.attempt.Credits -= saved
	return saved
}

// Order returns the order of the record's current attempt.
func (r *Planner) Order(o tenant.Owner) generate.Order {
	a := generate.Order{Owner: o, Subject: r.item.ID, Attempt: r.item.Attempt, About: r.record.About(),
		Quote: r.attempt.Quote, ResultName: "content_item." + string(r.item.Kind), KeepsParts: true}
	for _, planned := range r.attempt.Parts {
		a.Parts = append(a.Parts, planned.Part)
	}
	if r.attempt.Sandbox != nil {
		a.Delay = r.attempt.Sandbox.Delay()
	}
	return a
}
