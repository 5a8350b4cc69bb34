package plan

import (
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/samples"
	"github.com/content-automation/api/pkg/craft/prompt"
)

const (
	// The tokens of an answer: of each topic, and of the rest.
	tokensPerTopic, tokensBase = 280, 200
	// maxAvoided is the number of topics that the model is told to avoid, each in at most
	// maxShown bytes. All of them count when its topics are compared.
	maxAvoided, maxShown = 400, 120
)

// topic is the model's answer for a slot.
type topic struct {
	Slot  int    `json:"slot"`
	Topic string `json:"topic"`
	view
}

// view is how a topic is told.
type view struct {
	Angle string `json:"angle,omitempty"`
	Hook  string `json:"hook,omitempty"`
}

type topics struct {
	Topics []topic `json:"topics"`
}

// request returns the question for the slots of the next chunk that have no topic yet.
func (j *job) request(used []string) (provider.Request, error) {
	a := prompt.Planning{Language: j.recipe.Language, Brief: j.plan.Brief}
	for _, r := range j.recipe.Items {
		a.Channel = r.Brief.Voice // the same for all
	}
	var sample topics
	var taken known
	for _, topic := range slices.Concat(used, j.Refused, slices.Collect(maps.Values(j.Chosen))) {
		taken = append(taken, shapeOf(topic))
	}
	from, to := j.next()
	for i, slot := range j.slots[from:to] {
		if n := i + 1; j.Chosen[n] == "" {
			at := j.places[from+i]
			one := prompt.TopicWanted{Slot: n, Type: slot.Type, Day: at.Day, Season: at.Season, Occasion: at.Occasion,
				Pillar: at.Pillar, Goal: at.Goal, Campaign: at.Campaign, About: at.about}
			if p := j.productOf(from + i); p != nil {
				one.Product = p.Name
			}
			a.Slots = append(a.Slots, one)
			written := j.sample(from+i, slot, taken)
			sample.Topics = append(sample.Topics, topic{n, written, j.sampleView(from + i)})
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
	answer, err := json.Marshal(sample)
	if err != nil {
		return provider.Request{}, err
	}
	p := a.Prompt()
	return provider.Request{
		Kind: provider.KindText, Prompt: p.User, Language: j.recipe.Language, PromptVersion: p.Version,
		Form: &provider.Form{System: p.System, Tokens: tokensBase + len(a.Slots)*tokensPerTopic, Sample: answer},
	}, nil
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

// words are the words of topics in the sandbox once all others are taken.
//
//go:embed words.txt
var words string

const (
	sampleSubject = 28 // characters
	// The topics that are considered for a slot, of which there are fewer once sampleMany are taken: each is compared
	// with all of them.
	sampleTries, sampleMany, sampleManyTries = 40, 300, 4
	sampleWords                              = 6
)

// sample is the topic that the sandbox writes for a slot: always the same for the same day, slot, round and topics that
// are taken. It names a subject of the factory, an angle and a twist. Plans of hundreds of items have not enough of
// them: then it lists words.
func (j *job) sample(n int, slot Slot, taken known) string {
	subjects := slices.Clone(j.recipe.Topics)
	if len(subjects) == 0 {
		subjects = []string{j.recipe.Name}
	}
	if j.plan.Brief != "" {
		subjects = slices.Insert(subjects, 0, j.plan.Brief)
	}
	if p := j.productOf(n); p != nil {
		subjects = []string{p.Name}
	}
	subject := provider.Clip(clean(subjects[n%len(subjects)]), sampleSubject)
	subject = samples.Capital(strings.TrimRight(subject, ".!?…,;: ")) + ": "
	texts := samples.Of(j.recipe.Language)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", slot.At.UTC().Format(time.RFC3339), n, j.Round))
	start := int(binary.BigEndian.Uint32(sum[:]))
	tries := sampleTries
	if len(taken) > sampleMany {
		tries = sampleManyTries
	}
	for try := range tries {
		at := start + 7*try
		topic := subject + texts.Angles[at%len(texts.Angles)] + ", " + texts.Twists[(at/3+n)%len(texts.Twists)]
		if !taken.has(shapeOf(topic)) {
			return topic
		}
	}
	vocabulary := strings.Fields(words)
	var chosen []string
	for _, b := range sum {
		if word := vocabulary[int(b)%len(vocabulary)]; len(chosen) < sampleWords && !slices.Contains(chosen, word) {
			chosen = append(chosen, word)
		}
	}
	return subject + strings.Join(chosen, ", ")
}

// sampleView is the angle and the hook that the sandbox writes for a slot.
func (j *job) sampleView(n int) view {
	texts, hooks := samples.Of(j.recipe.Language), samples.LinesOf(j.recipe.Language).Hooks
	angle := texts.Angles[n%len(texts.Angles)]
	return view{Angle: angle, Hook: samples.Fill(hooks[n%len(hooks)], "topic", angle)}
}
