package craft_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/craft/feed"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

// What a feed or its server says of the encoding counts, unless the bytes say otherwise.
func TestEncodingsThatAreDeclared(t *testing.T) {
	of := func(e encoding.Encoding, text string) []byte {
		out, err := e.NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return []byte(out)
	}
	document := func(name, title string) string {
		return `<?xml version="1.0" encoding="` + name + `"?><rss><channel><item><id>A</id><title>` + title +
			`</title><price>9 EUR</price></item></channel></rss>`
	}
	const table = "sku,name,price\nA,Зелёный чай,9 EUR\n"
	for name, c := range map[string]struct {
		format  feed.Format
		sent    []byte
		charset string
		want    string
	}{
		"Shift_JIS":       {feed.GoogleXML, of(japanese.ShiftJIS, document("Shift_JIS", "緑茶の表")), "", "緑茶の表"},
		"EUC-JP":          {feed.GoogleXML, of(japanese.EUCJP, document("euc-jp", "緑茶")), "", "緑茶"},
		"GBK":             {feed.GoogleXML, of(simplifiedchinese.GBK, document("GBK", "绿茶")), "", "绿茶"},
		"EUC-KR":          {feed.GoogleXML, of(korean.EUCKR, document("EUC-KR", "녹차")), "", "녹차"},
		"ISO-8859-2":      {feed.GoogleXML, of(charmap.ISO8859_2, document("iso-8859-2", "Zielona Łąka")), "", "Zielona Łąka"},
		"KOI8-R":          {feed.GoogleXML, of(charmap.KOI8R, document("koi8-r", "Зелёный чай")), "", "Зелёный чай"},
		"UTF-16":          {feed.GoogleXML, of(unicode.UTF16(unicode.BigEndian, unicode.UseBOM), document("UTF-16", "緑茶")), "", "緑茶"},
		"a wrong UTF-8":   {feed.GoogleXML, of(charmap.Windows1251, document("utf-8", "Зелёный чай")), "", "Зелёный чай"},
		"a wrong 8859-1":  {feed.GoogleXML, []byte(document("iso-8859-1", "緑茶")), "iso-8859-1", "緑茶"},
		"undeclared GBK":  {feed.CSV, of(simplifiedchinese.GBK, "sku,name,price\nA,不锈钢保温杯大容量户外运动水壶,9 EUR\n"), "iso-8859-1", ""},
		"undeclared JIS":  {feed.CSV, of(japanese.ShiftJIS, "sku,name,price\nA,緑茶の急須セット,9 EUR\n"), "", ""},
		"undeclared Thai": {feed.CSV, of(charmap.Windows874, "sku,name,price\nA,ชาเขียวจากไทย,9 EUR\n"), "", ""},
		"of the server":   {feed.CSV, of(charmap.KOI8R, table), "koi8-r", "Зелёный чай"},
		"a wrong server":  {feed.CSV, []byte(table), "windows-1252", "Зелёный чай"},
		"an unknown one":  {feed.CSV, []byte(table), "x-unknown", "Зелёный чай"},
		"a letter cut":    {feed.CSV, []byte("sku,name,price,more\nA,Зелёный чай,9 EUR,ча\xd0\n"), "", "Зелёный чай"},
		"an item cut":     {feed.GoogleXML, []byte(strings.Replace(document("utf-8", "緑茶"), "<id>", "<x>\xe7\xb7</x><id>", 1)), "", "緑茶"},
		"XML 1.1":         {feed.GoogleXML, []byte("\r\n" + strings.Replace(document("utf-8", "緑茶"), "1.0", "1.1", 1)), "", "緑茶"},
		"the mark within": {feed.CSV, []byte("\xef\xbb\xbf\xef\xbb\xbf" + table), "", ""},
	} {
		rows, refused, fault := readFeed(t, feed.Options{Format: c.format, Charset: c.charset}, c.sent)
		if c.want == "" && len(rows) == 0 && fault != "" {
			continue
		}
		if len(rows) != 1 || rows[0].Name != c.want || len(refused) > 0 {
			t.Errorf("%s: read %+v, refused %+v, fault %q", name, rows, refused, fault)
		}
	}
}

