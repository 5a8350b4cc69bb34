// Package credential stores the data of an API key that the authorizer needs, by the hash of the key's secret, and
// counts the calls of each minute. Start with Credential and Counter.
package credential

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// Credential is a secret's record. Data of the account is copied into it, so that one round trip reads everything. A
// change of the account rewrites the copies.
type Credential struct {
	Hash  string
	KeyID string
	tenant.Owner
	Plan   string
	Scopes []string
	// Role is the role of a person. The credential of a person has the hash auth.Subject.
	Role string
	// KeyIPs and AccountIPs are CIDRs; an empty list permits every address.
	KeyIPs, AccountIPs []string
	// Profiles are the profiles that the key is bound to. Empty means the whole account.
	Profiles []tenant.Profile
	// Limit is the number of calls a minute.
	Limit int
	// SpendLimit is the number of credits per calendar month. Nil means no limit.
	SpendLimit *int64
	// Mandate is the mandate of the key. Nil means none.
	Mandate *auth.Mandate
	// Makers are the keys that have made the key, from its maker on, with their limits. ChangeMakers changes them.
	Makers []auth.KeyLimit
	// ExpiresAt is the time at which the key ends. The zero time means never.
	ExpiresAt time.Time
	// Revoked keys are kept, so that calls with them are known and audited.
	Revoked bool
	// MovedTo is the hash of the key's new secret after a rotation. Until UntilAt the old secret counts for the new one
	// and has its permissions.
	MovedTo string
	UntilAt time.Time
	// From is the hash of the secret that this one has replaced. Calls that were counted for it in the minute of the
	// rotation count for this one.
	From string
	// LentBy is the person who has lent the secret to a program, or empty. It ends with the person.
	LentBy string
	// Count is the number of calls in the current minute, including this one.
	Count int
	// OverFrom is the count from which on the account has reached its ceiling in this minute. 0 means that it has not.
	OverFrom int
	// TicketKey seals the tickets of calls that were counted.
	TicketKey string
}

// Ended reports whether the secret may no longer be used at the given time.
func (c *Credential) Ended(now time.Time) bool {
	ended := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	return c.Revoked || ended(c.ExpiresAt) || ended(c.UntilAt)
}

const (
	kind = "secret"

	// Attributes of a credential's item.
	keyID      = "key_id"
	plan       = "plan"
	scopes     = "scopes"
	role       = "role"
	keyIPs     = "key_ips"
	accountIPs = "account_ips"
	profiles   = "profiles"
	makers     = "makers"
	mandate    = "mandate"
	revoked    = "revoked"
	movedTo    = "moved_to"
	from       = "from"
	lentBy     = "lent_by"
	lastCall   = "last_call"
	ticketKey  = "ticket_key" // by which tickets are made
	// Numbers of a credential's item. Times are in milliseconds since 1970.
	limit   = "limit"
	spend   = "spend_limit"
	expires = "expires"
	until   = "until"
	window  = "window"
	calls   = "calls"
	// The number of calls that were refused, except for the rate limit.
	refused = "refused"
	// The window in which the account reached its ceiling, and the count at that time.
	over     = "over"
	overFrom = "over_from"
	// The window and the number of calls with a secret that has ended.
	turnedWindow = "turned_window"
	turned       = "turned"

	// Attributes of the key's own item that the first call of a minute writes.
	lastUsedAt = "used_at"
	lastUsedIP = "used_ip"
)

// LastUsed returns the time and the address of a key's last use from its item, exact to the minute: only the first call
// of a minute is written there.
func LastUsed(it *store.Item) (at time.Time, ip string) {
	at, _ = time.Parse(time.RFC3339, it.Attributes[lastUsedAt])
	return at, it.Attributes[lastUsedIP]
}

// KeyOf returns the key of the item of an API key or of a person. All keys of an account share a partition, so that a
// change of the account reliably finds each of them. So do all people.
func KeyOf(account tenant.Account, holder string) store.Key {
	if id.Valid(id.Person, holder) {
		return store.Key{PK: People(account), SK: holder}
	}
	return store.Key{PK: Keys(account), SK: holder}
}

// People is the partition of store.Table that lists the people of an account.
func People(account tenant.Account) string { return "people#" + string(account) }

// Keys is the partition of store.Table that lists an account's API keys.
func Keys(account tenant.Account) string { return "keys#" + string(account) }

// Secrets is the partition of an API key's secret with the given hash.
func Secrets(hash string) string { return "secret#" + hash }

