package identity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"

	"github.com/crewjam/saml"
	"github.com/crewjam/saml/samlsp"

	"github.com/content-automation/api/pkg/record/connection"
)

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
	if err := ShallowAnswer(r.PostFormValue("SAMLResponse")); err != nil {
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
