package diagnosis

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

const (
	// Posts with fewer views say nothing about engagement.
	minViews = 100
	// A group of posts is compared if it and the others have at least minPosts.
	minPosts = 10
)

// engagement finds the kinds, hours and topics whose posts get more or fewer reactions
// for each view than the others. Platforms differ in that, so that each post is compared
// with the median of its platform.
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

// relative returns the posts that count, and the engagement rate of each in relation to
// the median of its platform.
func relative(all []Post) (posts []Post, rates []float64) {
	of := map[string][]float64{}
	for _, p := range all {
		if p.Views >= minViews {
			of[p.Platform] = append(of[p.Platform], rate(p))
		}
	}
	for _, platform := range of {
		slices.Sort(platform)
	}
	for _, p := range all {
		// If half of the posts have no reactions, there is nothing to relate to.
		if platform := of[p.Platform]; p.Views >= minViews && platform[len(platform)/2] > 0 {
			posts, rates = append(posts, p), append(rates, rate(p)/platform[len(platform)/2])
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
		superiority, p := mannWhitney(group, others)
		if p >= significance/float64(len(in)) {
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
