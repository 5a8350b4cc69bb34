package content_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

var vault = social.Vault{Envelope: sealtest.Envelope("key")}

// noFiles has the addresses of files, and no file: the sandbox reads none.
type noFiles struct{}

func (noFiles) URL(_ context.Context, key, _ string) (string, error) {
	return "https://media.test/" + key, nil
}

func (noFiles) Range(context.Context, string, int64, int64) (io.ReadCloser, error) {
	return nil, errors.New("there are no files")
}

// connect connects an account of a platform; changes are made to its record.
func (w *world) connect(name string, changes ...func(*social.Record)) string {
	w.T.Helper()
	return w.connectFor(w.Principal.Owner, name, changes...)
}

func (w *world) connectFor(o tenant.Owner, name string, changes ...func(*social.Record)) string {
	w.T.Helper()
	now := w.Now()
	r := &social.Record{
		Account: social.Account{Resource: resource.New(social.NewID(now), now, nil), Platform: name,
			Handle: "Acme", FactoryIDs: []string{}},
		PlatformID: "sandbox-" + name,
	}
	var err error
	if r.SealedAccount, err = vault.Seal(w.T.Context(), o, r.ID,
		platform.Account{ID: r.PlatformID, Token: platform.Token{Access: "token"}}); err != nil {
		w.T.Fatal(err)
	}
	it, err := r.Item(o)
	if err != nil {
		w.T.Fatal(err)
	}
	tx := &store.Tx{}
	if err := r.Connect(tx, now, it, platform.Token{}); err != nil {
		w.T.Fatal(err)
	}
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
	w.alter(r.ID, changes...)
	return r.ID
}

// alter changes the record of an account.
func (w *world) alter(id string, changes ...func(*social.Record)) {
	w.T.Helper()
	for _, change := range changes {
		it, err := w.DB.Get(w.T.Context(), store.IDKey(id))
		if err != nil {
			w.T.Fatal(err)
		}
		r, err := social.Decode(&it)
		if err != nil {
			w.T.Fatal(err)
		}
		change(&r)
		tx := &store.Tx{}
		if err := errors.Join(r.WriteTo(&it),
			func() error { tx.Replace(it); return w.DB.Commit(w.T.Context(), tx) }()); err != nil {
			w.T.Fatal(err)
		}
	}
}

func (w *world) publisher() *task.Kernel {
	worker := &publication.Worker{DB: w.DB, Platforms: w.platforms, Vault: vault, Files: noFiles{}, Now: w.Now}
	if w.platforms == nil {
		worker.Platforms = social.NewPlatforms(social.PlatformsConfig{Now: w.Clock.Now})
	}
	return w.Kernel(worker.Handlers())
}

// work takes the steps of publishing that are due, until there are none.
func (w *world) work() {
	w.T.Helper()
	kernel := w.publisher()
	for range 200 {
		due := w.dueToPublish()
		if len(due) == 0 {
			return
		}
		for _, m := range due {
			if _, err := kernel.Do(w.T.Context(), m, ""); err != nil {
				w.T.Fatal(err)
			}
		}
	}
	w.T.Fatal("200 rounds are no end")
}

func (w *world) dueToPublish() []task.Message {
	w.T.Helper()
	return w.due(func(k task.Kind) bool { return strings.HasPrefix(string(k), "publish") })
}

// due returns the messages of the tasks of some kinds that are due.
func (w *world) due(some func(task.Kind) bool) (all []task.Message) {
	w.T.Helper()
	until := w.Now().UTC().Format(time.RFC3339) + "$" // which is after "#"
	for _, set := range []task.Set{task.Tasks, task.Parked} {
		for shard := range set.Shards {
			err := w.DB.Each(w.T.Context(), store.Query{Index: store.ByDue, OldestFirst: true, To: until, Limit: 500,
				Partition: fmt.Sprint(set.Name, "#", shard)}, func(it store.Item) error {
				var t task.Task
				err := it.Decode(&t)
				if err == nil && some(t.Kind) && !t.DueAt.After(w.Now()) {
					all = append(all, t.Message)
				}
				return err
			})
			if err != nil {
				w.T.Fatal(err)
			}
		}
	}
	return all
}

