package platform_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/texts"
)

// The lengths of texts as the platforms count them.
func TestLength(t *testing.T) {
	const family, flag, keycap = "\U0001F468\u200D\U0001F469\u200D\U0001F467", "🇩🇪", "1\uFE0F\u20E3"
	for text, want := range map[string]struct{ graphemes, emojiBytes, weighted int }{
		"":                      {0, 0, 0},
		"A shoe":                {6, 6, 6},
		"кот":                   {3, 3, 3},
		"靴":                     {1, 1, 2},
		"👟":                     {1, 4, 2},
		family:                  {1, len(family), 2},
		flag:                    {1, len(flag), 2},
		keycap:                  {1, len(keycap), 2},
		"“quoted” – …":          {12, 12, 13},
		"https://a.example.com": {21, 21, 23},
		"See https://acme.example.com/" + strings.Repeat("a", 100) + ".": {130, 130, 4 + 23 + 1},
		"acme.com":       {8, 8, 23},
		"(acme.com/a)":   {12, 12, 25},
		"acme.example":   {12, 12, 12}, // no top-level domain that X knows
		"ann@acme.com":   {12, 12, 12},
		"3.5 and 10.000": {14, 14, 14},
		"cafe\u0301":     {4, 5, 4},
		"Node.js":        {7, 7, 7},
		"4.Quartal":      {9, 9, 9},
		"руб.шт":         {6, 6, 6},
	} {
		for unit, n := range map[platform.Unit]int{platform.Graphemes: want.graphemes,
			platform.EmojiBytes: want.emojiBytes, platform.Weighted: want.weighted} {
			if got := unit.Length(text); got != n {
				t.Errorf("%q has %d %s, want %d", text, got, unit, n)
			}
		}
	}
}

// A link ends where a careful reader ends it, whatever the script and the signs around it.
func TestLinks(t *testing.T) {
	const host = "https://example.com"
	for text, want := range map[string][]string{
		"See https://acme.example/a?b=1&c=(d), then acme.example. Not ann@acme.example, @acme.example, #a.bc or v1.2.": {
			"https://acme.example/a?b=1&c=(d)", "acme.example"},
		"https://example.org/wiki/Film_(2010)":               {"https://example.org/wiki/Film_(2010)"},
		"(https://example.org/wiki/Film_(2010))":             {"https://example.org/wiki/Film_(2010)"},
		"(see " + host + "/a)":                               {host + "/a"},
		"[text](" + host + "/a_(b)_c)":                       {host + "/a_(b)_c"},
		"[" + host + "/a]":                                   {host + "/a"},
		host + "/a[0]=b":                                     {host + "/a[0]=b"},
		"“" + host + "/a”":                                   {host + "/a"},
		"«" + host + "/a»":                                   {host + "/a"},
		"„" + host + "/a“ ‚" + host + "/b‘":                  {host + "/a", host + "/b"},
		"「" + host + "/a」":                                   {host + "/a"},
		"詳しくは" + host + "/aをご覧ください。":                         {host + "/a"},
		host + "をご覧":                                         {host},
		"https://例え.jpです":                                    {"https://例え.jp"},
		"https://例え.jp/パス":                                   {"https://例え.jp/"},
		host + "/a를 보세요":                                     {host + "/a"},
		host + "/aได้เลย":                                    {host + "/a"},
		host + "/a、次 " + host + "/b！ " + host + "/c。":        {host + "/a", host + "/b", host + "/c"},
		host + "/?q=日本":                                      {host + "/?q="},
		host + "/a—next":                                     {host + "/a"},
		host + "/a… " + host + "/b...":                       {host + "/a", host + "/b"},
		host + "/a👟":                                         {host + "/a"},
		"https://ar.wikipedia.org/wiki/مصر، نعم":             {"https://ar.wikipedia.org/wiki/مصر"},
		"https://hi.wikipedia.org/wiki/हिन्दी।":              {"https://hi.wikipedia.org/wiki/हिन्दी"},
		"https://ru.wikipedia.org/wiki/Обувь.":               {"https://ru.wikipedia.org/wiki/Обувь"},
		"https://пример.рф/путь, пример.рф":                  {"https://пример.рф/путь", "пример.рф"},
		"Node.js, done.Next, 4.Quartal, руб.шт, e.g.":        nil,
		"acme.com.Next":                                      {"acme.com"},
		"ACME.COM or Acme.com/a":                             {"ACME.COM", "Acme.com/a"},
		"https://" + strings.Repeat("a", 64) + ".com":        nil,
		"https://" + strings.Repeat("ü", 60) + ".com":        nil,
		strings.Repeat("a", 64) + ".com":                     nil,
		"https://" + strings.Repeat("abcdefg.", 32) + "com/": nil,
		"https://localhost/a http://192.168.0.1/a https://host.internal/a": {"http://192.168.0.1/a",
			"https://host.internal/a"},
		"https://user:pw@example.com/a":       nil,
		host + ":8080/a " + host + ":x":       {host + ":8080/a", host},
		"xhttps://example.com @https://x.com": nil,
	} {
		var got []string
		for _, l := range platform.Links(text) {
			got = append(got, text[l.Start:l.End])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q has the links %q, want %q", text, got, want)
		}
	}
}

