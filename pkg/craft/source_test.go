package craft_test

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/craft/source"
)

func TestTheArticlesForASubject(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	at := func(hours int) *time.Time {
		before := now.Add(-time.Duration(hours) * time.Hour)
		return &before
	}
	all := []source.Cache{
		{Articles: []source.Article{
			{Title: "Old bridge", URL: "https://a.example/old", PublishedAt: at(100), Text: "The bridge was closed."},
			{Title: "Weather", URL: "https://a.example/rain", PublishedAt: at(1), Text: "It rains."},
			{Title: "Bridges reopen", URL: "https://a.example/bridge", PublishedAt: at(30), Text: "Two bridges reopen."},
		}},
		{Articles: []source.Article{
			{Title: "The same", URL: "https://a.example/bridge", Text: "Two bridges reopen."},
			{Title: "Undated", URL: "https://b.example/page", Text: "About the harbour."},
			{Title: "Empty", URL: "https://b.example/empty"},
		}},
	}
	want := []string{"Bridges reopen", "Weather", "Undated"}
	got := source.Choose(all, "Is the bridge open?", now, 48*time.Hour)
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, title := range want {
		if got[i].Title != title {
			t.Errorf("%d is %q, not %q", i, got[i].Title, title)
		}
	}
	if got = source.Choose(all, "bridge", now, 0); len(got) != 4 {
		t.Errorf("without a greatest age: %+v", got)
	}
	if (source.Source{URL: "https://a.example"}).ID() == (source.Source{URL: "https://b.example"}).ID() {
		t.Error("two sources have one id")
	}
}
