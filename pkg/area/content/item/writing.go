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
func (r prompter) task() prompt.Task {
	if t, ok := tasks[r.Shape]; ok {
		return t
	}
	return map[Kind]prompt.Task{Post: prompt.Post, Carousel: prompt.Carousel, Video: prompt.Script, Story: prompt.Story,
		MusicClip: prompt.Song}[r.Kind]
}

// ask sets the request for the texts of the item.
func (r prompter) ask(p part, req *provider.Request) {
	req.ScriptSeconds, req.Scenes = p.Seconds, p.Scenes
	switch r.Kind {
	case Carousel:
		req.Slides = len(r.Slides)
	case Video:
	default:
		req.Pictures = 1
		req.Headline = r.Headlined && !r.Given.Has(Headline)
	}
	told := r.ofWriter(req)
	req.Hashtags = told.Limits.Hashtags
	if req.Hashtags == 0 {
		req.Hashtags = provider.None
	}
	for _, p := range told.Short {
		req.Short = append(req.Short, provider.ShortWanted{Platform: p.Name, Characters: p.Limits.Caption})
	}
	tell(req, told)
	req.About, req.Sources = r.about(), len(told.Sources)
}

// askAnother sets the request for a draft to one from another first line than hook.
func (r prompter) askAnother(req *provider.Request, hook string) {
	told := r.ofWriter(req)
	told.Other = hook
	tell(req, told)
}

// longestHook is the greatest length of a first line in the prompt of another draft, in characters.
const longestHook = 200

// tell sets the prompts of a writer.
func tell(req *provider.Request, told prompt.Writing) {
	written := prompt.Write(told)
	req.System, req.User, req.PromptVersion = written.System, written.User, written.Version
}

// ofWriter returns the prompt of the item's texts.
func (r prompter) ofWriter(req *provider.Request) prompt.Writing {
	w := prompt.Writing{
		Task: r.task(), Type: r.Brief.Type, Channel: r.Brief.Voice, Language: r.Language, Subject: r.Prompt,
		Rules: append(r.productRules(), r.retold()...), Origin: r.Origin, Slides: req.Slides, Pictures: req.Pictures,
		Scenes: req.Scenes, Seconds: req.ScriptSeconds, Long: r.Shape == "long video", Headline: req.Headline,
	}
	if product := r.Brief.Product; product != nil {
		w.Product = product.facts(r.Brief.Prices != PricesNone, r.Language)
	}
	if r.Given.Has(Script) {
		w.Script = string(r.Script)
	}
	for i, a := range r.told() {
		w.Sources = append(w.Sources, prompt.Source{Number: i + 1, Title: a.Title, URL: a.URL, Published: a.PublishedAt,
			Text: a.Text})
	}
	w.Sourced = r.Brief.Sourced
	m := r.memory
	if m == nil { // it is the longest one, for which the price is
		m = longestMemory()
		at := r.aimAt(registry.Names())
		w.Targets, w.Short, w.Limits = at.main, at.short, at.limits(r.Language)
	} else {
		at := r.aimAt(m.platforms)
		if w.Targets, w.Short, w.Limits = at.main, at.short, at.limits(r.Language); len(at.main) == 0 {
			w.Limits = r.aimAt(registry.Names()).limits(r.Language)
		}
	}
	if !r.Accepted.IsZero() {
		w.Today = r.Accepted.Format(day)
	}
	w.Limits.Caption = max(w.Limits.Caption-utf8.RuneCountInString(noticed(r.Record, "")), 1)
	w.Plan, w.Examples, w.Recent, w.Learned = r.Slot, r.examples(m), m.recent, m.learned
	return w
}

// examples returns texts of the channel to learn from: those of its memory, and the samples of its voice where there
// are fewer. Items begin with different samples.
func (r prompter) examples(m *memory) []string {
	all := slices.Clone(m.examples)
	if len(r.Brief.Samples) == 0 {
		return all
	}
	start := 0
	for _, b := range []byte(r.ID) {
		start += int(b)
	}
	for i := range min(maxExamples-len(all), len(r.Brief.Samples)) {
		all = append(all, clipBytes(r.Brief.Samples[(start+i)%len(r.Brief.Samples)], exampleSize))
	}
	return all
}

// day is the layout of the day on which a text is written.
const day = "Monday, 2006-01-02"

// kindNames are the kinds in the prompts of writers.
var kindNames = map[Kind]string{Post: "a post", Carousel: "a carousel", Video: "a video", Story: "a story",
	MusicClip: "the post of a piece of music"}

// retold are the rules for a text that retells the text of another item.
func (r prompter) retold() (all []string) {
	if r.Origin == nil {
		return nil
	}
	all = append(all, fmt.Sprintf(`"from" is an earlier piece of the channel, and this one retells it as %s: keep its `+
		"message, facts, names and numbers, add none, and give them the form that this piece needs.",
		kindNames[r.Kind]))
	if !sameLanguage(r.Origin.Language, r.Language) {
		all = append(all, `"from" is in another language: write what a native speaker would say, not word by word.`)
	}
	if !r.Copied {
		return all
	}
	part := map[Kind]string{Video: "scene", Carousel: "slide"}[r.Kind]
	return append(all, fmt.Sprintf(`The pictures are there already: %[1]s n says what %[1]s n of "from" says, in no `+
		`more words, and shows what that one shows.`, part))
}

