package apitest

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// TopUp adds credits to the balance of an account.
func TopUp(t testing.TB, db *store.DB, now time.Time, account tenant.Account, credits int64) {
	t.Helper()
	tx := &store.Tx{}
	if _, err := ledger.TopUp(tx, now, account, credits); err != nil {
		t.Fatal(err)
	}
	if err := db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
}

// Balance returns the credits that an account can spend.
func Balance(t testing.TB, db *store.DB, account tenant.Account) int64 {
	t.Helper()
	it, err := db.Get(t.Context(), ledger.BalanceKey(account))
	if err != nil {
		t.Fatal(err)
	}
	return ledger.BalanceOf(it).Credits
}
