package content

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
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
	// An origin is not believed: what has a prompt was generated.
	if r.Item.Provided() && r.Item.Prompt != "" {
		r.Item.Source = item.SourceGenerated
	}
	if r.Item.Kind == item.Video && r.Item.Format == nil {
		format := item.FormatShort
		r.Item.Format = &format
	}
	if err := a.check(&r.Item); err != nil {
		return err
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

// check refuses an item that the service makes of no body: what createContentItem refuses of one, and the members that
// follow from its models with values that they never have. Its media need not be there, and its model may be retired.
func (a AdoptedItem) check(i *item.Item) error {
	_, err := factory.Language(i.Language, a.Factory.Language)
	made := !i.Provided()
	m, known := catalog.Find(string(i.Model))
	stills := i.Visuals == nil || *i.Visuals == item.VisualsStills
	kinds := map[item.Kind][]provider.Kind{item.Post: {provider.KindImage}, item.Carousel: {provider.KindImage},
		item.Video: {provider.KindImage, provider.KindVideo}, item.Story: {provider.KindImage, provider.KindVideo},
		item.MusicClip: {provider.KindMusic}}[i.Kind]
	plays := made && (i.Kind == item.MusicClip || i.Kind == item.Video && !stills ||
		i.Kind == item.Story && m.Kind == provider.KindVideo)
	return errs.All(
		a.body(i).Rules(), err, checkSong(i.Kind, a.Factory.Type), checkVariants(i.Variants),
		errs.InvalidIf(made && i.Model != "" && !known, "/model", "is not a model of the catalog"),
		errs.InvalidIf(made && known && !slices.Contains(kinds, m.Kind), "/model", "makes %s, which is none of the "+
			"kind %s", m.Kind, i.Kind),
		errs.InvalidIf(i.AspectRatio != nil && (!made || i.Kind == item.MusicClip), "/aspect_ratio", "is for "+
			"generated pictures and clips only"),
		errs.InvalidIf(i.AspectRatio != nil && !ratio().MatchString(*i.AspectRatio), "/aspect_ratio", "must be a "+
			"ratio, such as 9:16"),
		errs.InvalidIf(i.Seconds != nil && !plays, "/clip_seconds", "is for generated clips and tracks only"),
		errs.InvalidIf(i.Seconds != nil && plays && (*i.Seconds < 1 || *i.Seconds > longestClip), "/clip_seconds",
			"must be between 1 and %d", longestClip),
		errs.InvalidIf(i.Voice != nil && (!made || i.Kind != item.Video), "/voice", "is for generated videos only"),
		errs.InvalidIf(i.Voice != nil && !voice().MatchString(*i.Voice), "/voice", "must be letters, digits, - and _"),
	)
}

// longestClip is the greatest duration of what an item plays, in seconds.
const longestClip = 180

var (
	ratio = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[1-9][0-9]?:[1-9][0-9]?$`) })
	voice = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`) })
)

// body returns the body of createContentItem that makes an item such as this one.
func (a AdoptedItem) body(i *item.Item) *createBody {
	text := func(t resource.Text) *string { return resource.OrNil(string(t)) }
	of := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	b := &createBody{FactoryID: i.FactoryID, Kind: i.Kind, Prompt: i.Prompt, Format: of(i.Format),
		Source: cmp.Or(i.Source, item.SourceGenerated), From: of(i.FromContentItemID), Model: string(i.Model),
		DurationSeconds: i.DurationSeconds, Visuals: of(i.Visuals), Music: of(i.Music), Cover: of(i.Cover),
		ProductID: of(i.ProductID), PromotionID: of(i.PromotionID), Fit: of(i.Fit), AdMarking: i.AdMarking}
	b.Texts = Texts{Title: text(i.Title), Headline: text(i.Headline), Caption: text(i.Caption), Script: text(i.Script)}
	for _, tag := range i.Hashtags {
		b.Hashtags = append(b.Hashtags, Hashtag(tag))
	}
	for _, s := range i.Slides {
		b.Slides = append(b.Slides, slideBody{Text: s.Text, Body: text(s.Body)})
	}
	for _, s := range i.Scenes {
		b.Scenes = append(b.Scenes, sceneBody{Text: s.Text})
	}
	for _, n := range i.FromParts {
		b.Parts = append(b.Parts, fromPart(n))
	}
	// An item has its script in both forms, and the length and format that follow from what its caller has sent.
	if i.Kind == item.Video && b.Scenes != nil {
		b.Script = nil
	}
	if i.Kind == item.Video && (b.Scenes != nil || b.Script != nil) {
		b.DurationSeconds = nil
	}
	if b.Source == item.SourceProvided {
		if i.Kind == item.Video {
			b.Format = ""
		}
		for _, m := range a.Item.Media {
			if id.Valid(id.Media, m.ID) {
				b.Media = append(b.Media, m.ID)
			}
		}
		if !a.made() && b.Media == nil { // it shows them once it is generated
			b.Media = make([]string, max(ownMedia[i.Kind].least, 1))
		}
	}
	return b
}

// made reports whether the item was generated where it comes from.
func (a AdoptedItem) made() bool {
	switch a.Past.State {
	case item.Generated, item.Scheduled, item.Publishing, item.Published:
		return true
	}
	return false
}

// settle gives an item what nobody but the service says of it: its state, its approval, and whether it is declared as
// made by AI, which its files may say.
func (a AdoptedItem) settle(r *item.Record) {
	switch {
	case a.Past.State == item.Failed && r.Item.Failure != nil:
		r.Item.State = item.Failed
	case a.made():
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
	if r.Item.Source = cmp.Or(r.Item.Source, item.SourceGenerated); r.Item.Provided() && r.Item.Fit == nil {
		fit := item.FitNone
		r.Item.Fit = &fit
	}
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
