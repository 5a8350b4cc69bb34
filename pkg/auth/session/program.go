package session

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/store"
)

// The lifetimes of what programs of others hold (OAuth 2.1).
const (
	// CodeLifetime is the time within which a program redeems a code.
	CodeLifetime = time.Minute
	// AccessLifetime is the life of an access token.
	AccessLifetime = time.Hour
	// RefreshLifetime is the time within which a refresh token is used. Each use makes a new one.
	RefreshLifetime = 30 * 24 * time.Hour
	// Grace is the time within which a code or a refresh token that was used gets the same tokens again: the answer to
	// the first request may have been lost, and several processes of a program may use one token at once.
	Grace = time.Minute
	// ProgramLifetime is the time for which a registered program is kept that nobody has connected.
	ProgramLifetime = 24 * time.Hour
)

// registrationsAnHour bounds the programs that one network registers in an hour: an address of IPv4, or the 64 bits of
// IPv6 that one line has. siteRegistrationsAnHour bounds those of the 48 bits of IPv6 that one customer of a provider
// may have. Services that run agents register a program for each connection, all from a few addresses. There is no
// bound of all: strangers would fill it, and nobody else could connect a program.
const registrationsAnHour, siteRegistrationsAnHour = 200, 1000

// The errors of programs.
var (
	// ErrProgram is returned for a program that is not registered.
	ErrProgram = errors.New("session: no such program")
	// ErrRegistrations is returned if a network has registered too many programs in this hour.
	ErrRegistrations = errors.New("session: too many programs were registered")
	// ErrGrant is returned for a code or a token that is unknown, expired, or of another program.
	ErrGrant = errors.New("session: the code or the token is wrong")
	// ErrReused is returned for a code or a refresh token that was used before Grace: somebody else may have it, so
	// that the caller ends the grant.
	ErrReused = errors.New("session: the code or the token was used before")
)

// Program is a program of others that people can connect: one that was registered (RFC 7591), or one whose ID is the
// address of a document that describes it.
type Program struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Redirects []string  `json:"redirects"`
	MadeAt    time.Time `json:"made_at"`
}

// Grant is a program that a person has connected. An API key, whose secret nobody knows, has its rights: the access
// tokens stand for it, and end with it.
type Grant struct {
	KeyID   string         `json:"key_id"`
	Program string         `json:"program"`
	Name    string         `json:"name"`
	By      string         `json:"by"`
	Account tenant.Account `json:"account"`
	Mode    tenant.Mode    `json:"mode"`
	Scopes  []auth.Scope   `json:"scopes"`
	At      time.Time      `json:"at"`
	UsedAt  time.Time      `json:"used_at"`
}

// TokenSet are the tokens that a program gets.
type TokenSet struct {
	Grant
	Access, Refresh string
	// AccessEndsAt is the end of the access token.
	AccessEndsAt time.Time
}

// storedCode is the stored form of a code and of a refresh token, whose hash is its key.
type storedCode struct {
	KeyID   string    `json:"key_id"`
	Program string    `json:"program"`
	EndsAt  time.Time `json:"ends_at"`
	Used    bool      `json:"used,omitempty"`
	// Salt makes the tokens of the answer again, with the used token. It is empty if the token got none. UsedAt is the
	// time of the use.
	Salt   []byte    `json:"salt,omitempty"`
	UsedAt time.Time `json:"used_at,omitzero"`
	// Redirect and Challenge are those of a code.
	Redirect  string `json:"redirect,omitempty"`
	Challenge string `json:"challenge,omitempty"`
}

// The kinds of items of programs.
const (
	ProgramKind = "program"
	GrantKind   = "program_grant"
	SpentKind   = "program_token"
)

func programKey(id string) store.Key {
	if IsDocument(id) {
		id = web.HashBearer(id)
	}
	return store.IDKey("program#" + id)
}

func grantKey(keyID string) store.Key  { return store.IDKey("grant#" + keyID) }
func spentKey(token string) store.Key  { return store.IDKey("spent#" + web.HashBearer(token)) }
func grantsOf(personID string) string  { return "grants#" + personID }
func grantOwner(g *Grant) tenant.Owner { return tenant.Of(g.Account, g.Mode) }

