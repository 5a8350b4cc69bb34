package bedrock

import (
	_ "embed"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wording has the sentences of a language. In them {topic} and {subject} are the places of what a text, or a picture, is about.
type wording struct {
	// Subject stands for a topic that is in another script.
	Subject string
	// Hooks are a question, a contradiction and a scene.
	Hooks            []string
	Body, Close, Alt string
	Headings, Bodies []string
	// Scenes are the sentences of a script, of which the first opens it.
	Scenes []string
	// Angles and Twists make topics of a plan, one of each.
	Angles, Twists []string
}

//go:embed texts.json
var textsFile []byte

var wordings = func() (all map[string]wording) {
	if err := json.Unmarshal(textsFile, &all); err != nil {
		panic(err) // the file is part of the program
	}
	return all
}()

// wordingOf returns the sentences for a language tag (BCP 47): English ones for a language without.
func wordingOf(tag string) wording {
	base, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if w, ok := wordings[base]; ok {
		return w
	}
	return wordings["en"]
}

// postOrder is what a prompt requests: a text about a topic, with some numbers of pictures, slides and scenes.
type postOrder struct {
	language, topic, kind    string
	pictures, slides, scenes int
	words, hashtags          int // of the script, and the most of them
	headline, sources, news  bool
	short                    []shortVersion
	hook                     int // the number of the chosen first line, from 0
}

// writer writes the text of an order.
type writer struct {
	postOrder
	wording
	title, opening string
}

// shortVersion is a version of the text of at most so many characters for a platform.
type shortVersion struct {
	platform   string
	characters int
}

type object = map[string]any

// write returns the object of a text, as the prompt describes it.
func (o postOrder) write() object {
	w := writer{postOrder: o, wording: wordingOf(o.language)}
	if o.topic == "" || scriptOf(o.topic) != scriptOf(w.Subject) {
		w.topic = w.Subject
	}
	w.title = clip(capital(w.topic), maxTitle)
	hooks, kinds := []string{}, []string{"question", "contradiction", "scene"}
	for _, h := range w.Hooks {
		hooks = append(hooks, clip(w.fill(h), maxHook))
	}
	if o.news {
		w.hook, kinds, hooks[0] = 0, []string{"news", "news", "news"}, clip(capital(w.topic), maxHook)+"."
	}
	w.opening = hooks[w.hook]
	caption := w.opening
	if o.kind != "story" {
		caption += "\n\n" + w.Body + "\n\n" + w.Close
	}
	all := object{"title": w.title, "caption": caption, "hooks": hooks, "hook_kinds": kinds, "hook": w.hook + 1,
		"hashtags": w.tags(), "style": "Photos by daylight, few colors, a calm background"}
	w.add(all)
	return all
}

// fill puts the topic into a sentence.
func (w writer) fill(s string) string { return capital(strings.ReplaceAll(s, "{topic}", w.topic)) }

// add adds the parts of the text that only some prompts request.
func (w writer) add(all object) {
	if w.headline {
		all["headline"] = clip(w.title, maxName)
	}
	if w.sources {
		all["sources"] = []int{1}
	}
	if w.kind == "music_clip" {
		all["sound"] = "Slow, with a guitar and a soft drum."
	}
	if len(w.short) > 0 {
		all["short"] = w.shortVersions()
	}
	var pictures []object
	for range w.pictures {
		pictures = append(pictures, w.picture(w.title))
	}
	if pictures != nil {
		all["pictures"] = pictures
	}
	if w.slides > 0 {
		all["slides"] = w.carousel()
	}
	if w.scenes > 0 {
		all["scenes"] = w.script()
	}
}

// visual describes all pictures.
func (w writer) visual() string { return "A table by a window, with: " + w.title }

func (w writer) picture(of string) object {
	return object{"visual": w.visual(), "alt_text": strings.ReplaceAll(w.Alt, "{subject}", of)}
}

// shortVersions returns the first line for each platform, with the end of the caption where there is room.
func (w writer) shortVersions() (all []object) {
	for _, s := range w.short {
		text := w.opening + "\n\n" + w.Close
		if utf8.RuneCountInString(text) > s.characters {
			text = clip(w.opening, s.characters)
		}
		all = append(all, object{"platform": s.platform, "caption": text})
	}
	return all
}

// carousel returns the slides: the title, then thoughts, and an invitation at the end.
func (w writer) carousel() (all []object) {
	headings := w.Headings
	for i := range w.slides {
		slide := w.picture(w.title)
		switch {
		case i == 0:
			slide["heading"] = w.title
		case i == w.slides-1:
			slide["heading"], slide["body"] = headings[len(headings)-1], w.Close
		default:
			thoughts := append(headings[:len(headings)-1:len(headings)-1], w.Angles...)
			slide["heading"] = capital(thoughts[(i-1)%len(thoughts)])
			slide["body"] = w.Bodies[i%len(w.Bodies)]
		}
		all = append(all, slide)
	}
	return all
}

// script divides sentences among the scenes, as many as their words permit.
func (w writer) script() (all []object) {
	room := float64(w.words) / float64(w.scenes)
	sentences := []string{w.fill(w.Scenes[0])}
	sentences = append(sentences, w.Scenes[1:]...)
	next := 0
	for i := range w.scenes {
		said := ""
		for range sentences {
			more := strings.TrimSpace(said + " " + sentences[next%len(sentences)])
			if words(more) > room {
				break
			}
			said = more
			next++
		}
		if said == "" { // none of the sentences that come next is short enough
			said = sentences[next%len(sentences)]
			for n := utf8.RuneCountInString(said); words(said) > max(room, 2) && n > 1; n-- {
				said = clip(said, n-1)
			}
			next++
		}
		scene := object{"text": said, "visual": w.visual()}
		if i == 0 {
			scene["on_screen"] = clip(w.title, maxName)
		}
		all = append(all, scene)
	}
	return all
}

// words counts the words of a text as typists do: five letters are a word. Two signs of scripts that write syllables or
// words count as one, and letters of those without vowels for more.
func words(text string) (n float64) {
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			n += 0.5
		case unicode.In(r, unicode.Arabic, unicode.Hebrew):
			n += 0.3
		default:
			n += 0.2
		}
	}
	return n
}

