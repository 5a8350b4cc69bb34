package console

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/auth"
)

var (
	shownText = regexp.MustCompile(`\.T "((?:[^"\\]|\\.)*)"`)
	// passedText are the texts that a template passes to a part of it.
	passedText = regexp.MustCompile(`\((?:to|pick|choose|choosing|copying) [^()]*\)`)
	quotedText = regexp.MustCompile(`"([A-Z][^"]*)"`)
	givenText  = regexp.MustCompile(`v\.T\("((?:[^"\\]|\\.)*)"`)
)

// texts returns all texts of the templates, and those that handlers give to them.
func texts(t *testing.T) (all []string) {
	t.Helper()
	files, err := fs.Glob(templates, "templates/*.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := templates.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range shownText.FindAllStringSubmatch(string(content), -1) {
			all = append(all, m[1])
		}
		for _, passed := range passedText.FindAllString(string(content), -1) {
			for _, m := range quotedText.FindAllStringSubmatch(passed, -1) {
				all = append(all, m[1])
			}
		}
	}
	all = append(all, translated(t)...)
	for _, s := range auth.Scopes {
		all = append(all, s.Permits)
	}
	for _, r := range roles {
		all = append(all, r.Value, r.Text)
	}
	for _, a := range auth.Acts {
		all = append(all, a.Text)
	}
	for _, c := range slices.Concat(ranges, splits, requestSplits, withins, statuses, periods, deliveryStates,
		filterNames, overlaps, lifetimes, queueTabs, calendarViews, contentOrders, mays, triggers, callKinds,
		monthFigures, feedFormats, feedSchedules, feedPolicies, feedPhotos, runCounts, rowChanges,
		availabilities) {
		all = append(all, c.Text)
	}
	for day := range 7 {
		all = append(all, time.Weekday(day).String()[:3])
	}
	for month := time.January; month <= time.December; month++ {
		all = append(all, month.String(), month.String()[:3])
	}
	// The states and kinds of the API.
	all = append(all, "queued", "generating", "generated", "scheduled", "publishing", "published", "failed", "canceled",
		"deleted", "ended", "planned", "pending", "approved", "changes_requested", "paused", "active", "expired", "held", "running",
		"completed", "post", "video", "carousel", "story", "music_clip")
	all = append(all, wordsOfLists()...)
	for _, r := range scopeRows {
		all = append(all, r.Text)
		for _, l := range r.Levels {
			all = append(all, l.Text)
		}
	}
	for _, p := range presets {
		all = append(all, p.Text)
	}
	for _, g := range navigation {
		if g.Text != "" {
			all = append(all, g.Text)
		}
		for _, l := range g.Links {
			all = append(all, l.Text)
		}
	}
	for _, m := range mends {
		all = append(all, m.text)
	}
	for _, text := range codes {
		all = append(all, text)
	}
	for _, message := range refusals {
		all = append(all, message)
	}
	for _, p := range pages {
		all = append(all, p.(interface{ texts() []string }).texts()...)
	}
	all = slices.AppendSeq(slices.AppendSeq(all, maps.Values(subjects)), maps.Values(entryKinds))
	return append(all, sentences(t)...)
}

// wordsOfLists are the words of the lists of content, and of the search.
func wordsOfLists() (all []string) {
	for _, t := range contentTabs {
		all = append(all, t.Text)
	}
	for _, l := range searchedLists {
		all = append(all, l.Text)
	}
	for _, l := range further {
		all = append(all, l.Text)
	}
	all = append(all, "Pages", "not published", "changes requested", "to approve", "ready", "Reconnect", "Publish again",
		"See why", "See the answer", "See the webhook", "See the usage", "See the key", "Approve")
	return all
}

// translated returns the texts that the code translates.
func translated(t *testing.T) (all []string) {
	t.Helper()
	code, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range code {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range givenText.FindAllStringSubmatch(string(content), -1) {
			if !strings.HasSuffix(file, "_test.go") {
				all = append(all, m[1])
			}
		}
	}
	return all
}

// sentences returns the literals of the package's code that are sentences for people, joined where the code joins them.
func sentences(t *testing.T) (all []string) {
	t.Helper()
	set := token.NewFileSet()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			text, ok := joined(n)
			if ok && len(text) > 12 && text[0] >= 'A' && text[0] <= 'Z' && strings.HasSuffix(text, ".") {
				all = append(all, text)
			}
			return !ok
		})
	}
	return all
}

// joined returns the text of a literal, or of literals with + between them.
func joined(n ast.Node) (string, bool) {
	switch e := n.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok := joined(e.X)
		right, also := joined(e.Y)
		return left + right, ok && also && e.Op == token.ADD
	}
	return "", false
}

func TestEveryTextHasARussianOne(t *testing.T) {
	found := texts(t)
	if len(found) < 250 {
		t.Errorf("only %d texts were found", len(found))
	}
	for _, text := range found {
		other, ok := russian()[text]
		if !ok || other == "" {
			t.Errorf("texts.tsv lacks %q", text)
		}
		if strings.Count(text, "%") != strings.Count(other, "%") {
			t.Errorf("%q has other values in Russian", text)
		}
	}
}

func TestTheLanguageThatTheBrowserPrefers(t *testing.T) {
	for header, want := range map[string]string{
		"": "en", "ru": "ru", "ru-RU,ru;q=0.9,en;q=0.8": "ru", "de, en;q=0.5, ru;q=0.4": "en", "en;q=0.1,ru;q=0.2": "ru",
		"ru;q=none": "en", "ru;q=0": "en",
	} {
		if got := preferred(header); got != want {
			t.Errorf("%q: %s, want %s", header, got, want)
		}
	}
}

// A person reviews the diff of a template by its lines.
func TestTemplatesHaveShortLines(t *testing.T) {
	const most = 160
	files, _ := fs.Glob(templates, "templates/*.html")
	if len(files) == 0 {
		t.Fatal("there are no templates")
	}
	for _, file := range files {
		content, err := templates.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(content)) {
			n++
			if long := len([]rune(strings.TrimSuffix(line, "\n"))); long > most {
				t.Errorf("%s:%d has %d characters, more than %d", file, n, long, most)
			}
		}
	}
}

var usedClass = regexp.MustCompile(`class="([^"{]*)"`)

// The style is built from the templates by a tool that the service does not need. A class that it lacks means that it
// was not built anew.
func TestTheStyleHasTheClassesOfTheTemplates(t *testing.T) {
	style, err := assets.ReadFile("assets/console.css")
	if err != nil {
		t.Fatal(err)
	}
	// As names in HTML, without the escapes of CSS.
	names := strings.NewReplacer(`\2c `, ",", `\`, "").Replace(string(style))
	files, _ := fs.Glob(templates, "templates/*.html")
	for _, file := range files {
		content, err := templates.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range usedClass.FindAllStringSubmatch(string(content), -1) {
			for class := range strings.FieldsSeq(m[1]) {
				if !strings.Contains(names, "."+class) {
					t.Errorf("%s: the style lacks %s: run make console-assets", file, class)
				}
			}
		}
	}
}
