package people

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/tenant"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

const (
	// failingTime is the time for which a webhook fails before people hear of it.
	failingTime = time.Hour
	// digestTime is the time between two e-mails about approvals. The items that have come meanwhile are in one.
	digestTime = 4 * time.Hour
	// digestItems is the number of items that such an e-mail names.
	digestItems = 5
)

// percents are the shares of a limit that people hear of.
var percents = []int64{100, 80, 50}

// watcher is the handler of WatchKind. It finds news that no event reports, and stores which news it has sent.
type watcher struct {
	MailConfig
	people *person.Service
}

// watch is the payload of a task of WatchKind.
type watch struct {
	// Told has the state in which people have heard of something, by its id.
	Told map[string]string `json:"told,omitempty"`
	// Digest is the time of the last e-mail about approvals, and Newest the newest item in it.
	Digest time.Time `json:"digest,omitzero"`
	Newest string    `json:"newest,omitempty"`
}

// Step looks at the account, and looks again in an hour.
func (h watcher) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var was watch
	if err := s.Decode(&was); err != nil {
		return o, task.Permanent(err)
	}
	now := h.Now()
	o.Wait = now.Truncate(time.Hour).Add(time.Hour).Sub(now)
	if h.Mailer == nil {
		return o, nil
	}
	wanted, err := h.wanted(ctx, s.Account)
	if err != nil {
		return o, task.Again(err)
	}
	l := &look{watcher: h, account: s.Account, now: now, was: was,
		is: watch{map[string]string{}, was.Digest, was.Newest}}
	for n, find := range map[person.Notice]func(context.Context) error{person.NoticeWebhooks: l.webhooks,
		person.NoticeSpend: l.spend, person.NoticeApprovals: l.approvals} {
		if wanted[n] {
			if err := find(ctx); err != nil {
				return o, task.Again(err)
			}
		}
	}
	o.Payload = l.is
	o.Join = func(_ context.Context, tx *store.Tx) error {
		for i, news := range l.news {
			// The number of the step makes the id of each piece of news its own.
			about := string(s.Account) + "#" + strconv.Itoa(s.Step) + "#" + strconv.Itoa(i)
			if err := person.AddNotice(tx, now, s.Account, about, news); err != nil {
				return err
			}
		}
		return nil
	}
	return o, nil
}

// wanted returns the kinds of e-mails that at least one person of the account wants.
func (h watcher) wanted(ctx context.Context, account tenant.Account) (map[person.Notice]bool, error) {
	all := map[person.Notice]bool{}
	err := h.people.Each(ctx, account, func(r person.Record, _ store.Item) error {
		for _, n := range person.Notices {
			all[n] = all[n] || r.State == person.Active && r.Wants(n)
		}
		return nil
	})
	return all, err
}

// look is one look at an account.
type look struct {
	watcher
	account tenant.Account
	now     time.Time
	was, is watch
	news    []person.News
}

// mostNews bounds the news of a look, because they are written in one transaction. The next look sends the others.
const mostNews = 40

// tell adds news about a state of something, unless people have heard of that state.
func (l *look) tell(about, state string, news person.News) {
	if l.was.Told[about] != state {
		if len(l.news) == mostNews {
			return
		}
		l.news = append(l.news, news)
	}
	l.is.Told[about] = state
}

// webhooks finds the enabled webhooks that have failed for some time.
func (l *look) webhooks(ctx context.Context) error {
	all := webhook.List(tenant.Of(l.account, tenant.Live))
	q := store.Query{Index: store.Table, Partition: all, Limit: webhook.PerRead}
	return l.DB.Each(ctx, q, func(it store.Item) error {
		var r webhook.WebhookRecord
		if err := it.Decode(&r); err != nil {
			return err
		}
		if r.State != webhook.StateEnabled || r.FailingSince == nil || l.now.Sub(r.FailingSince.Time) < failingTime {
			return nil
		}
		since := moment(&r.FailingSince.Time)
		name := hookName(string(r.Description), deref(r.URL), r.ID)
		l.tell(r.ID, since, person.News{Notice: person.NoticeWebhooks, What: "webhook.failing",
			Path: "/settings/webhooks/" + r.ID, Values: map[string]string{"name": name, "since": since}})
		return nil
	})
}

// spender is a key or a profile with a limit.
type spender struct{ id, name, what, path, only string }

