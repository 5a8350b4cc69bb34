package platform_test

import (
	"regexp"
	"strings"
)

// difference is a reason for which Bluesky is read otherwise than by its own client, with a function that changes what
// the client finds accordingly, and reports whether it did.
type difference struct {
	why    string
	change func(facet *[4]any) bool
}

// foreign are addresses with signs in which they lead nowhere, after a path has begun or a host has ended.
var foreign = regexp.MustCompile(`^(https?://[^/?#]*?\.[a-z]+|https?://[^/?#]*[/?#].*?)` +
	`[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}「」、。，！…“”«»].*$`)

var differences = []difference{
	{"a server refuses an address without a scheme, which the client makes of a domain that begins with http",
		func(f *[4]any) bool {
			address := f[3].(string)
			if f[0] != "link" || strings.Contains(address, "://") {
				return false
			}
			f[3] = "https://" + address
			return true
		}},
	{"an address ends before typographic quotes, and letters of scripts without spaces: with them, it leads nowhere",
		func(f *[4]any) bool {
			address := f[3].(string)
			m := foreign.FindStringSubmatch(address)
			if f[0] != "link" || m == nil {
				return false
			}
			short := strings.TrimRight(m[1], ",.!")
			if !strings.Contains(short, "(") {
				short = strings.TrimSuffix(short, ")")
			}
			f[2], f[3] = f[2].(float64)-float64(len(address)-len(short)), short
			return true
		}},
}
