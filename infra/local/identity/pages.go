package identity

import (
	"crypto/rand"
	"crypto/subtle"
	"html/template"
	"net/http"
	"net/url"
	"slices"
)

// cookie has the provider's own session.
const cookie = "local-identity"

// page is the form of the sign-in.
var page = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Local sign-in</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 24rem; margin: 12vh auto; padding: 0 1rem }
label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit }
input, button { margin: .25rem 0 1rem; padding: .5rem .75rem }
.error { color: #b80000; color: light-dark(#b80000, #ff8080) }
</style>
</head>
<body>
<main>
<h1>Local sign-in</h1>
<p>This is the identity provider of the service on your machine.</p>
{{if .Failed}}<p class="error" role="alert">The e-mail address or the password is wrong.</p>{{end}}
<form method="post" action="{{.Action}}">
<input type="hidden" name="request" value="{{.Request}}">
<label for="email">E-mail</label>
<input id="email" name="email" type="email" list="users" autocomplete="username" required value="{{.Email}}">
<datalist id="users">{{range .Users}}<option value="{{.Email}}">{{.Name}}</option>{{end}}</datalist>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button>Sign in</button>
</form>
{{range .Providers}}<p><a href="{{$.Federate}}&amp;identity_provider={{.}}">Sign in with {{.}}</a></p>
{{end}}</main>
</body>
</html>
`))

// authorize begins a sign-in. A request that cannot return safely is refused here.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if !p.acceptable(q) {
		http.Error(w, "The request has an unknown client_id or redirect_uri.", http.StatusBadRequest)
		return
	}
	if fault := unsupported(q); fault != "" {
		back(w, r, q, url.Values{"error": {fault}})
		return
	}
	if name := q.Get("identity_provider"); name != "" {
		p.send(w, r, q, name)
		return
	}
	if c, err := r.Cookie(cookie); err == nil && q.Get("prompt") != "login" {
		p.mu.Lock()
		s, ok := p.sessions[c.Value]
		p.mu.Unlock()
		now := p.o.Now()
		if ok && now.Before(s.until) && recent(s.at, now, q.Get("max_age")) {
			p.grant(w, r, q, s)
			return
		}
	}
	if q.Get("prompt") == "none" {
		back(w, r, q, url.Values{"error": {"login_required"}})
		return
	}
	p.ask(w, http.StatusOK, q, q.Get("login_hint"), false)
}

func (p *Provider) acceptable(q url.Values) bool {
	return q.Get("client_id") == p.o.ClientID && slices.Contains(p.o.Redirects, q.Get("redirect_uri"))
}

// unsupported returns the error of a request that the provider does not support.
func unsupported(q url.Values) string {
	switch {
	case q.Get("response_type") != "code":
		return "unsupported_response_type"
	case q.Get("code_challenge") == "" || q.Get("code_challenge_method") != "S256":
		return "invalid_request"
	default:
		return ""
	}
}

func (p *Provider) ask(w http.ResponseWriter, status int, q url.Values, email string, failed bool) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = page.Execute(w, map[string]any{"Action": p.o.Issuer + "/login", "Request": q.Encode(), "Email": email,
		"Failed": failed, "Users": p.o.Users, "Providers": p.Names(), "Federate": template.URL(p.o.Issuer +
			"/oauth2/authorize?" + q.Encode())})
}

// login takes the form. Its request is checked anew, because a form can be changed.
func (p *Provider) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	q, err := url.ParseQuery(r.PostFormValue("request"))
	if err != nil || !p.acceptable(q) || unsupported(q) != "" {
		http.Error(w, "The request has an unknown client_id or redirect_uri.", http.StatusBadRequest)
		return
	}
	email, password := r.PostFormValue("email"), r.PostFormValue("password")
	i := slices.IndexFunc(p.o.Users, func(u User) bool { return u.Email == email })
	if i < 0 || subtle.ConstantTimeCompare([]byte(password), []byte(p.o.Password())) != 1 {
		p.ask(w, http.StatusUnauthorized, q, email, true)
		return
	}
	now := p.o.Now()
	s, id := session{p.o.Users[i], now, now.Add(sessionLifetime)}, rand.Text()
	p.mu.Lock()
	p.sessions[id] = s
	p.mu.Unlock()
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: id, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	p.grant(w, r, q, s)
}

// grant returns to the client with a code.
func (p *Provider) grant(w http.ResponseWriter, r *http.Request, q url.Values, s session) {
	code, now := rand.Text(), p.o.Now()
	p.mu.Lock()
	for old, g := range p.codes {
		if now.After(g.until) {
			delete(p.codes, old)
		}
	}
	p.codes[code] = grant{s.user, q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("nonce"), s.at,
		now.Add(codeLifetime)}
	p.mu.Unlock()
	back(w, r, q, url.Values{"code": {code}})
}

func back(w http.ResponseWriter, r *http.Request, q, answer url.Values) {
	answer.Set("state", q.Get("state"))
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
}

// logout ends the session of the browser.
func (p *Provider) logout(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(cookie); err == nil {
		p.mu.Lock()
		delete(p.sessions, c.Value)
		p.mu.Unlock()
	}
	http.SetCookie(w, &http.Cookie{Name: cookie, Path: "/", MaxAge: -1, HttpOnly: true})
	to := r.URL.Query().Get("logout_uri")
	if r.URL.Query().Get("client_id") != p.o.ClientID || !slices.Contains(p.o.Logouts, to) {
		http.Error(w, "You are signed out. The request has an unknown client_id or logout_uri.", http.StatusBadRequest)
		return
	}
	http.Redirect(w, r, to, http.StatusFound)
}
