package feed

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// rowReader reads the rows of a table. Unlike encoding/csv it takes the line ends of old systems, and bounds a row.
type rowReader struct {
	in        *bufio.Reader
	separator byte
	line      int
	// open reports that the last row has no line end, and cells is the number of cells of the last row with any.
	open  bool
	cells int
}

// tableRow is a row of a table.
type tableRow struct {
	// line is the line on which it begins.
	line  int
	cells []string
	// large is the number of the largest cell of a row that is too large, or -1.
	large int
}

// read returns the next row, or io.EOF behind the last one.
func (t *rowReader) read() (tableRow, error) {
	var cells []string
	var cell strings.Builder
	size, quoted, began, any := 0, false, false, false
	lines, marks := 0, 0 // the line ends and separators that quotation marks surround
	t.line++
	line := t.line
	// end bounds the row. A quotation mark without an end has taken lines with as many separators as rows have.
	end := func() (tableRow, error) {
		return bounded(append(cells, cell.String()), line, size, lines > 0 && marks >= lines*(t.cells-1))
	}
	for {
		b, err := t.in.ReadByte()
		switch {
		case err == io.EOF && quoted:
			return tableRow{}, fault("A quotation mark that begins in line %d has no end.", line)
		case err == io.EOF && !any:
			return tableRow{}, io.EOF
		case err == io.EOF:
			t.open = true
			return end()
		case err != nil:
			return tableRow{}, err
		}
		any = true
		if size++; size > mostSkipped {
			return bounded(nil, line, size, true)
		}
		if b == '\r' {
			if next, err := t.in.Peek(1); err == nil && next[0] == '\n' {
				_, _ = t.in.Discard(1)
			}
			b = '\n'
		}
		switch next := t.next(); {
		case quoted && b == '"' && next == '"':
			_, _ = t.in.Discard(1)
			cell.WriteByte('"')
		case quoted && b == '"' && (next == t.separator || next == '\n' || next == '\r' || next == 0):
			quoted = false
		case quoted:
			if b == '\n' {
				t.line++
				lines++
			} else if b == t.separator {
				marks++
			}
			cell.WriteByte(b)
		case b == '"' && !began && (t.separator != '\t' || t.closes()):
			quoted, began = true, true
		case b == t.separator:
			if began = false; size <= maxRecord || len(cells) < 1000 {
				cells = append(cells, cell.String())
			}
			cell.Reset()
		case b == '\n':
			return end()
		default:
			began = true
			cell.WriteByte(b)
		}
	}
}

// bounded returns a row of a size. One that is too large is one of the feed, unless a quotation mark in it is open.
func bounded(cells []string, line, size int, open bool) (tableRow, error) {
	row := tableRow{line, cells, -1}
	if size <= maxRecord {
		return row, nil
	}
	if open {
		return tableRow{}, fault("The row in line %d has more than %d KB. Does a quotation mark have no end?", line,
			maxRecord>>10)
	}
	for i, c := range cells {
		if row.large < 0 || len(c) > len(cells[row.large]) {
			row.large = i
		}
	}
	return row, nil
}

// closes reports whether the quotation mark that was read has another one before the next tab. Values of TSV have no
// tabs, so that another mark is one of inches or of a name.
func (t *rowReader) closes() bool {
	text, _ := t.in.Peek(t.in.Buffered())
	if bytes.IndexByte(text, '\t') < 0 {
		text, _ = t.in.Peek(t.in.Size())
	}
	if tab := bytes.IndexByte(text, '\t'); tab >= 0 {
		text = text[:tab+1]
	}
	for i, b := range text {
		if b == '"' && (i+1 == len(text) || strings.IndexByte("\t\r\n", text[i+1]) >= 0) {
			return true
		}
	}
	return false
}

// next returns the next byte, or 0 at the end.
func (t *rowReader) next() byte {
	if next, err := t.in.Peek(1); err == nil {
		return next[0]
	}
	return 0
}

// open finds the separator of a table by its first line, and returns its titles.
func open(r io.Reader, known func(string) bool) (*rowReader, []string, error) {
	t := &rowReader{in: bufio.NewReaderSize(r, 64<<10)}
	for next := t.next(); next == '\n' || next == '\r'; next = t.next() {
		if _, err := t.read(); err != nil {
			return nil, nil, err
		}
	}
	first, err := t.in.Peek(16 << 10)
	if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
		return nil, nil, err
	}
	head := string(first)
	if strings.HasPrefix(strings.ToLower(head), "sep=") && len(head) > 4 { // a note of Excel
		t.separator = head[4]
		if _, err := (&rowReader{in: t.in, separator: 0}).read(); err != nil {
			return nil, nil, err
		}
		t.line++
	} else {
		best := -1
		for _, separator := range []byte(",;\t|") {
			row, err := (&rowReader{in: bufio.NewReader(strings.NewReader(head)), separator: separator}).read()
			n := 0
			for _, c := range row.cells {
				if known(c) {
					n++
				}
			}
			if err == nil && n > best {
				best, t.separator = n, separator
			}
		}
	}
	titles, err := t.read()
	if err == io.EOF {
		return nil, nil, fault("The feed is empty.")
	}
	return t, titles.cells, err
}

