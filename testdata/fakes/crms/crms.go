// Package crms has fakes of the protocols of amoCRM, Bitrix24 and HubSpot. Each fake is one account with products,
// deals and notes. Its control limits calls, loses answers and expires tokens; a refresh token of amoCRM and Bitrix24
// is valid once.
package crms

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/oauth"
)

// The ids of the accounts and their stages. Portal is the HubSpot account, Member the Bitrix24 portal.
const (
	AmoAccount = "31337"
	AmoHost    = "acme.amocrm.ru"
	Portal     = "62515"
	Member     = "a223c6b3710f85df22e9377d6c4f7553"
	// Secret is the secret in the address of Bitrix24's incoming webhook.
	Secret = "33olqeits4avuyqu"
	// Proof is the token of Bitrix24's webhooks.
	Proof = "51856fefc120afa4b628cc82d3935cce"
	// catalog is the list of products in amoCRM.
	catalog = "5001"
)

// tokenLife is the time for which an access token is valid.
const tokenLife = time.Hour

// Object is a kind of object of a CRM.
type Object string

// The objects.
const (
	ProductObject Object = "product"
	DealObject    Object = "deal"
)

// Change is a change of an object that a webhook reports.
type Change struct {
	Object Object
	ID     string
}

// Product is a product of a CRM.
type Product struct {
	ID, SKU, Name, Description, URL string
	Price, Currency                 string
	Archived                        bool
}

// Deal is a deal of a CRM.
type Deal struct {
	ID, Name, Description string
	Pipeline, Stage       string
	Amount, Currency      string
	ChangedAt             time.Time
}

// Pipeline is a pipeline of deals with its stages.
type Pipeline struct {
	ID, Name string
	Stages   []Stage
}

// Stage is a stage of a pipeline.
type Stage struct{ ID, Name string }

// Pipelines are the pipelines of each fake.
var Pipelines = []Pipeline{{ID: "7", Name: "Sales", Stages: []Stage{{ID: "140", Name: "New"},
	{ID: "141", Name: "Offer"}, {ID: "142", Name: "Won"}}}}

// Fake is one account of a CRM. It is safe for concurrent use.
type Fake struct {
	*control.Control
	// Name is the id of the CRM.
	Name string
	// Hook returns a webhook about objects, as the CRM sends it to an address.
	Hook    func(address string, changes ...Change) *http.Request
	handler http.Handler

	mu       sync.Mutex
	products map[string]Product
	deals    map[string]Deal
	notes    []Note
	codes    map[string]bool
	hooks    map[string]bool
	page     int
	another  string
}

// BecomeAccount makes the fake another account of amoCRM.
func (f *Fake) BecomeAccount(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.another = id
}

// account returns the id of the account, which is usual unless the fake became another one.
func (f *Fake) account(usual string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return cmp.Or(f.another, usual)
}

// Note is a note of a deal.
type Note struct{ Deal, Text string }

func newFake(name string, now func() time.Time, limited func(http.ResponseWriter, int)) *Fake {
	return &Fake{Control: control.New(now, limited), Name: name, products: map[string]Product{},
		deals: map[string]Deal{}, codes: map[string]bool{}, hooks: map[string]bool{}, page: 3}
}

// All returns a fake of each CRM by its id.
func All(now func() time.Time) map[string]*Fake {
	return map[string]*Fake{"amocrm": Amo(now), "bitrix24": Bitrix(now), "hubspot": Hub(now)}
}

// Handler returns the API of the fake.
func (f *Fake) Handler() http.Handler { return f.Handle(f.handler) }

// PutProduct adds or changes a product.
func (f *Fake) PutProduct(p Product) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.products[p.ID] = p
}

// DeleteProduct deletes a product.
func (f *Fake) DeleteProduct(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.products, id)
}

// PutDeal adds or changes a deal.
func (f *Fake) PutDeal(d Deal) {
	d.ChangedAt = f.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deals[d.ID] = d
}

// Notes returns the notes of all deals, oldest first.
func (f *Fake) Notes() []Note {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.notes)
}

// Hooks returns the addresses that webhooks are sent to.
func (f *Fake) Hooks() (all []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for address := range f.hooks {
		all = append(all, address)
	}
	return all
}

