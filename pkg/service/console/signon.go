package console

import (
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/store"
)

// addSignOn adds the pages of sign-on connections. The API has no operations for them: they decide who gets in, so that
// only these pages and the operator's command change them. The role is read from the API at each request.
func addSignOn(open func(string, func(*request) error)) {
	open("GET "+signOnPath, func(r *request) error { return r.showSignOn(http.StatusOK, nil) })
	for pattern, act := range map[string]signOnAct{
		"": createConnection, "/{id}/groups": mapGroups, "/{id}/domains": addDomain, "/{id}/verify": verifyDomain,
		"/{id}/undomain": removeDomain, "/{id}/setup": openSetup, "/{id}/confirm": confirmProvider,
		"/{id}/permit": enforce, "/{id}/emergency": changeEmergency,
	} {
		open("POST "+signOnPath+pattern, guarded(signOnPath, managing(act)))
	}
	open("GET "+signOnPath+"/{id}/undomain", guarded(signOnPath, confirmDomain))
	open("GET "+signOnPath+"/{id}/remove", guarded("", asking(removal)))
	open("POST "+signOnPath+"/{id}/remove", guarded("", typing(removal, managing(removeConnection))))
	open("GET "+signOnPath+"/{id}/enforce", guarded("", asking(enforcement)))
	open("POST "+signOnPath+"/{id}/enforce", guarded("", typing(enforcement, managing(enforce))))
}

// role returns the role of the person, and their account, as the API knows them now.
func (r *request) role() (auth.Role, tenant.Account, error) {
	var me struct {
		ID     tenant.Account `json:"id"`
		Person *struct {
			Role auth.Role `json:"role"`
		} `json:"person"`
	}
	if err := r.api.get(r.Context(), "/v1/me", nil, &me); err != nil || me.Person == nil {
		return "", "", err
	}
	return me.Person.Role, me.ID, nil
}

const messageManagers = "Only owners and admins of the account manage single sign-on."

// signOnAct is a change of sign-on. It returns its name in the audit log, what it concerns, and what shows its result
// if that is not the list of the connections.
type signOnAct func(*request, tenant.Account, authority.Authority) (operation, about string, show func() error,
	err error)

// managing wraps a change that needs a role. The change is in the audit log under the person, also if it fails.
func managing(act signOnAct) func(*request) error {
	return func(r *request) error {
		role, account, err := r.role()
		if err != nil {
			return err
		}
		if !role.Manages() {
			return &failure{Status: http.StatusForbidden, Message: messageManagers}
		}
		operation, about, show, err := act(r, account,
			authority.OfPerson(r.session.ID, role))
		r.site.noteSignOn(r.Request, account, auth.Actor{Kind: auth.Person, ID: r.session.ID}, operation,
			strings.TrimSpace(r.URL.Path+" "+about), err)
		if err == nil && show != nil {
			return show()
		}
		return r.signOnDone(err)
	}
}

func (r *request) showSignOn(status int, found fieldErrors) error {
	role, account, err := r.role()
	if err != nil {
		return err
	}
	all, err := r.site.Connections.List(r.Context(), account)
	if err != nil {
		return err
	}
	owners, safe, err := ownersOf(r, role)
	if err != nil {
		return err
	}
	v := r.view("Single sign-on", signOnPath)
	v.mend(found)
	v.Data = map[string]any{"Connections": all, "Manages": role.Manages(),
		"Owns": role == auth.Owner, "Roles": roles[1:], "Owners": owners, "Safe": safe,
		"Connection": r.PathValue("id"), "Domain": domainOf(r),
		"Groups": r.PostFormValue("groups")}
	return r.show(status, "sign-on", v)
}

// ownersOf returns the active owners of the account for those who may read people, and reports whether one of them has
// emergency access: single sign-on is required only then.
func ownersOf(r *request, role auth.Role) (all []member, safe bool, err error) {
	if !role.Manages() {
		return nil, false, nil
	}
	all, err = listAll[member](r.Context(), r.api, "/v1/people", url.Values{"role": {string(auth.Owner)},
		"state": {"active"}}, mostNames)
	for _, one := range all {
		safe = safe || one.Emergency
	}
	return all, safe, err
}

