package text

import "strings"

// NotOneOf returns the message about a value that is none of a closed list: the value that was probably meant, if one
// is close, and all values.
func NotOneOf(value string, values []string) string {
	hint := NearestHint(value, values)
	if hint == "" {
		hint = "."
	}
	return "is not a known value" + hint + " The values are " + strings.Join(values, ", ")
}
