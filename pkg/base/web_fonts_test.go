package base_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/web"
)

// The fonts of all pages are small, and each is named by a rule.
func TestFontsAreSmall(t *testing.T) {
	faces, size := web.FontFaces("../fonts/"), 0
	for name, content := range web.Fonts() {
		size += len(content)
		if !strings.HasPrefix(string(content), "wOF2") || !strings.Contains(faces, "url(../fonts/"+name+")") {
			t.Errorf("%s is no font, or no rule names it: %s", name, faces)
		}
	}
	if size == 0 || size > 70<<10 {
		t.Errorf("the fonts have %d bytes", size)
	}
	if n := len(regexp.MustCompile(`@font-face`).FindAllString(faces, -1)); n != len(web.Fonts()) {
		t.Errorf("%d rules of %d fonts", n, len(web.Fonts()))
	}
}
