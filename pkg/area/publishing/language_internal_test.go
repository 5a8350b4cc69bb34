package publishing

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/web"
)

// Every text of the page is in all languages, with the same values.
func TestEveryTextOfTheReviewPageIsTranslated(t *testing.T) {
	var all []string
	for _, file := range []string{"page.html", "review.go"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, pattern := range []string{`(?:\.|p\.)T\(? ?"([^"]+)"`, `failed\w+ += "([^"]+)"`, `return "([a-z ]+)"`,
			`(?:Title|Text): +"([^"]+)"`, `made = "([^"]+)"`, `what := "([^"]+)"`, `what = "([^"]+)"`} {
			for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(content), -1) {
				all = append(all, m[1])
			}
		}
	}
	for m := time.January; m <= time.December; m++ {
		all = append(all, m.String())
		same["de"+m.String()] = true
	}
	if len(all) < 60 {
		t.Errorf("only %d texts", len(all))
	}
	for _, text := range all {
		for _, to := range web.Tongues[1:] {
			other := translated(to.Code, text)
			if other == text && !same[to.Code+text] {
				t.Errorf("texts.tsv lacks %q in %s", text, to.Code)
			}
			if strings.Count(other, "%") != strings.Count(text, "%") {
				t.Errorf("%q has other values: %q", text, other)
			}
		}
	}
}

// same are the words that other languages have, too.
var same = map[string]bool{"frpost": true, "depost": true}

func TestTimesInWords(t *testing.T) {
	at := time.Date(2026, time.December, 31, 18, 30, 0, 0, time.UTC)
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"1 January 2027, 03:30 (Asia/Tokyo)", "1 января 2027, 03:30 (Asia/Tokyo)",
		"1. Januar 2027, 03:30 (Asia/Tokyo)", "1 de enero de 2027, 03:30 (Asia/Tokyo)",
		"1 janvier 2027, 03:30 (Asia/Tokyo)", "1 de janeiro de 2027, 03:30 (Asia/Tokyo)",
		"1 يناير 2027, 03:30 (Asia/Tokyo)", "2027年1月1日, 03:30 (Asia/Tokyo)"} {
		if got := (choices{language: web.Tongues[i].Code, zone: tokyo}).at(at, time.UTC); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := (choices{}).at(at, tokyo); got != "1 January 2027, 03:30 (Asia/Tokyo)" {
		t.Errorf("in the zone of the factory: %s", got)
	}
	if got := (choices{}).at(at, nil); got != "31 December 2026, 18:30 (UTC)" {
		t.Errorf("without a zone: %s", got)
	}
}
