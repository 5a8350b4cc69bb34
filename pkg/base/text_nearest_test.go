package base_test

import (
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/text"
)

func TestName(t *testing.T) {
	item := strings.Fields("factory_id kind format prompt caption duration_seconds language model metadata")
	list := strings.Fields("limit cursor order state kind from to")
	hook := strings.Fields("url event_types description state factory_ids")
	scopes := strings.Fields("account:read account:manage content:read content:write studio:use")
	kinds := strings.Fields("post video carousel story music_clip")
	events := strings.Fields("content.* content.generated content.published content_plan.completed training.completed")
	for _, c := range []struct {
		unknown string
		known   []string
		want    string
	}{
		{"duration", item, "duration_seconds"},
		{"durationSeconds", item, "duration_seconds"},
		{"factoryId", item, "factory_id"},
		{"Factory-ID", item, "factory_id"},
		{"factory", item, "factory_id"},
		{"promt", item, "prompt"},
		{"pormpt", item, "prompt"},
		{"xyz", item, ""},
		{"", item, ""},
		{"events", hook, "event_types"},
		{"event_type", hook, "event_types"},
		{"webhook_url", hook, "url"},
		{"page", list, "cursor"},
		{"starting_after", list, "cursor"},
		{"sort", list, "order"},
		{"per_page", list, "limit"},
		{"status", list, "state"},
		{"limits", list, "limit"},
		{"factory", []string{"factories"}, "factories"},
		{"factories", []string{"factory"}, "factory"},
		{"items", []string{"factories", "content-items"}, "content-items"},
		{"page", hook, ""}, // an alias of nothing here
		{"content:*", scopes, "content:read"},
		{"studio", scopes, "studio:use"},
		{strings.Repeat("limit", 20), list, ""},
		{"reel", kinds, "video"},
		{"image", kinds, "post"},
		{"image", []string{"image", "post"}, "image"},
		{"content.completed", events, "content.generated"},
		{"content.posted", events, "content.published"},
		{"studio.done", events, ""},
	} {
		if got := text.Nearest(c.unknown, c.known); got != c.want {
			t.Errorf("%q: got %q, want %q", c.unknown, got, c.want)
		}
	}
}

func TestHint(t *testing.T) {
	if got := text.NearestHint("limits", []string{"limit"}); got != "; did you mean limit?" {
		t.Errorf("got %q", got)
	}
	if got := text.NearestHint("zzz", []string{"limit"}); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"acb", "abc", 1}, {"abd", "abc", 1}, {"abcd", "abc", 1},
		{"kitten", "sitting", 3}, {"für", "fur", 1}} {
		if got := text.Distance(c.a, c.b); got != c.want || text.Distance(c.b, c.a) != c.want {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
