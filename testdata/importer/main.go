// Command importer imports a catalog of products into a factory of type seller, from a CSV
// file with the columns sku, name, description, amount, currency, url and photo_url. It
// stays within the rate limit of its key. It can be repeated, even after an interruption: it
// then changes the products whose rows have changed, and creates nothing twice.
package main

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	factory := flag.String("factory", "", "id of the factory")
	file := flag.String("file", "", "CSV file")
	flag.Parse()
	i := &importer{
		base: os.Getenv("BASE_URL"), key: os.Getenv("SVC_API_KEY"), factory: *factory,
		http: &http.Client{Timeout: time.Minute}, sleep: pause, now: time.Now, out: os.Stdout,
	}
	if err := i.file(context.Background(), *file); err != nil {
		fmt.Fprintln(os.Stderr, "importer:", err)
		os.Exit(1)
	}
}

// pause waits until a time.
func pause(ctx context.Context, until time.Time) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(until)):
		return nil
	}
}

// price is a price in the smallest unit of its currency.
type price struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

// row is one product of the file.
type row struct {
	FactoryID   string `json:"factory_id,omitempty"`
	SKU         string `json:"sku"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Price       price  `json:"price"`
	URL         string `json:"url"`
	photo       string
}

// file imports all rows of a file.
func (i *importer) file(ctx context.Context, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	rows, err := read(f)
	if err != nil {
		return err
	}
	return i.all(ctx, rows)
}

// read reads the rows of a file.
func read(r io.Reader) (rows []row, err error) {
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, nil
	}
	column := map[string]int{}
	for n, name := range lines[0] {
		column[name] = n
	}
	for n, line := range lines[1:] {
		cell := func(name string) string {
			if at, ok := column[name]; ok {
				return line[at]
			}
			return ""
		}
		amount, err := strconv.ParseInt(cell("amount"), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: amount %q is not in the smallest unit of the currency", n+2,
				cell("amount"))
		}
		rows = append(rows, row{
			SKU: cell("sku"), Name: cell("name"), Description: cell("description"),
			Price: price{amount, cell("currency")}, URL: cell("url"), photo: cell("photo_url"),
		})
	}
	return rows, nil
}
