package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
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
	// Secret is what the answer is to be encrypted by.
	Secret []byte `json:"secret"`
	// Prepared is what the operation has prepared for its effect.
	Prepared json.RawMessage `json:"prepared"`
}

// held is a claim in the hands of who may end it.
type held struct {
	item     store.Item
	record   remembered
	secret   []byte // of the answer
	prepared json.RawMessage
}

// ClaimTasks schedules what ends claims whose calls have died.
type ClaimTasks interface {
	// Add adds a task to the transaction. When it is due, it calls Router.ResolveClaim.
	Add(tx *store.Tx, due time.Time, ref ClaimRef) error
}

// ClaimRef names a claim in a task.
type ClaimRef struct {
	tenant.Owner
	// Record is the id of the item that the claim is in, and Token tells it from a later
	// one of the same key.
	Record string `json:"record"`
	Token  string `json:"token"`
}

// ResolveWith sets where the tasks of claims are added. What registers an operation
// with Act and serves it needs it.
func (r *Router) ResolveWith(tasks ClaimTasks) { r.tasks = tasks }

// claim adds the claim of a key to the transaction, and the task that ends it if the
// call dies.
func (r *Router) claim(ctx context.Context, tx *store.Tx, op Op, key, token string, until time.Time, prepared any) (held, error) {
	c, p := callFrom(ctx), auth.FromContext(ctx)
	h := held{item: r.recordOf(p, key)}
	var err error
	if h.prepared, err = json.Marshal(prepared); err != nil {
		return held{}, err
	}
	if h.secret, err = r.answerSecret(key); err != nil {
		return held{}, err
	}
	plain, err := json.Marshal(claimed{h.secret, h.prepared})
	if err != nil {
		return held{}, err
	}
	secret, err := r.claimSecret()
	if err != nil {
		return held{}, err
	}
	sealed, err := seal(secret, plain)
	if err != nil {
		return held{}, err
	}
	h.record = remembered{Token: token, Fingerprint: callFingerprint(c), Claim: &claim{until, op.ID, c.RequestID, sealed}}
	if err := h.item.Encode(h.record); err != nil {
		return held{}, err
	}
	if err := r.tasks.Add(tx, until.Add(claimGrace), ClaimRef{p.Owner, h.item.PK, token}); err != nil {
		return held{}, err
	}
	tx.Claim(h.item, r.now().Unix(), errRepeated, errInProgress)
	tx.Until(until)
	h.item.Version = 1 // as the transaction writes it
	return h, nil
}

// ender finds out how a claim ends, and returns what adds that to a transaction.
type ender func(ctx context.Context, h held, find bool) (func(context.Context, *store.Tx, held) error, error)

// ResolveClaim finds out how the claim of a call ends that died, and returns what adds
// its end to a transaction; nil where it has ended. Without find the operation does not
// look what its effect has led to: that has failed too often. What is returned may be
// called again where the commit has met a conflict.
func (r *Router) ResolveClaim(ctx context.Context, ref ClaimRef, find bool) (join func(context.Context, *store.Tx) error, err error) {
	h, err := r.readClaim(ctx, ref)
	if err != nil || h == nil {
		return nil, err
	}
	if r.now().Before(h.record.Claim.Until) {
		return nil, fmt.Errorf("httpapi: the claim of %s still lives", h.record.Claim.RequestID)
	}
	action, ok := r.actions[h.record.Claim.Operation]
	if !ok {
		return nil, fmt.Errorf("httpapi: no operation %s is registered that ends claims", h.record.Claim.Operation)
	}
	end, err := action(h.withCall(ctx), *h, find)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *store.Tx) error {
		h, err := r.readClaim(ctx, ref)
		if err != nil || h == nil {
			return err
		}
		return end(h.withCall(ctx), tx, *h)
	}, nil
}

// readClaim reads a claim; nil where it has ended.
func (r *Router) readClaim(ctx context.Context, ref ClaimRef) (*held, error) {
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
	secret, err := r.claimSecret()
	if err != nil {
		return nil, err
	}
	plain, err := unseal(secret, h.record.Claim.Sealed)
	if err != nil {
		return nil, err
	}
	var c claimed
	if err := json.Unmarshal(plain, &c); err != nil {
		return nil, err
	}
	h.secret, h.prepared = c.Secret, c.Prepared
	return h, nil
}
