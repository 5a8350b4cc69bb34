package craft_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/craft/feed"
)

// readFeed returns the rows and the refusals of a feed as texts, and the fault if it has one.
func readFeed(t *testing.T, o feed.Options, sent []byte) (rows []feed.Row, refused []feed.Refusal, fault string) {
	t.Helper()
	err := feed.Read(t.Context(), bytes.NewReader(sent), o, func(r feed.Row, no *feed.Refusal) error {
		if no != nil {
			refused = append(refused, *no)
		} else {
			rows = append(rows, r)
		}
		return nil
	})
	var f *feed.FaultError
	if errors.As(err, &f) {
		return rows, refused, f.Message
	} else if err != nil {
		t.Fatal(err)
	}
	return rows, refused, ""
}

func shown(r feed.Row) string {
	s := fmt.Sprintf("%s|%s|%s|%s", r.ID, r.Name, r.Price, r.Stock)
	if r.Sale != nil {
		s += "|sale " + r.Sale.Price.String()
	}
	for _, name := range slices.Sorted(maps.Keys(r.Attributes)) {
		s += "|" + name + "=" + r.Attributes[name]
	}
	return s
}

// packed packs a text by gzip.
func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.String()
}

const titles = "sku,name,description,price,currency\n"

// The faults of public reports (and of the files that Excel, 1C and PrestaShop write) that a table may have.
func TestTablesAreReadAsShopsWriteThem(t *testing.T) {
	encoded := func(e encoding.Encoding, text string) string {
		out, err := e.NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	utf16 := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	tea := "B-1|Grüner Tee|12.50 EUR|in_stock"
	for name, c := range map[string]struct{ sent, want string }{
		"plain":                {titles + "B-1,Grüner Tee,Mild & fein,12.50,EUR\n", tea},
		"mark of Excel":        {"\xef\xbb\xbf" + titles + "B-1,Grüner Tee,x,12.50,EUR\n", tea},
		"semicolons":           {"sku;name;price;currency\nB-1;Grüner Tee;12,50;EUR\n", tea},
		"tabs":                 {"sku\tname\tprice\tcurrency\nB-1\tGrüner Tee\t12,50\tEUR\n", tea},
		"pipes":                {"sku|name|price|currency\nB-1|Grüner Tee|12,50|EUR\n", tea},
		"sep of Excel":         {"sep=;\nsku;name;price;currency\r\nB-1;Grüner Tee;12,50;EUR\r\n", tea},
		"line ends of DOS":     {"sku,name,price,currency\r\nB-1,Grüner Tee,12.50,EUR\r\n", tea},
		"line ends of Macs":    {"sku,name,price,currency\rB-1,Grüner Tee,12.50,EUR\r", tea},
		"no last line end":     {"sku,name,price,currency\nB-1,Grüner Tee,12.50,EUR", tea},
		"windows-1252":         {encoded(charmap.Windows1252, titles+"B-1,Grüner Tee,x,12.50,EUR\n"), tea},
		"windows-1251":         {encoded(charmap.Windows1251, titles+"Я-1,Зелёный чай,крупный лист,12.50,RUB\n"), "Я-1|Зелёный чай|12.50 RUB|in_stock"},
		"windows-1250":         {encoded(charmap.Windows1250, titles+"B-1,Świeża łąka żółta,źródło,12.50,EUR\n"), "B-1|Świeża łąka żółta|12.50 EUR|in_stock"},
		"Czech":                {encoded(charmap.Windows1250, titles+"B-1,Příliš žluťoučký kůň,čaj,12.50,EUR\n"), "B-1|Příliš žluťoučký kůň|12.50 EUR|in_stock"},
		"Hungarian":            {encoded(charmap.Windows1250, titles+"B-1,Árvíztűrő tükörfúrógép,tea,12.50,EUR\n"), "B-1|Árvíztűrő tükörfúrógép|12.50 EUR|in_stock"},
		"ISO 8859-2":           {encoded(charmap.ISO8859_2, titles+"B-1,Świeża łąka żółta,źródło,12.50,EUR\n"), "B-1|Świeża łąka żółta|12.50 EUR|in_stock"},
		"ISO 8859-15":          {encoded(charmap.ISO8859_15, titles+"B-1,Thé vert œuvre,12 €,12.50,EUR\n"), "B-1|Thé vert œuvre|12.50 EUR|in_stock"},
		"Mac OS Roman":         {encoded(charmap.Macintosh, titles+"B-1,Grüner Tee größer,süß,12.50,EUR\n"), "B-1|Grüner Tee größer|12.50 EUR|in_stock"},
		"MS-DOS":               {encoded(charmap.CodePage850, titles+"B-1,Grüner Tee größer,süß,12.50,EUR\n"), "B-1|Grüner Tee größer|12.50 EUR|in_stock"},
		"Turkish":              {encoded(charmap.Windows1254, titles+"B-1,Yeşil çay şişesi,Işık ağacı İstanbul,12.50,EUR\n"), "B-1|Yeşil çay şişesi|12.50 EUR|in_stock"},
		"Lithuanian":           {encoded(charmap.Windows1257, titles+"B-1,Žalioji arbata ąžuolas,Šviežia ėė,12.50,EUR\n"), "B-1|Žalioji arbata ąžuolas|12.50 EUR|in_stock"},
		"Greek":                {encoded(charmap.Windows1253, titles+"B-1,Πράσινο τσάι,Φρέσκο,12.50,EUR\n"), "B-1|Πράσινο τσάι|12.50 EUR|in_stock"},
		"Hebrew":               {encoded(charmap.Windows1255, titles+"B-1,תה ירוק,תה טרי,12.50,EUR\n"), "B-1|תה ירוק|12.50 EUR|in_stock"},
		"Arabic":               {encoded(charmap.Windows1256, titles+"B-1,شاي أخضر,شاي طازج,12.50,EUR\n"), "B-1|شاي أخضر|12.50 EUR|in_stock"},
		"Ukrainian":            {encoded(charmap.Windows1251, titles+"B-1,Зелений чай із гір,для всієї родини її,12.50,EUR\n"), "B-1|Зелений чай із гір|12.50 EUR|in_stock"},
		"KOI8-R":               {encoded(charmap.KOI8R, titles+"B-1,Зелёный чай,Крупный лист,12.50,EUR\n"), "B-1|Зелёный чай|12.50 EUR|in_stock"},
		"Portuguese":           {encoded(charmap.Windows1252, titles+"B-1,Chá em pó,Edições não são opções,12.50,EUR\n"), "B-1|Chá em pó|12.50 EUR|in_stock"},
		"Spanish":              {encoded(charmap.Windows1252, titles+"B-1,¿Qué té? ¡Sí!,Señor José,12.50,EUR\n"), "B-1|¿Qué té? ¡Sí!|12.50 EUR|in_stock"},
		"Icelandic":            {encoded(charmap.Windows1252, titles+"B-1,Grænt te,Ferskt þegar það er kalt úti í fjöllum,12.50,EUR\n"), "B-1|Grænt te|12.50 EUR|in_stock"},
		"one sign of a size":   {encoded(charmap.Windows1252, titles+"B-1,Tea 30×40,10 µF,12.50,EUR\n"), "B-1|Tea 30×40|12.50 EUR|in_stock"},
		"many signs of sizes":  {encoded(charmap.Windows1252, titles+"B-1,Größe 30×40 30×40 30×40 30×40,5 m³ ±1,12.50,EUR\n"), "B-1|Größe 30×40 30×40 30×40 30×40|12.50 EUR|in_stock"},
		"cubic metres":         {encoded(charmap.Windows1252, titles+"B-1,Soil 1 m³ 2 m³ 3 m³ 4 m³,x,12.50,EUR\n"), "B-1|Soil 1 m³ 2 m³ 3 m³ 4 m³|12.50 EUR|in_stock"},
		"Polish sizes":         {encoded(charmap.Windows1250, titles+"B-1,Mała łyżka 30×40,źródło,12.50,EUR\n"), "B-1|Mała łyżka 30×40|12.50 EUR|in_stock"},
		"pounds":               {encoded(charmap.Windows1252, titles+"B-1,Tea,Was £9.99 now £7.99 – save £2.00 ½ £1 £1 £1,12.50,EUR\n"), "B-1|Tea|12.50 EUR|in_stock"},
		"UTF-16":               {encoded(utf16, titles+"B-1,Grüner Tee,x,12.50,EUR\n"), tea},
		"UTF-16 without mark":  {encoded(unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), titles+"B-1,Grüner Tee,x,12.50,EUR\n"), tea},
		"gzip":                 {packed("\xef\xbb\xbf" + titles + "B-1,Grüner Tee,x,12.50,EUR\n"), tea},
		"quotes":               {"sku,name,price,currency\n\"B-1\",\"Tea, \"\"green\"\"\nloose\",12.50,EUR\n", "B-1|Tea, \"green\" loose|12.50 EUR|in_stock"},
		"a quote in a text":    {"sku,name,price,currency\nB-1,Nail 5\" long,12.50,EUR\n", "B-1|Nail 5\" long|12.50 EUR|in_stock"},
		"empty lines":          {"sku,name,price,currency\n\nB-1,Tea,12.50,EUR\n\n\n", "B-1|Tea|12.50 EUR|in_stock"},
		"more separators":      {"sku,name,price,currency\nB-1,Tea,12.50,EUR,,,\n", "B-1|Tea|12.50 EUR|in_stock"},
		"HTML":                 {titles + "B-3,Caf&eacute; &amp; Tea,<p>Soft</p><p>Mild</p>,12.50,EUR\n", "B-3|Café & Tea|12.50 EUR|in_stock"},
		"less than":            {titles + "B-3,Tea <5 g & more,x,12.50,EUR\n", "B-3|Tea <5 g & more|12.50 EUR|in_stock"},
		"leading zeros":        {titles + "00042,Tea,x,12.50,EUR\n", "00042|Tea|12.50 EUR|in_stock"},
		"formulas":             {titles + "=1+1,=SUM(A1),x,12.50,EUR\n", "=1+1|=SUM(A1)|12.50 EUR|in_stock"},
		"upper case":           {"SKU,Name,Price,Currency\nB-1,Tea,12.50,EUR\n", "B-1|Tea|12.50 EUR|in_stock"},
		"amounts":              {"sku,name,amount,currency\nB-1,Tea,1250,EUR\n", "B-1|Tea|12.50 EUR|in_stock"},
		"amounts of yen":       {"sku,name,amount,currency\nB-1,Tea,1250,JPY\n", "B-1|Tea|1250 JPY|in_stock"},
		"packed twice":         {packed(packed(titles + "B-1,Grüner Tee,x,12.50,EUR\n")), tea},
		"spaces around":        {" sku , name ,price,currency\n B-1 ,\" Grüner Tee \",12.50,EUR\n", tea},
		"no-break spaces":      {"sku,name,price,currency\n\u00a0B-1\u00a0,Grüner\u00a0Tee,\"12,50\u00a0€\",\n", tea},
		"another order":        {"PRICE,Currency,NAME,Sku,more\n12.50,EUR,Grüner Tee,B-1,x\n", tea},
		"a title twice":        {"sku,name,price,currency,name\nB-1,Grüner Tee,12.50,EUR,Black Tea\n", tea},
		"CDATA in a table":     {titles + "B-1,<b>Grüner</b> Tee,\"<p>a</p>\n<p>b</p>\",12.50,EUR\n", tea},
		"lines in titles":      {titles + "B-1,\"Grüner\r\nTee\",\"a\r\n\r\nb\",12.50,EUR\n", tea},
		"a title beside an id": {"id,sku,name,price\n4711,B-1,Grüner Tee,12.50 EUR\n", tea},
		"lines before titles":  {"\r\n\nsku,name,price,currency\nB-1,Grüner Tee,12.50,EUR\n", tea},
		"empty rows of Excel":  {"sku,name,price,currency\n,,,\nB-1,Grüner Tee,12.50,EUR\n,,,\n , ,,\n", tea},
		"a photo with marks":   {"sku,name,price,photos\nB-1,Grüner Tee,12.50 EUR,\"https://a.example/1;v=2,3.jpg|https://a.example/b.jpg\"\n", tea},
		"names in one word":    {"OfferID,Name,Price,ImageLink\nB-1,Grüner Tee,12.50 EUR,https://a.example/1.jpg\n", tea},
		"a mark, and a fault":  {"\xef\xbb\xbfsku,name,price,more\nB-1,Grüner Tee,12.50 EUR,\xe4\n", tea},
		"a number in stock":    {"sku,name,price,stock\nB-1,Grüner Tee,12.50 EUR,25\n", tea},
		"none in stock":        {"sku,name,price,stock\nB-1,Grüner Tee,12.50 EUR,0\n", "B-1|Grüner Tee|12.50 EUR|out_of_stock"},
		"below none in stock":  {"sku,name,price,stock\nB-1,Grüner Tee,12.50 EUR,-3.0\n", "B-1|Grüner Tee|12.50 EUR|out_of_stock"},
		"WooCommerce": {"ID,Type,SKU,Name,Published,\"In stock?\",Stock,\"Sale price\",\"Regular price\",Images,Parent\n" +
			"1,variable,S,Shirt,1,1,,,,https://a.example/1.jpg,\n2,variation,S-R,\"Shirt - Red\",1,0,,\"7,50\",\"9,90 €\",,S\n" +
			"3,simple,M,Draft,-1,1,5,,6,,\n4,simple,P,Private,0,1,5,,6,,\n", "S-R|Shirt - Red|9.90 EUR|out_of_stock|sale 7.50 EUR"},
		"published and parent": {"sku,name,price,published,parent\nB-1,Tea,9 EUR,0,P-1\n", "B-1|Tea|9.00 EUR|in_stock"},
		"prices as amounts":    {"sku,name,amount,currency\nB-1,Tea,\"12,50\",EUR\n", "B-1|Tea|12.50 EUR|in_stock"},
	} {
		rows, refused, fault := readFeed(t, feed.Options{Format: feed.CSV}, []byte(c.sent))
		if len(rows) != 1 || len(refused) > 0 || fault != "" || shown(rows[0]) != c.want {
			t.Errorf("%s: read %+v, refused %v, fault %q", name, rows, refused, fault)
		}
	}
}

