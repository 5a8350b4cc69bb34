package vk

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// Metrics implements platform.Publisher. Only administrators of the community can read the reach and the clicks.
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.Published) (m platform.Metrics,
	err error) {
	type count struct {
		Count int64 `json:"count"`
	}
	var answer struct {
		Items []struct {
			Views    count `json:"views"`
			Likes    count `json:"likes"`
			Comments count `json:"comments"`
			Reposts  count `json:"reposts"`
		} `json:"items"`
	}
	if a.Token.Refresh == "" {
		return m, platform.Unsupported("metrics with the token of a community")
	}
	if err := p.call(ctx, a, "wall.getById", url.Values{"posts": {a.ID + "_" + post.ID}}, false, &answer); err != nil {
		return m, err
	}
	if len(answer.Items) == 0 {
		return m, platform.Reject(platform.CodePostNotFound, "VK does not have the post.")
	}
	i := answer.Items[0]
	m = platform.Metrics{Views: &i.Views.Count, Likes: &i.Likes.Count, Comments: &i.Comments.Count,
		Shares: &i.Reposts.Count}
	var reached []struct {
		Reach *int64 `json:"reach_total"`
		Links *int64 `json:"links"`
	}
	err = p.call(ctx, a, "stats.getPostReach", url.Values{"owner_id": {a.ID}, "post_ids": {post.ID}}, false, &reached)
	if err != nil && !platform.Untold(err) {
		return platform.Metrics{}, err
	}
	if len(reached) > 0 {
		m.Reach, m.Clicks = reached[0].Reach, reached[0].Links
	}
	return m, nil
}

// mostDays bounds the days of one call.
const mostDays = 89

// Days implements platform.AccountReader. Only administrators of the community can read more than the present number of
// its members.
func (p *Platform) Days(ctx context.Context, a platform.Account, from time.Time) ([]platform.Day, error) {
	group := strings.TrimPrefix(a.ID, "-")
	var answer struct {
		Groups []struct {
			Members *int64 `json:"members_count"`
		} `json:"groups"`
	}
	err := p.call(ctx, a, "groups.getById", url.Values{"group_id": {group}, "fields": {"members_count"}}, false,
		&answer)
	if err != nil {
		return nil, err
	}
	days := platform.NewDays(from, p.Client.Now(), mostDays)
	if len(answer.Groups) > 0 {
		days.Last().Followers = answer.Groups[0].Members
	}
	if a.Token.Refresh == "" {
		return days, nil
	}
	var periods []struct {
		From     int64 `json:"period_from"`
		Visitors struct {
			Visitors *int64 `json:"visitors"`
		} `json:"visitors"`
		Reach struct {
			Reach *int64 `json:"reach"`
		} `json:"reach"`
		// Activity has only what has happened on the day.
		Activity struct {
			Likes    int64 `json:"likes"`
			Comments int64 `json:"comments"`
			Copies   int64 `json:"copies"`
			Gained   int64 `json:"subscribed"`
			Lost     int64 `json:"unsubscribed"`
		} `json:"activity"`
	}
	err = p.call(ctx, a, "stats.get", url.Values{"group_id": {group}, "interval": {"day"},
		"timestamp_from": {strconv.FormatInt(days[0].Date.Unix(), 10)},
		"timestamp_to":   {strconv.FormatInt(p.Client.Now().Unix(), 10)}}, false, &periods)
	if err != nil && !platform.Untold(err) {
		return nil, err
	}
	for _, d := range periods {
		// The days of VK begin at midnight in Moscow: each has its middle in the day of UTC with the same date.
		day := days.At(time.Unix(d.From, 0).Add(12 * time.Hour))
		if day == nil {
			continue
		}
		did := d.Activity
		day.Gained, day.Lost, day.Visitors = &did.Gained, &did.Lost, d.Visitors.Visitors
		day.Metrics = platform.Metrics{Reach: d.Reach.Reach, Likes: &did.Likes, Comments: &did.Comments,
			Shares: &did.Copies}
	}
	return days, nil
}
