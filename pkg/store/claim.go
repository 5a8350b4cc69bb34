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

// errLate is returned when the deadline passes before a commit is sent.
var errLate = errs.New(errs.Timeout, "The request took too long. Repeat it with the same Idempotency-Key.")

// Claim is CreateExpiring for the record by which a caller owns the effect of the
// transaction. It is the first of all writes: the commit returns taken even where
// other conditions fail as well because the owner has already committed. If another
// transaction still writes the record at the last attempt, the commit returns held.
func (tx *Tx) Claim(record Item, now int64, taken, held error) {
	tx.CreateExpiring(record, now, taken)
	last := len(tx.ops) - 1
	claim := tx.ops[last]
	claim.held = held
	tx.ops = slices.Insert(tx.ops[:last], 0, claim)
}

// Until sets the deadline for sending the last attempt of the commit; after it, the
// commit fails with timeout. A claim excludes late callers only until its record
// expires. The deadline excludes those that arrive after that.
func (tx *Tx) Until(t time.Time) {
	// Round strips the monotonic clock reading: that clock stops while a function is
	// frozen.
	tx.until = t.Round(0)
}

// fence checks the deadline before each of the SDK's attempts, just before it is
// signed. A request that is delayed on its way is harmless: its signature expires
// within minutes.
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

// heldBy returns the error of a commit that was canceled for contention: held of the
// first write in conflict that has one, otherwise errBusy.
func (tx *Tx) heldBy(reasons []types.CancellationReason) error {
	for i, r := range reasons {
		if held := tx.ops[i].held; held != nil && aws.ToString(r.Code) == "TransactionConflict" {
			return held
		}
	}
	return errBusy
}

// contended is heldBy for an error of the whole call.
func (tx *Tx) contended(err error) error {
	var api smithy.APIError
	if held := tx.ops[0].held; held != nil && errors.As(err, &api) {
		switch api.ErrorCode() {
		// Another transaction has the item of the put, or this transaction, whose
		// answer was lost, is still in progress.
		case "TransactionConflictException", "TransactionInProgressException":
			return held
		}
	}
	return errBusy
}
