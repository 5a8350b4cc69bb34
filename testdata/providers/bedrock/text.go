package bedrock

import (
	_ "embed"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wording has the sentences of a language. In them {topic} and {subject} are the places of what a text is about.
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
	language, topic, kind            string
	pictures, slides, scenes, words  int
	hashtags                         int
	headline, sources, news          bool
	short                            []shortVersion
	hook                             int // the number of the chosen one, from 0
	fill                             func(string) string
	wording                          wording
	title, opening, closing, visuals string
}

// shortVersion is a version of the text of at most so many characters for a platform.
type shortVersion struct {
	platform   string
	characters int
}

type object = map[string]any

// write returns the object of a text, as the prompt describes it.
func (o postOrder) write() object {
	o.wording = wordingOf(o.language)
	if o.topic == "" || scriptOf(o.topic) != scriptOf(o.wording.Subject) {
		o.topic = o.wording.Subject
	}
	o.title = clip(capital(o.topic), maxTitle)
	o.fill = func(s string) string {
		return capital(strings.NewReplacer("{topic}", o.topic, "{subject}", o.title).Replace(s))
	}
	hooks, kinds := []string{}, []string{"question", "contradiction", "scene"}
	for _, h := range o.wording.Hooks {
		hooks = append(hooks, clip(o.fill(h), maxHook))
	}
	if o.news {
		o.hook, kinds, hooks[0] = 0, []string{"news", "news", "news"}, clip(capital(o.topic), maxHook)+"."
	}
	o.opening, o.closing, o.visuals = hooks[o.hook], o.wording.Close, "A table by a window, with: "+o.title
	caption := o.opening
	if o.kind != "story" {
		caption += "\n\n" + o.wording.Body + "\n\n" + o.closing
	}
	all := object{"title": o.title, "caption": caption, "hooks": hooks, "hook_kinds": kinds, "hook": o.hook + 1,
		"hashtags": o.tags(), "style": "Photos by daylight, few colors, a calm background"}
	o.add(all)
	return all
}

// add adds the parts of the text that only some prompts request.
func (o postOrder) add(all object) {
	if o.headline {
		all["headline"] = clip(o.title, maxName)
	}
	if o.sources {
		all["sources"] = []int{1}
	}
	if o.kind == "music_clip" {
		all["sound"] = "Slow, with a guitar and a soft drum."
	}
	if len(o.short) > 0 {
		all["short"] = o.shortVersions()
	}
	var pictures []object
	for range o.pictures {
		pictures = append(pictures, o.picture(o.title))
	}
	if pictures != nil {
		all["pictures"] = pictures
	}
	if o.slides > 0 {
		all["slides"] = o.carousel()
	}
	if o.scenes > 0 {
		all["scenes"] = o.script()
	}
}

func (o postOrder) picture(of string) object {
	return object{"visual": o.visuals, "alt_text": strings.ReplaceAll(o.wording.Alt, "{subject}", of)}
}

// shortVersions returns the first line for each platform, with the end of the caption where there is room.
func (o postOrder) shortVersions() (all []object) {
	for _, s := range o.short {
		text := o.opening + "\n\n" + o.closing
		if utf8.RuneCountInString(text) > s.characters {
			text = clip(o.opening, s.characters)
		}
		all = append(all, object{"platform": s.platform, "caption": text})
	}
	return all
}

// carousel returns the slides: the title, then thoughts, and an invitation at the end.
func (o postOrder) carousel() (all []object) {
	headings := o.wording.Headings
	for i := range o.slides {
		slide := o.picture(o.title)
		switch {
		case i == 0:
			slide["heading"] = o.title
		case i == o.slides-1:
			slide["heading"], slide["body"] = headings[len(headings)-1], o.closing
		default:
			thoughts := append(headings[:len(headings)-1:len(headings)-1], o.wording.Angles...)
			slide["heading"] = capital(thoughts[(i-1)%len(thoughts)])
			slide["body"] = o.wording.Bodies[i%len(o.wording.Bodies)]
		}
		all = append(all, slide)
	}
	return all
}

// script divides sentences among the scenes, as many as their words permit.
func (o postOrder) script() (all []object) {
	room := float64(o.words) / float64(o.scenes)
	sentences := []string{o.fill(o.wording.Scenes[0])}
	sentences = append(sentences, o.wording.Scenes[1:]...)
	next := 0
	for i := range o.scenes {
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
		scene := object{"text": said, "visual": o.visuals}
		if i == 0 {
			scene["on_screen"] = clip(o.title, maxName)
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
func (o postOrder) tags() []string {
	all := []string{}
	for _, word := range strings.FieldsFunc(strings.ToLower(o.topic), func(r rune) bool {
		return !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number)
	}) {
		if n := utf8.RuneCountInString(word); n >= minTag && n <= maxTag && len(all) < min(o.hashtags, mostTags) {
			all = append(all, word)
		}
	}
	if len(all) == 0 && o.hashtags > 0 {
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
