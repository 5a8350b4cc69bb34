package crm

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// markup finds what editors of CRMs write into descriptions: the start or end of a known element, or a character by its
// name or number. Other texts, such as "5 < 6" and "M&S", have none.
var markup = regexp.MustCompile(`(?i)</?(?:p|br|div|span|b|i|u|s|a|h[1-6]|ul|ol|li|strong|em|table|tbody|thead|tr|td|` +
	`th|img|font|hr|blockquote|pre|code|small|sub|sup|section|article|script|style)\b[^<>]*>|&#?[a-z0-9]{2,31};`)

// blocks are the elements that begin and end a line.
var blocks = map[string]bool{"p": true, "br": true, "div": true, "h1": true, "h2": true, "h3": true, "h4": true,
	"h5": true, "h6": true, "ul": true, "ol": true, "li": true, "table": true, "tr": true, "hr": true,
	"blockquote": true, "pre": true, "section": true, "article": true}

// Plain returns a description as plain text if it is in HTML: its elements become lines, and the names of characters
// become characters. Scripts and styles are left out.
func Plain(description string) string {
	if !markup.MatchString(description) {
		return description
	}
	var out strings.Builder
	var hidden string // the element whose text is not shown
	tokens := html.NewTokenizer(strings.NewReader(description))
	for {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			return lines(out.String())
		case html.TextToken:
			if hidden == "" {
				out.WriteString(string(tokens.Text()))
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			raw, _ := tokens.TagName()
			name := string(raw)
			switch {
			case kind == html.StartTagToken && (name == "script" || name == "style"):
				hidden = name
			case kind == html.EndTagToken && name == hidden:
				hidden = ""
			case blocks[name]:
				out.WriteByte('\n')
			case name == "td" || name == "th":
				out.WriteByte(' ')
			}
			if name == "li" && kind == html.StartTagToken {
				out.WriteString("- ")
			}
		}
	}
}

// lines returns the lines of a text that are not empty, with single spaces.
func lines(text string) string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(line), " "); line != "" && line != "-" {
			all = append(all, line)
		}
	}
	return strings.Join(all, "\n")
}