// left returns what accounts list, and the counters of it. It is empty once nothing is scheduled.
func (w *world) left() (all []string) {
	w.T.Helper()
	for _, row := range storetest.Rows(w.T, w.DB) {
		if strings.HasPrefix(row["parent_pk"], "slots#") || strings.HasPrefix(row["pk"], "scheduled#") &&
			row["n_count"] != "0" {
			all = append(all, row["pk"])
		}
	}
	return all
}

func (w *world) schedule(itemID string, at time.Time, members ...any) (it item.Item) {
	w.T.Helper()
	w.Call(http.MethodPost, path(itemID, "schedule"), with(object{"publish_at": at}, members...)).Into(w.T,
		http.StatusOK, &it)
	return it
}

func (w *world) publish(itemID string, members ...any) (it item.Item) {
	w.T.Helper()
	w.Call(http.MethodPost, path(itemID, "publish"), with(object{}, members...)).Into(w.T, http.StatusAccepted, &it)
	return it
}

func (w *world) publications(itemID string) []item.Publication {
	w.T.Helper()
	return apitest.All[item.Publication](w.Caller, path(itemID, "publications"), 1)
}

func TestAScheduledItemIsPublishedAtItsTime(t *testing.T) {
	w := newWorld(t)
	made := w.generated()
	telegram, vk := w.connect("telegram"), w.connect("vk")
	at := w.Now().Add(180 * 24 * time.Hour).Truncate(time.Second)
	it := w.schedule(made.ID, at, "social_account_ids", []string{telegram, vk}, "options",
		object{"telegram": object{"silent": true}})
	if it.State != item.Scheduled || !it.PublishAt.Equal(at) || len(it.SocialAccountIDs) != 2 ||
		len(it.Publications) != 2 || it.Version != made.Version+1 {
		t.Errorf("%+v", it)
	}
	p := w.publications(it.ID)
	if len(p) != 2 || p[0].State != "pending" || p[0].SocialAccountID != telegram || p[0].Platform != "telegram" ||
		p[0].Options == nil || string(p[0].Options.RawMessage) != `{"silent":true}` || p[1].Options != nil ||
		p[0].ContentItemID != it.ID {
		t.Errorf("%+v", p)
	}
	w.Clock.Add(at.Sub(w.Now()) - 2*time.Second)
	w.work()
	if got := w.get(it.ID); got.State != item.Scheduled {
		t.Errorf("%+v", got)
	}
	w.Clock.Add(2 * time.Second)
	w.work()
	got := w.get(it.ID)
	if got.State != item.Published || got.PublishedAt == nil || !got.PublishedAt.Equal(at) || got.Failure != nil {
		t.Errorf("%+v", got)
	}
	for _, p := range w.publications(it.ID) {
		if p.State != "published" || p.PlatformPostID == nil || p.URL == nil || p.PublishedAt == nil ||
			p.Failure != nil || p.Metrics != nil {
			t.Errorf("%+v", p)
		}
	}
	w.happened(it.ID, event.ContentGenerated, event.ContentScheduled, event.ContentPublished)
	listed := apitest.All[event.Event](w.Caller, "/v1/events?type=content.published", 10)
	var then item.Item
	if err := json.Unmarshal(listed[0].Data.Object, &then); err != nil || len(then.Publications) != 2 ||
		then.Publications[1].State != "published" {
		t.Errorf("the event shows %s, %v", listed[0].Data.Object, err)
	}
	if left := w.left(); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
}

