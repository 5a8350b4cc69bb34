package people

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
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
	if err := r.Kept("counted", &counted); err != nil {
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
	return r.State == person.Active && r.Wants(m.Notice) && concerns(r, &m.News)
}

// concerns reports whether a person may know of something. Developers see the keys that they have made.
func concerns(r *person.Record, n *person.News) bool {
	return n.Only == "" || r.Role != auth.Developer || n.Only == r.ID
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
	var n person.Noticed
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
	if err := r.Kept("after", &q.After); err != nil {
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
	return &task.RetryError{Err: err, After: 10 * time.Minute, Most: task.NoLimit}
}

type throttled struct{ error }

// Throttled reports that the call may be repeated soon.
func (throttled) Throttled() bool { return true }

// Unwrap returns the cause, which the log shows.
func (t throttled) Unwrap() error { return t.error }
