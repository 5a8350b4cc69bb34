package item

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/guard"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/craft/source"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/script"
	"github.com/content-automation/api/pkg/media/compose/timeline"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// composition returns the composition of the parts that were made.
func (r *maker) composition(made []generate.PartResult) (generate.Composition, error) {
	text := r.writer.words(made)
	if err := r.writer.checkWritten(text); err != nil {
		return nil, err
	}
	if !r.callerTexts.Has(Title) {
		r.item.Title = resource.Text(text.Title)
	}
	pictures := r.pictures(made)
	if len(pictures) == 0 {
		return nil, fmt.Errorf("item: %s has made nothing that could be composed", r.item.ID)
	}
	switch brand := r.brief.Brand; r.attempt.Shape {
	case "short video", "long video":
		return r.video(text, made, pictures)
	case "story clip":
		scene := generate.Scene{Clip: pictures[0], Length: r.writer.between(), OnScreen: string(r.item.Title)}
		if !r.callerTexts.Has(Title) {
			scene.OnScreen = script.Screen.Clip(string(r.item.Title))
		}
		return generate.Video{Format: generate.Portrait, Scenes: []generate.Scene{scene}, Language: r.item.Language,
			Brand: brand, Intro: r.brief.Intro, Outro: r.brief.Outro}, nil
	case "carousel":
		c := generate.Carousel{Language: r.item.Language, Brand: brand, Offer: r.writer.offer(), Ratio: r.brief.Ratio}
		for i, p := range pictures {
			slide := generate.Slide{File: p, Heading: r.item.Slides[i].Text, Body: string(r.item.Slides[i].Body),
				Whole: r.attempt.photo(i+1) != nil}
			if !r.callerTexts.slide(i) && i < len(text.Slides) {
				slide.Heading, slide.Body = text.Slides[i].Heading, text.Slides[i].Body
			}
			c.Slides = append(c.Slides, slide)
		}
		return c, nil
	case "story":
		return generate.Picture{Use: generate.Story, File: pictures[0], Text: string(r.item.Title),
			Language: r.item.Language, Brand: brand, Whole: r.attempt.photo(1) != nil, Offer: r.writer.offer()}, nil
	case "music clip":
		_, cover := r.attempt.madeBy(made, roleCover, 0)
		if r.record.OwnCover != nil && *r.item.Cover != CoverGenerated {
			cover = r.record.OwnCover
		}
		if cover == nil {
			return nil, fmt.Errorf("item: %s has no cover", r.item.ID)
		}
		return generate.MusicClip{
			Track: pictures[0], Cover: cover, Length: time.Duration(*r.item.DurationSeconds) * time.Second,
			Title: string(r.item.Title), Artist: r.brief.Artist, Language: r.item.Language, Brand: brand,
		}, nil
	}
	headline := r.item.Headline
	if !r.callerTexts.Has(Headline) {
		headline = resource.Text(text.Headline)
	}
	return generate.Picture{Use: generate.Post, File: pictures[0], Text: string(headline), Language: r.item.Language,
		Brand: r.brief.Brand, Whole: r.attempt.photo(1) != nil, Offer: r.writer.offer(), Ratio: r.brief.Ratio}, nil
}

// pictures returns the pictures and clips of the item in their order: those that were made, and photos of the product.
func (r *maker) pictures(made []generate.PartResult) (all []*media.File) {
	show := func() {
		for f := r.attempt.photo(len(all) + 1); f != nil; f = r.attempt.photo(len(all) + 1) {
			all = append(all, f)
		}
	}
	show()
	var order []int
	for n, m := range made {
		if r.attempt.Parts[n].Role == roleItem && len(m.Files) > 0 {
			order = append(order, n)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return r.attempt.Parts[a].Number - r.attempt.Parts[b].Number })
	for _, n := range order {
		all = append(all, &made[n].Files[0])
		show()
	}
	return all
}

