package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
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
	never := &Tx{until: tx.until}
	never.Update(IDKey("never#"+rand.Text()), Written(expression.UpdateBuilder{}), Exists, Conflict)
	never.ops = append(never.ops, tx.ops...)
	written := true
	err = db.transact(ctx, never, "rehearse", func(reasons []types.CancellationReason) (final bool, err error) {
		written = false
		switch {
		case len(reasons) != len(never.ops):
			return true, fmt.Errorf("store: rehearse: %d reasons of %d writes", len(reasons), len(never.ops))
		case contended(reasons[1:]):
			return false, nil
		}
		refused, err = refusedBy(tx.ops, reasons[1:])
		return true, err
	})
	if err == nil && written {
		err = errRehearsed
	}
	return refused, err
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
