// Package consent asks the owners of accounts at platforms and CRMs for access, by OAuth 2.
//
// A customer's call makes a subject, such as a social account, wait for consent, and gets a link. The link shows its
// visitor who asks for what, notes in a cookie that this browser was shown it, and leads on to the page of the other
// side, which sends the browser to the callback. The callback takes a signed state, once, from that browser only, for
// as long as who asked has the right to; it exchanges the code, lets the owner choose one of several accounts, and
// keeps the grant in a transaction. Start with Flow.
package consent

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
)

const (
	// linkTime is the time in which an owner has to grant access.
	linkTime = 30 * time.Minute
	// exchangeTime bounds the calls of the other side in the callback.
	exchangeTime = 15 * time.Second
	// maxChoices bounds the accounts from which an owner chooses one.
	maxChoices = 100
)

// Flow is the consent flow of one kind of subject.
type Flow struct {
	// Path is the path of the callback. With the parameter link, it is the page that the owner sees first.
	Path string
	// Operation is the operation of the callback in the audit log.
	Operation string
	// Kind is the kind of the items of subjects, and of the browsers of owners in the audit log. Prefix begins the ids
	// of subjects.
	Kind   auth.ActorKind
	Prefix string
	// Cookie begins the names of the cookies, before the id of the subject.
	Cookie string
	// Scope is the scope that who asks for access needs, also when it is granted.
	Scope auth.Scope
	// Read returns the subject that an item of the table holds.
	Read func(it *store.Item) (Subject, error)

	DB     *store.DB
	Audit  httpapi.Recorder // for the ends of authorizations
	Vault  Vault
	Secret seal.Secret // signs states and cookies
	Now    func() time.Time
	Random io.Reader
}

// Vault seals what a callback needs.
type Vault interface {
	Seal(ctx context.Context, o tenant.Owner, id string, value any) ([]byte, error)
	Open(ctx context.Context, o tenant.Owner, id string, sealed []byte, value any) error
}

// Subject is the record of an account at the other side, which waits for consent.
type Subject interface {
	// Pending returns the member with the consent that the record waits for.
	Pending() **authority.Consent
	// Save adds the changed record, which was read as it, to the transaction.
	Save(tx *store.Tx, now time.Time, it store.Item) error
	// Asks returns what the owner is asked for.
	Asks(c Consent) (Asking, error)
	// Address returns the address of the page of the other side that asks its user to grant access.
	Address(ctx context.Context, c Consent, state string) (string, error)
	// Exchange exchanges the code of a callback for the accounts to which it gives access. A platform.Error of the kind
	// Reconnect or BadContent is a refusal, whose message the owner sees.
	Exchange(ctx context.Context, c Consent, callback url.Values) ([]Grant, error)
	// Keep adds to the transaction that the record, which was read as it, is connected. It returns an OtherError if the
	// record cannot take this account.
	Keep(ctx context.Context, tx *store.Tx, it store.Item, c Consent, g Grant) (ConnectedSubject, error)
}

// Asking is what an owner is asked for.
type Asking struct {
	// To is what the access is to, such as "your account on %s", and %s the label. It is a text of texts.tsv.
	To string
	// Label is the name of the other side in its own spelling.
	Label string
	// May lists the rights of the customer afterwards, in whole phrases of texts.tsv.
	May []string
	// Own reports whether the page of the other side names an application of the customer, not the operator's.
	Own bool
}

// OfSocial returns what the owner of a social account is asked for on a platform that takes comments and tells numbers,
// or does not.
func OfSocial(label string, comments, metrics bool) Asking {
	may := []string{"publish on the account in your name"}
	if comments {
		may[0] += ", and comment on these posts"
	}
	may = append(may, "read the name and the picture of the account")
	if metrics {
		may = append(may, "read how often its posts were seen and liked")
	}
	return Asking{To: "your account on %s", Label: label,
		May: append(may, "keep this access until you end it in the settings of %s")}
}

