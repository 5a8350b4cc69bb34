// Package format has the formats of members, by the name in their tag format. A tag cannot be wrapped, and members of
// several types share a format: a pattern, a list of values or an example stands here or in the package that knows it.
// Define adds a format, and Of finds it.
package format

import (
	"fmt"
	"strings"
)

// Format is what a name stands for, in the words of JSON Schema. What is zero is left as the tags of the member have
// it.
type Format struct {
	// Name is the format that JSON Schema has, such as uri.
	Name string
	// Pattern is the pattern of a text, and Wanted says what it wants. A refusal says: must be Wanted.
	Pattern, Wanted string
	// Values are all values.
	Values []string
	// Example is an example of the value, in the form of parsed JSON.
	Example any
	// Shortest and Longest bound the length of a text, in characters.
	Shortest, Longest int
	// Most is the largest number. The smallest is 0 then.
	Most float64
	// Fewest and Many bound the number of entries of a list whose entries have the format. Distinct refuses an entry
	// that is there twice. List is an example of the list.
	Fewest, Many int
	Distinct     bool
	List         []any
}

// NotBlank is the name of the format of texts that may be empty, but must not consist of white space alone. A text with
// a minimum length must not be blank either.
const NotBlank = "not-blank"

// OneLine is the pattern of texts without control characters.
const OneLine = `^[^\x00-\x1F\x7F]*$`

var all = map[string]Format{
	"line":           {Pattern: OneLine},
	"line-not-blank": {Name: NotBlank, Pattern: OneLine},
	"country":        {Pattern: "^[A-Z]{2}$", Wanted: "an ISO 3166-1 code of two letters"},
	"currency":       {Pattern: "^[A-Z]{3}$", Wanted: "three capital letters"},
	"sha256": {Pattern: "^[0-9a-f]{64}$", Wanted: "64 lower-case hexadecimal digits",
		Example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
	"month":           {Pattern: "^[0-9]{4}-(0[1-9]|1[0-2])$", Wanted: "a month, such as 2026-11", Example: "2026-11"},
	"status-or-class": {Pattern: "^[1-5]([0-9]{2}|xx)$", Wanted: "a status, such as 429 or 4xx", Example: "429"},
	"web-address":     {Name: "uri", Pattern: `^https?://\S+$`, Wanted: "an address of the web", Longest: 2048},
	"word":            {Pattern: "^[A-Za-z0-9_-]*$", Wanted: "letters, digits, - and _"},
	"credits":         {Name: "int64", Most: 1e12},
}

// Define gives a format its name, and returns it. Call it before main.
func Define(name string, f Format) Format {
	if _, twice := all[name]; twice {
		panic(fmt.Sprintf("format: %s is defined twice", name))
	}
	all[name] = f
	return f
}

// Of returns the format with a name, and false if none was defined.
func Of(name string) (Format, bool) {
	f, ok := all[name]
	return f, ok
}

// Words returns the words of a text as values.
func Words(text string) []string { return strings.Fields(text) }

// Values returns values as texts.
func Values[T ~string](values ...T) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return texts
}