// Register keeps a program, and returns it with its id. The address is that of the caller.
func (s *Store) Register(ctx context.Context, p Program, address string) (Program, error) {
	now := s.now().UTC()
	p.ID, p.MadeAt = "prg_"+rand.Text(), now
	doc, err := json.Marshal(p)
	if err != nil {
		return p, fmt.Errorf("session: encode program: %w", err)
	}
	tx := &store.Tx{}
	s.countProgram(tx, address)
	tx.Create(store.Item{Key: programKey(p.ID), Kind: ProgramKind, Doc: doc, ExpireAt: now.Add(ProgramLifetime)}, nil)
	if err := s.db.Commit(ctx, tx); err != nil {
		return p, fmt.Errorf("session: register: %w", err)
	}
	return p, nil
}

// countProgram counts a program that an address has brought.
func (s *Store) countProgram(tx *store.Tx, address string) {
	hour := s.now().UTC().Truncate(time.Hour)
	for network, most := range networks(address) {
		tx.CountUntil(store.IDKey("programs#"+web.HashBearer(network)+"#"+hour.Format("2006-01-02T15")), 1,
			most, hour.Add(2*time.Hour), ErrRegistrations)
	}
}

// networks returns the networks of an address, with the programs that each may register in an hour. What is no address
// counts as it is.
func networks(address string) map[string]int64 {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return map[string]int64{address: registrationsAnHour}
	}
	if a = a.Unmap().WithZone(""); a.Is4() {
		return map[string]int64{a.String(): registrationsAnHour}
	}
	return map[string]int64{netip.PrefixFrom(a, 64).Masked().String(): registrationsAnHour,
		netip.PrefixFrom(a, 48).Masked().String(): siteRegistrationsAnHour}
}

// Program returns a registered program. It returns ErrProgram if there is none.
func (s *Store) Program(ctx context.Context, id string) (p Program, err error) {
	_, err = s.decode(ctx, programKey(id), &p, ErrProgram)
	return p, err
}

// decode reads an item that has not expired into v. It returns missing if there is none.
func (s *Store) decode(ctx context.Context, key store.Key, v any, missing error) (store.Item, error) {
	it, err := s.db.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) || err == nil && !it.ExpireAt.IsZero() && !s.now().Before(it.ExpireAt) {
		return it, missing
	}
	if err != nil {
		return it, fmt.Errorf("session: read: %w", err)
	}
	return it, it.Decode(v)
}

// Permit keeps a grant, and returns the code by which the program that knows the verifier of the challenge gets its
// tokens. A registered program is kept for as long as people may use it; of one with a document, the grant has the
// name.
func (s *Store) Permit(ctx context.Context, g Grant, redirect, challenge string) (code string, err error) {
	tx := &store.Tx{}
	if !IsDocument(g.Program) {
		var p Program
		it, err := s.decode(ctx, programKey(g.Program), &p, ErrProgram)
		if err != nil {
			return "", err
		}
		it.ExpireAt, g.Name = time.Time{}, p.Name
		tx.Replace(it)
	}
	now := s.now().UTC()
	code, g.At, g.UsedAt = rand.Text()+rand.Text(), now, now
	doc, err := json.Marshal(g)
	if err != nil {
		return "", fmt.Errorf("session: encode grant: %w", err)
	}
	tx.Create(store.Item{Key: grantKey(g.KeyID), Kind: GrantKind, Doc: doc, Owner: grantOwner(&g),
		Parent: store.Key{PK: grantsOf(g.By), SK: g.KeyID}}, nil)
	err = s.keepGrant(&g, tx, code, storedCode{KeyID: g.KeyID, Program: g.Program, EndsAt: now.Add(CodeLifetime),
		Redirect:  redirect,
		Challenge: challenge})
	if err != nil {
		return "", err
	}
	if err := s.db.Commit(ctx, tx); err != nil {
		return "", fmt.Errorf("session: permit: %w", err)
	}
	return code, nil
}

// keepGrant keeps a code or a refresh token. A used one is kept, too, so that a second use is noticed.
func (s *Store) keepGrant(g *Grant, tx *store.Tx, token string, of storedCode) error {
	doc, err := json.Marshal(of)
	if err != nil {
		return fmt.Errorf("session: encode token: %w", err)
	}
	tx.Create(store.Item{Key: spentKey(token), Kind: SpentKind, Doc: doc, Owner: grantOwner(g),
		ExpireAt: s.now().Add(RefreshLifetime + 24*time.Hour)}, nil)
	return nil
}

