package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// settleTime is how long a claim outlasts the time of its effect, for the commit of the
// answer, and commitTime how much of a function's time is kept back for it.
const (
	settleTime = 10 * time.Second
	commitTime = 2 * time.Second
)

// claimGrace is how long after the end of a claim's lease its task is due: clocks
// differ.
const claimGrace = 5 * time.Second

// claim is the part of a record that there is while the call is being carried out.
type claim struct {
	// Until is when the lease ends: the call ends the claim before, or died.
	Until     time.Time `json:"until"`
	Operation string    `json:"operation"`
	RequestID string    `json:"request_id"`
	// Sealed is what ends the claim if the call dies, encrypted: see claimed.
	Sealed []byte `json:"sealed"`
}

// claimed is what a claim holds encrypted.
type claimed struct {
	// Key is what the answer is to be encrypted by.
	Key []byte `json:"key"`
	// Prepared is what the operation has prepared for its effect.
	Prepared json.RawMessage `json:"prepared"`
}

// held is a claim in the hands of who may end it.
type held struct {
	item     store.Item
	record   remembered
	key      []byte // of the answer
	prepared json.RawMessage
}

// claimRef names a claim in a task.
type claimRef struct {
	// Record is the id of the item that the claim is in, and Token distinguishes it from a later
	// one of the same key.
	Record string `json:"record"`
	Token  string `json:"token"`
}

// claim adds the claim of a key to the transaction, and the task that ends it if the
// call dies.
func (r *Router) claim(ctx context.Context, tx *store.Tx, op Op, queue topology.Queue, key, token string, until time.Time, prepared any) (held, error) {
	c, p := callFrom(ctx), auth.FromContext(ctx)
	h := held{item: r.recordOf(p, key)}
	var err error
	if h.prepared, err = json.Marshal(prepared); err != nil {
		return held{}, err
	}
	answerKeys, err := r.answerKeys(ctx, key)
	if err != nil {
		return held{}, err
	}
	h.key = answerKeys[0]
	plain, err := json.Marshal(claimed{h.key, h.prepared})
	if err != nil {
		return held{}, err
	}
	claimKeys, err := r.claimKeys(ctx)
	if err != nil {
		return held{}, err
	}
	sealed, err := sealBody(claimKeys, plain)
	if err != nil {
		return held{}, err
	}
	h.record = remembered{Token: token, Fingerprint: callFingerprint(c), Claim: &claim{until, op.ID, c.RequestID, sealed}}
	if err := h.item.Encode(h.record); err != nil {
		return held{}, err
	}
	end := task.Task{
		Message: task.Message{ID: task.ID(ClaimKind, token, 1), Kind: ClaimKind, Queue: queue, Subject: token, Owner: p.Owner},
		DueAt:   until.Add(claimGrace),
	}
	if err := task.Create(tx, r.now(), end, claimRef{h.item.PK, token}); err != nil {
		return held{}, err
	}
	tx.Claim(h.item, r.now().Unix(), errRepeated, errInProgress)
	tx.Until(until)
	h.item.Version = 1 // as the transaction writes it
	return h, nil
}

// ender finds out how a claim ends, and returns what adds that to a transaction.
type ender func(ctx context.Context, h held, find bool) (func(context.Context, *store.Tx, held) error, error)

// Claims handles the tasks that end the claims of calls that died. The router has
// their operations registered.
type Claims struct{ Router *Router }

// ClaimKind is the kind of those tasks.
const ClaimKind = task.Kind("claim")

var _ task.Handler = Claims{}

// Step ends a claim by what the operation finds out of its effect.
func (c Claims) Step(ctx context.Context, s *task.Step) (task.Outcome, error) {
	return c.end(ctx, s, true)
}

// Fail ends a claim of whose effect nothing could be found out.
func (c Claims) Fail(ctx context.Context, s *task.Step, _ error) (task.Outcome, error) {
	return c.end(ctx, s, false)
}

// Cancel does nothing: no task of a claim is canceled.
func (Claims) Cancel(context.Context, *task.Step) error { return nil }

func (c Claims) end(ctx context.Context, s *task.Step, find bool) (task.Outcome, error) {
	var ref claimRef
	if err := s.Decode(&ref); err != nil {
		return task.Outcome{}, err
	}
	h, err := c.Router.readClaim(ctx, ref)
	if err != nil || h == nil {
		return task.Outcome{Done: true}, err
	}
	action, ok := c.Router.actions[h.record.Claim.Operation]
	if !ok {
		return task.Outcome{}, fmt.Errorf("httpapi: no operation %s is registered that ends claims", h.record.Claim.Operation)
	}
	end, err := action(h.withCall(ctx), *h, find)
	if err != nil {
		return task.Outcome{}, err
	}
	return task.Outcome{Done: true, Join: func(ctx context.Context, tx *store.Tx) error {
		h, err := c.Router.readClaim(ctx, ref)
		if err != nil || h == nil {
			return err
		}
		return end(h.withCall(ctx), tx, *h)
	}}, nil
}

// readClaim reads a claim; nil where it has ended.
func (r *Router) readClaim(ctx context.Context, ref claimRef) (*held, error) {
	it, err := r.db.Get(ctx, store.IDKey(ref.Record))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h := &held{item: it}
	if err := it.Decode(&h.record); err != nil {
		return nil, err
	}
	if h.record.Claim == nil || h.record.Token != ref.Token {
		return nil, nil
	}
	keys, err := r.claimKeys(ctx)
	if err != nil {
		return nil, err
	}
	plain, err := unsealBody(keys, h.record.Claim.Sealed)
	if err != nil {
		return nil, err
	}
	var c claimed
	if err := json.Unmarshal(plain, &c); err != nil {
		return nil, err
	}
	h.key, h.prepared = c.Key, c.Prepared
	return h, nil
}
