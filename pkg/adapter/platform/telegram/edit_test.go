package telegram_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/telegram"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	fake "github.com/content-automation/api/testdata/platforms/telegram"
)

// A lost answer is followed by the same call: it succeeds, and changes nothing more.
func TestAPostIsChangedAndDeletedOnce(t *testing.T) {
	f := fake.New(time.Now)
	server := httptest.NewServer(f.Handler())
	defer server.Close()
	p := telegram.New(wire.Config{BaseURL: server.URL, HTTP: server.Client(), Now: time.Now})
	a, ctx := account(fake.Chat), t.Context()
	post := platform.Placed{Published: platform.Published{ID: "7"}, Media: 1, Parts: 1}
	for range 2 {
		if err := p.Edit(ctx, a, post, "New words"); err != nil {
			t.Fatal(err)
		}
	}
	if f.Altered != 1 || f.Texts["7"] != "New words" {
		t.Errorf("%d changes, to %q", f.Altered, f.Texts["7"])
	}
	for range 2 {
		if err := p.Delete(ctx, a, post); err != nil {
			t.Fatal(err)
		}
	}
	if f.Altered != 2 || f.Texts["7"] != "" {
		t.Errorf("%d changes, to %q", f.Altered, f.Texts["7"])
	}
	album := platform.Placed{Published: platform.Published{ID: "8"}, Media: 2, Parts: 1}
	if err := p.Delete(ctx, a, album); platform.KindOf(err) != platform.BadContent || f.Altered != 2 {
		t.Errorf("an album: %v, %d changes", err, f.Altered)
	}
	long := platform.Placed{Published: platform.Published{ID: "9"}, Media: 1, Parts: 2}
	if err := p.Edit(ctx, a, long, "x"); platform.KindOf(err) != platform.BadContent || f.Altered != 2 {
		t.Errorf("a text in two messages: %v, %d changes", err, f.Altered)
	}
}