// spend finds the keys and profiles that have spent much of their limits.
func (l *look) spend(ctx context.Context) error {
	var spenders []spender
	var limits []int64
	var counters []store.Key
	keys := store.Query{Index: store.Table, Partition: credential.Keys(l.account), Limit: 100}
	err := l.DB.Each(ctx, keys, func(it store.Item) error {
		r, err := keyrecord.Read(&it, l.now)
		if err == nil && r.State == keyrecord.Active && r.SpendLimit != nil && *r.SpendLimit > 0 {
			spenders = append(spenders, spender{r.ID, r.Name, "spend.key", "/settings/api-keys/" + r.ID, r.CreatedBy})
			limits, counters = append(limits, *r.SpendLimit), append(counters, ledger.SpendKey(l.account, r.ID, l.now))
		}
		return err
	})
	if err != nil {
		return err
	}
	owner := tenant.Of(l.account, tenant.Live)
	profiles := store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(owner, profile.Kind), Limit: 100}
	err = l.DB.Each(ctx, profiles, func(it store.Item) error {
		r, err := profile.Decode(&it)
		if err == nil && r.SpendLimit != nil && *r.SpendLimit > 0 {
			spenders = append(spenders, spender{r.ID, r.Name, "spend.profile", "/settings/profiles/" + r.ID, ""})
			limits = append(limits, *r.SpendLimit)
			counters = append(counters, ledger.PurseKey(owner.Of(tenant.Profile(r.ID))))
		}
		return err
	})
	if err != nil || len(counters) == 0 {
		return err
	}
	items, err := l.DB.GetAll(ctx, counters...)
	if err != nil {
		return err
	}
	for i, of := range spenders {
		spent := items[i].Count()
		if of.what == "spend.profile" {
			spent = ledger.SpendingOf(items[i], l.now).Spent
		}
		l.spent(of, spent, limits[i])
	}
	return nil
}

// spent tells of the largest share of a limit that is reached.
func (l *look) spent(of spender, spent, limit int64) {
	for _, percent := range percents {
		if spent*100 < limit*percent {
			continue
		}
		month, share := l.now.UTC().Format("2006-01"), strconv.FormatInt(percent, 10)
		before, told := strings.CutPrefix(l.was.Told[of.id], month+":")
		if known, _ := strconv.ParseInt(before, 10, 64); told && known > percent {
			l.is.Told[of.id] = l.was.Told[of.id] // work that has failed got its credits back
			return
		}
		l.tell(of.id, month+":"+share, person.News{Notice: person.NoticeSpend, What: of.what, Path: of.path,
			Only: of.only, Values: map[string]string{"name": of.name, "percent": share, "month": month,
				"spent": strconv.FormatInt(spent, 10), "limit": strconv.FormatInt(limit, 10)}})
		return
	}
}

// approvals finds the items that wait for a decision, if some have come since the last e-mail about them.
func (l *look) approvals(ctx context.Context) error {
	if l.now.Sub(l.was.Digest) < digestTime {
		return nil
	}
	owner := tenant.Of(l.account, tenant.Live)
	page, err := l.DB.List(ctx, store.Query{Index: store.ByOwner, Limit: 100,
		Partition: store.OwnerPartition(owner, item.ItemKind),
		Filters:   map[string]string{item.ApprovalFilter: item.ApprovalPending},
		OneOf:     map[string][]string{"state": {string(item.Generated), string(item.Scheduled)}}})
	if err != nil || len(page.Items) == 0 {
		return err
	}
	var names []string
	newest := l.was.Newest
	for i := range page.Items {
		r, err := item.Decode(&page.Items[i])
		if err != nil {
			return err
		}
		newest = max(newest, r.Item.ID)
		if len(names) < digestItems {
			title, _, _ := strings.Cut(string(cmp.Or(r.Item.Title, r.Item.Caption, resource.Text(r.Item.ID))), "\n")
			names = append(names, title)
		}
	}
	if newest == l.was.Newest {
		return nil
	}
	count := strconv.Itoa(len(page.Items))
	if page.Next != nil {
		count += "+"
	}
	l.is.Digest, l.is.Newest = l.now, newest
	l.news = append(l.news, person.News{Notice: person.NoticeApprovals, What: "approvals", Path: "/settings/approvals",
		Values: map[string]string{"count": count, "items": strings.Join(names, "\n")}})
	return nil
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
