package identity

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/connection"
)

// The providers of customers are federated as the user pool does it: a browser goes to the customer's provider and
// comes back to the addresses that the set-up page names, and the tokens are the pool's own.

// federatedTime is the time that a person has for the sign-in at the customer's provider.
const federatedTime = 10 * time.Minute

// away is a browser that is at a customer's provider.
type away struct {
	request  url.Values // of the client
	provider string
	until    time.Time
	// nonce and verifier are for OpenID Connect, and id is that of the request by SAML.
	nonce, verifier, id string
}

// kept is what outlives a restart.
type kept struct {
	Providers map[string]connection.Provider
	// Offered are those that people can choose.
	Offered map[string]bool
	// Users are the federated people who have signed in, by their subjects.
	Users map[string]User
}

var (
	_ connection.Pool   = (*Provider)(nil)
	_ connection.Client = (*Provider)(nil)
)

// SetProvider implements connection.Pool. It reads the provider's own description first.
func (p *Provider) SetProvider(ctx context.Context, name string, of connection.Provider) error {
	var err error
	if of.Kind == connection.SAML {
		_, err = p.describe(ctx, of)
	} else {
		_, err = oidc.NewProvider(p.outside(ctx), of.Issuer)
	}
	if err != nil {
		return errs.Wrap(err, errs.ValidationFailed, "The provider's description cannot be read. Check the address of its "+
			"metadata, or its issuer.")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept.Providers[name] = of
	return p.save()
}

// OfferAll implements connection.Client for people who sign in here.
func (p *Provider) OfferAll(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name := range p.kept.Providers {
		p.kept.Offered[name] = true
	}
	return p.save()
}

// RemoveProvider implements connection.Client for people who sign in here.
func (p *Provider) RemoveProvider(_ context.Context, name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.kept.Providers, name)
	delete(p.kept.Offered, name)
	return p.save()
}

// load reads what an earlier run has kept.
func (p *Provider) load() {
	p.kept = kept{map[string]connection.Provider{}, map[string]bool{}, map[string]User{}}
	if p.o.Load == nil {
		return
	}
	if text := p.o.Load(); text != "" {
		if err := json.Unmarshal([]byte(text), &p.kept); err != nil {
			slog.Error("the providers of customers are lost", "error", err)
		}
	}
}

func (p *Provider) save() error {
	text, err := json.Marshal(p.kept)
	if err == nil && p.o.Save != nil {
		p.o.Save(string(text))
	}
	return err
}

// provider returns a provider of a customer that people can choose.
func (p *Provider) provider(name string) (connection.Provider, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of, ok := p.kept.Providers[name]
	return of, ok && p.kept.Offered[name]
}

