package main

import (
	"context"
	"net/http"
	"testing"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/service/api"
	"github.com/content-automation/api/pkg/store"
)

// TestMain keeps the log of the functions out of the tests' output, and counts before all tests.
func TestMain(m *testing.M) {
	metered.Quiet()
	whole.measured, whole.err = measure(context.Background())
	m.Run()
}

// filled creates a world that is closed at the end of the test.
func filled(t *testing.T) *metered.World {
	t.Helper()
	w, err := metered.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return w
}

// waitingWork counts the account's pieces of work that have not ended.
func waitingWork(t *testing.T, w *metered.World) int64 {
	t.Helper()
	me, err := w.Call(t.Context(), metered.Request{Operation: "getMe"})
	if err != nil {
		t.Fatal(err)
	}
	account, err := me.ID()
	if err != nil {
		t.Fatal(err)
	}
	it, err := w.State.Get(t.Context(), store.IDKey("waiting#"+account+"#test"))
	if err != nil {
		t.Fatal(err)
	}
	return it.Count()
}

func TestEveryOperationKeepsItsBounds(t *testing.T) {
	w := filled(t)
	waiting := waitingWork(t, w)
	all, err := operations(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	// The queue of an account never fills, even if the operations are measured many times.
	if n := waitingWork(t, w); n != waiting {
		t.Errorf("of the work that was begun, %d pieces go on waiting: let examples undo what they make", n-waiting)
	}
	if len(all) != len(api.Routes()) {
		t.Errorf("%d of %d operations are measured", len(all), len(api.Routes()))
	}
	for _, m := range all {
		if err := m.broken(); err != nil {
			t.Error(err)
		}
		for _, p := range m.parts() {
			if (p.Trips > 0) != (p.Reads+p.Writes > 0) {
				t.Errorf("%s: %d round trips cost %v read and %v write units", m.route.OperationID, p.Trips,
					p.Reads, p.Writes)
			}
		}
		if m.places.Sum() != m.used.table.Writes {
			t.Errorf("%s: the places %v do not add up to %v", m.route.OperationID, m.places, m.used.table.Writes)
		}
		// The expected writes are one count on the key, and one entry in no index.
		if m.cost.Authorizer.Writes != 1 || m.cost.Audit.Writes != 1 {
			t.Errorf("%s: the authorizer writes %v units, the audit entry %v", m.route.OperationID,
				m.cost.Authorizer.Writes, m.cost.Audit.Writes)
		}
		// A look-up counts the calls of the account's platform.
		counts := m.route.OperationID == "listLookups"
		if m.route.Method == http.MethodGet && !counts && m.cost.Function.Writes != 0 {
			t.Errorf("%s writes %v units", m.route.OperationID, m.cost.Function.Writes)
		}
	}
	first, err := firstOfMinute(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if first.Trips != 3 || first.Writes <= 1 {
		t.Errorf("the first call of a minute costs the authorizer %+v", first)
	}
}

func TestBrokenBounds(t *testing.T) {
	in := func(method string, authorizer, function, audit int) operation {
		return operation{
			route: httpapi.Route{OperationID: "op", Method: method},
			cost: metered.Cost{Authorizer: metered.Reading{Trips: authorizer},
				Function: metered.Reading{Trips: function}, Audit: metered.Reading{Trips: audit}},
		}
	}
	for _, c := range []struct {
		of   operation
		want string
	}{
		{in(http.MethodGet, 1, 0, 1), ""},
		{in(http.MethodGet, 1, 1, 1), ""},
		{in(http.MethodGet, 1, 2, 1), "op: the function takes 2 round trips, the bound is 1"},
		{in(http.MethodPost, 1, 2, 1), ""},
		{in(http.MethodPost, 1, 3, 1), "op: the function takes 3 round trips, the bound is 2"},
		{in(http.MethodPatch, 2, 2, 1), "op: the authorizer takes 2 round trips, the bound is 1"},
		{in(http.MethodDelete, 0, 2, 1), "op: the authorizer takes 0 round trips, the bound is 1"},
		{in(http.MethodGet, 1, 1, 2), "op: the audit entry takes 2 round trips, the bound is 1"},
		{in(http.MethodGet, 1, 1, 0), "op: the audit entry takes 0 round trips, the bound is 1"},
	} {
		got := ""
		if err := c.of.broken(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s %+v: %q, want %q", c.of.route.Method, c.of.cost, got, c.want)
		}
	}
}
