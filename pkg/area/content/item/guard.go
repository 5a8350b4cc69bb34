package item

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/craft/guard"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/craft/source"
	"github.com/content-automation/api/pkg/record/resource"
)

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
