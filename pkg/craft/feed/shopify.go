package feed

import (
	"io"
	"slices"
	"strconv"
	"strings"
)

// shopifyTitles are the titles of the columns of Shopify's export of products, and those that newer exports have.
var shopifyTitles = map[string]string{"handle": "handle", "url handle": "handle", "title": "title",
	"body (html)": "body", "description": "body", "vendor": "vendor", "type": "type", "published": "published",
	"published on online store": "published", "status": "status",
	"option1 name": "name1", "option1 value": "value1", "option2 name": "name2", "option2 value": "value2",
	"option3 name": "name3", "option3 value": "value3", "variant sku": "sku", "sku": "sku",
	"variant inventory tracker": "tracker", "inventory tracker": "tracker", "variant inventory qty": "quantity",
	"inventory quantity": "quantity", "variant inventory policy": "policy",
	"continue selling when out of stock": "policy", "variant price": "price", "price": "price",
	"variant compare at price": "before", "compare-at price": "before", "variant barcode": "barcode",
	"barcode": "barcode", "image src": "image", "product image url": "image", "variant image": "own image",
	"variant image url": "own image", "gift card": "gift"}

// maxVariants bounds the rows of one product of Shopify.
const maxVariants = 2048

// shopifyRow is a row by the names of shopifyTitles.
type shopifyRow struct {
	line  int
	cells map[string]string
}

// shopify reads Shopify's export of products. The rows of one product have the same handle: its first row has its
// texts, each row with a price is a variant, and each row may have a photo.
func (p *parser) shopify(body io.Reader) error {
	t, titles, err := open(body, func(title string) bool {
		return shopifyTitles[strings.ToLower(strings.TrimSpace(title))] != ""
	})
	if err != nil {
		return err
	}
	of := make([]string, len(titles))
	for i, title := range titles {
		of[i] = shopifyTitles[strings.ToLower(strings.TrimSpace(title))]
	}
	if !slices.Contains(of, "handle") || !slices.Contains(of, "title") || !slices.Contains(of, "price") {
		return fault("The feed is no export of products of Shopify: it has %s.", listed(titles))
	}
	var held []shopifyRow
	for {
		read, err := p.next(t, len(titles))
		if err == io.EOF {
			return p.shopifyProduct(held)
		}
		if err != nil {
			return err
		}
		row := shopifyRow{read.line, map[string]string{}}
		for i, cell := range read.cells[:min(len(read.cells), len(of))] {
			if cell = strings.TrimSpace(cell); of[i] != "" && row.cells[of[i]] == "" && cell != "" {
				row.cells[of[i]] = cell
			}
		}
		handle := row.cells["handle"]
		if handle != "" && len(held) > 0 && held[0].cells["handle"] != handle {
			err = p.shopifyProduct(held)
			held = nil
		}
		switch {
		case err != nil:
		case len(read.cells) > len(of):
			err = p.misshapen(p.variant(row.cells, row, nil, false), "", manyCells, len(read.cells),
				len(titles))
		case read.large >= 0:
			w := p.variant(row.cells, row, nil, false)
			w.large = titles[read.large]
			err = p.row(w)
		case handle == "":
			err = p.misshapen(p.variant(row.cells, row, nil, false), "Handle", "is missing")
		case len(held) == maxVariants:
			err = fault("The product %.80q has more than %d rows.", handle, maxVariants)
		default:
			held = append(held, row)
		}
		if err != nil {
			return err
		}
	}
}

// shopifyProduct passes the variants of a product on. One that is a draft, archived or not published is left out, as
// if it was not in the feed.
func (p *parser) shopifyProduct(rows []shopifyRow) error {
	if len(rows) == 0 {
		return nil
	}
	first := rows[0].cells
	if status := strings.ToLower(first["status"]); status != "" && status != "active" ||
		strings.EqualFold(first["published"], "false") {
		p.rows += len(rows)
		return nil
	}
	if first["title"] == "" {
		return p.scattered(rows)
	}
	var photos []string
	var variants []shopifyRow
	for i, row := range rows {
		c := row.cells
		if c["image"] != "" {
			photos = append(photos, c["image"])
		}
		if i == 0 || c["price"] != "" || c["sku"] != "" || c["value1"] != "" {
			variants = append(variants, row)
		}
	}
	for _, row := range variants {
		if err := p.row(p.variant(first, row, photos, len(variants) > 1)); err != nil {
			return err
		}
	}
	return nil
}

// scattered refuses rows that do not follow the first one of their product.
func (p *parser) scattered(rows []shopifyRow) error {
	for _, row := range rows {
		w := p.variant(rows[0].cells, row, nil, false)
		if err := p.misshapen(w, "Title", "is missing. The rows of a product follow one another, and the first has "+
			"its texts"); err != nil {
			return err
		}
	}
	return nil
}

// variant returns the row of a variant.
func (p *parser) variant(first map[string]string, row shopifyRow, photos []string, several bool) *raw {
	w, v := newRaw(row.line), row.cells
	w.names = map[string]string{memberID: "Variant SKU", memberTitle: "Title", memberPrice: "Variant Price",
		memberSale: "Variant Price", memberPhoto: "Image Src", memberPhotos: "Image Src",
		memberStock: "Variant Inventory Qty"}
	id := v["handle"]
	for _, n := range []string{"1", "2", "3"} {
		name, value := first["name"+n], v["value"+n]
		if value == "" || value == "Default Title" {
			continue
		}
		w.property(name, value)
		id += "-" + value
	}
	w.set(memberID, strings.TrimPrefix(v["sku"], "'")) // the mark that spreadsheets put before digits
	w.set(memberID, shortened(id))
	if several {
		w.set(memberGroup, shortened(v["handle"]))
	}
	w.set(memberTitle, first["title"])
	w.set(memberDescription, first["body"])
	w.set("brand", first["vendor"])
	w.set("product_type", first["type"])
	w.set(memberPrice, v["price"])
	price, err := p.price(v["price"], p.Currency)
	before, beforeErr := p.price(v["before"], p.Currency)
	if err == nil && beforeErr == nil && before.Amount > price.Amount {
		w.values[memberPrice], w.values[memberSale] = v["before"], v["price"]
		w.names[memberPrice] = "Variant Compare At Price"
	}
	w.set(memberPhoto, v["own image"])
	w.photos = photos
	quantity, err := strconv.Atoi(v["quantity"])
	if policy := strings.ToLower(v["policy"]); v["tracker"] != "" && err == nil && quantity <= 0 &&
		policy != "continue" && policy != "true" {
		w.set(memberStock, string(OutOfStock))
	}
	return w
}
