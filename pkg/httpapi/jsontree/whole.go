package jsontree

import "bytes"

// Whole returns a valid JSON text with whole numbers written without a fraction: 60 for 60.0. JSON Schema takes both
// for an integer, and languages without a type for integers write the second, but package json does not read it as one.
func Whole(text []byte) []byte {
	if !bytes.Contains(text, []byte(".0")) {
		return text
	}
	out := make([]byte, 0, len(text))
	quoted := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted && c == '\\':
			out = append(out, c)
			i++
			c = text[i]
		case c == '"':
			quoted = !quoted
		case !quoted && c == '.':
			end := i + 1
			for end < len(text) && text[end] == '0' {
				end++
			}
			if end == len(text) || bytes.IndexByte([]byte("0123456789eE"), text[end]) < 0 {
				i = end - 1
				continue
			}
		}
		out = append(out, c)
	}
	return out
}
