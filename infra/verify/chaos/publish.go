package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/testdata/platforms/telegram"
)

// publishPlaces are the steps on the way of a publication from its acceptance to its end.
var publishPlaces = []place{
	{name: "content accepts a publication", at: []step{{function: "content", operation: "TransactWriteItems"}}},
	{name: "publish reads an item", at: []step{{function: "publish", operation: "BatchGetItem"}}, held: true},
	{name: "publish leases a post", at: []step{{function: "publish", operation: "PutItem", with: `\"lease\":{`}}, held: true, leased: true},
	{name: "publish posts", at: []step{{function: "publish", operation: "POST telegram"}}, held: true, leased: true},
	{name: "publish keeps what was posted", at: []step{{function: "publish", operation: "PutItem", with: `\"post\":{`}}, held: true, leased: true},
	{name: "publish writes the end", at: []step{{function: "publish", operation: "TransactWriteItems", with: `{"S":"ended"}`}}, held: true},
	{name: "publish sends the next step", at: []step{{function: "publish", operation: "SendMessageBatch"}}, held: true},
}

// posting are the calls that post.
var posting = []step{{function: "publish", operation: "POST telegram"}}

// publishRows are the rows about publications.
func publishRows(sz size) []row {
	sure := bounds{once: true}
	return rowsAlong(sz, publishPlaces,
		row{name: "The table refuses writes", happen: window(writes, sz.outage, refuse)},
		row{name: "Each message and event comes twice", happen: often(sends, 1, repeat), bounds: sure},
		row{name: "Every third write is done, its answer lost", happen: often(writes, 3, loseAnswer)},
		row{name: "Every third post is made, its answer lost", happen: often(posting, 3, loseAnswer)},
		row{name: "Publish frozen for 40 s at a post", happen: frozen(posting, 40*time.Second)},
	)
}

// mostPublications is how many publications a row has at most.
const mostPublications = 40

// newPublishScene makes a scene for publications of a live key to a channel of the fake of
// Telegram. The items are generated before the load begins.
func (w *world) newPublishScene(ctx context.Context, name string, sz size) (*scene, error) {
	s, err := w.newLiveScene(ctx, name)
	if err != nil {
		return nil, err
	}
	var channel struct{ ID string }
	err = s.client.call(ctx, http.MethodPost, "/v1/social/accounts", "", map[string]any{"platform": "telegram", "bot_token": telegram.Token, "channel": telegram.Channel}, &channel)
	if err != nil {
		return nil, err
	}
	items := make([]string, min(sz.jobs, mostPublications))
	for i := range items {
		var made struct{ ID string }
		err := s.client.call(ctx, http.MethodPost, "/v1/content-items", "", map[string]any{
			"factory_id": s.factory, "kind": "post", "prompt": "Chaos " + strconv.Itoa(i), "caption": captionOf(s.factory, i),
		}, &made)
		if err != nil {
			return nil, err
		}
		items[i] = made.ID
	}
	if err := until(ctx, func() (bool, error) { return s.noneWaits(ctx) }); err != nil {
		return nil, err
	}
	s.load = &load{client: s.client, events: len(items), every: sz.every, callers: callers, ask: func(i int) (string, map[string]any) {
		return "/v1/content-items/" + items[i] + "/publish", map[string]any{"social_account_ids": []string{channel.ID}}
	}}
	s.through = func(ctx context.Context) (bool, error) {
		if err := pause(ctx, time.Second/2); err != nil {
			return false, err
		}
		left, err := list[struct{}](ctx, s.client, "/v1/content-items", "state", "publishing")
		return len(left) == 0, err
	}
	return s, nil
}

// captionOf is what the i-th post of a factory says: the posts of all rows are in one channel.
func captionOf(factory string, i int) string {
	return "Post " + strconv.Itoa(i) + " of " + factory + "."
}

