package product

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/feed"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/shelf"
	"github.com/content-automation/api/pkg/store"
)

// FeedRow is what a product keeps of the row of its feed.
type FeedRow struct {
	// Hash is that of the row. It is empty if the row is gone.
	Hash string `json:"hash,omitempty"`
	// Group is the number that variants of one product share.
	Group string `json:"group,omitempty"`
	// PhotoURLs are the photos of the row that the product is to have, and MissingPhotos those of them that are not
	// fetched yet.
	PhotoURLs     []string `json:"photos,omitempty"`
	MissingPhotos []string `json:"missing,omitempty"`
	// PromotionID is the promotion of the sale of the row.
	PromotionID string `json:"promotion,omitempty"`
	// Ours reports that the product was in the catalog before it was in the feed. It stays when its row is gone.
	Ours bool `json:"ours,omitempty"`
	// Changes are the last changes of the row, the oldest first.
	Changes []rowChange `json:"changes,omitempty"`
}

// feedHash is the attribute of an item with the hash of its row.
const feedHash = "feed"

// The filters of the items of products that are in a feed, and of those whose photos are not fetched yet.
const (
	InFeedFilter      = "in_feed"
	MissPhotosFilter  = "misses_photos"
	yes               = "yes"
	openEndedSaleDays = 365
)

// placeFeed lets lists find a product of a feed.
func (r *StoredProduct) placeFeed(it *store.Item) {
	delete(it.Attributes, feedHash)
	delete(it.Filters, InFeedFilter)
	delete(it.Filters, MissPhotosFilter)
	if r.Feed == nil {
		return
	}
	it.Attributes, it.Filters = with(it.Attributes, feedHash, r.Feed.Hash), with(it.Filters, InFeedFilter, yes)
	if len(r.Feed.MissingPhotos) > 0 && r.State == Active {
		it.Filters[MissPhotosFilter] = yes
	}
}

func with(m map[string]string, name, value string) map[string]string {
	if m = maps.Clone(m); m == nil {
		m = map[string]string{}
	}
	m[name] = value
	return m
}

// IsInFeed reports whether the item of a product is in a feed.
func IsInFeed(it *store.Item) bool { return it.Kind == ItemKind && it.Filters[InFeedFilter] == yes }

// InFeed is the filter of lists of the products of a feed.
func InFeed() map[string]string { return map[string]string{InFeedFilter: yes} }

// RowHash returns the hash of a row with its photos, as products keep it.
func RowHash(r feed.Row) string {
	plain, _ := json.Marshal(r) // it has texts and numbers only
	sum := sha256.Sum256(plain)
	return base64.RawURLEncoding.EncodeToString(sum[:15])
}

// HasRow reports whether the item of a product is as a row with the hash has made it.
func HasRow(it *store.Item, hash string) bool { return hash != "" && it.Attributes[feedHash] == hash }

// MovedSince reports whether the product has changed since a moment, or what it is offered for until another one.
func (r *StoredProduct) MovedSince(since, now shelf.Moment) bool {
	within := func(at resource.Time) bool { return at.After(since.Clock) && !at.After(now.Clock) }
	return r.UpdatedAt.After(since.Now) || slices.ContainsFunc(r.Promotions,
		func(p ProductPromotion) bool { return within(p.StartsAt) || within(p.EndsAt) })
}

// PromotionKey returns the key of the promotion of a product's feed, or the zero key if there is none.
func (r *StoredProduct) PromotionKey() store.Key {
	if r.Feed == nil || r.Feed.PromotionID == "" {
		return store.Key{}
	}
	return store.IDKey(r.Feed.PromotionID)
}

// Shelf puts the rows of a feed into the catalog of a factory.
type Shelf struct {
	Owner     tenant.Owner
	FactoryID string
	// Now is the time of records, and Clock that of promotions, which a sandbox moves.
	Now, Clock time.Time
	// Steers reports that who has set the feed may not publish.
	Steers bool
	// RunID is the run that has read the rows.
	RunID string
}

