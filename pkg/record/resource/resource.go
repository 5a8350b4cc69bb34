// Package resource has the common parts of the API's resources: id, times, version and metadata, and the search for a
// resource of the caller. Find reads the resource of a caller.
package resource

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// Resource holds the members that every resource has.
type Resource struct {
	// Unique id (TypeID). Ids sort by creation time.
	ID string `json:"id"`
	// Time of creation, UTC.
	CreatedAt Time `json:"created_at"`
	// Time of the last change, UTC.
	UpdatedAt Time `json:"updated_at"`
	// Increased by every change. It is the ETag, for If-Match.
	Version int64 `json:"version"`
	// Your own key-value pairs.
	Metadata Metadata `json:"metadata"`
}

// New returns a resource made at the given time.
func New(id string, now time.Time, metadata Metadata) Resource {
	at := Instant(now)
	return Resource{ID: id, CreatedAt: at, UpdatedAt: at, Version: 1, Metadata: metadata.OrEmpty()}
}

// ResourceVersion returns the version that forms the ETag.
func (r Resource) ResourceVersion() int64 { return r.Version }

// Common returns the common members of a record that embeds them.
func (r *Resource) Common() *Resource { return r }

// Touch records a change made at the given time.
func (r *Resource) Touch(now time.Time) {
	r.UpdatedAt = Instant(now)
	r.Version++
}

// OrNil returns a member that is null if the value is the zero value.
func OrNil[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// MadeAt returns the query of a list that selects the resources created in the millisecond of a time.
func MadeAt(at time.Time) string {
	at = Instant(at).Time
	return "from=" + at.Format(TimeLayout) + "&to=" + at.Add(time.Millisecond).Format(TimeLayout)
}

// Equal reports whether two pointers are both nil, or point to equal values.
func Equal[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// TimeLayout is the layout of times in answers and events: RFC 3339 in UTC, with exactly three decimals.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// Time is a time as answers and events show it. Instant makes one.
type Time struct{ time.Time }

// Instant returns a time as the API shows it: UTC, to the millisecond.
func Instant(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// InstantOrNil returns the time as the API shows it, or nil for nil.
func InstantOrNil(t *time.Time) *Time {
	if t == nil {
		return nil
	}
	at := Instant(*t)
	return &at
}

// OrZero returns the time, or the zero time for nil.
func (t *Time) OrZero() time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

// SortableTime returns a time in TimeLayout. Such texts are sorted as the times are.
func SortableTime(t time.Time) string { return t.UTC().Format(TimeLayout) }

// MarshalJSON writes the time in TimeLayout.
func (t Time) MarshalJSON() ([]byte, error) {
	return t.UTC().AppendFormat(nil, `"`+TimeLayout+`"`), nil
}

// UnmarshalJSON reads a time of RFC 3339 with any number of decimals.
func (t *Time) UnmarshalJSON(b []byte) error {
	var read time.Time
	if err := json.Unmarshal(b, &read); err != nil {
		return err
	}
	*t = Instant(read)
	return nil
}

// Text is a text that answers show as null where there is none, so that it is not taken for one that is empty.
type Text string

// MarshalJSON writes the text, or null if it is empty.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(t))
}

// The bounds of metadata: the number of pairs, and the lengths of names and values.
const (
	MaxPairs      = 20
	MaxPairName   = 40
	MaxPairLength = 500
)

// Metadata are the caller's own string pairs on a resource.
type Metadata map[string]string

// MetadataPatch is metadata in a merge patch: null removes a pair.
type MetadataPatch map[string]*string

// OrEmpty returns the pairs, or an empty map if there are none.
func (m Metadata) OrEmpty() Metadata {
	if m == nil {
		return Metadata{}
	}
	return m
}

// filter is the name of the filter of lists by metadata.
const filter = "metadata"

// Describe returns the values by which lists filter resources: a digest of each pair of the metadata.
func (r Resource) Describe() map[string]string {
	var pairs strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.Metadata)) {
		pairs.WriteString(digest(name, r.Metadata[name]))
	}
	return map[string]string{filter: pairs.String()}
}

// digest hashes a pair, to keep the attribute short.
func digest(name, value string) string {
	sum := sha256.Sum256([]byte(name + "\x00" + value))
	return "." + base64.RawURLEncoding.EncodeToString(sum[:12])
}

// MetadataFilter is the query parameter that selects resources by their metadata. Embed it.
type MetadataFilter struct {
	// Only resources with this pair in their metadata, such as metadata[order]=4711. Of several pairs, they have all.
	Metadata Metadata `query:"metadata,deepObject"`
}

// Into adds the filter to the query of a list.
func (t MetadataFilter) Into(q *store.Query) {
	if len(t.Metadata) == 0 {
		return
	}
	all := make([]string, 0, len(t.Metadata))
	for name, value := range t.Metadata {
		all = append(all, digest(name, value))
	}
	slices.Sort(all) // a cursor belongs to one order
	q.Contains = map[string][]string{filter: all}
}

// Find reads a resource of the caller's account and mode by the id in the path. It answers not_found alike for a
// malformed id, one that does not exist, another account's and the other mode's.
func Find(ctx context.Context, db *store.DB, prefix, noun, resourceID string) (store.Item, error) {
	it, _, err := FindWith(ctx, db, prefix, noun, resourceID)
	return it, err
}

// FindWith is Find, and reads other items in the same round trip. Beside has them in the order of their keys.
func FindWith(ctx context.Context, db *store.DB, prefix, noun, resourceID string,
	others ...store.Key) (it store.Item, beside []store.Item, err error) {
	return FindAt(ctx, db, prefix, noun, resourceID, store.IDKey(resourceID), others...)
}

