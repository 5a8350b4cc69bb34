// Package prompt has the prompts of all text models: one template for each task, with a version that is stored on what
// the model made. The system prompt has the service's own words alone. The texts of callers are in the user's prompt,
// as data.
//
// The files in testdata are whole prompts, so that a change of a template is a difference to review: go test
// ./pkg/craft/prompt -update writes them anew. Write makes the prompt of a text, and Judge that of its review.
package prompt

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// Task is the text that a prompt requests.
type Task string

// The tasks of content items.
const (
	Post     Task = "post"
	Carousel Task = "carousel"
	Story    Task = "story"
	Script   Task = "script" // of videos
	Song     Task = "song"   // the post of a piece of music, and the brief of the music
)

// versions are the versions of the prompts. A test refuses a changed prompt of the same version.
var versions = map[Task]int{Post: 3, Carousel: 3, Story: 2, Script: 3, Song: 2, Second: 2, Compare: 1,
	Adapt: 2, Topics: 1, Proposals: 1, Architect: 1, Reply: 1,
	Excerpt: 1}

// Version returns the version of the prompt of a task, such as post.1.
func Version(t Task) string { return fmt.Sprintf("%s.%d", t, versions[t]) }

//go:embed templates
var files embed.FS

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(files, "templates/*.tmpl"))
})

// Prompt is a whole prompt.
type Prompt struct {
	// Version names the template.
	Version      string
	System, User string
}

// Plan is the place of a text in a content plan.
type Plan struct {
	Brief string `json:"brief,omitempty"`
	// Day is the day of publication, such as Tuesday, 2026-12-01, and Season and Occasion are what it is known for.
	Day      string `json:"day,omitempty"`
	Season   string `json:"season,omitempty"`
	Occasion string `json:"occasion,omitempty"`
	// Pillar is the recurring subject, Angle the view of it, Hook the idea of the first line, and Goal what readers are
	// to do.
	Pillar string `json:"pillar,omitempty"`
	Angle  string `json:"angle,omitempty"`
	Hook   string `json:"hook,omitempty"`
	Goal   string `json:"goal,omitempty"`
	// Campaign says of which number a text is in a row of texts, such as 2 of 3: the comparison.
	Campaign string `json:"campaign,omitempty"`
}

// Source is an article that a text may quote by its number.
type Source struct {
	Number    int        `json:"number"`
	Title     string     `json:"title"`
	URL       string     `json:"url"`
	Published *time.Time `json:"published,omitempty"`
	Text      string     `json:"text"`
}

// Origin has the texts of an earlier item that a text retells.
type Origin struct {
	Kind     string        `json:"kind"`
	Language string        `json:"language"`
	Title    string        `json:"title,omitempty"`
	Caption  string        `json:"caption,omitempty"`
	Slides   []OriginSlide `json:"slides,omitempty"`
	Scenes   []OriginScene `json:"scenes,omitempty"`
}

// OriginSlide is a slide of an Origin.
type OriginSlide struct {
	Heading string `json:"heading"`
	Body    string `json:"body,omitempty"`
}

// OriginScene is a scene of an Origin.
type OriginScene struct {
	Text     string `json:"text"`
	Visual   string `json:"visual,omitempty"`
	OnScreen string `json:"on_screen,omitempty"`
}

