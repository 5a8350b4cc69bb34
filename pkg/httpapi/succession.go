package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Succession says that an operation is deprecated, and which one follows it. Answers say so in the headers Deprecation
// (RFC 9745), Sunset (RFC 8594) and Link. At least 180 days lie between the two times.
type Succession struct {
	// Path is the path of the operation that follows, and Operation its id.
	Path, Operation string
	// Deprecated is the time from which on it is advised against, and Sunset that from which on it may be removed.
	Deprecated, Sunset time.Time
}

// addTo adds the headers to those of an answer, also of a refusal. Without a succession it adds nothing.
func (s *Succession) addTo(h http.Header) {
	if s == nil {
		return
	}
	h.Set("Deprecation", "@"+strconv.FormatInt(s.Deprecated.Unix(), 10))
	h.Set("Sunset", s.Sunset.UTC().Format(http.TimeFormat))
	h.Set("Link", "<"+s.Path+`>; rel="successor-version"`)
}

// describe marks the operation in the document. Generators of Go know the paragraph that begins with Deprecated.
func (s *Succession) describe(o *huma.Operation) {
	o.Deprecated = true
	o.Description += "\n\nDeprecated: use `" + s.Operation + "` (`" + s.Path + "`) instead. This operation is served " +
		"until " + s.Sunset.UTC().Format(time.DateOnly) + " at least."
	o.Extensions["x-sunset"] = s.Sunset.UTC().Format(time.DateOnly)
}
