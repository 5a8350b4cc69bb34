package adapter_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/crm/registry"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/testdata/fakes/crms"
	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/oauth"
)

// fixture is an adapter with the fake of its CRM.
type fixture struct {
	crm.Adapter
	fake    *crms.Fake
	account crm.Account
	now     time.Time
}

const callback = "https://api.example.com/integrations/callback"

// each runs a test for each CRM, and for Bitrix24 also with the address of an incoming webhook.
func each(t *testing.T, test func(t *testing.T, f *fixture)) {
	for _, row := range registry.Rows() {
		f := open(t, row.Name)
		ways := map[string]crm.Grant{"oauth": f.grant()}
		if f.Facts().Address {
			ways["address"] = crm.Grant{Address: "https://acme.test/rest/1/" + crms.Secret + "/", Proof: crms.Proof}
		}
		for way, g := range ways {
			t.Run(row.Name+" "+way, func(t *testing.T) {
				f := open(t, row.Name)
				if g.Address == "" {
					g = f.grant()
				}
				var err error
				if f.account, err = f.Connect(t.Context(), g); err != nil {
					t.Fatal(err)
				}
				test(t, f)
			})
		}
	}
}

func open(t *testing.T, name string) *fixture {
	t.Helper()
	f := &fixture{now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
	now := func() time.Time { return f.now }
	f.fake = crms.All(now)[name]
	f.Adapter, _ = registry.Live(name, wire.Config{
		HTTP: control.Doer{Handler: f.fake.Handler()}, BaseURL: "https://crm.test", Now: now,
		App: func(context.Context) (platform.App, error) {
			return platform.App{ID: oauth.ClientID, Secret: oauth.ClientSecret}, nil
		},
	})
	for _, id := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		f.fake.PutProduct(crms.Product{ID: id, SKU: "S-" + id, Name: "Shoe " + id, Description: "<p>Of n&eacute;ts</p>",
			Price: "129.50", Currency: "EUR"})
		f.fake.PutDeal(crms.Deal{ID: id, Name: "Deal " + id, Pipeline: "7", Stage: "142", Amount: "1290",
			Currency: "EUR"})
	}
	return f
}

func (f *fixture) grant() crm.Grant {
	return crm.Grant{Code: f.fake.Code(), RedirectURL: callback,
		Query: map[string][]string{"referer": {crms.AmoHost}, "portal": {"acme.bitrix24.ru"}}}
}

func all[T any](t *testing.T, read func(cursor string) (crm.Page[T], error)) (items []T) {
	t.Helper()
	for cursor, n := "", 0; ; n++ {
		page, err := read(cursor)
		if err != nil || n > 10 {
			t.Fatal(n, err)
		}
		items = append(items, page.Items...)
		if cursor = page.Next; cursor == "" {
			return items
		}
	}
}

func TestObjectsAreRead(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		ctx, a := t.Context(), f.account
		if a.ID == "" || a.Name == "" || a.Currency == "" {
			t.Errorf("the account is %q %q %q", a.ID, a.Name, a.Currency)
		}
		if got, err := f.Pipelines(ctx, a); err != nil || len(got) != 1 || got[0].ID != "7" || got[0].Name != "Sales" ||
			!slices.EqualFunc(got[0].Stages, crms.Pipelines[0].Stages,
				func(got crm.Stage, want crms.Stage) bool { return got == crm.Stage(want) }) {
			t.Errorf("pipelines: %v, %v", got, err)
		}
		products := all(t, func(c string) (crm.Page[crm.Product], error) { return f.Products(ctx, a, c) })
		if len(products) != 7 || products[6].ID != "7" || products[6].SKU != "S-7" || products[6].Price != "129.50" ||
			products[6].Name != "Shoe 7" || products[6].Description != "Of néts" || products[6].Currency == "" {
			t.Errorf("products: %+v", products)
		}
		if one, err := f.Product(ctx, a, "7"); err != nil || one != products[6] {
			t.Errorf("a product: %+v, %v", one, err)
		}
		deals := all(t, func(c string) (crm.Page[crm.Deal], error) { return f.Deals(ctx, a, f.now, c) })
		if len(deals) != 7 || deals[6].ID != "7" || deals[6].Stage != "142" || deals[6].Pipeline != "7" ||
			deals[6].Name != "Deal 7" || deals[6].Amount != "1290" || !deals[6].ChangedAt.Equal(f.now) {
			t.Errorf("deals: %+v", deals)
		}
		if one, err := f.Deal(ctx, a, "7"); err != nil || one.ID != "7" || one.Stage != "142" {
			t.Errorf("a deal: %+v, %v", one, err)
		}
		later := all(t, func(c string) (crm.Page[crm.Deal], error) { return f.Deals(ctx, a, f.now.Add(time.Hour), c) })
		if len(later) != 0 {
			t.Errorf("deals changed later: %+v", later)
		}
	})
}

