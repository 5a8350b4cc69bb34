package store

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Claim is CreateExpiring for the record by which a caller owns the effect of the transaction. It is the first of all
// writes: if the owner has already committed, the commit returns taken even if other conditions fail as well. If
// another transaction is still writing the record at the last attempt, the commit returns held.
func (tx *Tx) Claim(record Item, now int64, taken, held error) {
	tx.CreateExpiring(record, now, taken)
	last := len(tx.ops) - 1
	claim := tx.ops[last]
	claim.held = held
	tx.ops = slices.Insert(tx.ops[:last], 0, claim)
}

// Until sets the deadline for sending the last attempt of the commit. After it, the commit fails with timeout. A claim
// excludes late callers only until its record expires; the deadline excludes those that arrive later.
func (tx *Tx) Until(t time.Time) {
	// Round strips the monotonic clock reading: that clock stops while a function is frozen.
	tx.until = t.Round(0)
}

// heldBy returns the error of a commit that was canceled for contention: the held error of the first write in conflict
// that has one, otherwise errOverloaded if only load has canceled the commit, or errBusy.
func (tx *Tx) heldBy(reasons []types.CancellationReason) error {
	busy := errOverloaded
	for i, r := range reasons {
		if aws.ToString(r.Code) != "TransactionConflict" {
			continue
		}
		if held := tx.ops[i].held; held != nil {
			return held
		}
		busy = errBusy
	}
	return busy
}

// contended is heldBy for an error of the whole call.
func (tx *Tx) contended(err error) error {
	if isThrottled(err) {
		return errOverloaded
	}
	// Either another transaction has the item of the put, or this transaction, whose answer was lost, is still in
	// progress.
	if held := tx.ops[0].held; held != nil {
		return held
	}
	return errBusy
}
