package httpapi_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

func TestACursorThatWasTamperedWithIsRefused(t *testing.T) {
	f := newFixture(t)
	// A list of the table's own key, which takes no places outside of its partition.
	httpapi.List(f.router, httpapi.Op{ID: "listParts", Method: http.MethodGet, Path: "/v1/parts",
		Scope: auth.FactoriesRead, Function: "things"},
		func(ctx context.Context, in *httpapi.PageInput) (httpapi.Page[thing], error) {
			return httpapi.ListItems(ctx, f.things.db, store.Query{Index: store.Table, Partition: "parts"}, *in,
				func(it store.Item) (v thing, err error) { return v, it.Decode(&v) })
		})
	for i := range 3 {
		it, err := store.NewItem("part", tenant.Of("acc_1", tenant.Test), fmt.Sprint("part_", i), thing{})
		if err != nil {
			t.Fatal(err)
		}
		it.Key = store.Key{PK: "parts", SK: it.PK}
		tx := &store.Tx{}
		tx.Create(it, nil)
		if err := f.things.db.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
		if a := f.call("POST", "/v1/things", `{"name":"a"}`); a.status != http.StatusCreated {
			t.Fatal(a.raw)
		}
	}
	for _, path := range []string{"/v1/parts", "/v1/things"} {
		cursor := *f.call("GET", path+"?limit=1", "").NextCursor
		if a := f.call("GET", path+"?limit=1&cursor="+cursor, ""); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.raw)
		}
		plain, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil {
			t.Fatal(err)
		}
		for i := range plain {
			other := []byte(string(plain))
			other[i] ^= 1
			if a := f.call("GET", path+"?limit=1&cursor="+base64.RawURLEncoding.EncodeToString(other),
				""); a.status != 400 || a.code() != "invalid_cursor" {
				t.Errorf("%s: %s is answered %d %s", path, other, a.status, a.raw)
			}
		}
		for _, other := range []string{"{}", "null", "[]", `{"a":{}}`, string(plain) + "x"} {
			if a := f.call("GET", path+"?cursor="+base64.RawURLEncoding.EncodeToString([]byte(other)),
				""); a.status != 400 || a.code() != "invalid_cursor" {
				t.Errorf("%s: %s is answered %d %s", path, other, a.status, a.raw)
			}
		}
	}
}

func TestAListIsReadInBothOrdersWhileItGrows(t *testing.T) {
	now := clock()
	f := newFixtureAt(t, func() time.Time { return now })
	add := func(name string) {
		now = now.Add(time.Millisecond) // ids of one millisecond have no order
		if a := f.call("POST", "/v1/things", `{"name":"`+name+`"}`); a.status != http.StatusCreated {
			t.Fatal(a.raw)
		}
	}
	// read reads a list to its end, one thing a page, and adds one after the first page.
	read := func(query, added string) (names []string) {
		for cursor := ""; ; {
			a := f.call("GET", "/v1/things?limit=1"+query+cursor, "")
			var page []thing
			if err := json.Unmarshal(a.Data, &page); a.status != http.StatusOK || err != nil {
				t.Fatalf("%d %s, %v", a.status, a.raw, err)
			}
			for _, v := range page {
				names = append(names, v.Name)
			}
			if added != "" {
				add(added)
				added = ""
			}
			if a.NextCursor == nil {
				return names
			}
			cursor = "&cursor=" + *a.NextCursor
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		add(name)
	}
	for _, c := range []struct {
		query, added string
		want         []string
	}{
		{"&order=asc", "d", []string{"a", "b", "c", "d"}},
		{"&order=desc", "e", []string{"d", "c", "b", "a"}},
		{"", "", []string{"e", "d", "c", "b", "a"}},
	} {
		if got := read(c.query, c.added); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %v, want %v", c.query, got, c.want)
		}
	}
	cursor := *f.call("GET", "/v1/things?limit=1&order=asc", "").NextCursor
	if a := f.call("GET", "/v1/things?limit=1&cursor="+cursor, ""); a.status != 400 || a.code() != "invalid_cursor" {
		t.Errorf("a cursor of the other order is answered %d %s", a.status, a.raw)
	}
	if a := f.call("GET", "/v1/things?order=up", ""); a.status != 422 || a.code() != "validation_failed" {
		t.Errorf("an unknown order is answered %d %s", a.status, a.raw)
	}
}

// bundle is a stored item with any number of results.
type bundle struct{ Parts []string }