// Withdraw ends an access token, or returns the grant of a refresh token for the caller to end (RFC 7009). An unknown
// token is no error; one of another program returns ErrGrant.
func (s *Store) Withdraw(ctx context.Context, program, token string) (g *Grant, err error) {
	var of storedCode
	_, err = s.decode(ctx, spentKey(token), &of, ErrGrant)
	access := ""
	if errors.Is(err, ErrGrant) {
		c, err := credential.Find(ctx, s.db, auth.HashKey(token))
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("session: read credential: %w", err)
		}
		of.KeyID, access = c.KeyID, c.Hash
	} else if err != nil {
		return nil, err
	}
	var found Grant
	if _, err := s.decode(ctx, grantKey(of.KeyID), &found, ErrGrant); err != nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare([]byte(found.Program), []byte(program)) != 1 {
		return nil, ErrGrant
	}
	if access == "" {
		return &found, nil
	}
	tx := &store.Tx{}
	credential.Revoke(tx, access, s.now())
	return nil, s.db.Commit(ctx, tx)
}

// Grant returns a grant by its key. It returns ErrGrant if there is none.
func (s *Store) Grant(ctx context.Context, keyID string) (g Grant, err error) {
	_, err = s.decode(ctx, grantKey(keyID), &g, ErrGrant)
	return g, err
}

// Grants returns the programs that a person has connected, the one that was used last first.
func (s *Store) Grants(ctx context.Context, personID string) (all []Grant, err error) {
	q := store.Query{Index: store.ByParent, Partition: grantsOf(personID), Limit: 100}
	err = s.db.Each(ctx, q, func(it store.Item) error {
		g, err := s.Grant(ctx, it.Parent.SK) // the index is late, and has no documents
		if err == nil {
			all = append(all, g)
		}
		if errors.Is(err, ErrGrant) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("session: list grants: %w", err)
	}
	slices.SortFunc(all, func(a, b Grant) int { return b.UsedAt.Compare(a.UsedAt) })
	return all, nil
}

// Forget removes a grant whose key was revoked. One that does not exist any more is no error.
func (s *Store) Forget(ctx context.Context, keyID string) error {
	var g Grant
	it, err := s.decode(ctx, grantKey(keyID), &g, ErrGrant)
	if errors.Is(err, ErrGrant) {
		return nil
	}
	if err != nil {
		return err
	}
	tx := &store.Tx{}
	tx.Delete(it)
	if err := s.db.Commit(ctx, tx); err != nil && !errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("session: forget grant: %w", err)
	}
	return nil
}

// Tokens returns the tokens for a code of a program, which works once, and within Grace once more for the same answer.
func (s *Store) Tokens(ctx context.Context, program, code, redirect, verifier string) (TokenSet, error) {
	return s.spend(ctx, program, code, func(of storedCode) bool {
		return of.Challenge != "" && subtle.ConstantTimeCompare([]byte(redirect), []byte(of.Redirect)) == 1 &&
			subtle.ConstantTimeCompare([]byte(Challenge(verifier)), []byte(of.Challenge)) == 1
	}, nil)
}

// Renew returns new tokens for a refresh token, which works once, and within Grace once more for the same answer. The
// function may reports whether the person may still grant what they have granted.
func (s *Store) Renew(ctx context.Context, program, token string,
	may func(context.Context, Grant) (bool, error)) (TokenSet, error) {
	return s.spend(ctx, program, token, func(of storedCode) bool { return of.Challenge == "" }, may)
}

// spend uses a code or a refresh token up, and issues new tokens. Whatever is wrong with it, it works no more. If it
// was used before Grace, the grant is returned with ErrReused. Of requests at the same time one uses it up, and the
// others get the same tokens.
func (s *Store) spend(ctx context.Context, program, token string, fits func(storedCode) bool,
	may func(context.Context, Grant) (bool, error)) (out TokenSet, err error) {
	err = store.Retry(func() error {
		out, err = s.spendOnce(ctx, program, token, fits, may)
		return err
	})
	return out, err
}

