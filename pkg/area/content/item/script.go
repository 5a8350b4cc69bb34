package item

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// leastSpoken is the shortest video of a caller's script, in seconds.
const leastSpoken = 5

// checkScript refuses a script that does not fit the kind.
func (o Options) checkScript(kind Kind) error {
	var found []error
	if o.Script != "" && kind != Video && kind != MusicClip {
		found = append(found, errs.Invalid("/script", "is for the kinds video and music_clip only"))
	}
	switch {
	case o.Scenes == nil:
	case kind != Video:
		found = append(found, errs.Invalid("/scenes", "are for kind video only"))
	case o.Script != "":
		found = append(found, errs.Invalid("/scenes", "are the script in scenes: leave one of the two out"))
	}
	if o.DurationSeconds != nil && kind == Video && (o.Script != "" || o.Scenes != nil) {
		found = append(found, errs.Invalid("/duration_seconds", "follows from the script. Leave it out"))
	}
	return errs.All(found...)
}

// takeScript sets the script of the caller, and the length of a video that it determines.
func (r Attempt) takeScript(o Options) error {
	before := r.Scenes
	switch {
	case o.Script != "" && r.Kind == MusicClip:
		r.Given.Set(true, Script)
		r.Script = strings.TrimSpace(o.Script)
	case o.Script != "":
		r.Given.Set(true, Script)
		r.Given.Undivided, r.Script = true, oneLine(o.Script)
		r.Scenes = []Scene{{Text: r.Script}} // they are divided when the length of the clips is known
		if o.Reuse && len(before) > 0 {
			if r.Scenes = redivided(before, r.Script); r.Scenes == nil {
				return errs.Invalid("/script", "must have a word for each of the %d scenes of the item", len(before))
			}
		}
	case o.Scenes != nil:
		if o.Reuse && len(before) > 0 && len(o.Scenes) != len(before) {
			return errs.Invalid("/scenes", "must be %d, as the item has, so that its clips and pictures can be used again",
				len(before))
		}
		r.Given.Set(true, Script)
		r.Given.Undivided, r.Scenes = false, nil
		for i, s := range o.Scenes {
			s = Scene{oneLine(s.Text), oneLine(s.Visual), oneLine(s.OnScreen)}
			if s.Visual == "" && o.Reuse && len(before) > 0 {
				s.Visual = before[i].Visual
			}
			r.Scenes = append(r.Scenes, s)
		}
		r.Script = scriptOf(r.Scenes)
	}
	if !r.Given.Has(Script) || r.Kind != Video {
		return nil
	}
	if r.Excerpt != nil {
		return nil
	}
	if o.DurationSeconds != nil {
		return errs.Invalid("/duration_seconds", "follows from the script of the item. Leave it out")
	}
	spoken := spokenSeconds(r.Script)
	length := spoken + r.around()
	if o.Reuse && r.DurationSeconds != nil &&
		length <= max(*r.DurationSeconds, spokenSeconds(scriptOf(before))+r.around()) {
		return nil // a correction that takes no longer keeps the length
	}
	if bounds := lengths[r.Shape]; spoken < leastSpoken || length > bounds.most {
		with := ""
		if r.bumpers() > 0 {
			with = fmt.Sprintf(", and the intro and the outro of the factory take %.1f", r.bumpers().Seconds())
		}
		return errs.Invalid(r.scriptParam(), "takes about %d seconds to say. A %s is %d to %d seconds long%s", spoken,
			r.Shape, leastSpoken, bounds.most, with)
	}
	r.DurationSeconds = &length
	return nil
}

// spokenSeconds estimates the length of a video of a script.
func spokenSeconds(script string) int {
	return int(provider.SpokenLength(script).Round(time.Second)/time.Second) + pauses
}

