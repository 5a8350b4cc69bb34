package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	client "github.com/content-automation/api/clients/go"
	"github.com/content-automation/api/pkg/area/erasure"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
)

const erasurePath = "/settings/erasure"

// addErasure adds the pages by which owners have the account or a profile erased. The API has no operations for it: a
// key never erases more than what it has made. Only owners see them.
func addErasure(open func(string, func(*request) error)) {
	open("GET "+erasurePath, owning(func(r *request) error { return showErasures(r, http.StatusOK, "") }))
	open("GET "+erasurePath+"/account", guarded("", owning(asking(accountErasure))))
	open("POST "+erasurePath+"/account", guarded("", owning(typing(accountErasure, askErasure))))
	open("GET "+profilesPath+"/{id}/erase", guarded("", owning(asking(profileErasure))))
	open("POST "+profilesPath+"/{id}/erase", guarded("", owning(typing(profileErasure, askErasure))))
	open("POST "+erasurePath+"/{scope}/cancel", guarded(erasurePath, owning(func(r *request) error {
		return changeErasure(r, "erasure.cancel", "canceled", r.site.Erasures.Cancel)
	})))
	open("POST "+erasurePath+"/{scope}/export", guarded(erasurePath, owning(func(r *request) error {
		return changeErasure(r, "erasure.export", "exporting", r.site.Erasures.Export)
	})))
}

// owning wraps the handler of a page that there is for owners alone.
func owning(handle func(*request) error) func(*request) error {
	return func(r *request) error {
		role, _, err := r.role()
		if err == nil && role != auth.Owner {
			err = &failure{Status: http.StatusNotFound, Message: "There is no such page."}
		}
		if err != nil {
			return err
		}
		return handle(r)
	}
}

// erasureRow is an erasure with its last export.
type erasureRow struct {
	erasure.Record
	Export *exported
}

// ScopePath names what is erased in the paths of its forms.
func (e erasureRow) ScopePath() string { return erasurePath + "/" + erasure.ScopeName(e.Scope) }

// exported is an export.
type exported struct{ client.Export }

// Total returns the number of exported resources.
func (x exported) Total() (n int64) {
	for _, some := range x.Resources {
		n += some
	}
	return n
}

// Ready reports whether all parts are there.
func (x exported) Ready() bool { return x.State == "completed" }

// showErasures shows the erasures of the account and of its profiles.
func showErasures(r *request, status int, message string) error {
	all, err := r.site.Erasures.List(r.Context(), r.session.Account)
	if err != nil {
		return err
	}
	var me account
	if err := r.api.get(r.Context(), "/v1/me", nil, &me); err != nil {
		return err
	}
	rows, whole := []erasureRow{}, false
	for _, one := range all {
		row, x := erasureRow{Record: one}, exported{}
		whole = whole || one.Whole() && one.Open()
		of := r.api
		of.mode = tenant.Live
		if one.Scope.Mode != "" {
			of.mode = one.Scope.Mode
		}
		switch err := of.get(r.Context(), "/v1/exports/"+url.PathEscape(one.ExportID), nil, &x); {
		case err == nil:
			row.Export = &x
		case !missing(err): // one that has expired is missing
			return err
		}
		rows = append(rows, row)
	}
	v := r.view("Erasure", erasurePath)
	v.Error = message
	v.Notice = map[string]string{"asked": "The erasure is scheduled, and the last export has begun.",
		"canceled":  "The erasure is canceled. Nothing was erased.",
		"exporting": "Another last export has begun."}[r.URL.Query().Get("done")]
	v.Data = map[string]any{"Rows": rows, "Whole": whole, "Account": me.Name, "Days": days(erasure.AccountWait),
		"ProfileDays": days(erasure.ProfileWait)}
	return r.show(status, "erasure", v)
}

func days(d time.Duration) int { return int(d / (24 * time.Hour)) }

// accountErasure is the confirmation before the erasure of the account is scheduled, with its effect in numbers.
func accountErasure(r *request) (c confirmation, err error) {
	a := r.api
	a.mode = tenant.Live
	var me account
	if err := a.get(r.Context(), "/v1/me", nil, &me); err != nil {
		return c, err
	}
	c.Effects, err = erasureEffects(r, a, "", effect{"Profiles: %s", "/v1/profiles", nil, nil},
		effect{"People: %s", "/v1/people", nil, lasting})
	v := r.view("", "")
	c.Effects = append(c.Effects, v.T("Credits that are lost: %s", grouped(me.Balance.Credits)),
		v.T("The sandbox with all of its data"), begins(v, erasure.AccountWait))
	c.Title, c.Subject, c.Name, c.Verb = "Erase the account", me.Name, me.Name, "Schedule the erasure"
	c.Active, c.Back = erasurePath, erasurePath
	c.Text = "All that belongs to the account is erased, for all people in it. A last export begins now. Until the " +
		"erasure everything works as before, and you can cancel it. The entries of the balance without their " +
		"metadata, and the audit log, are kept for as long as the law asks for it."
	return c, err
}

