package feed

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/base/budget"
)

// node is an element of XML with what is in it.
type node struct {
	name     xml.Name
	attrs    []xml.Attr
	text     strings.Builder
	children []*node
	// large is the name of the largest child, and size its bytes. over reports that the row has become too large: what
	// is behind is not held, but its id.
	large string
	size  int64
	over  bool
}

// attr returns an attribute.
func (n *node) attr(name string) string {
	for _, a := range n.attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// child returns the text of the first child with a name.
func (n *node) child(name string) string {
	for _, c := range n.children {
		if c.name.Local == name {
			return c.text.String()
		}
	}
	return ""
}

// all returns the text of an element and of those in it, as HTML may be in XML without being quoted.
func (n *node) all() string {
	if len(n.children) == 0 {
		return n.text.String()
	}
	var b strings.Builder
	b.WriteString(n.text.String())
	for _, c := range n.children {
		b.WriteString("\n" + c.all())
	}
	return b.String()
}

// elements reads the elements of a feed one by one.
type elements struct {
	*xml.Decoder
	tokens *budget.Tokens
	meter  *budget.Meter
	begin  int64 // the place of the element row, which is held
	row    *node
	rows   *int
}

func (p *parser) elements(tokens *budget.Tokens) *elements {
	d := xml.NewDecoder(tokens)
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // decoded has done it
	return &elements{Decoder: d, tokens: tokens, meter: p.meter, rows: &p.rows}
}

// token returns the next token. A document type may not define entities, which unfold into more than was sent.
func (e *elements) token() (xml.Token, error) {
	token, err := e.Token()
	e.tokens.Ended(e.InputOffset())
	var syntax *xml.SyntaxError
	line, _ := e.InputPos()
	switch {
	case errors.As(err, &syntax):
		return nil, fault("Line %d of the feed is no XML: %s.", syntax.Line, syntax.Msg)
	case err != nil && strings.HasPrefix(err.Error(), "xml: "):
		return nil, fault("Line %d of the feed is no XML: %s.", line, strings.TrimPrefix(err.Error(), "xml: "))
	case errors.Is(err, budget.ErrExceeded):
		return nil, fmt.Errorf("%w, at line %d", err, line)
	case err != nil:
		return nil, err
	}
	switch t := token.(type) {
	case xml.Directive:
		if strings.Contains(string(t), "ENTITY") {
			return nil, fault("The feed defines entities of its own in its document type. Write the characters " +
				"themselves.")
		}
	case xml.StartElement:
		if err = e.meter.Enter(); err != nil {
			err = fmt.Errorf("%w, at line %d", err, line)
		}
	case xml.EndElement:
		e.meter.Leave()
	}
	return token, err
}

// withoutDeclaration leaves the declaration of a document out: its encoding is known, and the decoder takes no XML 1.1.
func withoutDeclaration(r io.Reader) io.Reader {
	b := bufio.NewReaderSize(r, 64<<10)
	head, _ := b.Peek(1024) // what is wrong with a shorter one is told when it is read
	if end := bytes.Index(head, []byte("?>")); end >= 0 && bytes.HasPrefix(bytes.TrimSpace(head), []byte("<?xml ")) {
		_, _ = b.Discard(end + 2)
	}
	return b
}

// element reads the rest of an element.
func (e *elements) element(start xml.StartElement) (*node, error) {
	n := &node{name: start.Name, attrs: start.Copy().Attr}
	e.row = cmp.Or(e.row, n)
	for {
		token, err := e.token()
		if err != nil {
			return nil, err
		}
		at := e.InputOffset()
		n.over = at-e.begin > maxRecord
		if at-e.begin > mostSkipped {
			line, _ := e.InputPos()
			return nil, fault("Row %d, which ends behind line %d, has more than %d MB.", *e.rows+1, line,
				mostSkipped>>20)
		}
		switch t := token.(type) {
		case xml.StartElement:
			c, err := e.element(t)
			if err != nil {
				return nil, err
			}
			if size := e.InputOffset() - at; size > n.size {
				n.size, n.large = size, c.name.Local
			}
			if isID := n == e.row && memberOf(c.name.Local) == memberID; !c.over || isID && len(n.children) < 100 {
				n.children = append(n.children, c)
			}
		case xml.CharData:
			if !n.over || n.text.Len()+len(t) < 1<<10 {
				n.text.Write(t)
			}
		case xml.EndElement:
			return n, nil
		}
	}
}

// each passes the elements with some names on, wherever they are. The first element has one of the names of roots.
func (e *elements) each(roots string, names map[string]func(*node) error) error {
	first := true
	for {
		token, err := e.token()
		if err == io.EOF {
			if first {
				return fault("The feed has no XML in it.")
			}
			return nil
		}
		if err != nil {
			return err
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if first && !strings.Contains(" "+roots+" ", " "+start.Name.Local+" ") {
			return fault("The first element of the feed is %.40s, not %s. Is the format right, and the address that "+
				"of a feed?", start.Name.Local, strings.ReplaceAll(roots, " ", " or "))
		}
		first = false
		take := names[start.Name.Local]
		if take == nil {
			continue
		}
		e.begin, e.row = e.InputOffset(), nil
		n, err := e.element(start)
		if err == nil && !n.over {
			n.large = ""
		}
		if err == nil {
			err = take(n)
		}
		if err != nil {
			return err
		}
	}
}

// google reads RSS 2.0 or Atom with the elements of Google's product data specification.
func (p *parser) google(tokens *budget.Tokens) error {
	number := 0
	item := func(n *node) error {
		number++
		w := newRaw(number)
		w.google(n)
		w.large = n.large
		return p.row(w)
	}
	return p.elements(tokens).each("rss feed RDF", map[string]func(*node) error{"item": item, "entry": item})
}

// rank orders the elements that have one name: those of Google, with their space declared or not, those of RSS and
// Atom, and those of others, such as media:title.
func rank(c *node) int {
	space := strings.TrimPrefix(strings.TrimPrefix(c.name.Space, "http://"), "https://")
	switch {
	case space == "g", strings.HasPrefix(space, "base.google.com/"):
		return 0
	case space == "", space == "www.w3.org/2005/Atom", strings.HasPrefix(space, "purl.org/rss/1.0"):
		return 1
	}
	return 2
}

// google reads an item. Only its own elements count: g:shipping has a g:price, too.
func (w *raw) google(n *node) {
	slices.SortStableFunc(n.children, func(a, b *node) int { return rank(a) - rank(b) })
	for _, c := range n.children {
		w.element(c)
	}
}

func (w *raw) element(c *node) {
	switch name := memberOf(c.name.Local); {
	case name == memberPhotos:
		w.photos = append(w.photos, split(c.text.String())...)
	case name == memberLink && c.attr("href") != "":
		if rel := c.attr("rel"); rel == "" || rel == "alternate" {
			w.set(name, c.attr("href"))
		}
	case name == "product_detail":
		w.property(c.child("attribute_name"), c.child("attribute_value"))
	case name == memberTitle || name == memberDescription:
		w.set(name, c.all())
	case name == "summary" || name == "content":
		w.set(memberDescription, c.all())
	case members[name] && name != memberAmount && len(c.children) == 0:
		w.set(name, c.text.String())
	}
}

// yml reads a feed of Yandex Market.
func (p *parser) yml(tokens *budget.Tokens) error {
	number, categories := 0, map[string]string{}
	const mostCategories = 20_000
	return p.elements(tokens).each("yml_catalog", map[string]func(*node) error{
		"currency": func(n *node) error { // that of the shop has the rate 1
			if p.Currency == "" && n.attr("rate") == "1" {
				p.Currency = n.attr("id")
			}
			return nil
		},
		"category": func(n *node) error {
			if len(categories) < mostCategories {
				categories[n.attr("id")] = oneLine(n.text.String(), 200)
			}
			return nil
		},
		"offer": func(n *node) error {
			number++
			w := newRaw(number)
			w.names = map[string]string{memberTitle: "name", memberLink: "url", memberCurrency: "currencyId",
				memberSale: "price", memberPhoto: "picture", memberPhotos: "picture", memberStock: "available",
				memberGroup: "group_id"}
			p.offer(w, n, categories)
			w.large = n.large
			return p.row(w)
		},
	})
}

// offer reads an offer: the price is what it costs now, and oldprice what it cost before the sale.
func (p *parser) offer(w *raw, n *node, categories map[string]string) {
	w.set(memberID, n.attr("id"))
	w.set(memberGroup, n.attr("group_id"))
	w.set(memberStock, n.attr("available"))
	w.set(memberTitle, n.child("name"))
	if w.values[memberTitle] == "" { // of the types vendor.model and artist.title, which have no name
		w.set(memberTitle, strings.Join([]string{n.child("typePrefix"), n.child("vendor"), n.child("model"),
			n.child("artist"), n.child("title")}, " "))
	}
	w.set(memberLink, n.child("url"))
	w.set(memberCurrency, n.child("currencyId"))
	w.set(memberPrice, n.child("price"))
	if old := n.child("oldprice"); strings.TrimSpace(old) != "" {
		currency := cmp.Or(w.values[memberCurrency], p.Currency, "EUR")
		price, err := p.price(w.values[memberPrice], currency)
		before, oldErr := p.price(old, currency)
		if err == nil && oldErr == nil && before.Amount > price.Amount {
			w.set(memberSale, w.values[memberPrice])
			w.values[memberPrice] = strings.TrimSpace(old)
			w.names[memberPrice] = "oldprice"
		}
	}
	for _, c := range n.children {
		switch c.name.Local {
		case "picture":
			if w.values[memberPhoto] == "" {
				w.set(memberPhoto, c.text.String())
			} else {
				w.photos = append(w.photos, strings.TrimSpace(c.text.String()))
			}
		case "description":
			w.set(memberDescription, c.all())
		case "param":
			value := strings.TrimSpace(c.text.String())
			if unit := c.attr("unit"); unit != "" && value != "" {
				value += " " + unit
			}
			w.property(c.attr("name"), value)
		case "vendor":
			w.set("brand", c.text.String())
		case "barcode":
			w.set("gtin", c.text.String())
		case "categoryId":
			w.set("product_type", categories[strings.TrimSpace(c.text.String())])
		}
	}
}
