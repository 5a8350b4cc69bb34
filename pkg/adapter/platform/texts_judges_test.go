package platform_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/adapter/platform/texts"
)

// judged is what the libraries of X and Bluesky find in a text: a line of testdata/judges.jsonl, which
// infra/tools/texts/judge.mjs prints. The stage texts checks that it is up to date.
type judged struct {
	Text     string
	Length   int
	Links    [][2]int
	Hashtags [][2]int
	Mentions [][2]int
	Cashtags [][2]int
	Facets   [][4]any // kind, start, end, and the address, hashtag or name
}

func judges(t *testing.T) (all []judged) {
	t.Helper()
	f, err := os.Open("testdata/judges.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var j judged
		if err := json.Unmarshal(lines.Bytes(), &j); err != nil {
			t.Fatal(err)
		}
		all = append(all, j)
	}
	if len(all) < 400 {
		t.Fatalf("there are %d texts", len(all))
	}
	return all
}

func spans(parts []texts.Part) [][2]int {
	all := [][2]int{}
	for _, p := range parts {
		all = append(all, [2]int{p.Start, p.End})
	}
	return all
}

// X finds the same links, hashtags, mentions and cashtags as its own library, and counts the same length. There is no
// difference.
func TestXReadsAsItsOwnLibrary(t *testing.T) {
	for _, j := range judges(t) {
		links := [][2]int{}
		for _, l := range texts.X.Links(j.Text) {
			links = append(links, [2]int{l.Start, l.End})
		}
		for what, pair := range map[string][2][][2]int{"links": {links, j.Links},
			"hashtags": {spans(texts.X.Hashtags(j.Text)), j.Hashtags},
			"mentions": {spans(texts.X.Mentions(j.Text)), j.Mentions},
			"cashtags": {spans(texts.X.Cashtags(j.Text)), j.Cashtags}} {
			if !slices.Equal(pair[0], pair[1]) {
				t.Errorf("%q has the %s %v, want %v", j.Text, what, pair[0], pair[1])
			}
		}
		if n := texts.Weight(j.Text); n != j.Length {
			t.Errorf("%q has the length %d, want %d", j.Text, n, j.Length)
		}
	}
}

// facets returns what Bluesky finds in a text in the form of its own library.
func facets(s string) (all [][4]any) {
	add := func(kind string, start, end int, value string) {
		all = append(all, [4]any{kind, float64(start), float64(end), value})
	}
	for _, l := range texts.Bluesky.Links(s) {
		add("link", l.Start, l.End, l.Address(s))
	}
	for _, p := range texts.Bluesky.Hashtags(s) {
		add("tag", p.Start, p.End, p.Text)
	}
	for _, p := range texts.Bluesky.Cashtags(s) {
		add("tag", p.Start, p.End, "$"+strings.ToUpper(p.Text))
	}
	for _, p := range texts.Bluesky.Mentions(s) {
		add("mention", p.Start, p.End, p.Text)
	}
	slices.SortFunc(all, func(a, b [4]any) int {
		if a[1] != b[1] {
			return int(a[1].(float64) - b[1].(float64))
		}
		return strings.Compare(a[0].(string), b[0].(string))
	})
	return all
}

// Bluesky finds the same links, hashtags, cashtags and mentions as the library of its own client, but for the
// differences that are listed. Each of them is seen.
func TestBlueskyReadsAsItsOwnClient(t *testing.T) {
	seen := make([]int, len(differences))
	for _, j := range judges(t) {
		for i := range j.Facets {
			for n, d := range differences {
				if d.change(&j.Facets[i]) {
					seen[n]++
				}
			}
		}
		if got := facets(j.Text); !slices.Equal(got, j.Facets) {
			t.Errorf("%q has the facets %v, want %v", j.Text, got, j.Facets)
		}
	}
	for n, d := range differences {
		if seen[n] == 0 {
			t.Errorf("no text is read otherwise because %s", d.why)
		}
	}
}
