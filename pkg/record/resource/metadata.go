package resource

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
