package media

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Member is a member of a body that takes the URL of a file or the id of a media.
type Member struct {
	// Param is its JSON pointer.
	Param string
	Value string
	// Type is the required type of the file. Others are types that it may have as well.
	Type   media.Type
	Others []media.Type
}

// IsID reports whether the value is the id of a media, not a URL.
func (m Member) IsID() bool { return strings.HasPrefix(m.Value, id.Media+"_") }

// Given are the media that the members of a body refer to.
type Given struct {
	items map[string]store.Item
	// Beside are the other items that were read.
	Beside []store.Item
}

// Read reads the media of the caller's account and mode that members refer to, and other
// items with them, in one round trip at most.
func Read(ctx context.Context, db *store.DB, members []Member, others ...store.Key) (g Given, err error) {
	var ids []string
	for _, m := range members {
		if m.IsID() {
			ids = append(ids, m.Value)
		}
	}
	if len(ids)+len(others) > 0 {
		g.items, g.Beside, err = resource.FindAll(ctx, db, id.Media, ids, others...)
	}
	return g, err
}

// Keys returns the keys of the media that members refer to, for those who read them with
// other items. Members that refer to the same media share its key.
func Keys(members []Member) (keys []store.Key) {
	for _, m := range members {
		if key := store.IDKey(m.Value); id.Valid(id.Media, m.Value) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Of returns the media among items of Keys that belong to an owner.
func Of(o tenant.Owner, items []store.Item) Given {
	g := Given{items: map[string]store.Item{}}
	for _, it := range items {
		if it.Kind == ItemKind && o.Uses(it.Owner) {
			g.items[it.PK] = it
		}
	}
	return g
}

// For returns the media that a resource of an owner may use.
func (g Given) For(o tenant.Owner) Given {
	g.items = maps.Clone(g.items)
	maps.DeleteFunc(g.items, func(_ string, it store.Item) bool { return !o.Uses(it.Owner) })
	return g
}

// File returns the file that a member refers to. It refuses a media that does not exist,
// is not ready or is of another type.
func (g Given) File(m Member) (media.File, error) {
	it, ok := g.items[m.Value]
	if !ok {
		return media.File{}, errs.MissingAt(m.Param, "media", m.Value)
	}
	r, err := Decode(&it)
	if err != nil {
		return media.File{}, err
	}
	switch {
	case r.State == Pending:
		return media.File{}, errs.Invalid(m.Param, "The media %s is pending. Wait until its state is ready.", r.ID)
	case r.State == Rejected:
		return media.File{}, errs.Invalid(m.Param, "The media %s is rejected: %s", r.ID, r.Reason.Message)
	case r.Type != m.Type && !slices.Contains(m.Others, r.Type):
		takes := string(m.Type)
		for _, other := range m.Others {
			takes += " or " + string(other)
		}
		e := errs.New(errs.UnsupportedMedia, "The media %s is of the type %s. This takes the type %s.", r.ID,
			r.Type, takes)
		e.Param = m.Param
		return media.File{}, e
	}
	f := *r.File
	f.Inspection = nil // resources that use the file need not repeat it
	return f, nil
}

// Keep adds to the transaction that the media do not end by themselves.
func (g Given) Keep(tx *store.Tx, now time.Time) error {
	for _, it := range g.items {
		r, err := Decode(&it)
		if err != nil {
			return err
		}
		r.Kept = true
		r.Touch(now)
		if err := r.Encode(&it); err != nil {
			return err
		}
		tx.Replace(it)
	}
	return nil
}

// Extend moves the end of a media that is kept.
func (r *Record) Extend(now time.Time) { r.ExpiresAt = resource.Instant(now.Add(unusedTime)) }

// Use adds to the transaction that the media were used, unless that was noted within the last day.
func (g Given) Use(tx *store.Tx, now time.Time) error { return g.Hold(tx, now, nil) }

// Hold is Use for media that content items show: it adds to the number of the items of each media, which does not end
// while it has any.
func (g Given) Hold(tx *store.Tx, now time.Time, by map[string]int) error {
	for mediaID, it := range g.items {
		r, err := Decode(&it)
		if err != nil {
			return err
		}
		until := resource.Instant(now.Add(unusedTime))
		late := until.Sub(r.ExpiresAt.Time) >= usedAgain
		if by[mediaID] == 0 && !late {
			continue
		}
		r.Holders = max(0, r.Holders+by[mediaID])
		if late {
			r.ExpiresAt = until
		}
		r.Touch(now)
		if err := r.Encode(&it); err != nil {
			return err
		}
		tx.Replace(it)
	}
	return nil
}