func TestRowsThatAreRefused(t *testing.T) {
	table := func(cells string) []byte {
		return []byte("id,title,link,price,sale_price,sale_price_effective_date,availability,image_link\nA,Good,,1.00 EUR,,,,\n" +
			cells + "\nZ,Good,,1.00 EUR,,,,\n")
	}
	for cells, want := range map[string]string{
		",Tea,,1 EUR,,,,":                             "id is missing",
		"A,Tea,,1 EUR,,,,":                            `id is "A", as in row 2. Give each product an id of its own`,
		"B,,,1 EUR,,,,":                               "title is missing",
		"B, ,,1 EUR,,,,":                              "title is missing",
		"B,Tea,,,,,,":                                 "price is missing",
		"B,Tea,,0,,,,":                                `price is "0", whose currency is not clear.`,
		"B,Tea,,0 EUR,,,,":                            "price is 0",
		"B,Tea,,free,,,,":                             `price is "free", which is no price`,
		"B,Tea,,-1 EUR,,,,":                           `price is "-1 EUR", which is below 0`,
		"B,Tea,,12.345678 EUR,,,,":                    "which is no amount of EUR",
		"B,Tea,,12.50 XXX,,,,":                        "whose currency is not clear",
		"B,Tea,,$12.50,,,,":                           "whose currency is not clear",
		"B,Tea,,\"1,250 KWD\",,,,":                    "which has two meanings",
		"B,Tea,,10.00-20.00 EUR,,,,":                  `price is "10.00-20.00 EUR", which is no price`,
		"B,Tea,,12.50 EUR 3,,,,":                      "price is",
		"B,Tea,,99999999999999 EUR,,,,":               "more than a price may be",
		"B,Tea,,10 EUR,12 EUR,,,":                     "sale_price is above the price",
		"B,Tea,,10 EUR,8 USD,,,":                      "sale_price is in USD, and the price in EUR",
		"B,Tea,,10 EUR,8 EUR,soon,,":                  "sale_price_effective_date is",
		"B,Tea,,10 EUR,8 EUR,2026-02-01/2026-01-01,,": "ends before it begins",
		"B,Tea,,10 EUR,8 EUR,1066-02-01/2026-01-01,,": "not between 2000 and 2100",
		"B,Tea,,10 EUR,8 EUR,2026-13-01/2026-14-01,,": "sale_price_effective_date is",
		"B,Tea,,10 EUR,-8 EUR,,,":                     "sale_price is",
		" A ,Tea,,1 EUR,,,,":                          `id is "A", as in row 2`,
		"B,Tea":                                       "price is missing",
		"B,<p></p>,,1 EUR,,,,":                        "title is missing",
		"B,\u200b,,1 EUR,,,,":                         "title is missing",
		"B,Tea,,1 EUR,,,maybe,":                       "availability is",
		"B,Tea,,1 EUR,,,nan,":                         "availability is",
		"B,Caf\xc3,,1 EUR,,,,é":                       "title has a character that cannot be read",
		"B,Tea,javascript:alert(1),1 EUR,,,,":         "link is",
		"B,Tea,,1 EUR,,,,ftp://a.example/x":           "image_link is",
		"B,Tea,,1 EUR,,,,https://u:p@a.example/x":     "image_link is",
		"B,Te,a,,1 EUR,,,,x":                          "has 9 cells, and the first row has 8",
		strings.Repeat("x", 65) + ",Tea,,1 EUR,,,,":   "An id has up to 64 characters",
		"B\x00,Tea,,1 EUR,,,,":                        "no control characters",
		"B,\"Caf\ufffd\",,1 EUR,,,,":                  "has a character that cannot be read",
	} {
		rows, refused, fault := readFeed(t, feed.Options{Format: feed.CSV}, table(cells))
		if len(rows) != 2 || len(refused) != 1 || fault != "" || refused[0].Row != 3 ||
			!strings.Contains(refused[0].Member+" "+refused[0].Reason, want) {
			t.Errorf("%q: read %d rows, refused %+v, fault %q; want %q", cells, len(rows), refused, fault, want)
		}
	}
}

