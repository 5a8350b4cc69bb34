package console

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"time"

	client "github.com/content-automation/api/clients/go"
)

// More series than four have no colour twice, whatever their names are, as long as there are colours.
func TestNoColourTwice(t *testing.T) {
	at := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	names := strings.Fields("CRM Nightly Shop Acme Demo Test Harbour Alpine Nordlicht Tea Peak Studio")
	for n := 2; n <= len(names); n++ {
		c := newChart(at, 1, "Requests")
		for i, name := range names[:n] {
			c.add(name, at, int64(100-i))
		}
		seen := map[string]string{}
		for _, s := range c.done(&view{Language: "en"}).Series {
			if other, ok := seen[s.Class]; ok {
				t.Errorf("of %d names, %s and %s have the colour %s", n, other, s.Name, s.Class)
			}
			seen[s.Class] = s.Name
		}
	}
}

var (
	// othersText is a text that people of a customer have written, as the only content of an element.
	othersText = regexp.MustCompile(`<(\w+)([^<>]*)>\s*\{\{(?:deref )?[.$\w]*\.(Name|Caption|Description|Note|Title|Handle|Message)\}\}\s*</`)
	// othersField is a field in which they write such a text.
	othersField = regexp.MustCompile(`<(?:input|textarea)\b[^>]*\bname="(?:name|note|description|caption|prompt|q)"[^>]*>`)
)

// A text in another direction than the page stands in its own, wherever a template shows it or has it typed.
func TestTextsOfOthersHaveTheirDirection(t *testing.T) {
	files, err := fs.Glob(templates, "templates/*.html")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		b, err := templates.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range othersText.FindAllStringSubmatch(string(b), -1) {
			if found++; m[1] != "bdi" && !strings.Contains(m[2], `dir="auto"`) && m[1] != "option" {
				t.Errorf("%s: no direction: %s", file, m[0])
			}
		}
		for _, field := range othersField.FindAllString(string(b), -1) {
			if found++; !strings.Contains(field, `dir="auto"`) && !strings.Contains(field, "hidden") {
				t.Errorf("%s: no direction: %s", file, field)
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d texts were found", found)
	}
}

var (
	// othersName is the name of a factory, profile, key or person in a text.
	othersName = regexp.MustCompile(`\{\{[^{}]*(?:\$n|\.Data\.Names)\.(?:Factory|Profile|By) [^{}]*\}\}`)
	lastTag    = regexp.MustCompile(`(?s).*<(\w+)((?:[^<>]|\{\{[^{}]*\}\})*)(>?)`)
)

// The element that has the name of something of others has the direction of the name.
func TestNamesOfOthersHaveTheirDirection(t *testing.T) {
	files, err := fs.Glob(templates, "templates/*.html")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		b, err := templates.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range othersName.FindAllIndex(b, -1) {
			m := lastTag.FindStringSubmatch(string(b[:at[0]]))
			if found++; m[3] != "" && m[1] != "bdi" && m[1] != "option" && !strings.Contains(m[2], `dir="auto"`) {
				t.Errorf("%s: no direction: <%s%s> %s", file, m[1], m[2], b[at[0]:at[1]])
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d names were found", found)
	}
}

// The page of an item that is being made or published follows it. That of another one stays as it is.
func TestThePageOfAnItemFollowsIt(t *testing.T) {
	for state, follows := range map[string]int{"queued": 2, "generating": 2, "publishing": 2, "generated": 0,
		"scheduled": 0, "published": 0, "failed": 0} {
		one := content{ID: "cnt_1", ContentItem: client.ContentItem{State: client.ContentState(state),
			Publications: []client.Publication{{Platform: "telegram", State: "pending"}}}}
		var out strings.Builder
		err := screens()["content-item"].render(&out, &view{Language: "en", Dialog: true,
			Data: map[string]any{"One": one, "Names": callers{}, "Accounts": map[string]outlet{}}})
		got := strings.Count(out.String(), `data-polled="/settings/content-items/cnt_1?dialog=`)
		if err != nil || got != follows {
			t.Errorf("%s: %d parts follow, want %d: %v", state, got, follows, err)
		}
	}
}

// A page is parsed when it is first shown, so that a mistake in one would be seen late.
func TestEveryPageIsParsed(t *testing.T) {
	if n := len(screens()); n < 50 {
		t.Errorf("there are %d pages", n)
	}
	for name, parse := range screens() {
		all, err := parse()
		if err != nil || all.Lookup("fragment") == nil || all.Lookup("frame") == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The card of a post says how long its clip plays, or how many pictures it has.
func TestTheExtentOfAPost(t *testing.T) {
	picture := mediaFile{Type: "image"}
	clip := func(seconds float64) mediaFile {
		return mediaFile{Type: "video", Role: "final", Media: client.Media{DurationSeconds: &seconds}}
	}
	for want, files := range map[string][]mediaFile{"": {picture}, "3": {picture, picture, picture}, "0:15": {clip(14.96)},
		"1:05": {clip(65), {Type: "video", Role: "draft"}}} {
		if got := (content{Media: files}).Extent(); got != want {
			t.Errorf("%q instead of %q", got, want)
		}
	}
}
