package httpapi

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gowebpki/jcs"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// keepAnswers is the time for which a repeat gets the first answer.
const keepAnswers = 24 * time.Hour

// longestRun is the time after its begin within which a call may commit: longer than any function may run, and far
// shorter than a record is kept. Only a call of a frozen function could come later, even when its record is gone.
const longestRun = time.Minute

// maxRuns bounds the runs of an operation that are repeated because a resource that it had read was changed by another
// call before it could commit. Each time another call has succeeded, so that this many concurrent callers of one
// resource all succeed.
const maxRuns = 16

// idempotencyKey reads the header of draft-ietf-httpapi-idempotency-key-header.
func idempotencyKey(h http.Header) (string, error) {
	values, sent := h["Idempotency-Key"]
	if !sent {
		return "", nil
	}
	if len(values) == 1 && values[0] != "" && utf8.RuneCountInString(values[0]) <= 255 {
		return values[0], nil
	}
	e := errs.New(errs.InvalidHeader, "Idempotency-Key must be one value of 1 to 255 characters, such as a UUID.")
	e.Param = "Idempotency-Key"
	return "", e
}

// errRepeated reports that the call's Idempotency-Key was used before.
var errRepeated = errors.New("httpapi: the idempotency key was used before")

// errInProgress reports that the first call with the same Idempotency-Key has not committed yet.
var errInProgress = &errs.Error{
	Code: errs.IdempotencyInProgress, RetryAfter: time.Second,
	Message: "The first request with this Idempotency-Key is still running. Repeat the request in a second.",
}

// once calls run, which adds to a transaction, and commits the transaction together with the record of the call's
// Idempotency-Key, which run adds under the token. If the key was used before, it returns the first answer. For a first
// call the record costs no read: a repeat is noticed if its record exists already, or if the operation fails, which may
// be just because the first call had its effect.
func (r *Router) once(ctx context.Context, key string,
	run func(tx *store.Tx, token string) error) (first *answer, err error) {
	var failure error
	for again := range maxRuns {
		if err := backoff.Wait(ctx, again, 5*time.Millisecond, 80*time.Millisecond); err != nil {
			if failure == nil {
				return nil, err
			}
			break // others have changed the resource for as long as there was time
		}
		tx, token := &store.Tx{Origin: callFrom(ctx).RequestID}, rand.Text()
		err := run(tx, token)
		if err == nil {
			err = r.db.Commit(ctx, tx)
		}
		if err == nil {
			return nil, nil
		}
		failure = err
		if errors.Is(err, store.ErrConflict) {
			continue
		}
		if status, _ := Status(errs.CodeOf(err)); key == "" || status == http.StatusForbidden {
			// A caller who may no longer call the operation must not get an earlier answer of it either.
			return nil, err
		}
		first, err := r.recall(ctx, key, token)
		switch {
		case err == nil:
			return first, nil
		case !errors.Is(err, store.ErrNotFound) && !(isTransient(err) && isTransient(failure)):
			return nil, err
		case !errors.Is(failure, errRepeated):
			return nil, failure
		}
		// The record has expired since it was found: the key is free again.
	}
	return nil, errs.Wrap(failure, errs.ProviderUnavailable, "Other requests are changing the same resource. Repeat "+
		"the request with the same Idempotency-Key in a second.")
}

// isTransient reports whether an error has the code of an unavailable resource. If a call and the look-up of its answer
// both fail, the first error says more.
func isTransient(err error) bool {
	code := errs.CodeOf(err)
	return code == errs.ProviderUnavailable || code == errs.Timeout
}

// commit runs an operation and commits its writes, together with the record that answers a repeat.
func (r *Router) commit(ctx context.Context, run func(*store.Tx) (*answer, error)) (*answer, error) {
	c := callFrom(ctx)
	var a *answer
	first, err := r.once(ctx, c.idempotencyKey, func(tx *store.Tx, token string) (err error) {
		if a, err = run(tx); err != nil || c.idempotencyKey == "" {
			return err
		}
		keys, err := r.answerKeys(ctx, c.idempotencyKey)
		if err != nil {
			return err
		}
		it := r.recordOf(auth.FromContext(ctx), c.idempotencyKey)
		if err := remember(tx, &it, storedAnswer{Token: token, Fingerprint: callFingerprint(c)}, keys, a); err != nil {
			return err
		}
		tx.Claim(it, r.now().Unix(), errRepeated, errInProgress)
		tx.Until(c.began.Add(longestRun))
		return nil
	})
	if err != nil || first != nil {
		return first, err
	}
	return a, nil
}