func TestMetricsAreReadForNinetyDays(t *testing.T) {
	w := newWorld(t)
	made := w.generated()
	w.publish(made.ID, "social_account_ids", []string{w.connect("vk"), w.connect("telegram")})
	w.work()
	began := w.Now()
	var last int64
	for _, days := range []float64{1. / 24, 0.25, 1, 2, 3, 88, 89, 90} {
		after := time.Duration(days * float64(24*time.Hour))
		if days == 88 { // what was not read meanwhile is read once
			w.Clock.Add(began.Add(after - time.Hour).Sub(w.Now()))
			w.work()
		}
		w.Clock.Add(began.Add(after).Sub(w.Now()) - time.Minute)
		w.work()
		if m := w.publications(made.ID)[0].Metrics; m != nil && m.ReadAt.After(began.Add(after).Add(-2*time.Minute)) {
			t.Errorf("%v: they are read early: %+v", after, m)
		}
		w.Clock.Add(time.Minute)
		w.work()
		p := w.publications(made.ID)
		m := p[0].Metrics
		if m == nil || !m.ReadAt.Equal(began.Add(after)) || m.Views == nil || *m.Views < last || m.Likes == nil ||
			m.Saves != nil {
			t.Fatalf("%v: %+v", after, m)
		}
		last = *m.Views
		if m := p[1].Metrics; m == nil || m.Likes == nil || m.Views != nil {
			t.Errorf("telegram counts reactions alone: %+v", m)
		}
	}
	if w.Clock.Add(365 * 24 * time.Hour); len(w.dueToPublish()) != 0 {
		t.Error("there are more readings")
	}
}

func TestAScheduleIsChangedAndCleared(t *testing.T) {
	w := newWorld(t)
	made := w.generated()
	telegram, vk, other := w.connect("telegram"), w.connect("vk"), w.connect("telegram")
	first := w.Now().Add(time.Hour)
	w.schedule(made.ID, first, "social_account_ids", []string{telegram, vk})
	was := w.publications(made.ID)
	later := first.Add(48 * time.Hour)
	it := w.schedule(made.ID, later, "social_account_ids", []string{vk, other})
	p := w.publications(made.ID)
	if !it.PublishAt.Equal(later) || len(p) != 2 || p[0].ID != was[1].ID || p[1].SocialAccountID != other {
		t.Errorf("%+v", p)
	}
	w.Clock.Add(first.Sub(w.Now()) + time.Minute)
	w.work()
	if got := w.get(made.ID); got.State != item.Scheduled {
		t.Errorf("the earlier time counts: %+v", got)
	}
	// Absent are the accounts and options of before.
	again := w.schedule(made.ID, later.Add(time.Hour))
	if len(again.SocialAccountIDs) != 2 || again.Publications[0].ID != p[0].ID {
		t.Errorf("%+v", again)
	}
	var cleared item.Item
	w.Call(http.MethodPost, path(made.ID, "schedule"), object{"publish_at": nil}).Into(t, http.StatusOK, &cleared)
	if cleared.State != item.Generated || cleared.PublishAt != nil || len(cleared.Publications) != 0 {
		t.Errorf("%+v", cleared)
	}
	// Without a schedule there is nothing to clear.
	w.Call(http.MethodPost, path(made.ID, "schedule"), object{"publish_at": nil}).Into(t, http.StatusOK, &cleared)
	if n := w.events(made.ID); n[event.ContentScheduled] != 3 || n[event.ContentUnscheduled] != 1 ||
		n[event.ContentUpdated] != 0 {
		t.Errorf("the events are %v", n)
	}
	if left := w.left(); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
	w.Clock.Add(72 * time.Hour)
	w.work()
	if got := w.get(made.ID); got.State != item.Generated {
		t.Errorf("%+v", got)
	}
}

func TestOnlyWhatFailedIsPublishedAgain(t *testing.T) {
	w := newWorld(t)
	made := w.generated()
	telegram, vk := w.connect("telegram"), w.connect("vk")
	w.publish(made.ID, "social_account_ids", []string{telegram, vk})
	w.alter(vk, func(r *social.Record) { r.State = social.NeedsReconnect })
	w.work()
	got := w.get(made.ID)
	p := got.Publications
	if got.State != item.Published || p[0].State != "published" || p[1].State != "failed" ||
		p[1].Failure.Code != "needs_reconnect" || p[1].Failure.Stage != "publish" || !p[1].Failure.Retryable {
		t.Fatalf("%+v", got)
	}
	w.Call(http.MethodPost, path(made.ID, "publish"), object{"social_account_ids": []string{telegram}}).Refused(t, 409,
		errs.InvalidState, "")
	w.alter(vk, func(r *social.Record) { r.State = social.Connected })
	w.Clock.Add(time.Minute)
	if again := w.publish(made.ID); again.State != item.Publishing || again.Publications[0].State != "published" ||
		again.Publications[1].State != "publishing" {
		t.Errorf("%+v", again)
	}
	w.work()
	after := w.get(made.ID)
	if after.State != item.Published || *after.Publications[0].URL != *p[0].URL ||
		!after.Publications[0].PublishedAt.Equal(p[0].PublishedAt.Time) || after.Publications[1].State != "published" ||
		!after.PublishedAt.Equal(got.PublishedAt.Time) {
		t.Errorf("%+v", after)
	}
	w.Call(http.MethodPost, path(made.ID, "publish"), nil).Refused(t, 409, errs.InvalidState, "")
	if types := w.events(made.ID); types[event.ContentPublished] != 2 || types[event.ContentFailed] != 0 {
		t.Errorf("%v", types)
	}
	if left := w.left(); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
}