// Usages is the partition of store.Table of the calls of a key on a day.
func Usages(keyAndDay string) string { return "usage#" + keyAndDay }

// Counts is the partition of the calls of an account and mode in a minute.
func Counts(ownerAndMinute string) string { return "calls#" + ownerAndMinute }

func key(hash string) store.Key { return store.IDKey(Secrets(hash)) }

// texts and numbers return the stored fields of a credential. Empty ones are not written.
func (c *Credential) texts() map[string]string {
	ended := ""
	if c.Revoked {
		ended = "true"
	}
	return map[string]string{
		keyID: c.KeyID, plan: c.Plan, movedTo: c.MovedTo, revoked: ended, scopes: strings.Join(c.Scopes, " "),
		role: c.Role, keyIPs: strings.Join(c.KeyIPs, " "), accountIPs: strings.Join(c.AccountIPs, " "),
		profiles: joined(c.Profiles), mandate: formatMandate(c.Mandate),
	}
}

func joined(all []tenant.Profile) string {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = string(p)
	}
	return strings.Join(names, " ")
}

func (c *Credential) numbers() map[string]int64 {
	n := map[string]int64{limit: int64(c.Limit)}
	if c.SpendLimit != nil {
		n[spend] = *c.SpendLimit
	}
	for name, at := range map[string]time.Time{expires: c.ExpiresAt, until: c.UntilAt} {
		if !at.IsZero() {
			n[name] = at.UnixMilli()
		}
	}
	return n
}

// Create adds a new credential to the transaction.
func Create(tx *store.Tx, c Credential) { tx.Create(c.item(), nil) }

// Readmit replaces the credential of a person who was removed by one with another holder. The item is as it was read.
func Readmit(tx *store.Tx, ended store.Item, c Credential) {
	it := c.item()
	it.Version = ended.Version
	tx.Replace(it)
}

func (c *Credential) item() store.Item {
	it := store.Item{Key: key(c.Hash), Kind: kind, Owner: c.Owner, Attributes: map[string]string{},
		Numbers: c.numbers()}
	for name, value := range c.texts() {
		if value != "" {
			it.Attributes[name] = value
		}
	}
	if c.From != "" {
		it.Attributes[from] = c.From
	}
	if len(c.Makers) > 0 {
		it.Attributes[makers] = formatMakers(c.Makers)
	}
	return it
}

// ChangeMakers rewrites the limits of the keys that have made the key of a credential.
func ChangeMakers(tx *store.Tx, hash string, all []auth.KeyLimit) {
	u := expression.Set(store.Attribute(makers), expression.Value(formatMakers(all)))
	tx.Update(key(hash), u, store.Exists, store.Conflict)
}

// formatMandate writes a mandate as JSON, or as an empty text without one.
func formatMandate(m *auth.Mandate) string {
	if m == nil {
		return ""
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("credential: mandate %s: %v", m.ID, err)) // its members are texts, numbers and a time
	}
	return string(text)
}

// parseMandate reads a mandate. One that cannot be read permits nothing.
func parseMandate(text string) *auth.Mandate {
	if text == "" {
		return nil
	}
	m := &auth.Mandate{}
	if err := json.Unmarshal([]byte(text), m); err != nil {
		return &auth.Mandate{ID: m.ID, Until: &time.Time{}}
	}
	return m
}

// formatMakers writes the makers as words such as key_1=5, or key_1= without a limit. A maker with a mandate has that
// as a third part, in base64.
func formatMakers(all []auth.KeyLimit) string {
	words := make([]string, len(all))
	for i, maker := range all {
		words[i] = maker.Key + "="
		if maker.Limit != nil {
			words[i] += strconv.FormatInt(*maker.Limit, 10)
		}
		if maker.Mandate != nil {
			words[i] += "=" + base64.RawURLEncoding.EncodeToString([]byte(formatMandate(maker.Mandate)))
		}
	}
	return strings.Join(words, " ")
}

func parseMakers(words string) (all []auth.KeyLimit) {
	for word := range strings.FieldsSeq(words) {
		id, rest, _ := strings.Cut(word, "=")
		limit, mandated, has := strings.Cut(rest, "=")
		maker := auth.KeyLimit{Key: id}
		if n, err := strconv.ParseInt(limit, 10, 64); err == nil {
			maker.Limit = &n
		}
		if has {
			text, _ := base64.RawURLEncoding.DecodeString(mandated) // a mandate that cannot be read permits nothing
			maker.Mandate = parseMandate(cmp.Or(string(text), "?"))
		}
		all = append(all, maker)
	}
	return all
}

