package item

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media/compose/script"
)

// tasks are the prompts of shapes.
var tasks = map[string]prompt.Task{
	"post": prompt.Post, "carousel": prompt.Carousel, "short video": prompt.Script, "long video": prompt.Script,
	"story": prompt.Story, "story clip": prompt.Story, "music clip": prompt.Song,
}

// task returns the prompt of the item's texts. Items that know no shape have the usual one of their kind.
func (r *writer) task() prompt.Task {
	if t, ok := tasks[r.attempt.Shape]; ok {
		return t
	}
	return map[Kind]prompt.Task{Post: prompt.Post, Carousel: prompt.Carousel, Video: prompt.Script, Story: prompt.Story,
		MusicClip: prompt.Song}[r.item.Kind]
}

// ask sets the request for the texts of the item.
func (r *writer) ask(p part, req *provider.Request) {
	req.ScriptSeconds, req.Scenes = p.Seconds, p.Scenes
	switch r.item.Kind {
	case Carousel:
		req.Slides = len(r.item.Slides)
	case Video:
	default:
		req.Pictures = 1
		req.Headline = r.record.Headlined && !r.callerTexts.Has(Headline)
	}
	told := r.ofWriter(req)
	req.Hashtags = told.Limits.Hashtags
	req.Hashtags = cmp.Or(req.Hashtags, provider.None)
	for _, p := range told.Short {
		req.Short = append(req.Short, provider.ShortVersion{Platform: p.Name, Characters: p.Limits.Caption})
	}
	tell(req, told)
	req.About, req.Sources = r.about(), len(told.Sources)
}

// askAnother sets the request for a draft to one from another first line than hook.
func (r *writer) askAnother(req *provider.Request, hook string) {
	told := r.ofWriter(req)
	told.Other = hook
	tell(req, told)
}

// longestHook is the greatest length of a first line in the prompt of another draft, in characters.
const longestHook = 200

func tell(req *provider.Request, told prompt.Writing) {
	written := prompt.Write(told)
	req.System, req.User, req.PromptVersion = written.System, written.User, written.Version
}

// ofWriter returns the prompt of the item's texts.
func (r *writer) ofWriter(req *provider.Request) prompt.Writing {
	w := prompt.Writing{
		Task: r.task(), Type: r.brief.Type, Channel: r.brief.Voice, Language: r.item.Language, Subject: r.item.Prompt,
		Rules: append(r.productRules(), r.retold()...), Origin: r.record.Origin, Slides: req.Slides,
		Pictures: req.Pictures, Scenes: req.Scenes, Seconds: req.ScriptSeconds,
		Long: r.attempt.Shape == "long video", Headline: req.Headline,
	}
	if product := r.brief.Product; product != nil {
		w.Product = product.facts(r.brief.Prices != PricesNone, r.item.Language, r.brief.zone())
	}
	if r.callerTexts.Has(Script) {
		w.Script = string(r.item.Script)
	}
	for i, a := range r.articles() {
		w.Sources = append(w.Sources, prompt.Source{Number: i + 1, Title: a.Title, URL: a.URL, Published: a.PublishedAt,
			Text: a.Text})
	}
	w.Sourced = r.brief.Sourced
	m := r.memory
	if m == nil { // it is the longest one, for which the price is
		m = longestMemory()
		at := r.aimAt(registry.Names())
		w.Targets, w.Short, w.Limits = at.main, at.short, at.limits(r.item.Language)
	} else {
		at := r.aimAt(m.platforms)
		if w.Targets, w.Short, w.Limits = at.main, at.short, at.limits(r.item.Language); len(at.main) == 0 {
			w.Limits = r.aimAt(registry.Names()).limits(r.item.Language)
		}
	}
	if !r.attempt.AcceptedAt.IsZero() {
		w.Today = r.attempt.AcceptedAt.Format(day)
	}
	w.Limits.Caption = max(w.Limits.Caption-utf8.RuneCountInString(noticeLength(r.record, "")), 1)
	w.Plan, w.Examples, w.Recent, w.Learned = r.record.Slot, r.examples(m), m.recent, m.bestHooks
	return w
}

