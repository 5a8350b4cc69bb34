package feed

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"hash/fnv"
	"io"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
)

// SandboxShop is the address of the feed of a shop that every sandbox has: 200 products in Google's format, whose
// prices, sales and stock follow the clock of the sandbox, each day anew. Nothing is fetched.
const SandboxShop = "https://shop.example.com/sandbox.xml"

// shopProducts is the number of its products.
const shopProducts = 200

// isSandboxShop reports whether an address is that of the shop of a sandbox.
func isSandboxShop(o tenant.Owner, address string) bool {
	return o.Mode == tenant.Test && address == SandboxShop
}

// shopItem is a product of the shop as Google's format has it.
type shopItem struct {
	XMLName      xml.Name `xml:"item"`
	ID           string   `xml:"g:id"`
	Title        string   `xml:"g:title"`
	Description  string   `xml:"g:description"`
	Link         string   `xml:"g:link"`
	Price        string   `xml:"g:price"`
	Sale         string   `xml:"g:sale_price,omitempty"`
	Availability string   `xml:"g:availability"`
	Group        string   `xml:"g:item_group_id"`
	Color        string   `xml:"g:color"`
	Size         string   `xml:"g:size"`
}

var (
	shopKinds  = []string{"Trail shoe", "Rain jacket", "Backpack", "Headlamp", "Merino shirt"}
	shopColors = []string{"black", "red", "blue", "green"}
	shopSizes  = []string{"S", "M", "L", "XL"}
)

// chance returns a number below n that follows from a product and a day.
func chance(product int, day int64, what string, n uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%d/%s", product, day, what)
	return h.Sum64() >> 8 % n
}

// sandboxShop returns the feed of the shop at a time. On a day a fifth of the prices are others than on the day before.
func sandboxShop(now time.Time) (io.ReadCloser, error) {
	var b bytes.Buffer
	b.WriteString(xml.Header + `<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>`)
	e := xml.NewEncoder(&b)
	day := now.Unix() / int64((24 * time.Hour).Seconds())
	for i := range shopProducts {
		kind, color, size := shopKinds[i/40], shopColors[i/4%4], shopSizes[i%4]
		since := day // of its price: one of the last five days
		since -= (day + int64(i)) % 5
		price := 2000 + 100*chance(i, since, "price", 150)
		item := shopItem{ID: fmt.Sprintf("SHOP-%03d", i+1), Title: fmt.Sprintf("%s, %s, %s, no. %d", kind, color, size,
			i/16+1), Description: "Made for long days outside. " + kind + " in " + color + ".",
			Link: fmt.Sprintf("https://shop.example.com/products/%d", i+1), Price: euros(price),
			Availability: "in_stock",
			Group:        fmt.Sprintf("GROUP-%02d", i/16+1), Color: color, Size: size}
		if chance(i, since, "sale", 10) == 0 {
			item.Sale = euros(price * 8 / 10)
		}
		if chance(i, since, "stock", 20) == 0 {
			item.Availability = "out_of_stock"
		}
		if err := e.Encode(item); err != nil {
			return nil, fmt.Errorf("feed: the shop of the sandbox: %w", err)
		}
	}
	b.WriteString("</channel></rss>")
	return io.NopCloser(&b), nil
}

// euros writes an amount in cents as a price in euros.
func euros(cents uint64) string { return fmt.Sprintf("%d.%02d EUR", cents/100, cents%100) }
