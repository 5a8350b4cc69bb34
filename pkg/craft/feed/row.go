package feed

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/content-automation/api/pkg/base/text"
)

// raw is a row as its feed writes it: texts by the names of Google's product data specification.
type raw struct {
	number int
	values map[string]string
	photos []string
	// names are what the feed calls members, where that is another name.
	names map[string]string
	// attributes are properties of the product by their names, in the order of order.
	attributes map[string]string
	order      []string
	// large is the largest member of a row that is too large, as the feed calls it.
	large string
}

func newRaw(number int) *raw {
	return &raw{number: number, values: map[string]string{}, attributes: map[string]string{}}
}

// set sets a member that has no value yet.
func (w *raw) set(name, value string) {
	if value = strings.TrimSpace(value); value != "" && w.values[name] == "" {
		w.values[name] = value
	}
}

// property sets a property of the product.
func (w *raw) property(name, value string) {
	name, value = oneLine(name, MaxAttributeName), oneLine(value, MaxAttributeValue)
	if _, known := w.attributes[name]; name == "" || value == "" || known || len(w.order) == MaxAttributes {
		return
	}
	w.attributes[name] = value
	w.order = append(w.order, name)
}

// The names of members, as Google's product data specification has them.
const (
	memberID          = "id"
	memberTitle       = "title"
	memberDescription = "description"
	memberLink        = "link"
	memberPrice       = "price"
	memberCurrency    = "currency"
	memberSale        = "sale_price"
	memberPeriod      = "sale_price_effective_date"
	memberFrom        = "sale_from"
	memberUntil       = "sale_until"
	memberStock       = "availability"
	memberPhoto       = "image_link"
	memberPhotos      = "additional_image_link"
	memberGroup       = "item_group_id"
)

// properties are the members that become attributes of a product.
var properties = []string{"color", "size", "material", "pattern", "gender", "age_group", "brand", "condition",
	"size_type", "size_system", "gtin", "mpn", "product_type"}

// member returns the name of a member in the feed.
func (w *raw) member(name string) string {
	if own := w.names[name]; own != "" {
		return own
	}
	return name
}

// refusal is an error of a member.
type refusal struct{ member, reason string }

func (r *refusal) Error() string { return r.member + " " + r.reason }

func (w *raw) refuse(name, format string, args ...any) error {
	return &refusal{w.member(name), fmt.Sprintf(format, args...)}
}

// row counts a row, and passes it on.
func (p *parser) row(w *raw) error {
	if p.rows++; p.rows > MaxRows {
		return fault("The feed has more than %d rows.", MaxRows)
	}
	r, err := p.rowOf(w)
	if refused, ok := err.(*refusal); ok {
		return p.take(Row{Number: w.number, ID: r.ID}, refusalOf(w, refused.member, refused.reason))
	}
	if err != nil {
		return err
	}
	return p.take(r, nil)
}

// refusalOf returns the refusal of a row. The name of a member may be as long as its feed likes.
func refusalOf(w *raw, member, reason string) *Refusal {
	return &Refusal{w.number, text.ClipLetters(member, 100), reason}
}

