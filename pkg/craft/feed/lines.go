package feed

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/base/money"
)

// lines reads JSON lines: an object on each, with the members of Google's product data specification, or with those of
// products of this API.
func (p *parser) lines(body io.Reader) error {
	s := bufio.NewScanner(body)
	s.Buffer(make([]byte, 0, 64<<10), maxRecord)
	for number := 1; s.Scan(); number++ {
		line := bytes.TrimSpace(s.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := p.meter.Count(1 + bytes.Count(line, []byte{','})); err != nil {
			return err
		}
		if number == 1 && line[0] == '[' {
			return fault("The feed is one array of JSON. Write one object on each line, without commas between them.")
		}
		if err := p.object(number, line); err != nil {
			return err
		}
	}
	if s.Err() == bufio.ErrTooLong {
		return fault("A line of the feed has more than %d KB.", maxRecord>>10)
	}
	return s.Err()
}

func (p *parser) object(number int, line []byte) error {
	w, all := newRaw(number), map[string]any{}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	err := d.Decode(&all)
	if err == nil && d.More() {
		err = fmt.Errorf("something follows the object")
	}
	if err != nil {
		return p.misshapen(w, "", "is no object of JSON: %s", err)
	}
	for _, title := range slices.Sorted(maps.Keys(all)) {
		if err := w.value(memberOf(title), all[title]); err != nil {
			w.set(memberID, scalar(all["id"]))
			w.set(memberID, scalar(all["sku"]))
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
		return v.String()
	case bool:
		return fmt.Sprint(v)
	}
	return ""
}

// value sets a member of an object.
func (w *raw) value(name string, value any) error {
	switch v := value.(type) {
	case nil:
		return nil
	case []any:
		if name != memberPhotos && name != memberPhoto {
			return fmt.Errorf("is a list, and only photos may be one")
		}
		for _, one := range v {
			if scalar(one) == "" {
				return fmt.Errorf("has an entry that is no address")
			}
			w.photos = append(w.photos, scalar(one))
		}
		return nil
	case map[string]any:
		return w.nested(name, v)
	}
	switch text := scalar(value); {
	case name == memberPhotos:
		w.photos = append(w.photos, split(text)...)
	case members[name]:
		w.set(name, text)
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
