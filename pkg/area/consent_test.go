package area_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/consent"
	"github.com/content-automation/api/pkg/base/web"
)

// Every text of the pages is in all languages, with the same values.
func TestEveryTextOfTheConnectPagesIsTranslated(t *testing.T) {
	all := consent.OfSocial("X", true, true).May
	all = append(all, consent.OfSocial("X", false, false).May...)
	for _, file := range []string{"consent/page.html", "consent/visit.go", "consent/consent.go",
		"crm/connect.go", "social/connect.go"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, pattern := range []string{`\.[TH] "([^"]+)"`, `(?:Title|titled|To|Text): +"([^"]+)"`, `p\.Title, p\.titled = "([^"]+)"`} {
			for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(content), -1) {
				all = append(all, m[1])
			}
		}
	}
	if len(all) < 40 {
		t.Errorf("only %d texts", len(all))
	}
	rows, err := os.ReadFile("consent/texts.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lines, translated := strings.Split(string(rows), "\n"), web.Texts(string(rows))
	for _, text := range all {
		if strings.HasSuffix(text, " ") {
			continue // the rest of the text is in the next line
		}
		for i, to := range web.Tongues[1:] {
			if other := translated(to.Code, text); other == text {
				t.Errorf("texts.tsv lacks %q in %s", text, web.Tongues[i+1].Code)
			}
		}
	}
	for _, line := range lines[:len(lines)-1] {
		texts := strings.Split(line, "\t")
		for _, other := range texts {
			if len(texts) != len(web.Tongues) || strings.Count(other, "%s") != strings.Count(texts[0], "%s") {
				t.Errorf("%q has other values: %q", texts[0], other)
			}
		}
	}
}