// rowOf reads the members of a row.
func (p *parser) rowOf(w *raw) (r Row, err error) {
	v := w.values
	r = Row{Number: w.number, Group: oneLine(v[memberGroup], 64)}
	id := v[memberID]
	switch {
	case id == "":
		return r, w.refuse(memberID, "is missing")
	case utf8.RuneCountInString(id) > 64 || strings.ContainsFunc(id, unicode.IsControl):
		return r, w.refuse(memberID, "is %.80q. An id has up to 64 characters, and no control characters", id)
	}
	key := Key(id)
	if other, twice := p.seen[key]; twice {
		return r, w.refuse(memberID, "is %q, as in row %d. Give each product an id of its own", id, other)
	}
	p.seen[key], r.ID = int32(w.number), id // what is refused from here on is not gone
	if w.large != "" {
		return r, &refusal{w.large, fmt.Sprintf("is too long. A row has up to %d KB", maxRecord>>10)}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if strings.ContainsRune(v[name], unicode.ReplacementChar) {
			return r, w.refuse(name, "has a character that cannot be read. Write the feed in UTF-8")
		}
	}
	if r.Name = text.ClipLetters(oneLine(text.OfHTML(v[memberTitle]), 1000), 200); text.IsBlank(r.Name) {
		return r, w.refuse(memberTitle, "is missing")
	}
	r.Description = text.ClipLetters(text.OfHTML(v[memberDescription]), 5000)
	if r.URL, err = address(v[memberLink]); err != nil {
		return r, w.refuse(memberLink, "%s", err)
	}
	if r.Stock, err = stockOf(v[memberStock]); err != nil {
		return r, w.refuse(memberStock, "%s", err)
	}
	if err := p.prices(w, &r); err != nil {
		return r, err
	}
	return r, w.rest(&r)
}

// prices reads the price of a row and its sale.
func (p *parser) prices(w *raw, r *Row) (err error) {
	v, currency := w.values, p.Currency
	if v[memberCurrency] != "" {
		currency = v[memberCurrency]
	}
	if v[memberPrice] == "" {
		return w.refuse(memberPrice, "is missing")
	}
	if r.Price, err = p.price(v[memberPrice], currency); err != nil {
		if _, known := currencyOf("", currency); v[memberCurrency] != "" && !known {
			return w.refuse(memberCurrency, "is %.40q, which is no code of ISO 4217", currency)
		}
		return w.refuse(memberPrice, "%s", err)
	}
	if r.Price.Amount == 0 {
		return w.refuse(memberPrice, "is 0")
	}
	if v[memberSale] == "" {
		return nil
	}
	sale := Sale{}
	if sale.Price, err = p.price(v[memberSale], r.Price.Currency); err != nil {
		return w.refuse(memberSale, "%s", err)
	}
	if sale.From, sale.Until, err = periodOf(v[memberPeriod], p.Zone); err != nil {
		return w.refuse(memberPeriod, "%s", err)
	}
	for i, end := range []*time.Time{&sale.From, &sale.Until} {
		name := []string{memberFrom, memberUntil}[i]
		if v[name] == "" {
			continue
		}
		if *end, err = timeOf(v[name], p.Zone, name == memberUntil); err != nil {
			return w.refuse(name, "%s", err)
		}
	}
	switch {
	case sale.Price == r.Price, sale.Price.Amount == 0:
		return nil // many shops write the price into both, or 0 for none
	case sale.Price.Currency != r.Price.Currency:
		return w.refuse(memberSale, "is in %s, and the price in %s", sale.Price.Currency, r.Price.Currency)
	case sale.Price.Amount > r.Price.Amount:
		return w.refuse(memberSale, "is above the price. A sale lowers the price")
	}
	r.Sale = &sale
	return nil
}

// rest reads the photos and the attributes of a row. A further photo whose address is none is left out.
func (w *raw) rest(r *Row) error {
	var wrong error
	first := split(w.values[memberPhoto])
	for i, photo := range append(first, w.photos...) {
		at, err := address(photo)
		switch {
		case err != nil && i == 0 && len(first) > 0:
			return w.refuse(memberPhoto, "%s", err)
		case err != nil:
			wrong = cmp.Or(wrong, w.refuse(memberPhotos, "%s", err))
		}
		if at == "" || len(r.Photos) == maxPhotos {
			continue
		}
		// Photos are fetched by https alone, which the servers of nearly all shops speak, or from this machine.
		if rest, plain := strings.CutPrefix(at, "http://"); plain && !strings.HasPrefix(rest, "127.0.0.1:") &&
			!strings.HasPrefix(rest, "localhost:") {
			at = "https://" + rest
		}
		if !slices.Contains(r.Photos, at) {
			r.Photos = append(r.Photos, at)
		}
	}
	if len(r.Photos) == 0 && wrong != nil {
		return wrong
	}
	for _, name := range properties {
		w.property(name, w.values[name])
	}
	if len(w.attributes) > 0 {
		r.Attributes = w.attributes
	}
	return nil
}

