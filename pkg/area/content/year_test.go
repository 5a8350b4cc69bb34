package content_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/erasure"
	"github.com/content-automation/api/pkg/area/sandbox"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// oracle keeps the truth of a simulated year: the price of each product as the shop has it, and had it at the last
// sync.
type oracle struct {
	*rand.Rand
	skus        []string
	price, sale map[string]int
	soldOut     map[string]bool
	// synced has what each product costs by the last sync, and -1 for one that is sold out.
	synced map[string]int64
	// changes counts changes of prices and sales, and stocks those of the stock.
	changes, stocks int
}

func newOracle(shop, products int) *oracle {
	o := &oracle{Rand: rand.New(rand.NewPCG(7, uint64(shop))), price: map[string]int{}, sale: map[string]int{},
		soldOut: map[string]bool{}, synced: map[string]int64{}}
	for i := range products {
		sku := fmt.Sprintf("P%04d", i)
		o.skus, o.price[sku] = append(o.skus, sku), 20+o.IntN(200)
	}
	return o
}

func (o *oracle) row(sku string) string {
	stock, sale := "in_stock", ""
	if o.soldOut[sku] {
		stock = "out_of_stock"
	}
	if o.sale[sku] > 0 {
		sale = fmt.Sprintf("%d EUR", o.sale[sku])
	}
	return fmt.Sprintf("%d EUR,%s,%s", o.price[sku], stock, sale)
}

// effective is what a product costs now.
func (o *oracle) effective(sku string) int64 {
	if o.sale[sku] > 0 {
		return int64(o.sale[sku]) * 100
	}
	return int64(o.price[sku]) * 100
}

// move changes the prices of n products, each once, so that each change reaches the catalog. Some are sold out, or are
// back.
func (o *oracle) move(n int) {
	for _, i := range o.Perm(len(o.skus))[:n] {
		sku := o.skus[i]
		if o.IntN(10) == 0 {
			o.soldOut[sku] = !o.soldOut[sku]
			o.stocks++
		}
		o.changes++
		switch was := o.sale[sku]; o.IntN(8) {
		case 0:
			for o.sale[sku] == was {
				o.sale[sku] = o.price[sku] - 1 - o.IntN(o.price[sku]/2)
			}
			continue
		case 1:
			if was > 0 {
				o.sale[sku] = 0
				continue
			}
		}
		for was := o.price[sku]; o.price[sku] == was; {
			o.price[sku], o.sale[sku] = 20+o.IntN(200), 0
		}
	}
}

// note keeps what the shop has, which the catalog has read.
func (o *oracle) note() {
	for _, sku := range o.skus {
		if o.synced[sku] = o.effective(sku); o.soldOut[sku] {
			o.synced[sku] = -1
		}
	}
}

// wall is a platform that judges what is posted there: a post names its product, and states what that costs by the
// last sync. It counts the posts of each publication.
type wall struct {
	*registry.SandboxPlatform
	t     *testing.T
	truth *oracle
	posts map[string]int
}

var named = regexp.MustCompile(`P\d{4}`)

// Finalize implements platform.Publisher.
func (w *wall) Finalize(ctx context.Context, a platform.Account, p platform.Post, h platform.Handle) (platform.Step,
	error) {
	w.posts[p.Key]++
	sku := named.FindString(p.Caption)
	said := money.In(strings.Replace(p.Caption, sku, "", 1))
	want := money.Price{Amount: w.truth.synced[sku], Currency: "EUR"}
	if len(said) != 1 || !slices.Contains(said[0].Means(), want) {
		w.t.Errorf("%q was posted, and the last sync has %s", p.Caption, want)
	}
	return w.SandboxPlatform.Finalize(ctx, a, p, h)
}

// Of implements social.Adapters.
func (w *wall) Of(tenant.Mode, string) (platform.Adapter, bool) { return w, true }

// year is a simulated year of a shop and its posts.
type year struct {
	*shelf
	*oracle
	wall     *wall
	t        *testing.T
	telegram string
	ids      map[string]string // of products by their SKUs
	// about has the products of the items that are not looked at for the last time, by their ids, and posted the day on
	// which each went out.
	about    map[string]string
	posted   map[string]int
	attempts map[string]int
	day      int
	// held, again and automatic count looks at held items, and those that were made again by a call and by themselves.
	held, again, automatic int
	// ended counts the items that have expired, and dropped the tasks by their kinds that no part of the year takes.
	ended   int
	dropped map[task.Kind]int
}

