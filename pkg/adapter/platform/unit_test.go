package platform_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
)

// The lengths of texts as the platforms count them.
func TestLength(t *testing.T) {
	const family, flag, keycap = "\U0001F468\u200D\U0001F469\u200D\U0001F467", "🇩🇪", "1\uFE0F\u20E3"
	for text, want := range map[string]struct{ graphemes, emojiBytes, weighted int }{
		"":                  {0, 0, 0},
		"A shoe":            {6, 6, 6},
		"кот":               {3, 3, 3},
		"靴":                 {1, 1, 2},
		"👟":                 {1, 4, 2},
		family:              {1, len(family), 2},
		flag:                {1, len(flag), 2},
		keycap:              {1, len(keycap), 2},
		"“quoted” – …":      {12, 12, 13},
		"https://a.example": {17, 17, 23},
		"See https://acme.example/" + strings.Repeat("a", 100) + ".": {126, 126, 4 + 23 + 1},
		"acme.example":     {12, 12, 23},
		"(acme.example/a)": {16, 16, 25},
		"ann@acme.example": {16, 16, 16},
		"3.5 and 10.000":   {14, 14, 14},
	} {
		for unit, n := range map[platform.Unit]int{platform.Graphemes: want.graphemes,
			platform.EmojiBytes: want.emojiBytes, platform.Weighted: want.weighted} {
			if got := unit.Length(text); got != n {
				t.Errorf("%q has %d %s, want %d", text, got, unit, n)
			}
		}
	}
}

func TestLinks(t *testing.T) {
	text := "See https://acme.example/a?b=1&c=(d), then acme.example. Not ann@acme.example, @acme.example, #a.bc or v1.2."
	var got []string
	for _, l := range platform.Links(text) {
		got = append(got, text[l.Start:l.End])
	}
	if want := []string{"https://acme.example/a?b=1&c=(d", "acme.example"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A long caption becomes a thread only if that is requested. Each part fits, and none is lost.
func TestThreads(t *testing.T) {
	caption := strings.TrimSpace(strings.Repeat("A sentence about a shoe 👟 of acme.example. ", 40))
	for _, name := range []string{"bluesky", "threads", "x"} {
		c := capabilities(t, name)
		post := platform.Post{Kind: platform.KindPost, Caption: caption, Hashtags: []string{"shoes"}}
		if problems := platform.Fit(name, post, c); len(problems) != 1 || problems[0].Param != "caption" {
			t.Errorf("%s: %+v", name, problems)
		}
		post.Options.Thread = true
		if problems := platform.Fit(name, post, c); len(problems) > 0 {
			t.Errorf("%s: %+v", name, problems)
		}
		parts := platform.Arrange(post, c).Posts()
		limit := c.Kinds[platform.KindPost].Caption
		for _, part := range parts {
			if n := limit.Unit.Length(part); n > limit.Max || n == 0 {
				t.Errorf("%s: a part has %d %s", name, n, limit.Unit)
			}
		}
		if got := strings.Join(strings.Fields(strings.Join(parts, " ")), " "); len(parts) < 3 ||
			got != caption+" #shoes" {
			t.Errorf("%s: %d parts have %q", name, len(parts), got)
		}
		post.Caption = strings.Repeat(caption+" ", 20)
		if problems := platform.Fit(name, post, c); len(problems) != 1 || problems[0].Param != "caption" {
			t.Errorf("%s: a thread of too many posts: %+v", name, problems)
		}
	}
	post := platform.Post{Kind: platform.KindPost, Caption: "A shoe", Media: []platform.Media{fixture.Image("a")},
		Options: platform.Options{Thread: true}}
	if parts := platform.Arrange(post, capabilities(t, "x")).Posts(); !slices.Equal(parts, []string{"A shoe"}) {
		t.Errorf("a short caption has the parts %q", parts)
	}
}

// A character that alone exceeds the limit in bytes is refused, and no part is cut inside it.
func TestACharacterIsNotCut(t *testing.T) {
	long := "e" + strings.Repeat("\u0301", 2000)
	post := platform.Post{Kind: platform.KindPost, Caption: long, Options: platform.Options{Thread: true}}
	problems := platform.Fit("bluesky", post, capabilities(t, "bluesky"))
	if len(problems) != 1 || problems[0].Param != "caption" || !strings.Contains(problems[0].Message, "3000 bytes") {
		t.Errorf("%+v", problems)
	}
}