// maxPhotos is the number of photos that a product has.
const maxPhotos = 10

// shortened returns an id that is made of others, as long as an id may be.
func shortened(id string) string {
	if letters := []rune(id); len(letters) > 64 {
		sum := sha256.Sum256([]byte(id))
		id = string(letters[:51]) + "-" + hex.EncodeToString(sum[:6])
	}
	return id
}

// Key returns a short hash of the id of a row, by which many ids can be held.
func Key(id string) (key [8]byte) {
	sum := sha256.Sum256([]byte(id))
	copy(key[:], sum[:])
	return key
}

// escapes are the escaped bytes of an address, and percent signs that escape none.
var escapes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%(?:[0-9A-Fa-f]{2})?`) })

// address returns an http or https URL, with its spaces encoded, or an empty text for none.
func address(raw string) (string, error) {
	raw = strings.TrimSpace(html.UnescapeString(raw))
	if raw == "" {
		return "", nil
	}
	// As browsers read it (url.spec.whatwg.org), with the scheme of shops where there is none.
	raw = strings.NewReplacer("\t", "", "\r", "", "\n", "", " ", "%20").Replace(raw)
	raw = escapes().ReplaceAllStringFunc(raw, func(s string) string {
		if s == "%" {
			return "%25"
		}
		return s
	})
	if strings.HasPrefix(raw, "//") {
		raw = "https:" + raw
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil {
		return "", fmt.Errorf("is %.80q, which is no http or https URL", raw)
	}
	if host, err := idna.Lookup.ToASCII(u.Hostname()); err == nil {
		u.Host = strings.Replace(u.Host, u.Hostname(), host, 1)
	}
	if raw = u.String(); len(raw) > 2048 {
		return "", fmt.Errorf("has %d characters. An address has up to 2,048", len(raw))
	}
	return raw, nil
}

// stocks are the words for a stock, without spaces.
var stocks = map[string]Stock{"": InStock, "instock": InStock, "available": InStock, "true": InStock, "yes": InStock,
	"y": InStock, "lowstock": InStock, "limitedstock": InStock, "availablefororder": InStock,
	"limitedavailability": InStock, "onlineonly": InStock, "instoreonly": InStock, "outofstock": OutOfStock,
	"soldout": OutOfStock, "unavailable": OutOfStock, "notavailable": OutOfStock, "notinstock": OutOfStock,
	"false": OutOfStock, "no": OutOfStock, "n": OutOfStock, "discontinued": OutOfStock, "preorder": Preorder,
	"presale": Preorder, "backorder": Backorder, "backordered": Backorder, "onbackorder": Backorder,
	"madetoorder": Backorder}

// stockOf reads a stock, also as schema.org writes it, or the number of pieces.
func stockOf(word string) (Stock, error) {
	plain := strings.ToLower(strings.TrimSpace(word))
	if pieces, err := strconv.ParseFloat(plain, 64); err == nil && strings.Trim(plain, "-0123456789.") == "" {
		plain = strconv.FormatBool(pieces > 0)
	}
	if _, word, of := strings.Cut(plain, "schema.org/"); of {
		plain = word
	}
	s, ok := stocks[spaces.Replace(plain)]
	if !ok {
		return s, fmt.Errorf("is %.40q. Write in_stock, out_of_stock, preorder or backorder", word)
	}
	return s, nil
}

// oneLine puts a text on one line of at most n characters.
func oneLine(line string, n int) string {
	return text.ClipLetters(strings.Join(strings.Fields(text.OfHTML(line)), " "), n)
}