func TestAnItemFailsWhereAllPublicationsDo(t *testing.T) {
	w := newWorld(t)
	made := w.generated()
	accounts := []string{w.connect("telegram"), w.connect("vk")}
	w.publish(made.ID, "social_account_ids", accounts, "sandbox",
		object{"outcome": "failed", "failure_code": "content_policy", "delay_seconds": 20})
	w.work()
	if got := w.get(made.ID); got.State != item.Publishing {
		t.Errorf("%+v", got)
	}
	w.Call(http.MethodPatch, path(made.ID), object{"title": "New"}).Refused(t, 409, errs.InvalidState, "")
	w.Call(http.MethodDelete, path(made.ID), nil).Refused(t, 409, errs.InvalidState, "")
	w.Clock.Add(21 * time.Second)
	w.work()
	got := w.get(made.ID)
	if got.State != item.Failed || got.Failure == nil || got.Failure.Stage != "publish" ||
		string(got.Failure.Code) != "content_policy" || got.PublishedAt != nil {
		t.Fatalf("%+v", got)
	}
	w.happened(made.ID, event.ContentGenerated, event.ContentFailed)
	w.publish(made.ID)
	w.work()
	if got = w.get(made.ID); got.State != item.Published || got.Failure != nil || len(got.Publications) != 2 {
		t.Errorf("%+v", got)
	}
}

// After an outage, late publications are published in the order of their times, except where their account forbids
// it.
func TestWhatIsLateIsPublishedInOrder(t *testing.T) {
	w := newWorld(t)
	patient, strict := w.connect("telegram"), w.connect("vk")
	hour := 3600
	w.alter(strict, func(r *social.Record) { r.LateAfterSeconds = &hour })
	start := w.Now()
	var items []string
	for n := range 3 {
		made := w.generated()
		w.schedule(made.ID, start.Add(time.Duration(3-n)*time.Hour), "social_account_ids", []string{patient, strict},
			"sandbox", object{"delay_seconds": 5})
		items = append(items, made.ID)
	}
	w.Clock.Add(start.Add(3*time.Hour + 30*time.Minute).Sub(w.Now()))
	for range 30 {
		w.work()
		w.Clock.Add(5 * time.Second)
	}
	var last time.Time
	for n := range 3 {
		it := w.get(items[2-n])
		p := it.Publications
		if it.State != item.Published || p[0].State != "published" || !p[0].PublishedAt.After(last) {
			t.Fatalf("item %d is %s at %v after %v", n, p[0].State, p[0].PublishedAt, last)
		}
		last = p[0].PublishedAt.Time
		want := "failed too_late"
		if n == 2 { // half an hour late
			want = "published"
		}
		if got := p[1].State; p[1].Failure != nil && got+" "+p[1].Failure.Code != want || p[1].Failure == nil &&
			got != want {
			t.Errorf("item %d is %s %+v, want %s", n, got, p[1].Failure, want)
		}
	}
}

