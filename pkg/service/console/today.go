package console

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	client "github.com/content-automation/api/clients/go"
	"github.com/content-automation/api/pkg/area/erasure"
	"github.com/content-automation/api/pkg/base/clock"
	clip "github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/base/web"
)

// step is one of the first steps of a new account.
type step struct {
	Text, Path, Verb string
	Done             bool
}

// task is something that waits for the person: what is broken, or to be decided, with its cause and one button.
type task struct {
	Tone, Text, Cause string
	// Path is the page of the button, and Verb its text. With Items, the button publishes these items again.
	Path, Verb string
	Items      []string
	Pictures   []mediaFile
}

// today is what the first page reads.
type today struct {
	Entries  []balanceEntry
	Partial  bool
	Usage    client.AccountUsage
	Keys     []key
	Hooks    waiting
	People   waiting
	Posts    []planned
	Failed   []planned
	Queue    *queue
	Accounts map[string]outlet
	Clients  []brand
	Answers  []hookAnswer
}

// hookAnswer is a webhook that fails, with its last delivery that has not arrived.
type hookAnswer struct {
	webhook
	Last  *delivery
	Waits waiting
}

const (
	homePath = "/settings"
	// shownDays are the days whose posts are shown, with up to a number of posts each.
	shownDays, mostOfColumn = 5, 3
	// failedDays are the days after which a post that was not published is no longer shown, and mostTasks bounds what
	// is told of one kind.
	failedDays, mostTasks = 7, 3
	// endsSoon is the time before its end from which a key is shown.
	endsSoon = 14 * 24 * time.Hour
	// mostAnswer bounds the bytes of an answer that a task quotes.
	mostAnswer = 120
)

// readToday reads what the first page shows. What the role may not read is left out.
func readToday(r *request, midnight time.Time) (t today, err error) {
	now := r.site.Now().UTC()
	last := time.Date(now.Year(), now.Month()-1, 1, 0, 0, 0, 0, time.UTC)
	until := clock.On(midnight, shownDays*24*time.Hour).UTC().Format(time.RFC3339)
	posts := url.Values{"from": {midnight.UTC().Format(time.RFC3339)}, "to": {until}, "order": {"asc"}}
	return t, atOnce(
		func() (err error) { t.Entries, t.Partial, err = r.entriesSince(last); return err },
		func() (err error) { t.Usage, err = usageSince(r, now.AddDate(0, 0, 1-failedDays)); return err },
		func() (err error) { t.Keys, err = keysOfAccount(r); return err },
		func() (err error) {
			t.Posts, err = listAll[planned](r.Context(), r.api, "/v1/publications", posts, mostPlanned)
			if err == nil {
				_, err = r.dressed(t.Posts, posts)
			}
			return err
		},
		func() (err error) { t.Failed, err = r.unpublished(until); return err },
		func() (err error) { t.Queue, err = r.queueOf(url.Values{}); return err },
		func() (err error) { t.Accounts, err = r.outlets(); return err },
		func() error {
			_, err := r.api.list(r.Context(), "/v1/profiles", url.Values{"limit": {"100"}}, &t.Clients)
			return err
		},
		func() (err error) {
			if c := cornerOf(r); c != nil {
				t.Answers, err = answersOf(r, c.hooks)
			}
			return err
		},
		// Who may not read them has no step for them.
		func() error { t.Hooks, _ = countOf(r.Context(), r.api, "/v1/webhooks", nil); return nil },
		func() error { t.People, _ = countOf(r.Context(), r.api, "/v1/people", nil); return nil })
}

// failedSince is the query of the posts that were not published in the last days.
func failedSince(now time.Time) url.Values {
	return url.Values{"state": {"failed"}, "limit": {"100"},
		"from": {now.UTC().AddDate(0, 0, -failedDays).Format(time.RFC3339)}}
}

// unpublishedOf returns the ids of the items of posts without those that are known.
func unpublishedOf(posts []planned, known []named) (ids []string) {
	for _, p := range posts {
		is := func(one named) bool { return one.ID == p.ContentItemID }
		if !slices.Contains(ids, p.ContentItemID) && !slices.ContainsFunc(known, is) {
			ids = append(ids, p.ContentItemID)
		}
	}
	return ids
}

// unpublished reads the posts that were not published in the last days, with their pictures.
func (r *request) unpublished(until string) (all []planned, err error) {
	query := failedSince(r.site.Now())
	query.Set("to", until)
	if err = r.api.get(r.Context(), "/v1/publications", query, &all); err == nil {
		_, err = r.dressed(all, query)
	}
	return all, err
}

