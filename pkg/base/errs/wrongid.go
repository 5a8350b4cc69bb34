package errs

import (
	"fmt"
	"strings"

	"github.com/content-automation/api/pkg/base/id"
)

// NotID returns the error of a parameter or member whose value is not the id of a resource: it names the resource whose
// id was sent, or else says what the parameter takes.
func NotID(param, noun, value string) *Error {
	if why := mistaken(noun, value); why != "" {
		return Invalid(param, "%s", why)
	}
	return Invalid(param, "is not the id of %s", withArticle(noun))
}

// mistaken describes a value that cannot be the id of a resource, or returns an empty text. The noun is that of the
// resource, such as "content item" or "API key".
func mistaken(noun, value string) string {
	noun = strings.ReplaceAll(noun, "_", " ")
	prefix, ok := id.Prefix(strings.ToLower(strings.ReplaceAll(noun, " ", "_")))
	if !ok || id.Valid(prefix, value) {
		return ""
	}
	takes := fmt.Sprintf("this takes %s id (%s_…)", withArticle(noun), prefix)
	value = clipped(value)
	before, _, isID := strings.Cut(value, "_")
	other, known := id.Noun(before)
	switch {
	case !isID || !known:
		return fmt.Sprintf("%q is not an id of this API; %s", value, takes)
	case before == prefix:
		return fmt.Sprintf("%q is not a whole id: after %s_ there are 26 small letters and digits", value, prefix)
	}
	return fmt.Sprintf("%q is the id of %s; %s", value, withArticle(other), takes)
}

func withArticle(noun string) string {
	if strings.ContainsAny(noun[:1], "aeioAEIO") {
		return "an " + noun
	}
	return "a " + noun
}

// clipped bounds an id that a message repeats: an id is at most this long, and the rest is not worth repeating.
func clipped(value string) string {
	const longest = 64
	if len(value) > longest {
		return strings.ToValidUTF8(value[:longest], "") + "…"
	}
	return value
}