// An option that posts of the kind do not have is refused by its own name.
func TestOptionsThatAKindDoesNotHave(t *testing.T) {
	w := newWorld(t)
	made, tiktok := w.generated(), w.connect("tiktok")
	a := w.Call(http.MethodPost, path(made.ID, "publish"), object{"social_account_ids": []string{tiktok},
		"options": object{"tiktok": object{
			"disable_comments": true, "disable_duet": true, "cover_at_seconds": 1.5, "is_aigc": false,
		}}})
	for param, want := range map[string]string{
		"/options/tiktok/disable_duet":     "TikTok does not support disable_duet for the kind post.",
		"/options/tiktok/cover_at_seconds": "TikTok does not support cover_at for the kind post.",
		"/options/tiktok/is_aigc":          "must be true, or left out: the content was made by AI",
	} {
		if !strings.Contains(string(a.Raw), fmt.Sprintf(`{"param":%q,"message":%q}`, param, want)) {
			t.Errorf("%s is not refused: %s", param, a.Raw)
		}
	}
	if strings.Contains(string(a.Raw), "disable_comments") {
		t.Errorf("disable_comments is refused: %s", a.Raw)
	}
}

func TestBadSchedulesAreRefused(t *testing.T) {
	w := newWorld(t)
	made, queued := w.generated("caption", strings.Repeat("x", 2300)), w.create()
	telegram, instagram, music := w.connect("telegram"), w.connect("instagram"), w.generated("kind", "story")
	other := w.connectFor(tenant.Of("acc_2", tenant.Test), "vk")
	live := w.connectFor(tenant.Of(w.Principal.Account, tenant.Live), "vk")
	ended := w.connect("vk", func(r *social.Record) { r.State = social.NeedsReconnect })
	soon := w.Now().Add(time.Hour)
	for name, c := range map[string]struct {
		item    string
		members []any
		status  int
		code    errs.Code
		param   string
		says    string
	}{
		"past": {made.ID, []any{"publish_at", w.Now()}, 422, errs.ValidationFailed, "/publish_at",
			"in the future"},
		"far": {made.ID, []any{"publish_at", w.Now().Add(181 * 24 * time.Hour)}, 422,
			errs.ValidationFailed, "/publish_at", "180 days"},
		"no time": {made.ID, []any{"publish_at", nil, "social_account_ids", []string{telegram}}, 422,
			errs.ValidationFailed, "/social_account_ids", "publish_at"},
		"no accounts": {made.ID, nil, 422, errs.ValidationFailed, "/social_account_ids", "attach"},
		"twice": {made.ID, []any{"social_account_ids", []string{telegram, telegram}}, 422,
			errs.ValidationFailed, "/social_account_ids", ""},
		"another customer's": {made.ID, []any{"social_account_ids", []string{telegram, other}}, 404, errs.NotFound,
			"/social_account_ids/1", ""},
		"another mode's": {made.ID, []any{"social_account_ids", []string{live}}, 404, errs.NotFound,
			"/social_account_ids/0", ""},
		"no account": {made.ID, []any{"social_account_ids", []string{"vk"}}, 404, errs.NotFound,
			"/social_account_ids/0", ""},
		"not connected": {made.ID, []any{"social_account_ids", []string{ended}}, 422, errs.ValidationFailed,
			"/social_account_ids/0", "needs_reconnect"},
		"kind": {music.ID, []any{"social_account_ids", []string{telegram}}, 422, errs.ValidationFailed,
			"/kind", "Telegram does not take the kind story"},
		"caption": {made.ID, []any{"social_account_ids", []string{instagram}}, 422, errs.ValidationFailed,
			"/caption", "Instagram takes up to 2200"},
		"option": {made.ID, []any{"social_account_ids", []string{telegram}, "options",
			object{"telegram": object{"disable_duet": true}}}, 422, errs.ValidationFailed,
			"/options/telegram/disable_duet", "is not a member. The members are format, link_preview, privacy, " +
				"protect, silent"},
		"alternative text": {made.ID, []any{"social_account_ids", []string{telegram}, "options",
			object{"telegram": object{"alt_text": []string{"A shoe"}}}}, 422, errs.ValidationFailed,
			"/options/telegram/alt_text", "is not a member"},
		"privacy": {made.ID, []any{"social_account_ids", []string{telegram}, "options",
			object{"tiktok": object{"privacy": "unlisted"}}}, 422, errs.ValidationFailed, "/options/tiktok/privacy",
			"public, friends, private"},
		"other platform": {made.ID, []any{"social_account_ids", []string{telegram}, "options",
			object{"vk": object{"privacy": "public"}}}, 422, errs.ValidationFailed, "/options/vk",
			"none of the accounts"},
		"no such platform": {made.ID, []any{"social_account_ids", []string{telegram}, "options",
			object{"myspace": object{}}}, 422, errs.ValidationFailed, "/options/myspace", ""},
		"failure code": {made.ID, []any{"social_account_ids", []string{telegram}, "sandbox",
			object{"outcome": "failed", "failure_code": "nonsense"}}, 422, errs.ValidationFailed,
			"/sandbox/failure_code", "The values are outcome_unknown, "},
		"not generated": {queued.ID, []any{"social_account_ids", []string{telegram}}, 409, errs.InvalidState, "",
			"generated or scheduled"},
	} {
		a := w.Call(http.MethodPost, path(c.item, "schedule"), with(object{"publish_at": soon}, c.members...))
		t.Run(name, func(t *testing.T) {
			a.Refused(t, c.status, c.code, c.param)
			if !strings.Contains(string(a.Raw), c.says) {
				t.Errorf("it says %s", a.Raw)
			}
		})
	}
	// Telegram takes a long caption: the rest of it follows the picture.
	w.schedule(made.ID, soon, "social_account_ids", []string{telegram})
	w.Call(http.MethodPatch, path(made.ID), object{"caption": strings.Repeat("y", 4990),
		"hashtags": strings.Fields(strings.Repeat("h", 90) + " " + strings.Repeat("i", 90))}).Refused(t, 422,
		errs.ValidationFailed, "/caption")
	w.Call(http.MethodPatch, path(made.ID), object{"caption": "Short"}).Into(t, http.StatusOK, new(item.Item))
}

