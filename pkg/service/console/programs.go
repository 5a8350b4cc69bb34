package console

import (
	"cmp"
	"encoding/json"
	"errors"
	"html/template"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	client "github.com/content-automation/api/clients/go"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/tenant"
)

const (
	programsPath = "/settings/programs"
	consentPath  = programsPath + "/connect"
	// programDays is the time after which a program is connected again, in days.
	programDays = 180
)

// programs are the connections of programs that a person has made.
var programs = page[session.Grant]{
	Title: "Connected programs", Path: programsPath, List: "programs", Icon: "link",
	Lead: "Programs of others that you have connected. A program that you disconnect has no access from then on.",
	Columns: []column{{Text: "Program"}, {Text: "Data"}, {Text: "Scopes", At: "sm"}, {Text: "Last used"},
		{Text: "Actions", Quiet: true}},
	Empty: "You have connected no program.",
	Rows: func(r *request, _ url.Values) ([]session.Grant, string, error) {
		all, err := r.site.Sessions.Grants(r.Context(), r.session.ID)
		return all, "", err
	},
	Name: func(g session.Grant) string { return g.Name }, Read: grantOf,
	Actions: []action[session.Grant]{{Name: "end", Recent: true, Done: "ended",
		Ask: &confirmation{Title: "Disconnect the program", Verb: "Disconnect",
			Text: "Its access ends at once. To use it again, connect it again."},
		Effects: func(_ *request, v *view, g session.Grant) ([]string, error) {
			return []string{v.T("Scopes that it loses: %d.", len(g.Scopes)),
				v.T("Last used") + ": " + v.ago(&g.UsedAt)}, nil
		},
		Do: func(r *request) error {
			g, err := grantOf(r)
			if err != nil {
				return err
			}
			return r.site.endGrant(r.Context(), g)
		}}},
	Done: map[string]string{"ended": "The program is disconnected."},
}

// addPrograms adds the pages on which people connect programs of others.
func addPrograms(open func(string, func(*request) error)) {
	open("GET "+consentPath, func(r *request) error { return r.consenting(showConsent) })
	open("POST "+consentPath, func(r *request) error { return r.consenting(consent) })
}

// wish is what a program has asked for.
type wish struct {
	Program                    session.Program
	Redirect, State, Challenge string
	Scopes                     []auth.Scope
	values                     url.Values
}

// Source returns the host of the document that describes the program, or an empty text.
func (w wish) Source() string { return sourceOf(w.Program.ID) }

