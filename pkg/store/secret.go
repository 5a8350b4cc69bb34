package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Secret is what the authorizer must know about an API key, found by the hash of
// its secret. What belongs to the account is copied into it, so that one round
// trip answers everything; a change of the account rewrites the copies.
type Secret struct {
	Hash    string
	KeyID   string
	Account string
	Mode    string
	Plan    string
	Scopes  []string
	// KeyIPs and AccountIPs are CIDRs; an empty list permits every address.
	KeyIPs, AccountIPs []string
	// Limit is the number of calls a minute.
	Limit int
	// ExpiresAt is when the key ends; zero: never.
	ExpiresAt time.Time
	// Revoked keys are kept, so that calls with them are known and audited.
	Revoked bool
	// MovedTo is the hash of the key's new secret after a rotation. The old secret
	// counts and may do what the new one does, until UntilAt.
	MovedTo string
	UntilAt time.Time
	// Count is how many calls the current minute has seen, this one included.
	Count int
}

// Ended tells whether the secret may no longer be used at the given time.
func (s *Secret) Ended(now time.Time) bool {
	ended := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	return s.Revoked || ended(s.ExpiresAt) || ended(s.UntilAt)
}

const (
	secretKind = "secret"

	attrKeyID      = "key_id"
	attrPlan       = "plan"
	attrScopes     = "scopes"
	attrKeyIPs     = "key_ips"
	attrAccountIPs = "acc_ips"
	attrLimit      = "rate"
	attrExpires    = "expires"
	attrRevoked    = "revoked"
	attrMovedTo    = "moved_to"
	attrUntil      = "until"
	attrWindow     = "win"
	attrCalls      = "calls"
	attrLastCall   = "last"

	// The extras of a key's own item that a first call of a minute writes.
	lastUsedAt = "used_at"
	lastUsedIP = "used_ip"
)

// LastUsed reads from a key's item when and from where it was last used, exact
// to the minute: only the first call of a minute is written there.
func LastUsed(it *Item) (at time.Time, ip string) {
	at, _ = time.Parse(time.RFC3339, it.Extra[lastUsedAt])
	return at, it.Extra[lastUsedIP]
}

// APIKeyKey is the key of an API key's own item. All keys of an account share a
// partition, so that a change of the account finds each of them for certain.
func APIKeyKey(account, keyID string) Key { return Key{APIKeys(account), keyID} }

// APIKeys is the partition of Table that lists an account's API keys.
func APIKeys(account string) string { return "keys#" + account }

func secretKey(hash string) Key { return Key{"secret#" + hash, onlySK} }

// CreateSecret writes a new secret.
func (tx *Tx) CreateSecret(s Secret) {
	a := secretKey(s.Hash).attributes()
	a[attrKind] = str(secretKind)
	for name, value := range s.settings() {
		a[name] = value
	}
	tx.ops = append(tx.ops, op{failed: ErrConflict, write: types.TransactWriteItem{Put: &types.Put{
		Item: a, ConditionExpression: aws.String("attribute_not_exists(#pk)"),
		ExpressionAttributeNames: map[string]string{"#pk": attrPK},
	}}})
}

// ChangeSecret writes all that a secret says, except its count of calls.
func (tx *Tx) ChangeSecret(s Secret) {
	names := map[string]string{}
	values := attributes{}
	var set, remove []string
	settings := s.settings()
	for i, name := range []string{attrKeyID, attrAccount, attrMode, attrPlan, attrScopes, attrKeyIPs, attrAccountIPs, attrLimit, attrExpires, attrRevoked, attrMovedTo, attrUntil} {
		ref := fmt.Sprintf("#a%d", i)
		names[ref] = name
		if v, ok := settings[name]; ok {
			values[":"+ref[1:]] = v
			set = append(set, ref+" = :"+ref[1:])
		} else {
			remove = append(remove, ref)
		}
	}
	update := "SET " + strings.Join(set, ", ")
	if remove != nil {
		update += " REMOVE " + strings.Join(remove, ", ")
	}
	tx.setSecret(s.Hash, update, names, values)
}

