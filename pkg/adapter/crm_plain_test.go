package adapter_test

import (
	"testing"

	"github.com/content-automation/api/pkg/adapter/crm"
)

func TestDescriptionsInHTMLBecomeText(t *testing.T) {
	for from, want := range map[string]string{
		"Caf&eacute; &amp; Tea": "Café & Tea",
		"<p>Soft</p>":           "Soft",
		"<p>Soft,<br>warm</p>\n<ul><li>red<li>blue</ul>":   "Soft,\nwarm\n- red\n- blue",
		"<DIV style=\"a>b\">Made of <b>wool</b></DIV>":     "Made of wool",
		"<script>alert(1)</script><style>p{}</style>Shoe":  "Shoe",
		"Gr&#246;&szlig;e&nbsp;42 &#x2713;":                "Größe 42 ✓",
		"<table><tr><td>Size</td><td>42</td></tr></table>": "Size 42",
		"5 < 6 and 7 > 6": "5 < 6 and 7 > 6",
		"M&S, <3, a<b":    "M&S, <3, a<b",
		"Line\n\nLine":    "Line\n\nLine",
		"":                "",
	} {
		if got := crm.Plain(from); got != want {
			t.Errorf("%q is %q, want %q", from, got, want)
		}
	}
}
