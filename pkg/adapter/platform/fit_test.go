package platform_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/platform/telegram"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

func capabilities(t *testing.T, name string) platform.Capabilities {
	t.Helper()
	a, ok := registry.Live(name, wire.Config{})
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	return a.Capabilities()
}

// sized returns a file with another length, size or duration.
func sized(m platform.Media, change func(*platform.Media)) platform.Media {
	change(&m)
	return m
}

// shaped returns a file with a width and a height.
func shaped(m platform.Media, width, height int) []platform.Media {
	m.Width, m.Height = width, height
	return []platform.Media{m}
}

// numbered returns a text that repeats a form with the numbers from 0 on.
func numbered(n int, form string) (s string) {
	for i := range n {
		s += fmt.Sprintf(form, i)
	}
	return s
}

// A problem names the bound, and what the post has.
func TestProblemsNameTheBound(t *testing.T) {
	for want, c := range map[string]struct {
		platform string
		post     platform.Post
	}{
		"Threads takes up to 5 different links in a text; there are 6.": {"threads", platform.Post{Kind: "post",
			Caption: numbered(6, "https://a.example/%d ")}},
		"X takes up to 1 cashtags in a text; there are 2.": {"x", platform.Post{Kind: "post", Caption: "$A $B"}},
		"TikTok takes up to 1080 pixels on the shorter side; this has 1254.": {"tiktok", platform.Post{Kind: "post",
			Media: shaped(fixture.Image("a"), 1254, 1254)}},
		"VK takes up to 14000 pixels of width and height together; this has 14001.": {"vk", platform.Post{Kind: "post",
			Media: shaped(fixture.Image("a"), 7001, 7000)}},
	} {
		found := platform.Fit(c.platform, c.post, capabilities(t, c.platform))
		if len(found) != 1 || found[0].Message != want {
			t.Errorf("%+v, want %q", found, want)
		}
	}
}