// Grant is an account of the other side to which the owner has given access.
type Grant struct {
	ID     string `json:"id"`
	Name   string `json:"name,omitempty"`
	Handle string `json:"handle,omitempty"`
	// Account is the account with its token, as the subject has encoded it.
	Account json.RawMessage `json:"account"`
}

// ConnectedSubject is a connected subject.
type ConnectedSubject struct {
	ID   string // that of another subject, if that one has the same account
	Name string
	Text string // what happens next, in a whole sentence
}

// OtherError means that a grant is for an account that the subject cannot take. The owner sees its message.
type OtherError struct{ Message string }

// Error returns the message, after the name of the package.
func (e *OtherError) Error() string { return "consent: " + e.Message }

// Consent is what the callback needs. It is sealed for its subject.
type Consent struct {
	Verifier string `json:"verifier,omitempty"`
	Redirect string `json:"redirect"`
	// Return is the page of the customer to which the browser goes at the end, or empty.
	Return string `json:"return,omitempty"`
	// Page reports whether the owner sees the page of the link first.
	Page bool `json:"page,omitempty"`
	// Authority is who asked for the access.
	Authority authority.Authority `json:"authority"`
	// Details are what the subject has noted.
	Details map[string]string `json:"details,omitempty"`
	// Choices are the accounts from which the owner chooses one.
	Choices []Grant `json:"choices,omitempty"`
}

// link returns the address of the page of a state.
func (c Consent) link(state string) string { return c.Redirect + "?" + linkParam + "=" + state }

// Ask makes a subject wait for consent on behalf of the caller, and returns the address of the link. The caller of Ask
// saves the subject. An error of the subject's Address is returned unchanged.
func (f *Flow) Ask(ctx context.Context, o tenant.Owner, id string, s Subject, c Consent) (string, error) {
	verifier := make([]byte, 32)
	if _, err := io.ReadFull(f.Random, verifier); err != nil {
		return "", fmt.Errorf("consent: read randomness: %w", err)
	}
	c.Verifier = base64.RawURLEncoding.EncodeToString(verifier)
	c.Redirect = httpapi.PublicURL(ctx) + f.Path
	c.Authority = authority.Of(auth.FromContext(ctx), f.Scope)
	c.Page = o.Mode == tenant.Live // the sandbox has no owner who could consent
	state, err := f.await(ctx, o, id, s, c)
	if err != nil {
		return "", err
	}
	address, err := s.Address(ctx, c, state)
	if err == nil && c.Page {
		address = c.link(state)
	}
	return address, err
}

// await makes a subject wait for a callback, and returns the state of that callback.
func (f *Flow) await(ctx context.Context, o tenant.Owner, id string, s Subject, c Consent) (string, error) {
	st := state{subject: id, nonce: make([]byte, nonceBytes), until: f.Now().Add(linkTime)}
	if _, err := io.ReadFull(f.Random, st.nonce); err != nil {
		return "", fmt.Errorf("consent: read randomness: %w", err)
	}
	sealed, err := f.Vault.Seal(ctx, o, id, c)
	if err != nil {
		return "", err
	}
	*s.Pending() = &authority.Consent{Nonce: st.hash(), Until: st.until, SealedCallback: sealed}
	return st.sign(ctx, f.Secret)
}

// Before returns a handler that serves the path of the flow, and passes all other requests on.
func (f *Flow) Before(others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == f.Path {
			f.ServeHTTP(w, req)
		} else {
			others.ServeHTTP(w, req)
		}
	})
}

// ServeHTTP serves the callback and the page of a link, which need no key.
func (f *Flow) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	ctx, q, began := req.Context(), req.URL.Query(), f.Now()
	link, read := q.Has(linkParam), req.Method == http.MethodGet
	var p page
	switch {
	case link && (read || req.Method == http.MethodHead):
		p = f.link(ctx, q.Get(linkParam))
	case link:
		p = wrongMethod
		w.Header().Set("Allow", http.MethodGet+", "+http.MethodHead)
	case read:
		p = f.callback(ctx, q, req)
		f.record(ctx, p, began)
	default:
		p = wrongMethod
		w.Header().Set("Allow", http.MethodGet)
	}
	p.write(w, req)
}

