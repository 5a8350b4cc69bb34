package feed

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// rowReader reads the rows of a table. Unlike encoding/csv it takes the line ends of old systems, and bounds a row.
type rowReader struct {
	in        *bufio.Reader
	separator byte
	line      int
}

// read returns the cells of the next row, and the line on which it begins.
func (t *rowReader) read() (cells []string, line int, err error) {
	var cell strings.Builder
	size, quoted, began, any := 0, false, false, false
	t.line++
	line = t.line
	for {
		b, err := t.in.ReadByte()
		switch {
		case err == io.EOF && quoted:
			return nil, line, fault("A quotation mark that begins in line %d has no end.", line)
		case err == io.EOF && !any:
			return nil, line, io.EOF
		case err == io.EOF:
			return append(cells, cell.String()), line, nil
		case err != nil:
			return nil, line, err
		}
		any = true
		if size++; size > maxRecord {
			return nil, line, fault("The row in line %d has more than %d KB. Does a quotation mark have no end?", line,
				maxRecord>>10)
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
			}
			cell.WriteByte(b)
		case b == '"' && !began:
			quoted, began = true, true
		case b == t.separator:
			cells, began = append(cells, cell.String()), false
			cell.Reset()
		case b == '\n':
			return append(cells, cell.String()), line, nil
		default:
			began = true
			cell.WriteByte(b)
		}
	}
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
	first, err := t.in.Peek(16 << 10)
	if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
		return nil, nil, err
	}
	head := string(first)
	if strings.HasPrefix(strings.ToLower(head), "sep=") && len(head) > 4 { // a note of Excel
		t.separator = head[4]
		if _, _, err := (&rowReader{in: t.in, separator: 0}).read(); err != nil {
			return nil, nil, err
		}
		t.line++
	} else {
		best := -1
		for _, separator := range []byte(",;\t|") {
			cells, _, err := (&rowReader{in: bufio.NewReader(strings.NewReader(head)), separator: separator}).read()
			n := 0
			for _, c := range cells {
				if known(c) {
					n++
				}
			}
			if err == nil && n > best {
				best, t.separator = n, separator
			}
		}
	}
	titles, _, err := t.read()
	if err == io.EOF {
		return nil, nil, fault("The feed is empty.")
	}
	return t, titles, err
}

// names are other names of members, in tables and JSON lines.
var names = map[string]string{"sku": memberID, "name": memberTitle, "url": memberLink, "product_url": memberLink,
	"photo_url": memberPhoto, "photo": memberPhoto, "image_url": memberPhoto, "photos": memberPhotos,
	"additional_image_links": memberPhotos, "stock": memberStock, "group": memberGroup, "group_id": memberGroup,
	"sale_starts_at": memberFrom, "sale_ends_at": memberUntil, "amount": memberAmount}

// memberAmount is a price in the smallest unit of its currency.
const memberAmount = "amount"

// members are all members that a column may have.
var members = func() map[string]bool {
	all := map[string]bool{memberAmount: true}
	for _, name := range append([]string{memberID, memberTitle, memberDescription, memberLink, memberPrice,
		memberCurrency, memberSale, memberPeriod, memberFrom, memberUntil, memberStock, memberPhoto, memberPhotos,
		memberGroup, "product_detail"}, properties...) {
		all[name] = true
	}
	return all
}()

// memberOf returns the member of a title such as "image link" or "g:image_link".
func memberOf(title string) string {
	plain := strings.ToLower(strings.TrimSpace(title))
	plain = strings.NewReplacer(" ", "_", "-", "_").Replace(strings.TrimPrefix(plain, "g:"))
	if own := names[plain]; own != "" {
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

// columns returns the member of each column, and what its title is.
func (p *parser) columns(titles []string) (of []string, err error) {
	of = make([]string, len(titles))
	for member, column := range p.Mapping {
		i := slices.IndexFunc(titles, func(t string) bool { return strings.EqualFold(strings.TrimSpace(t), column) })
		if i < 0 {
			return nil, fault("The feed has no column %q, which the mapping names for %s. It has %s.", column, member,
				listed(titles))
		}
		if of[i] = member; !strings.HasPrefix(member, Attributes) {
			of[i] = memberOf(member)
		}
	}
	for i, title := range titles {
		if own := memberOf(title); of[i] == "" && members[own] && !slices.Contains(of, own) ||
			of[i] == "" && own == memberPhotos {
			of[i] = own
		}
	}
	for _, needed := range [][]string{{memberID}, {memberTitle}, {memberPrice, memberAmount}} {
		if !slices.ContainsFunc(needed, func(name string) bool { return slices.Contains(of, name) }) {
			return nil, fault("The feed has no column for %s. It has %s. Set its format, or its mapping.", needed[0],
				listed(titles))
		}
	}
	return of, nil
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
	for i, member := range of {
		if own[member] == "" {
			own[member] = strings.TrimSpace(titles[i])
		}
	}
	for number := 2; ; number++ {
		cells, line, err := t.read()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = p.meter.Count(1 + len(cells))
		}
		if err != nil {
			return err
		}
		if len(cells) == 1 && strings.TrimSpace(cells[0]) == "" {
			continue
		}
		if err := p.cells(line, titles, of, own, cells); err != nil {
			return err
		}
	}
}

// cells reads the cells of a row.
func (p *parser) cells(number int, titles, of []string, own map[string]string, cells []string) error {
	w := newRaw(number)
	w.names = own
	for len(cells) > len(of) && strings.TrimSpace(cells[len(cells)-1]) == "" {
		cells = cells[:len(cells)-1]
	}
	if len(cells) > len(of) {
		w.set(memberID, cells[max(0, slices.Index(of, memberID))])
		return p.misshapen(w, "", "has %d cells, and the first row has %d. Is a text with the separator in it not in "+
			"quotation marks?", len(cells), len(titles))
	}
	for i, cell := range cells {
		switch member := of[i]; {
		case member == "":
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
	w.smallest(p.Currency)
	return p.row(w)
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
	return p.take(Row{Number: w.number, ID: w.values[memberID]},
		&Refusal{w.number, member, fmt.Sprintf(format, args...)})
}

// split returns the addresses in a cell, which commas or other marks separate. A comma may be part of an address.
func split(cell string) (all []string) {
	separates := func(r rune) bool { return strings.ContainsRune(",;|\n", r) }
	for part := range strings.FieldsFuncSeq(cell, separates) {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if n := len(all); n > 0 && !strings.HasPrefix(part, "http") {
			all[n-1] += "," + part
		} else {
			all = append(all, part)
		}
	}
	return all
}