// spendOnce is spend without repetition. It returns store.ErrConflict if another request has changed something at the
// same time.
func (s *Store) spendOnce(ctx context.Context, program, token string, fits func(storedCode) bool,
	may func(context.Context, Grant) (bool, error)) (out TokenSet, err error) {
	var of storedCode
	it, err := s.decode(ctx, spentKey(token), &of, ErrGrant)
	if err != nil {
		return out, err
	}
	// A program that shows a code or a token of another learns nothing, and ends nothing.
	if subtle.ConstantTimeCompare([]byte(of.Program), []byte(program)) != 1 {
		return out, ErrGrant
	}
	grant, err := s.decode(ctx, grantKey(of.KeyID), &out.Grant, ErrGrant)
	if err != nil {
		return out, err
	}
	now := s.now()
	again := of.Used
	if again && (len(of.Salt) == 0 || !now.Before(of.UsedAt.Add(Grace)) || !fits(of)) {
		return out, ErrReused
	}
	good := again || now.Before(of.EndsAt) && fits(of)
	if good && may != nil {
		if good, err = may(ctx, out.Grant); err != nil {
			return out, err
		}
	}
	var base *credential.Credential
	if good {
		if base, good, err = s.lender(ctx, &out.Grant); err != nil {
			return out, err
		}
	}
	switch {
	case again && !good:
		return out, ErrGrant
	case again:
		return out, s.compose(&out, base, token, of)
	}
	tx := &store.Tx{}
	if of.Used = true; good {
		of.Salt, of.UsedAt = []byte(rand.Text()), now.UTC()
		if err := s.issue(tx, &out, base, grant, token, of); err != nil {
			return out, err
		}
	}
	if err := tx.Rewrite(it, of); err != nil {
		return out, err
	}
	if err := s.db.Commit(ctx, tx); err != nil {
		return out, fmt.Errorf("session: issue tokens: %w", err)
	}
	if !good {
		return out, ErrGrant
	}
	return out, nil
}

// lender returns the credential of the key of a grant. It returns false if the key has ended.
func (s *Store) lender(ctx context.Context, g *Grant) (*credential.Credential, bool, error) {
	holder, err := s.db.Get(ctx, credential.KeyOf(g.Account, g.KeyID))
	if errors.Is(err, store.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("session: read key: %w", err)
	}
	base, err := credential.Find(ctx, s.db, holder.Attributes[credential.SecretAttribute])
	if errors.Is(err, store.ErrNotFound) || err == nil && base.Ended(s.now()) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("session: read credential: %w", err)
	}
	return base, true, nil
}

// compose sets the tokens that follow a used code or refresh token, and the scopes that they have now. The tokens are
// derived from the used one, which only its program knows, and a salt, which only the store knows: so they can be
// answered again, and what is stored tells neither.
func (s *Store) compose(out *TokenSet, base *credential.Credential, token string, of storedCode) error {
	derived := func(purpose string) ([]byte, error) {
		return hkdf.Key(sha256.New, []byte(token), of.Salt, "program "+purpose, 64)
	}
	access, err := derived("access")
	if err != nil {
		return fmt.Errorf("session: derive token: %w", err)
	}
	refresh, err := derived("refresh")
	if err != nil {
		return fmt.Errorf("session: derive token: %w", err)
	}
	if out.Access, err = auth.NewKey(out.Mode, bytes.NewReader(access)); err != nil {
		return err
	}
	out.Refresh = base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(refresh[:32])
	out.AccessEndsAt = of.UsedAt.Add(AccessLifetime)
	// The key may have been narrowed since: the answer names what the token permits now.
	out.Scopes = slices.DeleteFunc(slices.Clone(out.Scopes), func(s auth.Scope) bool {
		return !slices.Contains(base.Scopes, string(s))
	})
	for _, s := range base.Scopes {
		if !slices.Contains(out.Scopes, auth.Scope(s)) {
			out.Scopes = append(out.Scopes, auth.Scope(s))
		}
	}
	return nil
}

// issue adds new tokens of a grant to the transaction.
func (s *Store) issue(tx *store.Tx, out *TokenSet, base *credential.Credential, grant store.Item, token string,
	of storedCode) error {
	out.UsedAt = of.UsedAt
	if err := tx.Rewrite(grant, out.Grant); err != nil {
		return err
	}
	if err := s.compose(out, base, token, of); err != nil {
		return err
	}
	credential.Lend(tx, auth.HashKey(out.Access), base, out.AccessEndsAt, out.By)
	return s.keepGrant(&out.Grant, tx, out.Refresh, storedCode{KeyID: out.KeyID, Program: out.Program,
		EndsAt: s.now().Add(RefreshLifetime)})
}