// A page of the results of items begins and ends within an item, has all results once, and reads few items. An item
// that goes between two pages takes its results along.
func TestAPageOfPartsGoesOnWithinAnItem(t *testing.T) {
	faults := &storetest.Faults{}
	f := newFixture(t, faults.Attach)
	httpapi.List(f.router, httpapi.Op{ID: "listParts", Method: http.MethodGet, Path: "/v1/parts",
		Scope: auth.FactoriesRead, Function: "things"},
		func(ctx context.Context, in *struct {
			httpapi.PageInput
			Odd string `query:"odd"`
		}) (httpapi.Page[thing], error) {
			q := store.Query{Index: store.ByDue, Partition: "bundles", Filters: map[string]string{"odd": in.Odd}}
			return httpapi.ListParts(ctx, f.things.db, q, q.Filters, in.PageInput,
				func(_ context.Context, items []store.Item) ([][]thing, error) {
					all := make([][]thing, len(items))
					for i := range items {
						var b bundle
						if err := items[i].Decode(&b); err != nil {
							return nil, err
						}
						if in.Order == "desc" {
							slices.Reverse(b.Parts)
						}
						for _, name := range b.Parts {
							all[i] = append(all[i], thing{Name: name})
						}
					}
					return all, nil
				}, func(v thing) string { return v.Name })
		})
	var want, odd []string
	const bundles = 1200
	for n := range bundles {
		it, err := store.NewItem("bundle", tenant.Of("acc_1", tenant.Test), fmt.Sprintf("bundle_%04d", n), nil)
		if err != nil {
			t.Fatal(err)
		}
		var b bundle
		for part := range (n + 3) % 4 {
			b.Parts = append(b.Parts, fmt.Sprintf("%04d-%d", n, part))
		}
		want = append(want, b.Parts...)
		it.Filters, it.Due = map[string]string{"odd": "no"}, store.Key{PK: "bundles", SK: it.PK}
		if n == 5 || n == bundles-1 {
			odd, it.Filters["odd"] = append(odd, b.Parts...), "yes"
		}
		if err := it.Encode(b); err != nil {
			t.Fatal(err)
		}
		tx := &store.Tx{}
		tx.Create(it, nil)
		if err := f.things.db.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
	}
	read := func(query string, between func(page int)) (names []string, pages int) {
		t.Helper()
		for cursor := ""; ; pages++ {
			a := f.call("GET", "/v1/parts?"+query+cursor, "")
			var page []thing
			if err := json.Unmarshal(a.Data, &page); err != nil || a.status != http.StatusOK {
				t.Fatal(a.status, a.raw)
			}
			for _, v := range page {
				names = append(names, v.Name)
			}
			if a.NextCursor == nil {
				return names, pages + 1
			}
			between(pages)
			cursor = "&cursor=" + *a.NextCursor
		}
	}
	nothing := func(int) {}
	for _, order := range []string{"asc", "desc"} {
		for _, limit := range []int{7, 50, 100} {
			got, pages := read(fmt.Sprint("order=", order, "&limit=", limit), nothing)
			if least := (len(want) + limit - 1) / limit; !slices.Equal(got, want) || pages != least {
				t.Errorf("%s by %d: %d of %d results in %d pages", order, limit, len(got), len(want), pages)
			}
		}
		// Few items pass: a page reads a part of the list only.
		if got, pages := read("limit=20&odd=yes&order="+order, nothing); !slices.Equal(got, odd) || pages != 3 {
			t.Errorf("%s, filtered: %v in %d pages", order, got, pages)
		}
		slices.Reverse(want)
		slices.Reverse(odd)
	}
	faults.Reset()
	if a := f.call("GET", "/v1/parts?limit=20", ""); a.status != http.StatusOK || len(faults.Calls()) > 4 {
		t.Errorf("a page is answered %d after %s", a.status, faults.Operations())
	}
	got, _ := read("order=asc&limit=5", func(page int) {
		if page == 0 { // it has ended with the first result of the fourth bundle
			tx := &store.Tx{}
			it, err := f.things.db.Get(t.Context(), store.IDKey("bundle_0003"))
			if err != nil {
				t.Fatal(err)
			}
			tx.Delete(it)
			if err := f.things.db.Commit(t.Context(), tx); err != nil {
				t.Fatal(err)
			}
		}
	})
	if gone := slices.Delete(slices.Clone(want), 5, 6); !slices.Equal(got, gone) {
		t.Errorf("without a bundle: %v", got[:10])
	}
}