// names are other names of members, in tables and JSON lines.
var names = map[string]string{"sku": memberID, "name": memberTitle, "url": memberLink, "product_url": memberLink,
	"photo_url": memberPhoto, "photo": memberPhoto, "image_url": memberPhoto, "photos": memberPhotos,
	"additional_image_links": memberPhotos, "stock": memberStock, "group": memberGroup, "group_id": memberGroup,
	"sale_starts_at": memberFrom, "sale_ends_at": memberUntil, "amount": memberAmount, "offer_id": memberID,
	"product_types": "product_type",
	// The last ones are columns of an export of WooCommerce.
	"regular_price": memberPrice, "in_stock?": memberStock, "images": memberPhotos,
	"date_sale_price_starts": memberFrom, "date_sale_price_ends": memberUntil}

const (
	// memberAmount is a price in the smallest unit of its currency.
	memberAmount = "amount"
	// memberType and memberPublished say which rows of WooCommerce are no products on sale.
	memberType, memberPublished = "type", "published"
)

// aside reports whether a row is no product on sale: one of WooCommerce's drafts, or what holds variations together.
func (w *raw) aside() bool {
	kind, published := strings.ToLower(w.values[memberType]), strings.ToLower(w.values[memberPublished])
	return slices.Contains([]string{"0", "-1", "false"}, published) ||
		w.values[memberPrice] == "" && (kind == "variable" || kind == "grouped")
}

// members are all members that a column may have.
var members = func() map[string]bool {
	all := map[string]bool{memberAmount: true}
	for _, name := range append([]string{memberID, memberTitle, memberDescription, memberLink, memberPrice,
		memberCurrency, memberSale, memberPeriod, memberFrom, memberUntil, memberStock, memberPhoto, memberPhotos,
		memberGroup, memberType, memberPublished, "product_detail"}, properties...) {
		all[name] = true
	}
	return all
}()

// spaces are what titles may have between their words, or not.
var spaces = strings.NewReplacer(" ", "", "_", "", "-", "", "\u00a0", "", "\n", "")

// compact are all members by their names, and other names, without spaces: image link and imageLink are one.
var compact = func() map[string]string {
	all := map[string]string{}
	for name := range members {
		all[spaces.Replace(name)] = name
	}
	for name, of := range names {
		all[spaces.Replace(name)] = of
	}
	return all
}()

// memberOf returns the member of a title such as "image link" or "g:image_link".
func memberOf(title string) string {
	plain := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(title)), "g:")
	if own := compact[spaces.Replace(plain)]; own != "" {
		return own
	}
	return plain
}

// Attributes is the prefix of the members of a mapping that become attributes.
const Attributes = "attributes."

// MappedMembers returns the members that a mapping may name, besides those with the prefix Attributes.
func MappedMembers() []string {
	return strings.Fields("amount availability currency description group name photo photos price sale_from " +
		"sale_price sale_until sku url")
}

// columns returns the members of each column. A column may be mapped for several.
func (p *parser) columns(titles []string) (of [][]string, err error) {
	p.woo = slices.ContainsFunc(titles, titled("type")) && slices.ContainsFunc(titles, titled("regular price"))
	of = make([][]string, len(titles))
	taken := map[string]bool{}
	take := func(i int, member string) {
		of[i], taken[member] = append(of[i], member), true
	}
	for _, member := range slices.Sorted(maps.Keys(p.Mapping)) {
		column := strings.TrimSpace(p.Mapping[member])
		i := slices.IndexFunc(titles, titled(column))
		if i < 0 {
			return nil, fault("The feed has no column %q, which the mapping names for %s. It has %s.", column, member,
				listed(titles))
		}
		if !strings.HasPrefix(member, Attributes) {
			member = memberOf(member)
		}
		take(i, member)
	}
	if i := slices.IndexFunc(titles, titled("sku")); i >= 0 && p.Format == CSV && !taken[memberID] && of[i] == nil {
		take(i, memberID) // there may be an id of the shop's system, too
	}
	for i, title := range titles {
		own := memberOf(title)
		if p.woo && own == "parent" {
			own = memberGroup
		}
		if of[i] == nil && (members[own] && !taken[own] || own == memberPhotos) {
			take(i, own)
		}
	}
	for _, needed := range [][]string{{memberID}, {memberTitle}, {memberPrice, memberAmount}} {
		if !slices.ContainsFunc(needed, func(name string) bool { return taken[name] }) {
			return nil, fault("The feed has no column for %s. It has %s. Set its format, or its mapping.", needed[0],
				listed(titles))
		}
	}
	return of, nil
}

// titled returns a function that reports whether a title is a name.
func titled(name string) func(title string) bool {
	return func(title string) bool { return strings.EqualFold(strings.TrimSpace(title), name) }
}

