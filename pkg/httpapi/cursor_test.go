package httpapi_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/content-automation/api/pkg/cloud/seal"
)

// threeThings makes a list of more than one page, and returns the cursor of the second.
func (f *fixture) threeThings() string {
	f.t.Helper()
	for range 3 {
		f.create("a")
		f.call("POST", "/v1/things", `{"name":"b"}`)
	}
	next := f.call("GET", "/v1/things?limit=1", "").NextCursor
	if next == nil {
		f.t.Fatal("there is one page only")
	}
	return *next
}

func (f *fixture) page(cursor string) answer {
	f.t.Helper()
	return f.call("GET", "/v1/things?limit=1&cursor="+url.QueryEscape(cursor), "")
}

func TestCursorsAreSignedByTheSystemsSecret(t *testing.T) {
	f := newFixture(t)
	versions := [][]byte{[]byte("first")}
	f.router.SealWith(func(context.Context) ([][]byte, error) { return versions, nil })
	cursor := f.threeThings()
	versions = [][]byte{[]byte("second"), []byte("first")}
	if a := f.page(cursor); a.status != http.StatusOK {
		t.Errorf("after a rotation: %d %s", a.status, a.raw)
	}
	versions = versions[:1]
	if a := f.page(cursor); a.status != 400 || a.code() != "invalid_cursor" {
		t.Errorf("signed by a secret that is gone: %d %s", a.status, a.raw)
	}
	// Cursors that a caller can make without the secret.
	f.router.SealWith(seal.FixedSecret(nil))
	forged := *f.call("GET", "/v1/things?limit=1", "").NextCursor
	f.router.SealWith(seal.FixedSecret([]byte("second")))
	if a := f.page(forged); a.status != 400 || a.code() != "invalid_cursor" {
		t.Errorf("forged: %d %s", a.status, a.raw)
	}
}

// FuzzCursor sends invalid cursors: texts, and bytes in the form of a cursor.
func FuzzCursor(f *testing.F) {
	w := newFixture(f)
	w.router.SealWith(seal.FixedSecret([]byte("secret")))
	cursor := w.threeThings()
	encode := base64.RawURLEncoding.EncodeToString
	plain, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		f.Fatal(err)
	}
	f.Add("{}", []byte{}, 0, byte(0))
	f.Add("\x00\xff", make([]byte, 64), len(plain), byte('x'))
	for i := range plain {
		f.Add(cursor[:i], plain[:i], i, byte(0x80))
	}
	f.Fuzz(func(t *testing.T, text string, decoded []byte, at int, damage byte) {
		here := *w
		here.t = t
		damaged := bytes.Clone(plain)
		damaged[uint(at)%uint(len(plain))] ^= damage
		cut := plain[:uint(at)%uint(len(plain))]
		for _, sent := range []string{text, encode(decoded), encode(damaged), encode(cut),
			encode(slices.Concat(cut, decoded))} {
			means, err := base64.RawURLEncoding.DecodeString(sent)
			valid := err == nil && bytes.Equal(means, plain)
			a := here.page(sent)
			if sent == "" {
				if a.status != http.StatusUnprocessableEntity {
					t.Errorf("an empty cursor: %d %s", a.status, a.raw)
				}
				continue
			}
			if valid && a.status != http.StatusOK || !valid &&
				(a.status != http.StatusBadRequest || a.code() != "invalid_cursor") {
				t.Errorf("%q: %d %s", sent, a.status, a.raw)
			}
		}
	})
}