func TestPrices(t *testing.T) {
	for text, want := range map[string]string{
		"12.50 EUR": "12.50 EUR", "12,50 EUR": "12.50 EUR", "EUR 12.50": "12.50 EUR", "12.5": "12.50 EUR",
		"15.00 USD": "15.00 USD", "15.00USD": "15.00 USD", "€15": "15.00 EUR", "15 €": "15.00 EUR", "£1,299.00": "1299.00 GBP",
		"1.299,00 €": "1299.00 EUR", "1 299,00 €": "1299.00 EUR", "1\u00a0299,00\u00a0€": "1299.00 EUR",
		"1,299": "1299.00 EUR", "1.299": "1299.00 EUR", "1,299,000 JPY": "1299000 JPY", "12990 JPY": "12990 JPY",
		"1'299.50 CHF": "1299.50 CHF", "12.500 EUR": "12500.00 EUR", "0.500 EUR": "0.50 EUR", "1250 руб.": "1250.00 RUB",
		"1250 RUR": "1250.00 RUB", "12.5000 EUR": "12.50 EUR", "1.2500 KWD": "1.250 KWD", "kr 12,50": "no",
		"1.2.3 EUR": "no", "1,2,3 EUR": "no", "12..5 EUR": "no", "": "no", "EUR": "no", "1e5 EUR": "no", "0x10 EUR": "no",
		"12.50 EUR/kg": "no", "from 12 EUR": "no", "1 299,90 ₽": "1299.90 RUB", "1.299,90": "1299.90 EUR",
		"1,299.90 USD": "1299.90 USD", "1\u202f299,90 ₽": "1299.90 RUB", "1 299 900,5 ₽": "1299900.50 RUB",
		"1.299.900,50 €": "1299900.50 EUR", "R$ 1.299,90": "1299.90 BRL", "-12.50": "no", "−12.50 EUR": "no",
		"1.250 KWD": "1.250 KWD", "12.500 BHD": "12.500 BHD", "1,299.500 KWD": "1299.500 KWD", "1 299,500 TND": "1299.500 TND",
		"1.250 JPY": "1250 JPY", "1,250 KRW": "1250 KRW", "1250.00 JPY": "1250 JPY", "1250.50 JPY": "no", "12,5 KWD": "12.500 KWD",
		"10 – 20 €": "no", "10..20 EUR": "no", "ab 12,50 €": "no", "12,50–15 €": "no", "10/20 EUR": "no", "1.250,5 KWD": "1250.500 KWD",
		"(12.50)": "no", "12,- €": "12.00 EUR", "12.– EUR": "12.00 EUR", "12,-15 €": "no", "12 50 EUR": "no",
		"1 299 900 EUR": "1299900.00 EUR", "1\u2009299.50 EUR": "1299.50 EUR", "1’299’000.50 CHF": "1299000.50 CHF", "-€12": "no",
		"1,00,000.00 INR": "100000.00 INR", "US$ 15": "15.00 USD", "CA$15.5": "15.50 CAD", "15 грн.": "15.00 UAH", "9 Kč": "9.00 CZK",
		"15 Rs": "no", "12.50 eur": "12.50 EUR", "12.50 EUROS": "12.50 EUR", "ab€ 12": "no", "12 EUR/USD": "no", "12.50.": "no", "12.50 EUR 3 USD": "no", "NaN": "no", "Infinity EUR": "no", "12,50 USD EUR": "no",
		"$15.00 USD": "15.00 USD", "€15,00 EUR": "15.00 EUR", "$15 EUR": "no", "USD 15 (net)": "no", "Rp 150.000": "150000.00 IDR",
	} {
		rows, refused, fault := readFeed(t, feed.Options{Format: feed.CSV, Currency: "EUR"},
			fmt.Appendf(nil, "id,title,price\nA,Tea,%s\n", `"`+text+`"`))
		got := "no"
		if len(rows) == 1 {
			got = rows[0].Price.String()
		}
		if got != want || len(rows)+len(refused) != 1 {
			t.Errorf("%q is %s, %v, %s; want %s", text, got, refused, fault, want)
		}
	}
}