// The limits of each platform, at their edge and one beyond.
func TestTheLimitsOfThePlatforms(t *testing.T) {
	image, video := fixture.Image("a"), fixture.Video("b", 9000)
	text := func(n int) string { return strings.Repeat("я", n) }
	emoji := func(n int) string { return strings.Repeat("👟", n) }
	for name, c := range map[string]struct {
		platform string
		post     platform.Post
		want     string // the member of the problem; empty: none
	}{
		"instagram 2200": {"instagram", platform.Post{Kind: "post", Media: []platform.Media{image},
			Caption: text(2200)}, ""},
		"instagram 2201": {"instagram", platform.Post{Kind: "post", Media: []platform.Media{image},
			Caption: text(2201)}, "caption"},
		"instagram tags count": {"instagram", platform.Post{Kind: "post", Media: []platform.Media{image},
			Caption: text(2190), Hashtags: []string{"running", "shoes"}}, "caption"},
		"instagram 31 hashtags": {"instagram", platform.Post{Kind: "post", Media: []platform.Media{image},
			Hashtags: slices.Repeat([]string{"a"}, 31)}, "hashtags"},
		"instagram text alone": {"instagram", platform.Post{Kind: "post", Caption: "Hello"}, "media"},
		"instagram 4:5":        {"instagram", platform.Post{Kind: "post", Media: []platform.Media{image}}, ""},
		"instagram 9:16 image": {"instagram",
			platform.Post{Kind: "post", Media: []platform.Media{sized(image,
				func(m *platform.Media) { m.Height = 1920 })}}, "media[0]"},
		"instagram 9:16 story": {"instagram",
			platform.Post{Kind: "story", Media: []platform.Media{sized(image,
				func(m *platform.Media) { m.Height = 1920 })}}, ""},
		"instagram png": {"instagram",
			platform.Post{Kind: "post", Media: []platform.Media{sized(image,
				func(m *platform.Media) { m.MIME = "image/png" })}}, "media[0].mime_type"},
		"instagram 8 MiB": {"instagram",
			platform.Post{Kind: "post", Media: []platform.Media{sized(image,
				func(m *platform.Media) { m.Bytes = 8<<20 + 1 })}}, "media[0].bytes"},
		"instagram 11 slides": {"instagram",
			platform.Post{Kind: "carousel", Media: slices.Repeat([]platform.Media{image}, 11)}, "media"},
		"instagram video post": {"instagram",
			platform.Post{Kind: "post", Media: []platform.Media{video}}, "media[0]"},
		"instagram comment": {"instagram", platform.Post{Kind: "post", Media: []platform.Media{image},
			Options: platform.Options{FirstComment: text(301)}}, "options.first_comment"},
		"instagram alt text": {"instagram",
			platform.Post{Kind: "post", Media: []platform.Media{sized(image,
				func(m *platform.Media) { m.Alt = text(1001) })}}, "media[0].alt_text"},
		"instagram private": {"instagram", platform.Post{Kind: "post", Media: []platform.Media{image},
			Options: platform.Options{Privacy: "private"}}, "options.privacy"},
		"tiktok UTF-16": {"tiktok", platform.Post{Kind: "video", Media: []platform.Media{video},
			Caption: emoji(1100)}, ""},
		"tiktok UTF-16 over": {"tiktok", platform.Post{Kind: "video", Media: []platform.Media{video},
			Caption: emoji(1100) + "a"}, "caption"},
		"tiktok 2 s": {"tiktok",
			platform.Post{Kind: "video", Media: []platform.Media{sized(video,
				func(m *platform.Media) { m.Duration = 2 * time.Second })}}, "media[0].duration_seconds"},
		"tiktok 11 min": {"tiktok",
			platform.Post{Kind: "video", Media: []platform.Media{sized(video,
				func(m *platform.Media) { m.Duration = 11 * time.Minute })}}, "media[0].duration_seconds"},
		"tiktok photo title": {"tiktok", platform.Post{Kind: "carousel", Title: text(91),
			Media: []platform.Media{image, image}}, "title"},
		"tiktok video title": {"tiktok", platform.Post{Kind: "video", Title: text(91),
			Media: []platform.Media{video}}, ""},
		"tiktok 36 photos": {"tiktok",
			platform.Post{Kind: "carousel", Media: slices.Repeat([]platform.Media{image}, 36)}, "media"},
		"tiktok story": {"tiktok", platform.Post{Kind: "story", Media: []platform.Media{video}}, "kind"},
		"tiktok unlisted": {"tiktok", platform.Post{Kind: "video", Media: []platform.Media{video},
			Options: platform.Options{Privacy: "unlisted"}}, "options.privacy"},
		"youtube without title": {"youtube", platform.Post{Kind: "video", Media: []platform.Media{video}}, "title"},
		"youtube title": {"youtube", platform.Post{Kind: "video", Title: text(101),
			Media: []platform.Media{video}}, "title"},
		"youtube angle bracket": {"youtube", platform.Post{Kind: "video", Title: "a", Caption: "a < b",
			Media: []platform.Media{video}}, "caption"},
		"youtube bytes": {"youtube", platform.Post{Kind: "video", Title: "a", Caption: text(2501),
			Media: []platform.Media{video}}, "caption"},
		"youtube tags": {"youtube",
			platform.Post{Kind: "video", Title: "a", Hashtags: slices.Repeat([]string{strings.Repeat("a", 49)}, 11),
				Media: []platform.Media{video}}, "hashtags"},
		"telegram text 4096": {"telegram", platform.Post{Kind: "post", Caption: text(4096)}, ""},
		"telegram text 4097": {"telegram", platform.Post{Kind: "post", Caption: text(4097)}, "caption"},
		"telegram caption divided": {"telegram", platform.Post{Kind: "post", Caption: text(5000),
			Media: []platform.Media{image}}, ""},
		"telegram too long": {"telegram", platform.Post{Kind: "post", Caption: text(5200),
			Media: []platform.Media{image}}, "caption"},
		"telegram 51 MB": {"telegram",
			platform.Post{Kind: "video", Media: []platform.Media{sized(video,
				func(m *platform.Media) { m.Bytes = 51 << 20 })}}, "media[0].bytes"},
		"telegram nothing": {"telegram", platform.Post{Kind: "post"}, "caption"},
		"telegram comment": {"telegram",
			platform.Post{Kind: "post", Caption: "a", Options: platform.Options{FirstComment: "b"}},
			"options.first_comment"},
		"vk text": {"vk", platform.Post{Kind: "post", Caption: text(15_896)}, "caption"},
		"vk name": {"vk", platform.Post{Kind: "video", Title: text(129),
			Media: []platform.Media{video}}, "title"},
		"rutube image": {"rutube", platform.Post{Kind: "post", Media: []platform.Media{image}}, "kind"},
		"a hashtag of two words": {"vk", platform.Post{Kind: "post", Caption: "a", Hashtags: []string{"two words"}},
			"hashtags[0]"},
		"an empty file": {"vk",
			platform.Post{Kind: "video", Media: []platform.Media{sized(video,
				func(m *platform.Media) { m.Bytes = 0 })}}, "media[0].bytes"},
		"threads 6 links": {"threads", platform.Post{Kind: "post", Caption: numbered(6, "https://a.example/%d ")}, "caption"},
		"threads 5 links": {"threads", platform.Post{Kind: "post", Caption: numbered(5, "https://a.example/%d ")}, ""},
		"threads the same link": {"threads", platform.Post{Kind: "post",
			Caption: strings.Repeat("https://a.example/ ", 9)}, ""},
		"threads links without a scheme": {"threads", platform.Post{Kind: "post", Caption: numbered(6, "www.a%d.com ")},
			"caption"},
		"threads 6 links in two posts": {"threads", platform.Post{Kind: "post", Caption: numbered(6,
			strings.Repeat("word ", 20)+"https://a.example/%d. "), Options: platform.Options{Thread: true}}, ""},
		"threads 6 links in a comment": {"threads", platform.Post{Kind: "post", Caption: "a",
			Options: platform.Options{FirstComment: numbered(6, "https://a.example/%d ")}}, "options.first_comment"},
		"instagram 21 names": {"instagram", platform.Post{Kind: "post", Media: []platform.Media{image},
			Caption: numbered(21, "@acme.%d ")}, "caption"},
		"instagram 20 names and an address": {"instagram", platform.Post{Kind: "post", Media: []platform.Media{image},
			Caption: numbered(20, "@acme.%d ") + "mail@example.com"}, ""},
		"instagram hashtags without spaces": {"instagram", platform.Post{Kind: "post", Media: []platform.Media{image},
			Caption: numbered(6, "#a%d")}, "hashtags"},
		"x two cashtags":          {"x", platform.Post{Kind: "post", Caption: "$ACME and $USD"}, "caption"},
		"x a cashtag and a price": {"x", platform.Post{Kind: "post", Caption: "$ACME at $20"}, ""},
		"x a cashtag in each post": {"x", platform.Post{Kind: "post", Caption: "$ACME " + strings.Repeat("word ", 56) +
			"$USD", Options: platform.Options{Thread: true}}, ""},
		"x two cashtags in a comment": {"x", platform.Post{Kind: "post", Caption: "a",
			Options: platform.Options{FirstComment: "$ACME $USD"}}, "options.first_comment"},
		"instagram story with a comment": {"instagram", platform.Post{Kind: "story", Media: []platform.Media{image},
			Options: platform.Options{FirstComment: "a"}}, "options.first_comment"},
		"tiktok 1254":  {"tiktok", platform.Post{Kind: "post", Media: shaped(image, 1254, 1254)}, "media[0]"},
		"tiktok 1086":  {"tiktok", platform.Post{Kind: "post", Media: shaped(image, 1086, 1448)}, "media[0]"},
		"tiktok 1080p": {"tiktok", platform.Post{Kind: "post", Media: shaped(image, 1080, 1920)}, ""},
		"tiktok wide":  {"tiktok", platform.Post{Kind: "post", Media: shaped(image, 1920, 1080)}, ""},
		"tiktok tall":  {"tiktok", platform.Post{Kind: "post", Media: shaped(image, 1080, 1921)}, "media[0]"},
		"tiktok one of two": {"tiktok", platform.Post{Kind: "carousel", Media: append(shaped(image, 1080, 1080),
			shaped(image, 1081, 1081)...)}, "media[1]"},
		"tiktok small video":           {"tiktok", platform.Post{Kind: "video", Media: shaped(video, 320, 240)}, "media[0]"},
		"tiktok 360":                   {"tiktok", platform.Post{Kind: "video", Media: shaped(video, 360, 640)}, ""},
		"tiktok large video":           {"tiktok", platform.Post{Kind: "video", Media: shaped(video, 4097, 2160)}, "media[0]"},
		"instagram 4:5 and a pixel":    {"instagram", platform.Post{Kind: "post", Media: shaped(image, 1080, 1351)}, "media[0]"},
		"instagram 4:5 in part pixels": {"instagram", platform.Post{Kind: "post", Media: shaped(image, 1079, 1349)}, ""},
		"instagram 1200 x 628":         {"instagram", platform.Post{Kind: "post", Media: shaped(image, 1200, 628)}, ""},
		"instagram wide reel":          {"instagram", platform.Post{Kind: "video", Media: shaped(video, 1921, 1080)}, "media[0]"},
		"threads wide video":           {"threads", platform.Post{Kind: "video", Media: shaped(video, 1921, 1080)}, "media[0]"},
		"x tiny video":                 {"x", platform.Post{Kind: "video", Media: shaped(video, 31, 60)}, "media[0]"},
		"linkedin pixels":              {"linkedin", platform.Post{Kind: "post", Media: shaped(image, 6024, 6002)}, "media[0]"},
		"linkedin many pixels":         {"linkedin", platform.Post{Kind: "post", Media: shaped(image, 6012, 6012)}, ""},
		"linkedin tall video":          {"linkedin", platform.Post{Kind: "video", Media: shaped(video, 720, 1729)}, "media[0]"},
		"vk 14,000":                    {"vk", platform.Post{Kind: "post", Media: shaped(image, 7000, 7000)}, ""},
		"vk 14,001":                    {"vk", platform.Post{Kind: "post", Media: shaped(image, 7001, 7000)}, "media[0]"},
		"vk 21:1":                      {"vk", platform.Post{Kind: "post", Media: shaped(image, 2100, 100)}, "media[0]"},
		"telegram 20:1":                {"telegram", platform.Post{Kind: "post", Media: shaped(image, 4000, 200)}, ""},
		"telegram more than 20:1":      {"telegram", platform.Post{Kind: "post", Media: shaped(image, 4001, 200)}, "media[0]"},
		"pinterest 3 seconds": {"pinterest", platform.Post{Kind: "video", Media: []platform.Media{sized(video,
			func(m *platform.Media) { m.Duration = 3 * time.Second })}}, "media[0].duration_seconds"},
		"a size that nobody knows": {"tiktok", platform.Post{Kind: "post", Media: shaped(image, 0, 0)}, ""},
		"a generated post is fine": {"vk",
			platform.Post{Kind: "post", Caption: "a", Options: platform.Options{Generated: true}}, ""},
	} {
		problems := platform.Fit(c.platform, c.post, capabilities(t, c.platform))
		switch {
		case c.want == "" && len(problems) > 0:
			t.Errorf("%s: %+v, want none", name, problems)
		case c.want != "" && (len(problems) != 1 || problems[0].Param != c.want || problems[0].Platform != c.platform ||
			!strings.HasSuffix(problems[0].Message, ".")):
			t.Errorf("%s: %+v, want one of %s", name, problems, c.want)
		}
	}
}

