package item

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/craft/source"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/ledger"
)

// Attempt is the current attempt at an item: its parts, its price, and what is known of them. A Planner plans it, a
// writer says what its models are asked, and a maker makes the item of their results.
type Attempt struct {
	// AcceptedAt is the time at which the attempt was accepted. Shape names what is made, Parts are its generations,
	// Credits is its price, and Ticket its accepted work.
	AcceptedAt time.Time       `json:"accepted"`
	Shape      string          `json:"shape"`
	Parts      []part          `json:"parts"`
	Credits    int64           `json:"credits,omitempty"`
	Ticket     generate.Ticket `json:"ticket,omitzero"`
	// Quote is the part of a quote that bounds the price, or nil.
	Quote   *ledger.QuoteShare `json:"quoted,omitempty"`
	Sandbox *Rehearsal         `json:"sandbox,omitempty"`
	// Articles are the articles that the writer may quote, in the order of their numbers, and Read reports that the
	// sources were read for the attempt.
	Articles    []source.Article `json:"told,omitempty"`
	SourcesRead bool             `json:"read,omitempty"`
	// Adapt are the platforms for which the text model words the texts.
	Adapt []string `json:"adapt,omitempty"`
	// Excerpt is the choice of its scenes, until it is made, or nil.
	Excerpt *Excerpt `json:"excerpt,omitempty"`
	// UsesCopies reports whether the attempt shows copies of its scenes or slides.
	UsesCopies bool `json:"copied,omitempty"`
	// Art describes what is seen, as the writer of its texts has written it.
	Art Art `json:"art,omitzero"`
	// ProductPhotos are the pictures that are photos of the product.
	ProductPhotos []shownPhoto `json:"shown,omitempty"`
	// Results are the parts of the last attempt that succeeded, or else the completed ones of the last attempt that has
	// any. An attempt that reuses parts takes them.
	Results []result `json:"results,omitempty"`
	// LeftoverFiles are the files of completed parts of attempts after the one that Files are of, which did not
	// succeed.
	LeftoverFiles []media.File `json:"kept,omitempty"`
}

// Finished reports whether nothing is left to be made of a new item.
func (a *Attempt) Finished() bool { return len(a.Parts) == 0 }

// madeBy returns the number of the part of a role, and of a slide or scene, and its file, or nil if there is none yet.
func (a *Attempt) madeBy(made []generate.PartResult, want role, number int) (n int, file *media.File) {
	for n, m := range made {
		if n < len(a.Parts) && a.Parts[n].Role == want && a.Parts[n].Number == number && len(m.Files) > 0 {
			return n, &m.Files[0]
		}
	}
	return 0, nil
}

// photo returns the photo in the place of a picture or clip, by its number, or nil if a model makes it.
func (a *Attempt) photo(number int) *media.File {
	for i := range a.ProductPhotos {
		if a.ProductPhotos[i].Number == number {
			return &a.ProductPhotos[i].File
		}
	}
	return nil
}

// excerptPart returns the number of the part that chooses the scenes, or -1.
func (a *Attempt) excerptPart() int {
	return slices.IndexFunc(a.Parts, func(one part) bool { return one.Role == roleExcerpt })
}

// textPart returns the number of the part that writes the texts, or -1.
func (a *Attempt) textPart() int {
	return slices.IndexFunc(a.Parts, func(one part) bool { return one.Role == roleText || one.Role == roleScript })
}

// Bound has the attempt cost at most what a quote says. The argument may be nil.
func (a *Attempt) Bound(q *ledger.QuoteShare) {
	if a.Quote = q; q != nil {
		a.Credits = min(a.Credits, q.Credits)
	}
}

// price returns the price of the parts together, without any quote.
func (a *Attempt) price() (credits int64) {
	for _, p := range a.Parts {
		credits += p.Price()
	}
	return credits
}

// PriceBasis describes what the price of the attempt is for, apart from texts: it changes with what is made, and not
// with the prices of the catalog, which may choose other models for the texts.
func (a *Attempt) PriceBasis() string {
	var all strings.Builder
	for _, p := range a.Parts {
		if p.Kind != provider.KindText {
			fmt.Fprintf(&all, "%s %s %d %d;", p.Role, p.Kind, p.Number, p.Seconds)
		}
	}
	return all.String()
}