func TestADayTakesAsManyPostsAsThePlatformAllows(t *testing.T) {
	w := newWorld(t)
	vk := w.connect("vk")
	at := time.Date(2026, 5, 3, 9, 0, 0, 0, time.UTC)
	made := make([]item.Item, 51)
	for n := range made {
		made[n] = w.generated()
		if n < 50 {
			w.schedule(made[n].ID, at.Add(time.Duration(n)*time.Minute), "social_account_ids", []string{vk})
		}
	}
	refused := func(itemID string) {
		t.Helper()
		a := w.Call(http.MethodPost, path(itemID, "schedule"),
			object{"publish_at": at.Add(time.Hour), "social_account_ids": []string{vk}})
		if a.Refused(t, 422, errs.ValidationFailed, "/publish_at"); !strings.Contains(string(a.Raw),
			"VK takes 50 posts a day") {
			t.Errorf("it says %s", a.Raw)
		}
	}
	refused(made[50].ID)
	w.schedule(made[50].ID, at.Add(24*time.Hour), "social_account_ids", []string{vk})
	refused(made[50].ID)
	w.Call(http.MethodDelete, path(made[0].ID), nil).Into(t, http.StatusOK, new(item.Item))
	w.schedule(made[50].ID, at.Add(time.Hour))
}

func TestDisconnectingTakesAnAccountOutOfSchedules(t *testing.T) {
	w := newWorld(t)
	telegram, vk := w.connect("telegram"), w.connect("vk")
	both, one := w.generated(), w.generated()
	at := w.Now().Add(time.Hour)
	w.schedule(both.ID, at, "social_account_ids", []string{telegram, vk})
	w.schedule(one.ID, at, "social_account_ids", []string{telegram})
	end := func() bool {
		t.Helper()
		more, err := publication.AccountCleaner{DB: w.DB, Now: w.Clock.Now}.Clean(t.Context(),
			w.Principal.Owner, telegram)
		if err != nil {
			t.Fatal(err)
		}
		return more
	}
	if !end() || end() {
		t.Error("it does not end once")
	}
	if got := w.get(both.ID); got.State != item.Scheduled || len(got.Publications) != 1 ||
		fmt.Sprint(got.SocialAccountIDs) != "["+vk+"]" {
		t.Errorf("%+v", got)
	}
	if got := w.get(one.ID); got.State != item.Generated || got.PublishAt != nil || len(got.Publications) != 0 {
		t.Errorf("%+v", got)
	}
	if left := w.left(); len(left) != 2 {
		t.Errorf("left are %v", left)
	}
	if a, b := w.events(both.ID), w.events(one.ID); a[event.ContentScheduled] != 2 ||
		a[event.ContentUnscheduled] != 0 || b[event.ContentScheduled] != 1 || b[event.ContentUnscheduled] != 1 {
		t.Errorf("the events are %v and %v", a, b)
	}
	more, err := publication.FactoryCleaner{DB: w.DB, Now: w.Clock.Now}.Clean(t.Context(), w.Principal.Owner, w.factory)
	if got := w.get(both.ID); err != nil || !more || got.State != item.Generated || len(w.left()) != 0 {
		t.Errorf("%v, %v, %+v, %v", more, err, got, w.left())
	}
	if n := w.events(both.ID); n[event.ContentUnscheduled] != 1 {
		t.Errorf("the events are %v", n)
	}
}