// profileErasure is the confirmation before the erasure of a profile is scheduled.
func profileErasure(r *request) (c confirmation, err error) {
	var p brand
	if err := r.api.get(r.Context(), r.apiPath("profiles"), nil, &p); err != nil {
		return c, err
	}
	c.Effects, err = erasureEffects(r, r.api, p.ID)
	v := r.view("", "")
	c.Effects = append(c.Effects, v.T("No credits are lost: they stay with the account"),
		begins(v, erasure.ProfileWait))
	c.Title, c.Subject, c.Name, c.Verb = "Erase the profile", p.Name, p.Name, "Schedule the erasure"
	c.Active, c.Back = profilesPath, profilesPath+"/"+p.ID
	c.Text = "The profile and all that belongs to it are erased. A last export begins now. Until the erasure " +
		"everything works as before, and you can cancel it. The entries of the balance and the audit log stay with " +
		"the account."
	return c, err
}

// begins tells when an erasure that is asked for now would begin.
func begins(v *view, wait time.Duration) string {
	return v.T("The erasure begins in %d days, at %s", days(wait), v.inUTC(v.Now.Add(wait)))
}

// effect is a list whose rows are erased, and the text with their number. Counts reports which of the rows count.
type effect struct {
	text, path string
	query      url.Values
	counts     func(state string) bool
}

func lasting(state string) bool {
	return state != "disconnected" && state != "revoked" && state != "removed" && state != "expired"
}

// mostCounted bounds the rows that are counted of each list.
const mostCounted = 1000

// erasureEffects counts what is erased with an account, or with a profile. All lists are read at once.
func erasureEffects(r *request, a api, profileID string, more ...effect) ([]string, error) {
	all := append([]effect{{"Content items: %s", "/v1/content-items", nil, nil},
		{"Scheduled posts, which are canceled: %s", "/v1/content-items", url.Values{"state": {"scheduled"}}, nil},
		{"Media files that you have brought in: %s", "/v1/media", nil, nil},
		{"Generations of the studio: %s", "/v1/studio/generations", nil, nil},
		{"Factories with their plans, products and automations: %s", "/v1/factories", nil, nil},
		{"Connected social accounts, whose access ends: %s", "/v1/social/accounts", nil, lasting},
		{"CRM integrations: %s", "/v1/integrations", nil, lasting},
		{"Webhooks: %s", "/v1/webhooks", nil, nil},
		{"API keys, which are revoked: %s", "/v1/api-keys", nil, lasting}}, more...)
	texts, failed := make([]string, len(all)), make([]error, len(all))
	v := r.view("", "")
	var reads sync.WaitGroup
	for i, e := range all {
		reads.Go(func() {
			q := url.Values{}
			for name, values := range e.query {
				q[name] = values
			}
			if profileID != "" && e.path != "/v1/api-keys" {
				q.Set("profile_id", profileID)
			}
			rows, err := listAll[struct {
				State      string   `json:"state"`
				ProfileIDs []string `json:"profile_ids"`
			}](r.Context(), a, e.path, q, mostCounted)
			n := 0
			for _, row := range rows {
				other := e.path == "/v1/api-keys" && profileID != "" &&
					(len(row.ProfileIDs) != 1 || row.ProfileIDs[0] != profileID)
				if (e.counts == nil || e.counts(row.State)) && !other {
					n++
				}
			}
			texts[i], failed[i] = v.T(e.text, number(n, len(rows) >= mostCounted)), err
		})
	}
	reads.Wait()
	return texts, errors.Join(failed...)
}

// askErasure schedules the erasure of the page's profile, or of the account.
func askErasure(r *request) error {
	_, accountID, err := r.role()
	if err != nil {
		return err
	}
	scope := tenant.Of(accountID, "")
	if profileID := r.PathValue("id"); profileID != "" {
		scope = tenant.Of(accountID, r.session.Mode).Of(tenant.Profile(profileID))
	}
	by := auth.Actor{Kind: auth.Person, ID: r.session.ID}
	_, err = r.site.Erasures.Ask(r.Context(), scope, strings.TrimSpace(r.PostFormValue("typed")), by.ID)
	r.site.noteSignOn(r.Request, accountID, by, "erasure.ask", fmt.Sprint(r.URL.Path, " ", erasure.ScopeName(scope)),
		err)
	return erasureDone(r, "asked", err)
}

// changeErasure cancels the erasure of the form's scope, or exports again.
func changeErasure(r *request, operation, done string,
	change func(context.Context, tenant.Owner) (erasure.Record, error)) error {
	_, accountID, err := r.role()
	if err != nil {
		return err
	}
	scope := tenant.Of(accountID, "")
	if name := r.PathValue("scope"); name != erasure.ScopeName(scope) {
		scope = scope.Of(tenant.Profile(name))
	}
	_, err = change(r.Context(), scope)
	r.site.noteSignOn(r.Request, accountID, auth.Actor{Kind: auth.Person, ID: r.session.ID}, operation,
		fmt.Sprint(r.URL.Path, " ", erasure.ScopeName(scope)), err)
	return erasureDone(r, done, err)
}

// erasureDone returns to the erasures after a form, with the error that the person can mend.
func erasureDone(r *request, done string, err error) error {
	var public *errs.Error
	switch {
	case err == nil:
		return r.redirect(erasurePath + "?done=" + done)
	case errors.As(err, &public) && errs.InfoOf(public.Code).Status < http.StatusInternalServerError:
		return showErasures(r, errs.InfoOf(public.Code).Status, public.Message)
	}
	return err
}
