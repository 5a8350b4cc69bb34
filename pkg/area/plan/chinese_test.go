package plan_test

import (
	"net/http"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/content-automation/api/pkg/area/plan"
)

// A plan for readers of traditional Chinese has no character that only simplified Chinese has: the character set of
// Taiwan lacks those.
func TestAPlanIsInTheCharactersOfItsReaders(t *testing.T) {
	w := newWorld(t)
	w.open()
	for language, traditional := range map[string]bool{"zh-TW": true, "zh-HK": true, "zh-Hant": true, "zh": false} {
		w.factory = w.makeFactory("type", "seller", "name", "茶", "language", language,
			"settings", object{"currency": "TWD"})
		w.create("days", 20, "approve", "topics")
		w.until(plan.Proposed)
		han, foreign := 0, []string{}
		for _, r := range w.Call(http.MethodGet, w.path(), nil).Raw {
			if !unicode.Is(unicode.Han, r) {
				continue
			}
			han++
			if _, err := traditionalchinese.Big5.NewEncoder().String(string(r)); err != nil {
				foreign = append(foreign, string(r))
			}
		}
		if han < 100 || traditional != (len(foreign) == 0) {
			t.Errorf("%s: of %d Chinese characters, %d are simplified: %s", language, han, len(foreign),
				strings.Join(foreign, ""))
		}
	}
}
