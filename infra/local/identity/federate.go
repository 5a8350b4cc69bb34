package identity

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/crewjam/saml"
	"github.com/crewjam/saml/samlsp"
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

// names returns the names of the providers of customers that people can choose.
func (p *Provider) names() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.kept.Offered))
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

var (
	errNonce    = errors.New("identity: the ID token has another nonce")
	errSubject  = errors.New("identity: the userinfo endpoint names another person")
	errMetadata = errors.New("identity: the metadata names no provider with an address for requests by redirect")
)

// maxMetadata bounds a document of metadata.
const maxMetadata = 1 << 20

// The attributes of assertions, as the pool maps them.
const (
	emailAttribute  = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress"
	nameAttribute   = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name"
	groupsAttribute = "groups"
)

// describe returns the service provider for the metadata of a SAML provider.
func (p *Provider) describe(ctx context.Context, of connection.Provider) (*saml.ServiceProvider, error) {
	text := []byte(of.Metadata)
	if of.MetadataURL != "" {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, of.MetadataURL, nil)
		if err != nil {
			return nil, err
		}
		resp, err := p.o.Outside.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		defer func() { _ = resp.Body.Close() }()
		if text, err = io.ReadAll(io.LimitReader(resp.Body, maxMetadata)); err != nil {
			return nil, err
		}
	}
	if err := shallow(text); err != nil {
		return nil, err
	}
	metadata, err := samlsp.ParseMetadata(text)
	if err != nil {
		return nil, err
	}
	acs, err := url.Parse(p.o.Issuer + "/saml2/idpresponse")
	if err != nil {
		return nil, err
	}
	sp := &saml.ServiceProvider{EntityID: "urn:amazon:cognito:sp:" + path.Base(p.o.Issuer), AcsURL: *acs,
		IDPMetadata: metadata, AuthnNameIDFormat: saml.UnspecifiedNameIDFormat}
	if sp.GetSSOBindingLocation(saml.HTTPRedirectBinding) == "" {
		return nil, errMetadata
	}
	return sp, nil
}

// samlRequest returns the address at a SAML provider where the sign-in begins, and the id of its request.
func (p *Provider) samlRequest(ctx context.Context, of connection.Provider, state string, again bool) (to, id string,
	err error) {
	sp, err := p.describe(ctx, of)
	if err != nil {
		return "", "", err
	}
	sp.ForceAuthn = &again
	req, err := sp.MakeAuthenticationRequest(sp.GetSSOBindingLocation(saml.HTTPRedirectBinding),
		saml.HTTPRedirectBinding, saml.HTTPPostBinding)
	if err != nil {
		return "", "", err
	}
	at, err := req.Redirect(state, sp)
	if err != nil {
		return "", "", err
	}
	return at.String(), req.ID, nil
}

// samlResponse takes the answer of a SAML provider. The library verifies the signature, the audience, the times, and
// that the answer is the one to the request, which counts once.
func (p *Provider) samlResponse(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxMetadata)
	if err := shallowAnswer(r.PostFormValue("SAMLResponse")); err != nil {
		http.Error(w, "The answer of the provider cannot be read.", http.StatusBadRequest)
		return
	}
	a, of, ok := p.returned(r.PostFormValue("RelayState"))
	if !ok || of.Kind != connection.SAML {
		http.Error(w, "This sign-in was not started here, has ended or was used.", http.StatusBadRequest)
		return
	}
	sp, err := p.describe(r.Context(), of)
	if err != nil {
		p.finish(w, r, a, attributes{}, err)
		return
	}
	assertion, err := sp.ParseResponse(r, []string{a.id})
	if err != nil {
		var invalid *saml.InvalidResponseError
		if errors.As(err, &invalid) {
			err = fmt.Errorf("identity: %w", invalid.PrivateErr)
		}
		p.finish(w, r, a, attributes{}, err)
		return
	}
	p.finish(w, r, a, attributesOf(assertion), nil)
}

// attributesOf returns what an assertion says of its person.
func attributesOf(of *saml.Assertion) (found attributes) {
	if of.Subject != nil && of.Subject.NameID != nil {
		found.Subject = of.Subject.NameID.Value
	}
	for _, statement := range of.AttributeStatements {
		for _, a := range statement.Attributes {
			for _, v := range a.Values {
				switch a.Name {
				case emailAttribute:
					found.Email = v.Value
				case nameAttribute:
					found.Name = v.Value
				case groupsAttribute:
					found.Groups = append(found.Groups, v.Value)
				}
			}
		}
	}
	return found
}

// maxDepth and maxTokens bound a document of SAML. Real ones have a depth of about 10.
const (
	maxDepth  = 50
	maxTokens = 50_000
)

var errDeep = errors.New("identity: the document is nested too deeply, or has too many elements")

// shallow returns an error unless a document is one that a parser of trees reads in a short time. It keeps no tree.
func shallow(document []byte) error {
	read, depth := xml.NewDecoder(bytes.NewReader(document)), 0
	for range maxTokens {
		token, err := read.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
		if depth > maxDepth {
			return errDeep
		}
	}
	return errDeep
}

// shallowAnswer is shallow for an answer as forms send it.
func shallowAnswer(text string) error {
	document, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return err
	}
	return shallow(document)
}
