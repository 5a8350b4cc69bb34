package item

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/craft/guard"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// request returns the request of the n-th part of the record, which is no text. made holds the results of the parts
// before it.
func (r *maker) request(n int, made []generate.PartResult, sign Signer) (req provider.Request, err error) {
	if n >= len(r.attempt.Parts) {
		return req, fmt.Errorf("item: %s has no part %d", r.item.ID, n)
	}
	p := r.attempt.Parts[n]
	req = r.writer.foreseen(p)
	text := r.writer.words(made)
	if err := r.writer.checkWritten(text); err != nil {
		return req, err
	}
	switch p.Role {
	case roleVoice:
		if !r.callerTexts.Has(Script) {
			req.Prompt = provider.Clip(text.Script(), provider.MaxScript(p.Seconds))
		}
	case roleMusic:
		req.Prompt = promptOf(p, "Calm instrumental music that stays in the background of a video, no vocals.",
			r.item.Prompt, r.brief.Sound)
	default:
		req.Prompt = r.writer.shows(p, text, req.Lyrics != "")
	}
	switch {
	case p.FromStill:
		err = r.writer.startFrom(&req, p, made, sign)
	case p.FromPhoto:
		req.ImageURL, err = sign(r.brief.Product.Photos[0])
	}
	return req, err
}

// settle makes the item one of the chosen scenes, once they are chosen. If the answer of the model cannot be used, they
// are the best ones by their length.
func (r *maker) settle(made []generate.PartResult) {
	part := r.attempt.excerptPart()
	if r.attempt.Excerpt == nil || part < 0 || part >= len(made) {
		return
	}
	indexes, problems := r.writer.chosenScenes(made[part].Object)
	if len(problems) == 0 {
		r.item.PartsVersion = resource.Text(prompt.Version(prompt.Excerpt))
	} else {
		indexes, r.item.PartsVersion = r.writer.usual(), ""
	}
	takes := r.writer.took(indexes)
	scenes, numbers := r.record.Origin.Scenes, r.attempt.Excerpt.Numbers
	o := *r.record.Origin
	o.Scenes, r.item.FromParts, r.attempt.Excerpt = nil, nil, nil
	for _, i := range indexes {
		o.Scenes, r.item.FromParts = append(o.Scenes, scenes[i]), append(r.item.FromParts, numbers[i])
	}
	r.record.Origin = &o
	if !r.attempt.UsesCopies {
		return
	}
	length := takes + r.writer.around()
	r.item.DurationSeconds = &length
	if r.callerTexts.Has(Script) {
		r.item.Scenes = nil
		for _, s := range o.Scenes {
			r.item.Scenes = append(r.item.Scenes, sceneOf(provider.Scene(s)))
		}
		r.item.Script = resource.Text(scriptOf(r.item.Scenes))
	}
	r.attempt.Parts = slices.Clone(r.attempt.Parts)
	for n := range r.attempt.Parts {
		switch p := &r.attempt.Parts[n]; p.Role {
		case roleItem:
			p.Number = slices.Index(indexes, p.Number-1) + 1
		case roleScript:
			if p.Scenes > 0 {
				p.Scenes, p.Seconds = len(indexes), takes-pauses
			}
		case roleVoice:
			p.Seconds = takes - pauses
		}
	}
}

// leftOut reports whether a part is the copy of a scene that was not chosen.
func (r *maker) leftOut(p part) bool {
	return r.item.Kind == Video && p.Role == roleItem && p.Copy != nil && p.Number == 0
}

// assemble fills the item with the results of its parts.
func (r *maker) assemble(made []generate.PartResult, now time.Time) {
	r.write(made)
	r.vary(made, now)
	finished, parts := r.sort(made)
	r.item.Labelled = r.item.Labelled || len(finished.Files) > 0 && drawsLabel(r.record)
	if r.item.Provided() && len(finished.Files) == 0 {
		finished.Files = r.record.own(media.Final)
	} else if r.item.Provided() {
		as := media.Still
		if r.record.Own[0].Type == media.Video {
			as = media.Clip
		}
		parts = append(parts, r.record.own(as)...)
	}
	r.describe(finished.Files)
	r.record.Files, r.attempt.LeftoverFiles, r.record.Branded, r.attempt.Results = append(finished.Files, parts...),
		nil,
		finished.Branded, r.results(made)
	r.showSlides()
}