// changeEmergency gives an owner emergency access, or ends it. Only owners do.
func changeEmergency(r *request, account tenant.Account, by authority.Authority) (string, string, func() error,
	error) {
	on := r.PostFormValue("on") == "true"
	operation := "sign_on.end_emergency_access"
	if on {
		operation = "sign_on.give_emergency_access"
	}
	if by.Role != auth.Owner {
		return operation, "", nil, errs.New(errs.InsufficientScope, "Only owners give emergency access.")
	}
	return operation, r.PathValue("id"), nil, r.site.SetEmergency(r.Context(), account, r.PathValue("id"), on)
}

// signOnDone returns to the connections after a form, with the error that the person can mend.
func (r *request) signOnDone(err error) error {
	var public *errs.Error
	switch {
	case err == nil:
		return r.redirect(signOnPath)
	case errors.Is(err, store.ErrNotFound):
		return &failure{Status: http.StatusNotFound, Message: "There is no such page."}
	case errors.As(err, &public) && errs.InfoOf(public.Code).Status < http.StatusInternalServerError:
		return r.showSignOn(errs.InfoOf(public.Code).Status, mendable(public))
	}
	return err
}

func createConnection(r *request, account tenant.Account, _ authority.Authority) (string, string, func() error,
	error) {
	name, role := strings.TrimSpace(r.PostFormValue("name")), auth.Role(r.PostFormValue("role"))
	c, err := r.site.Connections.Create(r.Context(), account, connection.Settings{Name: &name, DefaultRole: &role})
	if err != nil {
		return "sign_on.create", "", nil, err
	}
	return "sign_on.create", c.ID, nil, nil
}

// groupLines returns the roles of groups as the lines of the form.
func groupLines(of map[string]auth.Role) (lines []string) {
	for _, group := range slices.Sorted(maps.Keys(of)) {
		lines = append(lines, group+" = "+string(of[group]))
	}
	return lines
}

func mapGroups(r *request, account tenant.Account, by authority.Authority) (string, string,
	func() error, error) {
	roles := connection.ParseGroupRoles(strings.Lines(r.PostFormValue("groups")))
	_, err := r.site.Connections.Update(r.Context(), account, r.PathValue("id"), connection.Settings{GroupRoles: roles,
		By: by})
	return "sign_on.map_groups", "", nil, err
}

// domainOf returns the domain of a form.
func domainOf(r *request) string {
	return strings.ToLower(strings.TrimSpace(r.PostFormValue("domain")))
}

func addDomain(r *request, account tenant.Account, _ authority.Authority) (string, string, func() error,
	error) {
	_, err := r.site.Connections.AddDomain(r.Context(), account, r.PathValue("id"), domainOf(r))
	return "sign_on.add_domain", domainOf(r), nil, err
}

func verifyDomain(r *request, account tenant.Account, _ authority.Authority) (string, string, func() error,
	error) {
	_, err := r.site.Connections.VerifyDomain(r.Context(), account, r.PathValue("id"), domainOf(r))
	return "sign_on.verify_domain", domainOf(r), nil, err
}

func removeDomain(r *request, account tenant.Account, _ authority.Authority) (string, string, func() error,
	error) {
	_, err := r.site.Connections.RemoveDomain(r.Context(), account, r.PathValue("id"), domainOf(r))
	return "sign_on.remove_domain", domainOf(r), nil, err
}

func enforce(r *request, account tenant.Account, _ authority.Authority) (string, string, func() error,
	error) {
	operation, on := "sign_on.permit_others", r.PostFormValue("on") == "true"
	if on {
		operation = "sign_on.enforce"
	}
	_, err := r.site.Connections.Enforce(r.Context(), account, r.PathValue("id"), on)
	return operation, "", nil, err
}

func removeConnection(r *request, account tenant.Account, _ authority.Authority) (string, string, func() error,
	error) {
	return "sign_on.remove", "", nil, r.site.Connections.Remove(r.Context(), account, r.PathValue("id"))
}

func openSetup(r *request, account tenant.Account, by authority.Authority) (string, string,
	func() error, error) {
	made, err := r.site.Connections.OpenSetup(r.Context(), account, r.PathValue("id"), by)
	return "sign_on.open_setup", "", func() error {
		v := r.view("The set-up link", signOnPath)
		v.Data = map[string]any{"URL": r.site.URL + setupPath + "#" + made.Token, "Ends": made.Ends}
		return r.show(http.StatusOK, "setup-link", v)
	}, err
}

func confirmProvider(r *request, account tenant.Account, by authority.Authority) (string, string, func() error,
	error) {
	_, err := r.site.Connections.Confirm(r.Context(), account, r.PathValue("id"), r.PostFormValue("provider"), by)
	return "sign_on.confirm_provider", "", nil, err
}

