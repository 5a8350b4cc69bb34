package bedrock

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed sentences.json
var sentencesFile []byte

// sentences are those of a language. Names in braces stand for what they are about.
type sentences struct {
	// Subject stands for a topic that is not in the script of the language.
	Subject string
	Hooks   []string
	Lead    string // of news
	// Body and Close follow the first line of a caption.
	Body, Close string
	Alt         string
	Slides      []string
	SlideBodies []string `json:"slide_bodies"`
	SlideClose  string   `json:"slide_close"`
	Scenes      []string
	// Angles and Twists make topics, one of each. They fit every subject and state no number.
	Angles, Twists []string
}

// languages has the sentences by language.
var languages = sync.OnceValue(func() (all map[string]sentences) {
	if err := json.Unmarshal(sentencesFile, &all); err != nil {
		panic("bedrock: sentences.json: " + err.Error()) // the file is part of the program
	}
	return all
})

// traditional matches the tags of Chinese in traditional characters.
var traditional = regexp.MustCompile(`(?i)^zh-(.*\b)?(Hant|TW|HK|MO)\b`)

// sentencesOf returns the sentences for a language tag: English ones for a language without.
func sentencesOf(tag string) sentences {
	language, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if traditional.MatchString(tag) {
		language = "zh-hant"
	}
	if s, known := languages()[language]; known {
		return s
	}
	return languages()["en"]
}

// brief is what a prompt asks a writer for.
type brief struct {
	language, topic string
	// kind is the kind of content.
	kind string
	news bool
	// pictures, slides and scenes are numbers, and words is the length of the script.
	pictures, slides, scenes, words int
	hashtags                        int // the most of them
	headline, sources               bool
	short                           []shortVersion
}

// shortVersion is a version of the caption for a platform with little room.
type shortVersion struct {
	platform   string
	characters int
}

// The longest titles, headlines and first lines, in characters, and the most hashtags.
const (
	maxTitle, maxHeadline, maxHook = 60, 40, 160
	mostHashtags                   = 5
)

// object is a JSON object.
type object = map[string]any

// compose writes a post, as the prompts describe it.
func compose(b brief) object {
	s := sentencesOf(b.language)
	topic := b.topic
	if topic == "" || scriptOf(topic) != scriptOf(s.Subject) {
		topic = s.Subject
	}
	title := clip(capital(topic), maxTitle)
	var hooks []string
	for _, hook := range s.Hooks {
		hooks = append(hooks, clip(fill(hook, "topic", topic), maxHook))
	}
	kinds, chosen := []string{"question", "contradiction", "scene"}, utf8.RuneCountInString(b.topic)%len(hooks)
	if b.news {
		hooks[0], kinds, chosen = clip(fill(s.Lead, "topic", topic), maxHook), []string{"news", "news", "news"}, 0
	}
	caption, closing := hooks[chosen], s.Close
	if b.kind != "story" {
		caption += "\n\n" + s.Body + "\n\n" + closing
	}
	post := object{"hooks": hooks, "hook_kinds": kinds, "hook": chosen + 1, "title": title, "caption": caption,
		"hashtags": tags(topic, min(b.hashtags, mostHashtags)),
		"style":    "Documentary photography, soft daylight, muted colors, shallow depth of field"}
	if b.headline {
		post["headline"] = clip(title, maxHeadline)
	}
	if b.sources {
		post["sources"] = []int{1}
	}
	if b.kind == "music_clip" {
		post["sound"] = "Slow and warm, with a soft piano over strings."
	}
	for name, all := range map[string][]object{"short": b.shorter(hooks[chosen], closing), "pictures": b.seen(s, title),
		"slides": b.carousel(s, title), "scenes": b.script(s, title)} {
		if len(all) > 0 {
			post[name] = all
		}
	}
	return post
}

// shorter returns the versions of a caption for platforms with little room: the first line, and the end if there is
// room.
func (b brief) shorter(hook, closing string) (all []object) {
	for _, v := range b.short {
		caption := hook + "\n\n" + closing
		if utf8.RuneCountInString(caption) > v.characters {
			caption = clip(hook, v.characters)
		}
		all = append(all, object{"platform": v.platform, "caption": caption})
	}
	return all
}

