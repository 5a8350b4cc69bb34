package item

import (
	"slices"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/media"
)

// Art is what is seen in the media of an item, as the writer of its texts has described it.
type Art struct {
	// Style and Characters are shared by all pictures and clips.
	Style      string `json:"style,omitempty"`
	Characters string `json:"characters,omitempty"`
	// Pictures are the slides, or else the picture of the item.
	Pictures []provider.Picture `json:"pictures,omitempty"`
	Sound    string             `json:"sound,omitempty"`
	// Hook is the number of the chosen hook, from 1, and Hooks are all of them as they were written.
	Hook  int      `json:"hook,omitempty"`
	Hooks []string `json:"hooks,omitempty"`
}

// draw notes what a writer has described besides the texts.
func (r maker) draw(t provider.Text) {
	if len(t.Hooks) == 0 {
		return // the caller has written all texts
	}
	r.Art = Art{Style: t.Style, Characters: t.Characters, Pictures: t.Pictures, Sound: t.Sound,
		Hook: t.Hook, Hooks: t.Hooks}
	for _, s := range t.Slides {
		r.Art.Pictures = append(r.Art.Pictures, s.Picture)
	}
	r.Hooks = slices.Clone(t.Hooks)
	if n := t.Hook - 1; n > 0 && n < len(r.Hooks) {
		r.Hooks = slices.Insert(slices.Delete(r.Hooks, n, n+1), 0, t.Hooks[n])
	}
	r.PromptVersion = prompt.Version(tasks[r.Shape])
}

// texts returns the present texts of the item.
func (r prompter) texts() *provider.Text {
	t := r.Texts.written()
	t.Scenes, t.Style, t.Characters, t.Sound = r.spoken(), r.Art.Style, r.Art.Characters, r.Art.Sound
	t.Hook, t.Hooks = r.Art.Hook, r.Art.Hooks
	if len(r.Slides) == 0 {
		t.Pictures = r.Art.Pictures
	}
	for i, s := range r.Slides {
		slide := provider.Slide{Heading: s.Text, Body: s.Body}
		if i < len(r.Art.Pictures) {
			slide.Picture = r.Art.Pictures[i]
		}
		t.Slides = append(t.Slides, slide)
	}
	return t
}

// alt returns the alternative text of a picture of a slide, by its number, or of the only picture.
func (r maker) alt(f media.File, number int) string {
	if i := max(number-1, 0); f.Type == media.Image && r.Kind != Video && i < len(r.Art.Pictures) {
		return r.Art.Pictures[i].Alt
	}
	return ""
}

// describe sets the alternative texts of finished pictures.
func (r maker) describe(files []media.File) {
	n := 0
	for i := range files {
		if files[i].Type == media.Image && files[i].Role == media.Final {
			n++
			files[i].Alt = r.alt(files[i], n)
		}
	}
}
