package httpapi_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"testing"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
)

func TestACursorThatWasTamperedWithIsRefused(t *testing.T) {
	f := newFixture(t)
	// A list of the table's own key, which takes no places outside of its partition.
	httpapi.List(f.router, httpapi.Op{ID: "listParts", Method: http.MethodGet, Path: "/v1/parts", Scope: auth.FactoriesRead, Function: "things"},
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
			if a := f.call("GET", path+"?limit=1&cursor="+base64.RawURLEncoding.EncodeToString(other), ""); a.status != 400 || a.code() != "invalid_cursor" {
				t.Errorf("%s: %s is answered %d %s", path, other, a.status, a.raw)
			}
		}
		for _, other := range []string{"{}", "null", "[]", `{"a":{}}`, string(plain) + "x"} {
			if a := f.call("GET", path+"?cursor="+base64.RawURLEncoding.EncodeToString([]byte(other)), ""); a.status != 400 || a.code() != "invalid_cursor" {
				t.Errorf("%s: %s is answered %d %s", path, other, a.status, a.raw)
			}
		}
	}
}
