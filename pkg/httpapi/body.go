package httpapi

import (
	"bytes"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/errs"
)

// wellFormed refuses a body of which something would be lost silently: text that
// is not UTF-8 or has half of a character, and a member that is sent twice. What is no JSON at all is left to
// the parser, as is a body of another media type.
func wellFormed(body []byte) error {
	if !json.Valid(body) {
		return nil
	}
	if !utf8.Valid(body) || halfCharacter(body) {
		return errNotJSON()
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var place []level
	for {
		token, err := d.Token()
		if err != nil { // the end: the body is valid
			return nil
		}
		at := len(place) - 1
		if token == json.Delim('}') || token == json.Delim(']') {
			place = place[:at]
			continue
		}
		if at >= 0 {
			if name, twice, isName := place[at].enter(token); isName {
				if twice {
					return errs.Invalid(pointerOf(place[:at])+"/"+escape(name), "is sent twice: send it once")
				}
				continue
			}
		}
		switch token {
		case json.Delim('{'):
			place = append(place, level{object: true, names: map[string]bool{}})
		case json.Delim('['):
			place = append(place, level{index: -1})
		}
	}
}

// halfCharacter tells whether valid JSON has the escape of one half of a surrogate pair
// without the other. It is no character, and the parser would put another in its place.
func halfCharacter(body []byte) bool {
	pending := false // whether a second half must follow
	for i := 0; i < len(body); i++ {
		unit := rune(-1)
		if body[i] == '\\' {
			i++
			if body[i] == 'u' {
				n, _ := strconv.ParseUint(string(body[i+1:i+5]), 16, 16) // the body is valid
				unit = rune(n)
				i += 4
			}
		}
		if second := unit >= 0xdc00 && unit <= 0xdfff; second != pending {
			return true
		}
		pending = unit >= 0xd800 && unit <= 0xdbff
	}
	return false
}

// level is an object or array that is being read.
type level struct {
	object bool
	names  map[string]bool
	name   string // of the member that is being read
	valued bool   // whether the next token is the value of name
	index  int    // of the item that is being read
}

// enter notes the next token within an object or array: a member's name, or what
// a value begins with.
func (l *level) enter(token json.Token) (name string, twice, isName bool) {
	if !l.object {
		l.index++
		return "", false, false
	}
	if l.valued {
		l.valued = false
		return "", false, false
	}
	l.name, _ = token.(string) // a name is a string
	twice = l.names[l.name]
	l.names[l.name], l.valued = true, true
	return l.name, twice, true
}

// pointerOf gives the JSON pointer of what is being read.
func pointerOf(place []level) string {
	var b strings.Builder
	for _, l := range place {
		b.WriteByte('/')
		if l.object {
			b.WriteString(escape(l.name))
		} else {
			b.WriteString(strconv.Itoa(l.index))
		}
	}
	return b.String()
}

// escape writes a name as a part of a JSON pointer (RFC 6901, 3).
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// locate turns huma's place in a body ("topics[1]", "metadata.crm.id") into a JSON
// pointer. Names may have dots and brackets themselves, so it follows the place
// through what was sent; where that ends, as at a member that is missing, the rest
// is read as it is written.
func locate(place string, sent any) string {
	if place == "" {
		return ""
	}
	switch v := sent.(type) {
	case map[string]any:
		found := ""
		for name := range v {
			rest, ok := strings.CutPrefix(place, name)
			if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') && len(name) > len(found) {
				found = name
			}
		}
		if found != "" {
			return "/" + escape(found) + locate(strings.TrimPrefix(place[len(found):], "."), v[found])
		}
	case []any:
		digits, rest, _ := strings.Cut(strings.TrimPrefix(place, "["), "]")
		if n, err := strconv.Atoi(digits); err == nil && n >= 0 && n < len(v) {
			return "/" + digits + locate(strings.TrimPrefix(rest, "."), v[n])
		}
	}
	return "/" + strings.ReplaceAll(bracket().ReplaceAllString(place, ".$1"), ".", "/")
}

// refuseTwice refuses parameters of which one is sent twice: all but the first would
// be lost silently.
func refuseTwice(query url.Values) error {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if len(query[name]) > 1 {
			return errs.Invalid(name, "is sent twice: send it once")
		}
	}
	return nil
}

// refuseBody refuses what is sent to an operation that takes no body: it would be
// lost silently. An empty object is what some clients send for none.
func refuseBody(body []byte) error {
	if b := bytes.TrimSpace(body); len(b) > 0 && !bytes.Equal(b, []byte("{}")) {
		return errs.Invalid("", "This operation takes no body. Leave it out.")
	}
	return nil
}

// isTaken tells whether a method takes bodies of a media type. Other kinds of JSON,
// such as a JSON Patch, mean something else.
func isTaken(method, contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" || kind == "application/merge-patch+json" && method == http.MethodPatch)
}

func errMediaType() *errs.Error {
	return errs.New(errs.UnsupportedMediaType, "Send the body as JSON, with the header Content-Type: application/json.")
}

func errNotJSON() *errs.Error {
	return errs.New(errs.MalformedJSON, "The body is not valid JSON. Send one JSON object in UTF-8.")
}
