package humafix

import "strings"

// huma writes places as "topics[1].name", and removes the end of one at a dot or bracket: after a member whose name has
// one, it reports wrong places. So quote hides such names from it.
var (
	quoted  = strings.NewReplacer("\x00", "\x000", ".", "\x001", "[", "\x002")
	unquote = strings.NewReplacer("\x000", "\x00", "\x001", ".", "\x002", "[")
)

// quote returns a value in which no member has a name with a dot or a bracket.
func quote(value any) any {
	if !mustQuote(value) {
		return value
	}
	return quoteAll(value)
}

func quoteAll(value any) any {
	switch v := value.(type) {
	case map[string]any:
		to := make(map[string]any, len(v))
		for name, member := range v {
			to[quoted.Replace(name)] = quoteAll(member)
		}
		return to
	case []any:
		to := make([]any, len(v))
		for i, item := range v {
			to[i] = quoteAll(item)
		}
		return to
	}
	return value
}

// mustQuote reports whether a member of a value has a name that quote changes.
func mustQuote(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			if strings.ContainsAny(name, "\x00.[") || mustQuote(member) {
				return true
			}
		}
	case []any:
		for _, item := range v {
			if mustQuote(item) {
				return true
			}
		}
	}
	return false
}
