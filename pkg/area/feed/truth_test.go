package feed_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/content-automation/api/pkg/area/feed"
)

// goods is a product as its shop knows it.
type goods struct {
	sku, name, photo string
	cents            int64
}

// stock makes products with a seed: with leading zeros, texts with separators, quotes and line ends, and umlauts.
func stock(seed uint64, n int) (all []goods) {
	random := rand.New(rand.NewPCG(seed, 25))
	texts := []string{"Grüner Tee", "Café; \"Crème\", lose", "Zeile\neins", "Größe 38,5", "=1+1", "Nagel 5\" lang"}
	for i := range n {
		all = append(all, goods{sku: fmt.Sprintf("%06d", i), name: texts[random.IntN(len(texts))] + fmt.Sprint(" ", i),
			cents: 1 + random.Int64N(200_000), photo: fmt.Sprintf("https://93.184.215.14/a b%d.jpg", i)})
	}
	return all
}

// sheet is how a program writes a table.
type sheet struct {
	separator, end, comma string
	// currency is written behind each price, or empty.
	currency string
	// before is written before the titles, and after at the end of each row.
	before, after string
	encoded       encoding.Encoding
}

func (s sheet) write(t *testing.T, all []goods) string {
	quoted := func(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }
	var b strings.Builder
	b.WriteString(s.before + strings.Join([]string{"sku", "name", "price", "photo"}, s.separator) + s.end)
	for _, g := range all {
		price := fmt.Sprintf("%d%s%02d", g.cents/100, s.comma, g.cents%100) + s.currency
		cells := []string{g.sku, quoted(g.name), quoted(price), quoted(g.photo)}
		b.WriteString(strings.Join(cells, s.separator) + s.after + s.end)
	}
	if s.encoded == nil {
		return b.String()
	}
	text, err := s.encoded.NewEncoder().String(b.String())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What spreadsheets and shops do to a feed does not change what the catalog has: each product is as its shop knows it,
// and a row that is broken is refused alone. A feed that is broken as a whole changes nothing.
func TestFaultsOfFeedsAgainstTheTruth(t *testing.T) {
	utf16 := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	plain := sheet{separator: ",", end: "\n", comma: "."}
	change := func(f func(*sheet)) sheet { s := plain; f(&s); return s }
	row := func(f func(cells []string) []string) func(string) string {
		return func(text string) string {
			lines := strings.SplitAfter(text, "\n")
			i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "000007,") })
			lines[i] = strings.Join(f([]string{"000007", `"Tee"`, `"3.00"`, ""}), ",") + "\n"
			return strings.Join(lines, "")
		}
	}
	titles := func(text string) string { return text[:strings.Index(text, "\n")+1] }
	untitled := func(text string) string { return strings.TrimPrefix(text, titles(text)) }
	for name, c := range map[string]struct {
		sheet
		// harm breaks the text, and refused is what the row says that cannot be taken, or fails what the run says.
		harm           func(string) string
		refused, fails string
	}{
		"as it should be":               {sheet: plain},
		"the mark of Excel":             {sheet: change(func(s *sheet) { s.before = "\ufeff" })},
		"semicolons and commas":         {sheet: change(func(s *sheet) { s.separator, s.comma = ";", "," })},
		"the note of Excel":             {sheet: change(func(s *sheet) { s.separator, s.before = ";", "sep=;\n" })},
		"tabs":                          {sheet: change(func(s *sheet) { s.separator = "\t" })},
		"line ends of DOS":              {sheet: change(func(s *sheet) { s.end = "\r\n" })},
		"line ends of old Macs":         {sheet: change(func(s *sheet) { s.end = "\r" })},
		"windows-1252":                  {sheet: change(func(s *sheet) { s.encoded = charmap.Windows1252 })},
		"UTF-16 of Excel":               {sheet: change(func(s *sheet) { s.encoded, s.separator = utf16, "\t" })},
		"decimal commas":                {sheet: change(func(s *sheet) { s.comma = "," })},
		"prices with a currency":        {sheet: change(func(s *sheet) { s.currency = " EUR" })},
		"prices with a sign":            {sheet: change(func(s *sheet) { s.currency, s.comma = "\u00a0€", "," })},
		"separators at the end":         {sheet: change(func(s *sheet) { s.after = ",,," })},
		"packed":                        {sheet: plain, harm: func(text string) string { return packed(text, 1) }},
		"empty lines":                   {sheet: plain, harm: func(text string) string { return text + "\n\n\n" }},
		"no line end at the end":        {sheet: plain, harm: func(text string) string { return strings.TrimSuffix(text, "\n") }},
		"a row without a price":         {plain, row(func(c []string) []string { c[2] = ""; return c }), "price: is missing", ""},
		"a price that is none":          {plain, row(func(c []string) []string { c[2] = "free"; return c }), "price: is \"free\"", ""},
		"a row without an id":           {plain, row(func(c []string) []string { c[0] = ""; return c }), "sku: is missing", ""},
		"an id that came before":        {plain, row(func(c []string) []string { c[0] = "000003"; return c }), "sku: is \"000003\"", ""},
		"too many cells":                {plain, row(func(c []string) []string { return append(c, "x", "y") }), ": has 6 cells", ""},
		"an address with NUL":           {plain, row(func(c []string) []string { c[3] = "https://a.example/\x00"; return c }), "photo: is", ""},
		"a character that is lost":      {plain, row(func(c []string) []string { c[1] = "Gr\ufffdner"; return c }), "name: has a character", ""},
		"the end is missing":            {sheet: plain, harm: func(text string) string { return text[:len(text)-40] }, fails: "has no end"},
		"the titles are missing":        {sheet: plain, harm: untitled, fails: "has no column"},
		"a page of maintenance":         {sheet: plain, harm: func(string) string { return "<html>soon</html>" }, fails: "has no column"},
		"nothing but the titles":        {sheet: plain, harm: titles, fails: "has no products"},
		"half of a file that is packed": {sheet: plain, harm: func(text string) string { p := packed(text, 1); return p[:len(p)/2] }, fails: "damaged"},
	} {
		w := newWorld(t)
		w.set("currency", "EUR", "photos", "all")
		truth := stock(uint64(len(name)), 40)
		text := c.write(t, truth)
		if c.harm != nil {
			text = c.harm(text)
		}
		r := w.sync(text)
		if c.fails != "" {
			if r.State != feed.Failed || !strings.Contains(r.Failure.Message, c.fails) || len(w.products()) != 0 {
				t.Errorf("%s: %s, %d products", name, told(r), len(w.products()))
			}
			continue
		}
		said := ""
		for _, no := range r.Refusals {
			said += no.Member + ": " + no.Reason
		}
		want := min(len(c.refused), 1)
		if r.State != feed.Completed || r.Refused != want || r.Created != len(truth)-want ||
			!strings.HasPrefix(said, c.refused) {
			t.Errorf("%s: %s, refused %q", name, told(r), said)
		}
		all := w.products()
		for i, g := range truth {
			if c.refused != "" && i == 7 {
				continue
			}
			p := all[g.sku]
			name := strings.Join(strings.Fields(g.name), " ")
			if p.Price.Amount != g.cents || p.Price.Currency != "EUR" || p.Name != name {
				t.Errorf("%s: %+v is %q at %s", name, g, p.Name, p.Price)
			}
		}
	}
}