func newYear(t *testing.T, shop, products, remakes int) *year {
	t.Helper()
	w := worldOn(t, servicetest.Bare(t))
	y := &year{shelf: newShelf(w, "remake_per_day", remakes), t: t, telegram: w.connect("telegram"),
		ids: map[string]string{}, about: map[string]string{}, posted: map[string]int{}, attempts: map[string]int{},
		oracle: newOracle(shop, products), dropped: map[task.Kind]int{}}
	ends := &sandbox.Resetter{Deleter: erasure.Deleter{DB: w.DB, Loaders: map[string]generate.Loader{
		item.ItemKind: item.Loader{Sign: item.SignedBy(w.signer)}}, Now: w.Now}}
	handlers := ends.Handlers()
	maps.Copy(handlers, w.kernel.Handlers)
	maps.Copy(handlers, y.kernel.Handlers)
	y.kernel = w.Kernel(handlers)
	of, _ := social.NewPlatforms(social.PlatformsConfig{Now: w.Now}).Of(tenant.Test, "telegram")
	y.wall = &wall{of.(*registry.SandboxPlatform), t, y.oracle, map[string]int{}}
	w.platforms, w.provider.write = y.wall, y.write
	y.copyRows()
	return y
}

var (
	statedPrice = regexp.MustCompile(`"(?:reduced_)?price":\s*"([^"]+)"`)
	statedName  = regexp.MustCompile(`"name":\s*"Shoe (P\d{4})"`)
)

// write has the caption name the product and state the price that the writer is told: the reduced one, if there is one.
func (y *year) write(req provider.Request, t *provider.Text) {
	data, _ := json.Marshal(req) // it has texts
	facts, price := strings.ReplaceAll(string(data), `\"`, `"`), ""
	for _, m := range statedPrice.FindAllStringSubmatch(facts, -1) {
		if price == "" || strings.HasPrefix(m[0], `"reduced_`) {
			price = m[1]
		}
	}
	t.Caption = "Jetzt für " + price + ", der Schuh " + named.FindString(statedName.FindString(facts)) + " für lange Wege."
}

// copyRows has the catalog be what the shop has now.
func (y *year) copyRows() {
	for _, sku := range y.skus {
		y.rows[sku] = y.row(sku)
	}
	y.sync()
	y.note()
}

// make makes posts about some of the products that are not sold out, and schedules them.
func (y *year) make(posts int) {
	for posts > 0 {
		sku := y.skus[y.IntN(len(y.skus))]
		if y.synced[sku] < 0 {
			continue
		}
		posts--
		if y.ids[sku] == "" {
			y.ids[sku] = y.product(sku)
		}
		made := y.w.generated("factory_id", y.seller, "product_id", y.ids[sku])
		after := time.Duration(1+y.IntN(70)) * time.Hour
		it := y.w.schedule(made.ID, y.w.Now().Add(after).Truncate(time.Second), "social_account_ids",
			[]string{y.telegram})
		y.about[it.ID], y.attempts[it.ID] = sku, 1
	}
}

// look compares the items with the truth, and makes some of the held ones again.
func (y *year) look() {
	for _, itemID := range slices.Sorted(maps.Keys(y.about)) {
		sku, it := y.about[itemID], y.w.get(itemID)
		if it.Attempt > y.attempts[itemID] {
			y.automatic++
			y.attempts[itemID] = it.Attempt
			y.w.doAttempt(itemID, it.Attempt)
			it = y.w.get(itemID)
		}
		switch at, out := y.posted[itemID]; {
		case it.State == item.Published && !out:
			y.posted[itemID] = y.day
			if got := y.shows(itemID).Amount; got != y.synced[sku] {
				y.t.Errorf("%s went out with %d, and the last sync has %d", sku, got, y.synced[sku])
			}
		case it.State == item.Published && y.day > at+7:
			y.remove(itemID) // the table stays small
		case it.WaitsFor == item.WaitsForProduct && y.synced[sku] >= 0:
			if y.held++; y.IntN(2) == 0 {
				y.again++
				y.attempts[itemID]++
				y.w.Call(http.MethodPost, path(itemID, "regenerate"), object{}).Into(y.t, http.StatusAccepted, new(any))
				y.w.doAttempt(itemID, y.attempts[itemID])
			}
		}
	}
}

