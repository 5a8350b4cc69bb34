package platform_test

import (
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/telegram"
)

func TestOptionsOnTelegram(t *testing.T) {
	no, formatted := false, telegram.Options{Format: "html"}
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost,
		Caption: `<b>A shoe</b> of <a href="https://acme.example">Acme</a>`}
	photo, album := post, post
	photo.Media = []platform.Media{fixture.Image("a")}
	album.Kind, album.Media = platform.KindCarousel, []platform.Media{fixture.Image("a"), fixture.Image("b")}
	with := func(caption string) platform.Post {
		p := photo
		p.Caption = caption
		return p
	}
	protected := telegram.Options{Protect: true}
	fixture.Options(t, newTelegramFixture, []fixture.Option{
		{Name: "format", Post: post, Own: formatted, Shows: "parse_mode HTML"},
		{Name: "format", Post: photo, Own: formatted, Shows: "parse_mode HTML"},
		{Name: "format", Post: album, Own: formatted, Shows: "parse_mode HTML"},
		{Name: "protect", Post: post, Own: protected, Shows: "protect_content true"},
		{Name: "protect", Post: album, Own: protected, Shows: "protect_content true"},
		{Name: "silent", Post: album, Own: telegram.Options{Quiet: platform.Quiet{Silent: true}},
			Shows: "disable_notification true"},
		{Name: "link_preview", Post: post, Own: telegram.Options{LinkPreview: &no},
			Shows: `link_preview_options {"is_disabled":true}`},
	}, []fixture.Refusal{
		{Post: photo, Own: telegram.Options{LinkPreview: &no}, Param: "options.link_preview"},
		{Post: with(strings.Repeat("A shoe. ", 200)), Own: formatted, Param: "options.format"},
		{Post: with("<b>A shoe"), Own: formatted, Param: "caption"},
		{Post: with("<b>A <i>shoe</b></i>"), Own: formatted, Param: "caption"},
		{Post: with("<script>A</script>"), Own: formatted, Param: "caption"},
		{Post: with("5 < 6"), Own: formatted, Param: "caption"},
		{Post: with("<a>Acme</a>"), Own: formatted, Param: "caption"},
		{Post: with(`<b onclick="x">Acme</b>`), Own: formatted, Param: "caption"},
		{Post: with("<b> </b>"), Own: formatted, Param: "caption"},
	}, "privacy")
}

// Telegram keeps 100 formatted parts. Code with its language is one.
func TestFormattedParts(t *testing.T) {
	f := newTelegramFixture()
	defer f.Close()
	for _, part := range []string{"<b>A</b> ", `<pre><code class="language-go">x</code></pre> `, "<code>x</code> "} {
		for n, want := range map[int]int{100: 0, 101: 1} {
			found := f.Adapter.Capabilities().Refuses(platform.Post{Kind: platform.KindPost,
				Caption: strings.Repeat(part, n), Options: platform.Options{Own: telegram.Options{Format: "html"}}})
			if len(found) != want || want == 1 && !strings.HasSuffix(found[0].Message, " Use at most 100.") {
				t.Errorf("%d of %s: %+v", n, part, found)
			}
		}
	}
}

// The bound of a caption is that of what readers see.
func TestTagsDoNotCount(t *testing.T) {
	f := newTelegramFixture()
	defer f.Close()
	linked := `<a href="https://example.com/` + strings.Repeat("a", 80) + `">word</a> `
	for n, want := range map[int]int{1014: 0, 1016: 1} {
		found := f.Adapter.Capabilities().Refuses(platform.Post{Kind: platform.KindPost,
			Media: []platform.Media{fixture.Image("a")}, Caption: linked + linked + strings.Repeat("a", n),
			Options: platform.Options{Own: telegram.Options{Format: "html"}}})
		if len(found) != want {
			t.Errorf("%d letters: %+v", n, found)
		}
	}
}

// A text that is changed keeps the format of its post.
func TestAChangedTextKeepsItsFormat(t *testing.T) {
	f := newTelegramFixture()
	defer f.Close()
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "<b>A shoe</b>",
		Options: platform.Options{Own: telegram.Options{Format: "html"}}}
	done, err := platformtest.Publish(t.Context(), f, f.Account, post)
	if err != nil {
		t.Fatal(err)
	}
	editor := f.Adapter.(platform.Editor)
	placed := platform.PlacedPost{PublishedPost: done.Post, Parts: 1, Options: post.Options}
	if err := editor.Edit(t.Context(), f.Account, placed, "<i>A boot"); platform.KindOf(err) != platform.BadContent {
		t.Errorf("a tag that is left open: %v", err)
	}
	err = editor.Edit(t.Context(), f.Account, placed, "<i>A boot</i>")
	if posts := f.Fake.Posts(); err != nil || !strings.Contains(posts[0], "<i>A boot</i> parse_mode HTML") {
		t.Errorf("%q, %v", posts, err)
	}
}
