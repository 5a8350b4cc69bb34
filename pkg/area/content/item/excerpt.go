package item

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/store"
)

// roleExcerpt is the part that chooses the scenes of a long video for a short one.
const roleExcerpt role = "excerpt"

// Excerpt is the choice of scenes of the origin, until it is made.
type Excerpt struct {
	// Numbers are the numbers of the scenes in the original item, in the order of Record.Origin.Scenes.
	Numbers []int `json:"numbers"`
	// Seconds bounds the chosen scenes together.
	Seconds int `json:"seconds"`
	// Used are the numbers of scenes that other short videos of the item have, and Read reports that they were read for
	// the current attempt.
	Used []int `json:"used,omitempty"`
	Read bool  `json:"read,omitempty"`
}

// Excerpts reports whether the service chooses the scenes of another item that this one retells: for a short video, or
// a story that is a clip, of a longer video of which the caller names no scenes, and writes no script.
func (r Attempt) Excerpts(from *Record, w Options, reuse bool) bool {
	if len(from.Scenes) < 2 || from.Format == nil || from.DurationSeconds == nil || w.Script != "" || w.Scenes != nil {
		return false
	}
	format, long := "", *from.Format == FormatLong
	if r.Format != nil {
		format = *r.Format
	}
	shape := shapeOf(r.Kind, format, w.Model)
	wanted := lengths[shape].usual
	if w.DurationSeconds != nil {
		wanted = *w.DurationSeconds
	}
	switch {
	case wanted >= *from.DurationSeconds:
		return false
	case shape == "short video" && long, shape == "story clip" && long:
		return true
	}
	return r.Kind == Video && reuse && w.DurationSeconds != nil
}

// Excerptible returns the numbers of the scenes that can be chosen: all, or those that can be copied.
func (from Attempt) Excerptible(copies bool) (numbers []int) {
	for n := range from.Scenes {
		made := func(done result) bool { return done.Role == roleItem && done.Number == n+1 }
		if !copies || slices.ContainsFunc(from.Results, made) {
			numbers = append(numbers, n+1)
		}
	}
	return numbers
}

// planExcerpt plans the choice of the scenes anew for an attempt, if it is not made yet. Without copies, a writer
// retells them. A script of the caller needs no choice.
func (r Attempt) planExcerpt(w Options) {
	if r.Excerpt == nil {
		return
	}
	if w.Script != "" || w.Scenes != nil {
		r.Excerpt = nil
		return
	}
	r.Excerpt = &Excerpt{Numbers: r.Excerpt.Numbers}
	if w.Copies == nil {
		r.Given.Set(false, Script)
		r.Script, r.Scenes = "", []Scene{}
	}
}

// boundExcerpt sets the length of the choice, once that of the item is known. It returns validation_failed if copies of
// the scenes cannot have it.
func (r Attempt) boundExcerpt() error {
	if r.Excerpt == nil {
		return nil
	}
	r.Excerpt.Seconds = *r.DurationSeconds - r.around()
	if r.Copied && r.window(nil) == nil {
		return errs.Invalid("/duration_seconds", "is too short for the scenes of %s, of which the service chooses some: "+
			"allow more seconds, or name the scenes in from_parts", *r.FromContentItemID)
	}
	return nil
}

// took returns the seconds that scenes of the origin take together, by their indexes.
func (r prompter) took(indexes []int) int {
	var all []Scene
	for _, i := range indexes {
		all = append(all, Scene(r.Origin.Scenes[i]))
	}
	return spokenSeconds(scriptOf(all))
}

// leastExcerpt returns the least seconds of the chosen scenes: a writer can retell any.
func (r prompter) leastExcerpt() int {
	if r.Copied {
		return leastSpoken
	}
	return 1
}