func TestPeriodsOfSales(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"2026-11-27T00:00+0100/2026-11-30T23:59+0100":  "2026-11-26T23:00:00Z 2026-11-30T22:59:00Z",
		"2026-11-27T13:00-0800/2026-12-01T15:30-0800":  "2026-11-27T21:00:00Z 2026-12-01T23:30:00Z",
		"2026-11-27/2026-11-30":                        "2026-11-26T23:00:00Z 2026-11-30T23:00:00Z",
		"2026-11-27T08:00Z/2026-11-30T08:00Z":          "2026-11-27T08:00:00Z 2026-11-30T08:00:00Z",
		"/2026-11-30T08:00Z":                           "0001-01-01T00:00:00Z 2026-11-30T08:00:00Z",
		"2026-11-27T00:00/2026-11-30T12:30":            "2026-11-26T23:00:00Z 2026-11-30T11:30:00Z",
		"2026-11-27 00:00:00/2026-11-30 12:30:00":      "2026-11-26T23:00:00Z 2026-11-30T11:30:00Z",
		"2026-11-27T00:00+01 / 2026-11-30T24:00+01":    "2026-11-26T23:00:00Z 2026-11-30T23:00:00Z",
		"20261127T080000Z/20261130T0800+0530":          "2026-11-27T08:00:00Z 2026-11-30T02:30:00Z",
		"2026-11-27T08:00:00.000+01:00/2026-11-30":     "2026-11-27T07:00:00Z 2026-11-30T23:00:00Z",
		"2026-11-27 08:00 UTC/2026-11-30 08:00:00 GMT": "2026-11-27T08:00:00Z 2026-11-30T08:00:00Z",
		"2026-06-01T08:00+0100/2026-06-30T08:00−0330":  "2026-06-01T07:00:00Z 2026-06-30T11:30:00Z",
		"2026-06-01T08:00/2026-11-30":                  "2026-06-01T06:00:00Z 2026-11-30T23:00:00Z",
	} {
		rows, refused, _ := readFeed(t, feed.Options{Format: feed.CSV, Zone: berlin}, []byte(
			"id,title,price,sale_price,sale_price_effective_date\nA,Tea,10 EUR,8 EUR,"+text+"\n"))
		if len(rows) != 1 || len(refused) > 0 {
			t.Fatalf("%s: %v", text, refused)
		}
		sale := rows[0].Sale
		if got := sale.From.Format(time.RFC3339) + " " + sale.Until.Format(time.RFC3339); got != want {
			t.Errorf("%s is %s", text, got)
		}
	}
}

// A sale begins and ends by the rule of all plans on days when clocks change: a day may begin at 01:00.
func TestASaleOnADayWithoutMidnight(t *testing.T) {
	for zone, c := range map[string][2]string{
		"America/Santiago": {"2026-09-06/2026-09-06", "2026-09-06T04:00:00Z 2026-09-07T03:00:00Z"},
		"Europe/Berlin":    {"2027-03-28T02:30/2027-10-31T02:30", "2027-03-28T01:30:00Z 2027-10-31T00:30:00Z"},
	} {
		place, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		rows, refused, _ := readFeed(t, feed.Options{Format: feed.CSV, Zone: place}, []byte(
			"id,title,price,sale_price,sale_price_effective_date\nA,Tea,10 EUR,8 EUR,"+c[0]+"\n"))
		if len(rows) != 1 {
			t.Fatalf("%s: %v", zone, refused)
		}
		sale := rows[0].Sale
		if got := sale.From.Format(time.RFC3339) + " " + sale.Until.Format(time.RFC3339); got != c[1] {
			t.Errorf("%s is %s, want %s", c[0], got, c[1])
		}
	}
}

// Ids tell products apart as they are written: shops have "a-1" beside "A-1".
func TestIdsThatDifferInCase(t *testing.T) {
	rows, refused, fault := readFeed(t, feed.Options{Format: feed.CSV}, []byte("sku,name,price\nA-1,Tea,1 EUR\na-1,Tea,2 EUR\nA 1,Tea,3 EUR\n"))
	if len(rows) != 3 || len(refused) > 0 || fault != "" {
		t.Errorf("read %+v, refused %v, fault %q", rows, refused, fault)
	}
}

