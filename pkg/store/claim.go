package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"github.com/content-automation/api/pkg/errs"
)

// errLate tells that a commit was not tried because its time was over.
var errLate = errs.New(errs.Timeout, "The request took too long. Repeat it with the same Idempotency-Key.")

// Claim is CreateExpiring for the record by which a caller owns what the
// transaction does. It goes before all other writes: where others fail too, just
// because the owner has done the same already, the commit still gives taken. Where
// another transaction is about to write the record even at the last try, the commit
// gives held.
func (tx *Tx) Claim(record Item, now int64, taken, held error) {
	tx.CreateExpiring(record, now, taken)
	last := len(tx.ops) - 1
	claim := tx.ops[last]
	claim.held = held
	tx.ops = slices.Insert(tx.ops[:last], 0, claim)
}

// Until sets when the last try of the commit may go out; what was not tried by
// then fails with timeout. A record keeps a late caller away for as long as it lives,
// and no longer: this bound keeps those away that come even after that.
func (tx *Tx) Until(t time.Time) {
	// Without the reading of the monotonic clock, which stands still while a function
	// is frozen.
	tx.until = t.Round(0)
}

// fence checks that bound before each of the SDK's tries, just before it is signed. One
// that is on its way for long does no harm: its signature is good for minutes only.
func (db *DB) fence(until time.Time) func(*dynamodb.Options) {
	check := middleware.FinalizeMiddlewareFunc("Fence", func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
		if db.now().Round(0).After(until) {
			return middleware.FinalizeOutput{}, middleware.Metadata{}, errLate
		}
		return next.HandleFinalize(ctx, in)
	})
	return func(o *dynamodb.Options) {
		if !until.IsZero() {
			o.APIOptions = append(o.APIOptions, func(s *middleware.Stack) error {
				return s.Finalize.Insert(check, "Retry", middleware.After)
			})
		}
	}
}

// heldBy returns the error of a commit that was canceled for contention: that of the
// first write whose item another transaction has, errBusy where none minds.
func (tx *Tx) heldBy(reasons []types.CancellationReason) error {
	for i, r := range reasons {
		if held := tx.ops[i].held; held != nil && aws.ToString(r.Code) == "TransactionConflict" {
			return held
		}
	}
	return errBusy
}

// contended is heldBy for contention that concerns the call as a whole.
func (tx *Tx) contended(err error) error {
	var api smithy.APIError
	if held := tx.ops[0].held; held != nil && errors.As(err, &api) {
		switch api.ErrorCode() {
		// The one item of a put; or the transaction itself, whose answer was lost, and
		// which is still being carried out.
		case "TransactionConflictException", "TransactionInProgressException":
			return held
		}
	}
	return errBusy
}
