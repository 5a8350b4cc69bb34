package guard

import (
	"os"
	"strings"
	"testing"
	"time"
)

// Texts of a judge who had not read the rules: each is held with the code of its line, or passes. The columns are the
// kind, the language of the text, the code, a competitor (C:), a forbidden word (F:) or a source (Q:), a fact and the
// text.
func TestTextsOfAJudge(t *testing.T) {
	raw, err := os.ReadFile("testdata/judged.tsv")
	if err != nil {
		t.Fatal(err)
	}
	held, passed := 0, 0
	for line := range strings.Lines(string(raw)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 6 {
			t.Fatalf("%d columns: %s", len(f), line)
		}
		r := Rules{Language: f[1], Now: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
		switch name, input, _ := strings.Cut(f[3], ":"); name {
		case "C":
			r.Competitors = []string{input}
		case "F":
			r.Forbidden = []string{input}
		case "Q":
			r.QuotedInputs = []string{input}
		}
		if f[4] != "" {
			r.Facts = []string{f[4]}
		}
		found := Check([]Field{{Path: "/caption", Text: f[5]}}, r)
		if (len(found) > 0) != (f[2] != "") {
			t.Errorf("%s, %s: %q with %q and %q: found %v, want %q", f[0], f[1], f[5], f[3], f[4], found, f[2])
		}
		if f[2] == "" {
			passed++
		} else {
			held++
		}
	}
	if held < 150 || passed < 150 {
		t.Errorf("%d texts are held and %d pass", held, passed)
	}
}

// The time of a check does not grow with the ways to read a long hashtag, a long name or a row of Turkish endings.
func TestLongNamesAndTagsAreRead(t *testing.T) {
	r := Rules{Language: "ru", Competitors: []string{"Ikea", strings.Repeat("Rhr", 30) + "t"}}
	text := "#" + strings.Repeat("into", 200) + "qqikea " + strings.Repeat("рхр", 30) + "ж"
	if found := Check([]Field{{Path: "/caption", Text: text}}, r); len(found) > 0 {
		t.Errorf("it finds %v", found)
	}
	r = Rules{Language: "tr", Forbidden: []string{"ucuz"}}
	for ending, held := range map[string]bool{"": true, "x": false} {
		text := "ucuz" + strings.Repeat("ini", 40) + ending
		if found := Check([]Field{{Path: "/caption", Text: text}}, r); (len(found) > 0) != held {
			t.Errorf("%s: found %v", text, found)
		}
	}
}
