package people

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"maps"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// Message is an e-mail to one person, in their language.
type Message struct {
	To, Subject string
	// Text and HTML say the same: mail programs show one of them.
	Text, HTML string
	// Leave is the address by which the reader gets no more of its kind: a page, and a POST for mail programs.
	Leave string
}

// Headers returns the headers of RFC 8058, by which mail programs leave with one click.
func (m Message) Headers() map[string]string {
	return map[string]string{"List-Unsubscribe": "<" + m.Leave + ">",
		"List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
}

// Mailer sends e-mails, by Amazon SES or into a file.
type Mailer interface {
	// Send sends an e-mail. An error says whether a repeat may succeed: see task.RetryError and task.Permanent. After
	// an answer that was lost, it may have been sent.
	Send(ctx context.Context, m Message) error
}

// LeavePath is the beginning of the paths of links to leave.
const LeavePath = "/auth/leave/"

// MostMails bounds the e-mails that a person gets in an hour. Others wait for the next one.
const MostMails = 10

// MailConfig is what the tasks of e-mails need.
type MailConfig struct {
	DB *store.DB
	// Mailer is nil if the stack sends no e-mails. Tasks from a time when it did end.
	Mailer Mailer
	// Random makes the tokens of links to leave.
	Random io.Reader
	// URL is the address of the account area.
	URL string
	Now func() time.Time
}

// MailHandlers returns the handlers of the tasks of e-mails.
func MailHandlers(c MailConfig) map[task.Kind]task.Handler {
	people := person.NewService(c.DB, c.Now, c.Random)
	return map[task.Kind]task.Handler{person.MailKind: task.Func(sender{c, people}.send),
		person.NoticeKind: task.Func(c.cry), person.WatchKind: watcher{c, people}}
}

// sender sends one e-mail.
type sender struct {
	MailConfig
	people *person.Service
}

// hourKey is the key of the counter of a person's e-mails of an hour.
func hourKey(personID string, at time.Time) store.Key {
	return store.IDKey("mails#" + personID + "#" + at.UTC().Format("2006-01-02T15"))
}

// send counts the e-mail, and then sends it. A function that dies while it sends may have sent it: it is sent again,
// because Amazon SES has no key for repeats, and a second e-mail does less harm than none.
func (h sender) send(ctx context.Context, r *task.Run) error {
	var m person.Mail
	if err := r.Decode(&m); err != nil || r.Cause() != nil {
		return err
	}
	to, _, err := h.people.Find(ctx, r.Account, r.Subject)
	switch {
	case errs.CodeOf(err) == errs.NotFound:
		return nil
	case err != nil:
		return err
	case h.Mailer == nil || !reaches(&to, &m):
		return nil
	}
	now, counted := h.Now(), false
	if err := r.Recall("counted", &counted); err != nil {
		return err
	}
	if key := hourKey(r.Subject, now); !counted {
		it, err := h.DB.Lookup(ctx, key)
		if err != nil {
			return err
		}
		if it.Count() >= MostMails {
			return r.Sleep(now.Truncate(time.Hour).Add(time.Hour).Sub(now))
		}
		if _, err := task.Commit(ctx, r, "counted", func(_ context.Context, tx *store.Tx) (bool, error) {
			tx.CountUntil(key, 1, MostMails, now.Add(2*time.Hour), store.ErrConflict)
			return true, nil
		}); err != nil {
			return err
		}
	}
	leave, err := h.people.IssueLeave(ctx, person.Leave{Account: r.Account, Person: to.ID, Notice: m.Notice})
	if err != nil {
		return err
	}
	var of struct {
		Name string `json:"name"`
	}
	if it, err := h.DB.Lookup(ctx, store.IDKey(string(r.Account))); err != nil {
		return err
	} else if it.Kind != "" {
		if err := it.Decode(&of); err != nil {
			return task.Permanent(err)
		}
	}
	m.Values = maps.Clone(m.Values)
	if m.Values == nil {
		m.Values = map[string]string{}
	}
	m.Values["account"] = cmp.Or(of.Name, string(r.Account))
	out, err := h.write(&to, &m, leave)
	if err != nil {
		return task.Permanent(err)
	}
	if err := r.Lease(ctx, nil); err != nil {
		return err
	}
	return h.Mailer.Send(ctx, out)
}

// reaches reports whether an e-mail is for a person as they are now.
func reaches(r *person.Record, m *person.Mail) bool {
	if m.Notice == person.NoticeInvitation {
		return r.Open() && r.Invitation == m.Invitation && r.Wants(m.Notice)
	}
	return r.State == person.Active && r.Wants(m.Notice)
}

// write writes the e-mail in the language of the person.
func (h sender) write(r *person.Record, m *person.Mail, leave string) (Message, error) {
	base := strings.TrimSuffix(h.URL, "/")
	language := r.Choices.Language
	if language == "" {
		language = m.Language
	}
	out := Message{To: r.Email, Leave: base + LeavePath + leave}
	return out, out.compose(language, &m.News, base+m.Path)
}

// atOnce is the number of people that one step makes e-mails for.
const atOnce = 50

// cry makes the e-mails about something for the people who want them.
func (c MailConfig) cry(ctx context.Context, r *task.Run) error {
	var n person.NoticeTask
	if err := r.Decode(&n); err != nil || r.Cause() != nil {
		return err
	}
	if n.Event != "" {
		news, found, err := c.newsOf(ctx, n.Event)
		if err != nil || !found {
			return err
		}
		n.News = news
	}
	q := person.Query(r.Account)
	if err := r.Recall("after", &q.After); err != nil {
		return err
	}
	q.Limit, q.Filters["state"] = atOnce, string(person.Active)
	page, err := c.DB.List(ctx, q)
	if err != nil {
		return err
	}
	r.Also(func(_ context.Context, tx *store.Tx) error {
		return mailAll(tx, c.Now(), r.Account, page.Items, r.ID, n.News)
	})
	if page.Next == nil {
		return nil
	}
	return errors.Join(r.Keep("after", page.Next), r.Sleep(0))
}

// mailAll adds an e-mail to the transaction for each of the people who want it.
func mailAll(tx *store.Tx, now time.Time, account tenant.Account, people []store.Item, about string,
	news person.News) error {
	for i := range people {
		r, err := person.Read(&people[i], now)
		if err != nil {
			return err
		}
		if m := (person.Mail{News: news}); reaches(&r, &m) {
			if err := person.AddMail(tx, now, account, r.ID, about, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// Refused is the answer of a service of e-mails that a repeat may change.
func Refused(code string, cause error) error {
	err := fmt.Errorf("people: the e-mail is refused with %s: %w", code, cause)
	switch code {
	case "TooManyRequestsException", "ThrottlingException":
		return throttled{err}
	case "MessageRejected", "BadRequestException":
		return task.Permanent(err)
	}
	// The operator has to verify the sender, or to raise the quota. The deadline of the task ends it.
	return &task.RetryError{Err: err, After: 10 * time.Minute, MaxFailures: task.NoLimit}
}

type throttled struct{ error }

// Throttled reports that the call may be repeated soon.
func (throttled) Throttled() bool { return true }

// Unwrap returns the cause, which the log shows.
func (t throttled) Unwrap() error { return t.error }

// mailEvents are the events that people get an e-mail about.
var mailEvents = map[event.Type]person.Notice{event.WebhookDisabled: person.NoticeWebhooks,
	event.BalanceLow: person.NoticeBalance}

// Announce returns a consumer of the bus that makes a task for each live event in mailEvents, and then calls
// next. The id of the event is that of its task, so that an event which comes twice has one.
func Announce(db *store.DB, now func() time.Time,
	next func(context.Context, events.SQSEvent) (events.SQSEventResponse, error),
) func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
	return func(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
		failed := make([]error, len(batch.Records))
		for i, m := range batch.Records {
			failed[i] = announce(ctx, db, now(), m.Body)
		}
		out, err := next(ctx, batch)
		known := map[string]bool{}
		for _, f := range out.BatchItemFailures {
			known[f.ItemIdentifier] = true
		}
		for _, f := range queue.Response(batch.Records, failed).BatchItemFailures {
			if !known[f.ItemIdentifier] {
				out.BatchItemFailures = append(out.BatchItemFailures, f)
			}
		}
		return out, err
	}
}

func announce(ctx context.Context, db *store.DB, now time.Time, body string) error {
	var envelope struct {
		Detail event.Ref `json:"detail"`
	}
	// What cannot be read is reported by who handles the event.
	if json.Unmarshal([]byte(body), &envelope) != nil {
		return nil
	}
	ref := envelope.Detail
	if mailEvents[ref.Type] == "" || ref.Mode != tenant.Live || !id.Valid(id.Event, ref.ID) {
		return nil
	}
	tx := &store.Tx{Origin: ref.Request}
	t := task.Task{Message: task.Message{ID: task.ID(person.NoticeKind, ref.ID, 1), Kind: person.NoticeKind,
		Queue: topology.Mail, Subject: ref.ID, Owner: ref.Owner}, Deadline: now.Add(person.MailTime)}
	if err := task.Create(tx, now, t, person.NoticeTask{Event: ref.ID}); err != nil {
		return err
	}
	return db.CommitOnce(ctx, tx)
}

// about has the members of the objects of events that e-mails name.
type about struct {
	ID             string `json:"id"`
	URL            string `json:"url"`
	Description    string `json:"description"`
	DisabledReason string `json:"disabled_reason"`
	Balance        struct {
		Credits   int64 `json:"credits"`
		Threshold int64 `json:"low_threshold"`
	} `json:"balance"`
}

// newsOf returns the news of an event, unless it is gone.
func (h MailConfig) newsOf(ctx context.Context, eventID string) (n person.News, found bool, err error) {
	it, err := h.DB.Lookup(ctx, store.IDKey(eventID))
	if err != nil || it.PK == "" {
		return n, false, err
	}
	var e event.Event
	if err := it.Decode(&e); err != nil {
		return n, false, task.Permanent(err)
	}
	var of about
	if err := json.Unmarshal(e.Data.Object, &of); err != nil {
		return n, false, task.Permanent(fmt.Errorf("people: read the object of %s: %w", eventID, err))
	}
	n = person.News{Notice: mailEvents[e.Type], TextName: string(e.Type), Values: map[string]string{}}
	switch e.Type {
	case event.WebhookDisabled:
		n.Path = "/settings/webhooks/" + of.ID
		n.Values["name"], n.Values["reason"] = hookName(of.Description, of.URL, of.ID), of.DisabledReason
	case event.BalanceLow:
		n.Path = "/settings/usage"
		n.Values["credits"] = strconv.FormatInt(of.Balance.Credits, 10)
		n.Values["threshold"] = strconv.FormatInt(of.Balance.Threshold, 10)
	}
	return n, true, nil
}

// hookName names a webhook. Of its address it shows the host alone: the rest may have a secret.
func hookName(description, address, hookID string) string {
	host := ""
	if u, err := url.Parse(address); err == nil {
		host = u.Host
	}
	return cmp.Or(description, host, hookID)
}

// moment returns a time as e-mails show it, in all languages.
func moment(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format("2006-01-02 15:04 UTC")
}

// The file has a line for each text: its name, a tab, English, a tab, and Russian. {name} stands for a value. A value
// whose row is "value" and itself is shown in the language of the e-mail.
//
//go:embed mails.tsv
var mailFile string

// mailTexts are the texts by their names: English and Russian.
var mailTexts = sync.OnceValue(func() map[string][2]string {
	texts := map[string][2]string{}
	for line := range strings.Lines(mailFile) {
		if row := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(row) == 3 {
			texts[row[0]] = [2]string{row[1], row[2]}
		}
	}
	return texts
})

// mostValue bounds a value in an e-mail, in bytes.
const mostValue = 400

// words are the texts of an e-mail in one language, with its values. With html they are HTML, in which each value has
// its own direction.
type words struct {
	russian, html bool
	values        map[string]string
}

// of returns a text with its values put in.
func (w words) of(name string) string {
	row := mailTexts()[name]
	out := row[0]
	if w.russian {
		out = row[1]
	}
	if w.html {
		out = template.HTMLEscapeString(out)
	}
	for key, value := range w.values {
		if row, ok := mailTexts()["value "+value]; ok {
			value = row[0]
			if w.russian {
				value = row[1]
			}
		}
		if value = text.ClipText(value, mostValue); w.html {
			value = `<span dir="auto">` + template.HTMLEscapeString(value) + "</span>"
		}
		out = strings.ReplaceAll(out, "{"+key+"}", value)
	}
	return out
}

// mailPage has no style sheet: mail programs leave those out.
var mailPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Parse(`<!doctype html>
<html lang="{{.Language}}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
		`<meta name="color-scheme" content="light dark"><title>{{.Subject}}</title></head>
<body style="margin:0;padding:24px 12px;font:16px/1.5 Inter,'Segoe UI',Roboto,Arial,sans-serif">
<div style="max-width:560px;margin:0 auto">
<p style="margin:0 0 20px;font-weight:600"><span style="display:inline-block;width:26px;line-height:26px;` +
		`margin-inline-end:10px;border-radius:6px;background:#3b43b5;color:#ffffff;text-align:center" ` +
		`aria-hidden="true">A</span>{{.Service}}{{with .Account}} · <span dir="auto">{{.}}</span>{{end}}</p>
<h1 style="font-size:20px;line-height:1.3;margin:0 0 16px">{{.Heading}}</h1>
<p style="margin:0 0 16px">{{.Text}}</p>
{{with .Items}}<ul style="margin:0 0 16px;padding-inline-start:20px">{{range .}}<li dir="auto">{{.}}</li>{{end}}</ul>
{{end}}<p style="margin:0 0 24px"><a href="{{.Link}}" style="display:inline-block;background:#3b43b5;color:#ffffff;` +
		`padding:10px 18px;border-radius:8px;text-decoration:none;font-weight:600">{{.Button}}</a></p>
<p style="margin:0;font-size:13px;opacity:.75">{{.Why}}<br><a href="{{.Leave}}" style="color:inherit">{{.Stop}}</a></p>
</div></body></html>
`))
})

// compose fills in the subject and both forms of the text.
func (m *Message) compose(language string, n *person.News, link string) error {
	w, marked := words{language == "ru", false, n.Values}, words{language == "ru", true, n.Values}
	if mailTexts()[n.TextName+".subject"][0] == "" {
		return fmt.Errorf("people: there is no text for %q", n.TextName)
	}
	if language != "ru" {
		language = "en"
	}
	m.Subject = text.ClipText(strings.Join(strings.Fields(w.of(n.TextName+".subject")), " "), 200)
	var items []string
	if listed := n.Values["items"]; listed != "" {
		items = strings.Split(listed, "\n")
	}
	html := func(name string) template.HTML { return template.HTML(marked.of(name)) } //nolint:gosec // it is escaped
	words, why := w.of(n.TextName+".text"), w.of("why."+string(n.Notice))
	said := struct {
		Language, Service, Account, Subject, Link, Button, Why, Leave, Stop string
		Heading, Text                                                       template.HTML
		Items                                                               []string
	}{language, web.ServiceName, n.Values["account"], m.Subject, link, w.of(n.TextName + ".button"), why, m.Leave,
		w.of("stop"), html(n.TextName + ".subject"), html(n.TextName + ".text"), items}
	var out bytes.Buffer
	if err := mailPage().Execute(&out, said); err != nil {
		return err
	}
	m.HTML = out.String()
	listed := ""
	for _, name := range items {
		listed += "– " + name + "\n"
	}
	if listed != "" {
		listed += "\n"
	}
	m.Text = words + "\n\n" + listed + said.Button + ": " + link + "\n\n--\n" + said.Why + "\n" + said.Stop + ": " +
		m.Leave + "\n"
	return nil
}

const (
	// failingTime is how long a webhook fails before people get an e-mail about it.
	failingTime = time.Hour
	// digestTime is the time between two e-mails about approvals. The items that have come meanwhile are in one.
	digestTime = 4 * time.Hour
	// settleTime is the age from which events are read. Those of younger commits may not be there yet.
	settleTime = time.Minute
	// digestItems is the number of items that an e-mail about items names.
	digestItems = 5
)

// watcher is the handler of WatchKind. It finds news that no event reports, and stores which news it has sent.
type watcher struct {
	MailConfig
	people *person.Service
}

// watch is the payload of a task of WatchKind.
type watch struct {
	// SentStates has the state in which people have heard of something, by its id.
	SentStates map[string]string `json:"told,omitempty"`
	// Digest is the time of the last e-mail about approvals, and Newest the newest item in it.
	Digest time.Time `json:"digest,omitzero"`
	Newest string    `json:"newest,omitempty"`
	// Failures is the time up to which the events about failed posts are read.
	Failures time.Time `json:"failures,omitzero"`
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
	l := &look{watcher: h, account: s.Account, now: now, before: was, after: was}
	l.after.SentStates, l.after.Failures = map[string]string{}, now.Add(-settleTime)
	if wanted[person.NoticeWebhooks] {
		err = l.webhooks(ctx)
	}
	if wanted[person.NoticeWork] {
		err = errors.Join(err, l.approvals(ctx), l.failures(ctx))
	}
	if err != nil {
		return o, task.Again(err)
	}
	o.Payload = l.after
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
	account       tenant.Account
	now           time.Time
	before, after watch
	news          []person.News
}

// mostNews bounds the news of a look, because they are written in one transaction. The next look sends the others.
const mostNews = 40

// tell adds news about a state of something, unless people have heard of that state.
func (l *look) tell(about, state string, news person.News) {
	if l.before.SentStates[about] != state {
		if len(l.news) == mostNews {
			return
		}
		l.news = append(l.news, news)
	}
	l.after.SentStates[about] = state
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
		l.tell(r.ID, since, person.News{Notice: person.NoticeWebhooks, TextName: "webhook.failing",
			Path: "/settings/webhooks/" + r.ID, Values: map[string]string{"name": name, "since": since}})
		return nil
	})
}

