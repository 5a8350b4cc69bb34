// Command importer imports a catalog of products into a factory of type seller, from a CSV
// file as the guide to products describes it. It stays within the rate limit of its key. It
// can be repeated, even after an interruption: it then changes the products whose rows have
// changed, and creates nothing twice.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
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
	number      int // in the file
}

// file imports all rows of a file. Rows that are wrong are listed, and the others go on.
func (i *importer) file(ctx context.Context, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	rows, bad, err := read(f)
	if err != nil {
		return err
	}
	for _, b := range bad {
		_, _ = fmt.Fprintf(i.out, "row %d: %s\n", b.number, b.why)
	}
	err = i.all(ctx, rows)
	if wrong := int64(len(bad)) + i.refused.Load(); err == nil && wrong > 0 {
		err = fmt.Errorf("%d rows are not in the catalog", wrong)
	}
	if err == nil && len(rows) == 0 {
		err = errors.New("the file has no products")
	}
	return err
}
