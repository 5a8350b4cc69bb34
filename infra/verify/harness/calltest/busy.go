package calltest

import (
	"net/http"
	"time"
)

// Busy answers the first request with a status and its Retry-After, and passes the others on.
type Busy struct {
	Status     int
	RetryAfter string
	Next       func(*http.Request) (*http.Response, error)
	Now        func() time.Time
	// Asked has the times of all requests.
	Asked []time.Time
}

// Do answers the first request, and passes the others on. It returns an error of Next alone.
func (b *Busy) Do(req *http.Request) (*http.Response, error) {
	if b.Asked = append(b.Asked, b.Now()); len(b.Asked) > 1 {
		return b.Next(req)
	}
	return &http.Response{StatusCode: b.Status, Header: http.Header{"Retry-After": {b.RetryAfter}},
		Body: http.NoBody}, nil
}