// A feed has at most so many rows.
func TestRowsOverTheLimit(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("sku,name,price\n")
	for i := range feed.MaxRows + 1 {
		fmt.Fprintf(&b, "%d,T,1 EUR\n", i)
	}
	n := 0
	err := feed.Read(t.Context(), &readSeeker{bytes.NewReader(b.Bytes())}, feed.Options{Format: feed.CSV},
		func(feed.Row, *feed.Refusal) error { n++; return nil })
	var f *feed.FaultError
	if !errors.As(err, &f) || !strings.Contains(f.Message, "more than 500000 rows") || n != feed.MaxRows {
		t.Errorf("%d rows, %v", n, err)
	}
}

// readSeeker hides the other methods of a reader, as files do.
type readSeeker struct{ io.ReadSeeker }

const googleFeed = `<?xml version="1.0"?>
<rss xmlns:g="http://base.google.com/ns/1.0" version="2.0"><channel><title>Shop</title><link>https://shop.example</link>
<item><g:id>TV_123456</g:id><title>wrong</title><g:title>Google 48" 4K TV</g:title>
<g:description>Attractively styled &amp; boasting <![CDATA[<b>stunning</b> quality]]></g:description>
<g:link>https://shop.example/tv?a=1&amp;b=2</g:link><g:image_link>http://shop.example/my tv.jpg</g:image_link>
<g:additional_image_link>https://shop.example/2.jpg</g:additional_image_link>
<g:additional_image_link>https://shop.example/3.jpg</g:additional_image_link>
<g:shipping><g:country>US</g:country><g:price>14.95 USD</g:price></g:shipping>
<g:price>799.00 USD</g:price><g:sale_price>699.00 USD</g:sale_price>
<g:sale_price_effective_date>2026-11-27T13:00-0800/2026-12-01T15:30-0800</g:sale_price_effective_date>
<g:availability>in stock</g:availability><g:item_group_id>TVs</g:item_group_id><g:color>black</g:color><g:size>48</g:size>
<g:product_detail><g:section_name>General</g:section_name><g:attribute_name>Energy</g:attribute_name>
<g:attribute_value>A</g:attribute_value></g:product_detail></item>
<item><g:id>B</g:id><g:title>Radio</g:title><g:price>10 USD</g:price><g:availability>out_of_stock</g:availability></item>
</channel></rss>`

func TestFeedsOfGoogle(t *testing.T) {
	rows, refused, fault := readFeed(t, feed.Options{Format: feed.GoogleXML}, []byte(googleFeed))
	if len(rows) != 2 || len(refused) > 0 || fault != "" {
		t.Fatalf("read %+v, refused %v, fault %q", rows, refused, fault)
	}
	if got := shown(rows[0]); got != `TV_123456|Google 48" 4K TV|799.00 USD|in_stock|sale 699.00 USD|Energy=A|color=black|size=48` {
		t.Error(got)
	}
	r := rows[0]
	if r.Group != "TVs" || r.URL != "https://shop.example/tv?a=1&b=2" ||
		!slices.Equal(r.Photos, []string{"https://shop.example/my%20tv.jpg", "https://shop.example/2.jpg", "https://shop.example/3.jpg"}) ||
		r.Description != "Attractively styled & boasting stunning quality" ||
		r.Sale.From.Format(time.RFC3339) != "2026-11-27T21:00:00Z" {
		t.Errorf("%+v", r)
	}
	if rows[1].Stock != feed.OutOfStock {
		t.Errorf("%+v", rows[1])
	}
	atom := `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:g="http://base.google.com/ns/1.0"><entry><g:id>A</g:id><title>Tea</title>` +
		`<link href="https://shop.example/a"/><summary>Mild</summary><g:price>3 EUR</g:price></entry></feed>`
	if rows, _, fault = readFeed(t, feed.Options{Format: feed.GoogleXML}, []byte(atom)); len(rows) != 1 ||
		rows[0].URL != "https://shop.example/a" || rows[0].Description != "Mild" {
		t.Errorf("%+v, %q", rows, fault)
	}
	variants := `<rss xmlns:g="http://base.google.com/ns/1.0"><channel>` +
		`<item><g:id>S-1</g:id><g:title><![CDATA[<b>Shirt</b> &amp; tie]]></g:title><g:price>9 EUR</g:price>` +
		`<g:item_group_id>S</g:item_group_id><g:size>M</g:size></item>` +
		`<item><g:id>S-2</g:id><g:title>Shirt</g:title><g:price>9 EUR</g:price><g:item_group_id>S</g:item_group_id>` +
		`<g:size>L</g:size></item></channel></rss>`
	rows, refused, fault = readFeed(t, feed.Options{Format: feed.GoogleXML}, []byte(variants))
	if len(rows) != 2 || rows[0].Group != "S" || rows[1].Group != "S" ||
		shown(rows[0]) != "S-1|Shirt & tie|9.00 EUR|in_stock|size=M" {
		t.Errorf("%+v, %v, %q", rows, refused, fault)
	}
	tsv := "id\ttitle\tdescription\tlink\timage link\tprice\tsale price\tavailability\tproduct detail\tadditional image link\n" +
		"A\tTea\tMild\thttps://shop.example/a\thttps://shop.example/a.jpg\t3.00 EUR\t2.50 EUR\tin stock\tGeneral:Origin:Assam\t" +
		"https://shop.example/b,c.jpg,https://shop.example/d.jpg\n"
	rows, refused, fault = readFeed(t, feed.Options{Format: feed.GoogleTSV}, []byte(tsv))
	if len(rows) != 1 || shown(rows[0]) != "A|Tea|3.00 EUR|in_stock|sale 2.50 EUR|Origin=Assam" || len(rows[0].Photos) != 3 {
		t.Errorf("%+v, %v, %q", rows, refused, fault)
	}
}

const yml = `<?xml version="1.0" encoding="windows-1251"?>
<!DOCTYPE yml_catalog SYSTEM "shops.dtd">
<yml_catalog date="2026-11-01 12:20"><shop><name>Shop</name><currencies><currency id="RUR" rate="1"/></currencies>
<categories><category id="1">Бытовая техника</category><category id="10" parentId="1">Мелкая техника</category></categories>
<offers><offer id="9012" available="true" group_id="7"><name>Мороженица Brand 3811</name><vendor>Brand</vendor>
<url>https://shop.example/p?id=9012&amp;from=market</url><price>8990</price><oldprice>9990</oldprice>
<currencyId>RUR</currencyId><categoryId>10</categoryId><picture>https://shop.example/9012.jpg</picture>
<picture>https://shop.example/9012_2.jpg</picture><description><![CDATA[<h3>Мороженица</h3><p>Вкусно</p>]]></description>
<param name="Цвет">белый</param><param name="Вес" unit="кг">3.4</param><barcode>4601546021298</barcode></offer>
<offer id="2" type="vendor.model" available="false"><typePrefix>Чайник</typePrefix><vendor>Brand</vendor>
<model>K220</model><price>1 650,50</price><currencyId>RUB</currencyId><delivery-options><option cost="300" days="1"/></delivery-options></offer>
</offers></shop></yml_catalog>`

