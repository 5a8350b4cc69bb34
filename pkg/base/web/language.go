package web

import (
	"slices"
	"strconv"
	"strings"
)

// Language returns the language that a browser prefers most of those that there are (RFC 9110, 12.5.4), from its header
// Accept-Language. It is the first one if the browser prefers none of them.
func Language(header string, known []string) string {
	best, most := known[0], 0.0
	for part := range strings.SplitSeq(header, ",") {
		tag, quality, has := strings.Cut(strings.TrimSpace(part), ";q=")
		code, _, _ := strings.Cut(strings.ToLower(tag), "-")
		weight := 1.0
		if has {
			var err error
			if weight, err = strconv.ParseFloat(quality, 64); err != nil {
				continue
			}
		}
		if weight > most && slices.Contains(known, code) {
			best, most = code, weight
		}
	}
	return best
}