func TestWhatWasDeletedIsGone(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		ctx, a := t.Context(), f.account
		f.fake.DeleteProduct("2")
		if _, err := f.Product(ctx, a, "2"); !crm.Gone(err) {
			t.Errorf("a product: %v", err)
		}
		if _, err := f.Deal(ctx, a, "99"); !crm.Gone(err) {
			t.Errorf("a deal: %v", err)
		}
		if got, err := f.Existing(ctx, a, []string{"1", "2", "3"}); err != nil || !slices.Equal(got, []string{"1", "3"}) {
			t.Errorf("existing: %v, %v", got, err)
		}
	})
}

func TestNotesAreWrittenAndFound(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		ctx, a := t.Context(), f.account
		const text = "cnt_1 is ready:\nhttps://api.example.com/?a=1&b=<2>"
		for _, note := range []string{"one", "two", "three", text} {
			if found, err := f.HasNote(ctx, a, "7", "cnt_1"); err != nil || found {
				t.Fatalf("before it was written: %v, %v", found, err)
			}
			if err := f.AddNote(ctx, a, "7", note); err != nil {
				t.Fatal(err)
			}
		}
		if found, err := f.HasNote(ctx, a, "7", "cnt_1"); err != nil || !found {
			t.Errorf("found: %v, %v", found, err)
		}
		if found, err := f.HasNote(ctx, a, "6", "cnt_1"); err != nil || found {
			t.Errorf("at another deal: %v, %v", found, err)
		}
		if got := f.fake.Notes(); len(got) != 4 || got[3] != (crms.Note{Deal: "7", Text: text}) {
			t.Errorf("notes: %q", got)
		}
	})
}

// A text is no markup in a note: people read all of it, and it leads nowhere else than it says.
func TestNotesHaveNoMarkup(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const note = `<b>bold</b> [url=https://evil.example]here[/url]`
		if err := f.AddNote(t.Context(), f.account, "7", note); err != nil {
			t.Fatal(err)
		}
		got := f.fake.Notes()[0].Text
		if got != note && got != strings.NewReplacer("[", "(", "]", ")").Replace(note) {
			t.Errorf("the note shows %s", got)
		}
	})
}

// A note whose answer is lost may exist: the error says so, and a search finds it.
func TestTroubleWithNotes(t *testing.T) {
	for fault, want := range map[platformtest.Fault]platform.ErrorKind{
		platformtest.AnswerLost: platform.Unknown, platformtest.Garbage: 0, platformtest.ServerError: platform.Unknown,
		platformtest.RateLimited: platform.Retry, platformtest.RequestLost: platform.Unknown,
	} {
		each(t, func(t *testing.T, f *fixture) {
			f.fake.Fail(f.fake.Calls()+1, fault)
			err := f.AddNote(t.Context(), f.account, "7", "cnt_1")
			exists := fault == platformtest.AnswerLost || fault == platformtest.Garbage
			if got := platform.KindOf(err); err != nil && got != want && want != 0 || err == nil && want != 0 {
				t.Errorf("%s: %v", fault, err)
			}
			found, err := f.HasNote(t.Context(), f.account, "7", "cnt_1")
			if err != nil || found != exists {
				t.Errorf("%s: found %v, %v", fault, found, err)
			}
		})
	}
}

func TestTroubleWithReads(t *testing.T) {
	for _, fault := range []platformtest.Fault{platformtest.AnswerLost, platformtest.Garbage, platformtest.ServerError,
		platformtest.RateLimited, platformtest.RequestLost} {
		each(t, func(t *testing.T, f *fixture) {
			for name, read := range map[string]func() error{
				"products": func() error { _, err := f.Products(t.Context(), f.account, ""); return err },
				"a deal":   func() error { _, err := f.Deal(t.Context(), f.account, "1"); return err },
			} {
				f.fake.Fail(f.fake.Calls()+1, fault)
				if err := read(); err == nil || platform.KindOf(err) != platform.Retry {
					t.Errorf("%s: %s: %v", fault, name, err)
				}
				if err := read(); err != nil {
					t.Errorf("%s: %s again: %v", fault, name, err)
				}
			}
		})
	}
}