// Names returns the names of the providers of customers that people can choose.
func (p *Provider) Names() (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name := range p.kept.Offered {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// outside returns a context in which the libraries call customers' providers by the client for untrusted addresses.
func (p *Provider) outside(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, &http.Client{Transport: p.o.Outside})
}

// client returns the client at a customer's provider of OpenID Connect.
func (p *Provider) client(ctx context.Context, of connection.Provider) (*oidc.Provider, *oauth2.Config, error) {
	found, err := oidc.NewProvider(p.outside(ctx), of.Issuer)
	if err != nil {
		return nil, nil, err
	}
	return found, &oauth2.Config{ClientID: of.ClientID, ClientSecret: of.ClientSecret, Endpoint: found.Endpoint(),
		RedirectURL: p.o.Issuer + "/oauth2/idpresponse", Scopes: []string{oidc.ScopeOpenID, "email", "profile"}}, nil
}

// send sends a browser to the provider of a customer.
func (p *Provider) send(w http.ResponseWriter, r *http.Request, q url.Values, name string) {
	of, ok := p.provider(name)
	if !ok {
		back(w, r, q, url.Values{"error": {"invalid_request"}})
		return
	}
	state, again := rand.Text(), q.Get("prompt") == "login"
	a := away{request: q, provider: name, until: p.o.Now().Add(federatedTime)}
	var to string
	var err error
	if of.Kind == connection.SAML {
		to, a.id, err = p.samlRequest(r.Context(), of, state, again)
	} else {
		a.nonce, a.verifier = rand.Text(), oauth2.GenerateVerifier()
		var c *oauth2.Config
		if _, c, err = p.client(r.Context(), of); err == nil {
			options := []oauth2.AuthCodeOption{oidc.Nonce(a.nonce), oauth2.S256ChallengeOption(a.verifier)}
			if again {
				options = append(options, oauth2.SetAuthURLParam("prompt", "login"))
			}
			to = c.AuthCodeURL(state, options...)
		}
	}
	if err != nil {
		slog.Error("a customer's provider does not answer", "error", err)
		back(w, r, q, url.Values{"error": {"server_error"}})
		return
	}
	p.mu.Lock()
	for old, waiting := range p.away {
		if p.o.Now().After(waiting.until) {
			delete(p.away, old)
		}
	}
	p.away[state] = a
	p.mu.Unlock()
	http.Redirect(w, r, to, http.StatusFound)
}

// returned returns the sign-in of a state, once.
func (p *Provider) returned(state string) (away, connection.Provider, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, ok := p.away[state]
	delete(p.away, state)
	of, known := p.kept.Providers[a.provider]
	return a, of, ok && known && p.o.Now().Before(a.until)
}

// attributes are what a provider says of a person.
type attributes struct {
	Subject string   `json:"sub"`
	Email   string   `json:"email"`
	Name    string   `json:"name"`
	Groups  []string `json:"groups"`
}

// oidcResponse takes the answer of a provider of OpenID Connect.
func (p *Provider) oidcResponse(w http.ResponseWriter, r *http.Request) {
	a, of, ok := p.returned(r.URL.Query().Get("state"))
	if !ok || of.Kind != connection.OIDC {
		http.Error(w, "This sign-in was not started here, has ended or was used.", http.StatusBadRequest)
		return
	}
	found, err := p.oidcPerson(r.Context(), of, a, r.URL.Query().Get("code"))
	p.finish(w, r, a, found, err)
}

// oidcPerson redeems a code, and reads the person at the provider's userinfo endpoint, as the pool does.
func (p *Provider) oidcPerson(ctx context.Context, of connection.Provider, a away, code string) (attributes, error) {
	var found attributes
	provider, c, err := p.client(ctx, of)
	if err != nil {
		return found, err
	}
	ctx = p.outside(ctx)
	tokens, err := c.Exchange(ctx, code, oauth2.VerifierOption(a.verifier))
	if err != nil {
		return found, err
	}
	raw, _ := tokens.Extra("id_token").(string)
	id, err := provider.VerifierContext(ctx, &oidc.Config{ClientID: of.ClientID, Now: p.o.Now}).Verify(ctx, raw)
	if err != nil {
		return found, err
	}
	if id.Nonce != a.nonce {
		return found, errNonce
	}
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return found, err
	}
	if err := info.Claims(&found); err != nil {
		return found, err
	}
	if found.Subject != id.Subject {
		return found, errSubject
	}
	return found, nil
}

// finish returns to the client with a code for a federated person, or with the error.
func (p *Provider) finish(w http.ResponseWriter, r *http.Request, a away, found attributes, err error) {
	if err != nil || found.Subject == "" || found.Email == "" {
		slog.Warn("the answer of a customer's provider is refused", "provider", a.provider, "error", err)
		back(w, r, a.request, url.Values{"error": {"invalid_request"}})
		return
	}
	// The pool has not verified the address: the connection speaks for its domains only.
	u := User{Subject: a.provider + "_" + found.Subject, Email: strings.ToLower(found.Email), Name: found.Name,
		Connection: a.provider, Groups: found.Groups, Unverified: true}
	p.mu.Lock()
	p.kept.Users[u.Subject] = u
	err = p.save()
	p.mu.Unlock()
	if err != nil {
		slog.Error("a person is not kept", "error", err)
	}
	now := p.o.Now()
	p.grant(w, r, a.request, session{u, now, now.Add(sessionLifetime)})
}