// examples returns texts of the channel to learn from: those of its memory, and the samples of its voice where there
// are fewer. Items begin with different samples.
func (r *writer) examples(m *memory) []string {
	all := slices.Clone(m.examples)
	if len(r.brief.Samples) == 0 {
		return all
	}
	start := 0
	for _, b := range []byte(r.item.ID) {
		start += int(b)
	}
	for i := range min(maxExamples-len(all), len(r.brief.Samples)) {
		all = append(all, clipBytes(r.brief.Samples[(start+i)%len(r.brief.Samples)], exampleSize))
	}
	return all
}

// day is the layout of the day on which a text is written.
const day = "Monday, 2006-01-02"

// kindNames are the kinds in the prompts of writers.
var kindNames = map[Kind]string{Post: "a post", Carousel: "a carousel", Video: "a video", Story: "a story",
	MusicClip: "the post of a piece of music"}

// retold are the rules for a text that retells the text of another item.
func (r *writer) retold() (all []string) {
	if r.record.Origin == nil {
		return nil
	}
	all = append(all, fmt.Sprintf(`"from" is an earlier piece of the channel, and this one retells it as %s: keep its `+
		"message, facts, names and numbers, add none, and give them the form that this piece needs.",
		kindNames[r.item.Kind]))
	if !sameLanguage(r.record.Origin.Language, r.item.Language) {
		all = append(all, `"from" is in another language: write what a native speaker would say, not word by word.`)
	}
	if !r.attempt.UsesCopies {
		return all
	}
	part := map[Kind]string{Video: "scene", Carousel: "slide"}[r.item.Kind]
	return append(all, fmt.Sprintf(`The pictures are there already: %[1]s n says what %[1]s n of "from" says, in no `+
		`more words, and shows what that one shows.`, part))
}

// productRules are what a text model has to know of the slides or scenes that show photos of the product, and of the
// prices that it may state.
func (r *writer) productRules() (all []string) {
	if r.brief.Product != nil {
		var numbers []string
		for _, s := range r.attempt.ProductPhotos {
			if len(r.item.Slides) > 1 || r.item.Kind == Video {
				numbers = append(numbers, strconv.Itoa(s.Number))
			}
		}
		switch {
		case len(numbers) > 0:
			all = append(all, fmt.Sprintf("Photos of the product are seen in the slides or scenes %s: speak of the "+
				"product there.", strings.Join(numbers, ", ")))
		case len(r.attempt.ProductPhotos) > 0:
			all = append(all, "The picture is a photo of the product that exists: describe the product, and invent "+
				"no scene.")
		}
	}
	switch r.brief.Prices {
	case PricesKnown:
		all = append(all, "State no prices and amounts of money but those that the message has, and in the same "+
			"currency.")
	case PricesNone:
		all = append(all, "State no prices and no amounts of money.")
	}
	return all
}

// about returns what the texts of the item are about.
func (r *writer) about() provider.About {
	a := provider.About{Kind: string(r.item.Kind), Type: r.brief.Type, Name: r.brief.Name, Channel: r.brief.Description}
	if b := r.brief.Brand; b != nil {
		a.Name = cmp.Or(b.Name, a.Name)
	}
	p := r.brief.Product
	if p == nil {
		return a
	}
	a.Product, a.Description = p.Name, p.Description
	if r.brief.Prices == PricesNone {
		return a
	}
	a.Price = p.Price.In(r.item.Language)
	if p.Promotion != nil {
		was, _ := p.priceBefore()
		a.Price, a.Was, a.Until = p.reducedPrice().In(r.item.Language), was.In(r.item.Language),
			lastDay(p.Promotion, r.brief.zone()).Format(time.DateOnly)
	}
	return a
}

