package person

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Notice is a kind of e-mail, which a person may leave.
type Notice string

// The four kinds of e-mails.
const (
	// NoticeInvitation invites somebody to sign in.
	NoticeInvitation Notice = "invitation"
	// NoticeWebhooks is about webhooks that fail or were disabled.
	NoticeWebhooks Notice = "webhooks"
	// NoticeBalance is about a low balance.
	NoticeBalance Notice = "balance"
	// NoticeWork is about what waits for a decision: approvals, and an erasure that can still be canceled. It is also
	// about posts that have failed.
	NoticeWork Notice = "work"
)

// Notices are the kinds that people choose among. An invitation comes before there is a choice; its e-mail has a link
// to leave all the same.
var Notices = []Notice{NoticeWork, NoticeWebhooks, NoticeBalance}

// Choices are what a person has chosen about e-mails.
type Choices struct {
	// Language is the language of the e-mails. Empty: English.
	Language string `json:"language,omitempty"`
	// Kinds has the kinds that the person has chosen or left.
	Kinds map[Notice]bool `json:"wanted,omitempty"`
}

// Wants reports whether the person gets the e-mails of a kind. Without a choice, owners and admins get all, and
// developers those of webhooks.
func (r *Record) Wants(n Notice) bool {
	if wanted, chosen := r.Choices.Kinds[n]; chosen {
		return wanted
	}
	return n == NoticeInvitation || r.Role.Manages() || r.Role == auth.Developer && n == NoticeWebhooks
}

// Choose changes the choices of a person.
func (s *Service) Choose(ctx context.Context, account tenant.Account, personID string, change func(*Choices)) error {
	_, err := s.Change(ctx, account, personID, func(tx *store.Tx, r *Record, it store.Item) error {
		was := r.Choices
		r.Choices.Kinds = map[Notice]bool{}
		maps.Copy(r.Choices.Kinds, was.Kinds)
		change(&r.Choices)
		return s.Save(tx, r, it)
	})
	return err
}

// Leave is what the link of an e-mail permits: to leave one kind.
type Leave struct {
	Account tenant.Account
	Person  string
	Notice  Notice
}

// leaveTime is the time for which a link to leave works.
const leaveTime = 30 * 24 * time.Hour

// ErrNoLeave is returned for a token that was not issued, or whose time is over.
var ErrNoLeave = errors.New("person: there is no such link to leave")

func leaveKey(hash string) store.Key { return store.IDKey("leave#" + hash) }

const noticeAttribute = "notice"

// IssueLeave returns the token of a new link to leave. Its hash is stored: the system's secret would not do, because it
// changes within the time of the link.
func (s *Service) IssueLeave(ctx context.Context, l Leave) (token string, err error) {
	token, hash, err := web.NewBearer(s.random)
	if err != nil {
		return "", err
	}
	tx := &store.Tx{}
	of := map[string]string{personAttribute: l.Person, noticeAttribute: string(l.Notice)}
	tx.Create(store.Item{Key: leaveKey(hash), Kind: "leave", Owner: tenant.Of(l.Account, ""),
		ExpireAt: s.now().Add(leaveTime), Attributes: of}, nil)
	return token, s.db.Commit(ctx, tx)
}

// OpenLeave returns what a token permits. The token can be used again.
func (s *Service) OpenLeave(ctx context.Context, token string) (Leave, error) {
	it, err := s.db.Get(ctx, leaveKey(web.HashBearer(token)))
	if errors.Is(err, store.ErrNotFound) {
		return Leave{}, ErrNoLeave
	}
	return Leave{it.Account, it.Attributes[personAttribute], Notice(it.Attributes[noticeAttribute])}, err
}

// The kinds of the tasks of e-mails.
const (
	// MailKind sends one e-mail to one person.
	MailKind task.Kind = "mail.send"
	// NoticeKind makes the e-mails about something for the people who want them.
	NoticeKind task.Kind = "mail.notice"
	// WatchKind looks each hour for what no event tells.
	WatchKind task.Kind = "mail.watch"
)

// News is what an e-mail tells. What names its text, and Values are the words of it.
type News struct {
	Notice   Notice            `json:"notice"`
	TextName string            `json:"what"`
	Values   map[string]string `json:"values,omitempty"`
	// Path is the page of the account area that the e-mail leads to.
	Path string `json:"path"`
}

// MailTime is the time after which an e-mail is too late.
const MailTime = 24 * time.Hour

// Mail is the payload of a task of MailKind.
type Mail struct {
	News
	// Invitation is the hash of the invitation that an e-mail is about. A later invitation has its own e-mail.
	Invitation string `json:"invitation,omitempty"`
	// Language is used for a person who has chosen none.
	Language string `json:"language,omitempty"`
}

// AddMail adds the task of an e-mail to the transaction. About names its cause: two e-mails about the same conflict.
func AddMail(tx *store.Tx, now time.Time, account tenant.Account, personID, about string, m Mail) error {
	t := task.Task{Message: task.Message{ID: task.ID(MailKind, about+"#"+personID, 1), Kind: MailKind,
		Queue: topology.Mail, Subject: personID, Owner: tenant.Of(account, tenant.Live)}, Deadline: now.Add(MailTime)}
	return task.Create(tx, now, t, m)
}

// AddNotice adds the task that makes the e-mails about something to the transaction. About names its cause: two notices
// about the same conflict.
func AddNotice(tx *store.Tx, now time.Time, account tenant.Account, about string, n News) error {
	t := task.Task{Message: task.Message{ID: task.ID(NoticeKind, about, 1), Kind: NoticeKind, Queue: topology.Mail,
		Subject: string(account), Owner: tenant.Of(account, tenant.Live)}, Deadline: now.Add(MailTime)}
	return task.Create(tx, now, t, NoticeTask{News: n})
}

// NoticeTask is the payload of a task of NoticeKind.
type NoticeTask struct {
	// Event is the id of the event that the news are read from. Empty: the news are here.
	Event string `json:"event,omitempty"`
	News  News   `json:"news"`
}

// MailInvitation adds the e-mail of the open invitation of a person to the transaction. By is the inviting person. The
// e-mail has no token: who accepts it proves the address by the sign-in.
func (s *Service) MailInvitation(tx *store.Tx, account tenant.Account, r, by *Record) error {
	m := Mail{News: News{Notice: NoticeInvitation, TextName: "invitation", Path: "/auth/invitations",
		Values: map[string]string{"by": cmp.Or(by.Name, by.Email), "role": string(r.Role)}}, Invitation: r.Invitation,
		Language: by.Choices.Language}
	return AddMail(tx, s.now(), account, r.ID, r.Invitation[:16], m)
}

// WatchKey is the key of the task of WatchKind of an account.
func WatchKey(account tenant.Account) store.Key { return store.IDKey(watchID(account)) }

func watchID(account tenant.Account) string { return task.ID(WatchKind, string(account), 1) }

// Watch starts the hourly look for an account, unless it has begun.
func (s *Service) Watch(ctx context.Context, account tenant.Account) error {
	_, err := s.db.Get(ctx, WatchKey(account))
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	tx, now := &store.Tx{}, s.now()
	t := task.Task{Message: task.Message{ID: watchID(account), Kind: WatchKind, Queue: topology.Mail,
		Subject: string(account), Owner: tenant.Of(account, tenant.Live)}, DueAt: now.Add(time.Hour)}
	if err := task.Create(tx, now, t, struct{}{}); err != nil {
		return err
	}
	return s.db.CommitOnce(ctx, tx)
}
