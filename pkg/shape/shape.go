// Package shape tells whether texts have a shape, such as that of an id.
package shape

import (
	"regexp"
	"sync"
)

// Of gives what tells whether a text matches a pattern. The pattern is compiled
// when it is first asked for: most functions that link one never ask, and each
// repetition of up to a hundred characters would delay their start by a tenth of a
// millisecond. A pattern that is none panics then.
func Of(pattern string) func(text string) bool {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	return func(text string) bool { return compiled().MatchString(text) }
}