// video describes a video of scenes.
func (r *maker) video(text provider.Text, made []generate.PartResult, seen []*media.File) (generate.Composition,
	error) {
	v := generate.Video{Format: generate.Portrait, Language: r.item.Language, Fade: true, Cuts: r.brief.Cuts,
		Brand: r.brief.Brand, Music: r.record.Track, Offer: r.writer.offer(), Intro: r.brief.Intro,
		Outro: r.brief.Outro}
	if r.attempt.Shape == "long video" {
		v.Format = generate.Landscape
	}
	if v.Captions = r.brief.CaptionStyle != captionsUnseen; v.Captions {
		v.CaptionStyle = r.brief.CaptionStyle
	}
	n, voice := r.attempt.madeBy(made, roleVoice, 0)
	if voice == nil || len(seen) != len(text.Scenes) {
		return nil, fmt.Errorf("item: %s has a script of %d scenes, and made %d", r.item.ID, len(text.Scenes),
			len(seen))
	}
	v.Narration = voice
	if v.Headline = string(cmp.Or(resource.Text(text.Scenes[0].OnScreen),
		r.item.Title)); !script.Slide.Fits(v.Headline) {
		v.Headline = script.Slide.Clip(v.Headline)
	}
	if !r.callerTexts.Has(Script) { // which determines the length itself
		v.Length = r.writer.between()
	} else if seconds(*voice)+lead+tail < leastSpoken*time.Second { // of a fast voice: platforms take no shorter video
		v.Length = leastSpoken * time.Second
	}
	for _, m := range made[n].Marks {
		v.Marks = append(v.Marks, timeline.Mark(m))
	}
	if *r.item.Music == MusicGenerated {
		_, v.Music = r.attempt.madeBy(made, roleMusic, 0)
	}
	covers, clips := make([]time.Duration, len(text.Scenes)), 0
	for i, s := range text.Scenes {
		scene := generate.Scene{Text: s.Text, OnScreen: s.OnScreen, Whole: r.attempt.photo(i+1) != nil}
		if seen[i].Type == media.Video {
			scene.Clip, covers[i] = seen[i], coveredTime(seconds(*seen[i]))
			clips++
		} else {
			scene.Picture, covers[i] = seen[i], anyLength
		}
		v.Scenes = append(v.Scenes, scene)
	}
	if clips > 0 {
		spoken, marks := timeline.Faster(seconds(*voice), v.Marks, timeline.Tempo(seconds(*voice), lead+tail, v.Length))
		fitToClips(v.Scenes, marks, spoken, covers)
	}
	return v, nil
}

// ownComposition returns the composition that fits the caller's pictures or video. A video keeps its length and sound.
func (r *maker) ownComposition() generate.Composition {
	whole := *r.item.Fit == FitPad
	if own := &r.record.Own[0]; r.item.Kind != Carousel && own.Type == media.Video {
		v := generate.Video{Format: generate.Portrait, Language: r.item.Language}
		if r.item.Format != nil && *r.item.Format == FormatLong {
			v.Format = generate.Landscape
		}
		v.Scenes = []generate.Scene{{Clip: own, Length: seconds(*own), Whole: whole}}
		return v
	}
	if r.item.Kind != Carousel {
		use := generate.Post
		if r.item.Kind == Story {
			use = generate.Story
		}
		return generate.Picture{Use: use, File: &r.record.Own[0], Language: r.item.Language, Whole: whole}
	}
	c := generate.Carousel{Language: r.item.Language}
	for i := range r.record.Own {
		c.Slides = append(c.Slides, generate.Slide{File: &r.record.Own[i], Whole: whole})
	}
	return c
}