// storedAnswer is the record of an answer. The record of Write is only ever created: a run that comes too late finds
// it, and cannot overwrite anything.
type storedAnswer struct {
	// Token is the token of the run that made the answer. By it the run recognizes its own record if the answer to the
	// commit was lost.
	Token       string `json:"token"`
	Fingerprint string `json:"fingerprint"`
	// Claim is set while the call is running; see Act.
	Claim  *claim    `json:"claim,omitempty"`
	Status int       `json:"status,omitempty"`
	Code   errs.Code `json:"code,omitempty"` // of a failure
	ETag   string    `json:"etag,omitempty"`
	// Location and RetryAfter belong to an answer with status 202.
	Location   string `json:"location,omitempty"`
	RetryAfter string `json:"retry_after,omitempty"`
	// Deprecation, Sunset and Link belong to an answer that names something that ends, or of an operation that does.
	Deprecation string `json:"deprecation,omitempty"`
	Sunset      string `json:"sunset,omitempty"`
	Link        string `json:"link,omitempty"`
	// SealedBody is the body. A body that is too large is in as many items as Parts says.
	SealedBody []byte `json:"sealed,omitempty"`
	Parts      int    `json:"parts,omitempty"`
	// Secret is set if the answer had a secret.
	Secret *confidence `json:"secret,omitempty"`
}

// recordOf returns the item of the record of a key, without its content.
func (r *Router) recordOf(p *auth.Principal, key string) store.Item {
	return store.Item{Key: answerKey(p, key), Kind: "answer", Owner: p.Owner, ExpireAt: r.now().Add(keepAnswers)}
}

// remember writes an answer into its record.
func remember(tx *store.Tx, it *store.Item, record storedAnswer, keys [][]byte, a *answer) error {
	record.Claim, record.Status, record.Code, record.ETag, record.Secret = nil, a.Status, a.code, a.ETag, a.secret
	record.Location, record.RetryAfter = a.Location, a.RetryAfter
	record.Deprecation, record.Sunset, record.Link = a.Deprecation, a.Sunset, a.Link
	sealed, err := sealBody(keys, a.Body)
	if err != nil {
		return err
	}
	if a.secret != nil {
		if err := keepWhole(tx, *it, record.Token, a.secret.Until, sealed); err != nil {
			return err
		}
		if sealed, err = sealBody(keys, a.secret.bodyWithoutSecret); err != nil {
			return err
		}
	}
	if len(sealed) <= store.PartSize {
		record.SealedBody = sealed
	} else {
		part := *it
		part.Key = store.IDKey(partsOf(it.Key, record.Token))
		record.Parts = tx.CreateParts(part, sealed)
	}
	return it.Encode(record)
}

// recall returns the answer of the first call with the same Idempotency-Key, or store.ErrNotFound if there was none. If
// that call is still running, recall returns an error. If it is the run with the token itself, recall returns nil and
// no error.
func (r *Router) recall(ctx context.Context, key, token string) (*answer, error) {
	c := callFrom(ctx)
	at := answerKey(auth.FromContext(ctx), key)
	ctx = tenant.Unconfined(ctx) // the record is the caller's, whatever the profile
	it, err := r.db.Get(ctx, at)
	if err != nil {
		return nil, err
	}
	var first storedAnswer
	if err := it.Decode(&first); err != nil {
		return nil, err
	}
	if first.Fingerprint != callFingerprint(c) {
		e := errs.New(errs.IdempotencyKeyReused, "This Idempotency-Key was used within 24 hours for another request: "+
			"another path, query or body. Use a new key for a new request.")
		e.Param = "Idempotency-Key"
		return nil, e
	}
	if first.Claim != nil {
		if first.Token == token {
			return nil, nil
		}
		e := *errInProgress
		e.RetryAfter = max(e.RetryAfter, first.Claim.Until.Sub(r.now()))
		return nil, &e
	}
	if first.Parts > 0 {
		if first.SealedBody, err = r.db.Parts(ctx, partsOf(at, first.Token), first.Parts); err != nil {
			return nil, err
		}
	}
	if err := r.reveal(ctx, at, &first); err != nil {
		return nil, err
	}
	a := &answer{Status: first.Status, ContentType: "application/json", ETag: first.ETag, Location: first.Location,
		RetryAfter: first.RetryAfter, Deprecation: first.Deprecation, Sunset: first.Sunset, Link: first.Link,
		code: first.Code}
	if first.Token != token {
		a.Replayed = "true"
	}
	c.code = first.Code
	keys, err := r.answerKeys(ctx, key)
	if err != nil {
		return nil, err
	}
	a.Body, err = unsealBody(keys, first.SealedBody)
	return a, err
}

