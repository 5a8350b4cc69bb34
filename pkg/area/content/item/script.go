package item

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/resource"
)

// takeScript sets the script of the caller, and the length of a video that it determines.
func (r *Planner) takeScript(o Options) error {
	before := r.item.Scenes
	switch {
	case o.Script != "" && r.item.Kind == MusicClip:
		r.callerTexts.Set(true, Script)
		r.item.Script = resource.Text(strings.TrimSpace(o.Script))
	case o.Script != "":
		r.callerTexts.Set(true, Script)
		r.callerTexts.NoScenes, r.item.Script = true, resource.Text(oneLine(o.Script))
		r.item.Scenes = []Scene{{Text: string(r.item.Script)}} // they are divided when the length of the clips is known
		if o.Reuse && len(before) > 0 {
			if r.item.Scenes = redivide(before, string(r.item.Script)); r.item.Scenes == nil {
				return errs.Invalid("/script", "must have a word for each of the %d scenes of the item", len(before))
			}
		}
	case o.Scenes != nil:
		if o.Reuse && len(before) > 0 && len(o.Scenes) != len(before) {
			return errs.Invalid("/scenes", "must be %d, as the item has, so that its clips and pictures can be used "+
				"again",
				len(before))
		}
		r.callerTexts.Set(true, Script)
		r.callerTexts.NoScenes, r.item.Scenes = false, nil
		for i, s := range o.Scenes {
			s = Scene{oneLine(s.Text), resource.Text(oneLine(string(s.Visual))),
				resource.Text(oneLine(string(s.OnScreen)))}
			if s.Visual == "" && o.Reuse && len(before) > 0 {
				s.Visual = before[i].Visual
			}
			r.item.Scenes = append(r.item.Scenes, s)
		}
		r.item.Script = resource.Text(scriptOf(r.item.Scenes))
	}
	if !r.callerTexts.Has(Script) || r.item.Kind != Video {
		return nil
	}
	if r.attempt.Excerpt != nil {
		return nil
	}
	if o.DurationSeconds != nil {
		return errs.Invalid("/duration_seconds", "follows from the script of the item. Leave it out")
	}
	spoken := spokenSeconds(string(r.item.Script))
	length := spoken + r.writer.around()
	if o.Reuse && r.item.DurationSeconds != nil &&
		length <= max(*r.item.DurationSeconds, spokenSeconds(scriptOf(before))+r.writer.around()) {
		return nil // a correction that takes no longer keeps the length
	}
	if bounds := lengths[r.attempt.Shape]; spoken < leastSpoken || length > bounds.most {
		with := ""
		if r.writer.bumpers() > 0 {
			with = fmt.Sprintf(", and the intro and the outro of the factory take %.1f", r.writer.bumpers().Seconds())
		}
		return errs.Invalid(r.writer.scriptParam(), "takes about %d seconds to say. A %s is %d to %d seconds long%s",
			spoken,
			r.attempt.Shape, leastSpoken, bounds.most, with)
	}
	r.item.DurationSeconds = &length
	return nil
}

// complete reports whether the caller wrote all texts, so that no model writes any.
func (r *Planner) complete() bool {
	return r.callerTexts.Has(Script, Title, Caption, Hashtags)
}

