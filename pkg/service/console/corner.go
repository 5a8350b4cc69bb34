package console

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/area/erasure"
)

// corner is what every page shows beside its own content: the account, and what waits in it.
type corner struct {
	Account account
	// Approvals, Failing and Broken are the numbers of items that wait for a decision, of webhooks that fail, and of
	// social accounts that have to be connected again.
	Approvals, Failing, Broken waiting
	// Erasures are those that wait or go on.
	Erasures []erasure.Record
	readAt   time.Time
}

// waiting is a number of things that wait. More reports that there are more than one page has.
type waiting struct {
	N    int
	More bool
}

// Text returns the number, or an empty text if nothing waits.
func (w waiting) Text() string {
	if w.N == 0 && !w.More {
		return ""
	}
	return number(w.N, w.More)
}

// Count returns the number of what waits on the page of a link of the menu.
func (c *corner) Count(path string) string {
	if c == nil {
		return ""
	}
	return map[string]waiting{approvalsPath: c.Approvals, webhooksPath: c.Failing, socialPath: c.Broken}[path].Text()
}

// corners keeps what pages show for a minute, so that most pages read it once.
type corners struct {
	mu  sync.Mutex
	all map[string]*corner
}

const (
	// cornerLifetime is the time for which a corner is shown. cornerTimeout bounds its reads, mostCorners the number of
	// those that are kept.
	cornerLifetime = time.Minute
	cornerTimeout  = 4 * time.Second
	mostCorners    = 1000
)

// cornerName names the corner of a session and a mode.
func cornerName(r *request) string { return r.session.Name() + string(r.session.Mode) }

// forgetCorner drops the corner of the session, after a change.
func forgetCorner(r *request) {
	r.site.corners.mu.Lock()
	defer r.site.corners.mu.Unlock()
	delete(r.site.corners.all, cornerName(r))
}

// cornerOf returns what every page shows, or nil if it cannot be read.
func cornerOf(r *request) *corner {
	kept := &r.site.corners
	kept.mu.Lock()
	c := kept.all[cornerName(r)]
	kept.mu.Unlock()
	if c != nil && r.site.Now().Sub(c.readAt) < cornerLifetime {
		return c
	}
	c, err := readCorner(r)
	if err != nil {
		slog.Warn("the account is not shown in the corner", "error", err)
		return nil
	}
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if len(kept.all) >= mostCorners || kept.all == nil {
		kept.all = map[string]*corner{}
	}
	kept.all[cornerName(r)] = c
	return c
}

// readCorner reads the account, and counts what waits. A number that cannot be read is left out.
func readCorner(r *request) (*corner, error) {
	ctx, cancel := context.WithTimeout(r.Context(), cornerTimeout)
	defer cancel()
	c := &corner{readAt: r.site.Now()}
	var hooks []webhook
	var items, accounts []struct {
		ID string `json:"id"`
	}
	list := func(path string, query url.Values, into any) (more bool) {
		query.Set("limit", "100")
		next, err := r.api.list(ctx, path, query, into)
		if err != nil {
			slog.Warn("a number of the menu is left out", "path", path, "error", err)
		}
		return next != ""
	}
	var reads sync.WaitGroup
	var err error
	reads.Go(func() { err = r.api.get(ctx, "/v1/me", nil, &c.Account) })
	reads.Go(func() {
		c.Approvals.More = list("/v1/content-items", url.Values{"state": {"generated,scheduled"},
			"approval": {"pending"}, "fields": {"state"}}, &items)
	})
	reads.Go(func() { c.Failing.More = list("/v1/webhooks", url.Values{}, &hooks) })
	reads.Go(func() {
		c.Broken.More = list("/v1/social/accounts", url.Values{"state": {"needs_reconnect"}}, &accounts)
	})
	reads.Go(func() {
		all, err := r.site.Erasures.List(ctx, r.session.Account)
		if err != nil {
			slog.Warn("the erasures are left out", "error", err)
		}
		c.Erasures = slices.DeleteFunc(all, func(e erasure.Record) bool { return !e.Open() })
	})
	reads.Wait()
	c.Approvals.N, c.Broken.N, c.Failing.More = len(items), len(accounts), false
	for _, w := range hooks {
		if w.FailingSince != nil || w.DisabledReason != nil {
			c.Failing.N++
		}
	}
	return c, err
}

// PlanName returns the plan of the account with a capital letter.
func (a account) PlanName() string {
	if a.Plan == "" {
		return ""
	}
	return string(a.Plan[0]-'a'+'A') + a.Plan[1:]
}