// Code returns a code of an authorization.
func (f *Fake) Code() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	code := rand.Text()
	f.codes[code] = true
	return code
}

// take uses a code up, and reports whether it was valid.
func (f *Fake) take(code string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	ok := f.codes[code]
	delete(f.codes, code)
	return ok
}

func (f *Fake) addNote(deal, text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.deals[deal]; !ok {
		return false
	}
	f.notes = append(f.notes, Note{deal, text})
	return true
}

func (f *Fake) notesOf(deal string) (all []string) {
	for _, n := range f.Notes() {
		if n.Deal == deal {
			all = append(all, n.Text)
		}
	}
	return all
}

func (f *Fake) hook(address string, on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if delete(f.hooks, address); on {
		f.hooks[address] = true
	}
}

func (f *Fake) product(id string) (Product, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, ok := f.products[id]
	return p, ok
}

func (f *Fake) deal(id string) (Deal, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, ok := f.deals[id]
	return d, ok
}

// someProducts returns a page of the products, of those with the ids if there are any, and the start of the next page,
// or 0.
func (f *Fake) someProducts(start int, ids []string) ([]Product, int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []Product
	for _, p := range f.products {
		if len(ids) == 0 || slices.Contains(ids, p.ID) {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b Product) int { return byNumber(a.ID, b.ID) })
	if len(ids) > 0 {
		return all, 0 // a page has all that a call may name
	}
	return cut(all, start, f.page)
}

// someDeals returns a page of the deals that were changed since a time.
func (f *Fake) someDeals(start int, since time.Time) ([]Deal, int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []Deal
	for _, d := range f.deals {
		if !d.ChangedAt.Before(since.Truncate(time.Second)) {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b Deal) int { return byNumber(a.ID, b.ID) })
	return cut(all, start, f.page)
}

func byNumber(a, b string) int {
	x, _ := strconv.Atoi(a) // the ids of tests
	y, _ := strconv.Atoi(b)
	return x - y
}

func cut[T any](all []T, start, size int) (page []T, next int) {
	start = min(start, len(all))
	end := min(start+size, len(all))
	if end < len(all) {
		next = end
	}
	return all[start:end], next
}

// authorize serves the page on which an administrator allows the connection: GET shows it, POST allows it.
func (f *Fake) authorize(more url.Values) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("client_id") != oauth.ClientID || q.Get("state") == "" {
			http.Error(w, "want the client and a state", http.StatusBadRequest)
			return
		}
		if r.Method != http.MethodPost {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = fmt.Fprintf(w, `<!doctype html><title>%[1]s</title><h1>Allow access to %[1]s?</h1>`+
				`<form method="post"><button>Allow</button></form>`, html.EscapeString(f.Name))
			return
		}
		answer := url.Values{"code": {f.Code()}, "state": {q.Get("state")}}
		for name, values := range more {
			answer[name] = values
		}
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
	}
}

// grant answers a call of the token endpoint with the parameters of get. It returns nil if it refuses the call.
func (f *Fake) grant(get func(string) string, rotates bool) map[string]any {
	if get("client_id") != oauth.ClientID || get("client_secret") != oauth.ClientSecret {
		return nil
	}
	switch get("grant_type") {
	case "authorization_code":
		if !f.take(get("code")) {
			return nil
		}
	case "refresh_token":
		if !f.TakeRefresh(get("refresh_token"), rotates) {
			return nil
		}
	default:
		return nil
	}
	access, refresh := f.Grant(tokenLife)
	if !rotates && get("grant_type") == "refresh_token" {
		refresh = get("refresh_token")
	}
	return map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer",
		"expires_in": int(tokenLife / time.Second)}
}

// authorized refuses calls without a valid token.
func (f *Fake) authorized(h http.HandlerFunc, refuse func(http.ResponseWriter)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !f.Authorized(r) {
			refuse(w)
			return
		}
		h(w, r)
	}
}

// post returns a webhook with a body.
func post(address, kind, body string) *http.Request {
	r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		panic(err) // an address of a test
	}
	r.Header.Set("Content-Type", kind)
	return r
}