// Put adds to the transaction what a row makes of its product: the one with its SKU, or a new one if the item is zero.
// The item of the promotion of its last sale is zero if there is none. An error of type *errs.Error says what is wrong
// with the row.
func (s Shelf) Put(tx *store.Tx, it, promotion store.Item, row feed.Row) (done Outcome, err error) {
	hash := RowHash(row)
	r := &StoredProduct{Photos: []StoredPhoto{}, Product: Product{FactoryID: s.FactoryID,
		Resource: resource.New(id.New(id.Product, s.Now), s.Now, nil)}}
	if it.Kind != "" {
		if err := it.Decode(r); err != nil {
			return Unchanged, err
		}
		if HasRow(&it, hash) {
			return Unchanged, nil
		}
		r.Touch(s.Now)
	}
	if r.InFeed = true; r.Feed == nil {
		r.Feed = &FeedRow{Ours: it.Kind != ""}
	}
	if err := s.fill(r, row); err != nil {
		return Unchanged, err
	}
	if err := s.sale(tx, r, promotion, row); err != nil {
		return Unchanged, err
	}
	s.note(r, row)
	s.photos(tx, r, row)
	r.Feed.Hash, r.Feed.Group, r.Steered = hash, row.Group, s.Steers
	if it.Kind == "" {
		return Created, Create(tx, s.Owner, r)
	}
	return Changed, Replace(tx, it, r, r.SKU)
}

// fill takes the members of a row over.
func (s Shelf) fill(r *StoredProduct, row feed.Row) error {
	others := *r // the promotion of the feed follows its price
	others.Promotions = slices.DeleteFunc(slices.Clone(r.Promotions),
		func(i ProductPromotion) bool { return i.ID == r.Feed.PromotionID })
	if err := others.CheckPrice(row.Price, s.Clock); err != nil {
		return err
	}
	r.describe(row.ID, row.Name, row.Description, row.URL, row.Price)
	r.Availability, r.Attributes = Availability(row.Stock), resource.Metadata(row.Attributes).OrEmpty()
	return nil
}

// describe takes the members of an active product over from another system. Without a name, its texts stay.
func (r *StoredProduct) describe(sku, name, description, url string, price money.Price) {
	r.SKU, r.Price, r.State, r.URL = sku, price, Active, resource.OrNil(url)
	if name != "" {
		r.Name, r.Description = name, resource.Text(description)
	}
}

// sale has the product be in the promotion of the sale of a row. A sale without a beginning begins now, and one without
// an end lasts for a year, or until the feed has it no more.
func (s Shelf) sale(tx *store.Tx, r *StoredProduct, it store.Item, row feed.Row) (err error) {
	var p Promotion
	open := it.Kind == PromotionKind && it.Owner == s.Owner
	if open {
		if p, err = DecodePromotion(&it, s.Clock); err != nil {
			return err
		}
		open = p.State != Ended
	}
	wanted := row.Sale
	if wanted != nil && !wanted.Until.IsZero() && !wanted.Until.After(s.Clock) {
		wanted = nil
	}
	if wanted == nil {
		r.Feed.PromotionID = ""
		if !open {
			return nil
		}
		p.State, p.EndsAt = Ended, resource.Instant(s.Clock)
		r.Exclude(p.ID, s.Clock)
		p.Touch(s.Now)
		placePromotion(&it, &p)
		return tx.Rewrite(it, p)
	}
	if !open {
		p = Promotion{Resource: resource.New(id.New(id.Promotion, s.Now), s.Now, nil), FactoryID: s.FactoryID,
			ProductIDs: []string{r.ID}, FromFeed: true}
	}
	p.Name = saleName(wanted, row)
	p.Discount = Discount{Kind: Amount, Value: row.Price.Amount - wanted.Price.Amount}
	if p.StartsAt.IsZero() || !wanted.From.IsZero() {
		p.StartsAt = resource.Instant(cmp.Or(wanted.From, s.Clock))
	}
	if p.EndsAt.IsZero() || !wanted.Until.IsZero() {
		p.EndsAt = resource.Instant(wanted.Until)
		if wanted.Until.IsZero() {
			p.EndsAt = resource.Instant(s.Clock.AddDate(0, 0, openEndedSaleDays))
		}
	}
	p.State = stateAt(s.Clock, p.StartsAt, p.EndsAt)
	if len(r.OpenPromotions(s.Clock)) >= MaxPromotions && !open {
		return errs.Invalid("/sale_price", "makes one promotion more than the %d that a product may be in. End others",
			MaxPromotions)
	}
	r.Include(&p, s.Clock)
	p.PriorPrices = []PriorPrice{{r.ID, r.Prior(r.Promotions[len(r.Promotions)-1])}}
	r.Feed.PromotionID = p.ID
	if !open {
		_, err = promotions.Add(tx, s.Now, s.Owner, &p)
		return err
	}
	p.Touch(s.Now)
	placePromotion(&it, &p)
	return tx.Rewrite(it, p)
}