// Entities stand for characters: those of XML, of HTML, and those that a shop has written twice.
func TestEntities(t *testing.T) {
	for title, want := range map[string]string{
		"Tea &amp; more": "Tea & more", "Tea &amp;amp; more": "Tea & more", "Caf&eacute;": "Café", "Caf&#233;": "Café",
		"Caf&#xE9;": "Café", "Caf&amp;eacute;": "Café", "<![CDATA[Caf&eacute; <b>bold</b>]]>": "Café bold",
		"5&nbsp;&lt; 6": "5 < 6", "&quot;Tea&quot; &apos;x&apos;": `"Tea" 'x'`, "Tea&#8203;": "Tea\u200b",
		"&#128512; Tea": "😀 Tea", "&amp;unknown; Tea": "&unknown; Tea",
	} {
		sent := "<rss><channel><item><id>A</id><title>" + title + "</title><price>12,50&nbsp;&#8364;</price></item></channel></rss>"
		rows, refused, fault := readFeed(t, feed.Options{Format: feed.GoogleXML}, []byte(sent))
		if len(rows) != 1 || rows[0].Name != want || rows[0].Price.String() != "12.50 EUR" {
			t.Errorf("%s: read %+v, refused %+v, fault %q; want %q", title, rows, refused, fault, want)
		}
	}
	for _, broken := range []string{"Tea & more", "Tea &#0;", "Tea &#xFFFFFFFF;", "Tea \x0b", "&nosuch;"} {
		sent := "<rss><channel><item><id>A</id><title>" + broken + "</title><price>1 EUR</price></item></channel></rss>"
		if _, _, fault := readFeed(t, feed.Options{Format: feed.GoogleXML}, []byte(sent)); !strings.Contains(fault,
			"Line 1 of the feed is no XML") {
			t.Errorf("%q: %q", broken, fault)
		}
	}
}

// A row that is refused, for whatever reason, is still there: its id is told.
func TestRefusedRowsKeepTheirIds(t *testing.T) {
	const shopify = "Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price,Status\n"
	for name, c := range map[string]struct {
		format     feed.Format
		sent, want string
	}{
		"a character":        {feed.CSV, "sku,name,price\nA,\"Caf\ufffd\",1 EUR\n", "A: name has a character"},
		"too many cells":     {feed.CSV, "name,sku,price\nTea,A,1 EUR,x\n", "A:  has 4 cells"},
		"a broken line":      {feed.JSONLines, "{\"Title\":\"Tea\",\"SKU\": \"A\",}\n", "A:  is no object of JSON: "},
		"a broken number":    {feed.JSONLines, "{\"offerId\":42,\"price\":tea}\n", "42:  is no object of JSON: "},
		"a name twice":       {feed.JSONLines, `{"id":"A","title":"Tea","price":"1 EUR","price":"2 EUR"}`, "A: price is there twice"},
		"another list":       {feed.JSONLines, `{"offerId":"A","title":["Tea"],"price":"1 EUR"}`, "A: title is a list"},
		"an object":          {feed.JSONLines, `{"ID":"A","title":{"en":"Tea"},"price":"1 EUR"}`, "A: title is an object"},
		"no currency":        {feed.CSV, "sku,name,price,Currency\nA,Tea,1,QQQ\n", "A: Currency is \"QQQ\", which is no code"},
		"no price":           {feed.ShopifyCSV, shopify + "tea,Tea,Size,M,A,,active\n", "A: Variant Price is missing"},
		"no price of others": {feed.ShopifyCSV, shopify + "tea,Tea,Size,M,M,9,active\ntea,,,L,A,,\n", "A: Variant Price is missing"},
		"no handle":          {feed.ShopifyCSV, shopify + ",Tea,Size,M,A,9,active\n", "A: Handle is missing"},
		"too many of these":  {feed.ShopifyCSV, shopify + "tea,Tea,Size,M,A,9,active,x\n", "A:  has 8 cells"},
		"rows apart": {feed.ShopifyCSV, shopify + "tea,Tea,Size,M,M,9,active\nmug,Mug,,,G,9,active\ntea,,,L,A,9,\n",
			"A: Title is missing. The rows of a product follow"},
	} {
		got := ""
		err := feed.Read(t.Context(), strings.NewReader(c.sent), feed.Options{Format: c.format, Currency: "EUR"},
			func(r feed.Row, no *feed.Refusal) error {
				if no != nil {
					got += r.ID + ": " + no.Member + " " + no.Reason + "\n"
				}
				return nil
			})
		if err != nil || !strings.HasPrefix(got, c.want) || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: refused are %q, %v; want %q", name, got, err, c.want)
		}
	}
}

