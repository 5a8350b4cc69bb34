package bedrock

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// forms are the objects other than posts, by phrases of the system prompt.
var forms = []struct {
	asked  string
	answer func(system, prompt string) any
}{
	{`"proposals": an array`, proposals},
	{`{"topics":`, topics},
	{`"scores": an object`, scores},
	{`"better": "a" or "b"`, choice},
	{`{"posts":[{"platform"`, posts},
	{`{"idea":"...","scenes":[...]}`, excerpt},
}

// excerpt chooses the first scenes one after another that no other video has, and that fit into the time.
func excerpt(system, prompt string) any {
	var data struct {
		Scenes []struct {
			Number  int
			Seconds float64
			Used    bool
		}
	}
	if err := json.NewDecoder(strings.NewReader(prompt)).Decode(&data); err != nil { // a repair may follow
		return map[string]string{"idea": "The prompt is not JSON: " + err.Error()}
	}
	most, left := mostAsked.FindStringSubmatch(system), 0.0
	if most != nil {
		left, _ = strconv.ParseFloat(most[1], 64)
	}
	chosen := []int{}
	for _, s := range data.Scenes {
		if left -= s.Seconds; left < 2 {
			break
		}
		if s.Used {
			chosen, left = nil, left+s.Seconds
			continue
		}
		chosen = append(chosen, s.Number)
	}
	return map[string]any{"idea": "The first thing to know", "scenes": chosen}
}

// mostAsked is the expression by which a prompt bounds the seconds of scenes.
var mostAsked = regexp.MustCompile(`together are at most (\d+)`)

// posts words a post anew for each platform of the prompt.
func posts(system, prompt string) any {
	var data struct {
		Title, Caption string
		Hashtags       []string
	}
	if err := json.Unmarshal([]byte(prompt), &data); err != nil {
		return map[string]string{"posts": "The prompt is not JSON: " + err.Error()}
	}
	var all []map[string]any
	for _, match := range platformAsked.FindAllStringSubmatch(system, -1) {
		all = append(all, map[string]any{"platform": match[1], "title": data.Title,
			"caption": data.Caption, "hashtags": data.Hashtags})
	}
	return map[string]any{"posts": all}
}

// platformAsked is the expression by which prompts name a platform to word a post for.
var platformAsked = regexp.MustCompile(`(?m)^- "([a-z0-9_]+)" is `)

// proposals returns changes of a factory. In the first answer, one of them is invalid, as
// models sometimes write.
func proposals(_, prompt string) any {
	var data struct {
		Findings []struct{ Code string }
		Refused  []any
	}
	if err := json.Unmarshal([]byte(prompt), &data); err != nil {
		return map[string]string{"proposals": "The prompt is not JSON: " + err.Error()}
	}
	proposal := func(title string, patch map[string]any) map[string]any {
		return map[string]any{
			"title": title, "rationale": strconv.Itoa(len(data.Findings)) + " findings.", "patch": patch,
			"expected_effect": "Fewer findings",
		}
	}
	all := []any{proposal("Speak to runners", map[string]any{"audience": "People who run in any weather"})}
	if len(data.Refused) == 0 {
		all = append(all, proposal("Make nothing", map[string]any{"state": "paused"}))
	}
	return map[string]any{"proposals": all}
}

// Weak is a subject whose first text does not pass a second look.
const Weak = "a weak text"

// scores is the verdict of a second look.
func scores(_, prompt string) any {
	score, problems := 4, []string{}
	if strings.Contains(prompt, Weak) {
		score, problems = 2, []string{"The first line is generic: name the subject."}
	}
	all := map[string]int{}
	for _, name := range []string{"hook", "specific", "voice", "fit", "language", "claims"} {
		all[name] = score
	}
	return map[string]any{"scores": all, "problems": problems}
}

// choice chooses between two texts: the one that was not weak.
func choice(_, prompt string) any {
	var data struct{ A, B struct{ Caption string } }
	if err := json.NewDecoder(strings.NewReader(prompt)).Decode(&data); err != nil {
		return map[string]string{"better": "The prompt is not JSON: " + err.Error()}
	}
	better := "a"
	if strings.Contains(data.A.Caption, Weak) {
		better = "b"
	}
	return map[string]string{"better": better}
}

// slot is a place in a plan, as its prompt tells it.
type slot struct {
	Slot                   int
	Product, Event, Pillar string
}

// topics returns topics for the slots of a plan, in the language of the prompt: about the product, the event or the
// pillar of the slot, or else about the brief or the channel. If the prompt forbids to repeat topics, the first answer
// repeats one of them.
func topics(system, prompt string) any {
	var data struct {
		Channel, Brief string
		Slots          []slot
		Avoid          []string
	}
	if err := json.Unmarshal([]byte(prompt), &data); err != nil {
		return map[string]string{"topics": "The prompt is not JSON: " + err.Error()}
	}
	language := "en"
	if match := languageAsked.FindStringSubmatch(system); match != nil {
		language = match[1]
	}
	of := sentencesOf(language)
	all := []any{}
	for i, s := range data.Slots {
		n := s.Slot - 1 + len(data.Avoid)
		event, _, _ := strings.Cut(s.Event, " (")
		subject := capital(subjectOf(cmp.Or(s.Product, event, s.Pillar, data.Brief, nameOf(data.Channel)), maxSubject))
		angle := of.Angles[n%len(of.Angles)]
		topic := subject + ": " + angle + ", " + of.Twists[(n/len(of.Angles)+n)%len(of.Twists)]
		if i == 0 && len(data.Avoid) > 0 && len(data.Slots) > 1 {
			topic = data.Avoid[0]
		}
		all = append(all, map[string]any{"slot": s.Slot, "topic": topic, "angle": angle,
			"hook": fill(of.Hooks[n%len(of.Hooks)], "topic", subject)})
	}
	return map[string]any{"topics": all}
}

// maxSubject is the greatest length of the subject of a topic in characters.
const maxSubject = 50

// channelNamed is the expression by which a prompt names the channel.
var channelNamed = regexp.MustCompile(`The channel is "((?:[^"\\]|\\.)*)"`)

// nameOf returns the name of the channel of a prompt.
func nameOf(channel string) string {
	if match := channelNamed.FindStringSubmatch(channel); match != nil {
		return match[1]
	}
	return channel
}
