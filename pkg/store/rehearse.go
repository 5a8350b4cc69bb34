package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/pkg/base/backoff"
)

// errRehearsed reports a transaction that was to be rehearsed and was carried out.
var errRehearsed = errors.New("store: the rehearsal of a transaction was carried out")

// Rehearse sends a transaction with a condition that never holds, so that nothing is written. It returns the errors
// that Commit could return for its writes, in their order, as refused. If a write has changed since it was read, the
// error is ErrConflict: read it again and retry.
func (db *DB) Rehearse(ctx context.Context, tx *Tx) (refused []error, err error) {
	if err := tx.within(ctx); err != nil || len(tx.ops) == 0 {
		return nil, err
	}
	never := &Tx{}
	never.Update(IDKey("never#"+rand.Text()), Written(expression.UpdateBuilder{}), Exists, Conflict)
	items := make([]types.TransactWriteItem, 0, len(tx.ops)+1)
	for _, o := range append(never.ops, tx.ops...) {
		items = append(items, db.named(o.write))
	}
	tries := db.writing(tx.until)
	var busy error
	for attempt := range maxCommits {
		if err := backoff.Wait(ctx, attempt, 10*time.Millisecond, 640*time.Millisecond); err != nil {
			return nil, tries.exhausted(busy, err)
		}
		_, err := db.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items},
			tries.follow)
		var canceled *types.TransactionCanceledException
		switch {
		case err == nil:
			return nil, errRehearsed
		case !errors.As(err, &canceled) && isContention(err):
			busy = tx.contended(err)
			continue
		case !errors.As(err, &canceled):
			return nil, tries.failure(ctx, err, "store: rehearse")
		case len(canceled.CancellationReasons) != len(items):
			return nil, fmt.Errorf("store: rehearse: %d reasons of %d writes", len(canceled.CancellationReasons),
				len(items))
		}
		reasons := canceled.CancellationReasons[1:]
		if busy = tx.heldBy(reasons); !contended(reasons) {
			return refusedBy(tx.ops, reasons)
		}
	}
	return nil, tries.exhausted(busy, nil)
}

// contended reports whether another transaction has kept some writes from being looked at.
func contended(reasons []types.CancellationReason) bool {
	for _, r := range reasons {
		switch aws.ToString(r.Code) {
		case "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
			return true
		}
	}
	return false
}

// refusedBy returns the error of each write whose condition failed.
func refusedBy(ops []op, reasons []types.CancellationReason) (refused []error, _ error) {
	for i := range ops {
		switch err := failedCondition(ops[i:i+1], reasons[i:i+1]); {
		case errors.Is(err, ErrConflict):
			return nil, err
		case err != nil:
			refused = append(refused, err)
		}
	}
	return refused, nil
}
