package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"html"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// columns are the names of the columns that are read.
var columns = []string{"sku", "name", "description", "amount", "price", "currency", "url", "photo_url"}

// separators are what Excel and others write between cells.
const separators = ",;\t|"

// badRow is a row that cannot be imported.
type badRow struct {
	number int // from 1, which is that of the names
	why    string
}

// read reads the rows of a file. Those that are wrong are returned apart.
func read(r io.Reader) (rows []row, bad []badRow, err error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, nil, err
	}
	text, err := decode(raw)
	if err != nil {
		return nil, nil, err
	}
	names, lines, err := table(text)
	if err != nil {
		return nil, nil, err
	}
	mixed := mostHaveDecimals(names, lines)
	seen := map[string]int{}
	for n, line := range lines {
		number := n + 2
		if !slices.ContainsFunc(line, func(cell string) bool { return strings.TrimSpace(cell) != "" }) {
			continue
		}
		found, err := rowOf(names, line, mixed)
		if first := seen[found.SKU]; err == nil && first > 0 {
			err = fmt.Errorf("its SKU is that of row %d", first)
		}
		if err != nil {
			bad = append(bad, badRow{number, err.Error()})
			continue
		}
		seen[found.SKU] = number
		found.number = number
		rows = append(rows, found)
	}
	return rows, bad, nil
}

// decode returns a text in UTF-8, with one kind of line ends. A file without a mark that is not UTF-8 is that of Excel in
// Western Europe.
func decode(raw []byte) (string, error) {
	var err error
	zero := func(at int) bool { return len(raw) > at && raw[at] == 0 }
	switch {
	case bytes.HasPrefix(raw, []byte("\xff\xfe")), bytes.HasPrefix(raw, []byte("\xfe\xff")):
		raw, err = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(raw)
	case zero(1) && zero(3):
		raw, err = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder().Bytes(raw)
	case zero(0) && zero(2):
		raw, err = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder().Bytes(raw)
	case !utf8.Valid(raw):
		raw, err = charmap.Windows1252.NewDecoder().Bytes(raw)
	}
	text := strings.TrimPrefix(string(raw), "\ufeff")
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), err
}

// table returns the names of the columns, and the cells of the rows below.
func table(text string) (names []string, lines [][]string, err error) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.HasPrefix(strings.ToLower(first), "sep=") { // Excel's note
		text = rest
		first, _, _ = strings.Cut(rest, "\n")
	}
	separator, most := ',', -1
	for _, s := range separators {
		head := csv.NewReader(strings.NewReader(first))
		head.Comma, head.LazyQuotes = s, true
		cells, _ := head.Read()
		known := 0
		for i, name := range cells {
			if cells[i] = strings.ToLower(strings.TrimSpace(name)); slices.Contains(columns, cells[i]) {
				known++
			}
		}
		if known > most {
			separator, most, names = s, known, cells
		}
	}
	has := func(name string) bool { return slices.Contains(names, name) }
	if !has("sku") || !has("name") || !has("amount") && !has("price") {
		return nil, nil, errors.New("the first row must name the columns: sku, name, amount or price, and currency")
	}
	all := csv.NewReader(strings.NewReader(text))
	all.Comma, all.LazyQuotes, all.FieldsPerRecord = separator, true, -1
	for next := 1; ; {
		cells, err := all.Read()
		if err == io.EOF {
			return names, lines[min(1, len(lines)):], nil
		}
		if err != nil {
			return nil, nil, err
		}
		at, _ := all.FieldPos(0)
		for ; next < at; next++ { // empty lines, which are rows of a spreadsheet
			lines = append(lines, nil)
		}
		lines = append(lines, cells)
		next += 1 + strings.Count(strings.Join(cells, ""), "\n")
	}
}

var digitsOnly = regexp.MustCompile(`^\d+$`)

// mostHaveDecimals reports whether most amounts are in the currency itself, so that one without decimals is not clear.
func mostHaveDecimals(names []string, lines [][]string) bool {
	at := slices.Index(names, "amount")
	var whole, numbers int
	for _, line := range lines {
		if at < 0 || at >= len(line) {
			continue
		}
		cell := strings.TrimSpace(line[at])
		if digitsOnly.MatchString(cell) {
			whole++
		}
		if strings.ContainsAny(cell, "0123456789") {
			numbers++
		}
	}
	return 2*whole < numbers
}

// rowOf returns the product of a row.
func rowOf(names, line []string, mixed bool) (row, error) {
	if len(line) != len(names) {
		return row{}, fmt.Errorf("the row has %d cells, and the first row %d", len(line), len(names))
	}
	cell := func(name string) string {
		if at := slices.Index(names, name); at >= 0 {
			return strings.TrimSpace(line[at])
		}
		return ""
	}
	r := row{SKU: cell("sku"), Name: plain(cell("name")), Description: plain(cell("description")),
		URL: quoted(cell("url")), photo: quoted(cell("photo_url"))}
	if r.SKU == "" {
		return r, errors.New("it has no SKU")
	}
	text := cell("amount")
	smallest := digitsOnly.MatchString(text)
	if smallest && mixed {
		return r, fmt.Errorf("the amount %s has no decimals, and most others have: is it in cents?", text)
	}
	if text == "" {
		text = cell("price")
	}
	var err error
	r.Price, err = money(text, cell("currency"), smallest)
	return r, err
}