// The time that a text takes grows with its length alone, even if it is made to be slow.
func TestLongTextsAreReadInTime(t *testing.T) {
	for _, part := range []string{"a.", "日a.com日-.", "https://a.com日-.", "a_", "(", "((", "https://x.com/((a", "#", "@", "[.",
		"日", "a.com/日", "👨‍👩‍👧", "$", ".", "https://", "a@b.", "<b>", "&"} {
		text := strings.Repeat(part, 200_000/len(part))
		began := time.Now()
		for _, r := range []texts.Reader{texts.General, texts.X, texts.Bluesky} {
			r.Links(text)
			r.Hashtags(text)
			r.Mentions(text)
			r.Cashtags(text)
		}
		platform.Weighted.Length(text)
		texts.Plain(text)
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%q takes %s", part, took)
		}
	}
}

// A thread is divided where a text pauses in its script, and never in a link, a word of Latin letters or a number.
func TestThreadsAreDividedAtPauses(t *testing.T) {
	sentence := "新しい靴が店に並びます。"
	link := "https://example.com/" + strings.Repeat("a", 250)
	for name, c := range map[string]struct{ caption, first, second string }{
		"sentences without spaces": {strings.Repeat(sentence, 40), strings.Repeat(sentence, 25), strings.Repeat(sentence, 15)},
		"a quote ends with it": {strings.Repeat("「本当です。」", 50), strings.Repeat("「本当です。」", 42),
			strings.Repeat("「本当です。」", 8)},
		"Hindi":   {strings.Repeat("जूते।", 100), strings.Repeat("जूते।", 100), ""},
		"clauses": {strings.Repeat("新しい靴、", 80), strings.Repeat("新しい靴、", 60), strings.Repeat("新しい靴、", 20)},
		"words of Latin letters": {strings.Repeat("新品Sneaker", 40), strings.Repeat("新品Sneaker", 33) + "新品",
			"Sneaker" + strings.Repeat("新品Sneaker", 6)},
		"a link":                 {strings.Repeat("a", 100) + " " + link + " and more", strings.Repeat("a", 100), link + " and more"},
		"a link without a space": {strings.Repeat("靴", 100) + link, strings.Repeat("靴", 100), link},
	} {
		posts := platform.Arrange(platform.Post{Kind: platform.KindPost, Caption: c.caption,
			Options: platform.Options{Thread: true}}, capabilities(t, "bluesky")).Posts()
		want := []string{c.first}
		if c.second != "" {
			want = append(want, c.second)
		}
		if !slices.Equal(posts, want) {
			t.Errorf("%s: %d posts: %q", name, len(posts), posts)
		}
	}
}

// A link that is longer than a post is not cut: the post is refused.
func TestALinkIsNotCut(t *testing.T) {
	link := "https://example.com/" + strings.Repeat("a", 320)
	post := platform.Post{Kind: platform.KindPost, Caption: "Look: " + link + " and more", Options: platform.Options{Thread: true}}
	problems := platform.Fit("bluesky", post, capabilities(t, "bluesky"))
	if len(problems) != 1 || problems[0].Param != "caption" {
		t.Errorf("%+v", problems)
	}
	if got := platform.Graphemes.Cut("A sentence. "+link, 100); got != "A sentence." {
		t.Errorf("cut to %q", got)
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
