package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/product"
)

// feed is a file of products as shops have them, and what comes of it.
type feed struct {
	name    string
	content string
	// want are the products by their SKU: name, description, amount and currency.
	want map[string][4]any
	// bad are what is said of the rows that are not imported.
	bad []string
}

// wide is a text in UTF-16.
func wide(text string, mark, bigEndian bool) string {
	if mark {
		text = "\ufeff" + text
	}
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		if bigEndian {
			b.Write([]byte{byte(unit >> 8), byte(unit)})
		} else {
			b.Write([]byte{byte(unit), byte(unit >> 8)})
		}
	}
	return b.String()
}

func feeds(t *testing.T) []feed {
	t.Helper()
	file := func(name string) string {
		content, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	tea := map[string][4]any{"B-1": {"Grüner Tee", "Mild & fein", int64(1250), "EUR"}}
	tabs := "sku\tname\tprice\tcurrency\tdescription\r\nB-1\tGrüner Tee\t12,50 €\t\tMild &amp; fein\r\n"
	all := []feed{
		{"a byte order mark", file("feed_bom.csv"), tea, nil},
		{"semicolons", file("feed_semicolon.csv"), tea, nil},
		{"windows-1252", file("feed_cp1252.csv"), tea, nil},
		{"HTML", file("feed_entities.csv"), map[string][4]any{"B-3": {"Café & Tea", "Soft", int64(1250), "EUR"}}, nil},
		{"a space in an address", file("feed_space_url.csv"), map[string][4]any{"B-7": {"Tee", "x", int64(1250), "EUR"}}, nil},
		{"Excel's note", "sep=;\r\nSKU; Name ;Amount;Currency;Stock;Description\r\nB-1;Grüner Tee;1250;eur;7;\"Mild & fein\"\r\n", tea, nil},
		{"line ends of old", "sku,name,description,amount,currency\rB-1,Grüner Tee,Mild & fein,1250,EUR\r", tea, nil},
		{"lines in cells", "sku,name,description,amount,currency\nB-1,Shoe,\"Soft,\n\nwarm \"\"wool\"\"\",1250,EUR\n",
			map[string][4]any{"B-1": {"Shoe", "Soft,\nwarm \"wool\"", int64(1250), "EUR"}}, nil},
		{"lines of Word in cells", "sku,name,description,amount,currency\nB-1,Shoe,Soft\u2028warm\u0085,1250,EUR\n",
			map[string][4]any{"B-1": {"Shoe", "Soft\u2028warm", int64(1250), "EUR"}}, nil},
		{"a quote that nobody closes", "sku,name,description,amount,currency\nA,a,x,1250,EUR\nB,\"b,x,1250,EUR\n" +
			strings.Repeat("C,c,x,1250,EUR\n", 10_000), map[string][4]any{"A": {"a", "x", int64(1250), "EUR"}},
			[]string{"row 3: the row has 2 cells"}},
		{"prices as people write them", "sku,name,price,currency\nA,a,\"1.299,00\",EUR\nB,b,\"1,299.00\",EUR\n" +
			"C,c,15.00 USD,\nD,d,€ 9.90,\nE,e,1 299,JPY\nF,f,12.9,EUR\nG,g,12.9004,EUR\nH,h,\"1,299\",KWD\n\nI,i,free,EUR\nJ,j,15,\n",
			map[string][4]any{"A": {"a", "", int64(129900), "EUR"}, "B": {"b", "", int64(129900), "EUR"},
				"C": {"c", "", int64(1500), "USD"}, "D": {"d", "", int64(990), "EUR"}, "E": {"e", "", int64(1299), "JPY"},
				"F": {"f", "", int64(1290), "EUR"}},
			[]string{"row 8: the price", "row 9: the price", "row 11: the price", "row 12: the currency"}},
		{"wrong rows between", "sku,name,amount,currency\nA,a,1250,EUR\nB,b,\"12,50\",EUR\nC,c,oops,EUR\nA,q,1,EUR\nD,d\n,e,1,EUR\nF,f,990,EURO\n",
			map[string][4]any{"A": {"a", "", int64(1250), "EUR"}, "B": {"b", "", int64(1250), "EUR"}},
			[]string{"row 4: the price", "row 5: its SKU is that of row 2", "row 6: the row has 2 cells", "row 7: it has no SKU", "row 8: the currency"}},
		{"amounts with and without decimals", "sku,name,amount,currency\nA,a,12.50,EUR\nB,b,13,EUR\nC,c,9.90,EUR\n",
			map[string][4]any{"A": {"a", "", int64(1250), "EUR"}, "C": {"c", "", int64(990), "EUR"}},
			[]string{"row 3: the amount 13 has no decimals"}},
		{"no names of columns", "B-1,Shoe,1250,EUR\n", nil, []string{"first row must name the columns"}},
		{"a row that the service refuses", "sku,name,amount,currency,url\nA,a,1250,EUR,\nB,b,1250,EUR,ftp://a.b\n",
			map[string][4]any{"A": {"a", "", int64(1250), "EUR"}}, []string{"row 3: B: validation_failed"}},
		{"nothing", "sku,name,amount,currency\n", nil, []string{""}},
	}
	for name, content := range map[string]string{"UTF-16 with a mark": wide(tabs, true, false),
		"UTF-16 of another order": wide(tabs, true, true), "UTF-16 without a mark": wide(tabs, false, false),
		"UTF-16 of another order without a mark": wide(tabs, false, true)} {
		all = append(all, feed{name, content, tea, nil})
	}
	return all
}

// check compares the products of the service with those of a feed.
func (f feed) check(t *testing.T, s *service, said string, failed bool) {
	t.Helper()
	found := map[string][4]any{}
	for _, p := range apitest.All[product.Product](s.Caller, "/v1/products?factory_id="+s.factory, 100) {
		found[p.SKU] = [4]any{p.Name, string(p.Description), p.Price.Amount, p.Price.Currency}
	}
	if len(found) != len(f.want) {
		t.Errorf("there are %v, want %v", found, f.want)
	}
	for sku, want := range f.want {
		if found[sku] != want {
			t.Errorf("%s is %q, want %q", sku, found[sku], want)
		}
	}
	for _, want := range f.bad {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q: %s", want, said)
		}
	}
	if failed != (f.bad != nil) || strings.Count(said, "row ") < len(f.bad)-1 {
		t.Errorf("its end is failed: %v: %s", failed, said)
	}
}