func TestFeedsOfYandex(t *testing.T) {
	text, err := charmap.Windows1251.NewEncoder().String(yml)
	if err != nil {
		t.Fatal(err)
	}
	rows, refused, fault := readFeed(t, feed.Options{Format: feed.YML}, []byte(text))
	if len(rows) != 2 || len(refused) > 0 || fault != "" {
		t.Fatalf("read %+v, refused %v, fault %q", rows, refused, fault)
	}
	if got := shown(rows[0]); got != "9012|Мороженица Brand 3811|9990.00 RUB|in_stock|sale 8990.00 RUB|brand=Brand|"+
		"gtin=4601546021298|product_type=Мелкая техника|Вес=3.4 кг|Цвет=белый" {
		t.Error(got)
	}
	if r := rows[0]; r.Group != "7" || r.Description != "Мороженица\nВкусно" || len(r.Photos) != 2 {
		t.Errorf("%+v", r)
	}
	if got := shown(rows[1]); got != "2|Чайник Brand K220|1650.50 RUB|out_of_stock|brand=Brand" {
		t.Error(got)
	}
}

const shopify = `Handle,Title,Body (HTML),Vendor,Type,Tags,Published,Option1 Name,Option1 Value,Option2 Name,Option2 Value,Variant SKU,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,Variant Price,Variant Compare At Price,Image Src,Image Position,Variant Image,Status
shirt,"Shirt, blue",<p>Soft</p>,Acme,Shirts,,true,Size,S,Color,Blue,SH-S,shopify,0,deny,19.90,,https://cdn.example/1.jpg,1,,active
shirt,,,,,,,,M,,Blue,'0042,shopify,0,continue,19.90,25.00,https://cdn.example/2.jpg,2,https://cdn.example/m.jpg,
shirt,,,,,,,,,,,,,,,,,https://cdn.example/3.jpg,3,,
mug,Mug,,Acme,,,true,Title,Default Title,,,,,,,9,,,,,active
draft,Draft,,Acme,,,true,Title,Default Title,,,D,,,,9,,,,,draft
hidden,Hidden,,Acme,,,false,Title,Default Title,,,H,,,,9,,,,,active
noprice,No price,,,,,true,Title,Default Title,,,N,,,,,,,,,active
`

func TestExportsOfShopify(t *testing.T) {
	rows, refused, fault := readFeed(t, feed.Options{Format: feed.ShopifyCSV, Currency: "EUR"}, []byte(shopify))
	want := []string{"SH-S|Shirt, blue|19.90 EUR|out_of_stock|Color=Blue|Size=S|brand=Acme|product_type=Shirts",
		"0042|Shirt, blue|25.00 EUR|in_stock|sale 19.90 EUR|Color=Blue|Size=M|brand=Acme|product_type=Shirts",
		"mug|Mug|9.00 EUR|in_stock|brand=Acme"}
	if len(rows) != 3 || fault != "" || len(refused) != 1 || refused[0].Member != "Variant Price" || refused[0].Row != 8 {
		t.Fatalf("read %+v, refused %v, fault %q", rows, refused, fault)
	}
	for i, r := range rows {
		if shown(r) != want[i] {
			t.Errorf("row %d is %s", i, shown(r))
		}
	}
	if rows[0].Group != "shirt" || rows[2].Group != "" || len(rows[0].Photos) != 3 ||
		rows[1].Photos[0] != "https://cdn.example/m.jpg" {
		t.Errorf("%+v", rows)
	}
}

func TestTablesWithAMapping(t *testing.T) {
	sent := "Artikel;Bezeichnung;Preis;Aktion;von;bis;Farbe;Bilder\n4711;Tee;12,50;9,90;2026-11-27;2026-11-30;grün;" +
		"\"https://a.example/1.jpg, https://a.example/2.jpg\"\n"
	o := feed.Options{Format: feed.CSV, Currency: "EUR", Mapping: map[string]string{"sku": "Artikel", "name": "Bezeichnung",
		"price": "preis", "sale_price": "Aktion", "sale_from": "von", "sale_until": "bis", "attributes.color": "Farbe",
		"photos": "Bilder"}}
	rows, refused, fault := readFeed(t, o, []byte(sent))
	if len(rows) != 1 || shown(rows[0]) != "4711|Tee|12.50 EUR|in_stock|sale 9.90 EUR|color=grün" ||
		len(rows[0].Photos) != 2 || rows[0].Sale.Until.Format(time.DateOnly) != "2026-12-01" {
		t.Errorf("read %+v, refused %v, fault %q", rows, refused, fault)
	}
	o.Mapping["url"] = "Adresse"
	if _, _, fault = readFeed(t, o, []byte(sent)); !strings.Contains(fault, `no column "Adresse", which the mapping names for url`) {
		t.Error(fault)
	}
	delete(o.Mapping, "url")
	_, refused, _ = readFeed(t, o, []byte(strings.Replace(sent, "12,50", "viel", 1)))
	if len(refused) != 1 || refused[0].Member != "Preis" {
		t.Errorf("refused %+v, want the column by its title", refused)
	}
}

func TestLinesOfJSON(t *testing.T) {
	sent := "\xef\xbb\xbf" + `{"id":"A","title":"Tea","price":"12.50 EUR","image_link":"https://a.example/1.jpg","color":"green"}
{"sku":"B","name":"Tea","price":{"amount":1250,"currency":"EUR"},"photos":["https://a.example/1.jpg"],"attributes":{"origin":"Assam"}}

{"id":3,"title":"Tea","price":{"value":"3.5","currency":"USD"},"availability":"out of stock"}
{"id":"D","title":"Tea","price":[1]}
{"id":"E"
[1]
{"id":"F","title":"Tea","price":{"amount":1250,"currency":"JPY"}} {"id":"G"}
`
	rows, refused, fault := readFeed(t, feed.Options{Format: feed.JSONLines}, []byte(sent))
	if len(rows) != 3 || len(refused) != 4 || fault != "" {
		t.Fatalf("read %+v, refused %v, fault %q", rows, refused, fault)
	}
	for i, want := range []string{"A|Tea|12.50 EUR|in_stock|color=green", "B|Tea|12.50 EUR|in_stock|origin=Assam",
		"3|Tea|3.50 USD|out_of_stock"} {
		if shown(rows[i]) != want {
			t.Errorf("row %d is %s", i, shown(rows[i]))
		}
	}
	for i, row := range []int{5, 6, 7, 8} {
		if refused[i].Row != row {
			t.Errorf("refused %+v", refused[i])
		}
	}
}

