package platform_test

import (
	"testing"

	"github.com/content-automation/api/pkg/adapter/platform/texts"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"plain":       "plain",
		"<b>bold</b>": "bold",
		`<a href="https://a.com/?a=1&amp;b=2">inline URL</a>`:   "inline URL",
		"&lt;b&gt; &amp;amp; &quot;":                            `<b> &amp; "`,
		"&#128095;&#x1F45F;":                                    "👟👟",
		"&nbsp;&copy; & a":                                      "&nbsp;&copy; & a", // no names that Telegram knows
		"1 < 2 > 1":                                             "1 < 2 > 1",
		`<span class="tg-spoiler">spoiler</span>`:               "spoiler",
		`<tg-emoji emoji-id="5368324170671202286">👍</tg-emoji>`: "👍",
		`<pre><code class="language-python">print</code></pre>`: "print",
		"<blockquote expandable>a\nb</blockquote>":              "a\nb",
	} {
		if got := texts.Plain(text); got != want {
			t.Errorf("%q shows %q, want %q", text, got, want)
		}
	}
}

func TestDivide(t *testing.T) {
	for _, c := range []struct {
		text        string
		first, next int
		head, tail  string
	}{
		{"one two", 3, 4, "one", "two"},
		{"<b>one two</b>", 3, 4, "<b>one</b>", "<b>two</b>"},
		{"<b>one</b> two", 3, 4, "<b>one</b>", "two"},
		{"one <b>two</b>", 3, 4, "one", "<b>two</b>"},
		{`<b>a <i>b c</i></b> <a href="https://a.com">d</a>`, 3, 4, "<b>a <i>b</i></b>",
			`<b><i>c</i></b> <a href="https://a.com">d</a>`},
		{"a&amp; &lt;b", 2, 3, "a&amp;", "&lt;b"},
		{"<b>one</b>", 3, 3, "<b>one</b>", ""},
	} {
		if head, tail := texts.Divide(c.text, c.first, c.next); head != c.head || tail != c.tail {
			t.Errorf("%q is divided into %q and %q", c.text, head, tail)
		}
	}
}