// check decides whether a text can be used: the guards do. The writer of the sandbox repeats
// itself, does not translate, and quotes sources that nobody has read: its texts are checked for claims, words and
// lengths. What they refuse, it writes anew without its samples, so that the requested outcome stays the same.
func (w *work) check(ctx context.Context, db *store.DB, now time.Time, m generate.PartResult) (*generate.Refusal,
	error) {
	t, rules, sandbox := *m.Text, w.writer.rules(now), w.item.Owner.Mode == tenant.Test
	rules.Sources = len(w.writer.quotedSources(t))
	rules.NeedsSource = rules.NeedsSource && !sandbox
	rows, err := w.platforms(ctx, db)
	if err != nil {
		return nil, err
	}
	rules.Limits = w.writer.bounds(rows, t)
	if !w.repeats && !sandbox {
		if rules.Past, err = pastTexts(ctx, db, w.record.Item.FactoryID, w.record.Item.ID,
			w.record.Item.origin()); err != nil {
			return nil, err
		}
	}
	found := guard.Check(w.writer.fields(t), rules)
	for _, label := range w.writer.lacking(rows, t) {
		found = append(found, guard.Finding{Code: guard.TooLong, Path: "/caption", Text: t.Caption,
			Kind: "needs a short version for " + label})
	}
	if sandbox {
		found = slices.DeleteFunc(found, func(f guard.Finding) bool { return f.Code == guard.Language })
	}
	if len(found) == 0 {
		return nil, nil
	}
	refusal := &generate.Refusal{Problems: []string{guard.Reasons(found)}}
	final := slices.DeleteFunc(slices.Clone(found), guard.Finding.Decidable)
	if refusal.HeldForApproval = len(final) == 0; refusal.HeldForApproval {
		final = found
	}
	refusal.Code = provider.FailureCode(final[0].Code)
	first := slices.DeleteFunc(slices.Clone(final), func(f guard.Finding) bool { return f.Code != final[0].Code })
	refusal.Message = "The text was refused twice: " + guard.Reasons(first) + ". " + advice[final[0].Code]
	return refusal, nil
}

// advice says what callers can do about each code.
var advice = map[guard.Code]string{
	guard.Unfinished:  "Regenerate the item.",
	guard.Unsupported: "Add what is true to the prompt, the product or the factory, or regenerate the item.",
	guard.Forbidden:   "Regenerate the item, or change forbidden_words or voice of the factory.",
	guard.Language:    "Regenerate the item, or change its language.",
	guard.TooLong:     "Regenerate the item, or ask for a shorter text.",
	guard.Repetitive:  "Change the prompt, so that the item says something new.",
}

// Composition implements generate.Composing: the finished media of the item.
func (w *work) Composition(_ int, made []generate.PartResult) (generate.Composition, error) {
	if s := w.record.Attempt.Sandbox; s != nil && s.Outcome == generate.OutcomeFailed {
		// No provider has rehearsed the failure, since all other parts are reused.
		return nil, provider.FailureOf(cmp.Or(s.FailureCode, provider.FailedGeneration))
	}
	if w.record.Item.Provided() {
		return withNotice(w.maker.ownComposition(), shownNotice(w.record)), nil
	}
	w.maker.settle(made)
	shown := *w.record
	switch l := shown.Brief.Logo; {
	case w.look.Plain:
		shown.Brief.Brand, shown.Brief.Badge = shown.Brief.Brand.Plain(), nil
	case l != nil && w.look.Place != "":
		shown.Brief.Brand = shown.Brief.Brand.At(&l.File, w.look.Place)
	}
	c, err := makerOf(&shown).composition(made)
	if v, ok := c.(generate.Video); ok && w.look.Plain {
		v.Intro, v.Outro = nil, nil // what was made for the time between them cannot fill theirs
		c = v
	}
	return withNotice(c, shownNotice(w.record)), err
}

