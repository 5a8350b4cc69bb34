package text

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

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
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case len(head) >= 4 && head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case len(head) >= 4 && head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
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
