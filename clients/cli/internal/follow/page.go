package follow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/base/backoff"
)

const (
	// firstPause and longestPause bound the waits after failures.
	firstPause, longestPause = time.Second, time.Minute
	// longestAnswer is larger than a page of the largest events, in bytes.
	longestAnswer = 64 << 20
)

// page is one page of the list of events.
type page struct {
	events []Event
	next   string
	at     time.Time
	// pause is the time to wait before the next request.
	pause time.Duration
}

// failure is an error of reading a page.
type failure struct {
	message string
	code    string
	// final reports that a repeated request would fail too.
	final bool
	// wait is the time that the service asks the caller to wait, or 0 if it names none.
	wait time.Duration
}

func (f *failure) Error() string { return f.message }

// page reads a page. It repeats the request after a temporary failure.
func (f *Follower) page(ctx context.Context, query url.Values) (page, error) {
	if f.Pattern != "" {
		query.Set("type", f.Pattern)
	}
	for try := 0; ; try++ {
		p, err := f.get(ctx, query)
		var failed *failure
		switch {
		case err == nil || ctx.Err() != nil:
			return p, errors.Join(err, ctx.Err())
		case !errors.As(err, &failed):
			failed = &failure{message: err.Error()}
		case failed.code == "invalid_cursor" && query.Has("cursor"):
			query.Del("cursor") // Start from the beginning; known events are ignored.
			continue
		case failed.final:
			return p, err
		}
		pause := failed.wait
		if pause == 0 {
			limit := min(firstPause<<min(try, 10), longestPause)
			pause = time.Duration(float64(limit) * (1 + backoff.Chance()) / 2)
		}
		f.Notice(fmt.Sprintf("%s Next try in %v.", failed.message, pause.Round(100*time.Millisecond)))
		if err := f.Wait(ctx, pause); err != nil {
			return p, err
		}
	}
}

// get makes one request.
func (f *Follower) get(ctx context.Context, query url.Values) (p page, err error) {
	address := f.BaseURL + "/v1/events"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"?"+query.Encode(), nil)
	if err != nil {
		return p, &failure{message: err.Error(), final: true}
	}
	req.Header.Set("Authorization", "Bearer "+f.Key)
	resp, err := f.Client.Do(req)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return p, &failure{message: fmt.Sprintf("GET %s: %v.", address, err)}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, longestAnswer))
	if err != nil {
		return p, &failure{message: fmt.Sprintf("GET %s: the answer ends early: %v.", address, err)}
	}
	if resp.StatusCode != http.StatusOK {
		return p, refusal(address, resp, body)
	}
	var answer struct {
		Data       []Event `json:"data"`
		NextCursor string  `json:"next_cursor"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Data == nil {
		return p, &failure{message: fmt.Sprintf("GET %s answered 200, but not with a list of events: check the base "+
			"URL.", address)}
	}
	p = page{events: answer.Data, next: answer.NextCursor, at: f.Now(), pause: pace(resp.Header.Get("RateLimit"))}
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		p.at = at
	}
	return p, nil
}

// refusal returns the failure for a response without events.
func refusal(address string, resp *http.Response, body []byte) *failure {
	var answer struct {
		Error struct{ Code, Message string }
	}
	_ = json.Unmarshal(body, &answer) // Gateways in front of the service use other forms.
	status := resp.StatusCode
	f := &failure{message: fmt.Sprintf("GET %s answered %d", address, status), code: answer.Error.Code}
	if f.code != "" {
		f.message += " " + f.code + ": " + answer.Error.Message
	} else {
		f.message += " " + http.StatusText(status) + "."
	}
	switch {
	case status == http.StatusUnauthorized:
		f.message += " Check --api-key or SVC_API_KEY."
	case status == http.StatusForbidden && f.code == "insufficient_scope":
		f.message += " Use a key with the scope account:read, and the scopes of what the events are about."
	case status >= 300 && status <= 399:
		f.message += fmt.Sprintf(" It redirects to %q: check --base-url or BASE_URL.", resp.Header.Get("Location"))
	case status == http.StatusNotFound:
		f.message += " Check --base-url or BASE_URL."
	}
	f.final = status < 500 && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		f.wait = time.Duration(min(seconds, int(time.Hour/time.Second))) * time.Second
	}
	return f
}

// pace returns the time to wait so that the follower uses at most half of the remaining rate
// limit. The key's other callers need the rest.
func pace(rateLimit string) time.Duration {
	var left, seconds int
	if _, err := fmt.Sscanf(rateLimit, `"default";r=%d;t=%d`, &left, &seconds); err != nil || left < 0 || seconds < 0 {
		return 0
	}
	window := time.Duration(min(seconds, 3600)) * time.Second
	return min(window, 2*window/time.Duration(max(left, 1)))
}
