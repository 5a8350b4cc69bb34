package item

import (
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
)

// earlierResult returns the result of an earlier attempt for a step, or nil if the step must be taken: if there is no
// result, if it was made of something else, or if the caller requests another.
func (r *Planner) earlierResult(st step, w Options) *generate.PartResult {
	if !w.Reuse || st.role == roleMusic && w.Music == MusicGenerated ||
		st.role == roleCover && w.Cover == CoverGenerated {
		return nil
	}
	for _, done := range r.attempt.Results {
		switch {
		case st.kind == provider.KindText && (done.Role == roleText || done.Role == roleScript):
			return &generate.PartResult{Text: r.writer.texts()}
		case st.kind == provider.KindText, done.Role != st.role || done.Number != st.number,
			done.Of != r.writer.source(done.Role, done.Number):
			continue
		}
		for _, f := range r.record.allFiles() {
			if f.ID == done.FileID && f.Type == types[st.kind] {
				return &generate.PartResult{Files: []media.File{f}, Marks: done.Marks}
			}
		}
	}
	return nil
}

// CheckReuse refuses to reuse the parts of an item that has none, or whose texts were removed.
func (r *Planner) CheckReuse() error {
	switch {
	case len(r.attempt.Results) == 0:
		return errs.Invalid("/reuse", "needs the parts of an earlier attempt, and the item has none. Leave it out")
	case r.item.Title == "" || r.item.Caption == "":
		return errs.Invalid("/reuse", "needs a title and a caption, since no model writes them again. Set them with "+
			"PATCH /v1/content-items/{content_item_id}")
	}
	return nil
}

// checkCovered refuses a corrected script that takes longer than the clips that are reused can be shown.
func (r *Planner) checkCovered(w Options) error {
	if !w.Reuse || w.Script == "" && w.Scenes == nil {
		return nil
	}
	covers := time.Duration(0)
	for _, p := range r.attempt.Parts {
		switch {
		case p.Role != roleItem:
		case p.Kind != provider.KindVideo:
			return nil // pictures are shown as long as is needed
		case p.Reuse != nil:
			covers += coveredTime(seconds(p.Reuse.Files[0]))
		default:
			covers += coveredTime(time.Duration(p.Seconds) * time.Second)
		}
	}
	if takes := provider.SpokenLength(string(r.item.Script)); covers > 0 && takes+lead+tail > covers &&
		len(r.attempt.ProductPhotos) == 0 {
		return errs.Invalid(r.writer.scriptParam(),
			"takes about %d seconds to say, and the clips of the item can be shown "+
				"for %d. Shorten it, or leave reuse out", int(takes.Seconds()), int(covers.Seconds()))
	}
	return nil
}

// copyOf returns the part for a step that is a copy, or nil if the step must be taken.
func (r *Planner) copyOf(st step, w Options) *part {
	if w.Copies == nil || st.role == roleMusic && w.Music != "" || st.role == roleCover && w.Cover != "" {
		return nil
	}
	of := st.role
	if of == roleStill { // a clip that is copied starts from no picture
		of = roleItem
	}
	f, ok := w.Copies.parts[copyKey{of, st.number}]
	if !ok || st.role != roleStill && f.Type != types[st.kind] {
		return nil
	}
	p := r.partOf(st, catalog.Model{})
	p.Provider, p.FromStill, p.FromPhoto = generate.Composed, false, false
	p.Copy = &f
	return &p
}