// scriptParam returns the member that has the caller's script.
func (r prompter) scriptParam() string {
	if r.Given.Undivided || r.Kind == MusicClip {
		return "/script"
	}
	return "/scenes"
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func scriptOf(scenes []Scene) string {
	texts := make([]string, len(scenes))
	for i, s := range scenes {
		texts[i] = s.Text
	}
	return strings.Join(texts, " ")
}

// spoken returns the scenes as a text model writes them.
func (r prompter) spoken() []provider.Scene {
	var all []provider.Scene
	for _, s := range r.Scenes {
		all = append(all, provider.Scene(s))
	}
	return all
}

// complete reports whether the caller wrote all texts, so that no model writes any.
func (r Attempt) complete() bool {
	return r.Given.Has(Script, Title, Caption, Hashtags)
}

// words returns the texts of the item: those that were made, and the script of the caller.
func (r prompter) words(made []generate.Made) provider.Text {
	t := written(made)
	if r.Given.Has(Script) && r.Kind == Video {
		t.Scenes = r.spoken()
	}
	if t.Title == "" {
		t.Title = r.Title
	}
	return t
}

// sentenceEnds are the signs at which a script is preferably divided.
const sentenceEnds = ".!?…。！？؟।"

// divided divides a script into scenes that each take about the given time to say: at the ends of sentences, or of
// words in sentences that take longer than most.
func divided(script string, each, most time.Duration) (scenes []Scene) {
	text := ""
	flush := func() {
		if text != "" {
			scenes, text = append(scenes, Scene{Text: text}), ""
		}
	}
	for _, sentence := range sentencesOf(script) {
		if text != "" && provider.SpokenLength(text+" "+sentence) > each {
			flush()
		}
		for provider.SpokenLength(sentence) > most {
			flush()
			n := int(provider.SpokenLength(sentence)/most) + 1
			cut := provider.Clip(sentence, len([]rune(sentence))/n)
			for provider.SpokenLength(cut) > most {
				cut = provider.Clip(cut, len([]rune(cut))-1)
			}
			scenes, sentence = append(scenes, Scene{Text: cut}), strings.TrimSpace(strings.TrimPrefix(sentence, cut))
		}
		text = sentences(" ", text, sentence)
	}
	flush()
	return scenes
}

// sentencesOf returns the sentences of a text in one line.
func sentencesOf(text string) (all []string) {
	from := 0
	for i, r := range text {
		next := i + len(string(r))
		if strings.ContainsRune(sentenceEnds, r) && (next == len(text) || text[next] == ' ' || r > 0x7f) {
			all, from = append(all, strings.TrimSpace(text[from:next])), next
		}
	}
	return slices.DeleteFunc(append(all, strings.TrimSpace(text[from:])), func(s string) bool { return s == "" })
}

// redivided divides a corrected script into the scenes that an item has: each ends at the word that is nearest to the
// former end, measured from the beginning of the script up to its first change, and from its end after that. It returns
// nil if there are too few words.
func redivided(before []Scene, script string) []Scene {
	old := scriptOf(before)
	same := 0
	for same < min(len(old), len(script)) && old[same] == script[same] {
		same++
	}
	ends := wordEnds(script)
	if len(ends) < len(before) {
		return nil
	}
	scenes, from, at := make([]Scene, len(before)), 0, 0
	for i, s := range before {
		at += len(s.Text)
		want := at
		if at > same {
			want = len(script) - (len(old) - at)
		}
		at++
		// Each later scene needs a word.
		rest := ends[:len(ends)-(len(before)-1-i)]
		rest = rest[slices.IndexFunc(rest, func(end int) bool { return end > from }):]
		end := rest[0]
		for _, candidate := range rest {
			if abs(candidate-want) < abs(end-want) {
				end = candidate
			}
		}
		if i == len(before)-1 {
			end = len(script)
		}
		scenes[i] = Scene{strings.TrimSpace(script[from:end]), s.Visual, s.OnScreen}
		from = end
	}
	return scenes
}

func abs(n int) int { return max(n, -n) }

// wordEnds returns the offsets at which words end, or characters in scripts without spaces.
func wordEnds(script string) (ends []int) {
	for i, r := range script {
		if i > 0 && breaks(r) {
			ends = append(ends, i)
		}
	}
	return append(ends, len(script))
}

// divideGiven divides the caller's script for a model of clips or pictures. It returns the length of the clip of each
// scene, which is 0 for pictures.
func (r Attempt) divideGiven(lead step, m catalog.Model, reuse bool) (clips []int, err error) {
	plays := lead.kind == provider.KindVideo
	longest := anyLength
	if plays {
		longest = covered(time.Duration(m.Length(int(anyLength/time.Second))) * time.Second)
	}
	if r.Given.Undivided && !(reuse && len(r.Results) > 0) {
		each := time.Duration(lead.seconds) * time.Second
		if plays {
			each = time.Duration(m.Length(lead.seconds)) * time.Second
		}
		r.Scenes = divided(r.Script, each, min(longest, 2*each))
	}
	clips = make([]int, len(r.Scenes))
	for i, s := range r.Scenes {
		takes := provider.SpokenLength(s.Text)
		if !plays {
			continue
		}
		if clips[i] = m.Length(int((takes + time.Second - 1) / time.Second)); takes > longest && !reuse {
			return nil, errs.Invalid(fmt.Sprintf("/scenes/%d/text", i),
				"takes about %d seconds to say, and a clip of %s covers at most %d. Divide the scene", int(takes.Seconds()),
				m.ID, int(longest.Seconds()))
		}
	}
	return clips, nil
}
