package item

import (
	"slices"

	"github.com/content-automation/api/pkg/adapter/provider"
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
}

// results returns the results of the parts that were made, but for finished media.
func (r *Record) results(made []generate.Made) (all []result) {
	for n, m := range made {
		p := r.Parts[n]
		if p.Role == roleFinal || len(m.Files) == 0 && m.Text == nil {
			continue
		}
		one := result{Role: p.Role, Number: p.Number, Marks: m.Marks}
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
func (r *Record) keep(made []generate.Made) {
	done := r.results(made)
	if len(done) == 0 {
		return
	}
	_, parts := r.sort(made)
	for _, f := range parts {
		if !slices.ContainsFunc(r.shown(), func(known media.File) bool { return known.ID == f.ID }) {
			r.Kept = append(r.Kept, f)
		}
	}
	r.Kept = r.Kept[max(len(r.Kept)-maxKept, 0):]
	if r.GeneratedAt == nil {
		r.write(made)
		r.Results = done
	}
}

// shown returns the files that the item shows.
func (r *Record) shown() []media.File { return slices.Concat(r.Files, r.Kept) }
