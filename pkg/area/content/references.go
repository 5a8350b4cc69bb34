package content

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/profile"
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
	legal    map[string]profile.Legal
	media    incoming.Given
	products map[string]*product.StoredProduct
	// origins are the items to retell, by their ids.
	origins map[string]*item.Record
	// accounts are the items of social accounts, by their ids.
	accounts map[string]store.Item
	// experiments are those that the bodies name, by their ids, as the draws leave them.
	experiments map[string]*ongoing
	// slots are the times of schedules that the bodies take.
	slots *[]item.Slot
	// met takes the refusals of a body that is rehearsed, and is nil otherwise.
	met func(error) error
	// longest stands for the product of items whose product is not known yet. It is nil if they present none.
	longest *item.Product
}

// meet returns the refusal of a body, unless the body is only rehearsed.
func (a *references) meet(err error) error {
	if err == nil || a.met == nil {
		return err
	}
	return a.met(err)
}

// stamp tells apart the states of the factories of bodies, which decide what is made.
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
		return nil, errs.Invalid("/product_id", "is the id of a product of another factory than %s. Use one of that factory", b.FactoryID)
	}
	if r.State == product.Archived {
		return nil, errs.Invalid("/product_id", "is an archived product. Set its state to active first")
	}
	if !a.clock.IsZero() {
		now = a.clock
	}
	return item.NewProduct(r, b.PromotionID, a.legal[b.FactoryID].Country(), now)
}

// refresh updates the product of an item to its present state. If the product was deleted, the item
// keeps it without its photos.
func (s *Service) refresh(ctx context.Context, r *item.Record) error {
	p := r.Brief.Product
	if p == nil {
		return nil
	}
	items, err := s.db.GetAll(ctx, store.IDKey(p.ProductID))
	if err != nil {
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
	now := found[p.ProductID]
	if now == nil {
		p.Photos = nil
		return nil
	}
	if p.Promotion != nil {
		if r.Brief.Product, err = item.NewProduct(now, p.Promotion.ID, r.Brief.Region, clock); err == nil {
			return nil
		}
	}
	r.Brief.Product, err = item.NewProduct(now, "", r.Brief.Region, clock)
	r.Item.ProductID, r.Item.PromotionID = r.Brief.Product.IDs()
	return err
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
	if err := (ruler{s}).openLegal(ctx, p.Owner, &a); err != nil {
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
