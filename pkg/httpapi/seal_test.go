package httpapi_test

import (
	"context"
	"encoding/base64"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// answers registers an operation that makes a thing and answers a text.
func (f *fixture) answers(text func() string) {
	httpapi.Write(f.router, httpapi.Op{ID: "tell", Method: http.MethodPost, Path: "/v1/tell",
		Scope: auth.FactoriesWrite, Function: "things"},
		func(_ context.Context, tx *store.Tx, _ *struct{}) (string, error) {
			thingID := id.New(id.Factory, noon)
			it, err := store.NewItem("thing", f.caller.Owner, thingID,
				thing{Resource: resource.New(thingID, noon, nil)})
			tx.Create(it, nil)
			return text(), err
		})
}

// noise returns a text of random bytes, another one each time.
func noise(bytes int) func() string {
	random := rand.NewChaCha8([32]byte{7})
	return func() string {
		b := make([]byte, bytes)
		_, _ = random.Read(b) // never fails
		return base64.StdEncoding.EncodeToString(b)
	}
}

// mostItem is how large DynamoDB lets an item be.
const mostItem = 400 << 10

func TestALargeAnswerIsKeptWhole(t *testing.T) {
	for name, c := range map[string]struct {
		text          func() string
		bytes, places int
	}{
		"that compresses": {func() string { return strings.Repeat("all work and no play ", 75_000) },
			1_500_000, 1},
		"that just fits":         {noise(store.PartSize - 8000), store.PartSize, 1},
		"that just does not":     {noise(store.PartSize + 1), store.PartSize, 3},
		"that does not compress": {noise(1_500_000), 1_500_000, 7},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.answers(c.text)
			first := f.call("POST", "/v1/tell", "", orderKey...)
			if first.status != http.StatusOK || len(first.raw) < c.bytes {
				t.Fatalf("%d, %d bytes", first.status, len(first.raw))
			}
			again := f.call("POST", "/v1/tell", "", orderKey...)
			if again.raw != first.raw || again.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("the repeat: %d, %d bytes, at first %d", again.status, len(again.raw), len(first.raw))
			}
			kept := f.answersKept()
			if len(kept) != c.places {
				t.Errorf("it is in %d items, want %d", len(kept), c.places)
			}
			for _, row := range kept {
				size := 0
				for name, value := range row {
					size += len(name) + len(value)
				}
				if size > mostItem || row["ttl"] != kept[0]["ttl"] || row["ttl"] == "" {
					t.Errorf("an item of %d bytes, which expires at %s", size, row["ttl"])
				}
			}
			if n := f.count(); n != 1 {
				t.Errorf("there are %d things", n)
			}
		})
	}
}

// The parts of two runs are never mixed, and those of the one that lost are not kept.
func TestALateRunWithALargeAnswerLeavesNothing(t *testing.T) {
	f, faults := fragile(t)
	f.answers(noise(600_000))
	var second answer
	faults.Before("TransactWriteItems", func() { second = f.call("POST", "/v1/tell", "", orderKey...) })
	if first := f.call("POST", "/v1/tell", "", orderKey...); first.raw != second.raw ||
		first.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the first run: %d, %d bytes; the second %d, %d bytes", first.status, len(first.raw), second.status,
			len(second.raw))
	}
	if n := len(f.answersKept()); n != 4 {
		t.Errorf("%d items are kept", n)
	}
}

func TestAnAnswerThatCannotBeKeptHasNoEffect(t *testing.T) {
	f := newFixture(t)
	f.answers(noise(4 << 20))
	if a := f.call("POST", "/v1/tell", "", orderKey...); a.status != http.StatusInternalServerError ||
		a.code() != "internal" {
		t.Errorf("%d %s", a.status, a.code())
	}
	if n := f.count(); n != 0 {
		t.Errorf("there are %d things", n)
	}
}

// With another secret of the system the answer cannot be read, and the call is not
// carried out once more.
func TestAnswersAreSealedByTheSystemsSecret(t *testing.T) {
	f := newFixture(t)
	f.router.SealWith(seal.FixedSecret([]byte("a secret")))
	first := f.create("a")
	if again := f.create("a"); again.raw != first.raw || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%d %s", again.status, again.raw)
	}
	if table := storetest.Snapshot(t, f.things.db); strings.Contains(table, orderKey[1]) {
		t.Error("the table tells the Idempotency-Key")
	}
	versions := [][]byte{[]byte("another one"), []byte("a secret")}
	f.router.SealWith(func(context.Context) ([][]byte, error) { return versions, nil })
	if again := f.create("a"); again.raw != first.raw || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("after a rotation of the secret: %d %s", again.status, again.raw)
	}
	versions = versions[:1]
	if a := f.create("a"); a.status != http.StatusInternalServerError || a.code() != "internal" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if n := f.count(); n != 1 {
		t.Errorf("there are %d things", n)
	}
}
