// Package resource has the common parts of the API's resources: id, times, version and metadata, and the search for a
// resource of the caller. Find reads the resource of a caller.
package resource

import "time"

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
