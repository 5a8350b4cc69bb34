package item

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/craft/prompt"
)

// took returns the seconds that scenes of the origin take together, by their indexes.
func (r *writer) took(indexes []int) int {
	var all []Scene
	for _, i := range indexes {
		all = append(all, sceneOf(provider.Scene(r.record.Origin.Scenes[i])))
	}
	return spokenSeconds(scriptOf(all))
}

// leastExcerpt returns the least seconds of the chosen scenes: a writer can retell any.
func (r *writer) leastExcerpt() int {
	if r.attempt.UsesCopies {
		return leastSpoken
	}
	return 1
}

// window returns the indexes of the scenes one after another that come nearest to the length, without those of some
// numbers. It returns nil if there are none.
func (r *writer) window(without []int) (best []int) {
	e := r.attempt.Excerpt
	for first := range e.Numbers {
		for last := first; last < len(e.Numbers) && e.Numbers[last]-e.Numbers[first] == last-first; last++ {
			if slices.Contains(without, e.Numbers[last]) {
				break
			}
			var run []int
			for i := first; i <= last; i++ {
				run = append(run, i)
			}
			if n := r.took(run); n >= r.leastExcerpt() && n <= e.Seconds && (best == nil || n > r.took(best)) {
				best = run
			}
		}
	}
	return best
}

// usual returns the indexes of the scenes that are chosen without the model: the best window, or else the shortest
// scene.
func (r *writer) usual() []int {
	for _, without := range [][]int{r.attempt.Excerpt.UsedScenes, nil} {
		if best := r.window(without); best != nil {
			return best
		}
	}
	shortest := 0
	for i := range r.record.Origin.Scenes {
		if r.took([]int{i}) < r.took([]int{shortest}) {
			shortest = i
		}
	}
	return []int{shortest}
}

// excerpt is the answer of the model.
type excerpt struct {
	Idea   string `json:"idea"`
	Scenes []int  `json:"scenes"`
}

// chosenScenes returns the indexes of the scenes that an answer chooses, or its problems.
func (r *writer) chosenScenes(answer json.RawMessage) (indexes []int, problems []string) {
	var a excerpt
	if json.Unmarshal(answer, &a) != nil || len(a.Scenes) == 0 {
		return nil, []string{`"scenes" must have the numbers of the chosen scenes`}
	}
	e := r.attempt.Excerpt
	avoids := r.window(e.UsedScenes) != nil
	for i, n := range a.Scenes {
		index := slices.Index(e.Numbers, n)
		switch {
		case index < 0:
			problems = append(problems, fmt.Sprintf("there is no scene %d", n))
		case slices.Contains(indexes, index):
			problems = append(problems, fmt.Sprintf("scene %d is there twice", n))
		case i > 1 && n < a.Scenes[i-1]:
			problems = append(problems, fmt.Sprintf("scene %d follows scene %d: after the first one, scenes keep "+
				"their order",
				n, a.Scenes[i-1]))
		case avoids && slices.Contains(e.UsedScenes, n):
			problems = append(problems, fmt.Sprintf("scene %d is in another short video", n))
		default:
			indexes = append(indexes, index)
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	if takes, least := r.took(indexes), r.leastExcerpt(); takes > e.Seconds || takes < least {
		return nil, []string{fmt.Sprintf("the scenes take %d seconds together, and must take %d to %d", takes, least,
			e.Seconds)}
	}
	return indexes, nil
}

// excerptRequest returns the request to choose the scenes. Before it is known which of them are used, all count as
// used, so that the price is for the longest prompt.
func (r *writer) excerptRequest() provider.Request {
	e := r.attempt.Excerpt
	told := prompt.Excerpting{Language: r.record.Origin.Language, Request: r.item.Prompt, Channel: r.brief.Voice,
		Title: r.record.Origin.Title, Least: r.leastExcerpt(), Most: e.Seconds, Whole: r.attempt.UsesCopies}
	for i, s := range r.record.Origin.Scenes {
		told.Scenes = append(told.Scenes, prompt.ExcerptScene{Number: e.Numbers[i], OriginScene: s,
			Seconds: math.Round(provider.SpokenLength(s.Text).Seconds()*10) / 10,
			InUse:   !e.ScenesRead || slices.Contains(e.UsedScenes, e.Numbers[i])})
	}
	asked := told.Prompt()
	sample := excerpt{Idea: r.record.Origin.Title}
	for _, i := range r.usual() {
		sample.Scenes = append(sample.Scenes, e.Numbers[i])
	}
	answer, _ := json.Marshal(sample) // it has numbers and a text
	return provider.Request{Kind: provider.KindText, Prompt: asked.User, PromptVersion: asked.Version,
		Language: r.item.Language, Form: &provider.Form{System: asked.System, Tokens: prompt.ExcerptTokens,
			Sample: answer}}
}
