package text

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	encodings "golang.org/x/text/encoding/unicode"
)

// elements are the elements of HTML. What stands in other angle brackets is text, such as a size in <M>.
var elements = words(`a abbr acronym address area article aside audio b base basefont bdi bdo big blink blockquote body
	br button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em
	embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i
	iframe img input ins kbd label legend li link main map mark marquee menu meta meter nav nobr noframes noscript
	object ol optgroup option output p param picture pre progress q rb rp rt ruby s samp script search section select
	slot small source span strike strong style sub summary sup svg table tbody td template tfoot th thead time tr
	track tt u ul var video wbr`)

// breaks are the elements that begin or end a line, and hidden those whose text nobody sees.
var (
	breaks = words(`address article aside blockquote body br dd details div dl dt fieldset figcaption figure footer form
	h1 h2 h3 h4 h5 h6 head header hr html legend li main nav ol option p pre section summary table tbody tfoot thead tr
	ul`)
	hidden = words("iframe noframes noscript script style svg template")
)

func words(list string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		all[word] = true
	}
	return all
}

// OfHTML returns the plain text of a text that may have HTML: without tags, comments, scripts and styles, with a line
// for each paragraph, and without empty lines, control characters and spaces in a row.
func OfHTML(text string) string {
	if strings.ContainsAny(text, "<&") {
		text = withoutTags(text)
	}
	kept := []string{}
	for line := range strings.FieldsFuncSeq(strings.Map(plainRune, text), func(r rune) bool { return r == '\n' }) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// plainRune returns a space for a space of any kind, and nothing for a control character.
func plainRune(r rune) rune {
	switch {
	case r == '\r' || r == '\n' || r == '\u2028' || r == '\u2029':
		return '\n'
	case r == '\t' || unicode.Is(unicode.Zs, r):
		return ' '
	case unicode.IsControl(r):
		return -1
	}
	return r
}

func withoutTags(text string) string {
	var b strings.Builder
	tokens, seen := html.NewTokenizer(strings.NewReader(text)), true
	for {
		kind := tokens.Next()
		raw := string(tokens.Raw()) // TagName changes it
		switch kind {
		case html.ErrorToken:
			b.WriteString(html.UnescapeString(raw)) // an angle bracket without an end
			return b.String()
		case html.TextToken:
			if seen {
				b.WriteString(html.UnescapeString(raw))
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			tag, _ := tokens.TagName()
			switch name := string(tag); {
			case !elements[name] && !strings.ContainsAny(name, "-:"): // those are of others
				if seen {
					b.WriteString(html.UnescapeString(raw))
				}
			case hidden[name] && kind == html.StartTagToken:
				seen = false
			case hidden[name]:
				seen = true
			case breaks[name]:
				b.WriteByte('\n')
			case name == "td" || name == "th":
				b.WriteByte(' ')
			}
		}
	}
}

// declaration matches the declaration of an XML document, which may name its encoding.
var declaration = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["'][^>]*\?>`)
})

// WithoutDeclaration removes a declaration of XML that names an encoding.
func WithoutDeclaration(xml []byte) []byte { return xml[len(declaration().Find(xml)):] }

// Wide returns the encoding of a text whose characters have two bytes, by its byte order mark or its first characters.
// Nil: they have not.
func Wide(head []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		return encodings.UTF16(encodings.LittleEndian, encodings.UseBOM)
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return encodings.UTF16(encodings.BigEndian, encodings.UseBOM)
	case len(head) >= 4 && head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0:
		return encodings.UTF16(encodings.LittleEndian, encodings.IgnoreBOM)
	case len(head) >= 4 && head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0:
		return encodings.UTF16(encodings.BigEndian, encodings.IgnoreBOM)
	}
	return nil
}

// Declared returns the encoding that the XML declaration of a text names, or else the one with the label, such as that
// of a server. Nil: it is UTF-8, unknown, or none is named.
func Declared(head []byte, label string) encoding.Encoding {
	if m := declaration().FindSubmatch(head); m != nil {
		label = string(m[1])
	}
	from, name := charset.Lookup(label)
	if strings.EqualFold(name, "utf-8") {
		return nil
	}
	return from
}
