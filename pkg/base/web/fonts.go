package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
)

// The fonts are made by infra/tools/console-assets.mjs. NOTICE has their licence.
//
//go:embed fonts/*.woff2
var fontFiles embed.FS

// fonts are the fonts: the family of each, its weights, and the characters that it is for.
var fonts = []struct{ file, family, weights, characters string }{
	{"inter", "Inter", "400 600", "U+20-7E,U+A0,U+B7,U+D7,U+2013-2014,U+2019,U+201C-201D,U+2026,U+2190,U+2192,U+2212"},
	{"inter-latin", "Inter", "400 600", "U+A1-B6,U+B8-D6,U+D8-FF"},
	{"inter-cyrillic", "Inter", "400 600", "U+401,U+410-44F,U+451,U+2116"},
	{"mono", "JetBrains Mono", "400", "U+20-7E"},
}

// Fonts are the contents of the fonts of all pages, by names that change with them.
var Fonts = sync.OnceValue(func() map[string][]byte {
	all := map[string][]byte{}
	for _, f := range fonts {
		content, _ := fontFiles.ReadFile("fonts/" + f.file + ".woff2")
		all[fontName(f.file, content)] = content
	}
	return all
})

func fontName(file string, content []byte) string {
	sum := sha256.Sum256(content)
	return file + "-" + hex.EncodeToString(sum[:6]) + ".woff2"
}

// FontFaces returns the rules of a style sheet for the fonts at a path, which ends with a slash or is empty. Text is
// shown in a font of the system until they are there.
func FontFaces(path string) string {
	var rules strings.Builder
	for _, f := range fonts {
		content, _ := fontFiles.ReadFile("fonts/" + f.file + ".woff2")
		fmt.Fprintf(&rules, "@font-face{font-family:%q;font-weight:%s;font-display:swap;"+
			"src:url(%s%s)format(\"woff2\");unicode-range:%s}\n", f.family, f.weights, path,
			fontName(f.file, content), f.characters)
	}
	return rules.String()
}
