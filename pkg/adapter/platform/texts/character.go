package texts

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// spaceOfX has the spaces of the library, and direction its marks of direction.
var (
	spaceOfX = &unicode.RangeTable{R16: []unicode.Range16{{0x09, 0x0D, 1}, {0x20, 0x20, 1}, {0x85, 0x85, 1},
		{0xA0, 0xA0, 1}, {0x1680, 0x1680, 1}, {0x180E, 0x180E, 1}, {0x2000, 0x200A, 1}, {0x2028, 0x2029, 1},
		{0x202F, 0x202F, 1}, {0x205F, 0x205F, 1}, {0x3000, 0x3000, 1}}, LatinOffset: 4}
	direction = &unicode.RangeTable{R16: []unicode.Range16{{0x61C, 0x61C, 1}, {0x200E, 0x200F, 1}, {0x202A, 0x202E, 1},
		{0x2066, 0x2069, 1}}}
	// accented has the letters beyond ASCII that X takes as Latin, whatever their case.
	accented = &unicode.RangeTable{R16: []unicode.Range16{
		{0xC0, 0xD6, 1}, {0xD8, 0xF6, 1}, {0xF8, 0x24F, 1}, {0x253, 0x254, 1}, {0x256, 0x257, 1},
		{0x259, 0x259, 1}, {0x25B, 0x25B, 1}, {0x260, 0x260, 1}, {0x263, 0x263, 1}, {0x268, 0x269, 1},
		{0x26F, 0x26F, 1}, {0x272, 0x272, 1}, {0x275, 0x275, 1}, {0x280, 0x280, 1}, {0x283, 0x283, 1},
		{0x288, 0x28C, 1}, {0x292, 0x292, 1}, {0x2BB, 0x2BB, 1}, {0x300, 0x36F, 1}, {0x399, 0x399, 1},
		{0x3B9, 0x3B9, 1}, {0x1E00, 0x1EFF, 1}, {0x1FBE, 0x1FBE, 1}, {0x2C65, 0x2C66, 1},
		{0x2C7E, 0x2C7F, 1}, {0xA7DC, 0xA7DC, 1}},
		LatinOffset: 2}
	cyrillic = &unicode.RangeTable{R16: []unicode.Range16{{0x400, 0x4FF, 1}, {0x1C80, 0x1C87, 1}}}
)

// punctuation is the punctuation of the library.
const punctuation = `!'#%&'()*+,\-./:;<=>?@[]^_{|}~$`

// invalid are characters that X takes in no text.
const invalid = "\uFFFE\uFEFF\uFFFF"

// domainChar reports whether a character may be in a label for X: all but punctuation and spaces may.
func domainChar(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && !strings.ContainsRune(punctuation, r) || r < 9 || r > 13 && r < ' '
	}
	return !unicode.In(r, spaceOfX, direction) && !strings.ContainsRune(invalid, r)
}

func labelChar(r rune) bool { return r == '-' || r == '_' || domainChar(r) }

// accentedChar reports whether a character may be in a label of a link without a scheme.
func accentedChar(r rune) bool {
	return ascii(r) || r == '-' || r >= utf8.RuneSelf && unicode.Is(accented, r)
}

// pathChar reports whether a character may be in a path, and pathEnd whether it may end one.
func pathChar(r rune) bool {
	return pathEnd(r) || r == '–' || r < utf8.RuneSelf && r > 0 && strings.ContainsRune(`!*';:,.$%[]~@|&`, r)
}

func pathEnd(r rune) bool {
	if r < utf8.RuneSelf {
		return ascii(r) || r > 0 && strings.ContainsRune("+-=_#/", r)
	}
	return unicode.In(r, accented, cyrillic)
}

func queryChar(r rune) bool {
	return ascii(r) || r > 0 && strings.ContainsRune("!?*'@();:&=+$/%#[]-_.,~|", r)
}

func queryEnd(r rune) bool { return ascii(r) || r > 0 && strings.ContainsRune("-_&=#/", r) }
