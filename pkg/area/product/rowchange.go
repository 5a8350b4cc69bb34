package product

import (
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/craft/feed"
	"github.com/content-automation/api/pkg/record/resource"
)

// The changes of a row: it came into the feed, its price, its sale price, its availability or its main photo changed,
// or it left the feed.
const (
	RowAdded   = "added"
	RowPrice   = "price"
	RowSale    = "sale_price"
	RowStock   = "availability"
	RowPhoto   = "photo"
	RowRemoved = "removed"
)

var _ = format.Define("feed-change", format.Format{
	Values: []string{RowAdded, RowPrice, RowSale, RowStock, RowPhoto, RowRemoved}})

// FeedChange is a change of a product by the feed of its factory.
type FeedChange struct {
	// Run of the feed that has made it.
	RunID string `json:"run_id" example:"run_01h455vb4pex5vsknk084sn02q"`
	// Its time, UTC.
	At resource.Time `json:"at"`
	// What has changed.
	Changes []string `json:"changes" format:"feed-change" nullable:"false"`
	// Price since then.
	Price money.Price `json:"price"`
	// Sale price since then. Null: none.
	SalePrice *money.Price `json:"sale_price"`
	// Availability since then.
	Availability Availability `json:"availability" enum:"in_stock,out_of_stock,preorder,backorder"`
}

// mostRowChanges is the number of changes that a product keeps.
const mostRowChanges = 20

// rowChange is the stored form of a FeedChange. It is short, because each change of a row writes all that are kept.
type rowChange struct {
	Run      string       `json:"r"`
	At       int64        `json:"t"` // milliseconds
	Changed  string       `json:"w"` // with commas between them
	Amount   int64        `json:"p"`
	Sale     *int64       `json:"s,omitempty"`
	Currency string       `json:"c"`
	Stock    Availability `json:"a"`
}

// note keeps what a row changes beside the row before, if that is worth showing. It is called before the row has its
// photos.
func (s Shelf) note(r *StoredProduct, row feed.Row) {
	now := rowChange{Amount: row.Price.Amount, Currency: row.Price.Currency, Stock: Availability(row.Stock)}
	if row.Sale != nil {
		now.Sale = &row.Sale.Price.Amount
	}
	n := len(r.Feed.Changes)
	if n == 0 || r.Feed.Changes[n-1].Changed == RowRemoved {
		s.keep(r, now, RowAdded)
		return
	}
	was := r.Feed.Changes[n-1]
	var changed []string
	for _, one := range []struct {
		name string
		same bool
	}{
		{RowPrice, was.Amount == now.Amount && was.Currency == now.Currency},
		{RowSale, resource.Equal(was.Sale, now.Sale)},
		{RowStock, was.Stock == now.Stock},
		{RowPhoto, mainOf(r.Feed.PhotoURLs) == mainOf(row.Photos)},
	} {
		if !one.same {
			changed = append(changed, one.name)
		}
	}
	if len(changed) > 0 {
		s.keep(r, now, changed...)
	}
}

// mainOf returns the first of some photos, or an empty text.
func mainOf(photos []string) string {
	if len(photos) == 0 {
		return ""
	}
	return photos[0]
}

// keep adds a change, and drops the oldest one if there are too many.
func (s Shelf) keep(r *StoredProduct, c rowChange, changed ...string) {
	c.Run, c.At, c.Changed = s.RunID, s.Now.UnixMilli(), strings.Join(changed, ",")
	all := append(slices.Clone(r.Feed.Changes), c)
	r.Feed.Changes = all[max(0, len(all)-mostRowChanges):]
}

// feedChanges returns the changes that the product keeps, the newest first.
func (r *StoredProduct) feedChanges() []FeedChange {
	shown := []FeedChange{}
	if r.Feed == nil {
		return shown
	}
	for _, c := range slices.Backward(r.Feed.Changes) {
		one := FeedChange{RunID: c.Run, At: resource.Instant(time.UnixMilli(c.At)), Availability: c.Stock,
			Changes: strings.Split(c.Changed, ","), Price: money.Price{Amount: c.Amount, Currency: c.Currency}}
		if c.Sale != nil {
			one.SalePrice = &money.Price{Amount: *c.Sale, Currency: c.Currency}
		}
		shown = append(shown, one)
	}
	return shown
}
