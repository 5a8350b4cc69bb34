package item

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
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

// sentence returns a sentence with the value of something, or "" if the value is blank.
func sentence(what, value string) string {
	if value = strings.TrimSpace(value); value == "" {
		return ""
	}
	return what + ": " + strings.TrimRight(value, ".") + "."
}

// words returns a setting as text.
func words(setting any) string {
	switch setting {
	case true:
		return "yes"
	case false:
		return "no"
	}
	return prompt.Words(setting)
}

// sentences joins the sentences that are not empty.
func sentences(separator string, all ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == "" }), separator)
}

// lines returns a setting that is a list of texts.
func lines(setting any) (all []string) {
	listed, _ := setting.([]any)
	for _, one := range listed {
		all = append(all, words(one))
	}
	return all
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// sameLanguage reports whether two tags name the same language, in whatever country.
func sameLanguage(a, b string) bool {
	a, _, _ = strings.Cut(a, "-")
	b, _, _ = strings.Cut(b, "-")
	return strings.EqualFold(a, b)
}

// clipBytes shortens a text to at most n bytes.
func clipBytes(text string, n int) string {
	for len(text) > n {
		text = provider.Clip(text, len([]rune(text))*n/len(text)-1)
	}
	return text
}

// sentenceEnds are the signs at which a script is preferably divided.
const sentenceEnds = ".!?…。！？؟।"

// sentencesOf returns the sentences of a text in one line.
func sentencesOf(text string) (all []string) {
	from := 0
	for i, r := range text {
		next := i + len(string(r))
		if strings.ContainsRune(sentenceEnds, r) && (next == len(text) || text[next] == ' ' || r > 0x7f) {
			all, from = append(all, strings.TrimSpace(text[from:next])), next
		}
	}
	return slices.DeleteFunc(append(all, strings.TrimSpace(text[from:])), func(s string) bool { return s == "" })
}

// wordEnds returns the offsets at which words end, or characters in scripts without spaces.
func wordEnds(script string) (ends []int) {
	for i, r := range script {
		if i > 0 && breaks(r) {
			ends = append(ends, i)
		}
	}
	return append(ends, len(script))
}

// breaks reports whether a word ends before a character: a space, or a character of a script without spaces.
func breaks(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

func abs(n int) int { return max(n, -n) }

// Words are the texts and files of a post, and the variants that they come from.
type Words struct {
	Texts
	Files  []media.File
	Poster *media.File
	// Captions are the captions of the video of the item, or nil.
	Captions *media.File
	// From has the keys of the variants of members that differ from the item: title, caption, hashtags, media and
	// cover.
	From map[string]string
}

// Words returns what is posted to an account of a platform. The variant of the account goes before the variant of its
// platform. The caption ends with the lines that rules of law require.
func (r *Record) Words(platform, accountID string) Words {
	w := Words{Texts: r.Item.Texts, From: map[string]string{}}
	w.Files, w.Poster = r.PostedFiles()
	if i := slices.IndexFunc(r.Files, func(f media.File) bool { return f.Role == media.Subtitles }); i >= 0 {
		w.Captions = &r.Files[i]
	}
	for _, key := range []string{platform, accountID} {
		v, ok := r.Item.Variants[key]
		if !ok || key == "" {
			continue
		}
		if v.Title != nil {
			w.Title, w.From["title"] = resource.Text(*v.Title), key
		}
		if v.Caption != nil {
			w.Caption, w.From["caption"] = resource.Text(*v.Caption), key
		}
		if v.Hashtags != nil {
			w.Hashtags, w.From["hashtags"] = v.Hashtags, key
		}
		if v.Media != nil {
			w.Files, w.Poster, w.Captions, w.From["media"] = nil, nil, nil, key
			for _, id := range v.Media {
				w.Files = append(w.Files, r.VariantFiles[id])
			}
		}
		if v.Cover != nil {
			cover := r.VariantFiles[*v.Cover]
			w.Poster, w.From["cover"] = &cover, key
		}
	}
	w.Caption = resource.Text(WithNotices(r, string(w.Caption), platform))
	return w
}

// VariantKeys returns the platforms and accounts that have variants, sorted.
func (r *Item) VariantKeys() []string { return slices.Sorted(maps.Keys(r.Variants)) }

// PostedFiles returns the files that are published, in order, and the poster, if there is one.
func (r *Record) PostedFiles() (files []media.File, poster *media.File) {
	for _, role := range []media.Role{media.Final, media.Slide} {
		for i, f := range r.Files {
			if f.Role == role && (f.Type == media.Image || f.Type == media.Video) {
				files = append(files, f)
			}
			if f.Role == media.Poster {
				poster = &r.Files[i]
			}
		}
		if len(files) > 0 || r.Item.Kind != Carousel {
			break
		}
	}
	return files, poster
}

// Shown returns the publication as its own GET shows it, with the factory of its item. It is the item at its
// ReadingsKey.
func (p *Publication) Shown(factoryID string, limits platform.Capabilities, it store.Item) (PublishedPost, error) {
	history, err := History(it)
	return PublishedPost{*p, factoryID, limits.Edits, limits.Deletes, history}, err
}