// answersOf reads what webhooks that fail have answered.
func answersOf(r *request, failing []webhook) ([]hookAnswer, error) {
	all := mapped(failing[:min(len(failing), mostTasks)], func(w webhook) hookAnswer { return hookAnswer{webhook: w} })
	return all, each(all, func(a *hookAnswer) error {
		var some []delivery
		next, err := r.api.list(r.Context(), "/v1/webhooks/"+url.PathEscape(a.ID)+"/deliveries",
			url.Values{"state": {"failed,pending"}, "limit": {"100"}}, &some)
		if a.Waits = (waiting{len(some), next != ""}); len(some) > 0 {
			a.Last = &some[0]
		}
		return err
	})
}

// tasks returns what waits for the person, what is broken first.
func (t today) tasks(v *view, c *corner) (all []task) {
	all = append(all, t.failures(v)...)
	for _, a := range t.Answers {
		all = append(all, a.task(v))
	}
	for _, a := range t.Accounts {
		if a.State == "needs_reconnect" && len(all) < 3*mostTasks {
			all = append(all, task{Tone: "bad", Text: v.T("Reconnect %s", web.Label(a.Platform)+" "+a.Handle),
				Cause: v.T("Nothing can be published to it."), Path: socialPath, Verb: "Reconnect"})
		}
	}
	if b := c.Account.Balance; b.Credits <= b.LowThreshold {
		all = append(all, task{Tone: "bad", Text: v.T("The balance is low: %s credits.", grouped(b.Credits)),
			Path: usagePath, Verb: "See the usage"})
	}
	if one := t.approvals(v); one.Text != "" {
		all = append(all, one)
	}
	for _, k := range t.Keys {
		if k.Active() && k.ExpiresAt != nil && k.ExpiresAt.Sub(v.Now) < endsSoon && k.Name != explorerName {
			all = append(all, task{Tone: "warn", Text: v.T("The key “%s” ends on %s.", k.Name, v.Day(*k.ExpiresAt)),
				Path: keysPath + "/" + k.ID, Verb: "See the key"})
		}
	}
	return all
}

// failures returns a task for each account and reason for which posts were not published.
func (t today) failures(v *view) (all []task) {
	groups := map[string][]planned{}
	var order []string
	for _, p := range t.Failed {
		if p.Failure == nil {
			continue
		}
		name := p.Face.ID + " " + given(p.SocialAccountID) + " " + string(p.Failure.Code)
		if groups[name] == nil {
			order = append(order, name)
		}
		groups[name] = append(groups[name], p)
	}
	for _, name := range order[:min(len(order), mostTasks)] {
		some := groups[name]
		p, account := some[0], t.Accounts[given(some[0].SocialAccountID)]
		one := task{Tone: "bad", Text: v.T("A post of %s was not published", p.Face.Name),
			Cause: web.Label(string(client.Value(p.Platform))) + " " + account.Handle + ", " + v.At(p.PlannedAt) +
				". " + p.Failure.Message, Verb: "See why",
			Path: contentPath + "?of=" + strings.Join(unpublishedOf(some, nil), ".")}
		if len(some) > 1 {
			one.Text = v.T("%d posts of %s were not published", len(some), p.Face.Name)
		}
		if said := given(p.Failure.PlatformMessage); said != "" {
			one.Cause += " “" + said + "”"
		}
		for _, other := range some {
			if other.Picture != nil && len(one.Pictures) < 2 {
				one.Pictures = append(one.Pictures, *other.Picture)
			}
		}
		switch {
		case account.State == "needs_reconnect":
			one.Path, one.Verb = socialPath, "Reconnect"
		case retryable(p.Failure):
			one.Verb = "Publish again"
			for _, other := range some {
				one.Items = append(one.Items, other.ContentItemID)
			}
		}
		all = append(all, one)
	}
	return all
}

// task returns what a webhook that fails waits for.
func (a hookAnswer) task(v *view) task {
	name := cmp.Or(given(a.Description), a.Target())
	one := task{Tone: "bad", Text: v.T("“%s” is disabled", name), Path: webhooksPath + "/" + a.ID,
		Verb: "See the webhook"}
	if a.FailingSince != nil {
		one.Text = v.T("“%s” fails since %s", name, v.At(*a.FailingSince))
	}
	if a.Last == nil {
		return one
	}
	answer := v.T("no answer")
	if status := a.Last.Last(); status != 0 {
		answer = "HTTP " + strconv.FormatInt(status, 10)
	}
	if n := len(a.Last.Attempts); n > 0 {
		line, _, _ := strings.Cut(strings.TrimSpace(given(a.Last.Attempts[n-1].ResponseBody)), "\n")
		if line != "" {
			answer += " “" + clip.ClipText(line, mostAnswer) + "”"
		}
	}
	causes := []string{v.T("Events that wait: %s", number(a.Waits.N, a.Waits.More)), answer}
	if a.Last.NextAttemptAt != nil {
		causes = append(causes, v.T("next attempt %s", v.Clock(*a.Last.NextAttemptAt)))
	}
	one.Cause, one.Path, one.Verb = strings.Join(causes, " · "), one.Path+"/deliveries/"+a.Last.ID, "See the answer"
	return one
}