// A feed that is broken as a whole changes nothing: it is a fault.
func TestFeedsThatCannotBeRead(t *testing.T) {
	many, rest := strings.Repeat("x", 4<<20+10), strings.Repeat("B,Tea,1 EUR\n", 256<<10/12+1)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = io.WriteString(z, "sku,name,price\n")
	for range feed.MaxBytes/(1<<20) + 1 {
		_, _ = z.Write(bytes.Repeat([]byte("a,b,1 EUR\n"), 104858))
	}
	_ = z.Close()
	for name, c := range map[string]struct {
		format     feed.Format
		sent, want string
	}{
		"empty":            {feed.CSV, "", "The feed is empty"},
		"titles alone":     {feed.CSV, "sku,name,price\n", "has no products"},
		"no titles":        {feed.CSV, "B-1,Tea,12.50\n", "has no column for id"},
		"no price":         {feed.CSV, "sku,name\nA,B\n", "has no column for price"},
		"open quote":       {feed.CSV, "sku,name,price\n\"A,Tea,1 EUR\nB,Tea,1 EUR\n", "A quotation mark that begins in line 2 has no end"},
		"a long row":       {feed.CSV, "sku,name,price\nA,\"" + many + "\",1 EUR\n", "The row in line 2 has more than 256 KB"},
		"rows in quotes":   {feed.CSV, "sku,name,price\nA,B,1 EUR\nA,\"5\" x,1 EUR\n" + rest + "C,\"D\",1 EUR\n", "Does a quotation mark have no end?"},
		"a page":           {feed.GoogleXML, "<html><body>Not found</body></html>", "The first element of the feed is html"},
		"a page of YML":    {feed.YML, "<rss></rss>", "The first element of the feed is rss"},
		"truncated":        {feed.GoogleXML, googleFeed[:1000], "is no XML"},
		"truncated before": {feed.GoogleXML, `<rss><channel><item><id>A</id><title>B</title><price>1 EUR</price></item>`, "is no XML"},
		"no XML":           {feed.GoogleXML, "id,title", "no XML"},
		"no items":         {feed.GoogleXML, "<rss><channel></channel></rss>", "has no products"},
		"billion laughs": {feed.GoogleXML, `<!DOCTYPE rss [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><rss><channel><item><title>&b;` +
			`</title></item></channel></rss>`, "defines entities of its own"},
		"external entity": {feed.YML, `<!DOCTYPE yml_catalog [<!ENTITY x SYSTEM "file:///etc/passwd">]><yml_catalog>&x;</yml_catalog>`,
			"defines entities"},
		"unknown entity":   {feed.GoogleXML, "<rss><item><title>&x;</title></item></rss>", "is no XML"},
		"deep":             {feed.GoogleXML, "<rss>" + strings.Repeat("<a>", 30), "20 elements in one another"},
		"a long text":      {feed.GoogleXML, "<rss><item><title>" + many + "</title></item></rss>", "Row 1, which ends behind line 1, has more than 4 MB"},
		"many elements":    {feed.GoogleXML, "<rss><item>" + strings.Repeat("<a></a>", 600000) + "</item></rss>", "has more than 4 MB"},
		"an array":         {feed.JSONLines, "\n[\n{\"id\":\"A\"}]", "is one array of JSON"},
		"a long line":      {feed.JSONLines, "{\"id\":\"A\"}\n{\"id\":\"" + many + "\"}", "Line 2 of the feed has more than 4 MB"},
		"a page of lines":  {feed.JSONLines, "\n<html>\n<body>Not found</body>", "Line 2, the first with text, is no object of JSON"},
		"lines, cut off":   {feed.JSONLines, `{"id":"A","title":"T","price":"1 EUR"}` + "\n" + `{"id":"B","ti`, "ends in the middle of line 2"},
		"a row, cut off":   {feed.CSV, "sku,name,price,stock\nA,Tea,1 EUR,5\nB,Tea,1", "ends in the middle of the row in line 3"},
		"a ZIP file":       {feed.CSV, "PK\x03\x04\x14\x00", "is a ZIP file"},
		"a workbook":       {feed.CSV, "\xd0\xcf\x11\xe0\xa1\xb1", "a workbook of Excel"},
		"an unknown XML":   {feed.GoogleXML, "<rss><?xml version=\"1.2\"?></rss>", "Line 1 of the feed is no XML: unsupported version"},
		"deep at a line":   {feed.GoogleXML, "<rss>\n" + strings.Repeat("<a>", 30), "at line 2"},
		"another table":    {feed.ShopifyCSV, "sku,name,price\nA,B,1\n", "is no export of products of Shopify"},
		"bomb":             {feed.CSV, bomb.String(), "larger than 200 MB once it is unpacked"},
		"damaged":          {feed.CSV, bomb.String()[:5000], "damaged"},
		"packed too often": {feed.CSV, packed(packed(packed(titles))), "packed by gzip more than twice"},
		"quadratic blowup": {feed.GoogleXML, `<!DOCTYPE rss [<!ENTITY a "` + strings.Repeat("a", 50_000) + `">]><rss><channel><item><title>` +
			strings.Repeat("&a;", 1000) + `</title></item></channel></rss>`, "defines entities of its own"},
		"parameter entity":  {feed.GoogleXML, `<!DOCTYPE rss [<!ENTITY % x SYSTEM "https://a.example/x.dtd"> %x;]><rss/>`, "defines entities of its own"},
		"spaces alone":      {feed.CSV, "  \n\n \n", "has no column"},
		"a mark alone":      {feed.CSV, "\xef\xbb\xbf", "empty"},
		"a page as a table": {feed.GoogleTSV, "<!DOCTYPE html>\n<html><body>Not found</body></html>", "has no column"},
		"no gzip":           {feed.CSV, "\x1f\x8bsku", "begins like a file of gzip"},
	} {
		if _, _, fault := readFeed(t, feed.Options{Format: c.format}, []byte(c.sent)); !strings.Contains(fault,
			c.want) {
			t.Errorf("%s: fault %.300q, want %q", name, fault, c.want)
		}
	}
}

