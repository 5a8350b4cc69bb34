package feed_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/product"
)

// changesOf returns what the product with a SKU tells of its row, the newest first.
func (w *world) changesOf(sku string) (all []product.FeedChange) {
	w.T.Helper()
	var p product.Product
	w.Call(http.MethodGet, "/v1/products/"+w.products()[sku].ID, nil).Into(w.T, http.StatusOK, &p)
	return p.FeedChanges
}

// A product tells what its feed has changed, with the runs, and nothing of runs that change something else.
func TestAProductTellsTheHistoryOfItsRow(t *testing.T) {
	w := newWorld(t)
	w.set()
	others := ""
	for i := range 6 {
		others += fmt.Sprintf("O%d,Other,1 EUR\n", i)
	}
	head := "sku,name,price,availability,sale_price,photo\n" + others
	var runs []string
	for _, row := range []string{
		"A,Shoe,10 EUR,in_stock,,https://93.184.215.14/a.jpg", "A,Shoe,12 EUR,in_stock,,https://93.184.215.14/a.jpg",
		"A,Shoe of nets,12 EUR,in_stock,,https://93.184.215.14/a.jpg", "A,Shoe of nets,12 EUR,out_of_stock,9 EUR,",
		"", "A,Shoe,12 EUR",
	} {
		runs = append(runs, w.sync(head+row).ID)
	}
	var told []string
	for _, c := range w.changesOf("A") {
		sale := "–"
		if c.SalePrice != nil {
			sale = fmt.Sprint(c.SalePrice.Amount)
		}
		n := 0
		for runs[n] != c.RunID {
			n++
		}
		told = append(told, fmt.Sprintf("%d %v %d %s %s", n, c.Changes, c.Price.Amount, sale, c.Availability))
	}
	want := "5 [added] 1200 – in_stock\n4 [removed] 1200 900 out_of_stock\n" +
		"3 [sale_price availability photo] 1200 900 out_of_stock\n1 [price] 1200 – in_stock\n0 [added] 1000 – in_stock"
	if got := strings.Join(told, "\n"); got != want {
		t.Errorf("told was\n%s\nwant\n%s", got, want)
	}
	if listed := w.products()["A"].FeedChanges; listed == nil || len(listed) != 0 {
		t.Errorf("a list has the changes %v", listed)
	}
	for i := range 25 {
		w.sync(head + fmt.Sprintf("A,Shoe,%d EUR", 20+i))
	}
	if all := w.changesOf("A"); len(all) != 20 || all[0].Price.Amount != 4400 || all[19].Price.Amount != 2500 {
		t.Errorf("%d changes are kept: %+v", len(all), all)
	}
}