// approvals returns the task of what is to be approved, or one without a text.
func (t today) approvals(v *view) (one task) {
	waits, due := t.Queue.of(allWaiting), t.Queue.of(dueToday)
	if len(waits) == 0 {
		return one
	}
	one = task{Tone: "warn", Text: v.T("Posts to approve: %d", len(waits)), Path: approvalsPath, Verb: "Approve"}
	if len(due) > 0 {
		one.Text = v.T("Posts to approve before they are due today: %d", len(due))
		one.Path += "?tab=" + dueToday
		one.Cause = v.T("The first at %s, %s · later: %d", v.Clock(*due[0].PublishAt),
			t.Queue.names.FaceOf(due[0].FactoryID).Name, len(waits)-len(due))
	}
	for _, c := range waits {
		if p := c.Picture(); p != nil && len(one.Pictures) < 2 {
			one.Pictures = append(one.Pictures, *p)
		}
	}
	return one
}

// dayOfPosts is a day with its posts.
type dayOfPosts struct {
	Day   time.Time
	Posts []planned
	// N is the number of all posts of the day.
	N    int
	Path string
}

// days returns the days with their posts, and of the first one the number of those that go out, and of their clients.
func (t today) days(v *view, midnight time.Time) (days []dayOfPosts, out, clients int) {
	faces := map[string]bool{}
	for n := range shownDays {
		at := clock.On(midnight, time.Duration(n)*24*time.Hour)
		one := dayOfPosts{Day: at, Path: calendarPath + "?view=day&date=" + at.Format(time.DateOnly)}
		for _, p := range t.Posts {
			if v.in(p.PlannedAt).Format(time.DateOnly) != at.Format(time.DateOnly) {
				continue
			}
			if one.N++; n == 0 && p.State != "failed" {
				out++
				faces[p.Face.ID] = true
			}
			if len(one.Posts) < mostOfColumn {
				one.Posts = append(one.Posts, p)
			}
		}
		days = append(days, one)
	}
	return days, out, len(faces)
}

// spending returns what clients have spent in the month, the most first, with their limits.
func (t today) spending(first time.Time) (all []limited) {
	spent := map[string]int64{}
	for _, e := range t.Entries {
		if !e.CreatedAt.Before(first) {
			spent[given(e.ProfileID)] += e.spent()
		}
	}
	for _, p := range t.Clients {
		all = append(all, p.limited(spent[p.ID]))
	}
	slices.SortStableFunc(all, func(a, b limited) int { return cmp.Compare(b.Spent, a.Spent) })
	return all[:min(len(all), shownDays)]
}

// credits are what the month costs, beside the last one.
type credits struct {
	Chart           Drawn
	Spent, Forecast int64
	Month, Last     string
	// Change is the forecast beside the last month in percent, with its sign, or empty if the last month cost nothing.
	Change string
}

// credits returns what the month costs up to now and at its end, beside the last month.
func (t today) credits(v *view, now time.Time, balance int64) credits {
	m := newMonth(now, balance)
	chart := newCreditsChart(v, m.first, m.days)
	var before int64
	for _, e := range t.Entries {
		if e.CreatedAt.Before(m.first) {
			before += e.spent()
			continue
		}
		chart.add(v.T(kindOf(e)), e.CreatedAt, e.spent())
		m.add(e.CreatedAt, e.spent())
	}
	c := credits{Chart: chart.done(v), Spent: m.spent(), Forecast: m.end(), Month: v.MonthOf(m.first),
		Last: v.MonthOf(m.first.AddDate(0, -1, 0))}
	if before > 0 {
		c.Change = fmt.Sprintf("%+d %%", (c.Forecast-before)*100/before)
	}
	return c
}

// steps returns the first steps of an account, or nothing if all are done. An account without a readable list of people
// has no step for colleagues.
func (t today) steps(v *view) (all []step) {
	made, called := false, t.Usage.Calls > 0
	for _, k := range t.Keys {
		made = made || k.Name != explorerName
		called = called || k.LastUsedAt != nil && k.Name != explorerName
	}
	all = []step{{"Create an API key", keysPath + "/new", "Create the key", made},
		{"Make the first call", "/api-docs/guides/quick-start", "Read the guide", called},
		{"Add a webhook", webhooksPath + "/new", "Add the webhook", t.Hooks.N > 0}}
	if v.Manages() {
		all = append(all, step{"Invite a colleague", peoplePath + "/invite", "Invite", t.People.N > 1})
	}
	if slices.ContainsFunc(all, func(s step) bool { return !s.Done }) {
		return all
	}
	return nil
}