// The longest titles, names, first lines and hashtags, and the shortest hashtags, in characters.
const (
	maxTitle, maxName, maxHook = 60, 40, 160
	minTag, maxTag             = 4, 20
	mostTags                   = 5
)

// tags returns the first words of the topic that are worth a hashtag.
func (w writer) tags() []string {
	all := []string{}
	for _, word := range strings.FieldsFunc(strings.ToLower(w.topic), func(r rune) bool {
		return !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number)
	}) {
		if n := utf8.RuneCountInString(word); n >= minTag && n <= maxTag && len(all) < min(w.hashtags, mostTags) {
			all = append(all, word)
		}
	}
	if len(all) == 0 && w.hashtags > 0 {
		return []string{"daylight"}
	}
	return all
}

// scripts are those of the languages. Japanese, Chinese and Korean count as one: their texts mix them.
var scripts = [][]*unicode.RangeTable{{unicode.Latin}, {unicode.Cyrillic}, {unicode.Arabic}, {unicode.Devanagari},
	{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul}, {unicode.Hebrew}, {unicode.Thai}}

// scriptOf returns the number of the script of most letters of a text.
func scriptOf(text string) (most int) {
	counts := make([]int, len(scripts))
	for _, r := range text {
		for i, tables := range scripts {
			if unicode.In(r, tables...) {
				counts[i]++
			}
		}
	}
	for i, n := range counts {
		if n > counts[most] {
			most = i
		}
	}
	return most
}

// clip returns the first words of a text that have at most n characters together, or its first characters if the first
// word has more.
func clip(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	short := string(runes[:n])
	if end := strings.LastIndexFunc(short, unicode.IsSpace); end > 0 && !unicode.IsSpace(runes[n]) {
		short = short[:end]
	}
	return strings.TrimRight(strings.TrimSpace(short), ",;:")
}

// capital returns a text whose first letter is a capital one.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// clause returns the first clause of a text, of at most n characters.
func clause(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.IndexAny(text, ".!?…;:–—。、！？؟।"); i > 0 {
		text = text[:i]
	}
	return strings.Trim(clip(text, n), ".!?…,;: ")
}