// window returns the indexes of the scenes one after another that come nearest to the length, without those of some
// numbers. It returns nil if there are none.
func (r prompter) window(without []int) (best []int) {
	e := r.Excerpt
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
func (r prompter) usual() []int {
	for _, without := range [][]int{r.Excerpt.Used, nil} {
		if best := r.window(without); best != nil {
			return best
		}
	}
	shortest := 0
	for i := range r.Origin.Scenes {
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

// chosen returns the indexes of the scenes that an answer chooses, or its problems.
func (r prompter) chosen(answer json.RawMessage) (indexes []int, problems []string) {
	var a excerpt
	if json.Unmarshal(answer, &a) != nil || len(a.Scenes) == 0 {
		return nil, []string{`"scenes" must have the numbers of the chosen scenes`}
	}
	e := r.Excerpt
	avoids := r.window(e.Used) != nil
	for i, n := range a.Scenes {
		index := slices.Index(e.Numbers, n)
		switch {
		case index < 0:
			problems = append(problems, fmt.Sprintf("there is no scene %d", n))
		case slices.Contains(indexes, index):
			problems = append(problems, fmt.Sprintf("scene %d is there twice", n))
		case i > 1 && n < a.Scenes[i-1]:
			problems = append(problems, fmt.Sprintf("scene %d follows scene %d: after the first one, scenes keep their order",
				n, a.Scenes[i-1]))
		case avoids && slices.Contains(e.Used, n):
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
func (r prompter) excerptRequest() provider.Request {
	e := r.Excerpt
	told := prompt.Excerpting{Language: r.Origin.Language, Request: r.Prompt, Channel: r.Brief.Voice,
		Title: r.Origin.Title, Least: r.leastExcerpt(), Most: e.Seconds, Whole: r.Copied}
	for i, s := range r.Origin.Scenes {
		told.Scenes = append(told.Scenes, prompt.ExcerptScene{Number: e.Numbers[i], OriginScene: s,
			Seconds: math.Round(provider.SpokenLength(s.Text).Seconds()*10) / 10,
			Used:    !e.Read || slices.Contains(e.Used, e.Numbers[i])})
	}
	asked := told.Prompt()
	sample := excerpt{Idea: r.Origin.Title}
	for _, i := range r.usual() {
		sample.Scenes = append(sample.Scenes, e.Numbers[i])
	}
	answer, _ := json.Marshal(sample) // it has numbers and a text
	return provider.Request{Kind: provider.KindText, Prompt: asked.User, PromptVersion: asked.Version,
		Language: r.Language, Form: &provider.Form{System: asked.System, Tokens: prompt.ExcerptTokens, Sample: answer}}
}

var _ generate.Inspecting = (*work)(nil)

// Inspect implements generate.Inspecting: the chosen scenes must make a short video.
func (w *work) Inspect(n int, object json.RawMessage) (problems []string) {
	if n < len(w.Parts) && w.Parts[n].Role == roleExcerpt && w.Excerpt != nil {
		_, problems = w.chosen(object)
	}
	return problems
}

// excerptPart returns the number of the part that chooses the scenes, or -1.
func (p *Pipeline) excerptPart() int {
	return slices.IndexFunc(p.Parts, func(one part) bool { return one.Role == roleExcerpt })
}

// settle makes the item one of the chosen scenes, once they are chosen. If the answer of the model cannot be used, they
// are the best ones by their length.
func (r maker) settle(made []generate.Made) {
	part := r.excerptPart()
	if r.Excerpt == nil || part < 0 || part >= len(made) {
		return
	}
	indexes, problems := r.chosen(made[part].Object)
	if len(problems) == 0 {
		r.PartsVersion = prompt.Version(prompt.Excerpt)
	} else {
		indexes, r.PartsVersion = r.usual(), ""
	}
	takes := r.took(indexes)
	scenes, numbers := r.Origin.Scenes, r.Excerpt.Numbers
	o := *r.Origin
	o.Scenes, r.FromParts, r.Excerpt = nil, nil, nil
	for _, i := range indexes {
		o.Scenes, r.FromParts = append(o.Scenes, scenes[i]), append(r.FromParts, numbers[i])
	}
	r.Origin = &o
	if !r.Copied {
		return
	}
	length := takes + r.around()
	r.DurationSeconds = &length
	if r.Given.Has(Script) {
		r.Scenes = nil
		for _, s := range o.Scenes {
			r.Scenes = append(r.Scenes, Scene(s))
		}
		r.Script = scriptOf(r.Scenes)
	}
	r.Parts = slices.Clone(r.Parts)
	for n := range r.Parts {
		switch p := &r.Parts[n]; p.Role {
		case roleItem:
			p.Number = slices.Index(indexes, p.Number-1) + 1
		case roleScript, roleReview, roleRewrite:
			if p.Scenes > 0 {
				p.Scenes, p.Seconds = len(indexes), takes-pauses
			}
		case roleVoice:
			p.Seconds = takes - pauses
		}
	}
}

// leftOut reports whether a part is the copy of a scene that was not chosen.
func (r maker) leftOut(p part) bool {
	return r.Kind == Video && p.Role == roleItem && p.Copy != nil && p.Number == 0
}

// usedScenes returns the numbers of the scenes that other short videos of the same item have in the same language,
// among the newest items of the factory.
func usedScenes(ctx context.Context, db *store.DB, o tenant.Owner, r *Record) (used []int, err error) {
	page, err := db.List(ctx, store.Query{Index: store.ByParent, Partition: ParentPartition(o, r.FactoryID),
		OneOf: map[string][]string{"state": WrittenStates(), "kind": {string(Video), string(Story)}}, Limit: recalled})
	if err != nil {
		return nil, err
	}
	for _, it := range page.Items {
		other, err := Decode(&it)
		if err != nil {
			return nil, err
		}
		if other.ID != r.ID && other.origin() == r.origin() && sameLanguage(other.Language, r.Language) {
			used = append(used, other.FromParts...)
		}
	}
	slices.Sort(used)
	return slices.Compact(used), nil
}