const setupPath = "/setup"

// addSetup adds the pages of a set-up link, which the IT of a customer uses without a sign-in. The token of the link is
// in its fragment, and then in the bodies of forms: addresses are in logs and traces.
func (s *site) addSetup(routes *http.ServeMux) {
	routes.HandleFunc("GET "+setupPath, func(w http.ResponseWriter, r *http.Request) {
		v := s.newView(r, nil)
		v.Title = "Set up single sign-on"
		s.showPublic(w, r, http.StatusOK, "setup-open", v)
	})
	routes.HandleFunc("POST "+setupPath, func(w http.ResponseWriter, r *http.Request) {
		err := s.Sessions.MayGuess(r.Context(), session.SetupLinks, addressOf(r))
		if errors.Is(err, session.ErrGuesses) {
			w.Header().Set("Retry-After", inSeconds(s.Sessions.GuessesEnd()))
			s.failed(w, r, http.StatusTooManyRequests, messageGuesses)
			return
		} else if err != nil {
			s.answer(w, r, nil, err)
			return
		}
		if r.PostFormValue("kind") == "" {
			s.showSetup(w, r, http.StatusOK, nil)
			return
		}
		s.setUp(w, r)
	})
}

// setupToken returns the token of a form, which may have the whole link.
func setupToken(r *http.Request) string {
	link := strings.TrimSpace(r.PostFormValue("link"))
	return link[strings.LastIndex(link, "#")+1:]
}

// showSetup shows the form, with what the provider has to know of the pool.
func (s *site) showSetup(w http.ResponseWriter, r *http.Request, status int, found fieldErrors) {
	_, c, err := s.Connections.BySetup(r.Context(), setupToken(r))
	if err != nil {
		s.setupFailed(w, r, err)
		return
	}
	base := strings.TrimSuffix(s.SignIn.AuthorizeURL, "/oauth2/authorize")
	v := s.newView(r, nil)
	v.Title = "Set up single sign-on"
	v.mend(found)
	v.Data = map[string]any{"Connection": c, "ACS": base + "/saml2/idpresponse",
		"Redirect": base + "/oauth2/idpresponse", "Entity": "urn:amazon:cognito:sp:" + path.Base(s.SignIn.Issuer),
		"Kind": r.FormValue("kind"), "Link": setupToken(r), "MetadataURL": r.FormValue("metadata_url"),
		"Issuer": r.FormValue("issuer"), "Client": r.FormValue("client_id")}
	s.showPublic(w, r, status, "setup", v)
}

// setupFailed answers for a link that does not work. It does not tell whether there ever was one.
func (s *site) setupFailed(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, store.ErrNotFound) {
		if err := s.Sessions.CountGuess(r.Context(), session.SetupLinks, addressOf(r)); err != nil {
			slog.Error("a wrong link was not counted", "error", err)
		}
		s.failedAs(w, r, nil, http.StatusNotFound, "This link was used, or has ended. Ask for a new one.")
		return
	}
	s.answer(w, r, nil, err)
}

// setUp gives the connection its provider. The link ends with that.
func (s *site) setUp(w http.ResponseWriter, r *http.Request) {
	p := connection.Provider{Kind: connection.Kind(r.PostFormValue("kind"))}
	field := func(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }
	switch p.Kind {
	case connection.SAML:
		p.MetadataURL, p.Metadata = field("metadata_url"), field("metadata")
	case connection.OIDC:
		p.Issuer, p.ClientID, p.ClientSecret = field("issuer"), field("client_id"), field("client_secret")
	}
	account, c, err := s.Connections.UseSetup(r.Context(), setupToken(r), p)
	if account == "" || errors.Is(err, store.ErrNotFound) {
		s.setupFailed(w, r, err)
		return
	}
	s.noteSignOn(r, account, auth.Actor{Kind: auth.Directory, ID: c.ID}, "sign_on.set_provider",
		setupPath+" "+c.ID, err)
	var public *errs.Error
	switch {
	case errors.As(err, &public) && errs.InfoOf(public.Code).Status < http.StatusInternalServerError:
		s.showSetup(w, r, errs.InfoOf(public.Code).Status, mendable(public))
	case err != nil:
		s.answer(w, r, nil, err)
	default:
		v := s.newView(r, nil)
		v.Title, v.Data = "The provider is set up", c
		s.showPublic(w, r, http.StatusOK, "setup-done", v)
	}
}