func (b brief) seen(s sentences, title string) (all []object) {
	for range b.pictures {
		all = append(all, scene(s, title))
	}
	return all
}

func scene(s sentences, subject string) object {
	return object{"visual": "A quiet scene about: " + subject, "alt_text": fill(s.Alt, "subject", subject)}
}

// carousel returns the slides: the title first, then thoughts, and an invitation last.
func (b brief) carousel(s sentences, title string) (all []object) {
	for n := range b.slides {
		heading := s.Slides[n%len(s.Slides)]
		switch n {
		case 0:
			heading = title
		case b.slides - 1:
			heading = s.SlideClose
		}
		slide := scene(s, heading)
		if slide["heading"] = heading; n > 0 {
			slide["body"] = s.SlideBodies[n%len(s.SlideBodies)]
		}
		all = append(all, slide)
	}
	return all
}

// script divides the sentences of a script among its scenes, each with its share of the words. A sentence in a language
// without spaces counts as its letters do elsewhere.
func (b brief) script(s sentences, title string) (all []object) {
	next := 0
	for n := range b.scenes {
		said, left := "", float64(b.words)/float64(b.scenes)
		for said == "" || left > 0 {
			sentence := fill(s.Scenes[next%len(s.Scenes)], "topic", title)
			length := max(float64(len(strings.Fields(sentence))), float64(utf8.RuneCountInString(sentence))/lettersOfWord)
			if said != "" && length > left {
				break
			}
			said, left = strings.TrimSpace(said+" "+sentence), left-length
			next++
		}
		part := object{"text": said, "visual": scene(s, title)["visual"]}
		if n == 0 {
			part["on_screen"] = clip(title, maxHeadline)
		}
		all = append(all, part)
	}
	return all
}

// lettersOfWord is the length of a word with the space after it.
const lettersOfWord = 6

// tags returns words of a topic as hashtags.
func tags(topic string, most int) []string {
	all := []string{}
	for _, word := range strings.FieldsFunc(strings.ToLower(topic), func(r rune) bool {
		return !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number)
	}) {
		if n := utf8.RuneCountInString(word); n >= 4 && n <= 20 && !slices.Contains(all, word) && len(all) < most {
			all = append(all, word)
		}
	}
	if len(all) == 0 && most > 0 {
		return []string{"sandbox"}
	}
	return all
}

// writings are scripts that readers of one language read together.
var writings = [][]*unicode.RangeTable{{unicode.Latin}, {unicode.Cyrillic}, {unicode.Arabic}, {unicode.Devanagari},
	{unicode.Hebrew}, {unicode.Thai}, {unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul}}

// scriptOf returns the number of the script that most letters of a text have.
func scriptOf(text string) (most int) {
	var letters [7]int
	for _, r := range text {
		for n, tables := range writings {
			if unicode.In(r, tables...) {
				letters[n]++
			}
		}
	}
	for n := range letters {
		if letters[n] > letters[most] {
			most = n
		}
	}
	return most
}

// fill puts a value into the places of a text: {topic}, and {Topic} with a capital letter.
func fill(text, name, value string) string {
	return strings.NewReplacer("{"+name+"}", value, "{"+capital(name)+"}", capital(value)).Replace(text)
}

// capital returns a text that begins with a capital letter.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// clip returns the beginning of a text of at most n characters, up to the end of a word if there are spaces.
func clip(text string, n int) string {
	letters := []rune(text)
	if len(letters) <= n {
		return text
	}
	short := string(letters[:max(n, 0)])
	if end := strings.LastIndexFunc(short, unicode.IsSpace); end > 0 && !unicode.IsSpace(letters[n]) {
		short = short[:end]
	}
	return strings.TrimSpace(short)
}

// subjectOf returns the first clause of a text, of at most n characters.
func subjectOf(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if end := strings.IndexAny(text, ".!?…;:–—。、！？؟।"); end > 0 {
		text = text[:end]
	}
	return strings.Trim(clip(text, n), ".!?…,;: ")
}
