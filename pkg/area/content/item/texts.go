package item

import (
	"slices"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/record/resource"
)

// Text names a text member of an item, for example "caption".
type Text string

// The texts of an item that a caller can write, apart from those of its slides.
const (
	Title    Text = "title"
	Headline Text = "headline"
	Caption  Text = "caption"
	Hashtags Text = "hashtags"
	Script   Text = "script" // also in scenes
)

// Texts are the texts of a post.
type Texts struct {
	// Title, in one line. Null until generated.
	Title resource.Text `json:"title"`
	// Words that are drawn on the picture of a post. Null until generated, and if none were wanted.
	Headline resource.Text `json:"headline"`
	// Text of the post. Null until generated.
	Caption resource.Text `json:"caption"`
	// Hashtags, without the #.
	Hashtags []string `json:"hashtags" nullable:"false"`
}

// plainTexts are the texts in one piece, each with its place in an item and in what a model writes.
var plainTexts = []struct {
	name Text
	of   func(*Texts) *resource.Text
	made func(*provider.Text) *string
}{
	{Title, func(t *Texts) *resource.Text { return &t.Title }, func(t *provider.Text) *string { return &t.Title }},
	{Headline, func(t *Texts) *resource.Text { return &t.Headline },
		func(t *provider.Text) *string { return &t.Headline }},
	{Caption, func(t *Texts) *resource.Text { return &t.Caption },
		func(t *provider.Text) *string { return &t.Caption }},
}

// Plain returns the text of a name, or nil if it is not in one piece.
func (t *Texts) Plain(name Text) *resource.Text {
	for _, one := range plainTexts {
		if one.name == name {
			return one.of(t)
		}
	}
	return nil
}

// forModel returns the texts as a model writes them.
func (t *Texts) forModel() *provider.Text {
	w := &provider.Text{Hashtags: t.Hashtags}
	for _, one := range plainTexts {
		*one.made(w) = string(*one.of(t))
	}
	return w
}

// take takes over the texts that a model has written. Those of the caller stay.
func (t *Texts) take(w provider.Text, given CallerTexts) {
	for _, one := range plainTexts {
		if !given.Has(one.name) {
			*one.of(t) = resource.Text(*one.made(&w))
		}
	}
	if !given.Has(Hashtags) {
		t.Hashtags = append([]string{}, w.Hashtags...)
	}
}

// CallerTexts marks the texts that the caller wrote.
type CallerTexts struct {
	Texts []Text `json:"texts,omitempty"`
	// Slides are the indexes of the slides whose texts the caller wrote.
	Slides []int `json:"slides,omitempty"`
	// NoScenes reports whether the script of the caller has no scenes.
	NoScenes bool `json:"undivided,omitempty"`
}

// Has reports whether the caller wrote all of some texts.
func (g CallerTexts) Has(names ...Text) bool {
	return !slices.ContainsFunc(names, func(t Text) bool { return !slices.Contains(g.Texts, t) })
}

// slide reports whether the caller wrote the texts of a slide, by its index.
func (g CallerTexts) slide(i int) bool { return slices.Contains(g.Slides, i) }

// Set marks texts as written by the caller, or as not written.
func (g *CallerTexts) Set(given bool, names ...Text) {
	g.Texts = slices.DeleteFunc(slices.Clone(g.Texts), func(t Text) bool { return slices.Contains(names, t) })
	if given {
		g.Texts = append(g.Texts, names...)
	}
}