// Telegram counts what a reader sees of a text in HTML, and X a text in its composed form.
func TestTextsAreCountedAsTheyAreSeen(t *testing.T) {
	linked := `<a href="https://example.com/` + strings.Repeat("a", 60) + `">a word</a> `
	formatted := platform.Options{Own: telegram.Options{Format: "html"}}
	for name, c := range map[string]struct {
		platform string
		post     platform.Post
		want     string
	}{
		"two linked words": {"telegram", platform.Post{Kind: "post", Options: formatted,
			Caption: strings.Repeat("a", 4000) + linked + linked}, ""},
		"an entity": {"telegram", platform.Post{Kind: "post", Options: formatted,
			Caption: strings.Repeat("a", 4095) + "&amp;"}, ""},
		"an entity too many": {"telegram", platform.Post{Kind: "post", Options: formatted,
			Caption: strings.Repeat("a", 4096) + "&amp;"}, "caption"},
		"plain text has no entities": {"telegram", platform.Post{Kind: "post",
			Caption: strings.Repeat("a", 4095) + "&amp;"}, "caption"},
		"a photo": {"telegram", platform.Post{Kind: "post", Options: formatted, Media: []platform.Media{fixture.Image("a")},
			Caption: strings.Repeat("a", 900) + linked + linked}, ""},
		"decomposed": {"x", platform.Post{Kind: "post", Caption: strings.Repeat("e\u0301", 280)}, ""},
		"links of Japanese texts": {"x", platform.Post{Kind: "post", Caption: "詳しくはhttps://example.com/aをご覧ください。" +
			strings.Repeat("新しい靴が届きました。", 14)}, "caption"},
		"a domain that X does not know": {"x", platform.Post{Kind: "post", Caption: "Node.js" + strings.Repeat("a", 262) +
			" abc"}, ""},
		"a long hashtag": {"bluesky", platform.Post{Kind: "post", Caption: "a", Hashtags: []string{strings.Repeat("a", 70)}},
			""},
	} {
		problems := platform.Fit(c.platform, c.post, capabilities(t, c.platform))
		if c.want == "" && len(problems) > 0 || c.want != "" && (len(problems) != 1 || problems[0].Param != c.want) {
			t.Errorf("%s: %+v, want %q", name, problems, c.want)
		}
	}
}