// approvals finds the items that wait for a decision, if some have come since the last e-mail about them.
func (l *look) approvals(ctx context.Context) error {
	if l.now.Sub(l.before.Digest) < digestTime {
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
	newest := l.before.Newest
	for i := range page.Items {
		r, err := item.Decode(&page.Items[i])
		if err != nil {
			return err
		}
		newest = max(newest, r.Item.ID)
		if len(names) < digestItems {
			names = append(names, titleOf(&r.Item))
		}
	}
	if newest == l.before.Newest {
		return nil
	}
	count := strconv.Itoa(len(page.Items))
	if page.Next != nil {
		count += "+"
	}
	l.after.Digest, l.after.Newest = l.now, newest
	l.news = append(l.news, person.News{Notice: person.NoticeWork, TextName: "approvals", Path: "/settings/approvals",
		Values: map[string]string{"count": count, "items": strings.Join(names, "\n")}})
	return nil
}

// titleOf names an item by its title, or by the first line of its caption.
func titleOf(i *item.Item) string {
	title, _, _ := strings.Cut(string(cmp.Or(i.Title, i.Caption, resource.Text(i.ID))), "\n")
	return title
}

// failures finds the items that have failed since the last look, wholly or on some accounts. One e-mail has those of an
// hour.
func (l *look) failures(ctx context.Context) error {
	begin := l.before.Failures
	if begin.IsZero() {
		begin = l.now.Add(-time.Hour)
	}
	count, lines := 0, []string{}
	q := store.Query{Index: store.ByOwner, Limit: 100, OldestFirst: true,
		Partition: store.OwnerPartition(tenant.Of(l.account, tenant.Live), event.Kind),
		From:      id.First(id.Event, begin), To: id.First(id.Event, l.after.Failures),
		OneOf: map[string][]string{"type": {string(event.ContentFailed), string(event.ContentPublished)}}}
	err := l.DB.Each(ctx, q, func(it store.Item) error {
		var e event.Event
		var of item.Item
		if err := errors.Join(it.Decode(&e), json.Unmarshal(e.Data.Object, &of)); err != nil {
			return fmt.Errorf("people: read the item of an event: %w", err)
		}
		why := failureOf(&of)
		if why == "" {
			return nil
		}
		if count++; len(lines) < digestItems {
			lines = append(lines, text.ClipText(titleOf(&of), mostTitle)+": "+why)
		}
		return nil
	})
	if err != nil || count == 0 {
		return err
	}
	l.news = append(l.news, person.News{Notice: person.NoticeWork, TextName: "failed", Path: "/settings/calendar",
		Values: map[string]string{"count": strconv.Itoa(count), "items": strings.Join(lines, "\n")}})
	return nil
}

// mostTitle bounds the title of a failed item in an e-mail, in bytes. Its reason follows.
const mostTitle = 80

// failureOf returns why an item has failed, or why one of its posts has, with the platform. It is empty if all is well.
func failureOf(i *item.Item) string {
	for _, p := range i.Publications {
		if p.State == item.PublicationFailed && p.Failure != nil {
			return p.Platform + ": " + p.Failure.Message
		}
	}
	if i.Failure != nil {
		return i.Failure.Message
	}
	return ""
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
