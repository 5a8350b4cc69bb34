// Package id makes and reads the service's ids: TypeIDs (a prefix and a UUIDv7
// in base32), which sort by the time of their creation.
package id

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"
)

// The prefixes of the contract, one per kind of resource.
const (
	Account       = "acc"
	APIKey        = "key"
	Factory       = "fac"
	ContentPlan   = "pln"
	Proposal      = "prp"
	Diagnosis     = "dgn"
	Training      = "trn"
	Model         = "mdl"
	ContentItem   = "cnt"
	Publication   = "pub"
	Generation    = "gen"
	Product       = "prd"
	Photo         = "pho"
	Media         = "med"
	Promotion     = "prm"
	SocialAccount = "soc"
	Chat          = "cht"
	Message       = "msg"
	Draft         = "drf"
	Webhook       = "whk"
	Event         = "evt"
	Delivery      = "dlv"
	LedgerEntry   = "led"
	AuditEntry    = "aud"
	Person        = "usr"
	Connection    = "con"
	Group         = "grp"
	Integration   = "int"
	ReviewLink    = "rvl"
	Profile       = "prf"
	Automation    = "aut"
	Comment       = "com"
)

// New makes an id of the given kind for the given time. It panics if the machine has no randomness, because nothing can
// continue then.
func New(prefix string, at time.Time) string {
	u, err := uuid.NewV7AtTime(at)
	if err != nil {
		panic(fmt.Sprintf("id: no randomness: %v", err))
	}
	return encode(prefix, u)
}

// Derived returns an id that depends only on the time and the parts, so that creating
// a resource twice is idempotent. The time keeps the id sortable.
func Derived(prefix string, at time.Time, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		// The length goes first, so that ("ab","c") and ("a","bc") differ.
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	u := stamp(at)
	copy(u[6:], h.Sum(nil))
	u.SetVersion(uuid.V7)
	u.SetVariant(uuid.VariantRFC9562)
	return encode(prefix, u)
}

// Renamed returns the id with another prefix, for resources that correspond one to one.
func Renamed(prefix, s string) string {
	_, suffix, _ := strings.Cut(s, "_")
	return prefix + "_" + suffix
}

// First returns the smallest id of its kind that a resource made at the given time can have: the lower bound of a range
// by time.
func First(prefix string, at time.Time) string {
	return encode(prefix, stamp(at))
}

// Time returns the time at which the id was made, to the millisecond, or false if s is no id.
func Time(s string) (time.Time, bool) {
	_, u, ok := decode(s)
	if !ok {
		return time.Time{}, false
	}
	var ms [8]byte
	copy(ms[2:], u[:6])
	return time.UnixMilli(int64(binary.BigEndian.Uint64(ms[:]))).UTC(), true
}

// Valid reports whether s is an id of the given kind.
func Valid(prefix, s string) bool {
	of, _, ok := decode(s)
	return ok && of == prefix
}

// stamp is a UUID whose first 48 bits are the time (RFC 9562, 5.7) and whose
// rest is zero. Times before 1970 count as 1970.
func stamp(at time.Time) (u uuid.UUID) {
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(max(at.UnixMilli(), 0)))
	copy(u[:6], ms[2:])
	return u
}

// OfRequest returns the id of a request: its time in milliseconds and the id from the gateway. With the time its audit
// entry can be found without an index. The gateway's access log has the same id.
func OfRequest(at time.Time, gatewayID string) string {
	return strconv.FormatInt(at.UnixMilli(), 10) + "-" + gatewayID
}