// saleName names the promotion of a sale by its price.
func saleName(sale *feed.Sale, row feed.Row) string {
	percent := (row.Price.Amount - sale.Price.Amount) * 100 / row.Price.Amount
	return fmt.Sprintf("Sale −%d %%", percent)
}

// photos notes which photos the product is to have, and removes those of its feed that the row has no more. Their files
// end after a day.
func (s Shelf) photos(tx *store.Tx, r *StoredProduct, row feed.Row) {
	was := r.Feed.PhotoURLs
	r.Feed.PhotoURLs, r.Feed.MissingPhotos = row.Photos, nil
	for i := len(r.Photos) - 1; i >= 0; i-- {
		of := r.Photos[i].SourceURL
		if of == nil || !slices.Contains(was, *of) || slices.Contains(row.Photos, *of) ||
			r.Photos[i].State == incoming.Pending {
			continue
		}
		_ = r.Remove(tx, s.Now, s.Owner, i) // it makes a task of texts alone
	}
	for _, url := range row.Photos {
		there := slices.ContainsFunc(r.Photos, func(p StoredPhoto) bool {
			return p.SourceURL != nil && *p.SourceURL == url
		})
		if !there && len(r.Photos)+len(r.Feed.MissingPhotos) < MaxPhotos {
			r.Feed.MissingPhotos = append(r.Feed.MissingPhotos, url)
		}
	}
	r.order()
}

// order puts the photos of the feed into the order of its row, in the places that they have among others.
func (r *StoredProduct) order() {
	var places []int
	var found []StoredPhoto
	place := func(p StoredPhoto) int {
		if p.SourceURL == nil {
			return -1
		}
		return slices.Index(r.Feed.PhotoURLs, *p.SourceURL)
	}
	for i, p := range r.Photos {
		if place(p) >= 0 {
			places, found = append(places, i), append(found, p)
		}
	}
	slices.SortStableFunc(found, func(a, b StoredPhoto) int { return place(a) - place(b) })
	for i, p := range found {
		r.Photos[places[i]] = p
	}
}

// Withdraw adds to the transaction that the row of a product is gone: the product is archived, and its sale ends. One
// that was there before the feed stays as it is, and leaves the feed. Withdraw returns false if the product is not
// archived by it.
func (s Shelf) Withdraw(tx *store.Tx, it, promotion store.Item) (bool, error) {
	r, err := Decode(&it)
	if err != nil || r.Feed == nil || r.State == Archived {
		return false, err
	}
	if err := s.sale(tx, r, promotion, feed.Row{Price: r.Price}); err != nil {
		return false, err
	}
	if r.Feed.Ours {
		r.Feed, r.InFeed = nil, false
		r.Touch(s.Now)
		return false, Replace(tx, it, r, r.SKU)
	}
	r.State, r.Feed.Hash = Archived, ""
	if n := len(r.Feed.Changes); n > 0 {
		s.keep(r, r.Feed.Changes[n-1], RowRemoved)
	}
	r.Touch(s.Now)
	return true, Replace(tx, it, r, r.SKU)
}

// Fetch adds to the transaction that the first missing photo of a product is fetched. It returns how many are left.
func (s Shelf) Fetch(tx *store.Tx, it store.Item) (left int, err error) {
	r, err := Decode(&it)
	if err != nil || r.Feed == nil || r.State == Archived || len(r.Feed.MissingPhotos) == 0 {
		return 0, err
	}
	url := r.Feed.MissingPhotos[0]
	if r.Feed.MissingPhotos = r.Feed.MissingPhotos[1:]; len(r.Photos) < MaxPhotos {
		photo := NewPhoto(r.ID, s.Now, incoming.Declared{}, url, "")
		if err := photo.Await(tx, s.Now, s.Owner); err != nil {
			return 0, err
		}
		r.Photos = append(r.Photos, photo)
		r.order()
	}
	r.Touch(s.Now)
	return len(r.Feed.MissingPhotos), Replace(tx, it, r, r.SKU)
}
