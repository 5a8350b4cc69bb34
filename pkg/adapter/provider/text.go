package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The bounds of texts from a model, in characters. The members of content items and spoken scripts have bounds as well.
const (
	maxTitle    = 150
	maxCaption  = 2200 // the limit of Instagram and, for videos, of TikTok
	maxSlide    = 150
	maxHashtag  = 60
	maxHashtags = 5 // the limit of Instagram
	maxVisual   = 300

	// A second of speech has about two and a half words; no language needs more
	// characters for them than maxSpeech.
	wordsPerSecond = 2.5
	maxSpeech      = 24

	// mostSpoken is the factor by which a script may exceed the requested length, by the slow paces of SpokenLength.
	// A voice that is somewhat faster makes up for it.
	mostSpoken = 1.1
)

// MaxScript returns the most characters of a script for the given seconds.
func MaxScript(seconds int) int { return max(seconds, 0) * maxSpeech }

// Tokens bounds the input and the output of a text model.
type Tokens struct{ Input, Output int }

// The tokens of an answer: of the whole without slides and script, of a slide, of the picture of a scene, and of a
// second of the script. Languages that models know less well take several tokens per word.
const (
	tokensBase      = 1200
	tokensPerSlide  = 80
	tokensPerScene  = 100
	tokensPerSecond = 16
	bytesPerToken   = 2
)

// OptionReasoning is the option of a reasoning model: the bound of its reasoning
// tokens, which are billed like those of the answer.
const OptionReasoning = "reasoning_tokens"

// scenes returns the number of requested scenes.
func (r Request) scenes() int {
	if r.ScriptSeconds <= 0 {
		return 0
	}
	return max(r.Scenes, 1)
}

// TextTokens returns the bounds of the input and the output of a request for text. Prices are fixed by them in advance,
// and adapters enforce them.
func TextTokens(req Request) Tokens {
	system, user := TextPrompt(req)
	reasoning, _ := strconv.Atoi(req.Options[OptionReasoning]) // 0 if there is none
	answer := tokensBase + max(req.Slides, 0)*tokensPerSlide + req.scenes()*tokensPerScene + max(req.ScriptSeconds,
		0)*tokensPerSecond
	if req.Form != nil {
		answer = req.Form.Tokens
	}
	return Tokens{Input: (len(system) + len(user)) / bytesPerToken, Output: answer + max(reasoning, 0)}
}

// TextPrompt returns the prompts of a request for text: the system's, with the
// caller's instructions and the format that ParseText reads, and the user's. The
// system's prompt of a request with a form is the form's.
func TextPrompt(req Request) (system, user string) {
	if req.Form != nil {
		return req.Form.System, strings.TrimSpace(req.Prompt)
	}
	var b strings.Builder
	if instructions := strings.TrimSpace(req.Instructions); instructions != "" {
		b.WriteString(instructions + "\n\n")
	}
	b.WriteString("You write posts for social media. Answer with one JSON object and nothing else: no explanation, " +
		"no code fence. Its members:\n" +
		`- "title": a headline of one line and at most 80 characters` + "\n" +
		`- "caption": the text of the post, at most 1500 characters, without hashtags; it may have several lines` +
		"\n" +
		`- "hashtags": an array of 3 to 5 hashtags, each one word without #` + "\n")
	if req.Slides > 0 {
		fmt.Fprintf(&b, `- "slides": an array of exactly %d headings, one for each slide in order, each of one line and at most 80 characters`+"\n", req.Slides)
	}
	if n := req.scenes(); n > 0 {
		fmt.Fprintf(&b, `- "scenes": the script of a video as an array of exactly %d objects, one for each scene in order. Together their texts are what one speaker says, about %d words and at most %d characters. The members of each:`+"\n"+
			`  - "text": the words that are spoken in the scene, about %d words, whole sentences if possible; only what is spoken, no headings, names, stage directions or emojis`+"\n"+
			`  - "visual": one sentence in English about what is seen meanwhile, at most 200 characters, without any text in the picture`+"\n",
			n, words(req.ScriptSeconds, 1), MaxScript(req.ScriptSeconds), words(req.ScriptSeconds, n))
	}
	language := req.Language
	if language == "" {
		language = "en"
	}
	fmt.Fprintf(&b, "Write all of it, if nothing else is said, in the language with the BCP 47 tag %q, whatever "+
		"language you are asked in.", language)
	return b.String(), strings.TrimSpace(req.Prompt)
}

// words returns the number of spoken words in one of n scenes of a script.
func words(seconds, n int) int {
	return max(int(math.Round(float64(seconds)*wordsPerSecond/float64(n))), 1)
}

// ParseText parses the answer of a model to TextPrompt. It cuts texts that are too long at the end of a word or
// sentence. An answer that is malformed or incomplete is a Transient error with the code text_unreadable: the next
// answer of the model is most likely valid.
func ParseText(raw string, req Request) (Text, error) {
	t, err := parseText(raw, req)
	if err != nil {
		return Text{}, unreadable(err)
	}
	return t, nil
}

