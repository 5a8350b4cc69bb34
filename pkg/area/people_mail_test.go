package area_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/people"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// post is a service of e-mails.
type post struct {
	sent []people.Message
	// fails are the errors of the next calls. A call that fails has sent nothing.
	fails []error
	fuse  *webhooktest.Fuse
}

func (p *post) Send(_ context.Context, m people.Message) error {
	if len(p.fails) > 0 {
		err := p.fails[0]
		p.fails = p.fails[1:]
		return err
	}
	return p.fuse.Step(func() error {
		p.sent = append(p.sent, m)
		return nil
	})
}

// fused makes the calls of the table steps of a process that may die.
type fused struct {
	aws.HTTPClient
	fuse *webhooktest.Fuse
}

func (f fused) Do(req *http.Request) (resp *http.Response, err error) {
	failed := f.fuse.Step(func() error {
		resp, err = f.HTTPClient.Do(req)
		return err
	})
	if failed != nil {
		return nil, failed
	}
	return resp, nil
}

// mailWorld is a world in which e-mails are sent.
type mailWorld struct {
	*peopleWorld
	post *post
	fuse *webhooktest.Fuse
}

func newMailWorld(t *testing.T) *mailWorld {
	t.Helper()
	fuse := &webhooktest.Fuse{}
	w := &mailWorld{fuse: fuse, post: &post{fuse: fuse}}
	w.peopleWorld = newWorldOn(t, func(c *aws.Config) { c.HTTPClient = fused{c.HTTPClient, fuse} })
	w.peopleWorld.mails = true
	w.Caller = w.as(w.owner)
	return w
}

func (w *mailWorld) handlers() map[task.Kind]task.Handler {
	return people.MailHandlers(people.MailConfig{DB: w.DB, Mailer: w.post, Random: rand.Reader,
		URL: "https://api.example", Now: w.Clock.Now})
}

