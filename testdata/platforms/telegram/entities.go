package telegram

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// styles are the tags that the Bot API takes, section "HTML style", with the attributes of each.
var styles = map[string][]string{
	"b": nil, "strong": nil, "i": nil, "em": nil, "u": nil, "ins": nil, "s": nil, "strike": nil, "del": nil,
	"tg-spoiler": nil, "pre": nil, "span": {"class"}, "a": {"href"}, "code": {"class"}, "tg-emoji": {"emoji-id"},
	"blockquote": {"expandable"},
}

var (
	startTag = regexp.MustCompile(`^<([a-zA-Z-]+)((?:\s+[a-zA-Z-]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[a-zA-Z0-9.-]+))?)*)\s*>`)
	endTag   = regexp.MustCompile(`^</([a-zA-Z-]*)\s*>`)
	attr     = regexp.MustCompile(`([a-zA-Z-]+)(?:\s*=\s*("[^"]*"|'[^']*'|[a-zA-Z0-9.-]+))?`)
	entity   = regexp.MustCompile(`^&(lt|gt|amp|quot|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});`)
)

// visible returns what a reader sees of a text: its tags are read, and its entities replaced. The limits of lengths are
// those "after entities parsing".
func visible(text, mode string) (string, *refusal) {
	switch strings.ToLower(mode) {
	case "":
		return text, nil
	case "html":
	default:
		return "", bad("unsupported parse_mode")
	}
	var b strings.Builder
	var open []string
	for at := 0; at < len(text); {
		rest := text[at:]
		switch {
		case strings.HasPrefix(rest, "</"):
			m := endTag.FindStringSubmatch(rest)
			if m == nil {
				return "", bad("can't parse entities: Unclosed end tag at byte offset %d", at)
			}
			name := strings.ToLower(m[1])
			if len(open) == 0 {
				return "", bad("can't parse entities: Unexpected end tag at byte offset %d", at)
			}
			if last := open[len(open)-1]; name != "" && name != last {
				return "", bad("can't parse entities: Unmatched end tag at byte offset %d, expected \"</%s>\", found "+
					"\"</%s>\"", at, last, name)
			}
			open = open[:len(open)-1]
			at += len(m[0])
		case rest[0] == '<':
			m := startTag.FindStringSubmatch(rest)
			if m == nil || !takes(strings.ToLower(m[1]), m[2]) {
				name := ""
				if m != nil {
					name = m[1]
				}
				return "", bad("can't parse entities: Unsupported start tag \"%s\" at byte offset %d", name, at)
			}
			open = append(open, strings.ToLower(m[1]))
			at += len(m[0])
		case rest[0] == '&' && entity.MatchString(rest):
			m := entity.FindStringSubmatch(rest)
			b.WriteString(sign(m[1]))
			at += len(m[0])
		default:
			_, n := utf8.DecodeRuneInString(rest)
			b.WriteString(rest[:n])
			at += n
		}
	}
	if len(open) > 0 {
		return "", bad("can't parse entities: Can't find end tag corresponding to start tag \"%s\"", open[len(open)-1])
	}
	return b.String(), nil
}

// takes reports whether the Bot API knows a tag. It ignores attributes that it does not know, and wants the class of a
// span.
func takes(name, attributes string) bool {
	known, ok := styles[name]
	if name != "span" {
		return ok
	}
	for _, m := range attr.FindAllStringSubmatch(attributes, -1) {
		if slices.Contains(known, m[1]) && strings.Trim(m[2], `"'`) == "tg-spoiler" {
			return true
		}
	}
	return false
}

// sign returns the character of an entity.
func sign(name string) string {
	if named, ok := map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`}[name]; ok {
		return named
	}
	digits, base := name[1:], 10
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseInt(digits, base, 32)
	if err != nil || !utf8.ValidRune(rune(n)) {
		return fmt.Sprintf("&%s;", name)
	}
	return string(rune(n))
}
