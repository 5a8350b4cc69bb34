package docs

import (
	"html"
	"regexp"
	"strings"
)

const (
	quoted    = `"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`
	number    = `(?P<n>\b\d+(?:\.\d+)?\b)`
	lineHash  = `(?P<c>(?m:(?:^|\s)#[^\n]*))`
	lineSlash = `(?P<c>(?m:(?:^|\s)//[^\n]*))`
	goWords   = `break|case|const|continue|default|defer|else|for|func|go|if|import|map|nil|package|range|return|` +
		`struct|switch|type|var`
	jsWords = `async|await|catch|const|default|else|export|for|from|function|if|import|let|new|null|of|return|` +
		`throw|try|undefined`
	pyWords    = `and|as|def|else|except|False|for|from|if|import|in|None|not|or|raise|return|True|try|while|with`
	shellWords = `curl|do|done|echo|else|export|fi|for|if|in|then|until|while|wait`
)

// syntaxes find what code samples show in colors, by the name of their language: comments (c), texts (s), words and the
// members of JSON (k), and numbers (n). They are simple: a part that they miss is shown as the rest.
var syntaxes = func() map[string]*regexp.Regexp {
	words := func(list string) string { return `(?P<k>\b(?:` + list + `)\b)` }
	code := func(comment, list string) *regexp.Regexp {
		return regexp.MustCompile(comment + "|(?P<s>" + quoted + "|`[^`]*`)|" + words(list) + "|" + number)
	}
	shell := regexp.MustCompile(lineHash + `|(?P<s>` + quoted + `)|` + words(shellWords) + `|(?P<n>\$\{?\w+\}?)`)
	python := regexp.MustCompile(lineHash + `|(?P<s>` + quoted + `)|` + words(pyWords) + `|` + number)
	return map[string]*regexp.Regexp{
		"json": regexp.MustCompile(`(?P<k>"(?:[^"\\]|\\.)*"\s*:)|(?P<s>` + quoted +
			`)|(?P<n>\b(?:true|false|null)\b|-?\b\d+(?:\.\d+)?\b)`),
		"sh": shell, "bash": shell, "python": python, "py": python, "yaml": python,
		"go": code(lineSlash, goWords), "js": code(lineSlash, jsWords), "ts": code(lineSlash, jsWords),
		"javascript": code(lineSlash, jsWords), "typescript": code(lineSlash, jsWords),
	}
}()

var sample = regexp.MustCompile(`(?s)<code class="language-(\w+)">(.*?)</code>`)

// highlight adds the colors to the code samples of a page.
func highlight(page string) string {
	return sample.ReplaceAllStringFunc(page, func(found string) string {
		parts := sample.FindStringSubmatch(found)
		syntax := syntaxes[parts[1]]
		if syntax == nil {
			return found
		}
		code, names := html.UnescapeString(parts[2]), syntax.SubexpNames()
		var out strings.Builder
		last := 0
		for _, at := range syntax.FindAllStringSubmatchIndex(code, -1) {
			for i := 1; i < len(names); i++ {
				if at[2*i] < 0 || names[i] == "" {
					continue
				}
				out.WriteString(html.EscapeString(code[last:at[0]]))
				out.WriteString(`<span class="` + names[i] + `">` + html.EscapeString(code[at[0]:at[1]]) + `</span>`)
				last = at[1]
				break
			}
		}
		out.WriteString(html.EscapeString(code[last:]))
		return `<code class="language-` + parts[1] + `">` + out.String() + `</code>`
	})
}
