package console

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const socialPath = "/settings/social-accounts"

func addSocial(open func(string, func(*request) error)) {
	open("GET "+socialPath, func(r *request) error { return r.showSocial(http.StatusOK, "") })
	open("POST "+socialPath, guarded(socialPath, connectSocial))
	open("GET "+socialPath+"/{id}/disconnect", confirmSocial)
	open("POST "+socialPath+"/{id}/disconnect", disconnectSocial)
}

// platform is a platform as the API answers it.
type platform struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Connect    string `json:"connect"`
	Configured bool   `json:"configured"`
	Beta       bool   `json:"beta"`
}

// socialAccount is a social account as the API answers it.
type socialAccount struct {
	ID               string     `json:"id"`
	ProfileID        *string    `json:"profile_id"`
	Platform         string     `json:"platform"`
	Handle           string     `json:"handle"`
	DisplayName      string     `json:"display_name"`
	State            string     `json:"state"`
	TokenExpiresAt   *time.Time `json:"token_expires_at"`
	AuthorizationURL *string    `json:"authorization_url"`
	FactoryIDs       []string   `json:"factory_ids"`
	CreatedAt        time.Time  `json:"created_at"`
	Failure          *trouble   `json:"failure"`
}

// trouble is why a platform has taken a post or an account no more, with its own words if it has said any.
type trouble struct {
	Message         string  `json:"message"`
	PlatformMessage *string `json:"platform_message"`
}

// Tone returns the tone of the state.
func (a socialAccount) Tone() string {
	return map[string]string{"connected": "good", "needs_reconnect": "bad", "pending": "warn"}[a.State]
}

// Name returns the name by which people know the account.
func (a socialAccount) Name() string { return cmp.Or(a.DisplayName, a.Handle, a.ID) }

// Gone reports whether the account was disconnected.
func (a socialAccount) Gone() bool { return a.State == "disconnected" }

func (r *request) showSocial(status int, message string) error {
	var accounts []socialAccount
	of := r.FormValue("profile_id")
	query := cursor(r)
	if of != "" {
		query.Set("profile_id", of)
	}
	next, err := r.api.list(r.Context(), "/v1/social/accounts", query, &accounts)
	if err != nil {
		return err
	}
	profiles, err := r.profilesOf(r.session.Mode)
	if err != nil {
		return err
	}
	var platforms []platform
	if err := r.api.get(r.Context(), "/v1/social/platforms", nil, &platforms); err != nil {
		return err
	}
	v := r.view("Social accounts", socialPath)
	v.Error = message
	v.Data = map[string]any{"Accounts": accounts, "Platforms": platforms, "More": r.more(next),
		"Profile": of, "Names": names{Profiles: profiles}}
	return r.show(status, "social", v)
}

// connectSocial begins the connection of an account. A platform with OAuth answers with the address at which its owner
// agrees, which the page then links: the policy for forms stops a redirect to it.
func connectSocial(r *request) error {
	body := map[string]any{"platform": r.PostFormValue("platform")}
	for _, name := range []string{"bot_token", "channel", "community_token", "username", "password",
		"social_account_id"} {
		if value := strings.TrimSpace(r.PostFormValue(name)); value != "" {
			body[name] = value
		}
	}
	if profile := r.PostFormValue("profile_id"); profile != "" {
		body["profile_id"] = profile
	} else if r.PostFormValue("connect") == "oauth2" {
		body["return_url"] = r.site.URL + socialPath // a client of an agency has no account area
	}
	var made socialAccount
	err := r.api.change(r.Context(), http.MethodPost, "/v1/social/accounts", r.once(), body, &made)
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showSocial(http.StatusUnprocessableEntity, message)
	}
	if made.AuthorizationURL == nil {
		return r.redirect(socialOf(r.PostFormValue("profile_id")))
	}
	v := r.view("Continue at the platform", socialPath)
	v.Data = map[string]any{"URL": made.AuthorizationURL, "Profile": body["profile_id"]}
	return r.show(http.StatusOK, "social-continue", v)
}

// socialOf returns the path of the accounts of a profile, or of all accounts.
func socialOf(profile string) string {
	if profile == "" {
		return socialPath
	}
	return socialPath + "?" + url.Values{"profile_id": {profile}}.Encode()
}

func disconnectSocial(r *request) error {
	err := r.api.change(r.Context(), http.MethodDelete, r.apiPath("social/accounts"), r.once(), nil, nil)
	if message, other := r.form(err); other != nil {
		return other
	} else if message != "" {
		return r.showSocial(http.StatusUnprocessableEntity, message)
	}
	return r.redirect(socialPath)
}
