// Package servicetest has what tests of several areas need at once: a clock, a table whose calls may fail, a caller of
// operations with a test key, and kernels that run tasks.
package servicetest

import (
	"crypto/rand"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// World is a table with a caller of operations.
type World struct {
	*apitest.Caller
	T      *testing.T
	Clock  *apitest.Clock
	DB     *store.DB
	Faults *storetest.Faults
	// Log is the audit log of the caller's calls.
	Log *apitest.Log
}

// New returns a world without operations. The functions change how the table is called.
func New(t *testing.T, with ...func(*aws.Config)) *World {
	t.Helper()
	w := &World{T: t, Clock: apitest.NewClock(), Faults: &storetest.Faults{}, Log: &apitest.Log{}}
	if len(with) == 0 {
		w.DB = storetest.Faulty(t, w.Clock.Now, w.Faults)
		return w
	}
	w.DB = storetest.Open(t, w.Clock.Now, append([]func(*aws.Config){w.Faults.Attach}, with...)...)
	return w
}

// Bare returns a world for tests that make millions of calls of the table, which cannot be made to fail.
func Bare(t *testing.T) *World {
	t.Helper()
	w := &World{T: t, Clock: apitest.NewClock(), Faults: &storetest.Faults{}, Log: &apitest.Log{}}
	w.DB = storetest.Bare(t, w.Clock.Now)
	return w
}

// Now returns the time of the clock.
func (w *World) Now() time.Time { return w.Clock.Now() }

// Serve gives the world the operations of areas, called by a test key with all scopes.
func (w *World) Serve(areas ...apitest.Area) {
	w.T.Helper()
	w.Caller = apitest.New(w.T, w.DB, w.Log, w.Now, areas...)
}

// Kernel returns a worker of its own for kinds of tasks.
func (w *World) Kernel(handlers map[task.Kind]task.Handler) *task.Kernel {
	return Kernel(w.DB, w.Now, handlers)
}

// Kernel returns a worker of a table for kinds of tasks, whose back-off has no chance in it.
func Kernel(db *store.DB, now func() time.Time, handlers map[task.Kind]task.Handler) *task.Kernel {
	return task.NewKernel(task.Config{DB: db, Handlers: handlers, Now: now, Name: rand.Text,
		Chance: func() float64 { return 0.5 }})
}

// TopUp adds credits to the balance of the caller's account.
func (w *World) TopUp(credits int64) {
	w.T.Helper()
	apitest.TopUp(w.T, w.DB, w.Now(), w.Principal.Account, credits)
}

// Balance returns the credits that the caller's account can spend.
func (w *World) Balance() int64 {
	w.T.Helper()
	return apitest.Balance(w.T, w.DB, w.Principal.Account)
}

// Commit commits what add puts into a transaction.
func (w *World) Commit(add func(*store.Tx) error) {
	w.T.Helper()
	tx := &store.Tx{}
	if err := add(tx); err != nil {
		w.T.Fatal(err)
	}
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
}

// Factory makes a factory through the API: a blogger in English whose texts are drafts, which have one part. Members
// are pairs of a name and a value that change its body.
func (w *World) Factory(members ...any) (factoryID string) {
	w.T.Helper()
	var f struct{ ID string }
	w.Call(http.MethodPost, "/v1/factories", Body(map[string]any{"type": "blogger", "name": "Blog", "language": "en",
		"quality": "draft"}, members...)).Into(w.T, http.StatusCreated, &f)
	return f.ID
}

// Body returns a body with members changed, which are pairs of a name and a value.
func Body(body map[string]any, members ...any) map[string]any {
	body = maps.Clone(body)
	for i := 0; i+1 < len(members); i += 2 {
		body[members[i].(string)] = members[i+1]
	}
	return body
}
