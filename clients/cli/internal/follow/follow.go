// Package follow reads the events of an account as they happen, without missing any.
package follow

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"time"
)

const (
	// interval is the time between two requests for new events.
	interval = 2 * time.Second
	// overlap is the time that each request goes back, because events of concurrent changes can
	// become visible in another order than their times.
	overlap = time.Minute
	// pageLimit is the greatest size of a page.
	pageLimit = "100"
	// hold is the time in seconds for which the service holds a request while there is nothing new, so that few
	// requests are counted.
	hold = "10"
)

// Event is an event of the account.
type Event struct {
	ID, Type, ObjectID string
	CreatedAt          time.Time
	// Body is the body of the event in a webhook.
	Body []byte
}

// UnmarshalJSON reads an event of the list.
func (e *Event) UnmarshalJSON(body []byte) error {
	var read struct {
		ID        string    `json:"id"`
		Type      string    `json:"type"`
		CreatedAt time.Time `json:"created_at"`
		Data      struct {
			Object struct {
				ID string `json:"id"`
			} `json:"object"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &read); err != nil {
		return err
	}
	*e = Event{read.ID, read.Type, read.Data.Object.ID, read.CreatedAt, append([]byte(nil), body...)}
	return nil
}

// Follower reads the events that a key may read.
type Follower struct {
	Client  *http.Client
	BaseURL string
	Key     string
	// Pattern is the parameter type of the list, or empty for all events.
	Pattern string
	Now     func() time.Time
	Wait    func(ctx context.Context, d time.Duration) error
	// Notice is called with the reason of a delay.
	Notice func(message string)
}

// Time returns the time of the service. An error means that the key cannot read events.
func (f *Follower) Time(ctx context.Context) (time.Time, error) {
	p, err := f.page(ctx, url.Values{"limit": {"1"}})
	return p.at, err
}

// Follow calls each for every event from start on, oldest first, except for events that become
// visible late. It returns when the context ends, or with the error with which the service
// refuses further requests.
func (f *Follower) Follow(ctx context.Context, start time.Time, each func(context.Context, Event) error) error {
	from, newest, cursor, last := start, start, "", ""
	known := map[string]time.Time{}
	for {
		query := url.Values{"order": {"asc"}, "limit": {pageLimit}, "from": {from.UTC().Format(time.RFC3339Nano)}}
		if cursor != "" {
			query.Set("cursor", cursor)
		} else {
			query.Set("wait_seconds", hold)
		}
		if last != "" {
			query.Set("after", last)
		}
		p, err := f.page(ctx, query)
		if err != nil {
			return err
		}
		for _, e := range p.events {
			if _, ok := known[e.ID]; ok {
				continue
			}
			if err := each(ctx, e); err != nil {
				return err
			}
			known[e.ID] = e.CreatedAt
			newest, last = later(newest, e.CreatedAt), max(last, e.ID)
		}
		pause := p.pause
		if cursor = p.next; cursor == "" {
			pause = max(pause, interval)
			from = later(start, newest.Add(-overlap))
			maps.DeleteFunc(known, func(_ string, at time.Time) bool { return at.Before(from) })
		}
		if err := f.Wait(ctx, pause); err != nil {
			return err
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
