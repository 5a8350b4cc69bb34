package webhook

import (
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/store"
)

// limit is the number of calls of an operation that one webhook takes in a minute. Each
// call sends requests to the address of the webhook, which may belong to a third party.
type limit struct {
	operation string
	calls     int64
}

var (
	testLimit   = limit{"test", 10}
	replayLimit = limit{"replay", 2}
	// A delivery can be repeated as often as a sample can be sent, but a client that
	// repairs failed deliveries one by one makes many calls.
	redeliverLimit = limit{"redeliver", 60}
)

// limitWindow is the length of the window of these limits.
const limitWindow = time.Minute

// count counts a call in its transaction, which fails with rate_limited beyond the limit.
func (s *Service) count(tx *store.Tx, to Ref, l limit) {
	now := s.now()
	window := now.Truncate(limitWindow)
	end := window.Add(limitWindow)
	e := errs.New(errs.RateLimited, "A webhook takes %d calls of %s a minute. Repeat the request after the time in "+
		"Retry-After.", l.calls, l.operation).
		With(errs.RateContext{Limit: int(l.calls), WindowSeconds: int(limitWindow.Seconds())})
	e.RetryAfter = end.Sub(now)
	key := store.IDKey("limit#" + l.operation + "#" + to.Owner.String() + "#" + to.ID +
		"#" + strconv.FormatInt(window.Unix(), 10))
	tx.CountUntil(key, 1, l.calls, end, e)
}