// divide divides a script into scenes that each take about the given time to say: at the ends of sentences, or of
// words in sentences that take longer than most.
func divide(script string, each, most time.Duration) (scenes []Scene) {
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

// redivide divides a corrected script into the scenes that an item has: each ends at the word that is nearest to the
// former end, measured from the beginning of the script up to its first change, and from its end after that. It returns
// nil if there are too few words.
func redivide(before []Scene, script string) []Scene {
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

// divide divides a video into scenes, so that a clip of the model or a picture covers
// each, and sets the length of the clips. It returns the length of the clip of each scene.
func (r *Planner) divide(lead *step, m catalog.Model, reuse bool) (clips []int, err error) {
	if r.callerTexts.Has(Script) {
		if clips, err = r.divideGiven(*lead, m, reuse); err == nil {
			lead.seconds = slices.Max(clips)
		}
		return clips, err
	}
	each := lead.seconds
	if lead.kind == provider.KindVideo {
		each = m.Length(each)
	}
	all := *r.item.DurationSeconds - r.writer.around()
	n := (all + each - 1) / each
	lead.seconds = (all + n - 1) / n
	if reuse && len(r.item.Scenes) > 0 {
		n = len(r.item.Scenes)
	}
	return slices.Repeat([]int{lead.seconds}, n), nil
}

// divideGiven divides the caller's script for a model of clips or pictures. It returns the length of the clip of each
// scene, which is 0 for pictures.
func (r *Planner) divideGiven(lead step, m catalog.Model, reuse bool) (clips []int, err error) {
	plays := lead.kind == provider.KindVideo
	longest := anyLength
	if plays {
		longest = coveredTime(time.Duration(m.Length(int(anyLength/time.Second))) * time.Second)
	}
	if r.callerTexts.NoScenes && !(reuse && len(r.attempt.Results) > 0) {
		each := time.Duration(lead.seconds) * time.Second
		if plays {
			each = time.Duration(m.Length(lead.seconds)) * time.Second
		}
		r.item.Scenes = divide(string(r.item.Script), each, min(longest, 2*each))
	}
	clips = make([]int, len(r.item.Scenes))
	for i, s := range r.item.Scenes {
		takes := provider.SpokenLength(s.Text)
		if !plays {
			continue
		}
		if clips[i] = m.Length(int((takes + time.Second - 1) / time.Second)); takes > longest && !reuse {
			return nil, errs.Invalid(fmt.Sprintf("/scenes/%d/text", i),
				"takes about %d seconds to say, and a clip of %s covers at most %d. Divide the scene",
				int(takes.Seconds()), m.ID, int(longest.Seconds()))
		}
	}
	return clips, nil
}

// take sets the options, and defaults for those that have no value yet.
func (r *Planner) take(o Options) error {
	format := ""
	if r.item.Format != nil {
		format = *r.item.Format
	}
	if err := o.Check(r.item.Kind, format); err != nil {
		return err
	}
	r.attempt.Shape = shapeOf(r.item.Kind, format, o.Model)
	if err := r.takeScript(o); err != nil {
		return err
	}
	_, plays := lengths[r.attempt.Shape]
	switch {
	case !plays:
		r.item.DurationSeconds = nil
	case o.DurationSeconds != nil:
		r.item.DurationSeconds = o.DurationSeconds
	case r.item.DurationSeconds == nil:
		usual := r.usualLength()
		r.item.DurationSeconds = &usual
	}
	if err := r.checkBumpers(); err != nil {
		return err
	}
	if r.item.Kind == Video {
		set(&r.item.Visuals, o.Visuals, VisualsClips)
		if set(&r.item.Music, o.Music, MusicNone); o.Music != "" {
			r.record.Track = o.Track
		}
	}
	if r.item.Kind == MusicClip {
		if set(&r.item.Cover, o.Cover, CoverGenerated); o.Cover != "" {
			r.record.OwnCover = o.OwnCover
		}
	}
	return r.record.CheckTexts()
}

// usualLength returns the default length of the shape: longer if its intro and outro take more than half of it.
func (r *Planner) usualLength() int {
	bounds := lengths[r.attempt.Shape]
	return min(max(bounds.usual, 2*r.writer.around()), bounds.most)
}

// checkBumpers refuses a length of which the intro and the outro take more than half.
func (r *Planner) checkBumpers() error {
	takes := r.writer.bumpers()
	if takes == 0 || takes <= r.writer.between() {
		return nil
	}
	about := fmt.Sprintf("the intro and the outro of the factory take %.1f seconds, and may take half of the %s at "+
		"most",
		takes.Seconds(), cmp.Or(map[string]string{"story clip": "story"}[r.attempt.Shape], "video"))
	switch most := lengths[r.attempt.Shape].most; {
	case r.callerTexts.Has(Script) && r.item.Kind == Video && r.attempt.Excerpt == nil:
		return errs.Invalid(r.writer.scriptParam(),
			"takes about %d seconds to say; %s. Write more, or shorten them in the "+
				"settings of the factory", *r.item.DurationSeconds-r.writer.around(), about)
	case 2*r.writer.around() > most:
		return errs.Invalid("/factory_id", "names a factory that cannot make a %s: %s, which is %d seconds long at "+
			"most. Shorten them in its settings", r.attempt.Shape, about, most)
	default:
		return errs.Invalid("/duration_seconds", "must be at least %d: %s", 2*r.writer.around(), about)
	}
}

// planExcerpt plans the choice of the scenes anew for an attempt, if it is not made yet. Without copies, a writer
// retells them. A script of the caller needs no choice.
func (r *Planner) planExcerpt(w Options) {
	if r.attempt.Excerpt == nil {
		return
	}
	if w.Script != "" || w.Scenes != nil {
		r.attempt.Excerpt = nil
		return
	}
	r.attempt.Excerpt = &Excerpt{Numbers: r.attempt.Excerpt.Numbers}
	if w.Copies == nil {
		r.callerTexts.Set(false, Script)
		r.item.Script, r.item.Scenes = "", []Scene{}
	}
}

// boundExcerpt sets the length of the choice, once that of the item is known. It returns validation_failed if copies of
// the scenes cannot have it.
func (r *Planner) boundExcerpt() error {
	if r.attempt.Excerpt == nil {
		return nil
	}
	r.attempt.Excerpt.Seconds = *r.item.DurationSeconds - r.writer.around()
	if r.attempt.UsesCopies && r.writer.window(nil) == nil {
		return errs.Invalid("/duration_seconds", "is too short for the scenes of %s, of which the service chooses "+
			"some: allow more seconds, or name the scenes in from_parts", *r.item.FromContentItemID)
	}
	return nil
}
