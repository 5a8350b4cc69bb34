// Package prompt has the prompts of all text models: one template for each task, with a version that is stored on what
// the model made. The system prompt has the service's own words alone. The texts of callers are in the user's prompt,
// as data.
//
// The files in testdata are whole prompts, so that a change of a template is a difference to review: go test
// ./pkg/craft/prompt -update writes them anew. Write makes the prompt of a text, and Judge that of its review.
package prompt

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"golang.org/x/text/language"

	"github.com/content-automation/api/pkg/adapter/platform"
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
	Adapt: 2, Topics: 2, Proposals: 1, Architect: 1, Reply: 1,
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
	// Event is what the brief dates near that day, such as: Open day on 12 December (tomorrow). Offer is the promotion
	// of the product, such as: Winter sale, 20 % off until 20 December (last day).
	Event string `json:"event,omitempty"`
	Offer string `json:"offer,omitempty"`
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
	Short   []PlatformName
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
	return squeeze(b.String())
}

// squeeze leaves one empty line between paragraphs: parts of templates may be empty.
func squeeze(text string) string {
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

// Channel is the profile of a factory.
type Channel struct {
	Name, Type                  string
	Description, Audience, Tone string
	Topics                      []string
	// Settings are the settings of its type that matter to a writer.
	Settings map[string]any
}

// kinds names the channels of factories.
var kinds = map[string]string{
	"blogger": "a personal blog", "seller": "an online shop", "expert": "an expert who shares knowledge",
	"brand": "a brand", "news": "a news channel", "entertainment": "an entertainment channel", "musician": "a musician",
}

// settingSentences are sentences about the settings, with a place for the value. Settings that are absent say nothing.
var settingSentences = map[string]string{
	"persona":        "The person who speaks: %s.",
	"style":          "The kind of blog: %s.",
	"shop_name":      "The shop is called %s.",
	"currency":       "Its prices are in %s.",
	"call_to_action": "Its call to action is %q.",
	"field":          "Its field is %s.",
	"credentials":    "What the expert may name as credentials: %s.",
	"brand_name":     "The brand is called %s.",
	"slogan":         "Its slogan is %q; use it seldom.",
	"voice_rules":    "Rules of its voice: %s.",
	"region":         "It reports on the country with the code %s.",
	"sources":        "The sources that it names: %s.",
	"max_age_hours":  "It reports nothing that is older than %s hours.",
	"formats":        "Its running formats: %s.",
	"artist_name":    "The artist is called %s.",
	"genres":         "The genres of the music: %s.",
	"mood":           "The mood of the music: %s.",
}

// choices are sentences about the values of settings that have few. Other values say nothing.
var choices = map[string]map[string]string{
	"first_person": {"true": "It is written in the first person.", "false": "It avoids the first person."},
	"show_prices":  {"false": "It names no prices."},
	"depth": {
		"beginner":     "Its readers are beginners: explain each term.",
		"intermediate": "Its readers know the basics.",
		"advanced":     "Its readers are of the trade: explain no basics.",
	},
	"cite_sources": {"true": "Where it states what somebody else has found, it names who, as far as the message says " +
		"so."},
	"fact_check": {"true": "It publishes only statements whose source stands in the message."},
	"humor": {
		"none": "It makes no jokes.", "light": "Its humor is light and friendly.",
		"dry": "Its humor is dry: the joke is told with a straight face.", "absurd": "Its humor is absurd.",
		"sarcastic": "Its humor is sarcastic, and never aimed at the reader.",
	},
	"age_rating": {
		"all": "It is suitable for children of all ages.", "12": "It is suitable from the age of 12.",
		"16": "It is suitable from the age of 16.", "18": "Its readers are adults.",
	},
}

// emojis are sentences about the emojis of a voice.
var emojis = map[string]string{"none": "Its texts have no emojis.",
	"few":  "Its texts have one or two emojis, where they say something.",
	"many": "Its texts have many emojis."}

// Sentences returns the profile in sentences. Settings that it does not know are left out: colors and files are for
// pictures.
func (c Channel) Sentences() string {
	kind := kinds[c.Type]
	if kind == "" {
		kind = "a channel"
	}
	all := []string{fmt.Sprintf("The channel is %q, %s.", c.Name, kind)}
	add := func(format, value string) {
		if value = strings.TrimRight(strings.TrimSpace(value), "."); value != "" {
			all = append(all, fmt.Sprintf(format, value))
		}
	}
	add("It is about: %s.", c.Description)
	add("Its readers: %s.", c.Audience)
	add("Its tone is %s.", c.Tone)
	add("Its topics are %s.", strings.Join(c.Topics, ", "))
	for _, name := range slices.Sorted(maps.Keys(settingSentences)) {
		add(settingSentences[name], Words(c.Settings[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(choices)) {
		if sentence := choices[name][Words(c.Settings[name])]; sentence != "" {
			all = append(all, sentence)
		}
	}
	voice, _ := c.Settings["voice"].(map[string]any)
	add("It addresses its readers with %q, in every text.", Words(voice["address"]))
	if sentence := emojis[Words(voice["emoji"])]; sentence != "" {
		all = append(all, sentence)
	}
	add("Words and phrases of its own, of which a text has one at most, where it fits: %s.", Words(voice["we_say"]))
	add("It never says: %s.", Words(voice["we_never_say"]))
	add("It never names its competitors: %s.", Words(voice["competitors"]))
	add("It never uses these words: %s.", Words(c.Settings["forbidden_words"]))
	return strings.Join(all, "\n")
}

// Words returns a setting as a text.
func Words(setting any) string {
	switch v := setting.(type) {
	case nil:
		return ""
	case []any:
		all := make([]string, len(v))
		for i, one := range v {
			all[i] = Words(one)
		}
		return strings.Join(all, ", ")
	default:
		return fmt.Sprint(v)
	}
}

// Target is a platform as a writer needs to know it.
type Target struct {
	Label string
	// Caption is the greatest length of a caption in Unit, 0 if none is shown. It includes hashtags.
	Caption int
	// Unit is the unit in which the platform counts, and so do the guards.
	Unit platform.Unit
	// Title is the greatest length of a title in characters, 0 if the platform has none.
	Title int
	// Tags is the number of hashtags that posts have there, 0 if it takes none.
	Tags int
	// SeparateHashtags reports whether hashtags are apart from the caption.
	SeparateHashtags bool
	platform.Habits
}

// The usual numbers of a text whose platforms are unknown, and the most hashtags of any text.
const (
	usualCaption = 1500
	usualTitle   = 80
	mostHashtags = 5
)

// WordOfTag is the greatest length of a hashtag that prompts ask for, in characters.
const WordOfTag = 20

// spareForEmojis is the part of a length that prompts leave out for emojis, on platforms that count them as several
// characters. For example, 10 means a tenth.
const spareForEmojis = 10

// TargetOf returns a platform for posts of a kind. It returns false if the platform does not take the kind.
func TargetOf(c platform.Capabilities, kind platform.Kind) (Target, bool) {
	rule, ok := c.Kinds[kind]
	if !ok {
		return Target{}, false
	}
	t := Target{Label: c.Label, Caption: rule.Caption.Max, Unit: cmp.Or(rule.Caption.Unit, platform.Runes),
		Title: rule.Title.Max, Tags: min(c.Hashtags.Max, cmp.Or(c.Habits.Hashtags, mostHashtags)),
		SeparateHashtags: c.Hashtags.Tags, Habits: c.Habits}
	if kind == platform.KindStory {
		t.Habits = platform.Habits{}
	}
	return t, true
}

// Length says in words how long a caption may be, in the unit of the platform.
func (t Target) Length() string {
	text := t.Unit.Name()
	if rule := t.Unit.Rule(); rule != "" {
		text += " (" + rule + ")"
	}
	return text
}

// Room returns the number of characters of a language that a caption may have beside a number of hashtags, 0 if the
// platform shows no caption. A text of letters of the language that keeps it has no more units than the platform takes.
func (t Target) Room(tag string, hashtags int) int {
	if t.Caption == 0 {
		return 0
	}
	each := t.Unit.PerCharacter(scriptOf(tag))
	units := t.Caption
	if !t.SeparateHashtags && hashtags > 0 {
		units -= 2 + hashtags*(WordOfTag*each+2) // an empty line, and a space and a # for each
	}
	if each == 1 && (t.Unit == platform.Weighted || t.Unit == platform.EmojiBytes) {
		units -= units / spareForEmojis
	}
	return max(units/each, 1)
}

// scriptOf returns the script in which a language is written. Vietnamese has one of its own: its letters with two marks
// are beyond the Latin letters that X counts as one.
func scriptOf(tag string) string {
	t := language.Make(tag)
	if base, _ := t.Base(); base.String() == "vi" {
		return "Viet"
	}
	script, _ := t.Script()
	if s := script.String(); s != "Zzzz" {
		return s
	}
	return "Latn" // nothing is known of the language, such as of a private one
}

// Limits are lengths in characters, which every platform takes.
type Limits struct {
	Caption, Title int
	// FirstLine is the number of characters that all platforms show before a reader opens a caption, 0 if there is no
	// such number.
	FirstLine int
	// Hashtags is the most hashtags, and LeastHashtags what is worth their while.
	Hashtags, LeastHashtags int
}

// Strictest returns the limits of a text in a language that all targets take.
func Strictest(targets []Target, tag string) Limits {
	l := Limits{Caption: usualCaption, Title: usualTitle, Hashtags: mostHashtags}
	for _, t := range targets {
		if t.Title > 0 {
			l.Title = min(l.Title, t.Title)
		}
		if t.FirstLine > 0 && (l.FirstLine == 0 || t.FirstLine < l.FirstLine) {
			l.FirstLine = t.FirstLine
		}
		l.Hashtags = min(l.Hashtags, t.Tags)
	}
	for _, t := range targets {
		if room := t.Room(tag, l.Hashtags); room > 0 {
			l.Caption = min(l.Caption, room)
		}
	}
	l.LeastHashtags = (l.Hashtags + 1) / 2
	return l
}

// Divide divides platforms into those that a text is written for, and the short ones, whose texts are derived from it:
// those whose captions have less than two thirds of the text that is usual on the roomiest one.
func Divide(targets []PlatformName, tag string) (main []Target, short []PlatformName) {
	if len(targets) == 0 {
		return nil, nil
	}
	for _, t := range targets {
		main = append(main, t.Target)
	}
	most := roomiest(main, tag).usual(tag)
	main = main[:0]
	for _, t := range targets {
		if room := t.Room(tag, t.Tags); room > 0 && 3*room < 2*most {
			short = append(short, t)
		} else {
			main = append(main, t.Target)
		}
	}
	return main, short
}

// roomiest returns the platform on which the longest captions are usual.
func roomiest(targets []Target, tag string) Target {
	return slices.MaxFunc(targets, func(a, b Target) int { return cmp.Compare(a.usual(tag), b.usual(tag)) })
}

// usual returns the length of a caption that is usual, as far as there is room for it.
func (t Target) usual(tag string) int { return min(t.MaxCaption, t.Room(tag, t.Tags)) }

// news is the type of channels that inform: its texts have no hooks and calls to action that fight neutrality.
const news = "news"

// beats are the steps of a text, by the type of its channel and its task. A pair without beats makes no sense: see
// Makes.
var beats = sync.OnceValue(func() (all map[string]map[Task]string) {
	raw, err := files.ReadFile("templates/beats.json")
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		panic(fmt.Sprintf("prompt: beats: %v", err)) // the file is part of the program
	}
	return all
})

// Makes reports whether texts of a task make sense for a type of channel. An unknown type takes all.
func Makes(of string, t Task) bool {
	rows, known := beats()[of]
	return !known || rows[t] != ""
}

// Beats returns the steps of the text, for the template.
func (w Writing) Beats() string { return beats()[w.Type][w.Task] }

// Neutral reports whether the channel informs: its text has neither hooks that tease nor calls to action.
func (w Writing) Neutral() bool { return w.Type == news }

// HookKind is the kind of a first line.
type HookKind string

// HookKinds are the kinds of first lines that a writer names.
var HookKinds = []HookKind{"number", "question", "contradiction", "scene", "mistake", "claim", "quote", "news"}

// Topics is the task of the topics of a plan.
const Topics Task = "topics"

// Planning is the request for the topics of a plan.
type Planning struct {
	Language string     `json:"-"`
	Channel  string     `json:"channel"`
	Brief    string     `json:"brief,omitempty"`
	Slots    []OpenSlot `json:"slots"`
	// Dates are the days of the plan that its brief names.
	Dates []string `json:"dates,omitempty"`
	// Offers are the promotions on days of the plan, and Platforms are where its items are published.
	Offers    []string   `json:"offers,omitempty"`
	Platforms []Platform `json:"platforms,omitempty"`
	// Best and Worst are posts of the channel with their figures, the best first, and Learned is what its figures and
	// its experiments have shown.
	Best    []Figures `json:"best_posts,omitempty"`
	Worst   []Figures `json:"worst_posts,omitempty"`
	Learned []string  `json:"learned,omitempty"`
	// Dropped are topics that a person did not want, with the reason, and Refused are answers of the last rounds.
	Dropped []Dropped `json:"dropped,omitempty"`
	// Avoid are topics that may not be repeated.
	Avoid []string `json:"avoid,omitempty"`
	// Newsless reports that it is a news channel without sources.
	Newsless bool `json:"-"`
}

// Platform is a platform as a planner needs to know it.
type Platform struct {
	Name string `json:"name"`
	// Caption is the greatest length of a caption and Title that of a title, in characters, 0 without one.
	Caption int `json:"caption_limit,omitempty"`
	Title   int `json:"title_limit,omitempty"`
	// Links reports that readers can open an address of a caption, and Action is the usual call to action.
	Links  bool   `json:"links"`
	Action string `json:"usual_action,omitempty"`
}

// Figures are the figures of a post.
type Figures struct {
	Title  string `json:"title"`
	Kind   string `json:"kind"`
	Pillar string `json:"pillar,omitempty"`
	Hook   string `json:"hook_kind,omitempty"`
	Views  int64  `json:"views"`
	// Rate is the number of reactions to a thousand views.
	Rate float64 `json:"reactions_per_1000_views"`
}

// Dropped is a topic that a person did not want.
type Dropped struct {
	Topic  string `json:"topic"`
	Reason string `json:"reason,omitempty"`
}

// OpenSlot is a slot without a topic.
type OpenSlot struct {
	Slot     int    `json:"slot"`
	Type     string `json:"content_type"`
	Day      string `json:"day"`
	Season   string `json:"season,omitempty"`
	Occasion string `json:"occasion,omitempty"`
	Pillar   string `json:"pillar,omitempty"`
	Goal     string `json:"goal,omitempty"`
	Campaign string `json:"campaign,omitempty"`
	// About is what the campaign is about.
	About string `json:"campaign_about,omitempty"`
	// Product is the name of the product that it presents, Offer its promotion, and Event what the brief dates near it.
	Product string `json:"product,omitempty"`
	Offer   string `json:"offer,omitempty"`
	Event   string `json:"event,omitempty"`
	// Wanted is what a person has said of the last topic of the slot.
	Wanted string `json:"instead_because,omitempty"`
}

// Prompt returns the prompt for the topics of a plan.
func (p Planning) Prompt() Prompt {
	return Prompt{Version: Version(Topics), System: render("topics.tmpl", p), User: data(p)}
}

// Excerpt is the task of choosing scenes of a long video for a short one.
const Excerpt Task = "excerpt"

// ExcerptTokens is the most that the answer to an Excerpting takes.
const ExcerptTokens = 600

// Excerpting is the request to choose scenes of a video for a short one.
type Excerpting struct {
	Language string `json:"language"`
	// Request is what the short video is to be about, and Channel the profile of the channel in sentences.
	Request string `json:"request"`
	Channel string `json:"channel"`
	Title   string `json:"title,omitempty"`
	// Scenes are the scenes of the video, in their order.
	Scenes []ExcerptScene `json:"scenes"`
	// Least and Most bound the seconds of the chosen scenes together.
	Least int `json:"-"`
	Most  int `json:"-"`
	// Whole reports whether the scenes are shown as they are. Otherwise the writer retells them.
	Whole bool `json:"-"`
}

// ExcerptScene is a scene of the video.
type ExcerptScene struct {
	Number int `json:"number"`
	// Seconds is the time that its words take.
	Seconds float64 `json:"seconds"`
	OriginScene
	// InUse reports whether another short video has it already.
	InUse bool `json:"used,omitempty"`
}

// Prompt returns the prompt that chooses the scenes.
func (e Excerpting) Prompt() Prompt {
	return Prompt{Version: Version(Excerpt), System: render("excerpt.tmpl", e), User: data(e)}
}

// Reply is the task of a suggested reply to a comment.
const Reply Task = "reply"

// ReplyTokens is the most that the answer to a Replying takes, and ReplyRead the most that its prompt takes.
const (
	ReplyTokens = 600
	ReplyRead   = 4000
)

// Replying is the request for a suggested reply to a comment on a post of a channel.
type Replying struct {
	// Channel is the profile of the channel in sentences, and Language that of its texts.
	Channel, Language string
	// Platform is the name of the platform, and Limit the most characters of the reply.
	Platform string
	Limit    int
	// Post is the text of the post. Author and Comment are those of the comment: a stranger has written them.
	Post, Author, Comment string
	// Problems are the problems of the last answer, in the service's words.
	Problems []string
}

// Prompt returns the prompt that asks for a reply.
func (r Replying) Prompt() Prompt {
	return Prompt{Version: Version(Reply), System: render("reply.tmpl", r), User: data(struct {
		Channel  string   `json:"channel"`
		Post     string   `json:"post"`
		Author   string   `json:"author,omitempty"`
		Comment  string   `json:"comment"`
		Problems []string `json:"problems,omitempty"`
	}{r.Channel, r.Post, r.Author, r.Comment, r.Problems})}
}

// Adapt is the task of wording a post anew for platforms.
const Adapt Task = "adapt"

// Adapting is the request to word a post anew for platforms.
type Adapting struct {
	Language string `json:"-"`
	// Channel is the profile of the channel in sentences.
	Channel  string   `json:"channel"`
	Title    string   `json:"title"`
	Caption  string   `json:"caption"`
	Hashtags []string `json:"hashtags"`
	// Facts are what the writer of the post knew.
	Facts Facts `json:"facts"`
	// Targets are the platforms, by their names in Names.
	Names   []string `json:"-"`
	Targets []Target `json:"-"`
}

// PlatformName is a platform with its name in answers and its limits in characters.
type PlatformName struct {
	Name string
	Target
	Limits Limits
}

// Naming returns a platform for texts of a language.
func Naming(name string, t Target, language string) PlatformName {
	return PlatformName{name, t, Strictest([]Target{t}, language)}
}

// Platforms returns the platforms with their limits, for the template.
func (a Adapting) Platforms() (all []PlatformName) {
	for i, t := range a.Targets {
		all = append(all, Naming(a.Names[i], t, a.Language))
	}
	return all
}

// TagLength returns the greatest length of a hashtag, for the template.
func (Adapting) TagLength() int { return WordOfTag }

// Prompt returns the prompt that words the post anew.
func (a Adapting) Prompt() Prompt {
	return Prompt{Version: Version(Adapt), System: render("adapt.tmpl", a), User: data(a)}
}

// The tasks of advice.
const (
	Proposals Task = "proposals"
	Architect Task = "architect"
)

// Proposing is the request for proposals of a diagnosis.
type Proposing struct {
	Language string
	// Schema is the JSON Schema of a patch.
	Schema string
	// Most is the number of proposals, and the others are the lengths of their members in characters.
	Most, Title, Rationale, Effect int
	// Data is the message of the user, which is encoded as JSON.
	Data any
}

// Prompt returns the prompt by which a model proposes changes of a factory.
func (p Proposing) Prompt() Prompt {
	return Prompt{Version: Version(Proposals), System: render("proposals.tmpl", p), User: data(p.Data)}
}

// ArchitectRubric says what a good reply of the architect does. It is part of its prompt, and evaluations judge replies
// by it.
var ArchitectRubric = []string{
	"knows the goal, or asks for it before it drafts",
	"rests on figures and settings that tools have returned, and says where they are too few",
	"drafts what can be applied as it is: concrete subjects, facts of the user alone, and no placeholder",
	"answers the question that was asked, in few words",
	"names the next step of the user",
}

// Conversing is the occasion of a conversation with the architect.
type Conversing struct {
	Today string // YYYY-MM-DD
	// About says what the chat is about, in the service's words.
	About string
}

// Criteria returns the rubric, for the template.
func (Conversing) Criteria() []string { return ArchitectRubric }

// System returns the system prompt of the architect.
func (c Conversing) System() string { return render("architect.tmpl", c) }
