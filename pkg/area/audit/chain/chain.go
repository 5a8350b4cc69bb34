// Package chain makes the audit log tamper-evident. For each account and day it keeps a chain of links, each with the
// hashes of the entries that it covers and the hash of the link before. The links are made from the stream of the audit
// table, so that calls do not wait for them, and their hashes are logged: who alters an entry and rebuilds the chain
// differs from the log. Start with Chain.Handle, which adds entries, and Verify, which checks them.
package chain

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// EntryKind is the kind of the items of entries, and linkKind that of links.
const (
	EntryKind = "audit_entry"
	linkKind  = "audit_link"
)

// Region is the attribute of an entry with the region that has written it.
const Region = "region"

// Keep is the time for which entries are kept. A link is kept a day longer.
const Keep = 90 * 24 * time.Hour

const day = 24 * time.Hour

// Name identifies a chain by its account and day (UTC).
type Name struct {
	Account tenant.Account
	Day     time.Time
}

// On returns the chain of an account and the day (UTC) of a time.
func On(account tenant.Account, at time.Time) Name { return Name{account, at.UTC().Truncate(day)} }

// nameOf returns the chain of an entry, by the day of its id.
func nameOf(entry store.Item) (Name, error) {
	at, ok := id.Time(entry.SK)
	if !ok {
		return Name{}, fmt.Errorf("chain: %q is no id of an entry", entry.SK)
	}
	return On(entry.Account, at), nil
}

// Date returns the day as 2026-11-22.
func (n Name) Date() string { return n.Day.Format(time.DateOnly) }

// Prefix begins the partitions of links.
const Prefix = "chain#"

// partition is the partition of the chain's links.
func (n Name) partition() string { return Prefix + string(n.Account) + "#" + n.Date() }

// link is the document of a link.
type link struct {
	Chain    string `json:"chain"`
	Sequence int    `json:"sequence"` // from 1
	// Before is the hash of the link before. It is empty in the first.
	Before  string    `json:"before"`
	At      time.Time `json:"at"`
	Entries []covered `json:"entries"`
	// Positions are the places in the stream up to which the chain is complete, by the region of the stream and the
	// partition of the entries. The records of a partition are in the order of their writes.
	Positions map[string]string `json:"positions"`
}

// covered is an entry in a link.
type covered struct {
	Partition string `json:"partition"`
	ID        string `json:"id"`
	Hash      string `json:"hash"`
}

// item returns the item of a link.
func (l link) item(n Name) (store.Item, error) {
	it := store.Item{
		Key: store.Key{PK: n.partition(), SK: fmt.Sprintf("%08d", l.Sequence)}, Kind: linkKind,
		Owner:    tenant.Of(n.Account, ""),
		ExpireAt: n.Day.Add(day + Keep + day),
	}
	return it, it.Encode(l)
}

// hashOf returns the hash of a link.
func hashOf(it store.Item) string {
	sum := sha256.Sum256(it.Doc)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