// RevokeSecret ends a secret at once. It stays known, for the audit.
func (tx *Tx) RevokeSecret(hash string) {
	tx.setSecret(hash, "SET #a = :a", map[string]string{"#a": attrRevoked}, attributes{":a": &types.AttributeValueMemberBOOL{Value: true}})
}

// MoveSecret makes a secret stand for another one until the given time.
func (tx *Tx) MoveSecret(hash, to string, until time.Time) {
	tx.setSecret(hash, "SET #a = :a, #b = :b", map[string]string{"#a": attrMovedTo, "#b": attrUntil},
		attributes{":a": str(to), ":b": num(until.UnixMilli())})
}

func (tx *Tx) setSecret(hash, update string, names map[string]string, values attributes) {
	names["#pk"] = attrPK
	tx.ops = append(tx.ops, op{failed: ErrConflict, write: types.TransactWriteItem{Update: &types.Update{
		Key: secretKey(hash).attributes(), UpdateExpression: &update,
		ConditionExpression:      aws.String("attribute_exists(#pk)"),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	}}})
}

// ChangeSecretAccount rewrites a secret's copy of what its account says.
func (tx *Tx) ChangeSecretAccount(hash, plan string, ips []string, limit int) {
	update := "SET #plan = :plan, #rate = :rate"
	names := map[string]string{"#plan": attrPlan, "#rate": attrLimit, "#ips": attrAccountIPs}
	values := attributes{":plan": str(plan), ":rate": num(int64(limit))}
	if len(ips) > 0 {
		update += ", #ips = :ips"
		values[":ips"] = str(strings.Join(ips, " "))
	} else {
		update += " REMOVE #ips"
	}
	tx.setSecret(hash, update, names, values)
}

// settings are the attributes of a secret that are not empty.
func (s *Secret) settings() attributes {
	a := attributes{attrLimit: num(int64(s.Limit))}
	for name, value := range map[string]string{
		attrKeyID: s.KeyID, attrAccount: s.Account, attrMode: s.Mode, attrPlan: s.Plan, attrMovedTo: s.MovedTo,
		attrScopes: strings.Join(s.Scopes, " "), attrKeyIPs: strings.Join(s.KeyIPs, " "), attrAccountIPs: strings.Join(s.AccountIPs, " "),
	} {
		if value != "" {
			a[name] = str(value)
		}
	}
	for name, at := range map[string]time.Time{attrExpires: s.ExpiresAt, attrUntil: s.UntilAt} {
		if !at.IsZero() {
			a[name] = num(at.UnixMilli())
		}
	}
	if s.Revoked {
		a[attrRevoked] = &types.AttributeValueMemberBOOL{Value: true}
	}
	return a
}

func unmarshalSecret(hash string, a attributes) *Secret {
	at := func(name string) (t time.Time) {
		if ms := number(a[name]); ms != 0 {
			t = time.UnixMilli(ms).UTC()
		}
		return t
	}
	_, revoked := a[attrRevoked]
	return &Secret{
		Hash: hash, KeyID: text(a[attrKeyID]), Account: text(a[attrAccount]), Mode: text(a[attrMode]), Plan: text(a[attrPlan]),
		Scopes: strings.Fields(text(a[attrScopes])), KeyIPs: strings.Fields(text(a[attrKeyIPs])), AccountIPs: strings.Fields(text(a[attrAccountIPs])),
		Limit: int(number(a[attrLimit])), ExpiresAt: at(attrExpires), Revoked: revoked,
		MovedTo: text(a[attrMovedTo]), UntilAt: at(attrUntil), Count: int(number(a[attrCalls])),
	}
}

// CountCall looks a secret up and counts one call in the given window (a number
// that grows by one a minute). In the steady state this is one round trip; the
// first call of a window takes two, and a replaced secret one more. A secret that
// has ended is given without being counted. It gives ErrNotFound for an unknown one.
func (db *DB) CountCall(ctx context.Context, hash string, window int64, ip string) (*Secret, error) {
	s, err := db.countCall(ctx, hash, window, ip)
	if err != nil || s.MovedTo == "" || s.Ended(db.now()) {
		return s, err
	}
	current, err := db.countCall(ctx, s.MovedTo, window, ip)
	if err != nil {
		return nil, err
	}
	current.UntilAt = s.UntilAt
	return current, nil
}

