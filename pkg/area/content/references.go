package content

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/theme"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
)

// references are the records that the bodies of a call refer to.
type references struct {
	// clock is the time of the caller, by which promotions run.
	clock     time.Time
	factories map[string]factory.Factory
	balance   ledger.Balance // of live keys
	owner     tenant.Owner   // of the factories
	// legal are the settings of the factories that decide which rules of law apply, by their ids.
	legal map[string]profile.Legal
	// designs are those of the templates of the factories, by their ids. It is nil for a factory without one.
	designs  map[string]*theme.Theme
	media    incoming.MediaRefs
	products map[string]*product.StoredProduct
	// origins are the items to retell, by their ids.
	origins map[string]*item.Record
	// accounts are the items of social accounts, by their ids.
	accounts map[string]store.Item
	// experiments are those that the bodies name, by their ids, as the draws leave them.
	experiments map[string]*ongoing
	// slots are the times of schedules that the bodies take.
	slots *[]item.Slot
	// collect takes the refusals of a body that is rehearsed, and is nil otherwise.
	collect func(error) error
	// longest stands for the product of items whose product is not known yet. It is nil if they present none.
	longest *item.Product
}

// meet returns the refusal of a body, unless the body is only rehearsed.
func (a *references) meet(err error) error {
	if err == nil || a.collect == nil {
		return err
	}
	return a.collect(err)
}

