package advice

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/base/statistics"
)

const (
	// Posts with fewer views say nothing about engagement.
	minViews = 100
	// A group of posts is compared if it and the others have at least minPosts.
	minPosts = 10
)

// engagement finds the kinds, hours and topics whose posts get more or fewer reactions for each view than the others.
// Platforms differ in that, so that each post is compared with the median of its platform.
func engagement(f Facts) (all []Finding) {
	zone := f.Factory.Zone
	if zone == nil {
		zone = time.UTC
	}
	posts, rates := relative(f.Posts)
	for _, by := range []struct {
		code   Code
		what   string
		groups func(Post) []string
	}{
		{EngagementByKind, "of the kind %s", func(p Post) []string { return []string{p.Kind} }},
		{EngagementByHour, "published at %s o'clock",
			func(p Post) []string { return []string{fmt.Sprintf("%02d", p.PublishedAt.In(zone).Hour())} }},
		{EngagementByTopic, "about %q", func(p Post) []string { return p.Topics }},
	} {
		all = append(all, compare(by.code, by.what, posts, rates, by.groups)...)
	}
	return all
}

// relative returns the posts that count, and the engagement rate of each in relation to the median of its platform.
func relative(all []Post) (posts []Post, rates []float64) {
	var platforms []string
	for _, p := range all {
		if p.Views >= minViews {
			posts, rates, platforms = append(posts, p), append(rates, rate(p)), append(platforms, p.Platform)
		}
	}
	rates = statistics.Relative(rates, platforms)
	for i := len(posts) - 1; i >= 0; i-- {
		if math.IsNaN(rates[i]) { // half of the posts have no reactions
			posts, rates = slices.Delete(posts, i, i+1), slices.Delete(rates, i, i+1)
		}
	}
	return posts, rates
}

func rate(p Post) float64 { return float64(p.Reactions) / float64(p.Views) }

// compare tests each group against all other posts.
func compare(code Code, what string, posts []Post, rates []float64, groups func(Post) []string) (all []Finding) {
	in := map[string][]int{}
	for i, p := range posts {
		for _, name := range groups(p) {
			in[name] = append(in[name], i)
		}
	}
	maps.DeleteFunc(in, func(_ string, of []int) bool { return len(of) < minPosts || len(posts)-len(of) < minPosts })
	for _, name := range slices.Sorted(maps.Keys(in)) {
		var group, others []float64
		for i, r := range rates {
			if slices.Contains(in[name], i) {
				group = append(group, r)
			} else {
				others = append(others, r)
			}
		}
		superiority, p := statistics.MannWhitney(group, others)
		if p >= statistics.Significance/float64(len(in)) {
			continue
		}
		more := "more"
		if superiority < 0.5 {
			more = "less"
		}
		all = append(all, found(code, Info,
			fmt.Sprintf("Posts "+what+" get %s engagement than others: one of them beats one of the others in %d%% "+
				"of all pairs.", name, more, percent(superiority)),
			"posts", len(group), "others", len(others), "superiority", superiority, "p", p).about(name, MannWhitney))
	}
	return all
}