// FindAt is FindWith for a resource that has a key of its own.
func FindAt(ctx context.Context, db *store.DB, prefix, noun, resourceID string, key store.Key,
	others ...store.Key) (it store.Item, beside []store.Item, err error) {
	if !id.Valid(prefix, resourceID) {
		return it, nil, errs.Missing(noun, resourceID)
	}
	if len(others) == 0 {
		it, err = db.Lookup(ctx, key)
	} else if beside, err = db.GetAll(ctx, append([]store.Key{key}, others...)...); err == nil {
		it, beside = beside[0], beside[1:]
	}
	if err != nil {
		return it, nil, err
	}
	it, err = visible(ctx, it, noun, resourceID)
	return it, beside, err
}

// FindUnder is Find for a resource that has rows of the table under it, in one query: under has the resource first, and
// then its rows.
func FindUnder(ctx context.Context, db *store.DB, prefix, noun, resourceID string) (under []store.Item, err error) {
	if !id.Valid(prefix, resourceID) {
		return nil, errs.Missing(noun, resourceID)
	}
	if under, err = db.Under(ctx, resourceID); err != nil {
		return nil, err
	}
	if len(under) == 0 {
		return nil, errs.Missing(noun, resourceID)
	}
	_, err = visible(ctx, under[0], noun, resourceID)
	return under, err
}

// visible returns the item of a resource, or an error if the caller may not see it. The zero Item does not exist.
func visible(ctx context.Context, it store.Item, noun, resourceID string) (store.Item, error) {
	p := auth.FromContext(ctx)
	switch {
	case it.PK != "" && it.Account == p.Account && it.Mode != p.Mode:
		return store.Item{}, errs.OfOtherMode(noun, resourceID, string(it.Mode))
	case it.PK == "" || !owns(p, it):
		return store.Item{}, errs.Missing(noun, resourceID)
	}
	Reads(ctx, it)
	return it, nil
}

func owns(p *auth.Principal, it store.Item) bool {
	return p.Owner.Sees(it.Owner)
}

// FindAll reads several resources of the caller's account and mode by their ids, and other items, in one round trip.
// Found has the resources that Find would find, and beside has the other items in the order of their keys.
func FindAll(ctx context.Context, db *store.DB, prefix string, ids []string,
	others ...store.Key) (found map[string]store.Item, beside []store.Item, err error) {
	var known []string
	for _, resourceID := range ids {
		if id.Valid(prefix, resourceID) && !slices.Contains(known, resourceID) {
			known = append(known, resourceID)
		}
	}
	keys := make([]store.Key, 0, len(known)+len(others))
	for _, resourceID := range known {
		keys = append(keys, store.IDKey(resourceID))
	}
	items, err := db.GetAll(ctx, append(keys, others...)...)
	if err != nil {
		return nil, nil, err
	}
	p := auth.FromContext(ctx)
	found = map[string]store.Item{}
	for i, resourceID := range known {
		if items[i].Kind != "" && owns(p, items[i]) {
			found[resourceID] = items[i]
			Reads(ctx, items[i])
		}
	}
	return found, items[len(known):], nil
}

// Concern is what a call concerns: the factory, the profile and the kind of content of what it reads and makes. A
// member is empty if there is none, or if there are several.
type Concern struct {
	FactoryID string
	ProfileID tenant.Profile
	Kind      string
}

// note collects the concern of a call. What it makes counts more than what it reads on the way, such as an item that
// another one retells.
type note struct {
	mu     sync.Mutex
	values [3]concernMember
}

type concernMember struct {
	value         string
	made, several bool
}

func (n *concernMember) add(value string, made bool) {
	switch {
	case value == "" || n.made && !made:
	case n.value == "" || made && !n.made:
		*n = concernMember{value: value, made: made}
	case n.value != value:
		n.several = true
	}
}

type noteKey struct{}

// WithConcern returns a context in which the concern of a call is noted.
func WithConcern(ctx context.Context) context.Context {
	return context.WithValue(ctx, noteKey{}, &note{})
}

// ConcernOf returns the concern of the call of a context. It is empty if the context is of none.
func ConcernOf(ctx context.Context) Concern {
	n, ok := ctx.Value(noteKey{}).(*note)
	if !ok {
		return Concern{}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var v [3]string
	for i, one := range n.values {
		if !one.several {
			v[i] = one.value
		}
	}
	return Concern{v[0], tenant.Profile(v[1]), v[2]}
}

// Makes notes what the call makes, if the context is of a call.
func Makes(ctx context.Context, c Concern) { add(ctx, c, true) }

// Reads notes items that the call reads, if the context is of a call. Find and FindAll note what they find.
func Reads(ctx context.Context, items ...store.Item) {
	for _, it := range items {
		add(ctx, concernOf(it), false)
	}
}

func add(ctx context.Context, c Concern, made bool) {
	n, ok := ctx.Value(noteKey{}).(*note)
	if !ok {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, value := range []string{c.FactoryID, string(c.ProfileID), c.Kind} {
		n.values[i].add(value, made)
	}
}

// concernOf returns the concern of an item of the table, by its keys and filters.
func concernOf(it store.Item) Concern {
	c := Concern{ProfileID: it.Profile}
	parent := it.Parent.PK[strings.LastIndexByte(it.Parent.PK, '#')+1:]
	for _, value := range []string{it.PK, it.Filters["factory"], parent} {
		if id.Valid(id.Factory, value) {
			c.FactoryID = value
		}
	}
	switch it.Kind {
	case "content_item", "generation":
		c.Kind = it.Filters["kind"]
	}
	return c
}
