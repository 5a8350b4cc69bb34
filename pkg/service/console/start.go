package console

import (
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"

	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/store"
)

// ask sends the browser to the issuer, unless that would sign in by a provider that somebody else may have chosen, or
// end a session: a link of another site must do neither without a click on a page that tells what it does.
func (s *site) ask(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	session, err := s.find(r)
	signedIn := err == nil && session != nil
	if q.Get("connection") == "" && (!signedIn || q.Get("again") != "") {
		s.start(w, r)
		return
	}
	data := map[string]any{"Connection": q.Get("connection"), "Return": returnOf(q), "Again": q.Get("again")}
	if provider := q.Get("connection"); provider != "" {
		account, name, err := s.Connections.NamesOf(r.Context(), provider)
		if errors.Is(err, store.ErrNotFound) {
			s.unknown(w, r)
			return
		}
		if err != nil {
			s.answer(w, r, nil, err)
			return
		}
		data["Account"], data["Provider"] = account, name
	}
	if signedIn {
		data["Email"] = session.Email
	}
	v := s.newView(r, nil)
	v.Title, v.Data = "Sign in", data
	s.showPublic(w, r, http.StatusOK, "start", v)
}

// started starts a sign-in after a click.
func (s *site) started(w http.ResponseWriter, r *http.Request) {
	if !ofPage(r) {
		s.failed(w, r, http.StatusForbidden, messageNotPage)
		return
	}
	if err := r.ParseForm(); err != nil {
		s.failed(w, r, http.StatusBadRequest, "The form cannot be read.")
		return
	}
	to, err := s.issuerOf(w, r, r.PostForm)
	if err != nil {
		s.answer(w, r, nil, err)
		return
	}
	v := s.newView(r, nil)
	// The policy for forms counts for redirects of their answers too, so the page itself leads on to the issuer.
	v.Title, v.Data = "Sign in", to
	s.showPublic(w, r, http.StatusOK, "starting", v)
}

// start sends the browser to the issuer. A provider that the link names is left out: only the form of a page chooses
// one.
func (s *site) start(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	q.Del("connection")
	to, err := s.issuerOf(w, r, q)
	if err != nil {
		s.answer(w, r, nil, err)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// issuerOf returns the address of the issuer for a sign-in, whose state the browser keeps.
func (s *site) issuerOf(w http.ResponseWriter, r *http.Request, q url.Values) (string, error) {
	p := progress{State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text(), Return: returnOf(q),
		Again: q.Get("again") != "", At: s.Now()}
	sealed, err := s.sealed(r.Context(), p)
	if err != nil {
		return "", err
	}
	http.SetCookie(w, cookie(progressCookie, sealed, int(progressLifetime.Seconds())))
	return s.Issuer.AuthorizeURL(signin.Request{State: p.State, Nonce: p.Nonce, Verifier: p.Verifier,
		Redirect: s.URL + "/auth/callback", Again: p.Again, Connection: q.Get("connection"),
		Language: s.newView(r, nil).Language}), nil
}
