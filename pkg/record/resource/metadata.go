package resource

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/store"
)

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

// Tagged is the query parameter that selects resources by their metadata. Embed it.
type Tagged struct {
	// Only resources with this pair in their metadata, such as metadata[order]=4711. Of several pairs, they have all.
	Metadata Metadata `query:"metadata,deepObject"`
}

// Into adds the filter to the query of a list.
func (t Tagged) Into(q *store.Query) {
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