// write sets the texts that were made. The texts of the caller stay.
func (r *maker) write(made []generate.PartResult) {
	t := r.writer.words(made)
	r.item.Texts.take(t, *r.callerTexts)
	if !r.callerTexts.Has(Caption) {
		r.record.Draft = ""
	}
	for i := range r.item.Slides {
		if i < len(t.Slides) && !r.callerTexts.slide(i) {
			r.item.Slides[i].Text, r.item.Slides[i].Body = t.Slides[i].Heading, resource.Text(t.Slides[i].Body)
		}
	}
	r.draw(t)
	r.derive(t)
	if r.callerTexts.Has(Script) {
		return
	}
	r.item.Script, r.item.Scenes = resource.Text(t.Script()), []Scene{}
	for _, s := range t.Scenes {
		r.item.Scenes = append(r.item.Scenes, sceneOf(s))
	}
}

// draw notes what a writer has described besides the texts.
func (r *maker) draw(t provider.Text) {
	if len(t.Hooks) == 0 {
		return // the caller has written all texts
	}
	r.attempt.Art = Art{Style: t.Style, Characters: t.Characters, Pictures: t.Pictures, Sound: t.Sound,
		Hook: t.Hook, Hooks: t.Hooks, HookKinds: t.HookKinds}
	r.item.HookKind = resource.Text(kindOfHook(t))
	for _, s := range t.Slides {
		r.attempt.Art.Pictures = append(r.attempt.Art.Pictures, s.Picture)
	}
	r.item.Hooks = slices.Clone(t.Hooks)
	if n := t.Hook - 1; n > 0 && n < len(r.item.Hooks) {
		r.item.Hooks = slices.Insert(slices.Delete(r.item.Hooks, n, n+1), 0, t.Hooks[n])
	}
	r.item.PromptVersion = resource.Text(prompt.Version(tasks[r.attempt.Shape]))
}

// kindOfHook returns the kind of the chosen first line, or "" if the writer has named none that is known.
func kindOfHook(t provider.Text) string {
	if i := t.Hook - 1; i >= 0 && i < len(t.HookKinds) &&
		slices.Contains(prompt.HookKinds, prompt.HookKind(t.HookKinds[i])) {
		return t.HookKinds[i]
	}
	return ""
}

// sort returns the finished media, and the files of the other parts with their roles.
func (r *maker) sort(made []generate.PartResult) (finished generate.PartResult, parts []media.File) {
	for n, m := range made {
		if r.attempt.Parts[n].Role == roleFinal {
			finished = m
			continue
		}
		for i := range m.Files {
			m.Files[i].Role = r.attempt.Parts[n].fileRole(r.item.Kind)
			m.Files[i].Alt = r.alt(m.Files[i], r.attempt.Parts[n].Number)
		}
		parts = append(parts, m.Files...)
	}
	return finished, parts
}

// own returns the caller's files with a role.
func (r *Record) own(as media.Role) []media.File {
	files := slices.Clone(r.Own)
	for i := range files {
		files[i].Role = as
	}
	return files
}

// alt returns the alternative text of a picture of a slide, by its number, or of the only picture.
func (r *maker) alt(f media.File, number int) string {
	if i := max(number-1, 0); f.Type == media.Image && r.item.Kind != Video && i < len(r.attempt.Art.Pictures) {
		return r.attempt.Art.Pictures[i].Alt
	}
	return ""
}

// describe sets the alternative texts of finished pictures.
func (r *maker) describe(files []media.File) {
	n := 0
	for i := range files {
		if files[i].Type == media.Image && files[i].Role == media.Final {
			n++
			files[i].Alt = r.alt(files[i], n)
		}
	}
}

// showSlides sets the pictures of the slides: finished ones, in their order.
func (r *maker) showSlides() {
	n := 0
	for i := range r.record.Files {
		if r.record.Files[i].Role == media.Final && n < len(r.item.Slides) {
			r.item.Slides[n].MediaID = &r.record.Files[i].ID
			n++
		}
	}
}

