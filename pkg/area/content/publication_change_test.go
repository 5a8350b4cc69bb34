package content_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/record/resource"
)

// A platform that deletes a thread deletes all of its posts.
func TestAPublishedPostHasItsParts(t *testing.T) {
	words := strings.TrimSpace(strings.Repeat("A shoe of nets. ", 40))
	for name, c := range map[string]struct {
		platform, options, caption, rest string
		media, want                      int
	}{
		"a post":                      {"bluesky", "", "A shoe", "", 0, 1},
		"a thread":                    {"bluesky", `{"thread": true}`, words, "", 0, 3},
		"a caption that fits":         {"bluesky", `{"thread": true}`, "A shoe", "", 1, 1},
		"a rest":                      {"telegram", "", words, words, 1, 2},
		"a long text without options": {"telegram", "", words, "", 0, 1},
	} {
		adapter, ok := registry.Live(c.platform, wire.Config{})
		if !ok {
			t.Fatalf("there is no %s", c.platform)
		}
		id := "1"
		pub := &item.Publication{PlatformPostID: &id,
			Posted: &item.Preview{Text: resource.Text(c.caption), Rest: resource.Text(c.rest),
				MediaIDs: make([]string, c.media)}}
		if c.options != "" {
			pub.Options = &item.PublishOptions{RawMessage: json.RawMessage(c.options)}
		}
		got, err := publication.Placed(platform.KindPost, pub, adapter.Capabilities())
		if err != nil || got.ID != id || got.Media != c.media || got.Parts != c.want {
			t.Errorf("%s: %+v, %v, want %d parts", name, got, err, c.want)
		}
	}
}
