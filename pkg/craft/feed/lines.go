package feed

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/content-automation/api/pkg/base/money"
)

// lines reads JSON lines: an object on each, with the members of Google's product data specification, or with those of
// products of this API.
func (p *parser) lines(body io.Reader) error {
	s, whole := bufio.NewScanner(body), true
	s.Buffer(make([]byte, 0, 64<<10), mostSkipped)
	s.Split(func(text []byte, ends bool) (n int, line []byte, err error) {
		n, line, err = bufio.ScanLines(text, ends)
		whole = n > len(line)
		return n, line, err
	})
	number := 1
	for ; s.Scan(); number++ {
		line := bytes.TrimSpace(s.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := p.meter.Count(1 + bytes.Count(line, []byte{','})); err != nil {
			return err
		}
		switch {
		case p.rows == 0 && line[0] == '[':
			return fault("The feed is one array of JSON. Write one object on each line, without commas between them.")
		case p.rows == 0 && line[0] != '{':
			return fault("Line %d, the first with text, is no object of JSON. Is the format right, and the address "+
				"that of a feed?", number)
		case !whole && !json.Valid(line):
			return fault("The feed ends in the middle of line %d.", number)
		}
		if err := p.object(number, line); err != nil {
			return err
		}
	}
	if s.Err() == bufio.ErrTooLong {
		return fault("Line %d of the feed has more than %d MB.", number, mostSkipped>>20)
	}
	return s.Err()
}

// writtenID matches the id of an object that is not whole: its product is still there.
var writtenID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?i:id|sku|offer_?id)"\s*:\s*(?:"([^"\\]{1,64})"|(\d{1,64}))`)
})

func (p *parser) object(number int, line []byte) error {
	if len(line) > maxRecord {
		return p.largeObject(number, line)
	}
	w, d := newRaw(number), json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	all, twice, err := objectOf(d)
	if _, end := d.Token(); err == nil && end != io.EOF {
		err = errors.New("something follows the object")
	}
	if err == nil && twice == "" {
		return p.members(w, all)
	}
	if found := writtenID().FindSubmatch(line); found != nil {
		w.set(memberID, string(found[1])+string(found[2]))
	}
	if err == nil {
		return p.misshapen(w, twice, "is there twice")
	} else if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		err = errors.New("it has no end")
	}
	return p.misshapen(w, "", "is no object of JSON: %s", err)
}

// largeObject refuses an object that is too large. It names its largest member, and holds none but its id.
func (p *parser) largeObject(number int, line []byte) error {
	w, d := newRaw(number), json.NewDecoder(bytes.NewReader(line))
	largest, member, ids := 0, "", map[string]any{}
	_, err := d.Token()
	for err == nil && d.More() {
		var name json.Token
		var value json.RawMessage
		if name, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		title, _ := name.(string)
		if len(value) > largest {
			largest, member = len(value), title
		}
		if memberOf(title) == memberID && len(value) < 1<<10 {
			id := string(value)
			_ = json.Unmarshal(value, &id) // a number stays as it is written
			ids[title] = id
		}
	}
	w.identify(ids)
	w.large = cmp.Or(member, "line")
	return p.row(w)
}

// objectOf reads an object. It also returns a name that it has twice.
func objectOf(d *json.Decoder) (all map[string]any, twice string, err error) {
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return nil, "", cmp.Or(err, errors.New("it does not begin with a brace"))
	}
	all = map[string]any{}
	for d.More() {
		token, err := d.Token()
		name, _ := token.(string)
		var value any
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return nil, "", err
		}
		if _, there := all[name]; there {
			twice = name
		}
		all[name] = value
	}
	_, err = d.Token()
	return all, twice, err
}

// identify sets the id of an object. A product of this API has an id beside its SKU.
func (w *raw) identify(all map[string]any) {
	w.set(memberID, scalar(all["sku"]))
	for _, title := range slices.Sorted(maps.Keys(all)) {
		if memberOf(title) == memberID {
			w.set(memberID, scalar(all[title]))
		}
	}
}

// members sets the members of an object.
func (p *parser) members(w *raw, all map[string]any) error {
	w.identify(all)
	for _, title := range slices.Sorted(maps.Keys(all)) {
		if err := w.value(memberOf(title), all[title]); err != nil {
			return p.misshapen(w, title, "%s", err)
		}
	}
	w.smallest(p.Currency)
	return p.row(w)
}

// scalar returns a value that is no list and no object as a text.
func scalar(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), "eE") {
			return strconv.FormatFloat(f, 'f', -1, 64)
		}
		return v.String()
	case bool:
		return fmt.Sprint(v)
	}
	return ""
}

// value sets a member of an object. It leaves those out that are none of products.
func (w *raw) value(name string, value any) error {
	switch v := value.(type) {
	case nil:
		return nil
	case []any:
		return w.list(name, v)
	case map[string]any:
		return w.nested(name, v)
	}
	switch {
	case name == memberPhotos:
		w.photos = append(w.photos, split(scalar(value))...)
	case members[name]:
		w.set(name, scalar(value))
	}
	return nil
}

// list sets a member that is a list: photos, texts or details.
func (w *raw) list(name string, all []any) error {
	var texts []string
	for _, one := range all {
		of, _ := one.(map[string]any)
		switch text := cmp.Or(scalar(one), scalar(of["url"])); {
		case name == "product_detail":
			_ = w.nested(name, of)
		case name != memberPhotos && name != memberPhoto && text != "":
			texts = append(texts, text)
		case text == "" && (name == memberPhotos || name == memberPhoto):
			return fmt.Errorf("has an entry that is no address")
		case text != "":
			w.photos = append(w.photos, text)
		}
	}
	switch {
	case slices.Contains(properties, name):
		w.set(name, strings.Join(texts, ", "))
	case members[name] && len(texts) > 0:
		return fmt.Errorf("is a list, and only photos and attributes may be one")
	}
	return nil
}

// nested sets a member that is an object: a price with amount and currency, or attributes.
func (w *raw) nested(name string, v map[string]any) error {
	switch name {
	case memberPrice, memberSale:
		amount, currency := scalar(v["amount"]), scalar(v["currency"])
		if v["amount"] == nil && v["value"] != nil { // as Google's API has it
			w.set(name, scalar(v["value"])+" "+currency)
			return nil
		}
		text := fromSmallest(amount, currency)
		if text == "" {
			return fmt.Errorf("needs amount, in the smallest unit, and currency")
		}
		w.set(name, text+" "+currency)
	case "attributes":
		for _, key := range slices.Sorted(maps.Keys(v)) {
			w.property(key, scalar(v[key]))
		}
	case "product_detail":
		w.property(scalar(v["attribute_name"])+scalar(v["attributeName"]),
			scalar(v["attribute_value"])+scalar(v["attributeValue"]))
	default:
		if members[name] {
			return fmt.Errorf("is an object. Write it as a text")
		}
	}
	return nil
}

// fromSmallest writes an amount in the smallest unit of a currency with its point. It returns another text unchanged,
// as some shops write prices where amounts are due.
func fromSmallest(text, currency string) string {
	scale, _ := money.Price{Currency: strings.ToUpper(currency)}.Decimal()
	if scale == 0 || text == "" || strings.Trim(text, "0123456789") != "" {
		return text
	}
	if len(text) <= scale {
		text = strings.Repeat("0", scale-len(text)+1) + text
	}
	return text[:len(text)-scale] + "." + text[len(text)-scale:]
}