// vary makes the texts that the model has adapted variants of the item. Texts of the caller stay. A text that the
// guards refuse is left out: the platform gets that of the item, which they have checked.
func (r *maker) vary(made []generate.PartResult, now time.Time) {
	i := slices.IndexFunc(r.attempt.Parts, func(p part) bool { return p.Role == roleAdapt })
	if i < 0 || i >= len(made) {
		return
	}
	var posts adaptations
	if json.Unmarshal(made[i].Object, &posts) != nil {
		return // the item is as good without
	}
	for _, post := range posts.Posts {
		p, known := registry.Find(post.Platform)
		before := r.item.Variants[post.Platform]
		caption := strings.TrimSpace(post.Text)
		if !known || !slices.Contains(r.attempt.Adapt, post.Platform) || before.Caption != nil || caption == "" {
			continue
		}
		if r.writer.refuses(post, now) {
			metric.Count("RefusedVariants", "platform", post.Platform)
			continue
		}
		v := Variant{Media: before.Media, Cover: before.Cover, Title: before.Title, Hashtags: before.Hashtags,
			Adapted:       true,
			PromptVersion: resource.Text(prompt.Version(prompt.Adapt))}
		if v.Hashtags == nil {
			v.Hashtags = tagsOf(post.Hashtags, tagsOn(p, r.item.Kind))
		}
		rule := p.Capabilities.Kinds[platform.Kind(r.item.Kind)]
		caption = fitText(r.record, p, provider.Clip(caption, longestCaption), v.Hashtags)
		v.Caption = &caption
		if title := provider.Clip(strings.Join(strings.Fields(post.Title), " "), rule.Title.Max); v.Title == nil &&
			title != "" {
			v.Title = &title
		}
		r.item.Variants[post.Platform] = v
	}
}

// refuses reports whether the guards refuse a post, which may state what the item and its inputs do.
func (r *writer) refuses(post adaptation, now time.Time) bool {
	rules := r.rules(now)
	rules.Facts, rules.NeedsSource = append(rules.Facts, string(r.item.Title), string(r.item.Caption),
		strings.Join(r.item.Hashtags, " ")),
		false
	if len(guard.Check([]guard.Field{{Text: string(r.item.Caption)}}, guard.Rules{Language: r.item.Language, Now: now,
		Facts: []string{string(r.item.Caption)}})) > 0 {
		rules.Language = "" // the caller has written the post in another
	}
	fields := []guard.Field{{Path: "/title", Text: post.Title}, {Path: "/caption", Text: post.Text}}
	for _, tag := range post.Hashtags {
		fields = append(fields, guard.Field{Path: "/hashtags", Text: tag, Tag: true})
	}
	return len(guard.Check(fields, rules)) > 0
}

// tagsOf returns the hashtags of an answer that are single words, at most as many as a platform takes.
func tagsOf(raw []string, most int) []string {
	tags := []string{}
	for _, tag := range raw {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "#")
		if tag != "" && !strings.ContainsAny(tag, "# \t\n,<>@") && len(tag) <= 100 && !slices.Contains(tags, tag) &&
			len(tags) < min(most, 30) {
			tags = append(tags, tag)
		}
	}
	return tags
}

// results returns the results of the parts that were made, but for finished media.
func (r *maker) results(made []generate.PartResult) (all []result) {
	for n, m := range made {
		p := r.attempt.Parts[n]
		if p.Role == roleFinal || len(m.Files) == 0 && m.Text == nil {
			continue
		}
		one := result{Role: p.Role, Number: p.Number, Marks: m.Marks, Of: r.writer.source(p.Role, p.Number)}
		if len(m.Files) > 0 {
			one.FileID = m.Files[0].ID
		}
		all = append(all, one)
	}
	return all
}

// maxKept bounds the files of attempts that did not succeed.
const maxKept = 50

// keep shows the completed parts of an attempt that did not succeed. If none has succeeded before, the item has their
// texts, too, and the next attempt may reuse them.
func (r *maker) keep(made []generate.PartResult) {
	if len(r.results(made)) == 0 {
		return
	}
	r.settle(made)
	_, parts := r.sort(made)
	for _, f := range parts {
		if !slices.ContainsFunc(r.record.allFiles(), func(known media.File) bool { return known.ID == f.ID }) {
			r.attempt.LeftoverFiles = append(r.attempt.LeftoverFiles, f)
		}
	}
	r.attempt.LeftoverFiles = r.attempt.LeftoverFiles[max(len(r.attempt.LeftoverFiles)-maxKept, 0):]
	if r.item.GeneratedAt == nil {
		r.write(made)
		r.attempt.Results = r.results(made)
	}
}

// Stop moves an item whose work was canceled to its end. charged is the cost of the
// completed parts, and made has their results.
func (r *Record) Stop(tx *store.Tx, now time.Time, charged int64, made []generate.PartResult) error {
	before := r.Counts()
	if err := r.Item.Move(Canceled); err != nil {
		return err
	}
	r.Charge(now, charged)
	makerOf(r).keep(made)
	r.Attempt.Ticket = generate.Ticket{}
	r.Item.Touch(now)
	r.Count(tx, now, before)
	return nil
}
