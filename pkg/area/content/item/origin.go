package item

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
)

// kindNames are the kinds in the prompts of writers.
var kindNames = map[Kind]string{Post: "a post", Carousel: "a carousel", Video: "a video", Story: "a story",
	MusicClip: "the post of a piece of music"}

// Retell bases the item on another item. If numbers is not nil, only those scenes or slides are used. The item keeps a
// copy of their texts, so that a later change or deletion of the other item has no effect. Retell returns invalid_state
// if the other item has no finished texts, and validation_failed for a number that it does not have.
func (r Attempt) Retell(from *Record, numbers []int) error {
	if !slices.Contains(writtenStates, from.State) || from.Caption == "" && from.Title == "" {
		e := errs.New(errs.InvalidState, "The content item %s has no finished texts. Wait until it is generated.", from.ID)
		e.Param = "/from_content_item_id"
		return e.With(errs.StateContext{State: string(from.State), Allowed: []string{}})
	}
	o := &prompt.Origin{Kind: string(from.Kind), Language: from.Language, Title: from.Title, Caption: from.Caption}
	count := max(len(from.Scenes), len(from.Slides))
	if r.FromParts = []int{}; numbers != nil && r.Excerpt == nil {
		r.FromParts = numbers
	}
	if numbers == nil {
		for n := range count {
			numbers = append(numbers, n+1)
		}
	}
	for i, n := range numbers {
		if n > count {
			return errs.Invalid(fmt.Sprintf("/from_parts/%d", i), "must be at most %d, the number of scenes or slides of "+
				"the content item", count)
		}
		if len(from.Scenes) > 0 {
			o.Scenes = append(o.Scenes, prompt.OriginScene(from.Scenes[n-1]))
		} else {
			o.Slides = append(o.Slides, prompt.OriginSlide{Heading: from.Slides[n-1].Text, Body: from.Slides[n-1].Body})
		}
	}
	r.FromContentItemID, r.Origin = &from.ID, o
	return nil
}

// retold are the rules for a text that retells another one.
func (r prompter) retold() (all []string) {
	if r.Origin == nil {
		return nil
	}
	all = append(all, fmt.Sprintf(`"from" is an earlier piece of the channel, and this one retells it as %s: keep its `+
		"message, facts, names and numbers, add none, and give them the form that this piece needs.", kindNames[r.Kind]))
	if !sameLanguage(r.Origin.Language, r.Language) {
		all = append(all, `"from" is in another language: write what a native speaker would say, not word by word.`)
	}
	if !r.Copied {
		return all
	}
	part := map[Kind]string{Video: "scene", Carousel: "slide"}[r.Kind]
	return append(all, fmt.Sprintf(`The pictures are there already: %[1]s n says what %[1]s n of "from" says, in no more `+
		"words, and shows what that one shows.", part))
}

// origin returns the id of the item that this one retells, or an empty text.
func (r *Record) origin() string {
	if r.FromContentItemID == nil {
		return ""
	}
	return *r.FromContentItemID
}

// Copies are the visible and audible parts of another item, of which copies are used.
type Copies struct {
	parts map[copied]media.File
	// Seconds is the length of a video of them.
	Seconds int
}

// numbered reports whether there are copies of scenes or slides.
func (c *Copies) numbered() bool {
	if c == nil {
		return false
	}
	for of := range c.parts {
		if of.number > 0 {
			return true
		}
	}
	return false
}

type copied struct {
	role   role
	number int
}

// CopiesOf returns the parts of an item for one of the same kind that shows its scenes or slides of some numbers; nil
// stands for all. It returns validation_failed if the item has no such parts.
func CopiesOf(from *Record, numbers []int) (*Copies, error) {
	c := &Copies{parts: map[copied]media.File{}}
	all := numbers == nil
	for _, done := range from.Results {
		number := done.Number
		if number > 0 && !all {
			number = slices.Index(numbers, number) + 1
		}
		switch {
		case done.Role == roleMusic && !all, done.Number > 0 && number == 0:
			continue
		case done.Role != roleItem && done.Role != roleCover && done.Role != roleMusic:
			continue
		}
		for _, f := range from.shown() {
			if f.ID != done.FileID {
				continue
			}
			c.parts[copied{done.Role, number}] = f
			if done.Role == roleItem && f.Type == media.Video {
				c.Seconds += int(f.DurationSeconds)
			}
		}
	}
	if c.Seconds == 0 && from.DurationSeconds != nil { // pictures are shown as long as is needed
		if c.Seconds = *from.DurationSeconds; !all {
			c.Seconds = c.Seconds * len(numbers) / max(len(from.Scenes), 1)
		}
	}
	if len(c.parts) == 0 {
		return nil, errs.Invalid("/reuse", "finds no pictures, clips or music of %s that were generated. Leave it out",
			from.ID)
	}
	return c, nil
}

// copied returns the part for a step that is a copy, or nil if the step must be taken.
func (r Attempt) copied(st step, w Options) *part {
	if w.Copies == nil || st.role == roleMusic && w.Music != "" || st.role == roleCover && w.Cover != "" {
		return nil
	}
	of := st.role
	if of == roleStill { // a clip that is copied starts from no picture
		of = roleItem
	}
	f, ok := w.Copies.parts[copied{of, st.number}]
	if !ok || st.role != roleStill && f.Type != types[st.kind] {
		return nil
	}
	p := r.partOf(st, catalog.Model{})
	p.Provider, p.FromStill, p.FromPhoto = generate.Composed, false, false
	p.Copy = &f
	return &p
}

// originFacts returns the texts of the origin, which the item may state.
func originFacts(o *prompt.Origin) []string {
	if o == nil {
		return nil
	}
	data, _ := json.Marshal(o) // it has texts only
	return []string{string(data)}
}

// PlanCopies is Plan for an item that retells another one of its kind with copies of its parts. In the same language,
// the scenes keep their words.
func (r Attempt) PlanCopies(offer catalog.Offer, w Options, live bool) error {
	var scenes []Scene
	for _, s := range r.Origin.Scenes {
		scenes = append(scenes, Scene(s))
	}
	if _, ok := w.Copies.parts[copied{role: roleMusic}]; ok && w.Music == "" {
		generated := MusicGenerated
		r.Music = &generated
	}
	switch own := w.Script != "" || w.Scenes != nil; {
	case r.Excerpt != nil:
		r.Scenes, r.Script = scenes, scriptOf(scenes)
		r.Given.Set(sameLanguage(r.Origin.Language, r.Language), Script)
	case r.Kind == MusicClip:
		w.DurationSeconds = &w.Copies.Seconds
	case r.Kind != Video || own:
	case sameLanguage(r.Origin.Language, r.Language):
		w.Scenes = scenes
	default:
		w.DurationSeconds, r.Scenes = &w.Copies.Seconds, scenes
	}
	err := r.Plan(offer, w, live)
	if !r.Given.Has(Script) || r.Excerpt != nil {
		r.Scenes = []Scene{} // they are written, or chosen
	}
	if r.Excerpt != nil {
		r.Script = ""
	}
	return err
}
