package item

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
)

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

// source returns what a part is made of, as far as a caller can correct it: the voice speaks the script, and a picture
// or clip of a video shows what its scene describes. The text in other finished media is not part of their pictures.
func (r prompter) source(of role, number int) string {
	text := ""
	switch {
	case of == roleVoice:
		text = scriptOf(r.Scenes)
	case r.Kind == Video && (of == roleItem || of == roleStill) && number <= len(r.Scenes):
		text = r.Scenes[number-1].Visual
	}
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// types are the types of the files of parts that can be reused.
var types = map[provider.Kind]media.Type{provider.KindImage: media.Image, provider.KindVideo: media.Video,
	provider.KindVoice: media.Audio, provider.KindMusic: media.Audio}

// reused returns the result of an earlier attempt for a step, or nil if the step must be taken: if there is no result,
// if it was made of something else, or if the caller requests another one.
func (r Attempt) reused(st step, w Options) *generate.Made {
	if !w.Reuse || st.role == roleMusic && w.Music == MusicGenerated ||
		st.role == roleCover && w.Cover == CoverGenerated {
		return nil
	}
	for _, done := range r.Results {
		switch {
		case st.kind == provider.KindText && (done.Role == roleText || done.Role == roleScript):
			return &generate.Made{Text: r.texts()}
		case st.kind == provider.KindText, done.Role != st.role || done.Number != st.number,
			done.Of != r.source(done.Role, done.Number):
			continue
		}
		for _, f := range r.shown() {
			if f.ID == done.FileID && f.Type == types[st.kind] {
				return &generate.Made{Files: []media.File{f}, Marks: done.Marks}
			}
		}
	}
	return nil
}

// CheckReuse refuses to reuse the parts of an item that has none, or whose texts were removed.
func (r Attempt) CheckReuse() error {
	switch {
	case len(r.Results) == 0:
		return errs.Invalid("/reuse", "needs the parts of an earlier attempt, and the item has none. Leave it out")
	case r.Title == "" || r.Caption == "":
		return errs.Invalid("/reuse", "needs a title and a caption, since no model writes them again. Set them with "+
			"PATCH /v1/content-items/{content_item_id}")
	}
	return nil
}

// checkCovered refuses a corrected script that takes longer than the clips that are reused can be shown.
func (r Attempt) checkCovered(w Options) error {
	if !w.Reuse || w.Script == "" && w.Scenes == nil {
		return nil
	}
	covers := time.Duration(0)
	for _, p := range r.Parts {
		switch {
		case p.Role != roleItem:
		case p.Kind != provider.KindVideo:
			return nil // pictures are shown as long as is needed
		case p.Reuse != nil:
			covers += covered(seconds(p.Reuse.Files[0]))
		default:
			covers += covered(time.Duration(p.Seconds) * time.Second)
		}
	}
	if takes := provider.SpokenLength(r.Script); covers > 0 && takes+lead+tail > covers && len(r.Shown) == 0 {
		return errs.Invalid(r.scriptParam(), "takes about %d seconds to say, and the clips of the item can be shown "+
			"for %d. Shorten it, or leave reuse out", int(takes.Seconds()), int(covers.Seconds()))
	}
	return nil
}

// InMedia reports whether the title is part of the finished media.
func (r *Record) InMedia() bool { return r.Kind == Story || r.Kind == MusicClip }

// results returns the results of the parts that were made, but for finished media.
func (r maker) results(made []generate.Made) (all []result) {
	for n, m := range made {
		p := r.Parts[n]
		if p.Role == roleFinal || p.Role == roleRewrite || len(m.Files) == 0 && m.Text == nil {
			continue
		}
		one := result{Role: p.Role, Number: p.Number, Marks: m.Marks, Of: r.source(p.Role, p.Number)}
		if len(m.Files) > 0 {
			one.FileID = m.Files[0].ID
		}
		all = append(all, one)
	}
	return all
}

// maxKept bounds the files of attempts that did not succeed.
const maxKept = 50

// keep shows the completed parts of an attempt that did not succeed. If none has succeeded before, the item has their
// texts, too, and the next attempt may reuse them.
func (r maker) keep(made []generate.Made) {
	if len(r.results(made)) == 0 {
		return
	}
	r.settle(made)
	_, parts := r.sort(made)
	for _, f := range parts {
		if !slices.ContainsFunc(r.shown(), func(known media.File) bool { return known.ID == f.ID }) {
			r.Kept = append(r.Kept, f)
		}
	}
	r.Kept = r.Kept[max(len(r.Kept)-maxKept, 0):]
	if r.GeneratedAt == nil {
		r.write(made)
		r.Results = r.results(made)
	}
}

// shown returns the files that the item shows.
func (r *Record) shown() []media.File { return slices.Concat(r.Files, r.Kept) }