// stamp is a cache key: the ids and versions of the factories of the bodies.
func (a *references) stamp(bodies []createBody) string {
	var all []string
	for _, b := range bodies {
		f := a.factories[b.FactoryID]
		all = append(all, f.ID+"@"+strconv.FormatInt(f.Version, 10))
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

// product returns the product that a body names, as its item keeps it, or nil if it names none.
func (a *references) product(b createBody, now time.Time) (*item.Product, error) {
	if b.ProductID == "" {
		return a.longest, nil
	}
	r := a.products[b.ProductID]
	if r == nil {
		return nil, errs.MissingAt("/product_id", product.ItemKind, b.ProductID)
	}
	if r.FactoryID != b.FactoryID {
		return nil, errs.Invalid("/product_id", "is the id of a product of another factory than %s. Use one of that "+
			"factory", b.FactoryID)
	}
	if r.State == product.Archived {
		return nil, errs.Invalid("/product_id", "is an archived product. Set its state to active first")
	}
	if !a.clock.IsZero() {
		now = a.clock
	}
	return item.NewProduct(r, b.PromotionID, a.legal[b.FactoryID].Country(), now)
}

// refresh updates the product of an item to its present state. If the product was deleted, the item keeps it without
// its photos. An attempt that reuses parts keeps its texts: of a product in a feed, they get the prices of now, and of
// others, the product stays as it was.
func (s *Service) refresh(ctx context.Context, r *item.Record, reuse bool) error {
	p := r.Brief.Product
	if p == nil {
		return nil
	}
	items, err := s.db.GetAll(ctx, store.IDKey(p.ProductID))
	if err != nil || reuse && !product.IsInFeed(&items[0]) {
		return err
	}
	found, err := productsOf(auth.FromContext(ctx).Owner, items)
	if err != nil {
		return err
	}
	clock, err := s.clock(ctx)
	if err != nil {
		return err
	}
	stored := found[p.ProductID]
	if stored == nil {
		if !reuse {
			p.Photos = nil
		}
		return nil
	}
	now, err := p.Now(stored, r.Brief.Region, r.ShownAt(clock))
	if err != nil {
		return err
	}
	if reuse {
		return r.Reprice(now, clock)
	}
	r.Brief.Product = now
	r.Item.ProductID, r.Item.PromotionID = now.IDs()
	return nil
}

// productKeys returns the keys of the products that bodies name, without duplicates.
func productKeys(bodies []createBody) (keys []store.Key) {
	for _, b := range bodies {
		if key := store.IDKey(b.ProductID); id.Valid(id.Product, b.ProductID) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// productsOf returns the products among items that belong to an owner.
func productsOf(o tenant.Owner, items []store.Item) (map[string]*product.StoredProduct, error) {
	found := map[string]*product.StoredProduct{}
	for _, it := range items {
		if it.Kind != product.ItemKind || !o.Sees(it.Owner) {
			continue
		}
		r, err := product.Decode(&it)
		if err != nil {
			return nil, err
		}
		found[r.ID] = r
	}
	return found, nil
}

// files sets the files of the media that options name.
func (a *references) files(w *item.Options) (err error) {
	if m := trackOf(w.Music); m.IsID() {
		if w.Track, err = a.track(m); err != nil {
			return err
		}
	}
	if m := coverOf(w.Cover); m.IsID() {
		f, err := a.media.File(m)
		if err != nil {
			return err
		}
		w.OwnCover = &f
	}
	return nil
}

// mediaOf returns the members of bodies that name media.
func mediaOf(bodies ...createBody) (members []incoming.Member) {
	for _, b := range bodies {
		for _, m := range []incoming.Member{trackOf(b.Music), coverOf(b.Cover)} {
			if m.IsID() {
				members = append(members, m)
			}
		}
		members = slices.Concat(members, b.ownMembers(), variantMembers(b.Variants.items()))
	}
	return members
}

// trackOf returns the member music of a body.
func trackOf(music string) incoming.Member {
	return incoming.Member{Param: "/music", Value: music, Type: media.Audio}
}

// coverOf returns the member cover of a body.
func coverOf(cover string) incoming.Member {
	return incoming.Member{Param: "/cover", Value: cover, Type: media.Image}
}

// open reads the records that bodies refer to, in one round trip.
func (s *Service) open(ctx context.Context, p *auth.Principal, bodies ...createBody) (a references, err error) {
	if a.origins, err = s.origins(ctx, p.Owner, bodies); err != nil {
		return a, err
	}
	bodies, ids := slices.Clone(bodies), make([]string, len(bodies))
	for i, b := range bodies {
		bodies[i], ids[i] = a.derived(b), b.FactoryID
	}
	others := []store.Key{testclock.Key(p.Owner)}
	if p.Mode == tenant.Live { // test keys have no balance, and live keys no clock
		others = ledger.FundsKeys(p.Account, s.now())
	}
	a.slots = &[]item.Slot{}
	funds := len(others)
	var beside []store.Item
	a.factories, beside, err = s.factories.FindAll(ctx, ids, slices.Concat(others, incoming.Keys(mediaOf(bodies...)),
		productKeys(bodies), accountKeys(bodies), experimentKeys(bodies))...)
	if err != nil {
		return a, err
	}
	if a.clock = s.now(); p.Mode == tenant.Live {
		a.balance = ledger.FundsOf(beside[:funds])
	} else if a.clock, err = testclock.At(&beside[0], a.clock); err != nil {
		return a, err
	}
	if a.owner, err = ownerOf(p.Owner, a.factories, bodies); err != nil {
		return a, err
	}
	if err := (ruler{s}).openProfiles(ctx, p.Owner, &a); err != nil {
		return a, err
	}
	a.accounts = map[string]store.Item{}
	for _, it := range beside[funds:] {
		if social.Is(it, a.owner) {
			a.accounts[it.PK] = it
		}
	}
	if a.experiments, err = experimentsOf(a.owner, beside[funds:]); err != nil {
		return a, err
	}
	if err := s.openAttached(ctx, &a, bodies); err != nil {
		return a, err
	}
	a.media = incoming.Of(a.owner, beside[funds:])
	a.products, err = productsOf(a.owner, beside[funds:])
	return a, err
}

// ownerOf returns the owner of the factories of bodies, which are all of one profile: one reservation pays for a batch.
func ownerOf(o tenant.Owner, factories map[string]factory.Factory, bodies []createBody) (tenant.Owner, error) {
	first := true
	for i, b := range bodies {
		f, ok := factories[b.FactoryID]
		switch of := f.In(o); {
		case !ok: // accepted refuses it
		case first:
			o, first = of, false
		case of != o:
			return o, errs.Invalid("/items/"+strconv.Itoa(i)+"/factory_id", "belongs to another profile than the "+
				"factory of the items before. Send a batch for each profile")
		}
	}
	return o, nil
}

// openAttached reads the accounts of the factories of bodies whose texts are adapted.
func (s *Service) openAttached(ctx context.Context, a *references, bodies []createBody) error {
	var keys []store.Key
	for _, b := range bodies {
		if !b.Adapt || len(b.Accounts) > 0 {
			continue
		}
		for _, accountID := range a.factories[b.FactoryID].SocialAccountIDs {
			if key := store.IDKey(accountID); !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	for _, it := range items {
		if social.Is(it, a.owner) {
			a.accounts[it.PK] = it
		}
	}
	return nil
}

// maxTrack is the longest duration of the caller's music.
const maxTrack = 15 * time.Minute

// trackFormats are the supported formats of music.
var trackFormats = []string{"audio/mpeg", "audio/wav"}

// track returns the file of the caller's music.
func (a *references) track(m incoming.Member) (*media.File, error) {
	f, err := a.media.File(m)
	if err != nil {
		return nil, err
	}
	invalid := func(format string, args ...any) error {
		e := errs.New(errs.UnsupportedMedia, format, args...)
		e.Param = m.Param
		return e
	}
	switch {
	case !slices.Contains(trackFormats, f.MIMEType):
		return nil, invalid("The media %s is %s. Music takes %s.", m.Value, f.MIMEType,
			strings.Join(trackFormats, " and "))
	case f.DurationSeconds > maxTrack.Seconds():
		return nil, invalid("The media %s plays %.0f seconds. Music takes at most %.0f.", m.Value, f.DurationSeconds,
			maxTrack.Seconds())
	}
	return &f, nil
}

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

// ownMedia has the numbers and types of the media that callers may provide for each kind.
var ownMedia = map[item.Kind]struct {
	least, most int
	types       []media.Type
	takes       string
}{
	item.Post:     {0, 1, []media.Type{media.Image}, "up to one image"},
	item.Carousel: {2, 10, []media.Type{media.Image, media.Video}, "2 to 10 images or videos"},
	item.Video:    {1, 1, []media.Type{media.Video}, "one video"},
	item.Story:    {1, 1, []media.Type{media.Image, media.Video}, "one image or video"},
}

// ownRules refuses members that do not fit the source of the media.
func (b *createBody) ownRules() error {
	var found []error
	refuse := func(param string, sent bool, format string, args ...any) {
		if sent {
			found = append(found, errs.Invalid(param, format, args...))
		}
	}
	if b.Source != item.SourceProvided {
		refuse("/prompt", b.Prompt == "" && b.From == "", "is required, unless source is provided or "+
			"from_content_item_id is sent")
		const provided = "is for your own media: send source with the value provided as well"
		refuse("/media", b.Media != nil, provided)
		refuse("/fit", b.Fit != "" && b.Fit != item.FitNone, provided)
		refuse("/ai_generated", b.AIGenerated, provided)
		return errs.All(found...)
	}
	const leaveOut = "is for generated content. Leave it out with source provided"
	for _, m := range []struct {
		param string
		sent  bool
	}{
		{"/from_content_item_id", b.From != ""}, {"/prompt", b.Prompt != ""}, {"/model", b.Model != ""},
		{"/duration_seconds", b.DurationSeconds != nil},
		{"/visuals", b.Visuals != ""}, {"/music", b.Music != ""}, {"/cover", b.Cover != ""},
		{"/product_id", b.ProductID != ""}, {"/format", b.Format != ""},
	} {
		refuse(m.param, m.sent, leaveOut)
	}
	for text := range b.sent() {
		refuse("/"+text.name, text.generatedOnly, leaveOut)
	}
	refuse("/sandbox", b.Sandbox != nil, "is for generated content: your own media are ready at once")
	kind, known := ownMedia[b.Kind]
	switch n := len(b.Media); {
	case !known:
		refuse("/kind", true, "must be post, video, carousel or story with source provided")
	case n < kind.least || n > kind.most:
		refuse("/media", true, "must be %s for the kind %s; there are %d", kind.takes, b.Kind, n)
	case n == 0:
		refuse("/caption", said(b.Caption) == "", "is required, as the post has no media")
		refuse("/fit", b.Fit != "" && b.Fit != item.FitNone, "needs media")
	}
	return errs.All(found...)
}

// ownMembers returns the members of a body that name the caller's media to publish.
func (b *createBody) ownMembers() (members []incoming.Member) {
	if kind, known := ownMedia[b.Kind]; known && b.Source == item.SourceProvided {
		for i, id := range b.Media {
			members = append(members, incoming.Member{Param: "/media/" + strconv.Itoa(i), Value: id,
				Type: kind.types[0], Others: kind.types[1:]})
		}
	}
	return members
}

// provide makes the media of a body those of its item.
func (a *references) provide(b *createBody, r *item.Record) error {
	r.Item.Source, r.Item.AIGenerated, r.OwnIDs = item.SourceProvided, b.AIGenerated, b.Media
	fit := item.FitNone
	if b.Fit != "" {
		fit = b.Fit
	}
	r.Item.Fit = &fit
	var files []media.File
	var found []error
	for _, m := range b.ownMembers() {
		f, err := a.media.File(m)
		if err == nil && r.Item.Fitted() && f.Type != media.Image {
			err = checkFitted(r.Item.Kind, m.Value, f)
		}
		files, found = append(files, f), append(found, err)
	}
	if err := errs.All(found...); err != nil {
		return err
	}
	if r.Item.Kind == item.Video {
		format := item.FormatShort
		if files[0].Width > files[0].Height {
			format = item.FormatLong
		}
		r.Item.Format = &format
	}
	item.PlannerOf(r).Provide(files)
	return nil
}

// checkFitted refuses a video that cannot be fitted.
func checkFitted(kind item.Kind, mediaID string, f media.File) error {
	length := time.Duration(f.DurationSeconds * float64(time.Second))
	switch {
	case kind == item.Carousel:
		return errs.Invalid("/fit", "is for images in a carousel, and %s is a video. Leave it out", mediaID)
	case length < item.LeastFitted || length > item.MostFitted:
		return errs.Invalid("/fit", "is for videos of %.0f to %.0f seconds, and %s plays %.1f. Leave it out",
			item.LeastFitted.Seconds(), item.MostFitted.Seconds(), mediaID, f.DurationSeconds)
	}
	return nil
}

// takesOwn refuses an item of the caller's media that no account takes to which it could be published. An item whose
// accounts are named is checked as if it were scheduled.
func (s *Service) takesOwn(ctx context.Context, p *auth.Principal, accounts []string, refs references,
	r *item.Record) error {
	w := &publishRequest{s: s, items: refs.accounts}
	if len(accounts) == 0 {
		return nil
	}
	if err := w.readAccounts(ctx, accounts); err != nil {
		return err
	}
	g := publication.Gate{Record: r, By: p}
	targets, err := g.Targets(refs.owner, accounts, false, w.items, s.limits(p.Mode), nil)
	if err != nil {
		return err
	}
	var why []publication.Refusal
	for _, t := range targets {
		found := publication.Of(g.Ask(t), publication.ReasonKind, publication.ReasonPost)
		found = slices.DeleteFunc(found, func(r publication.Refusal) bool { return !ofMedia(r.Err.Param) })
		if t.Account.Platform != "" && len(found) == 0 {
			return nil
		}
		why = append(why, found...)
	}
	return publication.Refused(why)
}

// ofMedia reports whether a pointer names the kind or the media of an item.
func ofMedia(param string) bool {
	return param == "/kind" || param == "/media" || len(param) > 7 && param[:7] == "/media/"
}

// ongoing is an experiment with its item in the table.
type ongoing struct {
	*experiment.Record
	it       store.Item
	hasTrial bool
}

func experimentKeys(bodies []createBody) (keys []store.Key) {
	for _, b := range bodies {
		if key := store.IDKey(b.ExperimentID); b.ExperimentID != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// experimentsOf returns the experiments of an owner among items.
func experimentsOf(o tenant.Owner, items []store.Item) (map[string]*ongoing, error) {
	all := map[string]*ongoing{}
	for _, it := range items {
		if it.Kind != experiment.ItemKind || it.Owner != o {
			continue
		}
		r, err := experiment.Decode(&it)
		if err != nil {
			return nil, err
		}
		all[r.ID] = &ongoing{Record: r, it: it}
	}
	return all, nil
}

// draw gives a body the arms of its experiment, if it names one that takes items. Which factors apply does not depend
// on the arms.
func (a *references) draw(b *createBody, now time.Time) error {
	if b.ExperimentID == "" {
		return nil
	}
	e := a.experiments[b.ExperimentID]
	if e == nil {
		e = &ongoing{}
	}
	if err := experiment.Check("/experiment_id", b.ExperimentID, e.Record, b.FactoryID); err != nil {
		return err
	}
	if b.Source == item.SourceProvided {
		return errs.Invalid("/experiment_id", "is for generated items: leave it out with source provided")
	}
	if !e.Takes(now) {
		return nil
	}
	at := now
	if b.PublishAt != nil && !b.PublishAt.Next {
		at = b.PublishAt.Time.Time
	}
	b.trial = e.Draw(e.Stratum(at), func(f experiment.Factor) bool { return b.takes(f, e.Place(), now) })
	if b.trial == nil {
		return nil
	}
	e.hasTrial = true
	if time := b.trial.Arm(experiment.FactorSlot); time != "" {
		b.PublishAt = &publishTime{Time: resource.Instant(experiment.At(b.PublishAt.Time.Time, time, e.Place()))}
	}
	b.slot = Placed(b.slot, b.trial)
	b.fix()
	return nil
}

// fix sets the members of the body that its arms decide.
func (b *createBody) fix() {
	if seconds, err := strconv.Atoi(b.trial.Arm(experiment.FactorLength)); err == nil {
		b.DurationSeconds = &seconds
	}
	if arm := b.trial.Arm(experiment.FactorFirstFrame); arm != "" {
		shown := arm == "headline"
		b.ShowHeadline = &shown
	}
}

// takes reports whether a factor applies to a body: to its kind, and where the body has no value of its own.
func (b *createBody) takes(f experiment.Factor, zone *time.Location, now time.Time) bool {
	switch f.Name {
	case experiment.FactorHook:
		return b.Kind != item.MusicClip && b.Caption == nil
	case experiment.FactorLength:
		if b.Kind != item.Video || b.DurationSeconds != nil || b.Script != nil || b.Scenes != nil || b.Reuse {
			return false
		}
		bounds := item.Lengths(b.Format)
		for _, arm := range f.Arms {
			if n, _ := strconv.Atoi(arm); n < bounds[0] || n > bounds[1] {
				return false
			}
		}
	case experiment.FactorSlot:
		if b.PublishAt == nil || b.PublishAt.Next {
			return false
		}
		for _, arm := range f.Arms {
			if !experiment.At(b.PublishAt.Time.Time, arm, zone).After(now) {
				return false
			}
		}
	case experiment.FactorFormat:
		return false // an item has its kind already: plans draw it
	case experiment.FactorCaptionStyle:
		return b.Kind == item.Video || b.Kind == item.Story
	case experiment.FactorFirstFrame:
		return b.Kind == item.Post && b.ShowHeadline == nil
	}
	return true
}

// Placed returns the place of an item in a plan with the hook and the pillar of its arms.
func Placed(at *prompt.Plan, t *item.Trial) *prompt.Plan {
	hook, pillar := t.Arm(experiment.FactorHook), t.Arm(experiment.FactorPillar)
	if hook == "" && pillar == "" {
		return at
	}
	var place prompt.Plan
	if at != nil {
		place = *at
	}
	if hook != "" {
		place.Hook = "the first line is a " + hook
	}
	if pillar != "" {
		place.Pillar = pillar
	}
	return &place
}

// Restyle sets how an item looks by its arms.
func Restyle(b *item.Brief, t *item.Trial) {
	if style := t.Arm(experiment.FactorCaptionStyle); style != "" {
		b.CaptionStyle = style
	}
	if style := t.Arm(experiment.FactorPictureStyle); style != "" {
		if b.Look != "" {
			style += ". " + b.Look
		}
		b.Look = style
	}
}

// spend counts the price of an item in its experiment.
func (a *references) spend(r *item.Record) {
	if r.Item.Experiment != nil {
		a.experiments[r.Item.Experiment.ID].SpentCredits += r.Attempt.Credits
	}
}

// keepDraws adds the experiments that have given arms to the transaction. If another call has drawn from one meanwhile,
// the call draws again.
func (a *references) keepDraws(tx *store.Tx) error {
	for _, e := range a.experiments {
		if !e.hasTrial {
			continue
		}
		if err := tx.Rewrite(e.it, e.Record); err != nil {
			return err
		}
	}
	return nil
}