// judge sets the request for a second look at a text.
func (r *writer) judge(req *provider.Request, text provider.Text) {
	written := r.ofWriter(req)
	look := prompt.Judge(prompt.Review{Writing: written, Text: text})
	req.System, req.User, req.PromptVersion = "", "", look.Version
	req.Prompt = look.User
	req.Form = &provider.Form{System: look.System, Tokens: prompt.ReviewTokens, Sample: prompt.Approval}
}

// compare sets the request to choose between two texts.
func (r *writer) compare(req *provider.Request, a, b provider.Text) {
	look := prompt.Comparison{Writing: r.ofWriter(req), A: a, B: b}.Prompt()
	req.System, req.User, req.PromptVersion = "", "", look.Version
	req.Prompt = look.User
	req.Form = &provider.Form{System: look.System, Tokens: prompt.CompareTokens, Sample: prompt.FirstIsBetter}
}

// longestAnswer stands for a text that is not written yet, in prices. It has as many bytes as the tokens of an answer.
func longestAnswer(req provider.Request) provider.Text {
	req.Form, req.Repair = nil, nil
	return provider.Text{Caption: string(slices.Repeat([]byte("x"), provider.TextTokens(req).Output))}
}

// spokenScenes returns the scenes as a text model writes them.
func (r *writer) spokenScenes() []provider.Scene {
	var all []provider.Scene
	for _, s := range r.item.Scenes {
		all = append(all, s.forModel())
	}
	return all
}

// chosenText returns the texts that were made. They are empty if there are none yet.
func (r *writer) chosenText(made []generate.PartResult) provider.Text {
	if n := r.attempt.textPart(); n >= 0 && n < len(made) && made[n].Text != nil {
		return *made[n].Text
	}
	return provider.Text{}
}

// words returns the texts of the item: those that were made, and the script of the caller.
func (r *writer) words(made []generate.PartResult) provider.Text {
	return r.withScript(r.chosenText(made))
}

// withScript adds the script of the caller to a text that was made.
func (r *writer) withScript(t provider.Text) provider.Text {
	if r.callerTexts.Has(Script) && r.item.Kind == Video {
		t.Scenes = r.spokenScenes()
	}
	if t.Title == "" {
		t.Title = string(r.item.Title)
	}
	return t
}

// texts returns the present texts of the item.
func (r *writer) texts() *provider.Text {
	t := r.item.Texts.forModel()
	t.Scenes, t.Style, t.Characters, t.Sound = r.spokenScenes(), r.attempt.Art.Style, r.attempt.Art.Characters,
		r.attempt.Art.Sound
	t.Hook, t.Hooks, t.HookKinds = r.attempt.Art.Hook, r.attempt.Art.Hooks, r.attempt.Art.HookKinds
	if len(r.item.Slides) == 0 {
		t.Pictures = r.attempt.Art.Pictures
	}
	for i, s := range r.item.Slides {
		slide := provider.Slide{Heading: s.Text, Body: string(s.Body)}
		if i < len(r.attempt.Art.Pictures) {
			slide.Picture = r.attempt.Art.Pictures[i]
		}
		t.Slides = append(t.Slides, slide)
	}
	return t
}

// checkWritten refuses texts that a model has written and that finished media could not
// show, before anything is made of them.
func (r *writer) checkWritten(t provider.Text) error {
	texts := []string{t.Headline}
	if r.item.Kind != Video || r.brief.CaptionStyle != captionsUnseen {
		texts = append(texts, t.Script())
	}
	if !r.callerTexts.Has(Title) && r.item.InMedia() {
		texts = append(texts, t.Title)
	}
	for _, s := range t.Scenes {
		texts = append(texts, s.OnScreen)
	}
	for _, s := range t.Slides {
		texts = append(texts, s.Heading, s.Body)
	}
	if r.record.showsText() && slices.ContainsFunc(texts, func(s string) bool { return !script.Drawable(s) }) {
		return provider.FailureOf(provider.FailedScript)
	}
	return nil
}