// What a shop writes beside products, and in another way than most, does not have them refused.
func TestOddProducts(t *testing.T) {
	for name, c := range map[string]struct {
		format     feed.Format
		sent, want string
	}{
		"unknown lists": {feed.JSONLines, `{"id":"A","title":"Tea","price":"1 EUR","tags":["a"],"shipping":[{"price":"2 EUR"}]}`,
			"A|Tea|1.00 EUR|in_stock"},
		"lists of texts": {feed.JSONLines, `{"id":"A","title":"Tea","price":"1 EUR","color":["red","blue"],"productTypes":["Tea"]}`,
			"A|Tea|1.00 EUR|in_stock|color=red, blue|product_type=Tea"},
		"Google's API": {feed.JSONLines, `{"offerId":"A","title":"Tea","price":{"value":"9.5","currency":"EUR"},"salePrice":{"value":8,` +
			`"currency":"EUR"},"itemGroupId":"G","imageLink":"https://a.example/1.jpg","availability":"in stock","ageGroup":"adult"}`,
			"A|Tea|9.50 EUR|in_stock|sale 8.00 EUR|age_group=adult"},
		"a product of this API": {feed.JSONLines, `{"id":"prd_1","sku":"A","name":"Tea","price":{"amount":1250,"currency":"EUR"},` +
			`"photos":[{"id":"pho_1","url":"https://a.example/1.jpg"}],"price_history":[{"at":"x"}],"availability":"preorder"}`,
			"A|Tea|12.50 EUR|preorder"},
		"a number":                {feed.JSONLines, `{"id":"A","title":"Tea","price":1.299}`, `no: is "1.299", which is no amount of EUR`},
		"a number of one decimal": {feed.JSONLines, `{"id":"A","title":"Tea","price":12.5}`, "A|Tea|12.50 EUR|in_stock"},
		"two decimals":            {feed.JSONLines, `{"id":"A","title":"Tea","price":12.50}`, "A|Tea|12.50 EUR|in_stock"},
		"an exponent":             {feed.JSONLines, `{"id":1e3,"title":"Tea","price":1.25e1}`, "1000|Tea|12.50 EUR|in_stock"},
		"a zero more":             {feed.JSONLines, `{"id":"A","title":"Tea","price":12.500}`, "A|Tea|12.50 EUR|in_stock"},
		"an amount":               {feed.JSONLines, `{"id":"A","title":"Tea","price":{"amount":1e3,"currency":"EUR"}}`, "A|Tea|10.00 EUR|in_stock"},
		"others' titles": {feed.GoogleXML, `<rss xmlns:m="http://search.yahoo.com/mrss/"><item><m:title>No</m:title><title>Tea</title>` +
			`<id>A</id><price>1 EUR</price></item></rss>`, "A|Tea|1.00 EUR|in_stock"},
		"another prefix": {feed.GoogleXML, `<rss xmlns:x="http://base.google.com/ns/1.0"><item><title>No</title><x:title>Tea</x:title>` +
			`<x:id>A</x:id><x:price>1 EUR</x:price></item></rss>`, "A|Tea|1.00 EUR|in_stock"},
		"a wrong space": {feed.GoogleXML, `<rss xmlns:g="http://example.com/"><item><g:title>Tea</g:title>` +
			`<g:id>A</g:id><g:price>1 EUR</g:price></item></rss>`, "A|Tea|1.00 EUR|in_stock"},
		"the currency of a shop": {feed.YML, `<yml_catalog><shop><currencies><currency id="USD" rate="CBRF"/><currency id="BYR" rate="1"/>` +
			`</currencies><offers><offer id="A"><name>Tea</name><price>9</price></offer></offers></shop></yml_catalog>`,
			"A|Tea|9.00 BYN|in_stock"},
		"artist.title": {feed.YML, `<yml_catalog><shop><offers><offer id="A" type="artist.title"><artist>Pink</artist><title>Wall</title>` +
			`<price>9</price><currencyId>RUR</currencyId></offer></offers></shop></yml_catalog>`, "A|Pink Wall|9.00 RUB|in_stock"},
		"three decimals":       {feed.GoogleXML, `<rss><item><title>Tea</title><id>A</id><price>12.500 EUR</price></item></rss>`, "A|Tea|12.50 EUR|in_stock"},
		"a point of thousands": {feed.GoogleTSV, "id\ttitle\tprice\nA\tTea\t1.299 EUR\n", `no: is "1.299 EUR", which is no amount of EUR`},
		"a comma of thousands": {feed.GoogleTSV, "id\ttitle\tprice\nA\tTea\t1,299 USD\n", "A|Tea|1299.00 USD|in_stock"},
		"a point in Indonesia": {feed.GoogleTSV, "id\ttitle\tprice\nA\tTea\t150.000 IDR\n", "A|Tea|150000.00 IDR|in_stock"},
		"a point in Japan":     {feed.GoogleTSV, "id\ttitle\tprice\nA\tTea\t1.500 JPY\n", "A|Tea|1500 JPY|in_stock"},
		"a point in Vietnam":   {feed.GoogleXML, `<rss><item><title>Tea</title><id>A</id><price>150.000 VND</price></item></rss>`, "A|Tea|150000 VND|in_stock"},
		"a number of rupiahs":  {feed.JSONLines, `{"id":"A","title":"Tea","price":150.000,"currency":"IDR"}`, "A|Tea|150.00 IDR|in_stock"},
		"marks of inches":      {feed.GoogleTSV, "id\ttitle\tprice\nA\t\"Best\" tea\t1 EUR\n", `A|"Best" tea|1.00 EUR|in_stock`},
		"a long handle": {feed.ShopifyCSV, "Handle,Title,Variant Price\n" + strings.Repeat("tea-", 20) + ",Tea,9\n",
			strings.Repeat("tea-", 12) + "tea-"},
	} {
		o := feed.Options{Format: c.format}
		if c.format != feed.YML {
			o.Currency = "EUR"
		}
		rows, refused, fault := readFeed(t, o, []byte(c.sent))
		got := fault
		for _, r := range rows {
			got = shown(r)
		}
		for _, r := range refused {
			got = "no: " + r.Reason
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	// One mark without another one joins no rows.
	rows, refused, fault := readFeed(t, feed.Options{Format: feed.GoogleTSV}, []byte("id\ttitle\tprice\nA\t\"Tea\t1 EUR\n"+
		"B\tMonitor 24\"\t2 EUR\nC\t\"Tea, \"\"green\"\"\nloose\"\t3 EUR\n"))
	if len(rows) != 3 || rows[0].Name != `"Tea` || rows[1].Name != `Monitor 24"` || rows[2].Name != `Tea, "green" loose` {
		t.Errorf("read %+v, refused %+v, fault %q", rows, refused, fault)
	}
	// A further photo that is none is left out, and a row with no other one says so.
	rows, refused, _ = readFeed(t, feed.Options{Format: feed.CSV}, []byte("sku,name,price,image_link,photos\n"+
		"A,Tea,1 EUR,https://a.example/1.jpg,\"/2.jpg, https://a.example/3.jpg\"\nB,Tea,1 EUR,,/1.jpg\n"))
	if len(rows) != 1 || len(rows[0].Photos) != 2 || len(refused) != 1 || refused[0].Member != "photos" {
		t.Errorf("read %+v, refused %+v", rows, refused)
	}
	// A column may serve for several members.
	rows, _, fault = readFeed(t, feed.Options{Format: feed.CSV, Mapping: map[string]string{"sku": "Nr", "attributes.number": "Nr",
		"name": "Text", "description": " text "}}, []byte("Nr,Text,price\n7,Tea,1 EUR\n"))
	if len(rows) != 1 || shown(rows[0]) != "7|Tea|1.00 EUR|in_stock|number=7" || rows[0].Description != "Tea" {
		t.Errorf("read %+v, fault %q", rows, fault)
	}
}

// All variants of a product are rows of their own.
func TestAGroupOfAThousandVariants(t *testing.T) {
	var google, shopify strings.Builder
	google.WriteString("<rss><channel>")
	shopify.WriteString("Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price\n")
	for i := range 1000 {
		fmt.Fprintf(&google, "<item><id>S-%d</id><title>Shirt</title><price>9 EUR</price><item_group_id>S</item_group_id>"+
			"<size>%d</size></item>", i, i)
		title := ""
		if i == 0 {
			title = "Shirt"
		}
		fmt.Fprintf(&shopify, "S,%s,Size,%d,S-%d,9\n", title, i, i)
	}
	google.WriteString("</channel></rss>")
	for format, sent := range map[feed.Format]string{feed.GoogleXML: google.String(),
		feed.ShopifyCSV: shopify.String()} {
		rows, refused, fault := readFeed(t, feed.Options{Format: format, Currency: "EUR"}, []byte(sent))
		if len(rows) != 1000 || len(refused) > 0 || fault != "" {
			t.Fatalf("%s: read %d rows, refused %+v, fault %q", format, len(rows), refused, fault)
		}
		for i, r := range rows {
			size := r.Attributes["size"] + r.Attributes["Size"]
			if r.Group != "S" || r.ID != fmt.Sprint("S-", i) || size != fmt.Sprint(i) || r.Name != "Shirt" {
				t.Fatalf("%s: row %d is %+v", format, i, r)
			}
		}
	}
}

// A sale is what it says in the currency of the shop, also if that has no decimals or three of them.
func TestSalesInCurrenciesOfOtherDecimals(t *testing.T) {
	for _, c := range []struct{ currency, price, old, want string }{
		{"KWD", "3.125", "4.250", "A|Tea|4.250 KWD|in_stock|sale 3.125 KWD"},
		{"KWD", "1.250", "10.5", "A|Tea|10.500 KWD|in_stock|sale 1.250 KWD"},
		{"KWD", "12.5", "1.250", "A|Tea|12.500 KWD|in_stock"},
		{"JPY", "1250", "1500", "A|Tea|1500 JPY|in_stock|sale 1250 JPY"},
		{"RUR", "1 250,50", "1 500", "A|Tea|1500.00 RUB|in_stock|sale 1250.50 RUB"},
	} {
		sent := `<yml_catalog><shop><offers><offer id="A"><name>Tea</name><price>` + c.price + `</price><oldprice>` + c.old +
			`</oldprice><currencyId>` + c.currency + `</currencyId></offer></offers></shop></yml_catalog>`
		rows, refused, fault := readFeed(t, feed.Options{Format: feed.YML}, []byte(sent))
		if len(rows) != 1 || shown(rows[0]) != c.want {
			t.Errorf("%+v: read %+v, refused %+v, fault %q", c, rows, refused, fault)
		}
		table := "Handle,Title,Variant SKU,Variant Price,Variant Compare At Price\nt,Tea,A,\"" + c.price + `","` + c.old + "\"\n"
		rows, refused, fault = readFeed(t, feed.Options{Format: feed.ShopifyCSV, Currency: c.currency}, []byte(table))
		if len(rows) != 1 || shown(rows[0]) != c.want {
			t.Errorf("%+v of Shopify: read %+v, refused %+v, fault %q", c, rows, refused, fault)
		}
	}
}

// Stocks are written as Google, schema.org, Meta and WooCommerce write them.
func TestWordsForStocks(t *testing.T) {
	for word, want := range map[string]feed.Stock{"in stock": feed.InStock, "https://schema.org/InStock": feed.InStock,
		"https://schema.org/SoldOut": feed.OutOfStock, "http://schema.org/Discontinued": feed.OutOfStock, "discontinued": feed.OutOfStock,
		"schema.org/InStock": feed.InStock, "unavailable": feed.OutOfStock, "Not available": feed.OutOfStock, "On backorder": feed.Backorder,
		"backordered": feed.Backorder, "Y": feed.InStock, "n": feed.OutOfStock, "low stock": feed.InStock,
		"available for order": feed.InStock, "onbackorder": feed.Backorder, "https://schema.org/PreSale": feed.Preorder,
		"https://schema.org/LimitedAvailability": feed.InStock, "Out-Of-Stock": feed.OutOfStock} {
		rows, refused, fault := readFeed(t, feed.Options{Format: feed.CSV}, []byte("id,title,price,availability\nA,Tea,1 EUR,"+
			word+"\n"))
		if len(rows) != 1 || rows[0].Stock != want {
			t.Errorf("%s: read %+v, %+v, %s; want %s", word, rows, refused, fault, want)
		}
	}
}

// Addresses are read as browsers read them.
func TestAddressesAsShopsWriteThem(t *testing.T) {
	for sent, want := range map[string]string{"//cdn.example/1.jpg": "https://cdn.example/1.jpg",
		"https://a.example/50%-off.jpg": "https://a.example/50%25-off.jpg", "https://a.example/100%25.jpg": "https://a.example/100%25.jpg",
		"https://a.example/%E0%A4%A": "https://a.example/%E0%A4%25A", "https://a.example/\n 1.jpg": "https://a.example/%201.jpg",
		"https://müller.example/größe.jpg":                 "https://xn--mller-kva.example/gr%C3%B6%C3%9Fe.jpg",
		"https://müller.example:8080/1.jpg":                "https://xn--mller-kva.example:8080/1.jpg",
		"https://a.example/1.jpg, https://a.example/2.jpg": "https://a.example/1.jpg https://a.example/2.jpg"} {
		rows, refused, fault := readFeed(t, feed.Options{Format: feed.GoogleXML}, []byte("<rss><item><id>A</id><title>Tea</title>"+
			"<price>1 EUR</price><image_link>"+sent+"</image_link></item></rss>"))
		if len(rows) != 1 || strings.Join(rows[0].Photos, " ") != want {
			t.Errorf("%q: read %+v, %+v, %s; want %s", sent, rows, refused, fault, want)
		}
	}
}
