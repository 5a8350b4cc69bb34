package platform_test

import (
	"testing"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/telegram"
	fake "github.com/content-automation/api/testdata/platforms/telegram"
)

// A lost answer is followed by the same call: it succeeds, and changes nothing more.
func TestAPostIsChangedAndDeletedOnce(t *testing.T) {
	fixture := newTelegramFixture()
	defer fixture.Close()
	f, p, a, ctx := fixture.Fake.(*fake.Fake), fixture.Adapter.(*telegram.Platform), fixture.Account, t.Context()
	done := publish(t, fixture, a, platform.Post{Kind: platform.KindPost, Caption: "Words"})
	post := platform.PlacedPost{PublishedPost: done.Post, Parts: 1}
	for range 2 {
		if err := p.Edit(ctx, a, post, "New words"); err != nil {
			t.Fatal(err)
		}
	}
	if all := f.Published(); f.Altered != 1 || len(all) != 1 || all[0].Content != "New words" {
		t.Errorf("%d changes, to %+v", f.Altered, all)
	}
	for range 2 {
		if err := p.Delete(ctx, a, post); err != nil {
			t.Fatal(err)
		}
	}
	if all := f.Published(); f.Altered != 2 || len(all) != 0 {
		t.Errorf("%d changes, to %+v", f.Altered, all)
	}
	album := platform.PlacedPost{PublishedPost: platform.PublishedPost{ID: "8"}, Media: 2, Parts: 1}
	if err := p.Delete(ctx, a, album); platform.KindOf(err) != platform.BadContent || f.Altered != 2 {
		t.Errorf("an album: %v, %d changes", err, f.Altered)
	}
	long := platform.PlacedPost{PublishedPost: platform.PublishedPost{ID: "9"}, Media: 1, Parts: 2}
	if err := p.Edit(ctx, a, long, "x"); platform.KindOf(err) != platform.BadContent || f.Altered != 2 {
		t.Errorf("a text in two messages: %v, %d changes", err, f.Altered)
	}
}
