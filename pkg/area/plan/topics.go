package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate/ask"
)

const (
	// The tokens of an answer: of each topic, and of the rest.
	tokensPerTopic, tokensBase = 280, 200
	// maxAvoided is the number of topics in the prompt that the model must avoid, each in at most
	// maxShown bytes. All of them count when its topics are compared.
	maxAvoided, maxShown = 400, 120
)

// topic is the model's answer for a slot.
type topic struct {
	Slot  int    `json:"slot"`
	Topic string `json:"topic"`
	view
}

// view is the point of view of a topic, with the first line of its text.
type view struct {
	Angle string `json:"angle,omitempty"`
	Hook  string `json:"hook,omitempty"`
}

type topics struct {
	Topics []topic `json:"topics"`
}

// question asks for topics of the slots of the next chunk that have none yet.
func (j *job) question(used []string) ask.Question {
	a := prompt.Planning{Language: j.recipe.Language, Brief: string(j.plan.Brief)}
	for _, r := range j.recipe.Items {
		a.Channel = r.Brief.Voice // the same for all
	}
	var sample topics
	var taken known
	for _, topic := range slices.Concat(used, j.Refused, slices.Collect(maps.Values(j.Chosen))) {
		taken = append(taken, shapeOf(topic))
	}
	from, to := j.chunk()
	for i, slot := range j.slots[from:to] {
		if n := i + 1; j.Chosen[n] == "" {
			at := j.places[from+i]
			one := prompt.TopicWanted{Slot: n, Type: slot.Type, Day: at.Day, Season: at.Season, Occasion: at.Occasion,
				Pillar: at.Pillar, Goal: at.Goal, Campaign: at.Campaign, About: at.about}
			if p := j.productOf(from + i); p != nil {
				one.Product = p.Name
			}
			a.Slots = append(a.Slots, one)
			written, told := j.sample(from+i, slot, taken)
			sample.Topics = append(sample.Topics, topic{n, written, told})
			taken = append(taken, shapeOf(written))
		}
	}
	chosen := make([]string, 0, len(j.Chosen))
	for _, n := range slices.Sorted(maps.Keys(j.Chosen)) {
		chosen = append(chosen, j.Chosen[n])
	}
	for _, avoid := range slices.Concat(j.Refused, chosen, used) {
		if len(a.Avoid) < maxAvoided {
			a.Avoid = append(a.Avoid, clip(avoid, maxShown))
		}
	}
	return ask.Question{Model: j.recipe.Model, Prompt: a.Prompt(), Language: j.recipe.Language,
		Tokens: tokensBase + len(a.Slots)*tokensPerTopic, Sample: sample}
}

// parse reads the topics of an answer. Empty ones are left out.
func parse(answer json.RawMessage) ([]topic, error) {
	var t topics
	if err := json.Unmarshal(answer, &t); err != nil {
		return nil, err
	}
	if len(t.Topics) == 0 {
		return nil, fmt.Errorf("plan: there are no topics")
	}
	for i := range t.Topics {
		one := &t.Topics[i]
		one.Topic = clean(one.Topic)
		one.Angle, one.Hook = clip(clean(one.Angle), maxAngle), clip(clean(one.Hook), maxHook)
	}
	return slices.DeleteFunc(t.Topics, func(t topic) bool { return t.Topic == "" }), nil
}

// clean returns a topic on one line, without control characters, and not too long.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
	return clip(strings.Join(strings.Fields(s), " "), MaxTopic)
}

// clip shortens a text to at most n bytes, at the end of a word if it can.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	s = s[:n]
	if end := strings.LastIndexFunc(s, unicode.IsSpace); end > n/2 {
		s = s[:end]
	}
	return strings.TrimSpace(s)
}
