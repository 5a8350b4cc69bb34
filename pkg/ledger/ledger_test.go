package ledger

import (
	"errors"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/storetest"
)

func TestATopUpIsAnEntryAndACount(t *testing.T) {
	clock := apitest.NewClock()
	db := storetest.Open(t, clock.Now)
	for _, credits := range []int64{-1, 0, MaxCredits + 1} {
		tx := &store.Tx{}
		var e *errs.Error
		if _, err := TopUp(tx, clock.Now(), "acc_1", credits); !errors.As(err, &e) || e.Code != errs.ValidationFailed || e.Param != "/credits" || tx.Len() != 0 {
			t.Errorf("%d: %v, and %d writes", credits, err, tx.Len())
		}
	}
	topUp := func(credits int64) (Entry, error) {
		tx := &store.Tx{}
		e, err := TopUp(tx, clock.Now(), "acc_1", credits)
		if err != nil {
			t.Fatal(err)
		}
		return e, db.Commit(t.Context(), tx)
	}
	made, err := topUp(MaxCredits)
	if err != nil || made.Credits != MaxCredits || made.Version != 1 || !made.CreatedAt.Equal(clock.Now()) {
		t.Fatalf("%+v, %v", made, err)
	}
	it, err := db.Get(t.Context(), store.IDKey(made.ID))
	if err != nil || it.Account != "acc_1" {
		t.Errorf("%+v, %v", it, err)
	}
	clock.Add(time.Second)
	var e *errs.Error
	if _, err := topUp(1); !errors.As(err, &e) || e.Param != "/credits" {
		t.Errorf("beyond the bound: %v", err)
	}
	if rows := storetest.Rows(t, db); len(rows) != 2 {
		t.Errorf("there are %d items: %v", len(rows), rows)
	}
	if it, err := db.Get(t.Context(), BalanceKey("acc_1")); err != nil || it.Counter != MaxCredits {
		t.Errorf("the balance is %d, %v", it.Counter, err)
	}
}