func listed(titles []string) string {
	if len(titles) > 30 {
		titles = titles[:30]
	}
	return fmt.Sprintf("the columns %.1000s", strings.Join(titles, ", "))
}

// table reads the rows of a table.
func (p *parser) table(body io.Reader) error {
	wanted := map[string]bool{}
	for _, column := range p.Mapping {
		wanted[strings.ToLower(column)] = true
	}
	t, titles, err := open(body, func(title string) bool {
		return members[memberOf(title)] || wanted[strings.ToLower(strings.TrimSpace(title))]
	})
	if err != nil {
		return err
	}
	of, err := p.columns(titles)
	if err != nil {
		return err
	}
	own := map[string]string{}
	for i, all := range of {
		for _, member := range all {
			own[member] = cmp.Or(own[member], strings.TrimSpace(titles[i]))
		}
	}
	for {
		row, err := p.next(t, len(titles))
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = p.cells(row, titles, of, own)
		}
		if err != nil {
			return err
		}
	}
}

// next returns the next row that has cells, without empty ones behind the last title. A feed whose last row
// alone has too few of them, and no line end, was cut off.
func (p *parser) next(t *rowReader, titles int) (tableRow, error) {
	for {
		before := t.cells
		row, err := t.read()
		if err == nil {
			err = p.meter.Count(1 + len(row.cells))
		}
		if err != nil {
			return row, err
		}
		if !slices.ContainsFunc(row.cells, func(c string) bool { return strings.TrimSpace(c) != "" }) {
			continue
		}
		if t.cells = min(len(row.cells), titles); t.open && t.cells < titles && before == titles {
			return row, fault("The feed ends in the middle of the row in line %d: it has %d cells, and the row "+
				"before %d.", row.line, t.cells, before)
		}
		for n := len(row.cells); n > titles && strings.TrimSpace(row.cells[n-1]) == ""; n-- {
			row.cells = row.cells[:n-1]
		}
		return row, nil
	}
}

// cells reads the cells of a row.
func (p *parser) cells(row tableRow, titles []string, of [][]string, own map[string]string) error {
	w := newRaw(row.line)
	w.names = own
	if len(row.cells) > len(of) {
		ids := slices.IndexFunc(of, func(all []string) bool { return slices.Contains(all, memberID) })
		w.set(memberID, row.cells[ids])
		return p.misshapen(w, "", manyCells, len(row.cells), len(titles))
	}
	for i, cell := range row.cells {
		if i == row.large {
			w.large = titles[i]
			continue
		}
		for _, member := range of[i] {
			w.cell(member, cell)
		}
	}
	if w.smallest(p.Currency); p.woo && w.aside() {
		p.rows++
		return nil
	}
	return p.row(w)
}

const manyCells = "has %d cells, and the first row has %d. Is a text with the separator in it not in quotation marks?"

// cell sets a member to what is in its column.
func (w *raw) cell(member, cell string) {
	switch {
	case strings.HasPrefix(member, Attributes):
		w.property(strings.TrimPrefix(member, Attributes), cell)
	case member == memberPhotos:
		w.photos = append(w.photos, split(cell)...)
	case member == "product_detail":
		for detail := range strings.SplitSeq(cell, ",") {
			if parts := strings.Split(detail, ":"); len(parts) >= 2 {
				w.property(parts[len(parts)-2], parts[len(parts)-1])
			}
		}
	default:
		w.set(member, cell)
	}
}

// smallest makes a price of an amount in the smallest unit.
func (w *raw) smallest(fallback string) {
	text := w.values[memberAmount]
	if text == "" || w.values[memberPrice] != "" {
		return
	}
	currency := w.values[memberCurrency]
	currency = cmp.Or(currency, fallback)
	w.values[memberPrice] = fromSmallest(text, currency)
}

// misshapen refuses a row whose cells are not clear.
func (p *parser) misshapen(w *raw, member, format string, args ...any) error {
	if p.rows++; p.rows > MaxRows {
		return fault("The feed has more than %d rows.", MaxRows)
	}
	return p.take(Row{Number: w.number, ID: w.values[memberID]}, refusalOf(w, member, fmt.Sprintf(format, args...)))
}

// beginning matches the beginning of an address in a cell with several, and what separates it from the one before.
var beginning = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(?:^|[,;|\s])\s*(https?://)`) })

// split returns the addresses in a cell, which commas or other marks separate. Such a mark may be part of an address.
func split(cell string) (all []string) {
	cell = strings.TrimSpace(cell)
	found := beginning().FindAllStringSubmatchIndex(cell, -1)
	before := cell
	if len(found) > 0 {
		before = cell[:found[0][0]]
	}
	if before != "" {
		all = append(all, before)
	}
	for i, at := range found {
		end := len(cell)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		all = append(all, strings.TrimRight(cell[at[2]:end], ",;| \t\r\n"))
	}
	return all
}