// Change writes all fields of a credential, except its counts and their origin, and its makers.
func Change(tx *store.Tx, c Credential) {
	var u expression.UpdateBuilder
	for name, value := range c.texts() {
		u = set(u, store.Attribute(name), value)
	}
	numbers := c.numbers()
	for _, name := range []string{limit, spend, expires, until} {
		if value, ok := numbers[name]; ok {
			u = u.Set(store.Number(name), expression.Value(value))
		} else {
			u = u.Remove(store.Number(name))
		}
	}
	tx.Update(key(c.Hash), u, store.Exists, store.Conflict)
}

// set sets a text, or removes it if it is empty.
func set(u expression.UpdateBuilder, name expression.NameBuilder, value string) expression.UpdateBuilder {
	if value == "" {
		return u.Remove(name)
	}
	return u.Set(name, expression.Value(value))
}

// SecretAttribute is the attribute of a key's item that has the hash of its secret.
const SecretAttribute = "secret"

// Keep is the time for which an ended credential stays known, for the audit log, which is kept for as long.
const Keep = 90 * 24 * time.Hour

// Revoke ends a credential at once. It stays known for a while.
func Revoke(tx *store.Tx, hash string, now time.Time) {
	u := expression.Set(store.Attribute(revoked), expression.Value("true"))
	tx.Update(key(hash), store.Expires(u, now.Add(Keep)), store.Exists, store.Conflict)
}

// Move makes a credential stand for another until the given time. After that it stays known for a while.
func Move(tx *store.Tx, hash, to string, at time.Time) {
	u := expression.Set(store.Attribute(movedTo), expression.Value(to)).Set(store.Number(until),
		expression.Value(at.UnixMilli()))
	tx.Update(key(hash), store.Expires(u, at.Add(Keep)), store.Exists, store.Conflict)
}

// Lend creates a secret that stands for a credential until the given time, and ends with it and with the person who
// lends it. It can do less, as an earlier secret can, and nothing that the person may not do.
func Lend(tx *store.Tx, hash string, of *Credential, until time.Time, personID string) {
	lent := Credential{Hash: hash, KeyID: of.KeyID, Owner: of.Owner, MovedTo: of.Hash, UntilAt: until}
	it := lent.item()
	it.Attributes[lentBy] = personID
	it.ExpireAt = until.Add(Keep)
	tx.Create(it, nil)
}

// ChangeRole rewrites the role and the scopes of a person's credential.
func ChangeRole(tx *store.Tx, hash string, to auth.Role) {
	u := set(expression.Set(store.Attribute(role), expression.Value(string(to))), store.Attribute(scopes),
		strings.Join(ScopesOf(to), " "))
	tx.Update(key(hash), u, store.Exists, store.Conflict)
}

// ScopesOf returns the scopes of a role as a credential has them.
func ScopesOf(r auth.Role) []string {
	var names []string
	for _, s := range r.Scopes() {
		names = append(names, string(s))
	}
	return names
}

// ChangeAccount rewrites a credential's copy of its account's data.
func ChangeAccount(tx *store.Tx, hash, accountPlan string, ips []string, callsPerMinute int) {
	u := expression.Set(store.Attribute(plan), expression.Value(accountPlan)).Set(store.Number(limit),
		expression.Value(callsPerMinute))
	tx.Update(key(hash), set(u, store.Attribute(accountIPs), strings.Join(ips, " ")), store.Exists, store.Conflict)
}

// Of returns the credential of an item that was read by SecretKey, or nil for the zero Item.
func Of(hash string, it store.Item) *Credential {
	if it.Kind == "" {
		return nil
	}
	return read(hash, it)
}

// Find returns the credential of a hash, without counting a call. It returns store.ErrNotFound for an unknown one.
func Find(ctx context.Context, db *store.DB, hash string) (*Credential, error) {
	it, err := db.Get(ctx, key(hash))
	if err != nil {
		return nil, err
	}
	return read(hash, it), nil
}