// answerKey returns the key of the record of an Idempotency-Key, which belongs to its caller alone: a repeat by another
// caller is a new call. The key is short, like the rest of the record: most records then take one kilobyte, the size of
// a write unit.
func answerKey(p *auth.Principal, key string) store.Key {
	sum := sha256.Sum256([]byte(strings.Join([]string{p.Owner.String(), string(p.Actor.Kind), p.Actor.ID, key}, "#")))
	return store.IDKey("answer#" + base64.RawURLEncoding.EncodeToString(sum[:]))
}

// partsOf returns the name of the parts of an answer. Each run has its own, so that the parts of two runs are never
// mixed.
func partsOf(record store.Key, token string) string { return record.PK + "#" + token }

// RequestDigest distinguishes requests by their path and body, but for some members of the body. Like callFingerprint,
// it takes the body in its canonical form.
func RequestDigest(ctx context.Context, without ...string) (string, error) {
	c := callFrom(ctx)
	var body map[string]json.RawMessage
	if err := json.Unmarshal(c.body, &body); err != nil {
		return "", fmt.Errorf("httpapi: digest of a body: %w", err)
	}
	for _, member := range without {
		delete(body, member)
	}
	rest, err := json.Marshal(body)
	if err != nil {
		return "", fmt.Errorf("httpapi: digest of a body: %w", err)
	}
	canonical, err := jcs.Transform(rest)
	if err != nil {
		return "", fmt.Errorf("httpapi: digest of a body: %w", err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %s\n", c.method, c.path)
	h.Write(canonical)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)), nil
}

// callFingerprint distinguishes calls by everything that determines their effect. A body counts in its canonical form
// (RFC 8785): the order of members, white space and the form of numbers make no other request. It is keyed by the
// Idempotency-Key, which is not stored: so it does not help to guess a password in a body.
func callFingerprint(c *call) string {
	h := hmac.New(sha256.New, []byte(c.idempotencyKey))
	path := c.path
	if c.query != "" {
		path += "?" + c.query
	}
	fmt.Fprintf(h, "%s %s\n", c.method, path)
	body := c.body
	if c.parsedBody != nil {
		if canonical, err := jcs.Transform(c.body); err == nil {
			body = canonical
		}
	}
	h.Write(body)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

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
	// SealedEffect is the encrypted data for ending the claim if the call dies; see claimed.
	SealedEffect []byte `json:"sealed"`
}

// claimSecret is the encrypted part of a claim.
type claimSecret struct {
	// Key is the key by which the answer is encrypted.
	Key []byte `json:"key"`
	// EffectParameters has the parameters of the effect.
	EffectParameters json.RawMessage `json:"prepared"`
}

// openClaim is a claim that the caller may end.
type openClaim struct {
	item             store.Item
	record           storedAnswer
	key              []byte // of the answer
	effectParameters json.RawMessage
}

// claimRef identifies a claim in a task.
type claimRef struct {
	// Record is the id of the item with the claim. Token distinguishes the claim from a later one of the same key.
	Record string `json:"record"`
	Token  string `json:"token"`
}

// claim adds the claim of a key, and the task that ends it if the call dies, to the transaction.
func (r *Router) claim(ctx context.Context, tx *store.Tx, op Op, queue topology.Queue, key, token string,
	until time.Time, prepared any) (openClaim, error) {
	c, p := callFrom(ctx), auth.FromContext(ctx)
	h := openClaim{item: r.recordOf(p, key)}
	var err error
	if h.effectParameters, err = json.Marshal(prepared); err != nil {
		return openClaim{}, err
	}
	answerKeys, err := r.answerKeys(ctx, key)
	if err != nil {
		return openClaim{}, err
	}
	h.key = answerKeys[0]
	plain, err := json.Marshal(claimSecret{h.key, h.effectParameters})
	if err != nil {
		return openClaim{}, err
	}
	claimKeys, err := r.claimKeys(ctx)
	if err != nil {
		return openClaim{}, err
	}
	sealed, err := sealBody(claimKeys, plain)
	if err != nil {
		return openClaim{}, err
	}
	h.record = storedAnswer{Token: token, Fingerprint: callFingerprint(c),
		Claim: &claim{until, op.ID, c.RequestID, sealed}}
	if err := h.item.Encode(h.record); err != nil {
		return openClaim{}, err
	}
	end := task.Task{
		Message: task.Message{ID: task.ID(ClaimKind, token, 1), Kind: ClaimKind, Queue: queue, Subject: token,
			Owner: p.Owner},
		DueAt: until.Add(claimGrace),
	}
	if err := task.Create(tx, r.now(), end, claimRef{h.item.PK, token}); err != nil {
		return openClaim{}, err
	}
	tx.Claim(h.item, r.now().Unix(), errRepeated, errInProgress)
	tx.Until(until)
	h.item.Version = 1 // as the transaction writes it
	return h, nil
}

