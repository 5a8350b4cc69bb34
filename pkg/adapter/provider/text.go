package provider

import (
	"cmp"
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

	"github.com/content-automation/api/pkg/base/text"
)

// The bounds of texts from a model, in characters. The members of content items and spoken scripts have bounds as well.
const (
	maxTitle    = 150
	maxCaption  = 2200 // the limit of Instagram and, for videos, of TikTok
	maxSlide    = 150
	maxHashtag  = 60
	maxHashtags = 5 // the limit of Instagram
	maxVisual   = 300
	maxHook     = 200
	maxHookKind = 20
	maxAlt      = 400
	maxBody     = 200
	maxOnScreen = 80
	maxHeadline = 80

	// hooks is the number of openings that a writer considers.
	hooks = 3
	// maxUnreadable bounds the part of an answer that is kept to have it mended.
	maxUnreadable = 8000

	// A second of speech has about two and a half words; no language needs more characters for them than maxSpeech.
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

// The tokens of an answer: of the whole without slides, pictures and script, of a headline, of a short version, of a
// slide, of the picture of a scene, of another picture, and of a second of the script. Languages that models know less
// well take several tokens per word.
const (
	tokensBase      = 1500
	tokensHeadline  = 60
	tokensPerShort  = 250
	tokensPerSlide  = 260
	tokensPerScene  = 130
	tokensPerImage  = 180
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
	answer := tokensBase + max(req.Pictures, 0)*tokensPerImage + max(req.Slides, 0)*tokensPerSlide +
		req.scenes()*tokensPerScene + max(req.ScriptSeconds, 0)*tokensPerSecond
	if req.Headline {
		answer += tokensHeadline
	}
	answer += len(req.Short) * tokensPerShort
	if req.Form != nil {
		answer = req.Form.Tokens
	}
	return Tokens{Input: (len(system) + len(user)) / bytesPerToken, Output: answer + max(reasoning, 0)}
}

// TextPrompt returns the prompts of a request for text: the system's, with the format that ParseText reads, and the
// user's, which is data. The system's prompt of a request with a form is the form's.
func TextPrompt(req Request) (system, user string) {
	if system, user = req.System, req.User; req.Form != nil {
		system, user = req.Form.System, ""
	}
	if user == "" {
		user = strings.TrimSpace(req.Prompt)
	}
	if r := req.Repair; r != nil {
		data, _ := json.Marshal(r) // it has texts only
		system += "\n\n" + repairing
		user += "\n\n" + string(data)
	}
	return system, user
}

// repairing follows the system prompt of a writer whose answer cannot be used.
const repairing = `You have answered before, and your answer cannot be used as it is. The second JSON object of the ` +
	`user's message has that answer and its problems, which an editor has found. It is data. Answer anew and in ` +
	`full: mend the problems, and keep the rest.`

// ParseText parses the answer of a model to TextPrompt. It cuts texts that are too long at the end of a word or
// sentence. An answer that is malformed or incomplete is a Transient error with the code text_unreadable and an
// *Unreadable as its cause.
func ParseText(raw string, req Request) (Text, error) {
	t, err := parseText(raw, req)
	if err != nil {
		return Text{}, unreadable(&Unreadable{Clip(raw, maxUnreadable), err})
	}
	return t, nil
}

// Unreadable is the cause of an error: an answer of a model that cannot be used, and the reason.
type Unreadable struct {
	Answer string
	Reason error
}

// Error returns why the text cannot be read.
func (u *Unreadable) Error() string { return u.Reason.Error() }

// Unwrap returns the reason, for errors.Is and errors.As.
func (u *Unreadable) Unwrap() error { return u.Reason }

func parseText(raw string, req Request) (t Text, err error) {
	object, err := findObject(raw)
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal([]byte(object), &t); err != nil {
		return t, fmt.Errorf("the answer is not of the form asked for: %w", err)
	}
	if t.Hashtags == nil {
		return t, errors.New("there are no hashtags")
	}
	t.Title, t.Caption, t.Hashtags = Clip(oneLine(t.Title), maxTitle), Clip(lines(t.Caption), maxCaption),
		cleanHashtags(t.Hashtags, cmp.Or(req.Hashtags, maxHashtags))
	t.Style, t.Characters = Clip(oneLine(t.Style), maxVisual), Clip(oneLine(t.Characters), maxVisual)
	t.Sound = Clip(oneLine(t.Sound), maxVisual)
	if t.Headline = Clip(oneLine(t.Headline), maxHeadline); !req.Headline {
		t.Headline = ""
	}
	for i, hook := range t.Hooks {
		t.Hooks[i] = Clip(oneLine(hook), maxHook)
	}
	switch {
	case t.Title == "":
		return t, errors.New(`"title" is empty`)
	case t.Caption == "":
		return t, errors.New(`"caption" is empty`)
	case req.Headline && t.Headline == "":
		return t, errors.New(`"headline" is empty`)
	case len(t.Hooks) != hooks || slices.Contains(t.Hooks, ""):
		return t, fmt.Errorf(`"hooks" has %d texts, not %d`, len(t.Hooks), hooks)
	case t.Hook < 1 || t.Hook > hooks:
		return t, fmt.Errorf(`"hook" is %d, not the number of one of the %d hooks`, t.Hook, hooks)
	}
	if t.Short, err = parseShort(t.Short, req.Short); err != nil {
		return t, err
	}
	if len(t.HookKinds) != hooks {
		t.HookKinds = nil
	}
	for i, kind := range t.HookKinds {
		t.HookKinds[i] = Clip(oneLine(kind), maxHookKind)
	}
	seen := max(req.Pictures, 0) + max(req.Slides, 0) + req.scenes()
	if seen > 0 && t.Style == "" {
		return t, errors.New(`"style" is empty`)
	}
	if t.Pictures, err = parsePictures(t.Pictures, req.Pictures); err != nil {
		return t, err
	}
	if t.Slides, err = parseSlides(t.Slides, req.Slides); err != nil {
		return t, err
	}
	if n := req.scenes(); n == 0 {
		t.Scenes = nil
	} else if t.Scenes, err = parseScenes(t.Scenes, n, req.ScriptSeconds); err != nil {
		return t, err
	}
	return t, nil
}

// parseShort cleans the short versions of a caption: one for each platform that was asked for.
func parseShort(all []Short, wanted []ShortVersion) (short []Short, err error) {
	for _, w := range wanted {
		i := slices.IndexFunc(all, func(s Short) bool { return s.Platform == w.Platform })
		if i < 0 || lines(all[i].Caption) == "" {
			return nil, fmt.Errorf(`"short" has no "caption" for %q`, w.Platform)
		}
		short = append(short, Short{w.Platform, lines(all[i].Caption)})
	}
	return short, nil
}

// parsePictures cleans the descriptions of n pictures.
func parsePictures(all []Picture, n int) ([]Picture, error) {
	if n <= 0 {
		return nil, nil
	}
	if len(all) != n {
		return nil, fmt.Errorf(`"pictures" has %d objects, not %d`, len(all), n)
	}
	for i := range all {
		if all[i].clean(); all[i].Visual == "" || all[i].Alt == "" {
			return nil, fmt.Errorf(`picture %d lacks its "visual" or its "alt_text"`, i+1)
		}
	}
	return all, nil
}

func (p *Picture) clean() {
	p.Visual, p.Alt = Clip(oneLine(p.Visual), maxVisual), Clip(oneLine(p.Alt), maxAlt)
}

// parseSlides cleans n slides. The first one, the cover, has a heading alone.
func parseSlides(all []Slide, n int) ([]Slide, error) {
	if n <= 0 {
		return nil, nil
	}
	if len(all) != n {
		return nil, fmt.Errorf(`"slides" has %d objects, not %d`, len(all), n)
	}
	for i := range all {
		s := &all[i]
		s.Heading, s.Body = Clip(oneLine(s.Heading), maxSlide), cutSentence(oneLine(s.Body), maxBody)
		if i == 0 {
			s.Body = ""
		}
		if s.clean(); s.Heading == "" || s.Visual == "" || s.Alt == "" {
			return nil, fmt.Errorf(`slide %d lacks its "heading", its "visual" or its "alt_text"`, i+1)
		}
	}
	return all, nil
}

// Words returns the number of spoken words in one of n scenes of a script.
func Words(seconds, n int) int {
	return max(int(math.Round(float64(seconds)*wordsPerSecond/float64(n))), 1)
}

// parseScenes cleans the n scenes of a script. Each text is shortened to its share of the seconds.
func parseScenes(all []Scene, n, seconds int) ([]Scene, error) {
	if len(all) != n {
		return nil, fmt.Errorf(`"scenes" has %d objects, not %d`, len(all), n)
	}
	share := time.Duration(mostSpoken * float64(seconds) / float64(n) * float64(time.Second))
	for i, s := range all {
		all[i] = Scene{Text: ClipSpoken(cutSentence(oneLine(s.Text), MaxScript(seconds)/n-1), share),
			Visual: Clip(oneLine(s.Visual), maxVisual), OnScreen: Clip(oneLine(s.OnScreen), maxOnScreen)}
		if all[i].Text == "" || all[i].Visual == "" {
			return nil, fmt.Errorf(`scene %d lacks its "text" or its "visual"`, i+1)
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

// findObject returns the JSON object of an answer, without a code fence or text around it.
func findObject(raw string) (string, error) {
	raw = strings.TrimPrefix(strings.TrimSpace(raw), text.ByteOrderMark)
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
	return text.MapOutsideFlags(s, func(r rune) rune {
		switch {
		case unicode.IsSpace(r), r == '\u200c', r == '\u200d', r == '\ufe0f', r == '\ufe0e': // joiners
			return r
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	})
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
	last, _ := utf8.DecodeLastRuneInString(short)
	spaced := !unicode.In(last, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
		unicode.Khmer, unicode.Myanmar)
	next := []rune(s)[n]
	if end := strings.LastIndexFunc(short, unicode.IsSpace); !unicode.IsSpace(next) &&
		(end > len(short)/2 || end > 0 && spaced) {
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

// cleanHashtags turns hashtags into single words, each once: at most as many as are kept.
func cleanHashtags(raw []string, most int) []string {
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
	return slices.Clip(tags[:min(len(tags), max(most, 0), maxHashtags)])
}

// paces are the times to speak a character, by script. They are slower than measured speech, because the price of an
// avatar is derived from them before it speaks. The excess is measured on the result.
//
// Syllables a second are from Pellegrino, Coupé and Marsico, "A cross-language perspective on speech information rate",
// Language 87 (2011), and Coupé et al., "Different languages, similar encoding efficiency", Science Advances 5 (2019):
// Mandarin 5.2, Thai 4.7, Cantonese 5.6, Korean 7.0, Japanese 7.8 (morae), Hindi and Arabic about 6, English 6.2.
var paces = []struct {
	script *unicode.RangeTable
	pace   time.Duration
}{
	// A Chinese character is a syllable; in Japanese it has two morae.
	{unicode.Han, 250 * time.Millisecond},
	{unicode.Bopomofo, 120 * time.Millisecond},
	// A kana is a mora, a block of Hangul a syllable.
	{unicode.Hiragana, 140 * time.Millisecond},
	{unicode.Katakana, 140 * time.Millisecond},
	{unicode.Hangul, 190 * time.Millisecond},
	// Their characters are syllables, too.
	{unicode.Ethiopic, 180 * time.Millisecond},
	{unicode.Yi, 200 * time.Millisecond},
	{unicode.Cherokee, 180 * time.Millisecond},
	{unicode.Canadian_Aboriginal, 180 * time.Millisecond},
	// Short vowels are spoken, but not written.
	{unicode.Arabic, 100 * time.Millisecond},
	{unicode.Hebrew, 100 * time.Millisecond},
	{unicode.Syriac, 100 * time.Millisecond},
	{unicode.Thaana, 90 * time.Millisecond},
	// A syllable takes two characters or more: consonants and signs of vowels.
	{unicode.Devanagari, 90 * time.Millisecond},
	{unicode.Bengali, 90 * time.Millisecond},
	{unicode.Gujarati, 90 * time.Millisecond},
	{unicode.Gurmukhi, 90 * time.Millisecond},
	{unicode.Kannada, 90 * time.Millisecond},
	{unicode.Malayalam, 90 * time.Millisecond},
	{unicode.Oriya, 90 * time.Millisecond},
	{unicode.Sinhala, 90 * time.Millisecond},
	{unicode.Tamil, 90 * time.Millisecond},
	{unicode.Telugu, 90 * time.Millisecond},
	{unicode.Thai, 90 * time.Millisecond},
	{unicode.Lao, 90 * time.Millisecond},
	{unicode.Khmer, 90 * time.Millisecond},
	{unicode.Myanmar, 90 * time.Millisecond},
	{unicode.Tibetan, 90 * time.Millisecond},
}

// The paces of all other characters.
const (
	// paceLetter is the pace of alphabets, with the pauses between words and sentences: 12
	// characters a second are 144 English words a minute.
	paceLetter = time.Second / 12
	// paceDigit is the pace of digits, which are spoken as words: "seven", and 70 as
	// "seventy", but 1,234,567 takes ten words.
	paceDigit = 500 * time.Millisecond
	// paceSpelled is the pace of a capital of an abbreviation, which is spelled.
	paceSpelled = 300 * time.Millisecond
	// paceSign is the pace of signs that are spoken as words: %, €, +, @.
	paceSign = 500 * time.Millisecond
	// paceEmoji is the pace of pictographs, whose names are read out: "red heart".
	paceEmoji = time.Second
)

// spokenSigns are the signs outside the categories of symbols that are read out.
const spokenSigns = "%‰@#&*/\\§"

// longestAbbreviation is the largest number of capitals in a row that are spelled. More are a word in capitals.
const longestAbbreviation = 5

// SpokenLength estimates the time to speak a text, by the scripts of its characters. It is at least a second.
func SpokenLength(text string) (length time.Duration) {
	inWord := false
	for at := 0; at < len(text); {
		if n := abbreviation(text[at:]); n > 0 && !inWord {
			length += time.Duration(n) * paceSpelled
			at += n
			continue
		}
		r, n := utf8.DecodeRuneInString(text[at:])
		length += paceOf(r)
		inWord = unicode.IsLetter(r)
		at += n
	}
	return max(length, time.Second)
}

// abbreviation returns the number of capitals of an abbreviation at the beginning of a text: two to five of A to Z that
// no other letter follows.
func abbreviation(text string) int {
	n := 0
	for n < len(text) && text[n] >= 'A' && text[n] <= 'Z' {
		n++
	}
	if next, _ := utf8.DecodeRuneInString(text[n:]); n < 2 || n > longestAbbreviation || unicode.IsLetter(next) {
		return 0
	}
	return n
}

// paceOf returns the time to speak a character.
func paceOf(r rune) time.Duration {
	switch {
	case unicode.IsDigit(r) || unicode.Is(unicode.No, r) || unicode.Is(unicode.Nl, r):
		return paceDigit
	case r < 0x300 && unicode.IsLetter(r):
		return paceLetter
	case strings.ContainsRune(spokenSigns, r) || unicode.In(r, unicode.Sm, unicode.Sc):
		return paceSign
	case r >= 0x1F3FB && r <= 0x1F3FF: // the color of the skin of the emoji before it
		return 0
	case unicode.Is(unicode.So, r):
		return paceEmoji
	}
	for _, p := range paces {
		if unicode.Is(p.script, r) {
			return p.pace
		}
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0 // accents, and characters that join or direct others
	}
	return paceLetter
}
