package console

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	client "github.com/content-automation/api/clients/go"
	"github.com/content-automation/api/pkg/area/erasure"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
)

const erasurePath = "/settings/erasure"

// addErasure adds the page by which owners have the account erased. The API has no operations for erasures: a key never
// erases more than what it has made.
func addErasure(open func(string, func(*request) error)) {
	open("GET "+erasurePath+"/account", guarded("", owning(eraseAccount)))
	open("POST "+erasurePath+"/account", guarded("", owning(eraseAccount)))
}

var erasures = page[erasureRow]{
	Title: "Erasure", Path: erasurePath, ID: "scope", List: "erasure", Owners: true, Rows: readErasures,
	More: func(_ *request, _ *view, rows []erasureRow, to map[string]any) error {
		to["Whole"] = slices.ContainsFunc(rows, func(e erasureRow) bool { return e.Whole() && e.Open() })
		to["Days"], to["ProfileDays"] = days(erasure.AccountWait), days(erasure.ProfileWait)
		return nil
	},
	Actions: []action[erasureRow]{
		{Name: "cancel", Recent: true, Done: "canceled",
			Do: changeErasure("erasure.cancel", (*erasure.Service).Cancel)},
		{Name: "export", Recent: true, Done: "exporting",
			Do: changeErasure("erasure.export", (*erasure.Service).Export)}},
	Done: map[string]string{"asked": "The erasure is scheduled, and the last export has begun.",
		"canceled":  "The erasure is canceled. Nothing was erased.",
		"exporting": "Another last export has begun."},
}

// owning wraps the handler of a page that there is for owners alone.
func owning(handle func(*request) error) func(*request) error {
	return func(r *request) error {
		role, _, err := r.role()
		if err == nil && role != auth.Owner {
			err = errNoPage
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

type exported struct{ client.Export }

func (x exported) Total() (n int64) {
	for _, some := range x.Resources {
		n += some
	}
	return n
}

// readErasures reads the erasures of the account and of its profiles, with their last exports.
func readErasures(r *request, _ url.Values) (rows []erasureRow, _ string, err error) {
	all, err := r.site.Erasures.List(r.Context(), r.session.Account)
	rows = mapped(all, func(one erasure.Record) erasureRow { return erasureRow{Record: one} })
	return rows, "", errors.Join(err, each(rows, func(e *erasureRow) error {
		of, x := r.api, exported{}
		of.mode = cmp.Or(e.Scope.Mode, tenant.Live)
		err := of.get(r.Context(), "/v1/exports/"+url.PathEscape(e.ExportID), nil, &x)
		if missing(err) { // it has expired
			return nil
		}
		e.Export = &x
		return err
	}))
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

// profileErasure tells what is erased with a profile.
func profileErasure(r *request, v *view, p brand) ([]string, error) {
	effects, err := erasureEffects(r, r.api, p.ID)
	return append(effects, v.T("No credits are lost: they stay with the account"), begins(v, erasure.ProfileWait)), err
}

// eraseAccount asks before the erasure of the account is scheduled, and schedules it.
func eraseAccount(r *request) error {
	c, err := accountErasure(r)
	if err != nil {
		return err
	}
	if r.Method != http.MethodPost {
		return r.confirm(http.StatusOK, c, "")
	}
	return confirmed(r, c, func() error {
		err := askErasure(r)
		if found, other := refused(err); other != nil {
			return other
		} else if found != nil {
			return erasures.refuse(r, statusOf(err), found)
		}
		return r.redirect(erasurePath + "?done=asked")
	})
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
	texts, v := make([]string, len(all)), r.view("", "")
	var reads []func() error
	for i, e := range all {
		reads = append(reads, func() error {
			n, more, err := e.count(r, a, profileID)
			texts[i] = v.T(e.text, number(n, more))
			return err
		})
	}
	return texts, atOnce(reads...)
}

// count counts the rows of a list that are erased with the account, or with a profile: of the keys, those that are
// bound to it alone.
func (e effect) count(r *request, a api, profileID string) (n int, more bool, err error) {
	q, keys := maps.Clone(e.query), e.path == "/v1/api-keys"
	if q == nil {
		q = url.Values{}
	}
	if profileID != "" && !keys {
		q.Set("profile_id", profileID)
	}
	rows, err := listAll[struct {
		State      string   `json:"state"`
		ProfileIDs []string `json:"profile_ids"`
	}](r.Context(), a, e.path, q, mostCounted)
	for _, row := range rows {
		other := keys && profileID != "" && !slices.Equal(row.ProfileIDs, []string{profileID})
		if (e.counts == nil || e.counts(row.State)) && !other {
			n++
		}
	}
	return n, len(rows) >= mostCounted, err
}

// noteErasure returns the error of a change of an erasure, after the audit log has it.
func noteErasure(r *request, operation string, scope tenant.Owner, err error) error {
	r.site.noteSignOn(r.Request, scope.Account, auth.Actor{Kind: auth.Person, ID: r.session.ID}, operation,
		r.URL.Path+" "+erasure.ScopeName(scope), err)
	return err
}

// askErasure schedules the erasure of the page's profile, or of the account.
func askErasure(r *request) error {
	scope := tenant.Of(r.session.Account, "")
	if profileID := r.PathValue("id"); profileID != "" {
		scope = tenant.Of(r.session.Account, r.session.Mode).Of(tenant.Profile(profileID))
	}
	_, err := r.site.Erasures.Ask(r.Context(), scope, strings.TrimSpace(r.PostFormValue("typed")), r.session.ID)
	return noteErasure(r, "erasure.ask", scope, err)
}

// changeErasure returns the handler of a form that cancels the erasure of the page, or exports again.
func changeErasure(operation string, change func(*erasure.Service, context.Context, tenant.Owner) (erasure.Record,
	error)) func(*request) error {
	return func(r *request) error {
		scope := tenant.Of(r.session.Account, "")
		if name := r.PathValue("scope"); name != erasure.ScopeName(scope) {
			scope = scope.Of(tenant.Profile(name))
		}
		_, err := change(r.site.Erasures, r.Context(), scope)
		return noteErasure(r, operation, scope, err)
	}
}
