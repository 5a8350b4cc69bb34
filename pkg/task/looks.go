package task

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// look is when a part of a shard was last looked through. The part begins after that of
// the look before, and ends with the sort key Until; empty: with the shard.
type look struct {
	Until string    `json:"until,omitempty"`
	At    time.Time `json:"at,omitzero"`
}

// looks are when the parts of a shard were last looked through, in the order of its sort
// keys. What is behind the last of them never was.
type looks []look

// mostLooks bounds how many parts are told apart. Beyond it neighbors become one part,
// with the earlier time: so some messages are sent once more, and none is left out.
const mostLooks = 100

// at returns when the place of a sort key was last looked at; zero: never.
func (l looks) at(sk string) time.Time {
	i := sort.Search(len(l), func(i int) bool { return l[i].Until == "" || sk <= l[i].Until })
	if i == len(l) {
		return time.Time{}
	}
	return l[i].At
}

// mark adds that the part up to a sort key was looked at at a time. Marks come in the
// order of the sort keys.
func (l looks) mark(until string, at time.Time) looks {
	if n := len(l); n > 0 && l[n-1].At.Equal(at) {
		l[n-1].Until = until
		return l
	}
	return append(l, look{until, at})
}

// replace returns the looks with others in place of those behind one sort key and up to
// another; empty: from the beginning of the shard, and up to its end.
func (l looks) replace(from string, by looks, until string) (all looks) {
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

// bounded returns the looks with parts joined, if there are too many.
func (l looks) bounded() looks {
	for len(l) > mostLooks {
		var fewer looks
		for pair := range slices.Chunk(l, 2) {
			last := pair[len(pair)-1]
			earlier := slices.MinFunc(pair, func(a, b look) int { return cmp.Compare(a.At.UnixNano(), b.At.UnixNano()) })
			fewer = fewer.mark(last.Until, earlier.At)
		}
		l = fewer
	}
	return l
}
