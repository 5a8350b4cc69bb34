package base_test

import (
	"testing"

	"github.com/content-automation/api/pkg/base/text"
)

func TestTextsOfHTML(t *testing.T) {
	for html, want := range map[string]string{
		"<p>Soft</p><p>Mild &amp; fine</p>":                     "Soft\nMild & fine",
		"<h3>Tea</h3>From <b>As</b>sam<br/>Green<BR>":           "Tea\nFrom Assam\nGreen",
		"<ul><li>One<li>Two</ul>":                               "One\nTwo",
		"<table><tr><td>a</td><td>b</td></tr></table>":          "a b",
		"<script>alert('<p>')</script>Tea<style>p{}</style>":    "Tea",
		"<!-- <b>no</b> -->Tea<iframe src=x>no</iframe>":        "Tea",
		"Tea <5 g & more":                                       "Tea <5 g & more",
		"Size <M> or <XL>, I <3 it":                             "Size <M> or <XL>, I <3 it",
		"a <b":                                                  "a <b",
		"1 < 2 &lt; 3 &nbsp;&euro;":                             "1 < 2 < 3 €",
		"&lt;p&gt;typed&lt;/p&gt;":                              "<p>typed</p>",
		"<section><custom-tag>x</custom-tag><o:p/></section>":   "x",
		"one\r\n\r\n\u2028two\x00\ttabs\u00a0and\u202fspaces\n": "one\ntwo tabs and spaces",
		"<script>no end":                                        "",
		"":                                                      "",
	} {
		if got := text.OfHTML(html); got != want {
			t.Errorf("%q is %q, want %q", html, got, want)
		}
	}
}