// Gave implements generate.Composing.
func (w *work) Gave(e *provider.Error) bool {
	r := w.record
	var n int
	text := e.Code == string(provider.FailedTextTooLong) || e.Code == string(provider.FailedScript) ||
		e.Code == string(provider.FailedInput)
	switch part := e.Part; {
	case part == "":
		return false
	case part == "/music":
		return r.Track != nil && r.Item.Music != nil && *r.Item.Music != MusicGenerated
	case part == "/cover":
		return r.OwnCover != nil && *r.Item.Cover != CoverGenerated
	case strings.HasPrefix(part, "/brand/"), part == "/intro", part == "/outro":
		return true
	case part == "/path" && text && r.Item.Kind == Post:
		return r.CallerTexts.Has(Headline)
	case part == "/title", part == "/path" && text:
		return r.CallerTexts.Has(Title)
	case scan(part, "/scenes/%d/on_screen", &n):
		return r.CallerTexts.Has(Script) && r.Item.Kind == Video || r.CallerTexts.Has(Title) && r.Item.Kind == Story
	case scan(part, "/slides/%d/body", &n):
		return r.CallerTexts.slide(n)
	case part == "/path":
		return r.Attempt.photo(1) != nil
	case scan(part, "/slides/%d", &n) && text:
		return r.CallerTexts.slide(n)
	case scan(part, "/slides/%d", &n), scan(part, "/scenes/%d/picture", &n):
		return r.Attempt.photo(n+1) != nil
	default:
		return r.fromCaller(part)
	}
}

// scan reads the number in a JSON pointer.
func scan(pointer, format string, n *int) bool {
	_, err := fmt.Sscanf(pointer, format, n)
	return err == nil && fmt.Sprintf(format, *n) == pointer
}

// fromCaller reports whether the file of a key is one that the caller has brought in.
func (r *Record) fromCaller(key string) bool {
	is := func(f *media.File) bool { return f != nil && f.Key == key }
	if is(r.Track) || is(r.OwnCover) || is(r.Brief.Intro) || is(r.Brief.Outro) ||
		r.Brief.Logo != nil && is(&r.Brief.Logo.File) ||
		r.Brief.Brand != nil && is(r.Brief.Brand.Logo) {
		return true
	}
	return slices.ContainsFunc(r.Attempt.ProductPhotos, func(p shownPhoto) bool { return p.File.Key == key })
}

// articles returns the articles that the writer may quote. Before they are read, they are as long as they can be, so
// that the price is for the longest prompt.
func (r *writer) articles() []source.Article {
	if r.attempt.SourcesRead || len(r.brief.Sources) == 0 {
		return r.attempt.Articles
	}
	longest := strings.Repeat("語", source.MaxText)
	one := source.Article{Title: longest[:3*source.MaxTitle], URL: longest[:source.MaxURL], Text: longest}
	return slices.Repeat([]source.Article{one}, source.MaxChosen)
}

// quotedSources returns the sources that a text names.
func (r *writer) quotedSources(t provider.Text) []Quoted {
	all := []Quoted{}
	for i, a := range r.attempt.Articles {
		if !slices.Contains(t.Sources, i+1) {
			continue
		}
		q := Quoted{Title: a.Title, URL: a.URL}
		if a.PublishedAt != nil {
			at := resource.Instant(*a.PublishedAt)
			q.PublishedAt = &at
		}
		all = append(all, q)
	}
	return all
}

