package plan

import (
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/samples"
	"github.com/content-automation/api/pkg/area/factory"
)

// words are the words of topics in the sandbox once all others are taken.
//
//go:embed words.txt
var words string

const (
	sampleSubject = 32 // characters
	// The topics that are considered for a slot, of which there are fewer once sampleMany are taken: each is compared
	// with all of them.
	sampleTries, sampleMany, sampleManyTries = 40, 300, 4
	sampleWords                              = 6
)

// The angles and twists of the samples, by their number, that fit news, and the angles that fit things alone.
var (
	newsAngles, newsTwists = []int{1, 2, 7, 18, 28, 11}, []int{2, 3, 5, 14, 8}
	thingAngles            = []int{10, 15, 16, 22, 23, 24, 29}
)

// sample is the topic that the sandbox writes for a slot, and how it is told: always the same for the same day, slot,
// round and topics that are taken. It names the product, the pillar or a subject of the slot, an angle and a twist.
// Plans of hundreds of items have not enough of them: then it lists words.
func (j *job) sample(n int, slot Slot, taken known) (topic string, told view) {
	subject, thing := j.subject(n)
	texts := samples.Of(j.recipe.Language)
	angles, twists := j.fitting(texts, thing)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", slot.At.UTC().Format(time.RFC3339), n, j.Round))
	start := int(binary.BigEndian.Uint32(sum[:]))
	tries := sampleTries
	if len(taken) > sampleMany {
		tries = sampleManyTries
	}
	hooks := samples.LinesOf(j.recipe.Language).Hooks
	hook := hooks[n%len(hooks)]
	for try := range 2 * tries {
		if try == tries { // all of those that fit best are taken
			angles, twists = texts.Angles, texts.Twists
		}
		at := start + 7*try
		angle := angles[at%len(angles)]
		told = view{Angle: angle, Hook: samples.Fill(hook, "topic", angle)}
		topic = subject + ": " + angle + ", " + twists[(at/3+n)%len(twists)]
		if !taken.has(shapeOf(topic)) {
			return topic, told
		}
	}
	vocabulary := strings.Fields(words)
	var chosen []string
	for _, b := range sum {
		if word := vocabulary[int(b)%len(vocabulary)]; len(chosen) < sampleWords && !slices.Contains(chosen, word) {
			chosen = append(chosen, word)
		}
	}
	return subject + ": " + strings.Join(chosen, ", "), told
}

// subject returns what the sample of a slot is about, and whether that is a thing that is sold.
func (j *job) subject(n int) (subject string, thing bool) {
	subjects := slices.Clone(j.recipe.Topics)
	if len(subjects) == 0 {
		subjects = []string{j.recipe.Name}
	}
	if j.plan.Brief != "" {
		subjects = slices.Insert(subjects, 0, string(j.plan.Brief))
	}
	if n < len(j.places) && j.places[n].Pillar != "" {
		subjects = []string{j.places[n].Pillar}
	}
	if p := j.productOf(n); p != nil {
		subjects, thing = []string{p.Name}, true
	}
	subject = short(clean(subjects[n%len(subjects)]))
	if subject == "" {
		subject = provider.Clip(clean(j.recipe.Name), sampleSubject)
	}
	return samples.Capital(strings.TrimRight(subject, ".!?…,;: ")), thing
}

// short returns a text that fits a topic: the whole, its first clause, or its first words without those that lead on
// to what is left out. It is empty if no words can be told apart.
func short(text string) string {
	if utf8.RuneCountInString(text) <= sampleSubject {
		return text
	}
	if i := strings.IndexAny(text, ".!?…,;:–—。、！？"); i > 0 && utf8.RuneCountInString(text[:i]) <= sampleSubject {
		return whole(strings.Fields(text[:i]))
	}
	var kept []string
	length := 0
	for _, word := range strings.Fields(text) {
		if length += utf8.RuneCountInString(word) + 1; length > sampleSubject+1 {
			break
		}
		kept = append(kept, word)
	}
	return whole(kept)
}

// whole joins words without the last ones that lead on to what is left out.
func whole(words []string) string {
	for len(words) > 0 && leadsOn(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	return strings.Join(words, " ")
}

// leading are the longer words after which something has to follow. The shorter ones are nearly all such.
var leading = strings.Fields("about after with from into over under your their this that these those than when while " +
	"where which einen einem einer eines eine unser unsere unserem unseren unserer nach über unter durch gegen ohne " +
	"oder aber auch dass wenn beim zwischen pour avec dans sans sous vers chez notre votre leur cette para sobre " +
	"entre desde hasta como nuestro nuestra della dello delle degli dalla nella nelle sulla alla alle allo come " +
	"pela pelo uma com sem nossa nosso przez oraz przy przed dla nasze nasza через между перед после около наш наша " +
	"наши при или если чтобы після перед через між наші")

// leadsOn reports whether a word, such as a preposition or an article, cannot end a phrase.
func leadsOn(word string) bool {
	word = strings.ToLower(word)
	r, _ := utf8.DecodeRuneInString(word)
	small := unicode.In(r, unicode.Latin, unicode.Cyrillic) && utf8.RuneCountInString(word) <= 3
	return small || word == "&" || slices.Contains(leading, word)
}

// fitting returns the angles and twists that fit a subject: news have sober ones.
func (j *job) fitting(texts samples.Texts, thing bool) (angles, twists []string) {
	if j.recipe.Trade == string(factory.News) {
		return some(texts.Angles, newsAngles), some(texts.Twists, newsTwists)
	}
	if angles = texts.Angles; !thing && j.recipe.Trade != "" && len(j.plan.Pillars) > 0 {
		angles = nil
		for i, angle := range texts.Angles {
			if !slices.Contains(thingAngles, i) {
				angles = append(angles, angle)
			}
		}
	}
	return angles, texts.Twists
}

// some returns the texts with some numbers, as far as there are such.
func some(texts []string, numbers []int) (all []string) {
	for _, n := range numbers {
		if n < len(texts) {
			all = append(all, texts[n])
		}
	}
	return all
}