// shownPublication is an item as the API shows it after it was published.
type shownPublication struct {
	ID, State, Caption string
	Publications       []struct {
		State   string
		Failure *struct{ Code string }
	}
}

// published is what came of a row about publications.
type published struct {
	name      string
	bounds    bounds
	trouble   error // why there is no result
	hits      int
	accepted  int
	published int // with one post and one event
	unknown   int // ended as outcome_unknown, with at most one post
	twice     int // with more than one post
	other     int // anything else
	last      time.Duration
}

// published reads what came of a row.
func (s *scene) published(ctx context.Context) (published, error) {
	events, err := list[told](ctx, s.client, "/v1/events", "type", "content.published")
	if err != nil {
		return published{}, err
	}
	items, err := list[shownPublication](ctx, s.client, "/v1/content-items")
	if err != nil {
		return published{}, err
	}
	posts, err := s.posts(ctx)
	if err != nil {
		return published{}, err
	}
	done, _ := s.load.accepted()
	s.mu.Lock()
	defer s.mu.Unlock()
	v := judgePublications(done, items, events, posts, s.ended)
	v.hits = s.hits
	return v, nil
}

// posts returns the posts of the channel.
func (s *scene) posts(ctx context.Context) (all []string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.system.Platforms+"/_posts", nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	var shown map[string][]struct{ Content string }
	if err := json.NewDecoder(resp.Body).Decode(&shown); err != nil {
		return nil, err
	}
	for _, p := range shown["telegram"] {
		all = append(all, p.Content)
	}
	return all, nil
}

// judgePublications compares what was accepted with the items, their events and the posts.
func judgePublications(done []accepted, items []shownPublication, events []told, posts []string, ended time.Time) published {
	v := published{accepted: len(done)}
	ends := map[string][]told{}
	for _, e := range events {
		ends[e.Data.Object.ID] = append(ends[e.Data.Object.ID], e)
	}
	of := map[string]shownPublication{}
	for _, it := range items {
		of[it.ID] = it
	}
	for _, d := range done {
		it, there := of[d.id], 0
		for _, post := range posts {
			if it.Caption != "" && strings.Contains(post, it.Caption) {
				there++
			}
		}
		told := ends[d.id]
		switch {
		case there > 1:
			v.twice++
		case len(it.Publications) != 1:
			v.other++
		case it.State == "published" && it.Publications[0].State == "published" && there == 1 && len(told) == 1:
			v.published++
			if d.at.Before(ended) {
				v.last = max(v.last, told[0].CreatedAt.Sub(ended))
			}
		case it.Publications[0].Failure != nil && it.Publications[0].Failure.Code == string(platform.CodeOutcomeUnknown) && len(told) == 0:
			v.unknown++
		default:
			v.other++
		}
	}
	return v
}

// broken returns which bounds do not hold; nil where all do.
func (v published) broken() error {
	return broken(v.name, v.trouble, func(fail failIf) {
		fail(v.accepted == 0, "nothing was accepted")
		fail(v.twice > 0, "%d of %d items were posted twice", v.twice, v.accepted)
		fail(v.other > 0, "%d of %d items did not end with what their post shows", v.other, v.accepted)
		fail(v.bounds.once && v.unknown > 0, "the outcome of %d posts is unknown, though no answer was lost", v.unknown)
	})
}

// markdown is the line of a row.
func (v published) markdown() string {
	kept := "yes"
	if v.broken() != nil {
		kept = "**no**"
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %.1f | %s |\n", v.name, v.hits, v.accepted, v.published, v.unknown, v.twice, v.other, v.last.Seconds(), kept)
}

// playPublications runs rows about publications.
func (w *world) playPublications(ctx context.Context, rows []row, sz size, out io.Writer) []published {
	return playAll(ctx, rows, sz, out, w.newPublishScene, (*scene).published, func(v *published, r row, trouble error, _ *published) {
		v.name, v.bounds, v.trouble = r.name, r.bounds, trouble
	})
}