func read(hash string, it store.Item) *Credential {
	at := func(name string) (t time.Time) {
		if ms := it.Numbers[name]; ms != 0 {
			t = time.UnixMilli(ms).UTC()
		}
		return t
	}
	a := it.Attributes
	var spendLimit *int64
	if n, ok := it.Numbers[spend]; ok {
		spendLimit = &n
	}
	c := &Credential{
		Hash: hash, KeyID: a[keyID], Owner: it.Owner, Plan: a[plan], Scopes: strings.Fields(a[scopes]), Role: a[role],
		KeyIPs: strings.Fields(a[keyIPs]), AccountIPs: strings.Fields(a[accountIPs]), Limit: int(it.Numbers[limit]),
		SpendLimit: spendLimit,
		ExpiresAt:  at(expires), Revoked: a[revoked] != "", MovedTo: a[movedTo], UntilAt: at(until),
		Count:     int(it.Numbers[calls]),
		TicketKey: a[ticketKey], From: a[from], LentBy: a[lentBy], Makers: parseMakers(a[makers]),
		Mandate: parseMandate(a[mandate]),
	}
	for _, name := range strings.Fields(a[profiles]) {
		c.Profiles = append(c.Profiles, tenant.Profile(name))
	}
	if it.Numbers[over] == it.Numbers[window] {
		c.OverFrom = int(it.Numbers[overFrom])
	}
	return c
}

// ticketLife is longer than a call of a tool of the server for agents.
const ticketLife = time.Minute

// Ticket returns a ticket for a call that was counted: calls with it are not counted again for a minute. It is
// sealed by a key of the credential that no caller knows. It is empty if the credential has none yet.
func (c *Credential) Ticket(now time.Time) string {
	if c.TicketKey == "" {
		return ""
	}
	stamp := strconv.FormatInt(now.Unix(), 10) + "." + rand.Text()
	return stamp + "." + c.seal(stamp)
}

// seal returns the seal of the stamp of a ticket.
func (c *Credential) seal(stamp string) string {
	mac := hmac.New(sha256.New, []byte(c.TicketKey))
	mac.Write([]byte(stamp))
	return hex.EncodeToString(mac.Sum(nil))
}

// admits reports whether a ticket is of the credential and of the last minute.
func (c *Credential) admits(ticket string, now time.Time) bool {
	at := strings.LastIndexByte(ticket, '.')
	if c.TicketKey == "" || at < 0 {
		return false
	}
	stamp := ticket[:at]
	text, _, _ := strings.Cut(stamp, ".")
	made, err := strconv.ParseInt(text, 10, 64)
	age := now.Sub(time.Unix(made, 0))
	return err == nil && age > -ticketLife && age < ticketLife &&
		hmac.Equal([]byte(c.seal(stamp)), []byte(ticket[at+1:]))
}

// Counted finds the credential of a call that belongs to a counted one, by its ticket, and counts nothing. It returns
// nil for a ticket that does not hold: such a call is counted as any other.
func (c *Counter) Counted(ctx context.Context, hash, ticket string) (*Credential, error) {
	found, err := c.find(ctx, hash, func(hash string) (*Credential, error) {
		it, err := c.db.Get(ctx, key(hash))
		if err != nil {
			return nil, fmt.Errorf("credential: read: %w", err)
		}
		return read(hash, it), nil
	})
	if err != nil || found.Ended(c.now()) || !found.admits(ticket, c.now()) {
		return nil, err
	}
	// Others may have used the rest of the window up since: the call that this one belongs to was admitted.
	found.Count, found.OverFrom = min(found.Count, found.Limit), 0
	return found, nil
}

// Calls are the numbers of calls of a key in some time.
type Calls struct {
	// Requests made with the key, refused ones included.
	Requests int64 `json:"calls"`
	// Those that were refused before they were carried out: with an ended secret, for the plan, the address, the scope
	// or the rate limit.
	Refused int64 `json:"refused"`
}

func (c *Calls) add(other Calls) {
	c.Requests += other.Requests
	c.Refused += other.Refused
}

// Usage is the number of calls of a key.
type Usage struct {
	// The current hour and the 23 before it.
	LastDay Calls `json:"last_24h"`
	// Today (UTC) and the 29 days before.
	LastMonth Calls `json:"last_30d"`
}

// tally returns the calls of the window in a credential's item.
func tally(it *store.Item) Calls {
	c := read("", *it)
	n := Calls{Requests: int64(c.Count)}
	excess, _ := c.Excess()
	n.Refused = min(it.Numbers[refused]+int64(excess), n.Requests)
	return n
}

// keepUsage is the time for which a day of usage is kept.
const keepUsage = 32 * 24 * time.Hour

