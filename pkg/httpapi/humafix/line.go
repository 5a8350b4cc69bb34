package humafix

import "github.com/danielgtaylor/huma/v2"

// The formats of texts. Line and LineNotBlank stand for a pattern, which the document shows.
const (
	// NotBlank is a text that may be empty, but must not consist of white space alone. A text with a minimum length
	// must not be blank either.
	NotBlank = "not-blank"
	// Line is a text without control characters.
	Line = "line"
	// LineNotBlank is both.
	LineNotBlank = "line-not-blank"
)

// DescribeLine replaces the formats Line and LineNotBlank of a schema by the pattern that they stand for.
func DescribeLine(s *huma.Schema) {
	switch s.Format {
	case Line:
		s.Format = ""
	case LineNotBlank:
		s.Format = NotBlank
	default:
		return
	}
	s.Pattern = "^[^" + oneLine + `\x7F]*$`
	s.PrecomputeMessages()
}