// idleVisits bounds the entries of visits that use up no link, and so can be repeated.
var idleVisits = quota.Limit{Name: "callback", Most: 10, Window: time.Hour}

// record writes the end of an authorization to the audit log of its customer. The entry has no part of the query.
func (f *Flow) record(ctx context.Context, p page, began time.Time) {
	if p.of == nil {
		return
	}
	owner, id, g, now := p.of.it.Owner, p.of.state.subject, httpapi.GatewayOf(ctx), f.Now()
	ctx = context.WithoutCancel(ctx)
	if p.code == failedExpired || p.code == failedUsed || p.code == failedElsewhere {
		if _, err := idleVisits.Begin(ctx, f.DB, now, owner, id); err != nil {
			slog.Warn("visit of a callback not in the audit log", "subject", id, "code", p.code, "error", err)
			return
		}
	}
	if !g.ReceivedAt.IsZero() {
		began = g.ReceivedAt
	}
	err := f.Audit.Record(ctx, httpapi.Call{
		RequestID: g.RequestID, Principal: &auth.Principal{Owner: owner,
			Actor: auth.Actor{Kind: f.Kind, ID: id}},
		OperationID: f.Operation, Method: http.MethodGet, Path: f.Path, Status: p.Status, ErrorCode: p.code,
		IP: g.SourceIP, UserAgent: g.UserAgent, At: began, Latency: now.Sub(began),
	})
	if err != nil {
		slog.Error("audit entry lost", "request_id", g.RequestID, "operation_id", f.Operation,
			"subject", id, "error", err)
	}
}

// statePurpose is the purpose of the keys that sign states.
const statePurpose = "consent-state"

// nonceBytes is the length of the nonce in a state.
const nonceBytes = 16

// The refusals of a state. The record of the subject tells whether a state was used or replaced.
var (
	errForged  = errors.New("consent: the state was not made here")
	errUsed    = errors.New("consent: the state was used or replaced")
	errExpired = errors.New("consent: the state has expired")
)

// state is the parameter state of an authorization. It names the subject, is signed, is used once, and expires.
type state struct {
	subject string
	nonce   []byte
	until   time.Time
}

// hash returns the hash of the nonce, which is stored in place of the nonce.
func (s state) hash() []byte {
	sum := sha256.Sum256(s.nonce)
	return sum[:]
}

// sign returns the state as text: its members and their signature, divided by dots.
func (s state) sign(ctx context.Context, secret seal.Secret) (string, error) {
	keys, err := secret.Keys(ctx, nil, statePurpose)
	if err != nil {
		return "", err
	}
	signed := strings.Join([]string{s.subject, strconv.FormatInt(s.until.Unix(), 36),
		base64.RawURLEncoding.EncodeToString(s.nonce)}, ".")
	return signed + "." + signature(keys[0], signed), nil
}

// readState returns the state of a text, whose subject has an id with the prefix. It returns errForged or errExpired
// for a text that is not valid.
func readState(ctx context.Context, secret seal.Secret, prefix, text string, now time.Time) (s state, err error) {
	keys, err := secret.Keys(ctx, nil, statePurpose)
	if err != nil {
		return s, err
	}
	at := strings.LastIndexByte(text, '.')
	if at < 0 {
		return s, errForged
	}
	signed, good := text[:at], false
	for _, key := range keys {
		good = good || hmac.Equal([]byte(signature(key, signed)), []byte(text[at+1:]))
	}
	parts := strings.Split(signed, ".")
	if !good || len(parts) != 3 || !id.Valid(prefix, parts[0]) {
		return s, errForged
	}
	seconds, err := strconv.ParseInt(parts[1], 36, 64)
	if err != nil {
		return s, errForged
	}
	if s.nonce, err = base64.RawURLEncoding.DecodeString(parts[2]); err != nil {
		return s, errForged
	}
	s.subject, s.until = parts[0], time.Unix(seconds, 0)
	if !now.Before(s.until) {
		return s, errExpired
	}
	return s, nil
}

func signature(key []byte, signed string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(signed))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
