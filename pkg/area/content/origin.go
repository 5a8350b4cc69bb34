package content

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/resource"
)

// origins reads the items that bodies retell, by their ids.
func (s *Service) origins(ctx context.Context, o tenant.Owner, bodies []createBody) (map[string]*item.Record, error) {
	var ids []string
	for _, b := range bodies {
		if id.Valid(id.ContentItem, b.From) && !slices.Contains(ids, b.From) {
			ids = append(ids, b.From)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	found, _, err := resource.FindAll(ctx, s.db, id.ContentItem, ids)
	if err != nil {
		return nil, err
	}
	all := map[string]*item.Record{}
	for itemID, it := range found {
		if !o.Sees(it.Owner) {
			continue
		}
		r, err := item.Decode(&it)
		if err != nil {
			return nil, err
		}
		all[itemID] = r
	}
	return all, nil
}

// derived returns a body with the defaults of the item that it retells.
func (a *references) derived(b createBody) createBody {
	from := a.origins[b.From]
	if from == nil {
		return b
	}
	b.Prompt, b.Language = string(cmp.Or(resource.Text(b.Prompt), resource.Text(from.Item.Prompt), from.Item.Title,
		from.Item.Caption)), cmp.Or(b.Language, from.Item.Language)
	if from.Item.ProductID != nil && from.Item.FactoryID == b.FactoryID && b.ProductID == "" {
		if p := a.products[*from.Item.ProductID]; a.products == nil || p != nil && p.State != product.Archived {
			b.ProductID = *from.Item.ProductID
		}
	}
	if b.Kind != item.Video || from.Item.Kind != item.Video {
		return b
	}
	if b.Format == "" && from.Item.Format != nil {
		b.Format = *from.Item.Format
	}
	if b.Reuse && b.Visuals == "" && from.Item.Visuals != nil {
		b.Visuals = *from.Item.Visuals
	}
	return b
}

// retell makes an item retell the one that its body names.
func (a *references) retell(b *createBody, r *item.Record) error {
	if b.From == "" {
		return nil
	}
	from := a.origins[b.From]
	if from == nil {
		e := errs.Missing("content item", b.From)
		e.Param = "/from_content_item_id"
		return e
	}
	numbers := b.numbers()
	if numbers == nil && item.PlannerOf(r).Excerpts(from, b.choices(), b.Reuse) {
		numbers = item.PlannerOf(from).Excerptible(b.Reuse)
		r.Attempt.Excerpt = &item.Excerpt{Numbers: numbers}
	}
	return item.PlannerOf(r).Retell(from, numbers)
}

// numbers returns the numbers of the parts to retell, or nil for all.
func (b *createBody) numbers() (all []int) {
	for _, n := range b.Parts {
		all = append(all, int(n))
	}
	return all
}

// planCopies plans an item of copies of the parts of another.
func (a *references) planCopies(b *createBody, r *item.Record, w item.Options, offer catalog.Offer, live bool) error {
	from := a.origins[b.From]
	if from.Item.Kind != r.Item.Kind {
		return errs.Invalid("/reuse", "needs an item of the same kind, and %s is a %s. Leave it out", from.Item.ID,
			from.Item.Kind)
	}
	if r.Item.Kind == item.Video && from.Item.Visuals != nil && *from.Item.Visuals != b.Visuals {
		return errs.Invalid("/visuals", "must be %s with reuse, as they are in %s", *from.Item.Visuals, from.Item.ID)
	}
	if n := len(r.Origin.Slides); r.Item.Kind == item.Carousel && b.Slides == nil {
		if n < 2 {
			return errs.Invalid("/from_parts", "must be at least 2 slides for a carousel")
		}
		r.Item.Slides = nil
		setSlides(r, make([]slideBody, n))
	}
	numbers := b.numbers()
	switch {
	case r.Attempt.Excerpt != nil:
		numbers = r.Attempt.Excerpt.Numbers
	case b.DurationSeconds != nil && len(from.Item.Scenes) > 1 && b.Parts == nil:
		return errs.Invalid("/duration_seconds", "must be less than %d with reuse, the length of %s, of which the "+
			"service chooses scenes then. Leave it out to retell all", *from.Item.DurationSeconds, from.Item.ID)
	case b.DurationSeconds != nil:
		return errs.Invalid("/duration_seconds", "follows from the parts that are used again. Leave it out with reuse")
	}
	var err error
	if w.Copies, err = item.CopiesOf(from, numbers); err != nil {
		return err
	}
	if r.Attempt.Excerpt != nil {
		return item.PlannerOf(r).PlanCopies(offer, w, live)
	}
	return ofParts(b, item.PlannerOf(r).PlanCopies(offer, w, live))
}

// ofParts returns an error of a length or script that follows from the parts to use again, as one of the member that
// names them.
func ofParts(b *createBody, err error) error {
	var e *errs.Error
	if !errors.As(err, &e) || b.Scenes != nil || said(b.Script) != "" {
		return err
	}
	param := "/reuse"
	if b.Parts != nil {
		param = "/from_parts"
	}
	of := func(p string) bool { return p == "/duration_seconds" || strings.HasPrefix(p, "/scenes") }
	changed := *e
	if of(e.Param) {
		changed.Param, changed.Message = param, strings.Replace(e.Message, strings.TrimPrefix(e.Param, "/"),
			strings.TrimPrefix(param, "/"), 1)
	}
	changed.Details = slices.Clone(e.Details)
	for i, d := range changed.Details {
		if of(d.Param) {
			changed.Details[i].Param = param
		}
	}
	return &changed
}
