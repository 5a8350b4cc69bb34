package store_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/store"
)

// forms are the calls of a table by which the areas read and write.
var forms = []struct {
	operation string
	writes    bool
	call      func(ctx context.Context, t *testing.T, db *store.DB) error
}{
	{"GetItem", false, func(ctx context.Context, _ *testing.T, db *store.DB) error {
		_, err := db.Get(ctx, store.IDKey("thing_1"))
		return err
	}},
	{"BatchGetItem", false, func(ctx context.Context, _ *testing.T, db *store.DB) error {
		_, err := db.GetAll(ctx, store.IDKey("thing_1"))
		return err
	}},
	{"Query", false, func(ctx context.Context, _ *testing.T, db *store.DB) error {
		_, err := db.List(ctx, list(10))
		return err
	}},
	{"TransactWriteItems", true, func(ctx context.Context, t *testing.T,
		db *store.DB) error {
		return try(ctx, db, pair(t))
	}},
	{"PutItem", true, func(ctx context.Context, t *testing.T, db *store.DB) error {
		return try(ctx, db, func(tx *store.Tx) { tx.Create(thing(t, "thing_2", "made"), nil) })
	}},
	{"UpdateItem", true, func(ctx context.Context, _ *testing.T, db *store.DB) error {
		_, err := db.Update(ctx, store.IDKey("thing_1"), expression.Remove(store.Attribute("state")), store.Exists)
		return err
	}},
	{"UpdateItem", true, func(ctx context.Context, _ *testing.T, db *store.DB) error {
		return db.Note(ctx, store.Item{Key: store.IDKey("note"), Kind: "note"})
	}},
}

const forever = 1000

func TestATableThatDoesNotServeIsUnavailable(t *testing.T) {
	for name, c := range map[string]struct {
		fault func(f *storetest.Faults, operation string)
		// read and write are the codes of reads and writes.
		read, write errs.Code
	}{
		"throttled": {refused("ThrottlingException"), errs.ProviderUnavailable, errs.ProviderUnavailable},
		"a hot partition": {refused("ProvisionedThroughputExceededException"), errs.ProviderUnavailable,
			errs.ProviderUnavailable},
		"a limit of the account": {refused("RequestLimitExceeded"), errs.ProviderUnavailable, errs.ProviderUnavailable},
		"there is no connection": {
			func(f *storetest.Faults, operation string) { f.Disconnect(operation, forever) }, errs.ProviderUnavailable,
			errs.ProviderUnavailable,
		},
		// Whether a write was carried out is not known.
		"it fails": {refused("InternalServerError"), errs.ProviderUnavailable, errs.Timeout},
		"it is down": {
			func(f *storetest.Faults, operation string) { f.Break(operation, 503, forever) }, errs.ProviderUnavailable,
			errs.Timeout,
		},
		"its answers are lost": {
			func(f *storetest.Faults, operation string) { f.Lose(operation, forever) }, errs.ProviderUnavailable,
			errs.Timeout,
		},
		"one answer is lost, then it is throttled": {func(f *storetest.Faults, operation string) {
			f.Lose(operation, 1)
			f.Reject(operation, "ThrottlingException", forever)
		}, errs.ProviderUnavailable, errs.Timeout},
		"it is throttled, then silent until the time is over": {func(f *storetest.Faults, operation string) {
			f.Reject(operation, "ThrottlingException", 1)
			f.Hang(operation, forever)
		}, errs.ProviderUnavailable, errs.Timeout},
		"the call is wrong": {refused("ValidationException"), errs.Internal, errs.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			for _, form := range forms {
				t.Run(form.operation, func(t *testing.T) {
					t.Parallel()
					db, faults, _ := faulty(t)
					create(t, db, "thing_1")
					c.fault(faults, form.operation)
					ctx := t.Context()
					if strings.Contains(name, "silent") {
						ctx = impatient(t, faults)
					}
					want := c.read
					if form.writes {
						want = c.write
					}
					err := form.call(ctx, t, db)
					// The next attempt of a put and of an update finds the write whose answer was lost, and succeeds.
					if strings.Contains(name, "lost") && err == nil && form.writes &&
						form.operation != "TransactWriteItems" {
						return
					}
					if errs.CodeOf(err) != want {
						t.Errorf("it gives %v, want %s", err, want)
					}
					if message := errs.As(err).Message; want == errs.Timeout &&
						!strings.Contains(message, "may have had its effect") {
						t.Errorf("the message of an unknown outcome is %q", message)
					}
				})
			}
		})
	}
}

func refused(code string) func(*storetest.Faults, string) {
	return func(f *storetest.Faults, operation string) { f.Reject(operation, code, forever) }
}

// If the time ends while a throttled call waits for its next try, the load is the reason,
// and nothing was sent that could have had an effect.
func TestLoadUntilTheDeadlineIsUnavailable(t *testing.T) {
	for _, form := range forms[3:5] {
		t.Run(form.operation, func(t *testing.T) {
			db, faults, _ := faulty(t)
			faults.Reject(form.operation, "ThrottlingException", forever)
			unchanged(t, db, func() {
				if err := form.call(impatient(t, faults), t, db); errs.CodeOf(err) != errs.ProviderUnavailable {
					t.Errorf("it gives %v", err)
				}
			})
		})
	}
}
