package content

import (
	"cmp"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/store"
)

// Adopted is an item of an export that a factory takes over.
type Adopted struct {
	Item item.Item
	// Files are its media, with the keys of their objects.
	Files   []media.File
	Factory factory.Factory
	Legal   profile.Legal
	Owner   tenant.Owner
	// Media are the items of the media that it shows, as far as there are any.
	Media []store.Item
	// Replay, unless it is zero, is the time from which posts go out again, each at its time, to Accounts.
	Replay   time.Time
	Accounts []social.Record
}

// again returns the time at which the item goes out again, or zero.
func (a Adopted) again() (at time.Time) {
	switch i := a.Item; {
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
// canceled, and what was to be published is generated. Nothing is made, charged, published or announced.
func Adopt(tx *store.Tx, now time.Time, a Adopted) error {
	r := &item.Record{Item: a.Item, Files: a.Files}
	r.Item.Media = []media.View{}
	r.Previews, r.CancelCost, r.ReservedCredits = []item.Preview{}, nil, 0
	r.SocialAccountIDs, r.OmittedAccounts = []string{}, []item.OmittedAccount{}
	r.Attempt = max(r.Attempt, 1)
	switch {
	case r.Runs():
		r.State = item.Canceled
	case r.State == item.Scheduled || r.State == item.Publishing:
		r.State = item.Generated
	}
	r.Publications = slices.DeleteFunc(r.Publications, func(p item.Publication) bool {
		return p.State == item.PublicationPending || p.State == item.PublicationPublishing
	})
	r.Postings = map[string]item.Posting{}
	for _, p := range r.Publications {
		r.Postings[p.ID] = item.Posting{}
	}
	var err error
	if r.Brief, err = newBrief(a.Factory, a.Legal); err != nil {
		return err
	}
	given := incoming.Of(a.Owner, a.Media)
	adoptMedia(r, given)
	if at := a.again(); !at.IsZero() {
		if err := replay(tx, now, a, r, at); err != nil {
			return err
		}
	}
	it, err := r.Entry(a.Owner)
	if err != nil {
		return err
	}
	if r.ExpiresAt = nil; a.Replay.IsZero() {
		if r.ExpiresAt, err = generate.ExpireFrom(tx, now, a.Owner, r.ID); err != nil {
			return err
		}
	}
	if err := it.Encode(r); err != nil {
		return err
	}
	tx.Create(it, nil)
	return given.Hold(tx, now, held(r))
}

// replay schedules an item for the time at which it was, or is to be, published.
func replay(tx *store.Tx, now time.Time, a Adopted, r *item.Record, at time.Time) error {
	r.State, r.PublishedAt, r.Failure, r.Publications = item.Generated, nil, nil, []item.Publication{}
	r.Postings, r.Authority = map[string]item.Posting{}, authority.Operator()
	var targets []publication.Target
	for _, acct := range a.Accounts {
		t := publication.Target{Account: acct}
		for _, p := range a.Item.Publications {
			if p.SocialAccountID == acct.ID {
				t.Options = p.Options
			}
		}
		targets = append(targets, t)
		r.SocialAccountIDs = append(r.SocialAccountIDs, acct.ID)
	}
	return publication.Schedule(tx, now, a.Owner, r, targets, at)
}

// adoptMedia has the item show the media of the caller that there are, and forget the others.
func adoptMedia(r *item.Record, given incoming.Given) {
	find := func(mediaID string) (media.File, bool) {
		f, err := given.File(incoming.Member{Value: mediaID, Type: media.Image,
			Others: []media.Type{media.Video, media.Audio}})
		return f, err == nil
	}
	for _, f := range r.Files {
		if !id.Valid(id.Media, f.ID) {
			continue
		}
		if own, ok := find(f.ID); ok {
			own.Role = f.Role
			r.Own, r.OwnIDs = append(r.Own, own), append(r.OwnIDs, own.ID)
		}
	}
	r.VariantFiles = map[string]media.File{}
	for name, v := range r.Variants {
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
		r.Variants[name] = v
	}
	r.Source = cmp.Or(r.Source, item.SourceGenerated)
}
