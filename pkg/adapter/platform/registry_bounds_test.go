package platform_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
)

// ofText returns the bounds of a text, as the table names them.
func ofText(name string, t platform.Text) (all []string) {
	if t.Max == 0 {
		return nil
	}
	all = append(all, fmt.Sprintf("%s: %d %s", name, t.Max, t.Unit.Name()))
	for what, n := range map[string]int{"bytes": t.MaxBytes, "different links": t.MaxLinks, "mentions": t.MaxMentions,
		"cashtags": t.MaxCashtags} {
		if n > 0 {
			all = append(all, fmt.Sprintf("%s: %d %s", name, n, what))
		}
	}
	if t.Forbidden != "" {
		all = append(all, fmt.Sprintf("%s: no %s", name, t.Forbidden))
	}
	return all
}

// ofFile returns the bounds of a file, as the table names them.
func ofFile(name string, f *platform.File) (all []string) {
	if f == nil {
		return nil
	}
	add := func(bound bool, format string, args ...any) {
		if bound {
			all = append(all, name+": "+fmt.Sprintf(format, args...))
		}
	}
	add(f.MaxBytes > 0, "%d bytes", f.MaxBytes)
	add(f.MinRatio > 0, "ratio from %.2f", f.MinRatio)
	add(f.MaxRatio > 0, "ratio to %.2f", f.MaxRatio)
	add(f.MaxSides > 0, "sum of sides %d", f.MaxSides)
	add(f.MaxWidth > 0, "width %d", f.MaxWidth)
	add(f.MinShort > 0, "shorter side from %d", f.MinShort)
	add(f.MaxShort > 0, "shorter side to %d", f.MaxShort)
	add(f.MaxLong > 0, "longer side to %d", f.MaxLong)
	add(f.MaxPixels > 0, "%d pixels", f.MaxPixels)
	add(f.MinTime > 0, "from %s", f.MinTime)
	add(f.MaxTime > 0, "to %s", f.MaxTime)
	return all
}

// boundsOf returns the bounds of a platform, as the table names them.
func boundsOf(c platform.Capabilities) map[string]bool {
	all := map[string]bool{}
	add := func(bounds ...string) {
		for _, b := range bounds {
			all[b] = true
		}
	}
	for kind, rule := range c.Kinds {
		add(ofText("title", rule.Title)...)
		add(ofText("caption", rule.Caption)...)
		add(ofText("message after the media", rule.Rest)...)
		add(ofFile("image", rule.Image)...)
		add(ofFile("video", rule.Video)...)
		if kind == platform.KindCarousel {
			add(fmt.Sprintf("carousel: %d to %d files", rule.MinMedia, rule.MaxMedia))
		}
		if !c.Supports(kind, platform.OptionFirstComment) && c.Comment.Max > 0 {
			add(fmt.Sprintf("%s: no first comment", kind))
		}
	}
	add(ofText("alternative text", c.Alt)...)
	add(ofText("first comment", c.Comment)...)
	if c.Comment.Max == 0 {
		add("no first comment")
	}
	add(fmt.Sprintf("hashtags: %d", c.Hashtags.Max))
	if c.Hashtags.Total > 0 {
		add(fmt.Sprintf("hashtags: %d characters in all", c.Hashtags.Total))
	}
	return all
}

// The table of bounds in testdata has each bound of each platform, and no other, with its source and a test
// that the platform has. Rows of what is not checked begin with "not checked".
func TestEachBoundHasASourceAndATest(t *testing.T) {
	text, err := os.ReadFile("testdata/posts.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Bounds\n")
	section, _, _ = strings.Cut(section, "\n## ")
	told := map[string]map[string]bool{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 6 || !slices.Contains(registry.Names(), strings.TrimSpace(cells[1])) {
			continue
		}
		name, bound := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
		if strings.TrimSpace(cells[3]) == "" {
			t.Errorf("%s, %s has no source", name, bound)
		}
		if strings.HasPrefix(bound, "not checked") {
			continue
		}
		if told[name] == nil {
			told[name] = map[string]bool{}
		}
		told[name][bound] = true
		if test := strings.TrimSpace(cells[4]); !has(t, name, test) {
			t.Errorf("%s has no test %s", name, test)
		}
	}
	for _, p := range registry.Rows() {
		bounds := boundsOf(p.Capabilities)
		for _, b := range slices.Sorted(maps.Keys(bounds)) {
			if !told[p.Name][b] {
				t.Errorf("not in the table: | %s | %s |", p.Name, b)
			}
		}
		for _, b := range slices.Sorted(maps.Keys(told[p.Name])) {
			if !bounds[b] {
				t.Errorf("%s does not have the bound %s of the table", p.Name, b)
			}
		}
	}
}
