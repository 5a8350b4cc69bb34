package resource

import (
	"unicode/utf8"

	"github.com/content-automation/api/pkg/errs"
)

// The bounds of metadata.
const (
	MaxPairs      = 20
	MaxPairLength = 500
	maxPairName   = 40
)

// Metadata are the caller's own string pairs on a resource.
type Metadata map[string]string

// MetadataPatch is metadata in a merge patch: null removes a pair.
type MetadataPatch map[string]*string

// OrEmpty returns the pairs, or an empty map where there are none.
func (m Metadata) OrEmpty() Metadata {
	if m == nil {
		return Metadata{}
	}
	return m
}

// Check refuses pairs whose name is empty, too long or has control characters. The
// schema bounds their values.
func (m Metadata) Check() error {
	if len(m) > MaxPairs {
		return errs.Invalid("/metadata", "must have at most %d pairs", MaxPairs)
	}
	for name := range m {
		if name == "" || utf8.RuneCountInString(name) > maxPairName {
			return errs.Invalid("/metadata", "names must have 1 to %d characters", maxPairName)
		}
		for _, r := range name {
			if r < ' ' || r == 0x7f {
				return errs.Invalid("/metadata", "names must be free of control characters")
			}
		}
	}
	return nil
}