// rules returns what the texts of the item may state and must comply with.
func (r *writer) rules(now time.Time) guard.Rules {
	rules := guard.Rules{Language: r.item.Language, Now: now, NeedsSource: r.brief.Sourced,
		Forbidden: r.brief.Forbidden, Competitors: r.brief.Competitors, Names: []string{r.brief.Name},
		Facts: []string{r.brief.Name, r.brief.Voice, r.item.Prompt, r.attempt.AcceptedAt.Format(time.DateOnly)}}
	if r.callerTexts.Has(Script) {
		rules.Facts = append(rules.Facts, string(r.item.Script))
		for _, s := range r.item.Scenes {
			rules.Facts = append(rules.Facts, string(s.OnScreen))
		}
	}
	for _, text := range plainTexts {
		if r.callerTexts.Has(text.name) {
			rules.Facts = append(rules.Facts, string(*text.of(&r.item.Texts)))
		}
	}
	for _, i := range r.callerTexts.Slides {
		rules.Facts = append(rules.Facts, r.item.Slides[i].Text, string(r.item.Slides[i].Body))
	}
	if r.item.PublishAt != nil {
		rules.Facts = append(rules.Facts, r.item.PublishAt.Format(time.DateOnly))
	}
	if plan, err := json.Marshal(r.record.Slot); err == nil && r.record.Slot != nil {
		rules.Facts = append(rules.Facts, string(plan))
	}
	rules.Facts = append(rules.Facts, originFacts(r.record.Origin)...)
	for _, s := range r.attempt.Articles {
		rules.QuotedInputs, rules.Facts = append(rules.QuotedInputs, s.Title, s.Text), append(rules.Facts, s.URL)
		if s.PublishedAt != nil {
			rules.Facts = append(rules.Facts, s.PublishedAt.Format(time.DateOnly))
		}
	}
	if p := r.brief.Product; p != nil {
		rules.Names = append(rules.Names, p.Name)
		if r.brief.Prices == PricesNone {
			rules.UnpricedInputs = p.statements(r.brief.zone())
		} else {
			rules.Facts, rules.Prices = append(rules.Facts, p.statements(r.brief.zone())...), p.prices()
		}
	}
	return rules
}

// Invents reports whether texts for the item state what none of its inputs has, or have a forbidden word.
func (r *Record) Invents(now time.Time, texts ...string) bool {
	rules := writerOf(r).rules(now)
	rules.NeedsSource = false // topics name no sources
	var all []guard.Field
	for _, text := range texts {
		all = append(all, guard.Field{Text: text})
	}
	return slices.ContainsFunc(guard.Check(all, rules), func(f guard.Finding) bool {
		return f.Code == guard.Unsupported || f.Code == guard.Forbidden
	})
}

// originFacts returns the texts of the origin, which the item may state.
func originFacts(o *prompt.Origin) []string {
	if o == nil {
		return nil
	}
	data, _ := json.Marshal(o) // it has texts only
	return []string{string(data)}
}

// fields returns the texts that the writer has written and that readers see or hear. Those of the caller are not
// checked.
func (r *writer) fields(t provider.Text) (all []guard.Field) {
	add := func(path, text string) {
		if text != "" {
			all = append(all, guard.Field{Path: path, Text: text})
		}
	}
	for _, text := range plainTexts {
		if !r.callerTexts.Has(text.name) {
			add("/"+string(text.name), *text.made(&t))
		}
	}
	for _, s := range t.Short {
		add("/variants/"+s.Platform+"/caption", s.Caption)
	}
	for i, s := range t.Slides {
		if !r.callerTexts.slide(i) {
			add(fmt.Sprintf("/slides/%d/text", i), s.Heading)
			add(fmt.Sprintf("/slides/%d/body", i), s.Body)
		}
		add(fmt.Sprintf("/slides/%d/alt_text", i), s.Alt)
	}
	for i, p := range t.Pictures {
		add(fmt.Sprintf("/pictures/%d/alt_text", i), p.Alt)
	}
	for i, s := range t.Scenes {
		if !r.callerTexts.Has(Script) {
			add(fmt.Sprintf("/scenes/%d/text", i), s.Text)
			add(fmt.Sprintf("/scenes/%d/on_screen", i), s.OnScreen)
		}
	}
	if !r.callerTexts.Has(Hashtags) {
		for i, tag := range t.Hashtags {
			all = append(all, guard.Field{Path: fmt.Sprintf("/hashtags/%d", i), Text: tag, Tag: true})
		}
	}
	return all
}

