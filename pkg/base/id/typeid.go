package id

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/gofrs/uuid/v5"
)

// A TypeID is a prefix, an underscore and a UUID, in 26 digits of five bits:
// https://github.com/jetify-com/typeid/tree/main/spec
const (
	alphabet      = "0123456789abcdefghjkmnpqrstvwxyz"
	suffixLength  = 26
	longestPrefix = 63
)

// Encode returns the TypeID of a prefix and a UUID. It panics if the prefix is not valid.
func Encode(prefix string, u uuid.UUID) string {
	if !validPrefix(prefix) {
		panic(fmt.Sprintf("id: prefix %q", prefix))
	}
	high, low := binary.BigEndian.Uint64(u[:8]), binary.BigEndian.Uint64(u[8:])
	var suffix [suffixLength]byte
	for i := suffixLength - 1; i >= 0; i-- {
		suffix[i] = alphabet[low&31]
		high, low = high>>5, high<<59|low>>5
	}
	if prefix == "" {
		return string(suffix[:])
	}
	return prefix + "_" + string(suffix[:])
}

// Decode returns the prefix and the UUID of a TypeID, or false if s is none.
func Decode(s string) (prefix string, u uuid.UUID, ok bool) {
	i := strings.LastIndexByte(s, '_')
	prefix, suffix := s[:max(i, 0)], s[i+1:]
	// A suffix that begins with a digit above 7 has more than 128 bits.
	if i == 0 || !validPrefix(prefix) || len(suffix) != suffixLength || suffix[0] > '7' {
		return "", u, false
	}
	var high, low uint64
	for i := range suffixLength {
		digit := strings.IndexByte(alphabet, suffix[i])
		if digit < 0 {
			return "", u, false
		}
		high, low = high<<5|low>>59, low<<5|uint64(digit)
	}
	binary.BigEndian.PutUint64(u[:8], high)
	binary.BigEndian.PutUint64(u[8:], low)
	return prefix, u, true
}

// validPrefix reports whether a TypeID may have the prefix, which may be empty.
func validPrefix(prefix string) bool {
	return len(prefix) <= longestPrefix && strings.Trim(prefix, "_") == prefix &&
		!strings.ContainsFunc(prefix, func(c rune) bool { return (c < 'a' || c > 'z') && c != '_' })
}
