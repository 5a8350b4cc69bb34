package console

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/xml"
	"html/template"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crewjam/saml"
)

// records are the TXT records of domains.
type records struct {
	mu    sync.Mutex
	texts map[string]string
}

// LookupTXT implements connection.Resolver.
func (r *records) LookupTXT(_ context.Context, name string) ([]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if text, ok := r.texts[strings.TrimSuffix(name, ".")]; ok {
		return []string{text}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (r *records) set(name, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts[name] = text
}

// customer is a SAML provider of a customer. Whoever comes gives an address, and is who they say.
type customer struct {
	saml.IdentityProvider
	groups []string
	// change changes an assertion before it is signed.
	change func(*saml.Assertion)
	of     *system
}

var samlPage = template.Must(template.New("").Parse(`<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>Provider of the customer</title><link rel="icon" href="data:,"></head><body><main><h1>Acme</h1>
<form>{{range $name, $value := .}}<input type="hidden" name="{{$name}}" value="{{index $value 0}}">{{end}}<label>Address <input name="email" type="email"></label><button>Go on</button></form></main></body>
</html>`))

// newCustomer starts the provider of a customer.
func newCustomer(t *testing.T, of *system) *customer {
	t.Helper()
	c := &customer{of: of, groups: []string{"everybody", "api-admins"}}
	c.Key, c.Certificate = newKey(t)
	c.Logger = log.New(io.Discard, "", 0)
	server := httptest.NewServer(http.HandlerFunc(c.IdentityProvider.ServeSSO))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL + "/sso")
	if err != nil {
		t.Fatal(err)
	}
	c.SSOURL, c.MetadataURL = *at, *at
	c.ServiceProviderProvider, c.SessionProvider, c.AssertionMaker = c, c, c
	return c
}

func newKey(t *testing.T) (*rsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return key, made
}

// metadata returns the document that the IT of the customer pastes.
func (c *customer) metadata(t *testing.T) string {
	t.Helper()
	text, err := xml.Marshal(c.Metadata())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// GetServiceProvider implements saml.ServiceProviderProvider.
func (c *customer) GetServiceProvider(_ *http.Request, _ string) (*saml.EntityDescriptor, error) {
	at, err := url.Parse(c.of.BaseURL + "/_identity/saml2/idpresponse")
	if err != nil {
		return nil, err
	}
	sp := saml.ServiceProvider{EntityID: "urn:amazon:cognito:sp:_identity", AcsURL: *at}
	return sp.Metadata(), nil
}

// GetSession implements saml.SessionProvider.
func (c *customer) GetSession(w http.ResponseWriter, r *http.Request, _ *saml.IdpAuthnRequest) *saml.Session {
	email := r.FormValue("email")
	if email == "" {
		_ = samlPage.Execute(w, r.URL.Query())
		return nil
	}
	now := saml.TimeNow()
	return &saml.Session{ID: "1", CreateTime: now, ExpireTime: now.Add(time.Hour), Index: "1", NameID: "id-of-" + email,
		UserEmail: email}
}

// MakeAssertion implements saml.AssertionMaker.
func (c *customer) MakeAssertion(req *saml.IdpAuthnRequest, s *saml.Session) error {
	value := func(name string, all ...string) saml.Attribute {
		a := saml.Attribute{Name: name}
		for _, v := range all {
			a.Values = append(a.Values, saml.AttributeValue{Type: "xs:string", Value: v})
		}
		return a
	}
	const claims = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/"
	s.CustomAttributes = []saml.Attribute{value(claims+"emailaddress", s.UserEmail), value(claims+"name", "Ada"),
		value("groups", c.groups...)}
	if err := (saml.DefaultAssertionMaker{}).MakeAssertion(req, s); err != nil {
		return err
	}
	if c.change != nil {
		c.change(req.Assertion)
	}
	return nil
}