// A text in HTML is divided outside of its tags and references.
func TestMarkupIsNotCut(t *testing.T) {
	got := platform.Arrange(platform.Post{Kind: platform.KindPost, Media: []platform.Media{fixture.Image("a")},
		Caption: "<b>" + strings.Repeat("a&amp; ", 400) + "</b>", Options: platform.Options{Own: telegram.Options{Format: "html"}}},
		capabilities(t, "telegram"))
	n := strings.Count(got.Body, "a&amp;")
	if body := "<b>" + strings.TrimSpace(strings.Repeat("a&amp; ", n)) + "</b>"; got.Body != body || n < 340 ||
		got.SecondMessage != "<b>"+strings.Repeat("a&amp; ", 400-n)+"</b>" {
		t.Errorf("%d: %q and %q", n, got.Body, got.SecondMessage)
	}
}

// A hashtag that a platform shows in part, or as plain text, is told.
func TestHalvedHashtags(t *testing.T) {
	tags := []string{"shoes", "हिन्दी", "e-commerce", "R&D", "C++", "don't", "2026", "a.b", strings.Repeat("a", 65)}
	for name, want := range map[string][]int{"x": {2, 3, 4, 5, 6, 7}, "instagram": {2, 3, 4, 5, 6, 7}, "bluesky": {6, 8},
		"youtube": nil} {
		var got []int
		for _, p := range platform.SplitHashtags(name, platform.Post{Kind: "post", Hashtags: tags}, capabilities(t, name)) {
			got = append(got, int(p.Param[len("hashtags[")]-'0'))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s halves %v, want %v", name, got, want)
		}
	}
}

