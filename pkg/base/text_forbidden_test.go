package base_test

import (
	"testing"

	"github.com/content-automation/api/pkg/base/text"
)

func TestForbiddenCharacters(t *testing.T) {
	for _, s := range []string{"a\x00b", "a\bb", "a\x1bb", "a\x7fb", "a\u0085b", "a\ufffeb", "a\uffffb", "a\ufdd0b", "a\U0001fffeb"} {
		if _, at, found := text.Forbidden(s); !found || at != 1 || text.Plain(s) != "ab" {
			t.Errorf("%q: %d, %v, %q", s, at, found, text.Plain(s))
		}
	}
	for _, s := range []string{"", "a\r\n\tb", "Ж 中 👩‍🚀 \u00ad \ufffd \ufdcf \ufdf0", "\ufeffa"} {
		if r, at, found := text.Forbidden(s); found || text.Plain(s) != s {
			t.Errorf("%q: %U at %d, %q", s, r, at, text.Plain(s))
		}
	}
	if got := text.Plain("a\xffb"); got != "a\ufffdb" {
		t.Errorf("%q", got)
	}
}