// ender finds how a claim ends, and returns a function that adds the end to a transaction.
type ender func(ctx context.Context, h openClaim, find bool) (func(context.Context, *store.Tx, openClaim) error, error)

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
func (r *Router) readClaim(ctx context.Context, ref claimRef) (*openClaim, error) {
	it, err := r.db.Lookup(ctx, store.IDKey(ref.Record))
	if err != nil || it.PK == "" {
		return nil, err
	}
	h := &openClaim{item: it}
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
	plain, err := unsealBody(keys, h.record.Claim.SealedEffect)
	if err != nil {
		return nil, err
	}
	var c claimSecret
	if err := json.Unmarshal(plain, &c); err != nil {
		return nil, err
	}
	h.key, h.effectParameters = c.Key, c.EffectParameters
	return h, nil
}

// SealWith mixes a secret of the system into the keys that encrypt the bodies of remembered answers. Without it, a
// reader of the table could guess the Idempotency-Key of a caller that uses no random ones, and so read the answer. The
// look-up of a record does not depend on it: with another secret a repeat fails, but does not have a second effect.
func (r *Router) SealWith(secret seal.Secret) { r.secret = secret }

// answerKeys returns the keys that encrypt a call's answer. They are derived from the Idempotency-Key, of which only a
// hash is stored: an answer may contain a secret that is shown once, and only a caller who sends the same key may see
// it again.
func (r *Router) answerKeys(ctx context.Context, idempotencyKey string) ([][]byte, error) {
	return r.secret.Keys(ctx, []byte(idempotencyKey), "answer")
}

// claimKeys returns the keys that encrypt claims. They do not depend on the Idempotency-Key, because the task that ends
// the claim of a dead call does not know it.
func (r *Router) claimKeys(ctx context.Context) ([][]byte, error) {
	return r.secret.Keys(ctx, nil, "claim")
}

// sealBody compresses a body, and encrypts it with the first key.
func sealBody(keys [][]byte, body []byte) ([]byte, error) {
	box, err := seal.New(keys...)
	if err != nil {
		return nil, err
	}
	return box.Seal(store.Pack(body), ""), nil
}

// unsealBody decrypts a stored body with one of the keys, and expands it.
func unsealBody(keys [][]byte, data []byte) ([]byte, error) {
	box, err := seal.New(keys...)
	if err != nil {
		return nil, err
	}
	small, err := box.Open(data, "")
	if err != nil {
		return nil, err
	}
	return store.DeflateUnpack(small)
}

// keepSecrets is the time for which a repeat returns a secret.
const keepSecrets = 10 * time.Minute

// Confidential is an answer with a secret that is shown once.
type Confidential interface {
	// Concealed returns the answer without the secret, which was made at the given time, for late repeats.
	Concealed(made resource.Time) any
	// Grants returns the scopes that the secret gives to its holder, in addition to the scope of the operation.
	Grants() []auth.Scope
}

// confidence is the stored data of a Confidential answer, in addition to its body without the secret. The body as it
// was sent is in an item of its own, which expires.
type confidence struct {
	Until  time.Time    `json:"until"`
	Grants []auth.Scope `json:"grants,omitempty"`

	bodyWithoutSecret []byte
}

// conceal returns the stored data of an answer, or nil if it has no secret.
func conceal(ctx context.Context, op Op, data any, now time.Time) (*confidence, error) {
	v, ok := data.(Confidential)
	if !ok {
		return nil, nil
	}
	made := resource.Instant(now)
	a, err := render(ctx, op, v.Concealed(made))
	if err != nil {
		return nil, err
	}
	return &confidence{Until: made.Add(keepSecrets), Grants: v.Grants(), bodyWithoutSecret: a.Body}, nil
}

func wholeKey(record store.Key, token string) store.Key {
	return store.IDKey(partsOf(record, token) + "#secret")
}

// keepWhole adds the item of the body as it was sent.
func keepWhole(tx *store.Tx, it store.Item, token string, until time.Time, sealed []byte) error {
	it.Key, it.ExpireAt, it.Version = wholeKey(it.Key, token), until, 0
	if err := it.Encode(sealed); err != nil {
		return err
	}
	tx.Create(it, nil)
	return nil
}

// reveal replaces the body without the secret by the sealed body as it was sent, as long as it is stored. The caller
// must have the scopes that the secret grants.
func (r *Router) reveal(ctx context.Context, at store.Key, first *storedAnswer) error {
	if first.Secret == nil {
		return nil
	}
	if err := auth.FromContext(ctx).RequireScopes(first.Secret.Grants, ""); err != nil {
		return err
	}
	if !r.now().Before(first.Secret.Until) {
		return nil
	}
	it, err := r.db.Lookup(ctx, wholeKey(at, first.Token))
	if err != nil || it.PK == "" {
		return err
	}
	return it.Decode(&first.SealedBody)
}
