package task

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// searchedPart is the time at which a part of a shard was last searched. The part begins after the one before it, and
// ends with the sort key Until, or with the shard if Until is empty.
type searchedPart struct {
	Until string    `json:"until,omitempty"`
	At    time.Time `json:"at,omitzero"`
}

// searchedParts has the times at which the parts of a shard were last searched, in the order of their sort keys. Keys
// after the last part were never searched.
type searchedParts []searchedPart

// mostParts bounds the number of parts. Beyond it neighbors are joined into one part that has the earlier time. So some
// messages are sent once more, and none is left out.
const mostParts = 100

// at returns the time at which a sort key was last searched, or the zero time if it never was.
func (l searchedParts) at(sk string) time.Time {
	i := sort.Search(len(l), func(i int) bool { return l[i].Until == "" || sk <= l[i].Until })
	if i == len(l) {
		return time.Time{}
	}
	return l[i].At
}

// mark adds the part up to a sort key, with the time at which it was searched. Parts must be added in the order of
// their sort keys.
func (l searchedParts) mark(until string, at time.Time) searchedParts {
	if n := len(l); n > 0 && l[n-1].At.Equal(at) {
		l[n-1].Until = until
		return l
	}
	return append(l, searchedPart{until, at})
}

// replace returns the parts with others in place of those after the sort key from and up to the sort key until. If from
// is empty, they begin with the shard; if until is empty, they end with it.
func (l searchedParts) replace(from string, by searchedParts, until string) (all searchedParts) {
	add := func(until string, at time.Time) { all = all.mark(until, at) }
	if from != "" {
		for _, k := range l {
			if k.Until == "" || k.Until >= from {
				break
			}
			add(k.Until, k.At)
		}
		add(from, l.at(from))
	}
	for _, k := range by {
		add(k.Until, k.At)
	}
	if until != "" {
		for _, k := range l {
			if k.Until == "" || k.Until > until {
				add(k.Until, k.At)
			}
		}
	}
	return all.bounded()
}

// bounded joins parts if there are too many.
func (l searchedParts) bounded() searchedParts {
	for len(l) > mostParts {
		var fewer searchedParts
		for pair := range slices.Chunk(l, 2) {
			last := pair[len(pair)-1]
			earlier := slices.MinFunc(pair,
				func(a, b searchedPart) int { return cmp.Compare(a.At.UnixNano(), b.At.UnixNano()) })
			fewer = fewer.mark(last.Until, earlier.At)
		}
		l = fewer
	}
	return l
}