func TestHashtagsArePlacedAsThePlatformWants(t *testing.T) {
	p := platform.Post{Kind: platform.KindVideo, Title: "A shoe", Caption: "It runs.\n",
		Hashtags: []string{"shoes", "running"}, Media: []platform.Media{fixture.Video("a", 10)}}
	for name, want := range map[string]platform.ArrangedText{
		"instagram": {Body: "It runs.\n\n#shoes #running"},
		"youtube":   {Body: "It runs.", Tags: []string{"shoes", "running"}},
	} {
		got := platform.Arrange(p, capabilities(t, name))
		if got.Body != want.Body || got.SecondMessage != "" || !slices.Equal(got.Tags, want.Tags) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// Texts have the line ends of platforms, whatever system they were written on.
func TestLineEndsOfOtherSystems(t *testing.T) {
	c := capabilities(t, "x")
	for _, end := range []string{"\r\n", "\r", "\n"} {
		p := platform.Post{Kind: platform.KindPost, Caption: strings.Repeat("a"+end, 140)}
		if body := platform.Arrange(p, c).Body; body != strings.TrimSpace(strings.Repeat("a\n", 140)) {
			t.Errorf("%q: %q", end, body)
		}
		if found := platform.Fit("x", p, c); len(found) > 0 {
			t.Errorf("%q: %v", end, found)
		}
	}
}

func TestALongCaptionIsDividedWhereItPauses(t *testing.T) {
	sentence := "This is a sentence of some length. "
	for name, c := range map[string]struct{ caption, first, rest string }{
		"paragraph": {strings.Repeat("a", 900) + "\n\n" + strings.Repeat("b", 900), strings.Repeat("a", 900),
			strings.Repeat("b", 900)},
		"sentence": {strings.Repeat(sentence, 40), strings.TrimSpace(strings.Repeat(sentence, 29)),
			strings.TrimSpace(strings.Repeat(sentence, 11))},
		"word": {strings.Repeat("word ", 300), strings.TrimSpace(strings.Repeat("word ", 204)),
			strings.TrimSpace(strings.Repeat("word ", 96))},
		"nowhere": {strings.Repeat("👟", 600), strings.Repeat("👟", 512), strings.Repeat("👟", 88)},
		"too early": {"Hi.\n\n" + strings.Repeat("b", 1100), "Hi.\n\n" + strings.Repeat("b", 1019),
			strings.Repeat("b", 81)},
	} {
		got := platform.Arrange(platform.Post{Kind: platform.KindPost, Caption: c.caption,
			Media: []platform.Media{fixture.Image("a")}}, capabilities(t, "telegram"))
		if got.Body != c.first || got.SecondMessage != c.rest {
			t.Errorf("%s: divided after %d and %d bytes: …%q", name, len(got.Body), len(got.SecondMessage),
				got.Body[max(0, len(got.Body)-20):])
		}
	}
}

// Platforms keep a text with other spaces, in another form of Unicode or with escapes. Another text is another post.
func TestWhatIsTheSameText(t *testing.T) {
	for _, c := range []struct {
		kept, sent string
		same       bool
	}{
		{"Tea &amp; cake", "Tea & cake", true}, {"Cafe\u0301", "Café", true}, {"Tea  now", "Tea now", true},
		{"Tea\nnow", "Tea\n\n\nnow ", true}, {"Tea\u00a0now", "Tea now", true}, {"", " ", true},
		{"Tea now", "Teanow", false}, {"tea", "Tea", false}, {"", "Tea", false}, {"Tea 1", "Tea 2", false},
		{"Tea", "Tea now", false}, {"Café", "Cafe", false},
	} {
		if platform.Same(c.kept, c.sent) != c.same {
			t.Errorf("%q and %q: want %t", c.kept, c.sent, c.same)
		}
	}
}
