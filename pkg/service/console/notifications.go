package console

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/content-automation/api/pkg/area/people"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/person"
)

const notificationsPath = profilePath + "/notifications"

func addNotifications(open func(string, func(*request) error)) {
	open("GET "+notificationsPath, showNotifications)
	open("POST "+notificationsPath, chooseNotifications)
}

// noticeTexts are the kinds of e-mails, with what they tell.
var noticeTexts = map[person.Notice]choice{
	person.NoticeInvitation: {"Invitations", "Somebody invites you to an account."},
	person.NoticeWebhooks:   {"Failing webhooks", "A webhook has failed for an hour, or was disabled."},
	person.NoticeKeys:       {"API keys that end", "A key ends in seven days."},
	person.NoticeSpend: {"Spending", "A key or profile has spent 50, 80 or 100 % of its limit of the month, or the " +
		"balance is low."},
	person.NoticeAccounts:  {"Connections that end", "A social account or a CRM has to be connected again."},
	person.NoticeErasures:  {"Erasures", "An owner erases the account or a profile, or cancels that."},
	person.NoticeApprovals: {"Approvals that wait", "Content waits for a decision: at most one e-mail in four hours."},
}

// mailWish is a kind of e-mail on the page.
type mailWish struct {
	Notice person.Notice
	choice
	Wanted bool
}

// showNotifications shows what the person gets by e-mail.
func showNotifications(r *request) error {
	record, err := r.site.PersonOf(r.Context(), r.session.Account, r.session.ID)
	if err != nil {
		return err
	}
	v := r.view("Notifications", notificationsPath)
	if r.URL.Query().Get("done") != "" {
		v.Notice = "Your choice is saved."
	}
	var all []mailWish
	for _, n := range person.Notices {
		all = append(all, mailWish{n, noticeTexts[n], record.Wants(n)})
	}
	chosen := record.Choices.Language
	if chosen == "" {
		chosen = v.Language
	}
	v.Data = map[string]any{"All": all, "Chosen": chosen, "Email": record.Email, "Mails": r.site.Mails,
		"Most": people.MostMails}
	return r.show(http.StatusOK, "notifications", v)
}

// chooseNotifications keeps the choice of the person.
func chooseNotifications(r *request) error {
	language := r.PostFormValue("language")
	if !known(language) {
		return &failure{Status: http.StatusUnprocessableEntity, Message: "There are no pages in this language."}
	}
	err := r.site.Choose(r.Context(), r.session.Account, r.session.ID, func(c *person.Choices) {
		c.Language = language
		for _, n := range person.Notices {
			c.Wanted[n] = r.PostFormValue(string(n)) != ""
		}
	})
	if err != nil {
		return err
	}
	return r.redirect(notificationsPath + "?done=1")
}

// addLeave adds the page of the link in each e-mail. A program that only opens links changes nothing: GET shows a form,
// and POST, which mail programs send by RFC 8058 without the form, leaves. No session is needed.
func (s *site) addLeave(routes *http.ServeMux) {
	routes.HandleFunc("GET "+people.LeavePath+"{token}", func(w http.ResponseWriter, r *http.Request) {
		s.showLeave(w, r, false)
	})
	routes.HandleFunc("POST "+people.LeavePath+"{token}", func(w http.ResponseWriter, r *http.Request) {
		s.showLeave(w, r, true)
	})
}

const messageLeave = "This link has expired, or is not complete. Sign in, and choose your e-mails in your profile."

func (s *site) showLeave(w http.ResponseWriter, r *http.Request, leave bool) {
	of, err := s.OpenLeave(r.Context(), r.PathValue("token"))
	if errors.Is(err, person.ErrNoLeave) {
		s.failedAs(w, r, nil, http.StatusNotFound, messageLeave)
		return
	}
	if err == nil && leave {
		err = s.Choose(r.Context(), of.Account, of.Person, func(c *person.Choices) { c.Wanted[of.Notice] = false })
		if errs.CodeOf(err) == errs.NotFound {
			err = nil // the person is gone, and gets no e-mails
		}
	}
	if err != nil {
		s.answer(w, r, nil, err)
		return
	}
	v := s.newView(r, nil)
	v.Title = "Stop these e-mails"
	if leave {
		v.Title = "You get no more of these e-mails"
	}
	v.Data = map[string]any{"Left": leave, "Kind": noticeTexts[of.Notice], "Path": r.URL.Path}
	s.showPublic(w, r, http.StatusOK, "leave", v)
}

// look starts the hourly look for what no event tells, for the account of a person who has signed in. Without it the
// sign-in works all the same, and the next one tries again.
func (s *site) look(r *http.Request, of session.Person) {
	if !s.Mails {
		return
	}
	if err := s.Watch(r.Context(), of.Account); err != nil {
		slog.Error("the hourly look at an account has not begun", "account_id", of.Account, "error", err)
	}
}