func TestTokensExpireAndAreRefreshed(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		a := f.account
		if a.Address != "" {
			if token, err := f.Refresh(t.Context(), a); err != nil || !token.ExpiresAt.IsZero() {
				t.Errorf("the address got %+v, %v", token, err)
			}
			return
		}
		f.now = f.now.Add(2 * time.Hour)
		if _, err := f.Deal(t.Context(), a, "1"); platform.KindOf(err) != platform.Expired {
			t.Fatalf("with an old token: %v", err)
		}
		token, err := f.Refresh(t.Context(), a)
		if err != nil || !token.ExpiresAt.After(f.now) {
			t.Fatalf("the new token: %+v, %v", token, err)
		}
		old := a
		a.Token = token
		if _, err := f.Deal(t.Context(), a, "1"); err != nil {
			t.Errorf("with the new token: %v", err)
		}
		// A refresh whose answer is lost uses the token up, where it is valid once.
		_, err = f.Refresh(t.Context(), old)
		if rotates := f.Name() != "hubspot"; (platform.KindOf(err) == platform.Reconnect) != (rotates && err != nil) ||
			rotates == (err == nil) {
			t.Errorf("the old refresh token: %v", err)
		}
		for _, secret := range []platform.Secret{old.Token.Access, old.Token.Refresh, oauth.ClientSecret} {
			if err != nil && strings.Contains(err.Error(), secret.Reveal()) {
				t.Errorf("the error shows a secret: %v", err)
			}
		}
	})
}

func TestGrantsThatAreRefused(t *testing.T) {
	for _, row := range registry.Rows() {
		f := open(t, row.Name)
		bad := f.grant()
		bad.Code = "unknown"
		grants := []crm.Grant{bad, {}}
		if f.Facts().Address {
			grants = append(grants, crm.Grant{Address: "https://acme.test/rest/1/wrong/"})
		}
		if row.Name == "amocrm" {
			evil := f.grant()
			evil.Query = map[string][]string{"referer": {"evil.example#.amocrm.ru"}}
			grants = append(grants, evil)
		}
		for _, g := range grants {
			if _, err := f.Connect(t.Context(), g); err == nil || platform.KindOf(err) != platform.Reconnect {
				t.Errorf("%s: %v", row.Name, err)
			}
		}
	}
}

func TestHooksAreVerified(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const address = "https://api.example.com/integrations/hooks/x"
		hook := func(change func(r *http.Request, body string) string, of crms.Object) ([]crm.Hint, error) {
			r := f.fake.Hook(address, crms.Change{Object: of, ID: "7"})
			raw, err := io.ReadAll(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			return f.Hints(t.Context(), f.account, crm.Hook{URL: address, Header: r.Header,
				Body: []byte(change(r, string(raw))), At: f.now})
		}
		same := func(_ *http.Request, body string) string { return body }
		for object, want := range map[crms.Object]crm.Object{crms.DealObject: crm.DealObject,
			crms.ProductObject: crm.ProductObject} {
			got, err := hook(same, object)
			if err != nil || len(got) != 1 || got[0].Object != want || got[0].ID != "7" {
				t.Errorf("%s: %v, %v", object, got, err)
			}
		}
		var forged []func(r *http.Request, body string) string
		switch f.Name() {
		case "amocrm":
			forged = append(forged, func(_ *http.Request, body string) string {
				return strings.ReplaceAll(body, crms.AmoAccount, "1")
			})
		case "hubspot":
			forged = append(forged, func(_ *http.Request, body string) string { return body + " " },
				func(r *http.Request, body string) string {
					r.Header.Set("X-HubSpot-Request-Timestamp", "1")
					return body
				})
		case "bitrix24":
			if f.account.Proof != "" {
				forged = append(forged, func(_ *http.Request, body string) string {
					return strings.ReplaceAll(body, crms.Proof, "1")
				})
			}
		}
		for i, change := range forged {
			if got, err := hook(change, crms.DealObject); !errors.Is(err, crm.ErrForged) {
				t.Errorf("the forged hook %d: %v, %v", i, got, err)
			}
		}
	})
}

func TestSubscriptionsAreRepeatable(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const address = "https://api.example.com/integrations/hooks/x"
		for range 2 {
			if err := f.Subscribe(t.Context(), f.account, address); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(f.fake.Hooks()); n == 0 && !f.Facts().Shared && f.account.Address == "" {
			t.Error("nothing was subscribed")
		}
		for range 2 {
			if err := f.Unsubscribe(t.Context(), f.account, address); err != nil {
				t.Fatal(err)
			}
			if err := f.Revoke(t.Context(), f.account); err != nil {
				t.Fatal(err)
			}
			if f.Name() == "hubspot" {
				return // the access has ended
			}
		}
		if left := f.fake.Hooks(); len(left) != 0 {
			t.Errorf("left are %v", left)
		}
	})
}
