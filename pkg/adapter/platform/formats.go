package platform

import "github.com/content-automation/api/pkg/base/format"

func init() {
	format.Define("digits", format.Format{Pattern: "^[0-9]{1,32}$", Wanted: "an id of digits"})
	format.Define("poll-choice", format.Format{Shortest: 1, Longest: 30, Fewest: 2, Many: 4, Distinct: true})
	texts := format.Values(Runes, UTF16, Bytes, Graphemes, EmojiBytes, Weighted)
	format.Define("text-unit", format.Format{Values: texts})
	format.Define("limit-unit", format.Format{Values: append(texts[:len(texts):len(texts)], "hashtags", "media")})
}
