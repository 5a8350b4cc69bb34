package base_test

import (
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/sheet"
)

type counts struct {
	Views *int64 `json:"views"`
	Likes *int64 `json:"likes"`
}

type metrics struct {
	counts
	ReadAt time.Time `json:"read_at"`
}

type row struct {
	Title   string   `json:"title"`
	URL     *string  `json:"url"`
	Metrics *metrics `json:"metrics"`
	Rate    float64  `json:"rate"`
	Done    bool     `json:"done"`
	Tags    []string `json:"tags"`
	hidden  string
}

func TestALineForEachElement(t *testing.T) {
	n, link := int64(-3), "https://acme.example"
	got, err := sheet.Of([]row{
		{Title: `A "shoe", red`, URL: &link, Rate: 0.5, Done: true, Tags: []string{"a"}, hidden: "x",
			Metrics: &metrics{counts{Views: &n}, time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)}},
		{Title: "none"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "title,url,metrics.views,metrics.likes,metrics.read_at,rate,done\n" +
		`"A ""shoe"", red",https://acme.example,-3,,2026-11-23T08:00:00Z,0.5,true` + "\n" +
		"none,,,,,0,false\n"
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if empty, err := sheet.Of[row](nil); err != nil || strings.Count(string(empty), "\n") != 1 {
		t.Errorf("an empty list is %q, %v", empty, err)
	}
}

// No text begins with a character at which a spreadsheet begins a formula, and nothing else changes.
func TestFormulasAreTexts(t *testing.T) {
	for _, text := range []string{"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "=cmd|' /C calc'!A0",
		"\n=1", " =1", "\u00a0=1", "\u200b=1", "\ufeff=1", "\u3000@a", "＝1", "＋1", "－1", "＠a", " \u2028－1"} {
		got, err := sheet.Of([]row{{Title: text}})
		if err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(strings.NewReader(string(got))).ReadAll()
		if err != nil || !strings.HasPrefix(lines[1][0], "'") {
			t.Errorf("%q is %q, %v", text, lines, err)
		}
	}
	for _, text := range []string{"", "a=1", "'=1", "1-1", " a", "\n", "ー"} {
		if got := sheet.Text(text); got != text {
			t.Errorf("%q is %q", text, got)
		}
	}
}