// due returns the tasks of e-mails that are due, and the time of the next one.
func (w *mailWorld) due() (ids []string, next time.Time) {
	handlers := w.handlers()
	for _, row := range storetest.Rows(w.T, w.DB) {
		it, err := w.DB.Get(w.T.Context(), store.Key{PK: row["pk"], SK: row["sk"]})
		if errors.Is(err, store.ErrNotFound) || it.Kind != task.ItemKind {
			continue
		}
		var is task.Task
		if err := errors.Join(err, it.Decode(&is)); err != nil {
			w.T.Fatal(err)
		}
		if handlers[is.Kind] == nil || it.Filters["state"] != "running" {
			continue
		}
		if at := is.DueAt; is.Lease.Live(w.Now()) {
			next = is.Lease.Until
		} else if !at.After(w.Now()) {
			ids = append(ids, is.ID)
		} else if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	slices.Sort(ids)
	return ids, next
}

// run takes the steps that are due within a time.
func (w *mailWorld) run(within time.Duration) {
	w.T.Helper()
	until := w.Now().Add(within)
	for range 1000 {
		var ids []string
		var next time.Time
		w.fuse.Pause(func() { ids, next = w.due() })
		if len(ids) == 0 {
			if next.IsZero() || next.After(until) {
				w.Clock.Add(max(0, until.Sub(w.Now())))
				return
			}
			w.Clock.Add(next.Sub(w.Now()))
			continue
		}
		for _, taskID := range ids {
			ctx, blown := w.fuse.Process(w.T.Context())
			_, err := w.Kernel(w.handlers()).Do(ctx, task.Message{ID: taskID, Wake: true}, "")
			if died := blown(); err != nil && !died {
				w.T.Fatalf("%s: %v", taskID, err)
			}
		}
		w.Clock.Add(time.Second)
	}
	w.T.Fatal("the work has no end")
}

// taken returns the e-mails since the last call.
func (w *mailWorld) taken() []people.Message {
	sent := w.post.sent
	w.post.sent = nil
	return sent
}

// happen commits an event and gives it to the consumer of the bus, as often as told.
func (w *mailWorld) happen(t event.Type, mode tenant.Mode, object map[string]any, times int) {
	w.T.Helper()
	it, err := event.New(w.Now(), tenant.Of(w.account, mode), t, object, nil)
	if err != nil {
		w.T.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Create(it, nil)
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
	detail, err := json.Marshal(event.RefOf(it))
	if err != nil {
		w.T.Fatal(err)
	}
	next := func(_ context.Context, batch events.SQSEvent) (out events.SQSEventResponse, err error) {
		if len(batch.Records) != 1 {
			w.T.Errorf("%d messages", len(batch.Records))
		}
		return out, nil
	}
	for range times {
		out, err := people.Announce(w.DB, w.Now, next)(w.T.Context(), events.SQSEvent{
			Records: []events.SQSMessage{{MessageId: "1", Body: `{"detail":` + string(detail) + `}`}}})
		if err != nil || len(out.BatchItemFailures) > 0 {
			w.T.Fatalf("%+v %v", out, err)
		}
	}
	w.Clock.Add(time.Second)
}

func peopleTo(all []people.Message) (addresses []string) {
	for _, m := range all {
		addresses = append(addresses, m.To)
	}
	slices.Sort(addresses)
	return addresses
}

func TestAnInvitationIsMailedOnce(t *testing.T) {
	w := newMailWorld(t)
	if p := w.invite("ada@example.com", auth.Developer); !p.InvitationMailed || p.InvitationURL == "" {
		t.Errorf("%+v", p)
	}
	w.run(time.Minute)
	all := w.taken()
	if len(all) != 1 || all[0].To != "ada@example.com" {
		t.Fatalf("%+v", all)
	}
	m := all[0]
	for _, want := range []string{"Name of owner@example.com invites you", "developer",
		"https://api.example/auth/invitations", m.Leave} {
		if !strings.Contains(m.Text, want) || !strings.Contains(m.HTML, want) && want != m.Leave {
			t.Errorf("without %q: %s", want, m.Text)
		}
	}
	if strings.Contains(m.Text+m.HTML, "invitations#") {
		t.Error("the e-mail has the token")
	}
	if h := m.Headers(); h["List-Unsubscribe"] != "<"+m.Leave+">" ||
		h["List-Unsubscribe-Post"] != "List-Unsubscribe=One-Click" {
		t.Errorf("%v", h)
	}
	// A later invitation has its own e-mail, and that of the earlier one comes no more.
	w.invite("ada@example.com", auth.Auditor)
	w.invite("ada@example.com", auth.Admin)
	w.run(time.Minute)
	if all := w.taken(); len(all) != 1 || !strings.Contains(all[0].Text, "the role admin") {
		t.Errorf("%+v", all)
	}
	w.mails = false
	w.Caller = w.as(w.owner)
	if p := w.invite("bob@example.com", auth.Developer); p.InvitationMailed {
		t.Error("without a sender")
	}
	w.run(time.Minute)
	if all := w.taken(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

// Each event is mailed once to those who want it, however often its message comes.
func TestEventsAreMailedToWhoWantsThem(t *testing.T) {
	w := newMailWorld(t)
	w.join("dev@example.com", auth.Developer)
	w.join("auditor@example.com", auth.Auditor)
	admin := w.join("admin@example.com", auth.Admin)
	w.run(time.Minute)
	w.taken()
	if err := w.people.Choose(t.Context(), w.account, admin.ID, func(c *person.Choices) {
		c.Language, c.Kinds[person.NoticeWebhooks] = "ru", false
	}); err != nil {
		t.Fatal(err)
	}
	both := []string{"admin@example.com", "owner@example.com"}
	for name, c := range map[string]struct {
		t      event.Type
		object map[string]any
		to     []string
		text   []string
	}{
		"a webhook": {event.WebhookDisabled, object{"id": "whk_1",
			"url": "https://user:pass@crm.example/hook?key=secret", "disabled_reason": "failing"},
			[]string{"dev@example.com", "owner@example.com"},
			[]string{"A webhook was disabled: crm.example", "five days", "/settings/webhooks/whk_1"}},
		"a balance": {event.BalanceLow, object{"id": w.account, "name": "<News>", "balance": object{"credits": 90, "low_threshold": 100}},
			both, []string{"90 credits", "threshold of 100"}},
	} {
		w.happen(c.t, tenant.Live, c.object, 3)
		w.happen(c.t, tenant.Test, c.object, 1)
		w.run(time.Minute)
		all := w.taken()
		if got := peopleTo(all); !slices.Equal(got, c.to) {
			t.Errorf("%s is mailed to %v", name, got)
		}
		for _, m := range all {
			if strings.Contains(m.Text+m.HTML, "secret") || strings.Contains(m.HTML, "<News>") {
				t.Errorf("%s: %s", name, m.HTML)
			}
			if russian := strings.Contains(m.Text, "Отписаться"); russian != (m.To == "admin@example.com") {
				t.Errorf("%s to %s is in the other language: %s", name, m.To, m.Text)
			}
			for _, text := range c.text {
				if m.To == "owner@example.com" && !strings.Contains(m.Subject+m.Text, text) {
					t.Errorf("%s: without %q: %s", name, text, m.Text)
				}
			}
		}
		w.Clock.Add(time.Hour)
	}
	// Other events are for webhooks.
	for _, other := range []event.Type{event.APIKeyExpiring, event.SocialAccountNeedsReconnect} {
		w.happen(other, tenant.Live, object{"id": "key_2", "name": "B"}, 1)
		w.run(time.Minute)
		if all := w.taken(); len(all) != 0 {
			t.Errorf("%s is mailed: %+v", other, all)
		}
	}
}

// The hourly look tells of what no event tells, once.
func TestTheHourlyLook(t *testing.T) {
	w := newMailWorld(t)
	owner := tenant.Of(w.account, tenant.Live)
	for range 2 {
		if err := w.people.Watch(t.Context(), w.account); err != nil {
			t.Fatal(err)
		}
	}
	since := resource.Instant(w.Now())
	hook := webhook.WebhookRecord{Webhook: webhook.Webhook{Resource: resource.New(id.New(id.Webhook, w.Now()),
		w.Now(), nil), State: webhook.StateEnabled, Description: "Orders", FailingSince: &since}}
	failing, err := store.NewItem("webhook", owner, hook.ID, hook)
	if err != nil {
		t.Fatal(err)
	}
	failing.Key = store.Key{PK: webhook.List(owner), SK: hook.ID}
	tx := &store.Tx{}
	tx.Create(failing, nil)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	w.run(90 * time.Minute)
	if all := w.taken(); len(all) != 1 || all[0].Subject != "A webhook is failing: Orders" {
		t.Fatalf("%+v", all)
	}
	w.run(24 * time.Hour)
	if all := w.taken(); len(all) != 0 {
		t.Errorf("it is told again: %+v", all)
	}
}

// Posts that have failed within an hour are in one e-mail, with the words of their platforms, and each is told once.
func TestFailedPostsAreMailed(t *testing.T) {
	w := newMailWorld(t)
	if err := w.people.Watch(t.Context(), w.account); err != nil {
		t.Fatal(err)
	}
	owner := tenant.Of(w.account, tenant.Live)
	end := func(owner tenant.Owner, what event.Type, title string, publications ...object) {
		tx := &store.Tx{}
		it, err := event.New(w.Now(), owner, what, object{"id": id.New(id.ContentItem, w.Now()), "title": title,
			"publications": publications}, nil)
		if err != nil {
			t.Fatal(err)
		}
		tx.Create(it, nil)
		if err := w.DB.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
		w.Clock.Add(time.Second)
	}
	published := object{"platform": "telegram", "state": "published"}
	failed := object{"platform": "vk", "state": "failed", "failure": object{"message": "The wall is closed."}}
	end(owner, event.ContentPublished, "Monday", published)
	end(owner, event.ContentPublished, "Tuesday", published, failed)
	end(owner, event.ContentFailed, "Wednesday", failed)
	end(tenant.Of(w.account, tenant.Test), event.ContentFailed, "Sandbox", failed)
	w.run(90 * time.Minute)
	all := w.taken()
	if len(all) != 1 || all[0].Subject != "Content was not published: 2" ||
		!strings.Contains(all[0].Text, "– Tuesday: vk: The wall is closed.\n– Wednesday: vk: The wall is closed.\n") {
		t.Fatalf("%+v", all)
	}
	w.run(3 * time.Hour)
	for range 7 {
		end(owner, event.ContentFailed, strings.Repeat("Sale ", 40), failed)
	}
	w.run(2 * time.Hour)
	if all := w.taken(); len(all) != 1 || all[0].Subject != "Content was not published: 7" ||
		strings.Count(all[0].Text, "The wall is closed.") != 5 {
		t.Errorf("%+v", all)
	}
}

// A text of others has its own direction in each e-mail, and none is left in that of the words around it.
func TestTextsOfOthersHaveTheirDirectionInMails(t *testing.T) {
	const name = "مطعم الياسمين"
	w := newMailWorld(t)
	w.run(time.Minute)
	w.taken()
	owner := tenant.Of(w.account, tenant.Live)
	w.happen(event.WebhookDisabled, tenant.Live, object{"id": "whk_1", "description": name, "url": "https://crm.example/",
		"disabled_reason": "failing"}, 1)
	tx := &store.Tx{}
	failed, err := event.New(w.Now(), owner, event.ContentFailed, object{"id": id.New(id.ContentItem, w.Now()),
		"title":        name,
		"publications": []object{{"platform": "vk", "state": "failed", "failure": object{"message": name}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tx.Create(failed, nil)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	if err := w.people.Watch(t.Context(), w.account); err != nil {
		t.Fatal(err)
	}
	w.run(2 * time.Hour)
	all := w.taken()
	for _, m := range all {
		_, body, _ := strings.Cut(m.HTML, "<body")
		for _, part := range strings.Split(body, "<")[1:] {
			if tag, text, _ := strings.Cut(part, ">"); strings.Contains(text, name) && !strings.Contains(tag, ` dir="auto"`) {
				t.Errorf("%s: <%s", m.Subject, part)
			}
		}
		if !strings.Contains(body, name) {
			t.Errorf("%s has no text of others: %s", m.Subject, body)
		}
	}
	if len(all) != 2 {
		t.Errorf("%d e-mails", len(all))
	}
}

// Approvals are in one e-mail, at most once in four hours, and only if some have come.
func TestApprovalsAreADigest(t *testing.T) {
	w := newMailWorld(t)
	if err := w.people.Watch(t.Context(), w.account); err != nil {
		t.Fatal(err)
	}
	owner := tenant.Of(w.account, tenant.Live)
	wait := func(n int) {
		tx := &store.Tx{}
		for i := range n {
			now := w.Now()
			r := &item.Record{Item: item.Item{Resource: resource.New(id.New(id.ContentItem, now), now, nil),
				State: item.Generated, Approval: item.Approval{State: item.ApprovalPending}}}
			r.Item.Title = resource.Text("Post " + strconv.Itoa(i+1))
			it, err := r.Entry(owner)
			if err != nil {
				t.Fatal(err)
			}
			tx.Create(it, nil)
			w.Clock.Add(time.Second)
		}
		if err := w.DB.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
	}
	wait(7)
	w.run(2 * time.Hour)
	all := w.taken()
	if len(all) != 1 || all[0].Subject != "Content waits for your approval: 7" ||
		strings.Count(all[0].Text, "– Post") != 5 {
		t.Fatalf("%+v", all)
	}
	w.run(24 * time.Hour)
	if all := w.taken(); len(all) != 0 {
		t.Errorf("nothing has come, and %d e-mails", len(all))
	}
	wait(1)
	w.run(time.Hour)
	wait(1)
	w.run(3 * time.Hour)
	if all := w.taken(); len(all) != 1 {
		t.Errorf("%d e-mails in four hours", len(all))
	}
	w.run(2 * time.Hour)
	if all := w.taken(); len(all) != 1 || all[0].Subject != "Content waits for your approval: 9" {
		t.Errorf("%+v", all)
	}
}

func TestAPersonGetsTenMailsAnHour(t *testing.T) {
	w := newMailWorld(t)
	for i := range people.MostMails + 3 {
		w.happen(event.WebhookDisabled, tenant.Live, object{"id": fmt.Sprint("whk_", i)}, 1)
	}
	w.run(20 * time.Minute)
	if all := w.taken(); len(all) != people.MostMails {
		t.Errorf("%d e-mails in the hour", len(all))
	}
	w.run(time.Hour)
	if all := w.taken(); len(all) != 3 {
		t.Errorf("%d e-mails in the next hour", len(all))
	}
}

func TestRefusedMailsAreTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		fail error
		sent int
	}{
		"too many":     {people.Refused("TooManyRequestsException", errors.New("slow down")), 1},
		"a lost line":  {errors.New("connection reset"), 1},
		"a bad sender": {people.Refused("MailFromDomainNotVerifiedException", errors.New("no")), 1},
		"a rejection":  {people.Refused("MessageRejected", errors.New("a virus")), 0},
	} {
		w := newMailWorld(t)
		w.post.fails = []error{c.fail, c.fail}
		w.happen(event.BalanceLow, tenant.Live, object{"id": "x", "balance": object{"credits": 1}}, 1)
		w.run(2 * time.Hour)
		if all := w.taken(); len(all) != c.sent {
			t.Errorf("%s: %d e-mails", name, len(all))
		}
	}
	// What cannot be sent within a day is dropped.
	w := newMailWorld(t)
	for range 1000 {
		w.post.fails = append(w.post.fails, people.Refused("SendingPausedException", errors.New("paused")))
	}
	w.happen(event.BalanceLow, tenant.Live, object{"id": "x", "balance": object{"credits": 1}}, 1)
	w.run(30 * time.Hour)
	w.post.fails = nil
	w.run(2 * time.Hour)
	if all := w.taken(); len(all) != 0 {
		t.Errorf("after a day: %d e-mails", len(all))
	}
}

// A process that dies at any line loses no e-mail. One is sent twice only if the death lies between the sending and the
// commit that follows it.
func TestADeathAtAnyStepLosesNoMail(t *testing.T) {
	w := newMailWorld(t)
	w.join("admin@example.com", auth.Admin)
	w.run(time.Hour)
	w.taken()
	deaths := 0
	for _, after := range []bool{false, true} {
		for step, died := 0, true; died; step++ {
			w.happen(event.BalanceLow, tenant.Live, object{"id": "x", "balance": object{"credits": step}}, 1)
			w.fuse.Light(step, after)
			w.run(10 * time.Minute)
			if died = w.fuse.Douse(); died {
				deaths++
			}
			all := w.taken()
			if got := slices.Compact(peopleTo(all)); len(got) != 2 || len(all) > 3 || len(all) > 2 && !died {
				t.Fatalf("step %d, after %v: %v", step, after, peopleTo(all))
			}
			w.Clock.Add(time.Hour)
		}
	}
	if deaths < 20 {
		t.Errorf("the whole has %d steps", deaths)
	}
}

func TestALinkToLeave(t *testing.T) {
	w := newMailWorld(t)
	w.invite("ada@example.com", auth.Developer)
	w.run(time.Minute)
	all := w.taken()
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	token, ours := strings.CutPrefix(all[0].Leave, "https://api.example"+people.LeavePath)
	if strings.Contains(storetest.Snapshot(t, w.DB), token) || !ours {
		t.Errorf("the table has the token of %s", all[0].Leave)
	}
	for range 2 {
		l, err := w.people.OpenLeave(t.Context(), token)
		if err != nil || l.Account != w.account || l.Notice != person.NoticeInvitation {
			t.Errorf("%+v %v", l, err)
		}
	}
	for name, other := range map[string]string{"a changed one": token[:len(token)-2] + "xx", "a part": token[:20],
		"nonsense": "%", "none": ""} {
		if _, err := w.people.OpenLeave(t.Context(), other); !errors.Is(err, person.ErrNoLeave) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.Clock.Add(29 * 24 * time.Hour)
	if _, err := w.people.OpenLeave(t.Context(), token); err != nil {
		t.Errorf("after 29 days: %v", err)
	}
	w.Clock.Add(25 * time.Hour)
	if _, err := w.people.OpenLeave(t.Context(), token); !errors.Is(err, person.ErrNoLeave) {
		t.Errorf("after 30 days: %v", err)
	}
}

// Each kind of e-mail has its texts in both languages, and says why it comes.
func TestEachMailHasItsTexts(t *testing.T) {
	file, err := os.ReadFile("people/mails.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for line := range strings.Lines(string(file)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(row) != 3 || row[1] == "" || row[2] == "" || row[1] == row[2] {
			t.Errorf("the row %q", line)
		}
		rows[row[0]] = true
	}
	whats := []string{"invitation", "webhook.failing", "approvals", "failed", "erasure.asked", "erasure.export_failed",
		string(event.WebhookDisabled), string(event.BalanceLow)}
	for _, what := range whats {
		for _, part := range []string{".subject", ".text", ".button"} {
			if !rows[what+part] {
				t.Errorf("there is no text %s", what+part)
			}
		}
	}
	if len(person.Notices) != 3 {
		t.Errorf("besides the invitation, there are %v", person.Notices)
	}
	for _, n := range append(person.Notices, person.NoticeInvitation) {
		if !rows["why."+string(n)] {
			t.Errorf("there is no reason for %s", n)
		}
	}
}
