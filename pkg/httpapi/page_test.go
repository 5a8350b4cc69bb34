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