// remove deletes an item that went out once.
func (y *year) remove(itemID string) {
	if pubs := y.w.publications(itemID); len(pubs) != 1 || y.wall.posts[pubs[0].ID] != 1 {
		y.t.Errorf("%s was posted %d times: %+v", itemID, y.wall.posts[pubs[0].ID], pubs)
	}
	y.w.Call(http.MethodDelete, path(itemID), nil).Into(y.t, http.StatusOK, new(any))
	delete(y.about, itemID)
}

// live lives through one day of the shop.
func (y *year) live(posts, changes int) {
	y.w.forget()
	y.make(posts / 2)
	y.move(changes)
	y.copyRows()
	if y.IntN(3) > 0 { // sometimes content does not follow before posts are due
		y.follow()
		y.look()
	}
	y.make(posts - posts/2)
	y.w.Clock.Add(24 * time.Hour)
	for range 4 { // what has begun ends before the next sync
		y.w.work()
		y.w.Clock.Add(5 * time.Minute)
	}
	y.look()
	y.rest()
}

// rest takes the other tasks that are due: the files of deleted items are removed, items expire, and content follows
// late. It drops those that no part of the year takes, such as figures of accounts.
func (y *year) rest() {
	y.t.Helper()
	for _, m := range y.w.due(func(k task.Kind) bool { return !strings.HasPrefix(string(k), "publish") }) {
		if y.kernel.Handlers[m.Kind] == nil {
			y.dropped[m.Kind]++
			y.w.Commit(func(tx *store.Tx) error { tx.Remove(store.IDKey(m.ID)); return nil })
			continue
		}
		if y.take(m.ID); m.Kind == generate.Expire && y.about[m.Subject] != "" {
			y.ended++
			delete(y.about, m.Subject)
		}
	}
}

// lives lives through all days.
func (y *year) lives(days, posts, changes int) {
	began := time.Now()
	for y.day = range days {
		y.live(posts, changes)
		if y.day%30 == 29 {
			storetest.Expire(y.t, y.w.DB, y.w.Now())
			y.t.Logf("day %d, %v: %d posts, %d changes, %d items, %d of them expired, dropped %v", y.day+1,
				time.Since(began).Round(time.Second), len(y.posted), y.changes, len(y.about), y.ended, y.dropped)
		}
	}
	for key, n := range y.wall.posts {
		if n != 1 {
			y.t.Errorf("%s was posted %d times", key, n)
		}
	}
	if len(y.wall.posts) != len(y.posted) || len(y.posted) == 0 || y.held == 0 || y.again == 0 || y.automatic == 0 {
		y.t.Errorf("%d posts, %d of them seen, %d held, %d made again, %d by themselves", len(y.wall.posts),
			len(y.posted), y.held, y.again, y.automatic)
	}
}

// In a year of changes no post goes out with another price than that of the last sync, and none twice. The shops share
// the processors, and nothing else.
func TestAYearOfPrices(t *testing.T) {
	shops, days, products, posts, changes := 1, 20, 12, 2, 5
	if os.Getenv("BREADTH") != "" {
		shops, days, products, posts, changes = 4, 365, 1000, 7, 690
	}
	// The log of a year has 280 MB.
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.DiscardHandler))
	defer metric.SetOutput(metric.SetOutput(io.Discard))
	all, began := make([]*year, shops), time.Now()
	t.Run("shops", func(t *testing.T) {
		for i := range shops {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				all[i] = newYear(t, i, products, max(posts/3, 1))
				all[i].lives(days, posts+i%2, changes)
			})
		}
	})
	var sum year
	sum.oracle, sum.shelf = &oracle{}, &shelf{}
	sent := 0
	for _, y := range all {
		sent += len(y.wall.posts)
		sum.syncs, sum.written, sum.changes, sum.stocks = sum.syncs+y.syncs, sum.written+y.written,
			sum.changes+y.changes, sum.stocks+y.stocks
		sum.held, sum.again, sum.automatic, sum.ended = sum.held+y.held, sum.again+y.again,
			sum.automatic+y.automatic, sum.ended+y.ended
	}
	t.Logf("%d shops, %d days, %d syncs, %v: %d changes of prices and %d of stocks, %d products written, %d posts, %d "+
		"looks at held ones, %d made again by a call and %d by themselves, %d expired", shops, days, sum.syncs,
		time.Since(began).Round(time.Second), sum.changes, sum.stocks, sum.written, sent, sum.held, sum.again,
		sum.automatic, sum.ended)
	if days == 365 && (sent < 10_000 || sum.changes < 1_000_000) {
		t.Errorf("%d posts and %d changes are not a year", sent, sum.changes)
	}
}
