package vk

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// reach tells how many people up to 30 posts have reached.
func (f *Fake) reach(w http.ResponseWriter, q url.Values) {
	ids := strings.Split(q.Get("post_ids"), ",")
	if len(ids) > 30 {
		refuse(w, 100)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	all := []any{}
	for _, p := range f.wall {
		if slices.Contains(ids, fmt.Sprint(p["id"])) {
			all = append(all, map[string]any{"post_id": p["id"], "reach_subscribers": 40, "reach_total": 55, "links": 4,
				"to_group": 1, "join_group": 0, "hide": 0, "unsubscribe": 0})
		}
	}
	answer(w, all)
}

// stats tells the days of the community, the latest first. They begin at midnight in Moscow. The activity of a day
// without any is absent.
func (f *Fake) stats(w http.ResponseWriter, q url.Values) {
	from, err := strconv.ParseInt(q.Get("timestamp_from"), 10, 64)
	to, other := strconv.ParseInt(q.Get("timestamp_to"), 10, 64)
	if err != nil || other != nil || from > to || q.Get("interval") != "day" {
		refuse(w, 100)
		return
	}
	const moscow = 3 * time.Hour
	first := time.Unix(from, 0).UTC().Add(moscow).Truncate(24 * time.Hour).Add(-moscow)
	all := []any{}
	for at := first; at.Unix() <= to; at = at.AddDate(0, 0, 1) {
		day := map[string]any{"period_from": at.Unix(), "period_to": at.AddDate(0, 0, 1).Unix() - 1,
			"visitors": map[string]int{"views": 30, "visitors": 20}, "reach": map[string]int{"reach": 500 + at.Day(),
				"reach_subscribers": 300, "mobile_reach": 400}}
		if len(all) > 0 {
			day["activity"] = map[string]int{"likes": 9, "comments": 3, "copies": 2, "subscribed": 6, "unsubscribed": 1}
		}
		all = append(all, day)
	}
	slices.Reverse(all)
	answer(w, all)
}