func parseText(raw string, req Request) (Text, error) {
	var answer struct {
		Title    string   `json:"title"`
		Caption  string   `json:"caption"`
		Hashtags []string `json:"hashtags"`
		Slides   []string `json:"slides"`
		Scenes   []Scene  `json:"scenes"`
	}
	object, err := findObject(raw)
	if err != nil {
		return Text{}, err
	}
	if err := json.Unmarshal([]byte(object), &answer); err != nil {
		return Text{}, fmt.Errorf("the answer is not of the form asked for: %w", err)
	}
	t := Text{
		Title:    Clip(oneLine(answer.Title), maxTitle),
		Caption:  Clip(lines(answer.Caption), maxCaption),
		Hashtags: cleanHashtags(answer.Hashtags),
	}
	switch {
	case t.Title == "":
		return Text{}, errors.New("there is no title")
	case t.Caption == "":
		return Text{}, errors.New("there is no caption")
	case answer.Hashtags == nil:
		return Text{}, errors.New("there are no hashtags")
	case len(answer.Slides) < req.Slides:
		return Text{}, fmt.Errorf("there are %d slides, not %d", len(answer.Slides), req.Slides)
	}
	for i, slide := range answer.Slides[:max(req.Slides, 0)] {
		slide = Clip(oneLine(slide), maxSlide)
		if slide == "" {
			return Text{}, fmt.Errorf("slide %d is empty", i+1)
		}
		t.Slides = append(t.Slides, slide)
	}
	if n := req.scenes(); n > 0 {
		if t.Scenes, err = parseScenes(answer.Scenes, n, req.ScriptSeconds); err != nil {
			return Text{}, err
		}
	}
	return t, req.Prices.check(t)
}

// parseScenes cleans the n scenes of a script. Each text is shortened to its share of the seconds.
func parseScenes(all []Scene, n, seconds int) ([]Scene, error) {
	if len(all) != n {
		return nil, fmt.Errorf("there are %d scenes, not %d", len(all), n)
	}
	share := time.Duration(mostSpoken * float64(seconds) / float64(n) * float64(time.Second))
	for i, s := range all {
		all[i] = Scene{Text: ClipSpoken(cutSentence(oneLine(s.Text), MaxScript(seconds)/n-1), share),
			Visual: Clip(oneLine(s.Visual), maxVisual)}
		if all[i].Text == "" || all[i].Visual == "" {
			return nil, fmt.Errorf("scene %d lacks its text or what is seen", i+1)
		}
	}
	return all, nil
}

// ClipSpoken shortens a text so that speaking it takes at most the given time, at the end of a sentence if it can. It
// keeps at least a second.
func ClipSpoken(s string, most time.Duration) string {
	for n := utf8.RuneCountInString(s); n > 1 && SpokenLength(s) > max(most, time.Second); {
		n = min(n-1, int(float64(n)*float64(most)/float64(SpokenLength(s))))
		s = cutSentence(s, n)
	}
	return s
}

// findObject returns the JSON object of an answer, without a code fence or text around
// it.
func findObject(raw string) (string, error) {
	raw = strings.TrimPrefix(strings.TrimSpace(raw), "\ufeff")
	if !strings.HasPrefix(raw, "{") {
		if _, fenced, ok := strings.Cut(raw, "```json"); ok {
			raw = fenced
		}
	}
	first, last := strings.IndexByte(raw, '{'), strings.LastIndexByte(raw, '}')
	if first < 0 || last < first {
		return "", errors.New("the answer has no JSON object")
	}
	return raw[first : last+1], nil
}

// printable removes control characters and invalid UTF-8.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), r == '\u200c', r == '\u200d', r == '\ufe0f': // the last three join letters and emojis
			return r
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, s)
}

// oneLine puts a text on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(printable(s)), " ") }

// lines keeps the lines of a text, with one empty one between paragraphs.
func lines(s string) string {
	var all []string
	for line := range strings.SplitSeq(printable(strings.ReplaceAll(s, "\r\n", "\n")), "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" || len(all) > 0 && all[len(all)-1] != "" {
			all = append(all, line)
		}
	}
	return strings.TrimSpace(strings.Join(all, "\n"))
}

// Clip shortens a text to at most n characters, at the end of a word if it can.
func Clip(s string, n int) string {
	n = max(n, 0)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	short := string([]rune(s)[:n])
	if end := strings.LastIndexFunc(short, unicode.IsSpace); end > len(short)/2 {
		short = short[:end]
	}
	return strings.TrimSpace(short)
}

// cutSentence shortens a text to at most n characters at the end of a sentence, or of a word if no sentence ends in the
// second half.
func cutSentence(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	short := string([]rune(s)[:n])
	if end := strings.LastIndexAny(short, ".!?…。！？"); end > len(short)/2 {
		_, size := utf8.DecodeRuneInString(short[end:])
		return short[:end+size]
	}
	return Clip(s, n)
}

// cleanHashtags turns hashtags into single words, each once.
func cleanHashtags(raw []string) []string {
	tags := []string{}
	seen := map[string]bool{}
	for _, tag := range raw {
		tag = strings.Map(func(r rune) rune {
			if r == '_' || unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number) {
				return r
			}
			return -1
		}, tag)
		key := strings.ToLower(tag)
		if tag == "" || utf8.RuneCountInString(tag) > maxHashtag || seen[key] {
			continue
		}
		seen[key] = true
		tags = append(tags, tag)
	}
	return slices.Clip(tags[:min(len(tags), maxHashtags)])
}
