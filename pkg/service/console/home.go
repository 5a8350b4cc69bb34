package console

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/area/erasure"
)

// step is one of the first steps of a new account.
type step struct {
	Text, Path, Verb string
	Done             bool
}

// waitingTask is something on the home page that waits for the person.
type waitingTask struct{ Text, Path, Tone string }

// nextPost is a planned post with its picture.
type nextPost struct {
	planned
	Picture *mediaFile
	Account string
}

// home is what the home page reads.
type home struct {
	Entries []balanceEntry
	Partial bool
	Usage   usageOfAccount
	Keys    []key
	Hooks   waiting
	People  waiting
	Posts   []nextPost
}

const (
	homePath = "/settings"
	// homeDays are the days of the sparks, and mostNext the posts that are shown.
	homeDays, mostNext = 14, 6
	// endsSoon is the time before its end from which a key is shown.
	endsSoon = 14 * 24 * time.Hour
)

// readHome reads what the home page shows. What the role may not read is left out.
func readHome(r *request, from time.Time) (h home, err error) {
	err = atOnce(
		func() (err error) { h.Entries, h.Partial, err = r.entriesSince(from); return err },
		func() (err error) { h.Usage, err = usageSince(r, from); return err },
		func() (err error) { h.Keys, err = keysOfAccount(r); return err },
		func() (err error) { h.Posts, err = nextPosts(r); return err },
		func() error { cornerOf(r); return nil },
		func() error { h.Hooks.N, h.Hooks.More, _ = countOf(r, "/v1/webhooks", nil); return nil },
		func() error { h.People.N, h.People.More, _ = countOf(r, "/v1/people", nil); return nil })
	return h, err
}

// nextPosts reads the posts that are published next, with their pictures.
func nextPosts(r *request) ([]nextPost, error) {
	var all []planned
	_, err := r.api.list(r.Context(), "/v1/publications", url.Values{"from": {r.site.Now().UTC().Format(time.RFC3339)},
		"order": {"asc"}, "limit": {strconv.Itoa(2 * mostNext)}}, &all)
	if err != nil {
		return nil, err
	}
	handles, err := r.handles()
	if err != nil {
		return nil, err
	}
	var posts []nextPost
	for _, p := range all {
		if p.State == "canceled" || p.State == "failed" || p.State == "published" || len(posts) == mostNext {
			continue
		}
		post := nextPost{planned: p}
		if p.SocialAccountID != nil {
			post.Account = handles[*p.SocialAccountID]
		}
		posts = append(posts, post)
	}
	err = each(posts, func(p *nextPost) error {
		var c content
		err := r.api.get(r.Context(), "/v1/content-items/"+url.PathEscape(p.ContentItemID), nil, &c)
		if p.Picture = c.Picture(); missing(err) {
			return nil
		}
		return err
	})
	return posts, err
}

// balances returns the balance at the end of each day, from that of now and the entries since. Nil: they are unknown.
func balances(now int64, entries []balanceEntry, from time.Time, days int) []int64 {
	all := make([]int64, days)
	at := now
	for day := days - 1; day >= 0; day-- {
		all[day] = at
		for _, e := range entries {
			if int(e.CreatedAt.Sub(from)/(24*time.Hour)) == day {
				at -= e.Credits
			}
		}
	}
	return all
}

// tasks returns what waits for the person, the most urgent first.
func (h home) tasks(v *view, c *corner) (all []waitingTask) {
	add := func(tone, text, path string) { all = append(all, waitingTask{text, v.Prefix + path, tone}) }
	if b := c.Account.Balance; b.Credits <= b.LowThreshold {
		add("bad", v.T("The balance is low: %s credits.", grouped(b.Credits)), usagePath)
	}
	if text := c.Failing.Text(); text != "" {
		add("bad", v.T("Webhooks that fail: %s.", text), webhooksPath)
	}
	if text := c.Broken.Text(); text != "" {
		add("bad", v.T("Social accounts to connect again: %s.", text), socialPath)
	}
	if text := c.Approvals.Text(); text != "" {
		add("warn", v.T("Content that waits for approval: %s.", text), approvalsPath)
	}
	for _, k := range h.Keys {
		if k.Active() && k.ExpiresAt != nil && k.ExpiresAt.Sub(v.Now) < endsSoon && k.Name != explorerName {
			add("warn", v.T("The key “%s” ends on %s.", k.Name, v.Day(*k.ExpiresAt)), keysPath+"/"+k.ID)
		}
	}
	return all
}

// steps returns the first steps of an account, or nothing if all are done. An account without a readable list of people
// has no step for colleagues.
func (h home) steps(v *view) (all []step) {
	made, called := false, h.Usage.Requests > 0
	for _, k := range h.Keys {
		made = made || k.Name != explorerName
		called = called || k.LastUsedAt != nil && k.Name != explorerName
	}
	all = []step{{"Create an API key", keysPath + "/new", "Create the key", made},
		{"Make the first call", "/api-docs/guides/quick-start", "Read the guide", called},
		{"Add a webhook", webhooksPath + "/new", "Add the webhook", h.Hooks.N > 0}}
	if v.Manages() {
		all = append(all, step{"Invite a colleague", peoplePath + "/invite", "Invite", h.People.N > 1})
	}
	for _, one := range all {
		if !one.Done {
			return all
		}
	}
	return nil
}

// showHome shows what waits, the balance, the errors, and what is published next.
func showHome(r *request) error {
	forgetCorner(r)
	today := r.site.Now().UTC().Truncate(24 * time.Hour)
	from := today.AddDate(0, 0, 1-homeDays)
	h, err := readHome(r, from)
	if err != nil {
		return err
	}
	v := r.view("Home", homePath)
	if v.Corner == nil {
		return &failure{Status: http.StatusServiceUnavailable, Message: messageUnavailable}
	}
	var pictures []mediaFile
	for _, p := range h.Posts {
		if p.Picture != nil {
			pictures = append(pictures, *p.Picture)
		}
	}
	r.permitMedia(pictures...)
	requests, errors := make([]int64, len(h.Usage.Days)), make([]int64, len(h.Usage.Days))
	for i, d := range h.Usage.Days {
		requests[i], errors[i] = d.Requests, d.Refused+d.Failed
	}
	data := map[string]any{"Tasks": h.tasks(v, v.Corner), "Steps": h.steps(v), "Posts": h.Posts, "Requests": requests,
		"Errors": errors, "Today": last(requests), "Wrong": last(errors)}
	if !h.Partial {
		data["Balances"] = balances(v.Corner.Account.Balance.Credits, h.Entries, from, homeDays)
	}
	v.Data = data
	return r.show(http.StatusOK, "home", v)
}

// last returns the last of some numbers, or 0.
func last(values []int64) int64 {
	if len(values) == 0 {
		return 0
	}
	return values[len(values)-1]
}

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
	return strings.ToUpper(string(a.Plan[:1])) + string(a.Plan[1:])
}
