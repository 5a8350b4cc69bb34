package main

import (
	"strings"
	"testing"
	"time"
)

func TestPublicationsAreJudged(t *testing.T) {
	ended := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	type shown struct {
		item   shownPublication
		events []told
		posts  []string
		once   bool
	}
	unknown := func(s *shown) {
		s.item.State, s.item.Publications[0].State = "failed", "failed"
		s.item.Publications[0].Failure = &struct{ Code string }{"outcome_unknown"}
		s.events = nil
	}
	for name, c := range map[string]struct {
		change func(*shown)
		broken string
	}{
		"well":                         {func(*shown) {}, ""},
		"one that is under way":        {func(s *shown) { s.item.State = "publishing" }, "did not end"},
		"one without a post":           {func(s *shown) { s.posts = s.posts[1:] }, "did not end"},
		"one that was posted twice":    {func(s *shown) { s.posts = append(s.posts, s.posts[0]) }, "posted twice"},
		"one without an event":         {func(s *shown) { s.events = nil }, "did not end"},
		"one with two events":          {func(s *shown) { s.events = append(s.events, s.events[0]) }, "did not end"},
		"an unknown outcome":           {unknown, ""},
		"an unknown one without fault": {func(s *shown) { unknown(s); s.once = true }, "outcome of 1 posts is unknown"},
		"an unknown one posted twice":  {func(s *shown) { unknown(s); s.posts = append(s.posts, s.posts[0]) }, "posted twice"},
		"another failure":              {func(s *shown) { unknown(s); s.item.Publications[0].Failure.Code = "timeout" }, "did not end"},
		"an item that is missing":      {func(s *shown) { s.item.ID = "cnt_2" }, "did not end"},
	} {
		e := told{CreatedAt: ended.Add(3 * time.Second)}
		e.Data.Object.ID = "cnt_1"
		s := shown{item: shownPublication{ID: "cnt_1", State: "published", Caption: captionOf("fac_1", 1)}, events: []told{e}, posts: []string{captionOf("fac_1", 1) + " photo", captionOf("fac_1", 11)}}
		s.item.Publications = append(s.item.Publications, struct {
			State   string
			Failure *struct{ Code string }
		}{State: "published"})
		c.change(&s)
		v := judgePublications([]accepted{{"cnt_1", ended.Add(-time.Second)}}, []shownPublication{s.item}, s.events, s.posts, ended)
		v.name, v.bounds.once = name, s.once
		err := v.broken()
		if (err == nil) != (c.broken == "") || err != nil && !strings.Contains(err.Error(), c.broken) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "well" && v.markdown() != "| well | 0 | 1 | 1 | 0 | 0 | 0 | 3.0 | yes |\n" {
			t.Errorf("%+v: %s", v, v.markdown())
		}
	}
}