func (db *DB) countCall(ctx context.Context, hash string, window int64, ip string) (*Secret, error) {
	now := db.now()
	// The last call counted is known by a token, so that a try whose answer was lost
	// does not count it again.
	token := rand.Text()
	for attempt := range maxConflicts {
		out, err := db.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &db.name, Key: secretKey(hash).attributes(),
			UpdateExpression:    aws.String("SET #calls = #calls + :one, #last = :token"),
			ConditionExpression: aws.String("#win = :win AND (attribute_not_exists(#last) OR #last <> :token) AND attribute_not_exists(#revoked) AND attribute_not_exists(#moved) AND (attribute_not_exists(#expires) OR #expires > :now)"),
			ExpressionAttributeNames: map[string]string{
				"#calls": attrCalls, "#win": attrWindow, "#revoked": attrRevoked, "#moved": attrMovedTo, "#expires": attrExpires,
				"#last": attrLastCall,
			},
			ExpressionAttributeValues:           attributes{":one": num(1), ":win": num(window), ":now": num(now.UnixMilli()), ":token": str(token)},
			ReturnValues:                        types.ReturnValueAllNew,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		if err == nil {
			return unmarshalSecret(hash, out.Attributes), nil
		}
		if isContention(err) {
			// Another call's transaction that opens the window, as a rule.
			if err := db.pause(ctx, attempt+1); err != nil {
				return nil, err
			}
			continue
		}
		var check *types.ConditionalCheckFailedException
		if !errors.As(err, &check) {
			return nil, fmt.Errorf("store: count call: %w", err)
		}
		if check.Item == nil {
			return nil, ErrNotFound
		}
		s := unmarshalSecret(hash, check.Item)
		if text(check.Item[attrLastCall]) == token {
			return s, nil
		}
		if s.MovedTo != "" || s.Ended(now) {
			if number(check.Item[attrWindow]) != window {
				s.Count = 0 // what an earlier window counted
			}
			return s, nil
		}
		// Only the window was another one. Where another machine's clock is ahead, its
		// window counts; otherwise this is the first call of a new window.
		if open := number(check.Item[attrWindow]); open > window {
			window = open
			continue
		}
		switch err := db.openWindow(ctx, s, window, ip); {
		case err == nil:
			s.Count = 1
			return s, nil
		case !errors.Is(err, ErrConflict):
			return nil, err
		}
		// Another call opened the window in between: count this one in it.
	}
	return nil, errBusy
}

// openWindow sets the count of a new window to one and notes on the key's own
// item that it was used.
func (db *DB) openWindow(ctx context.Context, s *Secret, window int64, ip string) error {
	tx := &Tx{}
	tx.ops = append(tx.ops,
		op{failed: ErrConflict, write: types.TransactWriteItem{Update: &types.Update{
			Key:                       secretKey(s.Hash).attributes(),
			UpdateExpression:          aws.String("SET #win = :win, #calls = :one"),
			ConditionExpression:       aws.String("attribute_exists(#pk) AND attribute_not_exists(#revoked) AND attribute_not_exists(#moved) AND (attribute_not_exists(#win) OR #win < :win)"),
			ExpressionAttributeNames:  map[string]string{"#pk": attrPK, "#win": attrWindow, "#calls": attrCalls, "#revoked": attrRevoked, "#moved": attrMovedTo},
			ExpressionAttributeValues: attributes{":win": num(window), ":one": num(1)},
		}}},
		op{failed: fmt.Errorf("store: key %s has a secret but no item", s.KeyID), write: types.TransactWriteItem{Update: &types.Update{
			Key:                       APIKeyKey(s.Account, s.KeyID).attributes(),
			UpdateExpression:          aws.String("SET #at = :at, #ip = :ip"),
			ConditionExpression:       aws.String("attribute_exists(#pk)"),
			ExpressionAttributeNames:  map[string]string{"#pk": attrPK, "#at": extraPrefix + lastUsedAt, "#ip": extraPrefix + lastUsedIP},
			ExpressionAttributeValues: attributes{":at": str(db.now().UTC().Format(time.RFC3339)), ":ip": str(ip)},
		}}},
	)
	return db.Commit(ctx, tx)
}
