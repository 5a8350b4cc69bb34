package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/store"
)

type object = map[string]any

// anyURL accepts the addresses of photos, which nobody fetches here.
type anyURL struct{}

func (anyURL) CheckURL(context.Context, string) error { return nil }

// service is the area with a limit of 600 calls a minute, as the authorizer counts them.
type service struct {
	*apitest.Caller
	t       *testing.T
	db      *store.DB
	clock   *apitest.Clock
	factory string

	mu     sync.Mutex
	window time.Time
	calls  int
	// One of lose responses is lost, by chance. total counts the calls. stop is called with total before
	// each call, and may cancel the import.
	lose, total int
	chance      *rand.Rand
	stop        func(total int)
}

const limit = 600

func newService(t *testing.T) *service {
	s := &service{t: t, clock: apitest.NewClock(), stop: func(int) {}}
	s.db = storetest.Open(t, s.clock.Now)
	s.Caller = apitest.New(t, s.db, &apitest.Log{}, s.clock.Now, factory.NewService(s.db, s.clock.Now),
		product.NewService(s.db, nil, anyURL{}, s.clock.Now))
	var f struct{ ID string }
	s.Call(http.MethodPost, "/v1/factories",
		object{"type": "seller", "name": "Shop", "settings": object{"currency": "EUR"}}).Into(t, http.StatusCreated, &f)
	s.factory = f.ID
	return s
}

func (s *service) Do(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total++
	s.stop(s.total)
	window := s.clock.Now().Truncate(time.Minute)
	if !window.Equal(s.window) {
		s.window, s.calls = window, 0
	}
	s.calls++
	reset := int(window.Add(time.Minute).Sub(s.clock.Now()).Seconds())
	rec := httptest.NewRecorder()
	if s.calls > limit {
		rec.Header().Set("Retry-After", fmt.Sprint(reset))
		rec.WriteHeader(http.StatusTooManyRequests)
		_, _ = rec.WriteString(`{"data":null,"error":{"code":"rate_limited","message":"Wait."}}`)
		return rec.Result(), nil
	}
	var body bytes.Buffer
	if _, err := body.ReadFrom(req.Body); err != nil {
		return nil, err
	}
	c := s.As(func(p *auth.Principal) {
		p.Rate = auth.Rate{Limit: limit, Window: 60, Remaining: limit - s.calls, Reset: reset}
	})
	var sent any
	if body.Len() > 0 {
		sent = body.String()
	}
	a := c.Call(req.Method, req.URL.RequestURI(), sent, "Idempotency-Key", req.Header.Get("Idempotency-Key"),
		"Content-Type", "application/json")
	// A fixed rhythm could meet the repeats of one call again and again, while as many are on their way.
	if s.lose > 0 && s.chance.IntN(s.lose) == 0 {
		return nil, errors.New("connection reset")
	}
	for name, values := range a.Header {
		rec.Header()[name] = values
	}
	rec.WriteHeader(a.Status)
	_, _ = rec.WriteString(a.Raw)
	return rec.Result(), nil
}

func (s *service) importer(out *bytes.Buffer) *importer {
	return &importer{base: "http://api.example.com", key: "key", factory: s.factory, http: s, now: s.clock.Now,
		out: out, sleep: func(ctx context.Context, until time.Time) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			if d := until.Sub(s.clock.Now()); d > 0 {
				s.clock.Add(d)
			}
			return ctx.Err()
		}}
}

func rows(n, amount int) []row {
	var b strings.Builder
	b.WriteString("sku,name,amount,currency\n")
	for i := range n {
		fmt.Fprintf(&b, "SKU-%05d,Shoe %d,%d,EUR\n", i, i, amount)
	}
	all, _, err := read(strings.NewReader(b.String()))
	if err != nil {
		panic(err)
	}
	return all
}

var products = flag.Int("products", 2000, "how many products are imported")

// The limit determines the time of an import. Run with -products=10000 for the size of a
// seller's catalog.
func TestAnImportTakesTheTimeOfTheLimit(t *testing.T) {
	s := newService(t)
	var out bytes.Buffer
	if err := s.importer(&out).all(t.Context(), rows(*products, 12900)); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
	if want := fmt.Sprintf("%d created, 0 changed, 0 refused, by %d calls", *products,
		*products); !strings.Contains(out.String(), want) {
		t.Errorf("%s, want %s", out.String(), want)
	}
	if took := s.clock.Now().Sub(apitest.NewClock().Now()); took > time.Duration(
		*products/(limit-2*atOnce))*time.Minute {
		t.Errorf("it takes %s", took)
	}
	if n := len(apitest.All[product.Product](s.Caller, "/v1/products?factory_id="+s.factory, 100)); n != *products {
		t.Errorf("there are %d products", n)
	}
}

// An import that loses responses and is interrupted continues, and creates nothing twice. An
// import with other prices changes the existing products.
func TestAnImportIsRepeated(t *testing.T) {
	s := newService(t)
	s.lose, s.chance = 7, rand.New(rand.NewPCG(1, 7))
	ctx, cancel := context.WithCancel(t.Context())
	s.stop = func(total int) {
		if total == 150 {
			cancel()
		}
	}
	var out bytes.Buffer
	if err := s.importer(&out).all(ctx, rows(200, 12900)); err == nil {
		t.Fatal("it was not interrupted")
	}
	s.stop = func(int) {}
	for _, amount := range []int{12900, 9900} {
		if err := s.importer(&out).all(t.Context(), rows(200, amount)); err != nil {
			t.Fatal(err)
		}
		all := apitest.All[product.Product](s.Caller, "/v1/products?factory_id="+s.factory, 100)
		if len(all) != 200 || all[0].Price.Amount != int64(amount) || all[199].Price.Amount != int64(amount) {
			t.Errorf("there are %d products, with prices such as %v", len(all), all[0].Price)
		}
	}
}

// A refused row is reported, and does not stop the others.
func TestARowThatIsRefused(t *testing.T) {
	s := newService(t)
	all := rows(3, 12900)
	all[1].Price.Currency = "EURO"
	var out bytes.Buffer
	if err := s.importer(&out).all(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "SKU-00001: validation_failed: /price/currency") ||
		!strings.Contains(out.String(), "2 created, 0 changed, 1 refused") {
		t.Error(out.String())
	}
}