// Feeds are read as spreadsheets write them. A run that is repeated creates nothing twice.
func TestFeedsOfTheImporter(t *testing.T) {
	for _, f := range feeds(t) {
		t.Run(f.name, func(t *testing.T) {
			s := newService(t)
			file := filepath.Join(t.TempDir(), "feed.csv")
			if err := os.WriteFile(file, []byte(f.content), 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				var out bytes.Buffer
				err := s.importer(&out).file(context.Background(), file)
				if err != nil {
					out.WriteString(err.Error())
				}
				f.check(t, s, out.String(), err != nil)
			}
		})
	}
}

// The program of the guide does the same.
func TestFeedsOfTheGuide(t *testing.T) {
	guide, err := os.ReadFile("../../pkg/service/docs/guides/products.md")
	if err != nil {
		t.Fatal(err)
	}
	program := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(guide)
	dir := t.TempDir()
	write := func(name, content string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	catalog := write("catalog.py", string(program[1]))
	run := func(t *testing.T, s *service, args ...string) (said string, failed bool) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			resp, err := s.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			w.WriteHeader(resp.StatusCode)
			var body bytes.Buffer
			_, _ = body.ReadFrom(resp.Body)
			_, _ = w.Write(body.Bytes())
		}))
		defer server.Close()
		cmd := exec.CommandContext(t.Context(), "python3", append([]string{catalog, s.factory}, args...)...)
		cmd.Env = append(os.Environ(), "BASE_URL="+server.URL, "SVC_API_KEY=key")
		out, err := cmd.CombinedOutput()
		if bytes.Contains(out, []byte("Traceback")) {
			t.Errorf("%s", out)
		}
		return string(out), err != nil
	}
	for _, f := range feeds(t) {
		t.Run(f.name, func(t *testing.T) {
			s, file := newService(t), write("feed.csv", f.content)
			for range 2 {
				said, failed := run(t, s, file)
				f.check(t, s, said, failed)
			}
		})
	}
	t.Run("windows-1251", func(t *testing.T) {
		s := newService(t)
		said, failed := run(t, s, write("feed.csv", "sku,name,amount,currency\nB-1,\xd7\xe0\xe9,1250,RUB\n"), "windows-1251")
		feed{want: map[string][4]any{"B-1": {"Чай", "", int64(1250), "RUB"}}}.check(t, s, said, failed)
	})
}
