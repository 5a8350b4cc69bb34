// Package id makes and reads the service's ids: TypeIDs (a prefix and a UUIDv7 in base32), which sort by the time of
// their creation. New makes an id, and Valid checks one.
package id

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	Experiment    = "exp"
	Application   = "app"
	PostImport    = "pim"
	Rehearsal     = "rhl"
	Quote         = "qte"
	Export        = "xpt"
	Import        = "imp"
	FeedRun       = "run"
	Template      = "tpl"
)

// kinds are the prefixes by the names of the resources, as members of the API have them: factory_id is the id of a
// factory.
var kinds = map[string]string{
	"account": Account, "api_key": APIKey, "key": APIKey, "factory": Factory, "content_plan": ContentPlan,
	"proposal": Proposal, "diagnosis": Diagnosis, "training": Training, "model": Model, "content_item": ContentItem,
	"publication": Publication, "generation": Generation, "product": Product, "photo": Photo, "media": Media,
	"promotion": Promotion, "social_account": SocialAccount, "chat": Chat, "message": Message, "draft": Draft,
	"webhook": Webhook, "event": Event, "delivery": Delivery, "ledger_entry": LedgerEntry, "audit_entry": AuditEntry,
	"person": Person, "connection": Connection, "group": Group, "integration": Integration, "review_link": ReviewLink,
	"profile": Profile, "automation": Automation, "comment": Comment, "experiment": Experiment,
	"application": Application,
	"post_import": PostImport, "rehearsal": Rehearsal, "quote": Quote, "export": Export, "import": Import,
	"run": FeedRun, "template": Template,
}

// Resources returns the names of the resources that have ids, in order.
func Resources() []string { return slices.Sorted(maps.Keys(kinds)) }

// Prefix returns the prefix of the ids of a resource, such as fac of factory, or false if there is no such resource.
func Prefix(resource string) (prefix string, ok bool) {
	prefix, ok = kinds[resource]
	return prefix, ok
}

// nouns are the names of the resources in plain words, by their prefixes.
var nouns = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for name, prefix := range kinds {
		if name != "key" { // which api_key says in full
			all[prefix] = strings.ReplaceAll(name, "_", " ")
		}
	}
	all[APIKey] = "API key"
	return all
})

// Noun returns the name of the resource whose ids have a prefix, in plain words, or false if there is none.
func Noun(prefix string) (noun string, ok bool) {
	noun, ok = nouns()[prefix]
	return noun, ok
}

// New makes an id of the given kind for a time. Ids that one process makes for one millisecond sort in the order
// in which it makes them. New panics if the machine has no randomness, because nothing can continue then.
func New(prefix string, at time.Time) string {
	u, err := uuid.NewV7AtTime(at)
	if err != nil {
		panic(fmt.Sprintf("id: no randomness: %v", err))
	}
	return Encode(prefix, ordered(u))
}

// newest is the newest UUID of this process.
var newest struct {
	sync.Mutex
	uuid.UUID
}

// ordered returns u, or the UUID after the newest one if u is of the same millisecond and before it: the 12 bits by
// which package uuid counts begin at random, and may wrap round.
func ordered(u uuid.UUID) uuid.UUID {
	newest.Lock()
	defer newest.Unlock()
	if last := newest.UUID; [6]byte(u[:6]) == [6]byte(last[:6]) && bytes.Compare(u[:], last[:]) <= 0 {
		u = last
		for i := len(u) - 1; i > 8; i-- { // the first bits of u[8] are the variant
			if u[i]++; u[i] != 0 {
				break
			}
		}
	}
	newest.UUID = u
	return u
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
	return Encode(prefix, u)
}

// Renamed returns the id with another prefix, for resources that correspond one to one.
func Renamed(prefix, s string) string {
	_, suffix, _ := strings.Cut(s, "_")
	return prefix + "_" + suffix
}

// First returns the smallest id of its kind that a resource made at the given time can have: the lower bound of a range
// by time.
func First(prefix string, at time.Time) string {
	return Encode(prefix, stamp(at))
}

// Time returns the time at which the id was made, to the millisecond, or false if s is no id.
func Time(s string) (time.Time, bool) {
	_, u, ok := Decode(s)
	if !ok {
		return time.Time{}, false
	}
	var ms [8]byte
	copy(ms[2:], u[:6])
	return time.UnixMilli(int64(binary.BigEndian.Uint64(ms[:]))).UTC(), true
}

// Valid reports whether s is an id of the given kind.
func Valid(prefix, s string) bool {
	of, _, ok := Decode(s)
	return ok && of == prefix
}

// PrefixOf returns the prefix of an id, or false if s is no id.
func PrefixOf(s string) (prefix string, ok bool) {
	prefix, _, ok = Decode(s)
	return prefix, ok && prefix != ""
}

// Pattern returns the regular expression of the ids of a kind.
func Pattern(prefix string) string { return "^" + prefix + "_[0-9a-z]{26}$" }

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
