package item

import (
	"slices"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
)

// role is the purpose of a part of a pipeline.
type role string

const (
	roleText   role = "text"   // the texts of the item
	roleScript role = "script" // the same, and the spoken text
	roleVoice  role = "voice"
	roleMusic  role = "music" // the music under the voice
	roleStill  role = "still" // the picture that a clip starts from, if its model needs one
	roleCover  role = "cover"
	// The file of the item's model; of videos and carousels, one for each scene and slide.
	roleItem  role = "item"
	roleFinal role = "final" // finished media of all other parts
)

// roleAdapt is the part that words the texts of the item anew for platforms.
const roleAdapt role = "adapt"

// roleExcerpt is the part that chooses the scenes of a long video for a short one.
const roleExcerpt role = "excerpt"

// The questions about the texts of an item after the first draft: for another draft from another first line, which of
// the two is better, for a second look at it, for a text without the problems that were found, and whether that is
// better. A comparison is asked in both orders. Names are stored: none is used for something else.
const (
	askSecond      = "second"
	askChoose      = "choose"
	askChooseBack  = "choose_back"
	askReview      = "review"
	askRewrite     = "rewrite"
	askCompare     = "compare"
	askCompareBack = "compare_back"
)

// part is one generation of an item, as planned when the item was accepted.
type part struct {
	generate.Part
	Role  role   `json:"role"`
	Ratio string `json:"ratio,omitempty"`
	// Seconds is the length of the file, or the greatest length of a script or voice.
	Seconds int `json:"seconds,omitempty"`
	// Number is the number of the slide or scene, from 1. It is 0 for other parts.
	Number int `json:"number,omitempty"`
	// Scenes is the number of scenes in the script.
	Scenes int `json:"scenes,omitempty"`
	// Voice is the provider's id of the voice. If it is empty, the model decides.
	Voice string `json:"voice,omitempty"`
	// FromStill marks a clip that starts from the picture made before it.
	FromStill bool `json:"from_still,omitempty"`
	// FromPhoto marks a picture whose model is shown the photo of the product.
	FromPhoto bool `json:"from_photo,omitempty"`
}

// setCredits sets the price of call i.
func (p *part) setCredits(i int, credits int64) {
	if i == 0 {
		p.Credits = credits
		return
	}
	p.Further = slices.Clone(p.Further)
	p.Further[i-1].Credits = credits
}

// fileRole returns the role of the files that the part makes. Finished media have theirs.
func (p part) fileRole(kind Kind) media.Role {
	switch {
	case p.Role == roleVoice:
		return media.Narration
	case p.Role == roleCover:
		return media.Cover
	case p.Kind == provider.KindMusic:
		return media.Track
	case p.Kind == provider.KindVideo:
		return media.Clip
	case kind == Carousel:
		return media.Slide
	}
	return media.Still
}

// result is a part that was made: its texts are the item's, and its file is one of the item's.
type result struct {
	Role   role `json:"role"`
	Number int  `json:"number,omitempty"`
	// FileID is the id of its file, empty for texts.
	FileID string          `json:"file_id,omitempty"`
	Marks  []provider.Mark `json:"marks,omitempty"`
	// Of identifies what it was made of, as far as a caller can correct it.
	Of string `json:"of,omitempty"`
}

// shownPhoto is a photo of the product in the place of a picture or clip that a model would make.
type shownPhoto struct {
	// Number is the number of the slide or scene, from 1. It is 1 if there is only one.
	Number int        `json:"number"`
	File   media.File `json:"file"`
}

// Excerpt is the choice of scenes of the origin, until it is made.
type Excerpt struct {
	// Numbers are the numbers of the scenes in the original item, in the order of Record.Origin.Scenes.
	Numbers []int `json:"numbers"`
	// Seconds bounds the chosen scenes together.
	Seconds int `json:"seconds"`
	// UsedScenes are the numbers of scenes that other short videos of the item have, and Read reports that they were
	// read for the current attempt.
	UsedScenes []int `json:"used,omitempty"`
	ScenesRead bool  `json:"read,omitempty"`
}

// Art is what is seen in the media of an item, as the writer of its texts has described it.
type Art struct {
	// Style and Characters are shared by all pictures and clips.
	Style      string `json:"style,omitempty"`
	Characters string `json:"characters,omitempty"`
	// Pictures are the slides, or else the picture of the item.
	Pictures []provider.Picture `json:"pictures,omitempty"`
	Sound    string             `json:"sound,omitempty"`
	// Hook is the number of the chosen hook, from 1, and Hooks are all of them as they were written. HookKinds are
	// their kinds, if the writer has named them.
	Hook      int      `json:"hook,omitempty"`
	Hooks     []string `json:"hooks,omitempty"`
	HookKinds []string `json:"hook_kinds,omitempty"`
}