// source returns what a part is made of, as far as a caller can correct it: the voice speaks the script, and a picture
// or clip of a video shows what its scene describes. The text in other finished media is not part of their pictures.
func (r *writer) source(of role, number int) string {
	text := ""
	switch {
	case of == roleVoice:
		text = scriptOf(r.item.Scenes)
	case r.item.Kind == Video && (of == roleItem || of == roleStill) && number <= len(r.item.Scenes):
		text = string(r.item.Scenes[number-1].Visual)
	}
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// scriptParam returns the member that has the caller's script.
func (r *writer) scriptParam() string {
	if r.callerTexts.NoScenes || r.item.Kind == MusicClip {
		return "/script"
	}
	return "/scenes"
}

// newsType is the type of factories whose content informs the public.
const newsType = "news"

// The kinds of ids of people, whose approval is a review: those of an account, and those who open a review link.
var reviewers = []string{"usr_", "rvl_"}

// reviewed reports whether a person has approved the item.
func reviewed(r *Record) bool {
	if r.Item.Approval.State != Approved || r.Item.Approval.By == nil {
		return false
	}
	for _, prefix := range reviewers {
		if strings.HasPrefix(*r.Item.Approval.By, prefix) {
			return true
		}
	}
	return false
}

// publishedAt returns the time for which rules are read: that of the publication, as far as it is known.
func publishedAt(r *Record) time.Time {
	if r.Item.PublishAt != nil && r.Item.PublishAt.After(r.Item.UpdatedAt.Time) {
		return r.Item.PublishAt.Time
	}
	return r.Item.UpdatedAt.Time
}

// applies reports whether a rule is in force where and when the item is published.
func applies(r *Record, id string) bool {
	return law.RuleOf(id).InForce(r.Brief.Region, publishedAt(r))
}

// drawsLabel reports whether finished media that are composed have the label of generated media.
func drawsLabel(r *Record) bool {
	composed := !r.Item.Provided() || r.Item.Fitted() && !r.Item.Labelled
	return composed && r.Item.DeepFake && applies(r, law.DeepFakeLabel)
}

// shownNotice returns what finished media have to show, or an empty text.
func shownNotice(r *Record) string {
	var all []string
	if r.Item.AdMarking != nil {
		all = append(all, law.AdLabel)
	}
	if drawsLabel(r) {
		all = append(all, law.Label(r.Item.Language))
	}
	return strings.Join(all, " · ")
}

// withNotice returns a composition that shows a notice.
func withNotice(c generate.Composition, notice string) generate.Composition {
	switch of := c.(type) {
	case generate.Video:
		of.Notice = notice
		return of
	case generate.Picture:
		of.Notice = notice
		return of
	case generate.Carousel:
		of.Notice = notice
		return of
	case generate.MusicClip:
		of.Notice = notice
		return of
	}
	return c
}

// notices returns the lines that rules of law require in the text of its post on a platform, and the one by which its
// factory declares generated content where nothing but the text can. An empty platform stands for each.
func notices(r *Record, on string) (lines []string) {
	if r.Brief.Type == newsType && !r.Item.Provided() && !reviewed(r) && applies(r, law.PublicDisclosure) {
		lines = append(lines, law.Disclosure(r.Item.Language))
	}
	if r.Item.AIGenerated && r.Brief.CaptionLine && len(lines) == 0 && silent(on) {
		lines = append(lines, law.Label(r.Item.Language)+".")
	}
	if m := law.MarkingOf(r.Item.AdMarking); m != nil {
		lines = append(lines, m.Line())
	}
	return lines
}

// silent reports whether only the text of a post can tell that AI has made it.
func silent(on string) bool {
	row, _ := registry.Find(on)
	return on == "" || row.Capabilities.Origin.Silent()
}

// WithNotices returns a text of a post on a platform with the lines that it must have, without those that it has
// already.
func WithNotices(r *Record, text, on string) string {
	for _, line := range notices(r, on) {
		if !strings.Contains(text, line) {
			text = strings.TrimSpace(text + "\n\n" + line)
		}
	}
	return text
}

// noticeLength returns the characters that such lines take in a text.
func noticeLength(r *Record, on string) string {
	if text := WithNotices(r, "", on); text != "" {
		return "\n\n" + text
	}
	return ""
}
