package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/content-automation/api/testdata/platforms/telegram"
)

// system is a service as its callers see it.
type system struct{ base, key string }

type object = map[string]any

// list is what is read of a page. Items read into maps would take the client longer than the service.
type list struct {
	Data       []struct{} `json:"data"`
	NextCursor string     `json:"next_cursor"`
}

// callers is the number of calls at a time that create posts.
const callers = 8

var client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: callers}}

// call makes a call and returns its answer.
func (s system) call(ctx context.Context, method, path string, body object) (out object, err error) {
	return out, s.do(ctx, method, path, body, &out)
}

// do makes a call and reads its answer into out.
func (s system) do(ctx context.Context, method, path string, body object, out any) error {
	var data []byte
	if body != nil {
		data, _ = json.Marshal(body) // texts and maps of them have a form in JSON
	}
	r, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, text)
	}
	return json.Unmarshal(text, out)
}

// factory makes a factory that posts to a channel, and returns its id.
func (s system) factory(ctx context.Context) (any, error) {
	made, err := s.call(ctx, "POST", "/v1/factories", object{"type": "brand", "name": "Sea",
		"settings": object{"brand_name": "Acme"}, "schedule": object{"timezone": "Europe/Berlin",
			"times": []string{"09:00"}}})
	if err != nil {
		return nil, err
	}
	channel, err := s.call(ctx, "POST", "/v1/social/accounts", object{"platform": "telegram",
		"bot_token": telegram.Token, "channel": telegram.Channel})
	if err != nil {
		return nil, err
	}
	factory, account := made["data"].(object)["id"], channel["data"].(object)["id"]
	_, err = s.call(ctx, "PUT", fmt.Sprintf("/v1/factories/%s/social-accounts/%s", factory, account), nil)
	return factory, err
}

// planned is how many posts there are for one that has a time.
const planned = 5

// create makes the posts from one number up to another, and returns how many it made a second.
func create(ctx context.Context, s system, from, to int) (float64, error) {
	began := time.Now()
	factory, err := s.factory(ctx)
	if err != nil {
		return 0, err
	}
	var next atomic.Int64
	next.Store(int64(from))
	group, ctx := errgroup.WithContext(ctx)
	for range callers {
		group.Go(func() error {
			for i := next.Add(1); i <= int64(to); i = next.Add(1) {
				post := object{"factory_id": factory, "kind": "post", "source": "provided",
					"caption": fmt.Sprintf("Post %d: our trail running shoe is made of recycled nets.", i)}
				if i%planned == 0 {
					at := began.Add(24*time.Hour + time.Duration(i)*time.Minute)
					post["publish_at"] = at.UTC().Format(time.RFC3339)
				}
				var made struct{}
				if err := s.do(ctx, "POST", "/v1/content-items", post, &made); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = group.Wait()
	return float64(to-from) / time.Since(began).Seconds(), err
}

// read measures the calls that read.
func (r *row) read(ctx context.Context, s system) error {
	var cursor string
	began := time.Now()
	for seen := 0; ; {
		query, page := url.Values{"limit": {"100"}}, time.Now()
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		var out list
		if err := s.do(ctx, "GET", "/v1/content-items?"+query.Encode(), nil, &out); err != nil {
			return err
		}
		seen += len(out.Data)
		if cursor == "" {
			r.first = time.Since(page)
		}
		r.last = time.Since(page)
		if cursor = out.NextCursor; cursor != "" {
			continue
		}
		if seen != r.posts {
			return fmt.Errorf("the list has %d of %d posts", seen, r.posts)
		}
		break
	}
	r.walk = time.Since(began)
	for _, of := range []struct {
		took  *time.Duration
		query string
	}{{&r.calendar, ""}, {&r.pending, "&state=pending&order=asc"}, {&r.none, "&state=failed"}} {
		for range 5 {
			began = time.Now()
			_, _ = s.call(ctx, "GET", "/v1/publications?limit=20"+of.query, nil) // a service of old refuses it
			if took := time.Since(began); *of.took == 0 || took < *of.took {
				*of.took = took
			}
		}
	}
	return nil
}