// Writing is the request for the texts of a content item.
type Writing struct {
	Task Task
	// Type is the type of the factory, and Channel its profile in sentences.
	Type, Channel string
	Language      string
	// Subject is what the caller wants the text to be about.
	Subject string
	// Brief says how a caption differs from what is usual, in the service's words. It may be empty.
	Brief string
	// Today is the day on which it is written, such as Friday, 2026-11-27. It may be empty.
	Today string
	// Targets are the platforms that the caption is written for, and Limits are the strictest ones of them. Short are
	// those that have short versions of it.
	Targets []Target
	Limits  Limits
	Short   []Named
	Plan    *Plan
	// Product is a JSON object with the facts of the product, or nil.
	Product json.RawMessage
	// Sources are the articles that the text may quote, and Sourced reports that it must name one of them.
	Sources []Source
	Sourced bool
	// Examples are texts of the channel to learn from, and Recent are the openings of its latest texts.
	Examples, Recent []string
	// Learned is the kind of first lines that has had the best figures on the channel. It may be empty.
	Learned HookKind
	// Other is the first line of another draft of the text, or empty.
	Other string
	// Origin is the item that the text retells, or nil.
	Origin *Origin
	// Script has the words of the caller that are spoken or sung.
	Script string
	// Rules are further rules, in the service's words.
	Rules []string
	// Slides, Pictures, Scenes and Seconds are the sizes of the parts, as in provider.Request.
	Slides, Pictures, Scenes, Seconds int
	// Long reports whether a video is a long one, and Headline whether words are drawn on the picture.
	Long, Headline bool
}

// The functions that templates call.

// Action returns the calls to action that are usual on the roomiest platform: several at once contradict each other.
func (w Writing) Action() string {
	if len(w.Targets) == 0 {
		return ""
	}
	return roomiest(w.Targets, w.Language).Action
}

// Kinds returns the kinds of first lines.
func (Writing) Kinds() []HookKind { return HookKinds[:len(HookKinds)-1] }

// TagLength returns the greatest length of a hashtag.
func (Writing) TagLength() int { return WordOfTag }

// Seen reports whether the text describes pictures.
func (w Writing) Seen() bool { return w.Slides+w.Pictures+w.Scenes > 0 }

// Words returns the number of words of a script.
func (w Writing) Words() int { return provider.Words(w.Seconds, 1) }

// SceneWords returns the number of words of a scene.
func (w Writing) SceneWords() int { return provider.Words(w.Seconds, max(w.Scenes, 1)) }

// Characters returns the most characters of a script.
func (w Writing) Characters() int { return provider.MaxScript(w.Seconds) }

// Facts are what a text may state.
type Facts struct {
	Request string          `json:"request"`
	Today   string          `json:"today,omitempty"`
	Plan    *Plan           `json:"plan,omitempty"`
	Product json.RawMessage `json:"product,omitempty"`
	Sources []Source        `json:"sources,omitempty"`
	From    *Origin         `json:"from,omitempty"`
	Script  string          `json:"script,omitempty"`
}

// message is the user's prompt.
type message struct {
	Facts
	Channel  string   `json:"channel"`
	Examples []string `json:"examples,omitempty"`
	Recent   []string `json:"recent,omitempty"`
	Other    string   `json:"other,omitempty"`
}

// Write returns the prompt of a content item's texts.
func Write(w Writing) Prompt {
	if w.Language == "" {
		w.Language = "en"
	}
	if w.Limits == (Limits{}) {
		w.Limits = Strictest(w.Targets, w.Language)
	}
	return Prompt{Version: Version(w.Task), System: render(string(w.Task)+".tmpl", w), User: data(w.message())}
}

// Facts returns what the text may state.
func (w Writing) Facts() Facts {
	return Facts{Request: strings.TrimSpace(w.Subject), Today: w.Today, Plan: w.Plan, Product: w.Product,
		Sources: w.Sources, From: w.Origin, Script: w.Script}
}

func (w Writing) message() message {
	return message{w.Facts(), w.Channel, w.Examples, w.Recent, w.Other}
}

func render(name string, with any) string {
	var b strings.Builder
	if err := templates().ExecuteTemplate(&b, name, with); err != nil {
		panic(fmt.Sprintf("prompt: %s: %v", name, err)) // a template and its data are parts of the program
	}
	return squeezed(b.String())
}

// squeezed leaves one empty line between paragraphs: parts of templates may be empty.
func squeezed(text string) string {
	for strings.Contains(text, "\n\n\n") {
		text = strings.ReplaceAll(text, "\n\n\n", "\n\n")
	}
	return strings.TrimSpace(text)
}

// data encodes a message without escapes for HTML, which cost tokens.
func data(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("prompt: %v", err)) // it has texts, and objects that were encoded before
	}
	return strings.TrimSpace(b.String())
}