// The markup of descriptions: what is left out, what ends a line, and other elements.
var (
	scripts = regexp.MustCompile(`(?is)<script\b.*?</script>|<style\b.*?</style>`)
	blocks  = regexp.MustCompile(`(?i)</?(?:p|br|div|li|tr|h[1-6]|ul|ol|hr)\b[^<>]*>`)
	inline  = regexp.MustCompile(`(?i)</?(?:span|b|i|u|s|a|strong|em|table|tbody|td|th|img|font)\b[^<>]*>`)
)

// plain returns a text without HTML.
func plain(text string) string {
	text = inline.ReplaceAllString(blocks.ReplaceAllString(scripts.ReplaceAllString(text, ""), "\n"), "")
	var all []string
	for line := range strings.SplitSeq(html.UnescapeString(text), "\n") {
		if line = strings.TrimSpace(strings.ReplaceAll(line, "\u00a0", " ")); line != "" {
			all = append(all, line)
		}
	}
	return strings.Join(all, "\n")
}

// quoted returns an address with its spaces and foreign letters as URLs have them.
func quoted(address string) string {
	var out strings.Builder
	for _, c := range address {
		if c <= ' ' || c >= utf8.RuneSelf {
			out.WriteString(url.PathEscape(string(c)))
			continue
		}
		out.WriteRune(c)
	}
	return out.String()
}

// signs are the currencies that a sign may stand for.
var signs = map[string]string{"€": "EUR", "£": "GBP", "₽": "RUB", "₴": "UAH", "₺": "TRY", "₹": "INR", "₪": "ILS",
	"₩": "KRW", "ZŁ": "PLN", "R$": "BRL", "$": "USD CAD AUD NZD SGD HKD MXN ARS CLP COP", "¥": "JPY CNY",
	"KR": "SEK NOK DKK ISK"}

// decimals returns the number of digits behind the point of a currency (ISO 4217).
func decimals(currency string) int {
	switch {
	case strings.Contains("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF", currency):
		return 0
	case strings.Contains("BHD IQD JOD KWD LYD OMR TND", currency):
		return 3
	}
	return 2
}

var (
	priced   = regexp.MustCompile(`^(\D*?)\s*(\d[\d.,'’\s\x{a0}\x{202f}]*)\s*(\D*)$`)
	code     = regexp.MustCompile(`^[A-Z]{3}$`)
	space    = regexp.MustCompile(`['’\s\x{a0}\x{202f}]`)
	grouped  = regexp.MustCompile(`^(?:\d+|\d{1,3}(?:\.\d{3})+|\d{1,3}(?:,\d{3})+)$`)
	thousand = regexp.MustCompile(`^[1-9]\d{0,2}[.,]\d{3}$`)
)

// money reads a price as people write it, perhaps with its currency, or an amount in the smallest unit.
func money(text, currency string, smallest bool) (price, error) {
	found := priced.FindStringSubmatch(text)
	if found == nil {
		return price{}, fmt.Errorf("the price %q is no number", text)
	}
	sign := strings.ToUpper(strings.TrimSpace(found[1] + found[3]))
	may := strings.Fields(sign)
	if signs[sign] != "" {
		may = strings.Fields(signs[sign])
	}
	if currency = strings.ToUpper(currency); currency == "" && len(may) == 1 {
		currency = may[0]
	}
	if !code.MatchString(currency) || len(may) > 0 && !slices.Contains(may, currency) {
		return price{}, fmt.Errorf("the currency of %q is not clear: write its code into the column currency", text)
	}
	number := space.ReplaceAllString(found[2], "")
	whole, fraction := number, ""
	if last := strings.LastIndexAny(number, ".,"); last >= 0 && !smallest {
		mark := number[last : last+1]
		many := strings.Count(number, ".") + strings.Count(number, ",")
		switch twoKinds := strings.Count(number, mark) == 1 && many > 1; {
		case twoKinds, many == 1 && !thousand.MatchString(number):
			whole, fraction = number[:last], number[last+1:]
		case many == 1 && decimals(currency) == 3:
			return price{}, fmt.Errorf("the price %q has two meanings: write it in the smallest unit", text)
		}
	}
	digits := decimals(currency)
	if len(fraction) > digits {
		fraction = fraction[:digits] + strings.TrimRight(fraction[digits:], "0")
	}
	if !grouped.MatchString(whole) || len(fraction) > digits {
		return price{}, fmt.Errorf("the price %q is not one of %s", text, currency)
	}
	all := strings.NewReplacer(".", "", ",", "").Replace(whole)
	if !smallest {
		all += fraction + strings.Repeat("0", digits-len(fraction))
	}
	amount, err := strconv.ParseInt(all, 10, 64)
	if err != nil {
		return price{}, fmt.Errorf("the price %q is too high", text)
	}
	return price{amount, currency}, nil
}