func TestAFactoryPublishesByItself(t *testing.T) {
	w := newWorld(t)
	telegram, vk := w.connect("telegram"), w.connect("vk")
	before := w.generated()
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"auto_publish": true}).Into(t, http.StatusOK, &object{})
	alone := w.generated()
	w.work()
	w.attach(telegram, vk)
	w.alter(vk, func(r *social.Record) { r.State = social.NeedsReconnect })
	made := w.generated()
	w.work()
	for id, want := range map[string]item.State{before.ID: item.Generated, alone.ID: item.Generated,
		made.ID: item.Published} {
		if got := w.get(id); got.State != want {
			t.Errorf("it is %s, want %s: %+v", got.State, want, got)
		}
	}
	if got := w.get(made.ID); len(got.Publications) != 1 || got.Publications[0].SocialAccountID != telegram ||
		fmt.Sprint(got.SocialAccountIDs) != "["+telegram+"]" || len(got.OmittedAccounts) != 1 ||
		got.OmittedAccounts[0].SocialAccountID != vk || got.OmittedAccounts[0].Code != "needs_reconnect" {
		t.Errorf("%+v", got)
	}
	// The factory's accounts are also those of a call that names none.
	w.alter(vk, func(r *social.Record) { r.State = social.Connected })
	if got := w.publish(before.ID); len(got.Publications) != 2 {
		t.Errorf("%+v", got)
	}
}

// Items scheduled in a paused factory are published once the factory is resumed, and nothing at the account waits for
// them.
func TestAPausedFactoryHoldsItsSchedule(t *testing.T) {
	w := newWorld(t)
	telegram, vk := w.connect("telegram"), w.connect("vk")
	hour := 3600
	w.alter(vk, func(r *social.Record) { r.LateAfterSeconds = &hour })
	at := w.Now().Add(time.Hour)
	held, other := w.generated(), w.generated("factory_id", w.makeFactory(object{"type": "blogger", "name": "Other"}))
	w.schedule(held.ID, at, "social_account_ids", []string{telegram, vk})
	w.schedule(other.ID, at.Add(time.Minute), "social_account_ids", []string{telegram})
	set := func(state string) {
		w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"state": state}).Into(t, http.StatusOK, &object{})
	}
	set("paused")
	w.Clock.Add(at.Add(2 * time.Minute).Sub(w.Now()))
	w.work()
	if got := w.get(held.ID); got.State != item.Scheduled || !got.PublishAt.Equal(at) {
		t.Errorf("while the factory is paused it is %s at %v", got.State, got.PublishAt)
	}
	if got := w.get(other.ID); got.State != item.Published {
		t.Errorf("that of another factory is %s: it waits for what is held", got.State)
	}
	w.Clock.Add(90 * time.Minute)
	w.work()
	set("active")
	w.Clock.Add(time.Hour)
	w.work()
	got := w.get(held.ID)
	if got.State != item.Published || got.Publications[0].State != item.PublicationPublished || len(w.left()) != 0 {
		t.Fatalf("once it is resumed it is %s: %+v, left is %v", got.State, got.Publications, w.left())
	}
	if late := got.Publications[1]; late.Failure == nil || late.Failure.Code != "too_late" {
		t.Errorf("%+v", late)
	}
}
