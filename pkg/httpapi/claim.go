package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// settleTime is the time by which a claim outlasts its effect, for the commit of the answer. commitTime is the part of
// a function's time that is reserved for that commit.
const (
	settleTime = 10 * time.Second
	commitTime = 2 * time.Second
)

// claimGrace is the time between the end of a claim's lease and its task, because clocks differ.
const claimGrace = 5 * time.Second

// claim is the part of a record that exists while the call is running.
type claim struct {
	// Until is the end of the lease. The call ends the claim earlier, unless it has died.
	Until     time.Time `json:"until"`
	Operation string    `json:"operation"`
	RequestID string    `json:"request_id"`
	// Sealed is the encrypted data for ending the claim if the call dies; see claimed.
	Sealed []byte `json:"sealed"`
}

// claimed is the encrypted part of a claim.
type claimed struct {
	// Key is the key by which the answer is encrypted.
	Key []byte `json:"key"`
	// Prepared has the parameters of the effect.
	Prepared json.RawMessage `json:"prepared"`
}

// held is a claim that the caller may end.
type held struct {
	item     store.Item
	record   remembered
	key      []byte // of the answer
	prepared json.RawMessage
}

// claimRef identifies a claim in a task.
type claimRef struct {
	// Record is the id of the item with the claim. Token distinguishes the claim from a later one of the same key.
	Record string `json:"record"`
	Token  string `json:"token"`
}

// claim adds the claim of a key, and the task that ends it if the call dies, to the transaction.
func (r *Router) claim(ctx context.Context, tx *store.Tx, op Op, queue topology.Queue, key, token string,
	until time.Time, prepared any) (held, error) {
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
	h.record = remembered{Token: token, Fingerprint: callFingerprint(c),
		Claim: &claim{until, op.ID, c.RequestID, sealed}}
	if err := h.item.Encode(h.record); err != nil {
		return held{}, err
	}
	end := task.Task{
		Message: task.Message{ID: task.ID(ClaimKind, token, 1), Kind: ClaimKind, Queue: queue, Subject: token,
			Owner: p.Owner},
		DueAt: until.Add(claimGrace),
	}
	if err := task.Create(tx, r.now(), end, claimRef{h.item.PK, token}); err != nil {
		return held{}, err
	}
	tx.Claim(h.item, r.now().Unix(), errRepeated, errInProgress)
	tx.Until(until)
	h.item.Version = 1 // as the transaction writes it
	return h, nil
}

// ender finds how a claim ends, and returns a function that adds the end to a transaction.
type ender func(ctx context.Context, h held, find bool) (func(context.Context, *store.Tx, held) error, error)

// Claims handles the tasks that end the claims of dead calls. Their operations must be registered with the router.
type Claims struct{ Router *Router }

// ClaimKind is the kind of these tasks.
const ClaimKind = task.Kind("claim")

// End ends a claim with the outcome that the operation finds, or without one if none could be found.
func (c Claims) End(ctx context.Context, s *task.Run) error {
	var ref claimRef
	if err := s.Decode(&ref); err != nil {
		return err
	}
	h, err := c.Router.readClaim(ctx, ref)
	if err != nil || h == nil {
		return err
	}
	action, ok := c.Router.actions[h.record.Claim.Operation]
	if !ok {
		return fmt.Errorf("httpapi: no operation %s is registered that ends claims", h.record.Claim.Operation)
	}
	end, err := action(h.withCall(ctx), *h, s.Cause() == nil)
	if err != nil {
		return err
	}
	return s.End(func(ctx context.Context, tx *store.Tx) error {
		h, err := c.Router.readClaim(ctx, ref)
		if err != nil || h == nil {
			return err
		}
		return end(h.withCall(ctx), tx, *h)
	})
}

// readClaim reads a claim. It returns nil if the claim has ended.
func (r *Router) readClaim(ctx context.Context, ref claimRef) (*held, error) {
	it, err := r.db.Lookup(ctx, store.IDKey(ref.Record))
	if err != nil || it.PK == "" {
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