// DocumentLifetime is the longest time for which the document of a program is kept, whatever its headers say.
const DocumentLifetime = 24 * time.Hour

// IsDocument reports whether the id of a program is the address of a document that describes it.
func IsDocument(id string) bool { return strings.HasPrefix(id, "https://") }

// Document returns the program of a document that is kept and fresh. It returns ErrProgram if there is none.
func (s *Store) Document(ctx context.Context, id string) (p Program, err error) {
	_, err = s.decode(ctx, programKey(id), &p, ErrProgram)
	return p, err
}

// CountDocument counts a document that is fetched because a browser at the address has asked for it. It returns
// ErrRegistrations if its network has brought too many programs in this hour.
func (s *Store) CountDocument(ctx context.Context, address string) error {
	tx := &store.Tx{}
	s.countProgram(tx, address)
	if err := s.db.Commit(ctx, tx); err != nil {
		return fmt.Errorf("session: count document: %w", err)
	}
	return nil
}

// KeepDocument keeps the program of a document for a time.
func (s *Store) KeepDocument(ctx context.Context, p Program, fresh time.Duration) error {
	doc, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("session: encode program: %w", err)
	}
	tx := &store.Tx{}
	it, err := s.db.Get(ctx, programKey(p.ID))
	switch {
	case errors.Is(err, store.ErrNotFound):
		tx.Create(store.Item{Key: programKey(p.ID), Kind: ProgramKind, Doc: doc,
			ExpireAt: s.now().Add(min(fresh, DocumentLifetime))}, store.ErrConflict)
	case err != nil:
		return fmt.Errorf("session: read document: %w", err)
	default:
		it.Doc, it.ExpireAt = doc, s.now().Add(min(fresh, DocumentLifetime))
		tx.Replace(it)
	}
	// Of two requests at the same time, either has read the document.
	if err := s.db.Commit(ctx, tx); err != nil && !errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("session: keep document: %w", err)
	}
	return nil
}

// WishLifetime is the time for which what a program asks for waits for the person.
const WishLifetime = 30 * time.Minute

func wishKey(id string) store.Key { return store.IDKey("wish#" + web.HashBearer(id)) }

// KeepWish keeps what a program asks for until the person decides, and returns its id. It counts like a program of the
// address.
func (s *Store) KeepWish(ctx context.Context, values, address string) (string, error) {
	id := rand.Text()
	doc, err := json.Marshal(values)
	if err != nil {
		return "", fmt.Errorf("session: encode wish: %w", err)
	}
	tx := &store.Tx{}
	s.countProgram(tx, address)
	tx.Create(store.Item{Key: wishKey(id), Kind: ProgramKind, Doc: doc, ExpireAt: s.now().Add(WishLifetime)}, nil)
	if err := s.db.Commit(ctx, tx); err != nil {
		return "", fmt.Errorf("session: keep wish: %w", err)
	}
	return id, nil
}

// Wish returns what a program asks for. It returns ErrProgram if it is not kept any more.
func (s *Store) Wish(ctx context.Context, id string) (values string, err error) {
	_, err = s.decode(ctx, wishKey(id), &values, ErrProgram)
	return values, err
}

func formKey(id string) store.Key { return store.IDKey("form#" + web.HashBearer(id)) }

// KeepForm keeps a sealed form until its person has signed in again, and returns its id.
func (s *Store) KeepForm(ctx context.Context, sealed []byte) (string, error) {
	id := rand.Text()
	doc, err := json.Marshal(sealed)
	if err != nil {
		return "", fmt.Errorf("session: encode form: %w", err)
	}
	tx := &store.Tx{}
	tx.Create(store.Item{Key: formKey(id), Kind: ProgramKind, Doc: doc, ExpireAt: s.now().Add(WishLifetime)}, nil)
	if err := s.db.Commit(ctx, tx); err != nil {
		return "", fmt.Errorf("session: keep form: %w", err)
	}
	return id, nil
}

// Form returns a form that is kept, or ErrProgram.
func (s *Store) Form(ctx context.Context, id string) (sealed []byte, err error) {
	_, err = s.decode(ctx, formKey(id), &sealed, ErrProgram)
	return sealed, err
}

// Source returns the host of the document that describes the program of a grant, or an empty text.
func (g Grant) Source() string {
	u, err := url.Parse(g.Program)
	if err != nil || !IsDocument(g.Program) {
		return ""
	}
	return u.Host // which is ASCII
}