// A row that is too large is refused with the name of its largest member. Its product is still there, and the other
// rows go on.
func TestRowsThatAreTooLarge(t *testing.T) {
	for _, size := range []int{300 << 10, 3 << 20} {
		long := strings.Repeat("A long text, as <b>HTML</b>.\n", size/29)
		line, pieces := strings.ReplaceAll(long, "\n", " "), strings.Repeat("<p>x</p>", size/8)
		const item = "<item><id>%s</id><title>Tea</title><price>1 EUR</price></item>"
		for name, c := range map[string]struct {
			format       feed.Format
			sent, member string
		}{
			"csv": {feed.CSV, "name,description,price,sku\nTea,x,1 EUR,A\nTea,\"" + long + "\",1 EUR,B\nTea,x,1 EUR,C\n",
				"description"},
			"one line": {feed.CSV, "sku,name,price\nA,Tea,1 EUR\nB,\"" + line + "\",1 EUR\nC,Tea,1 EUR", "name"},
			"tsv":      {feed.GoogleTSV, "id\ttitle\tprice\nA\tTea\t1 EUR\nB\t" + line + "\t1 EUR\nC\tTea\t1 EUR\n", "title"},
			"shopify": {feed.ShopifyCSV, "Handle,Title,Body (HTML),Variant SKU,Variant Price\na,Tea,x,A,1\nb,Tea,\"" + line +
				"\",B,1\nc,Tea,x,C,1\n", "Body (HTML)"},
			"xml": {feed.GoogleXML, "<rss>" + fmt.Sprintf(item, "A") + "<item><id>B</id><description><![CDATA[" + long +
				"]]></description><price>1 EUR</price></item>" + fmt.Sprintf(item, "C") + "</rss>", "description"},
			"xml, its id last": {feed.GoogleXML, "<rss>" + fmt.Sprintf(item, "A") + "<item><x>" + pieces +
				"</x><title>Tea</title><id>B</id></item>" + fmt.Sprintf(item, "C") + "</rss>", "x"},
			"yml": {feed.YML, `<yml_catalog><offer id="A"><name>Tea</name><price>1</price></offer><offer id="B"><name>Tea</name>` +
				"<price>1</price><description>" + pieces + `</description></offer><offer id="C"><name>Tea</name><price>1</price>` +
				"</offer></yml_catalog>", "description"},
			"json": {feed.JSONLines, `{"id":"A","title":"T","price":"1 EUR"}` + "\n" + `{"title":"T","description":"` + line +
				`","id":"1","sku":"B"}` + "\n" + `{"id":"C","title":"T","price":"1 EUR"}`, "description"},
		} {
			rows, ids := []string{}, []string{}
			var refused []feed.Refusal
			err := feed.Read(t.Context(), strings.NewReader(c.sent), feed.Options{Format: c.format, Currency: "EUR"},
				func(r feed.Row, no *feed.Refusal) error {
					if ids = append(ids, r.ID); no == nil {
						rows = append(rows, r.ID)
					} else {
						refused = append(refused, *no)
					}
					return nil
				})
			if err != nil || strings.Join(rows, "") != "AC" || strings.Join(ids, "") != "ABC" || len(refused) != 1 ||
				refused[0].Member != c.member || !strings.Contains(refused[0].Reason, "is too long. A row has up to 256 KB") {
				t.Errorf("%s of %d KB: read %v of %v, refused %+v, %v", name, size>>10, rows, ids, refused, err)
			}
		}
	}
}

func TestErrorsOfTheTakerEndARead(t *testing.T) {
	stop := errors.New("stop")
	n := 0
	err := feed.Read(t.Context(), strings.NewReader("sku,name,price\nA,B,1 EUR\nC,D,1 EUR\n"), feed.Options{Format: feed.CSV},
		func(feed.Row, *feed.Refusal) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("%v after %d rows", err, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	none := func(feed.Row, *feed.Refusal) error { return nil }
	err = feed.Read(ctx, strings.NewReader(googleFeed), feed.Options{Format: feed.GoogleXML}, none)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// many is a feed of JSON lines, CSV or XML that is made while it is read.
func many(format feed.Format, rows int) []byte {
	var b bytes.Buffer
	switch format {
	case feed.CSV:
		b.WriteString("sku,name,description,price,photo\n")
	case feed.GoogleXML:
		b.WriteString(`<rss xmlns:g="http://base.google.com/ns/1.0"><channel>`)
	}
	long := strings.Repeat("A long description of a product. ", 30)
	for i := range rows {
		switch format {
		case feed.CSV:
			fmt.Fprintf(&b, "S-%d,Product %d,\"%s\",%d.50 EUR,https://shop.example/%d.jpg\n", i, i, long, i%900+1, i)
		default:
			fmt.Fprintf(&b, "<item><g:id>S-%d</g:id><g:title>Product</g:title><g:description>%s</g:description><g:price>%d.50 EUR</g:price></item>\n", i, long, i%900+1)
		}
	}
	if format == feed.GoogleXML {
		b.WriteString("</channel></rss>")
	}
	return b.Bytes()
}

// A feed of 50,000 rows is never held as a whole.
func TestWorstCaseFeeds(t *testing.T) {
	for _, format := range []feed.Format{feed.CSV, feed.GoogleXML} {
		sent := many(format, 50_000)
		var before, during runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		n, most, began := 0, uint64(0), time.Now()
		err := feed.Read(t.Context(), bytes.NewReader(sent), feed.Options{Format: format}, func(feed.Row,
			*feed.Refusal) error {
			if n++; n%10_000 == 0 {
				runtime.GC()
				runtime.ReadMemStats(&during)
				most = max(most, during.HeapAlloc-min(before.HeapAlloc, during.HeapAlloc))
			}
			return nil
		})
		t.Logf("%s: %d rows, %d MB, %v, %d KB more", format, n, len(sent)>>20, time.Since(began), most>>10)
		if err != nil || n != 50_000 || most > 20<<20 {
			t.Errorf("%s: %d rows, %v, %d bytes are held", format, n, err, most)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{googleFeed, yml, shopify, titles + "B-1,Tea,x,12.50,EUR\n", `{"id":"A"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		for _, format := range []feed.Format{feed.GoogleXML, feed.GoogleTSV, feed.YML, feed.ShopifyCSV, feed.CSV,
			feed.JSONLines} {
			o := feed.Options{Format: format, Currency: "EUR"}
			err := feed.Read(t.Context(), bytes.NewReader(sent), o, func(r feed.Row, no *feed.Refusal) error {
				if no == nil && (r.ID == "" || r.Name == "" || r.Price.Amount <= 0 ||
					!money.IsCurrency(r.Price.Currency)) {
					t.Errorf("%s: %+v", format, r)
				}
				return nil
			})
			var fault *feed.FaultError
			if err != nil && !errors.As(err, &fault) {
				t.Errorf("%s: %v", format, err)
			}
		}
	})
}