// productRules are what a text model has to know of the slides or scenes that show photos of the product, and of the
// prices that it may state.
func (r prompter) productRules() (all []string) {
	if r.Brief.Product != nil {
		var numbers []string
		for _, s := range r.Shown {
			if len(r.Slides) > 1 || r.Kind == Video {
				numbers = append(numbers, strconv.Itoa(s.Number))
			}
		}
		switch {
		case len(numbers) > 0:
			all = append(all, fmt.Sprintf("Photos of the product are seen in the slides or scenes %s: speak of the "+
				"product there.", strings.Join(numbers, ", ")))
		case len(r.Shown) > 0:
			all = append(all, "The picture is a photo of the product that exists: describe the product, and invent "+
				"no scene.")
		}
	}
	switch r.Brief.Prices {
	case PricesKnown:
		all = append(all, "State no prices and amounts of money but those that the message has, and in the same "+
			"currency.")
	case PricesNone:
		all = append(all, "State no prices and no amounts of money.")
	}
	return all
}

// about returns what the texts of the item are about.
func (r prompter) about() provider.About {
	a := provider.About{Kind: string(r.Kind), Type: r.Brief.Type, Name: r.Brief.Name, Channel: r.Brief.Description}
	if b := r.Brief.Brand; b != nil {
		a.Name = cmp.Or(b.Name, a.Name)
	}
	p := r.Brief.Product
	if p == nil {
		return a
	}
	a.Product, a.Description = p.Name, p.Description
	if r.Brief.Prices == PricesNone {
		return a
	}
	a.Price = p.Price.In(r.Language)
	if p.Promotion != nil {
		was, _ := p.before()
		a.Price, a.Was, a.Until = p.reduced().In(r.Language), was.In(r.Language),
			p.Promotion.EndsAt.Format(time.DateOnly)
	}
	return a
}

// judge sets the request for a second look at a text.
func (r prompter) judge(req *provider.Request, text provider.Text) {
	written := r.ofWriter(req)
	look := prompt.Judge(prompt.Review{Writing: written, Text: text})
	req.System, req.User, req.PromptVersion = "", "", look.Version
	req.Prompt = look.User
	req.Form = &provider.Form{System: look.System, Tokens: prompt.ReviewTokens, Sample: prompt.Approval}
}

// compare sets the request to choose between two texts.
func (r prompter) compare(req *provider.Request, a, b provider.Text) {
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

// spoken returns the scenes as a text model writes them.
func (r prompter) spoken() []provider.Scene {
	var all []provider.Scene
	for _, s := range r.Scenes {
		all = append(all, s.written())
	}
	return all
}

// chosenText returns the texts that were made. They are empty if there are none yet.
func (r prompter) chosenText(made []generate.Made) provider.Text {
	if n := r.textPart(); n >= 0 && n < len(made) && made[n].Text != nil {
		return *made[n].Text
	}
	return provider.Text{}
}

// words returns the texts of the item: those that were made, and the script of the caller.
func (r prompter) words(made []generate.Made) provider.Text { return r.worded(r.chosenText(made)) }

// worded adds the script of the caller to a text that was made.
func (r prompter) worded(t provider.Text) provider.Text {
	if r.Given.Has(Script) && r.Kind == Video {
		t.Scenes = r.spoken()
	}
	if t.Title == "" {
		t.Title = string(r.Title)
	}
	return t
}

// texts returns the present texts of the item.
func (r prompter) texts() *provider.Text {
	t := r.Texts.written()
	t.Scenes, t.Style, t.Characters, t.Sound = r.spoken(), r.Art.Style, r.Art.Characters, r.Art.Sound
	t.Hook, t.Hooks, t.HookKinds = r.Art.Hook, r.Art.Hooks, r.Art.HookKinds
	if len(r.Slides) == 0 {
		t.Pictures = r.Art.Pictures
	}
	for i, s := range r.Slides {
		slide := provider.Slide{Heading: s.Text, Body: string(s.Body)}
		if i < len(r.Art.Pictures) {
			slide.Picture = r.Art.Pictures[i]
		}
		t.Slides = append(t.Slides, slide)
	}
	return t
}

// checkWritten refuses texts that a model has written and that finished media could not
// show, before anything is made of them.
func (r prompter) checkWritten(t provider.Text) error {
	texts := []string{t.Headline}
	if r.Kind != Video || r.Brief.CaptionStyle != captionsUnseen {
		texts = append(texts, t.Script())
	}
	if !r.Given.Has(Title) && r.InMedia() {
		texts = append(texts, t.Title)
	}
	for _, s := range t.Scenes {
		texts = append(texts, s.OnScreen)
	}
	for _, s := range t.Slides {
		texts = append(texts, s.Heading, s.Body)
	}
	if r.seen() && slices.ContainsFunc(texts, func(s string) bool { return !script.Drawable(s) }) {
		return provider.FailureOf(provider.FailedScript)
	}
	return nil
}