// Callback returns the address of the program with a result.
func (w wish) Callback(issuer, name, value string) string {
	u, err := url.Parse(w.Redirect) // redirects has parsed it
	if err != nil {
		return ""
	}
	q := u.Query()
	q.Set(name, value)
	q.Set("iss", issuer)
	if w.State != "" {
		q.Set("state", w.State)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// Host returns the part of the address that tells where the program is.
func (w wish) Host() string {
	u, err := url.Parse(w.Redirect)
	switch {
	case err != nil:
		return ""
	case loopback(u):
		return "this computer"
	case u.Host == "" || u.Scheme != "https":
		return u.Scheme + ":"
	}
	return shownAt(u)
}

// shownAt returns the host of an address as it is shown to people, with its port.
func shownAt(u *url.URL) string {
	if u.Port() != "" {
		return net.JoinHostPort(shownHost(u.Hostname()), u.Port())
	}
	return shownHost(u.Hostname())
}

// input returns what a program asks for, or why it is wrong. An error is shown to the person, and never sent on: the
// address of a program that anybody can register is no place to lead a browser to without a click.
func (s *site) input(r *http.Request, q url.Values) (w wish, err error) {
	wrong := func(message string) (wish, error) {
		return w, &failure{Status: http.StatusBadRequest, Message: message}
	}
	if message := misshapen(q); message != "" {
		return wrong(message + ".")
	}
	w = wish{Redirect: q.Get("redirect_uri"), State: q.Get("state"), Challenge: q.Get("code_challenge"),
		values: url.Values{}}
	for _, name := range []string{"client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method",
		"response_type", "resource", "scope"} {
		if q.Has(name) {
			w.values[name] = q[name]
		}
	}
	w.Program, err = s.program(r, q.Get("client_id"))
	switch {
	case err != nil:
		return w, err
	case !redirects(w.Program, w.Redirect):
		return wrong("The program has not registered the address that it wants to return to.")
	case q.Get("response_type") != "code":
		return wrong("The program asks for something else than a code: response_type must be code.")
	case q.Get("code_challenge_method") != "S256" || !isToken(w.Challenge, challengeLength, challengeLength):
		return wrong("The program does not use PKCE with S256.")
	case !s.targets(q["resource"]):
		return wrong("The program asks for access to another service.")
	case !printable(w.State):
		return wrong("The program has sent a state with characters that cannot be shown.")
	}
	unknown := false
	for _, name := range strings.Fields(q.Get("scope")) {
		scope := auth.Scope(name)
		switch {
		case slices.Contains(ofPeople, name):
		case !scope.Known(): // is not granted, as RFC 6749, 3.3 permits: the answer has the scopes that are
			unknown = true
		case !slices.Contains(w.Scopes, scope):
			w.Scopes = append(w.Scopes, scope)
		}
	}
	if unknown && len(w.Scopes) == 0 { // without any, the person may grant all
		return wrong("The program asks for scopes that do not exist.")
	}
	return w, nil
}

// ofPeople are the scopes of OpenID Connect, which programs ask for beside ours wherever they connect. They mean
// nothing here: each connection has a refresh token, and no program learns who the person is.
var ofPeople = []string{"openid", "profile", "email", "offline_access"}

// longestReturn bounds the path that a sign-in returns to. The cookie of the sign-in has it, and browsers keep up to
// 4,096 characters.
const longestReturn = 1500

// consentPathOf returns the path of the page where the person decides. What is too long for a path is kept for it.
func (s *site) consentPathOf(r *http.Request, w wish) (string, error) {
	path := consentPath + "?" + w.values.Encode()
	if len(path) <= longestReturn {
		return path, nil
	}
	id, err := s.Sessions.KeepWish(r.Context(), w.values.Encode(), addressOf(r))
	return consentPath + "?" + url.Values{"kept": {id}}.Encode(), err
}

// authorize checks what a program asks for, and leads to the page where the person decides.
func authorize(r *request) error {
	of, err := r.site.input(r.Request, r.URL.Query())
	if err != nil {
		return err
	}
	path, err := r.site.consentPathOf(r.Request, of)
	if errors.Is(err, session.ErrRegistrations) {
		return &failure{Status: http.StatusTooManyRequests, Message: messageDocumentMany}
	} else if err != nil {
		return err
	}
	return r.redirect(path)
}

// consenting runs a handler if what the program asks for is right, and the sign-in is recent.
func (r *request) consenting(handle func(*request, wish) error) error {
	q, err := r.wished()
	if err != nil {
		return err
	}
	w, err := r.site.input(r.Request, q)
	if err != nil {
		return err
	}
	if !r.session.SignedInRecently(r.site.Now()) {
		path, err := r.site.consentPathOf(r.Request, w)
		if err != nil {
			return err
		}
		return r.sensitive(path)
	}
	return handle(r, w)
}

// wished returns the parameters of a program: those of the form, of the address, or those that are kept for it.
func (r *request) wished() (url.Values, error) {
	text := r.URL.RawQuery
	if r.Method == http.MethodPost {
		text = r.PostFormValue("wish")
	} else if id := r.URL.Query().Get("kept"); id != "" {
		kept, err := r.site.Sessions.Wish(r.Context(), id)
		if errors.Is(err, session.ErrProgram) {
			return nil, &failure{Status: http.StatusBadRequest, Message: "The program waits no longer. Start again " +
				"in the program."}
		}
		if text = kept; err != nil {
			return nil, err
		}
	}
	q, err := url.ParseQuery(text)
	if err != nil {
		return nil, errForm
	}
	return q, nil
}

func showConsent(r *request, w wish) error { return r.showConsent(http.StatusOK, w, "") }

// choosable is a scope that a person may grant.
type choosable struct {
	Scope   auth.Scope
	Permits string
	Chosen  bool
}

func (r *request) showConsent(status int, w wish, message string) error {
	role, _, err := r.role()
	if err != nil {
		return err
	}
	if !slices.Contains(role.Scopes(), auth.AccountManage) {
		return &failure{Status: http.StatusForbidden, Message: messageCLIRole}
	}
	wanted := w.Scopes
	if len(wanted) == 0 {
		wanted = presets[slices.IndexFunc(presets, func(p preset) bool { return p.ID == "make" })].Scopes
	}
	var scopes []choosable
	for _, scope := range auth.Scopes {
		// A program manages no account: it would be more than the person has asked it to do.
		if slices.Contains(role.Scopes(), scope.Scope) && scope.Scope != auth.AccountManage &&
			(len(w.Scopes) == 0 || slices.Contains(w.Scopes, scope.Scope)) {
			scopes = append(scopes, choosable{scope.Scope, scope.Permits, slices.Contains(wanted, scope.Scope)})
		}
	}
	v := r.view("Connect a program", "")
	v.Error = message
	data := map[string]any{"Wish": w, "Values": w.values.Encode(), "Scopes": scopes,
		"Cancel": template.URL(w.Callback(r.site.URL, "error", "access_denied"))}
	d := mandateForm.sent(r)
	if err := errors.Join(r.addProfiles(data), addMandate(r, v, d, data)); err != nil {
		return err
	}
	data["Form"] = mandateForm.shown("", "", d, data)
	v.Data = data
	return r.show(status, "consent", v)
}

// consent makes the key of the connection as the person, and leads to the program with a code.
func consent(r *request, w wish) error {
	refuse := func(message string) error { return r.showConsent(http.StatusUnprocessableEntity, w, message) }
	mode := tenant.Mode(r.PostFormValue("kind"))
	if mode != tenant.Live && mode != tenant.Test {
		return refuse("The mode is live or test.")
	}
	var scopes []auth.Scope
	for _, name := range r.PostForm["scope"] {
		scope := auth.Scope(name)
		if scope == auth.AccountManage || len(w.Scopes) > 0 && !slices.Contains(w.Scopes, scope) {
			return refuse("The program has not asked for one of the scopes.")
		}
		scopes = append(scopes, scope)
	}
	if len(scopes) == 0 {
		return refuse("Choose what the program may do.")
	}
	ends := r.site.Now().UTC().AddDate(0, 0, programDays).Truncate(24 * time.Hour)
	body := map[string]any{"name": w.Program.Name + " (program)", "scopes": scopes,
		"expires_at": ends, "metadata": map[string]string{"program": w.Program.ID}}
	if profile := r.PostFormValue("profile_" + string(mode)); profile != "" {
		body["profile_ids"] = []string{profile}
	}
	m, found := mandateForm.body(mandateForm.sent(r))
	if maps.Copy(body, m); found != nil {
		return refuse(slices.Collect(maps.Values(found))[0])
	}
	made, err := r.makeKey(mode, body)
	if message, other := messageOf(err); other != nil {
		return other
	} else if message != "" {
		return refuse(message)
	}
	code, err := r.site.Sessions.Permit(r.Context(), session.Grant{KeyID: made.ID, Program: w.Program.ID,
		By: r.session.ID, Name: w.Program.Name, Account: r.session.Account, Mode: mode, Scopes: scopes}, w.Redirect,
		w.Challenge)
	if err != nil {
		return err
	}
	// The policy for forms counts for redirects of their answers too, so the page itself leads on. redirectable has
	// checked the scheme, which may be that of a program of the computer.
	return r.page(http.StatusOK, "consented", "Return to the program",
		template.URL(w.Callback(r.site.URL, "code", code)))
}

// grantOf returns the connection of the page, which the person has made.
func grantOf(r *request) (session.Grant, error) {
	g, err := r.site.Sessions.Grant(r.Context(), r.PathValue("id"))
	if errors.Is(err, session.ErrGrant) || err == nil && (g.By != r.session.ID || g.Account != r.session.Account) {
		return g, errNoPage
	}
	return g, err
}

const (
	cliPath = "/settings/cli"
	// cliDays is the lifetime of the key of a command line, in days.
	cliDays = 90
	// maxHostName bounds the name of the machine, in characters.
	maxHostName = 64
)

// addCLI adds the sign-in of the command line: the loopback flow of RFC 8252, with a page where the person confirms the
// key. The command then redeems a code for the key, without a session.
func (s *site) addCLI(routes *http.ServeMux, open func(string, func(*request) error)) {
	open("GET "+cliPath, func(r *request) error { return r.confirming(showCLI) })
	open("POST "+cliPath, func(r *request) error { return r.confirming(createCLIKey) })
	routes.HandleFunc("POST /auth/cli/token", func(w http.ResponseWriter, r *http.Request) {
		s.answerProgram(w, r, s.redeemCLI)
	})
}

// cliRequest is what a command line has asked for. Only the port of its address is its own.
type cliRequest struct {
	Port                   int
	Challenge, State, Name string
}

const messageCLIRole = "Your role does not permit creating API keys. Ask an owner or an admin of the account."

// challengeLength is the length of an SHA-256 in base64url.
const challengeLength = 43

// isToken reports whether a text has the characters of base64url, and a length within the bounds.
func isToken(text string, least, most int) bool {
	return len(text) >= least && len(text) <= most && strings.Trim(text,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// cli returns the request of the command line, or why it is wrong.
func (r *request) cli() (c cliRequest, err error) {
	c = cliRequest{Challenge: r.FormValue("challenge"), State: r.FormValue("state"), Name: r.FormValue("name")}
	wrong := ""
	c.Port, err = strconv.Atoi(r.FormValue("port"))
	switch {
	case err != nil || c.Port < 1 || c.Port > 65535:
		wrong = "The parameter port must be a number from 1 to 65535. Start the sign-in from the command line again."
	case !isToken(c.Challenge, challengeLength, challengeLength):
		wrong = "The parameter challenge must be an SHA-256 in base64url. Start the sign-in from the command " +
			"line again."
	case !isToken(c.State, 16, 128):
		wrong = "The parameter state must have 16 to 128 letters, digits, - or _. Start the sign-in from the " +
			"command line again."
	case c.Name == "" || utf8.RuneCountInString(c.Name) > maxHostName || !printable(c.Name):
		wrong = "The parameter name must have 1 to 64 printable characters. Start the sign-in from the command " +
			"line again."
	default:
		return c, nil
	}
	return c, &failure{Status: http.StatusUnprocessableEntity, Message: wrong}
}

func printable(text string) bool {
	for _, char := range text {
		if char == utf8.RuneError || !unicode.IsPrint(char) {
			return false
		}
	}
	return true
}

// KeyName returns the name of the key.
func (c cliRequest) KeyName() string { return "Command line on " + c.Name }

// path returns the path of the page that confirms the request.
func (c cliRequest) path() string {
	return cliPath + "?" + url.Values{"port": {strconv.Itoa(c.Port)}, "challenge": {c.Challenge}, "state": {c.State},
		"name": {c.Name}}.Encode()
}

// Callback returns the address of the command line with a result: always one of this machine.
func (c cliRequest) Callback(name, value string) string {
	return "http://127.0.0.1:" + strconv.Itoa(c.Port) + "/callback?" +
		url.Values{name: {value}, "state": {c.State}}.Encode()
}

// confirming runs a handler if the request is right, the sign-in is recent, and the role may create keys.
func (r *request) confirming(handle func(*request, cliRequest) error) error {
	c, err := r.cli()
	if err == nil {
		err = r.sensitive(c.path())
	}
	if err != nil {
		return err
	}
	return handle(r, c)
}

func showCLI(r *request, c cliRequest) error { return r.showCLI(http.StatusOK, c, "") }

func (r *request) showCLI(status int, c cliRequest, message string) error {
	var me client.Account
	if err := r.api.get(r.Context(), "/v1/me", nil, &me); err != nil {
		return err
	}
	if me.Person == nil || me.Person.Role == client.RoleAuditor {
		return &failure{Status: http.StatusForbidden, Message: messageCLIRole}
	}
	v := r.view("Sign in the command line", "")
	v.Error = message
	v.Data = map[string]any{"Request": c, "Account": me.Name, "Presets": presets,
		// Unless the person has chosen something else, the key is for the sandbox, and cannot publish.
		"Live":   r.FormValue("kind") == string(tenant.Live),
		"Preset": cmp.Or(r.FormValue("preset"), "make"), "Expires": r.cliExpiry(),
		"Cancel": c.Callback("error", "access_denied")}
	return r.show(status, "cli", v)
}

// cliExpiry returns the time at which a new key expires. It is the beginning of a day, so that a form that is sent
// twice makes the same call of the API.
func (r *request) cliExpiry() time.Time {
	return r.site.Now().UTC().AddDate(0, 0, cliDays).Truncate(24 * time.Hour)
}

// createCLIKey creates the key as the person, and leads to the command line with a code for it.
func createCLIKey(r *request, c cliRequest) error {
	refuse := func(message string) error { return r.showCLI(http.StatusUnprocessableEntity, c, message) }
	mode, scopes, expires := tenant.Mode(r.FormValue("kind")), chosenScopes(r), r.cliExpiry()
	switch {
	case mode != tenant.Live && mode != tenant.Test:
		return refuse("The mode is live or test.")
	case len(scopes) == 0:
		return refuse("Choose what the command line may do.")
	}
	made, err := r.makeKey(mode, map[string]any{"name": c.KeyName(), "scopes": scopes,
		"expires_at": expires.Format(time.RFC3339)})
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return refuse(message)
	}
	code, err := r.site.Sessions.Offer(r.Context(), r.session.Person, session.Handover{KeyID: made.ID,
		Secret: *made.Secret, Mode: mode, ExpiresAt: expires}, c.Challenge)
	if err != nil {
		return err
	}
	// The policy for forms counts for redirects of their answers too, so the page itself leads on.
	return r.page(http.StatusOK, "cli-done", "Return to the command line", c.Callback("code", code))
}

// redeemCLI answers a command line that has a code and its verifier with the key, as RFC 6749 answers with a token.
func (s *site) redeemCLI(r *http.Request) (int, any, error) {
	code, verifier := r.PostFormValue("code"), r.PostFormValue("code_verifier")
	switch {
	case code == "":
		return 0, nil, bad(invalidRequest, "The member code is missing")
	case verifier == "":
		return 0, nil, bad(invalidRequest, "The member code_verifier is missing")
	}
	err := s.guesses(s.Sessions.MayGuess(r.Context(), session.CommandCodes, addressOf(r)))
	var h session.Handover
	if err == nil {
		h, err = s.Sessions.Redeem(r.Context(), code, verifier)
	}
	if errors.Is(err, session.ErrHandover) {
		err = cmp.Or(s.Sessions.CountGuess(r.Context(), session.CommandCodes, addressOf(r)), error(bad(invalidGrant,
			"The code is wrong, used or expired, or code_verifier is wrong")))
	}
	var role auth.Role
	if err == nil {
		role, err = s.role(r.Context(), h.Account, h.By)
	}
	switch {
	case err != nil:
		return 0, nil, err
	case !slices.Contains(role.Scopes(), auth.AccountManage):
		// Nobody learns the secret of the key, which expires by itself.
		return 0, nil, bad(invalidGrant, "The person who has confirmed the key may not create API keys any more")
	}
	return http.StatusOK, map[string]any{"access_token": h.Secret, "token_type": "Bearer",
		"expires_in": int(h.ExpiresAt.Sub(s.Now()).Seconds()), "expires_at": h.ExpiresAt.UTC().Format(time.RFC3339),
		"key_id": h.KeyID, "mode": h.Mode}, nil
}

// writeJSON writes an answer for a program.
func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
