package item

import (
	"context"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Record is the stored document of an item.
type Record struct {
	Item Item `json:"item"`
	// Attempt is the current attempt at the item.
	Attempt Attempt `json:"attempt,omitzero"`
	Outlets
	// Brief holds the settings that the factory had when the item was created.
	Brief Brief `json:"brief"`
	// CallerTexts are the texts of the caller. Generation never overwrites them.
	CallerTexts CallerTexts `json:"given,omitzero"`
	// Draft is the caption as it was generated, once a person has changed it.
	Draft string `json:"draft,omitempty"`
	// Headlined reports whether the picture of a post has words on it.
	Headlined bool `json:"headlined,omitempty"`
	// Slot is the item's place in a content plan, or nil.
	Slot *prompt.Plan `json:"slot,omitempty"`
	// Origin has the texts of the item that this one retells, or nil.
	Origin *prompt.Origin `json:"origin,omitempty"`
	Files  []media.File   `json:"files,omitempty"`
	// Branded reports whether the finished files show the logo or the name of the brand.
	Branded bool `json:"branded,omitempty"`
	// Track is the caller's music, and OwnCover the caller's cover.
	Track    *media.File `json:"track,omitempty"`
	OwnCover *media.File `json:"own_cover,omitempty"`
	// Own are the files of the media that the caller provides, and OwnIDs the ids of those media. VariantFiles are the
	// files of the media of variants, by the ids of the media, and VariantPlatforms the platforms of the accounts that
	// have variants.
	Own              []media.File          `json:"own,omitempty"`
	OwnIDs           []string              `json:"own_ids,omitempty"`
	VariantFiles     map[string]media.File `json:"variant_files,omitempty"`
	VariantPlatforms map[string]string     `json:"variant_platforms,omitempty"`
	// Imported reports that the item has come by an import: who has made its texts and files is not known.
	Imported bool `json:"imported,omitempty"`
	// History has the results of the item's attempts, oldest first.
	History []Past `json:"history,omitempty"`

	was storedState
}

// Outlets are the internal state of the publishing of an item. Its publications are rows of their own: see rows.go.
type Outlets struct {
	// Round counts how often it was scheduled: a timer of an earlier round is void. Rehearsed is the result of
	// publishing that a test key requests.
	Round     int               `json:"round,omitempty"`
	Rehearsal *PublishRehearsal `json:"rehearsed,omitempty"`
	// RequestedSchedule is the publication that its creation requested, until it is scheduled.
	RequestedSchedule *ScheduleRequest `json:"ordered,omitempty"`
	// Slots are the times of schedules that the item occupies. Wanted are the accounts on which a new item occupies its
	// time.
	Slots           []Slot   `json:"slots_taken,omitempty"`
	ClaimedAccounts []string `json:"-"`
	// NotPublished says why automatic publishing has skipped the item: a value of waits_for, for example "account".
	NotPublished string `json:"stays,omitempty"`
	// Automatic reports whether its factory published automatically when the item was accepted.
	Automatic bool `json:"automatic,omitempty"`
	// Authority is on whose behalf the item is published: who has last requested its content, its schedule or its
	// publication, or has approved it. If it lacks content:publish the item is not published by itself.
	Authority authority.Authority `json:"authority,omitzero"`
}

// Past is the result of an item at a time: the end of an attempt, or its publication. Analytics count it.
type Past struct {
	At        resource.Time `json:"at"`
	Made      int64         `json:"made,omitempty"`
	Failed    int64         `json:"failed,omitempty"`
	Published int64         `json:"published,omitempty"`
	// Credits is the charge for the attempt.
	Credits int64 `json:"credits,omitempty"`
}

// Entry returns the record as an item of the table, without its publications.
func (r *Record) Entry(o tenant.Owner) (store.Item, error) {
	if !r.Imported { // an import knows when it expires
		r.Item.ExpiresAt = generate.ExpiresAt(o, r.Item.CreatedAt)
	}
	it := store.Item{Key: store.IDKey(r.Item.ID), Kind: ItemKind, Owner: o,
		ListKey: store.Key{PK: store.OwnerPartition(o, ItemKind), SK: r.Item.ID},
		Parent:  store.Key{PK: ParentPartition(o, r.Item.FactoryID), SK: r.Item.ID}}
	return it, r.encode(&it, r.Item.Version, r.Item.UpdatedAt)
}

// ParentPartition returns the partition of store.ByParent that lists the items of a factory.
func ParentPartition(o tenant.Owner, factoryID string) string {
	return store.OwnerPartition(o, ItemKind) + "#" + factoryID
}

// Filters returns the values by which lists filter the item.
func (r *Record) Filters() map[string]string {
	f := map[string]string{"kind": string(r.Item.Kind), "state": string(r.Item.State),
		ApprovalFilter: r.Item.Approval.State, FactoryFilter: r.Item.FactoryID}
	if r.Item.ContentPlanID != nil {
		f["plan"] = *r.Item.ContentPlanID
	}
	if r.Item.PublishAt != nil {
		f[PublishAtFilter] = resource.SortableTime(r.Item.PublishAt.Time)
	}
	return f
}

// The filters of the approval, of the factory and of the time of publication.
const (
	ApprovalFilter  = "approval"
	FactoryFilter   = "factory"
	PublishAtFilter = "publish_at"
)

// Describe returns the metadata by which lists filter the item.
func (r *Record) Describe() map[string]string { return r.Item.Describe() }

// Index sets the values by which lists find the item of the record.
func (r *Record) Index(it *store.Item) {
	it.Filters, it.Due = r.Filters(), r.Calendar(it.Owner)
}

// Calendar returns the partition and place of the item among those of its owner that are planned or published, by
// time. Both are empty if it is not among them.
func (r *Record) Calendar(o tenant.Owner) store.Key {
	at := r.Item.PlannedAt()
	if at.IsZero() {
		return store.Key{}
	}
	return store.Key{PK: CalendarPartition(o), SK: resource.SortableTime(at) + "#" + r.Item.ID}
}

// CalendarPartition returns the partition of store.ByDue that lists the items of an owner that are planned or
// published.
func CalendarPartition(o tenant.Owner) string { return "calendar#" + o.String() }

// PlannedAt returns the time at which the item is, or was, to be published, or zero if it is not planned.
func (r *Item) PlannedAt() (at time.Time) {
	if r.PublishAt != nil {
		return r.PublishAt.Time
	}
	for _, pub := range r.Publications {
		one := pub.CreatedAt.Time
		if pub.PublishedAt != nil {
			one = pub.PublishedAt.Time
		}
		if at.IsZero() || one.Before(at) {
			at = one
		}
	}
	return at
}

// View returns the item as its GET shows it, with signed media.
func (r *Record) View(ctx context.Context, signer *media.Signer) (Item, error) {
	v := r.Public()
	v.Previews = []Preview{}
	if r.Item.Runs() {
		v.ReservedCredits, v.CancelCost = r.Attempt.Credits, new(int64)
	}
	var err error
	v.Media, err = signer.Views(ctx, r.allFiles())
	return v, err
}

// Public returns the item with the members that follow from its record.
func (r *Record) Public() Item {
	v := r.Item
	if v.WaitsFor = r.waitsFor(); v.WaitsFor != WaitsForProduct {
		v.Remake = nil
	}
	return v
}

// waitsFor returns what the item waits for before it is published, besides its generation.
func (r *Record) waitsFor() string {
	switch {
	case r.Item.State == Scheduled:
		return WaitsForTime
	case !r.Item.Runs() && r.Item.State != Generated:
		return WaitsForNothing
	case r.Item.Undecided():
		return WaitsForApproval
	case r.NotPublished != "":
		return r.NotPublished
	case r.RequestedSchedule != nil || r.Automatic && !r.withheld():
		return WaitsForTime
	}
	return WaitsForSlot
}

// Undecided reports whether the item waits for a decision.
func (r *Item) Undecided() bool {
	return r.Approval.State == ApprovalPending || r.Approval.State == ChangesRequested
}

// SetWaitsFor records why the item is not published yet, as a value of waits_for. It returns true if the reason has
// changed.
func (r *Record) SetWaitsFor(what string) bool {
	before := r.waitsFor()
	if what != WaitsForApproval {
		r.NotPublished = what
	} else if r.Item.Approval.State == ApprovalNone {
		r.Item.Approval.State = ApprovalPending
	}
	return r.waitsFor() != before
}

// Planned reports whether the item has a time of its content plan that is ahead, and is not scheduled for it.
func (r *Record) Planned(now time.Time) bool {
	return r.Item.ContentPlanID != nil && r.Item.State == Generated && r.RequestedSchedule == nil &&
		r.Item.PublishAt != nil &&
		r.Item.PublishAt.After(now)
}

// withheld reports whether the item is not published by itself, because who requested it may not publish.
func (o *Outlets) withheld() bool { return !o.Authority.Had(auth.ContentPublish) }

// Decode reads the record of an item of the table, without its publications.
func Decode(it *store.Item) (*Record, error) {
	var r Record
	if err := it.Decode(&r); err != nil {
		return nil, err
	}
	r.was = storedState{version: r.Item.Version, shownVersion: r.Item.Version, at: r.Item.UpdatedAt}
	return &r, nil
}

// About returns the description of the item for the entries of its money.
func (r *Record) About() ledger.About {
	a := ledger.About{FactoryID: r.Item.FactoryID, Metadata: r.Item.Metadata}
	if r.Attempt.Quote != nil {
		a.QuoteID = r.Attempt.Quote.QuoteID
	}
	return a
}

// Runs reports whether an attempt is queued or running.
func (r *Item) Runs() bool { return r.State == Queued || r.State == Generating }

// Provided reports whether the media and texts of the item are the caller's.
func (r *Item) Provided() bool { return r.Source == SourceProvided }

// Fitted reports whether the caller's pictures or video are composed to fit.
func (r *Item) Fitted() bool { return r.Fit != nil && *r.Fit != FitNone }

// MediaIDs returns the ids of the caller's media that the item shows, each once.
func (r *Record) MediaIDs() []string {
	ids := slices.Clone(r.OwnIDs)
	for _, v := range r.Item.Variants {
		ids = append(ids, v.Media...)
		if v.Cover != nil {
			ids = append(ids, *v.Cover)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// origin returns the id of the item that this one retells, or an empty text.
func (r *Item) origin() string {
	if r.FromContentItemID == nil {
		return ""
	}
	return *r.FromContentItemID
}

// InMedia reports whether the title is part of the finished media.
func (r *Item) InMedia() bool { return r.Kind == Story || r.Kind == MusicClip }

// allFiles returns the files that the item shows.
func (r *Record) allFiles() []media.File { return slices.Concat(r.Files, r.Attempt.LeftoverFiles) }

// Notify adds an event of the item to the transaction. It shows the item as it is after the transaction.
func (r *Record) Notify(tx *store.Tx, o tenant.Owner, t event.Type) error {
	shown := r.Public()
	shown.Media, shown.Previews = []media.View{}, []Preview{}
	return event.Add(tx, r.Item.UpdatedAt.Time, o, t, shown, r.allFiles()...)
}