// usageKey is the key of the item with the calls of a key on one day, by the hour.
func usageKey(keyID string, at time.Time) store.Key {
	return store.IDKey(Usages(keyID + "#" + at.UTC().Format(time.DateOnly)))
}

func hourOf(name string, hour int) string { return fmt.Sprintf("%s%02d", name, hour) }

// addUsage adds the calls of a window to the usage of a key.
func addUsage(tx *store.Tx, keyID string, n int64, c Calls) {
	if c.Requests == 0 {
		return
	}
	at := begin(n)
	requests := store.Number(hourOf(calls, at.Hour()))
	u := expression.Add(requests, expression.Value(c.Requests)).Add(store.Number(hourOf(refused, at.Hour())),
		expression.Value(c.Refused))
	always := expression.Or(requests.AttributeNotExists(), requests.GreaterThanEqual(expression.Value(0)))
	tx.Update(usageKey(keyID, at), store.Expires(u, at.Add(keepUsage)), always, store.Conflict)
}

// usageDays is the number of days that Usage covers.
const usageDays = 30

// UsageKeys returns the keys of the items with the usage of a key.
func UsageKeys(keyID string, now time.Time) []store.Key {
	keys := make([]store.Key, usageDays)
	for day := range keys {
		keys[day] = usageKey(keyID, now.AddDate(0, 0, -day))
	}
	return keys
}

// SecretKey returns the key of the item of a credential.
func SecretKey(hash string) store.Key { return key(hash) }

// ChainOf returns the items of a credential and of those that rotations have replaced by it, the latest first.
func ChainOf(ctx context.Context, db *store.DB, hash string) (chain []store.Item, err error) {
	for hash != "" && len(chain) < maxChain {
		it, err := db.Get(ctx, key(hash))
		if errors.Is(err, store.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("credential: read secret: %w", err)
		}
		chain, hash = append(chain, it), it.Attributes[from]
	}
	return chain, nil
}

// counted are calls of a minute.
type counted struct {
	at time.Time
	Calls
}

// running returns the calls of a chain that the usage of the key does not include yet. A credential that has counted
// calls has carried those of the one that it has replaced.
func running(chain []store.Item) (all []counted) {
	carried := false
	for _, it := range chain {
		if n := it.Numbers[window]; n != 0 && !carried {
			carried = true
			all = append(all, counted{begin(n), tally(&it)})
		}
		if n := it.Numbers[turned]; n != 0 {
			all = append(all, counted{begin(it.Numbers[turnedWindow]), Calls{n, n}})
		}
	}
	return all
}

// UsageOf returns the usage of a key from the items of UsageKeys and ChainOf.
func UsageOf(days, chain []store.Item, now time.Time) Usage {
	var u Usage
	hour, today := now.UTC().Truncate(time.Hour), now.UTC().Truncate(24*time.Hour)
	for back, it := range days {
		midnight := today.AddDate(0, 0, -back)
		for h := range 24 {
			c := Calls{it.Numbers[hourOf(calls, h)], it.Numbers[hourOf(refused, h)]}
			u.LastMonth.add(c)
			if at := midnight.Add(time.Duration(h) * time.Hour); hour.Sub(at) < 24*time.Hour {
				u.LastDay.add(c)
			}
		}
	}
	for _, c := range running(chain) {
		if at := c.at.Truncate(time.Hour); !at.Before(today.AddDate(0, 0, 1-usageDays)) {
			u.LastMonth.add(c.Calls)
			if hour.Sub(at) < 24*time.Hour {
				u.LastDay.add(c.Calls)
			}
		}
	}
	return u
}

// Day is the number of calls of a key on a day.
type Day struct {
	// Day (UTC).
	Date string `json:"day" format:"date" example:"2026-05-01"`
	Calls
}

// DaysOf returns the calls of each day of the last month, the earliest first, from the same items as UsageOf.
func DaysOf(days, chain []store.Item, now time.Time) []Day {
	all := make([]Day, len(days))
	for back, it := range days {
		d := &all[len(days)-1-back]
		d.Date = now.UTC().AddDate(0, 0, -back).Format(time.DateOnly)
		for h := range 24 {
			d.add(Calls{it.Numbers[hourOf(calls, h)], it.Numbers[hourOf(refused, h)]})
		}
		for _, c := range running(chain) {
			if c.at.Format(time.DateOnly) == d.Date {
				d.add(c.Calls)
			}
		}
	}
	return all
}
