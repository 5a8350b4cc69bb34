package content

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/law"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/theme"
	"github.com/content-automation/api/pkg/record/authority"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// AdoptedItem is an item of an export that a factory takes over.
type AdoptedItem struct {
	Item item.Item
	// Files are its media as they were read, with the keys of their objects. Lost reports that one of them which is to
	// be published is missing.
	Files []media.File
	Lost  bool
	// Attempt is the latest attempt that one of them is of.
	Attempt int
	Factory factory.Factory
	Legal   profile.Legal
	Design  *theme.Theme // that of its template or its profile's, or nil
	Owner   tenant.Owner
	// Media are the items of the media that it shows, as far as there are any.
	Media []store.Item
	// Replay, unless it is zero, is the time from which posts go out again, each at its time, to Accounts. Past is the
	// item as the line has it. A replay believes it; else it only counts for the state, and where it makes the item
	// stricter.
	Replay   time.Time
	Accounts []social.Record
	Past     item.Item
}

// again returns the time at which the item goes out again, or zero.
func (a AdoptedItem) again() (at time.Time) {
	switch i := a.Past; {
	case a.Replay.IsZero() || len(a.Accounts) == 0:
	case i.PublishedAt != nil:
		at = i.PublishedAt.Time
	case i.PublishAt != nil && (i.State == item.Scheduled || i.State == item.Publishing):
		at = i.PublishAt.Time
	}
	if at.Before(a.Replay) {
		return time.Time{}
	}
	return at
}

// Adopt adds an item of an export to the transaction, in the last of its states that lasts: what was being made is
// canceled, and what was published, or was to be, is generated. It has neither approval nor publications. Nothing is
// made, charged, published or announced.
func Adopt(tx *store.Tx, now time.Time, a AdoptedItem) error {
	r := &item.Record{Item: a.Item, Files: a.Files, Imported: true}
	r.Item.Media = []media.View{}
	r.Item.Previews, r.Item.Publications = []item.Preview{}, []item.Publication{}
	if r.Item.GeneratedAt != nil && r.Item.GeneratedAt.After(now) {
		*r.Item.GeneratedAt = resource.Instant(now)
	}
	if err := law.CheckMarking(r.Item.AdMarking); err != nil {
		return err
	}
	if len(r.Item.Variants) > item.MaxVariants {
		return errs.Invalid("/variants", "may have %d entries at most", item.MaxVariants)
	}
	a.settle(r)
	var err error
	if r.Brief, err = NewBrief(a.Factory, a.Legal, a.Design); err != nil {
		return err
	}
	given := incoming.Of(a.Owner, a.Media)
	adoptMedia(r, given)
	if at := a.again(); !at.IsZero() {
		if err := replay(tx, now, a, r, at); err != nil {
			return err
		}
	}
	if r.Item.ExpiresAt = nil; a.Replay.IsZero() {
		if r.Item.ExpiresAt, err = generate.ExpireFrom(tx, now, a.Owner, r.Item.ID); err != nil {
			return err
		}
	}
	r.Count(tx, now, factoryrecord.Counts{})
	if err := r.Create(tx, a.Owner); err != nil {
		return err
	}
	return given.Hold(tx, now, mediaUses(r))
}

// settle gives an item what nobody but the service says of it: its state, its approval, and whether it is declared as
// made by AI, which its files may say.
func (a AdoptedItem) settle(r *item.Record) {
	switch a.Past.State {
	case item.Failed:
		r.Item.State = item.Failed
	case item.Generated, item.Scheduled, item.Publishing, item.Published:
		if r.Item.State, r.Item.Failure = item.Generated, nil; a.Lost {
			r.Item.State = item.Canceled
		}
	default:
		r.Item.State, r.Item.Failure = item.Canceled, nil
	}
	if r.Item.Progress = 0; r.Item.State == item.Generated {
		r.Item.Progress = 100
	}
	// What was found in the texts stays to be decided.
	if r.Item.Approval = approvalOf(a.Factory); len(a.Past.Approval.Reasons) > 0 {
		r.Item.Approval = item.ApprovalIn(item.ApprovalPending, a.Past.Approval.Reasons...)
	}
	r.Item.Source = cmp.Or(r.Item.Source, item.SourceGenerated)
	r.Item.AIGenerated = !r.Item.Provided() || a.Past.AIGenerated
	for _, f := range a.Files {
		r.Item.AIGenerated = r.Item.AIGenerated || f.Provenance.Generated()
	}
	r.Item.Labelled = a.Past.Labelled && r.Item.Provided() && r.Item.DeepFake
	if r.Item.Attempt = 1; len(a.Files) > 0 {
		r.Item.Attempt = max(r.Item.Attempt, a.Attempt)
	}
}

// replay schedules an item for the time at which it was, or is to be, published.
func replay(tx *store.Tx, now time.Time, a AdoptedItem, r *item.Record, at time.Time) error {
	r.Item.State, r.Item.Failure, r.Authority = item.Generated, nil, authority.Operator()
	var targets []publication.Target
	for _, acct := range a.Accounts {
		t := publication.Target{Account: acct}
		for _, p := range a.Past.Publications {
			if p.SocialAccountID == acct.ID {
				t.Options = p.Options
			}
		}
		targets = append(targets, t)
		r.Item.SocialAccountIDs = append(r.Item.SocialAccountIDs, acct.ID)
	}
	return publication.Schedule(tx, now, a.Owner, r, targets, at)
}

// adoptMedia has the item show the media of the caller that there are, and forget the others.
func adoptMedia(r *item.Record, given incoming.MediaRefs) {
	find := func(mediaID string) (media.File, bool) {
		f, err := given.File(incoming.Member{Value: mediaID, Type: media.Image,
			Others: []media.Type{media.Video, media.Audio}})
		return f, err == nil
	}
	var files []media.File
	for _, f := range r.Files {
		if !id.Valid(id.Media, f.ID) {
			files = append(files, f)
			continue
		}
		own, ok := find(f.ID)
		if !ok {
			if f.Role == media.Final && r.Item.State == item.Generated {
				r.Item.State, r.Item.Progress = item.Canceled, 0
			}
			continue
		}
		own.Role = f.Role
		files, r.Own, r.OwnIDs = append(files, own), append(r.Own, own), append(r.OwnIDs, own.ID)
	}
	r.Files = files
	r.VariantFiles = map[string]media.File{}
	for name, v := range r.Item.Variants {
		lost := func(mediaID string) bool {
			f, ok := find(mediaID)
			if ok {
				r.VariantFiles[mediaID] = f
			}
			return !ok
		}
		if v.Media != nil {
			v.Media = slices.DeleteFunc(slices.Clone(v.Media), lost)
		}
		if v.Cover != nil && lost(*v.Cover) {
			v.Cover = nil
		}
		r.Item.Variants[name] = v
	}
}

// Input is the type of the body of the operation that creates a content item. Imports check what comes in by its
// schema.
var Input = reflect.TypeFor[createBody]()