// showToday shows what is broken and what waits, the posts of five days, and what the month costs.
func showToday(r *request) error {
	forgetCorner(r)
	now := r.site.Now().In(zoneOf(r.Request, r.session))
	midnight := clock.On(now, 0)
	t, err := readToday(r, midnight)
	if err != nil {
		return err
	}
	v := r.view("Today", homePath)
	if v.Corner == nil {
		return &failure{Status: http.StatusServiceUnavailable, Message: messageUnavailable}
	}
	tasks := t.tasks(v, v.Corner)
	pictures := picturesOf(t.Posts)
	for _, one := range tasks {
		pictures = append(pictures, one.Pictures...)
	}
	r.permitMedia(pictures...)
	if r.FormValue("done") == "resent" {
		v.Notice = "The posts are being published again."
	}
	days, out, clients := t.days(v, midnight)
	data := map[string]any{"Tasks": tasks, "Steps": t.steps(v), "Days": days, "Out": out, "Clients": clients,
		"Now": now, "Spending": t.spending(time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC))}
	if !t.Partial {
		data["Credits"] = t.credits(v, r.site.Now(), v.Corner.Account.Balance.Credits)
	}
	v.Data = data
	return r.show(http.StatusOK, "today", v)
}

// corner is what every page shows beside its own content: the account, and what waits in it.
type corner struct {
	Account account
	// Approvals, Failing and Broken are the numbers of items that wait for a decision, of webhooks that fail, and of
	// social accounts that have to be connected again.
	Approvals, Failing, Broken waiting
	// Failed is the number of items that have failed, or of which a post was not published in the last days.
	Failed waiting
	// Erasures are those that wait or go on.
	Erasures []erasure.Record
	// hooks are the webhooks that fail.
	hooks  []webhook
	readAt time.Time
}

// Count returns the number of what waits on the page of a link of the menu.
func (c *corner) Count(path string) string {
	if c == nil {
		return ""
	}
	return map[string]waiting{approvalsPath: c.Approvals, webhooksPath: c.Failing, socialPath: c.Broken,
		contentPath: c.Failed}[path].Text()
}

// Counted returns the address of the list of what the number of a link counts.
func (*corner) Counted(path string) string {
	return path + map[string]string{approvalsPath: "?tab=" + allWaiting, webhooksPath: "?state=" + failingState,
		socialPath: "?state=needs_reconnect", contentPath: "?tab=" + failedTab}[path]
}

// Bad reports whether the number of a link is that of something broken.
func (*corner) Bad(path string) bool { return path != approvalsPath }

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
	var failed []named
	var posts []planned
	var moreFailed, morePosts string
	var reads sync.WaitGroup
	read := func(what string, of func() error) {
		reads.Go(func() {
			if err := of(); err != nil {
				slog.Warn("a number of the menu is left out", "of", what, "error", err)
			}
		})
	}
	count := func(into *waiting, path string, query url.Values) {
		read(path, func() (err error) { *into, err = countOf(ctx, r.api, path, query); return err })
	}
	var err error
	reads.Go(func() { err = r.api.get(ctx, "/v1/me", nil, &c.Account) })
	count(&c.Approvals, "/v1/content-items", url.Values{"state": {"generated,scheduled"}, "approval": {"pending"},
		"fields": {"state"}})
	count(&c.Broken, "/v1/social/accounts", url.Values{"state": {"needs_reconnect"}})
	read("posts", func() (err error) {
		morePosts, err = r.api.list(ctx, "/v1/publications", failedSince(c.readAt), &posts)
		return err
	})
	read("items", func() (err error) {
		moreFailed, err = r.api.list(ctx, "/v1/content-items", url.Values{"state": {"failed"}, "fields": {"state"},
			"limit": {"100"}}, &failed)
		return err
	})
	read("webhooks", func() error { return r.api.get(ctx, "/v1/webhooks", url.Values{"limit": {"100"}}, &hooks) })
	read("erasures", func() (err error) {
		c.Erasures, err = r.site.Erasures.List(ctx, r.session.Account)
		c.Erasures = slices.DeleteFunc(c.Erasures, func(e erasure.Record) bool { return !e.Open() })
		return err
	})
	reads.Wait()
	c.Failed = waiting{len(failed) + len(unpublishedOf(posts, failed)), moreFailed+morePosts != ""}
	c.hooks = slices.DeleteFunc(hooks, func(w webhook) bool { return !w.Broken() })
	c.Failing.N = len(c.hooks)
	return c, err
}

// PlanName returns the plan of the account with a capital letter.
func (a account) PlanName() string {
	if a.Plan == "" {
		return ""
	}
	return strings.ToUpper(string(a.Plan[:1])) + string(a.Plan[1:])
}
