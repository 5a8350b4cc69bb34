package console

import (
	"cmp"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/tenant"
)

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
	routes.HandleFunc("POST /auth/cli/token", s.redeemCLI)
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
func (r *request) cli() (c cliRequest, message string) {
	c = cliRequest{Challenge: r.FormValue("challenge"), State: r.FormValue("state"), Name: r.FormValue("name")}
	port, err := strconv.Atoi(r.FormValue("port"))
	c.Port = port
	switch {
	case err != nil || port < 1 || port > 65535:
		return c, "The parameter port must be a number from 1 to 65535. Start the sign-in from the command line again."
	case !isToken(c.Challenge, challengeLength, challengeLength):
		return c, "The parameter challenge must be an SHA-256 in base64url. Start the sign-in from the command line " +
			"again."
	case !isToken(c.State, 16, 128):
		return c, "The parameter state must have 16 to 128 letters, digits, - or _. Start the sign-in from the " +
			"command line again."
	case c.Name == "" || utf8.RuneCountInString(c.Name) > maxHostName || !printable(c.Name):
		return c, "The parameter name must have 1 to 64 printable characters. Start the sign-in from the command " +
			"line again."
	}
	return c, ""
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
	c, message := r.cli()
	if message != "" {
		return &failure{Status: http.StatusUnprocessableEntity, Message: message}
	}
	if err := r.sensitive(c.path()); errors.Is(err, errAgain) {
		return nil
	} else if err != nil {
		return err
	}
	return handle(r, c)
}

func showCLI(r *request, c cliRequest) error { return r.showCLI(http.StatusOK, c, "") }

func (r *request) showCLI(status int, c cliRequest, message string) error {
	var me struct {
		Name   string `json:"name"`
		Person *struct {
			Role auth.Role `json:"role"`
		} `json:"person"`
	}
	if err := r.api.get(r.Context(), "/v1/me", nil, &me); err != nil {
		return err
	}
	if me.Person == nil || me.Person.Role == auth.Auditor {
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
	d := r.draft()
	if d.Kind != tenant.Live && d.Kind != tenant.Test {
		return r.showCLI(http.StatusUnprocessableEntity, c, "The mode is live or test.")
	}
	if len(d.Scopes) == 0 {
		return r.showCLI(http.StatusUnprocessableEntity, c, "Choose what the command line may do.")
	}
	a, expires := r.api, r.cliExpiry()
	a.mode = d.Kind
	var made key
	err := a.change(r.Context(), http.MethodPost, "/v1/api-keys", r.once(), map[string]any{"name": c.KeyName(),
		"kind": d.Kind, "scopes": d.Scopes, "expires_at": expires.Format(time.RFC3339)}, &made)
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showCLI(http.StatusUnprocessableEntity, c, message)
	}
	if made.Secret == nil {
		return &failure{Status: http.StatusConflict, Message: "This form was sent before. Open the page again."}
	}
	code, err := r.site.Sessions.Offer(r.Context(), r.session.Person, session.Handover{KeyID: made.ID,
		Secret: *made.Secret, Mode: d.Kind, ExpiresAt: expires}, c.Challenge)
	if err != nil {
		return err
	}
	v := r.view("Return to the command line", "")
	// The policy for forms counts for redirects of their answers too, so the page itself leads on.
	v.Data = c.Callback("code", code)
	return r.show(http.StatusOK, "cli-done", v)
}

// redeemCLI answers a command line that has a code and its verifier with the key, as RFC 6749 answers with a token.
func (s *site) redeemCLI(w http.ResponseWriter, r *http.Request) {
	code, verifier := r.PostFormValue("code"), r.PostFormValue("code_verifier")
	refuse := func(status int, reason, description string) {
		writeJSON(w, status, map[string]string{"error": reason, "error_description": description,
			"request_id": w.Header().Get("X-Request-Id")})
	}
	switch {
	case code == "":
		refuse(http.StatusBadRequest, "invalid_request", "The member code is missing.")
		return
	case verifier == "":
		refuse(http.StatusBadRequest, "invalid_request", "The member code_verifier is missing.")
		return
	}
	var h session.Handover
	err := s.Sessions.MayGuess(r.Context(), session.CommandCodes, addressOf(r))
	if err == nil {
		h, err = s.Sessions.Redeem(r.Context(), code, verifier)
	}
	if errors.Is(err, session.ErrHandover) {
		err = errors.Join(err, s.Sessions.CountGuess(r.Context(), session.CommandCodes, addressOf(r)))
	}
	var role auth.Role
	if err == nil {
		role, err = s.RoleOf(r.Context(), h.Account, h.By)
	}
	switch {
	case err == nil && !slices.Contains(role.Scopes(), auth.AccountManage):
		// Nobody learns the secret of the key, which expires by itself.
		refuse(http.StatusBadRequest, "invalid_grant", "The person who has confirmed the key may not create API keys "+
			"any more.")
	case errors.Is(err, session.ErrGuesses):
		w.Header().Set("Retry-After", inSeconds(s.Sessions.GuessesEnd()))
		refuse(http.StatusTooManyRequests, temporarily, messageGuesses)
	case errors.Is(err, session.ErrHandover):
		refuse(http.StatusBadRequest, "invalid_grant", "The code is wrong, used or expired, or code_verifier is wrong.")
	case err != nil:
		slog.Error("a code of the command line was not redeemed", "error", err)
		refuse(http.StatusServiceUnavailable, "temporarily_unavailable", messageUnavailable)
	default:
		writeJSON(w, http.StatusOK, map[string]any{"access_token": h.Secret, "token_type": "Bearer",
			"expires_in": int(h.ExpiresAt.Sub(s.Now()).Seconds()), "expires_at": h.ExpiresAt.UTC().Format(time.RFC3339),
			"key_id": h.KeyID, "mode": h.Mode})
	}
}

// writeJSON writes an answer for a program.
func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
