//go:build !deployed

package e2e

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"html"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/content-automation/api/infra/local/edge"
	"github.com/content-automation/api/infra/local/standalone"
	"github.com/content-automation/api/infra/local/terminal"
	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/secret"
	"github.com/content-automation/api/pkg/record/connection"
	service "github.com/content-automation/api/pkg/service/api"
	"github.com/content-automation/api/testdata/fakes/crms"
)

// The names of the dedicated customer.
const privateName, publicName = "api.hooli.example", "public.hooli.example"

// authority issues certificates to servers and to clients.
type authority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, pool: x509.NewCertPool()}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &a.key.PublicKey, a.key)
	if err == nil {
		a.cert, err = x509.ParseCertificate(der)
	}
	if err != nil {
		t.Fatal(err)
	}
	a.pool.AddCert(a.cert)
	return a
}

// issue returns a certificate for names, or for a client without any, with its key, both in PEM.
func (a *authority) issue(names ...string) (certificate, key []byte) {
	a.t.Helper()
	of := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "one"}, DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}}
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, of, a.cert, &own.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		a.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
}

func (a *authority) pair(names ...string) tls.Certificate {
	a.t.Helper()
	pair, err := tls.X509KeyPair(a.issue(names...))
	if err != nil {
		a.t.Fatal(err)
	}
	return pair
}

// dedicated is a service whose callers show client certificates, with callers from outside.
type dedicated struct {
	t               *testing.T
	service         *standalone.Service
	demo            terminal.Demo
	address         string
	servers         *authority
	private, public string
	// fromInside counts the calls with the certificate of the service's own functions.
	fromInside atomic.Int64
}

// reach makes a transport find the two names at the edge.
func (d *dedicated) reach(transport *http.Transport, names ...string) *http.Transport {
	if transport.TLSClientConfig == nil {
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	transport.TLSClientConfig.RootCAs = d.servers.pool
	transport.DialContext = func(ctx context.Context, network, to string) (net.Conn, error) {
		for _, name := range names {
			if strings.HasPrefix(to, name+":") {
				return (&net.Dialer{}).DialContext(ctx, network, d.address)
			}
		}
		return nil, &net.DNSError{Err: "no such host", Name: to, IsNotFound: true}
	}
	d.t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// caller returns a client that shows the certificates, and follows no redirects.
func (d *dedicated) caller(shown ...tls.Certificate) *http.Client {
	transport := d.reach(&http.Transport{}, privateName, publicName)
	transport.TLSClientConfig.Certificates = shown
	return &http.Client{Transport: transport, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// newDedicated starts the service behind an edge. Its account area and its server for agents call the API by the
// private name; no other address of the API works inside.
func newDedicated(t *testing.T, clients *authority) *dedicated {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	d := &dedicated{t: t, address: listener.Addr().String(), servers: newAuthority(t),
		private: "https://" + privateName + ":" + port, public: "https://" + publicName + ":" + port}
	certificate, key := clients.issue()
	value, err := json.Marshal(secret.Certificate{Certificate: string(certificate), PrivateKey: string(key)})
	if err != nil {
		t.Fatal(err)
	}
	own := secret.Client(func(context.Context) (string, error) { return string(value), nil }, patience)
	d.reach(own.Transport.(*http.Transport), privateName)
	leaf, _ := pem.Decode(certificate)
	var api http.Handler
	d.service, err = standalone.Start(standalone.Options{URL: d.public, Private: d.private,
		Inside:  standalone.Inside{URL: d.private, HTTP: own},
		Compose: newComposer,
		Wrap: func(h http.Handler) http.Handler {
			api = h
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/_") || strings.HasPrefix(r.URL.Path, "/files/") { // other services of AWS
					h.ServeHTTP(w, r)
					return
				}
				t.Errorf("%s %s reaches the API beside the edge", r.Method, r.URL.Path)
				w.WriteHeader(http.StatusServiceUnavailable)
			})
		},
		Prepare: func(ctx context.Context, s *standalone.Service) (err error) {
			if d.demo, err = terminal.NewDemo(ctx, s.DB(), d.public, time.Now); err == nil {
				err = s.InviteUsers(ctx, tenant.Account(d.demo.Account))
			}
			return err
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.service.Stop)
	names := edge.Names{Private: privateName, Public: publicName, Authorities: clients.pool,
		Certificate: d.servers.pair(privateName, publicName), Open: service.OutsidePaths()}
	front := names.Handler(api)
	server := &http.Server{TLSConfig: names.TLS(), ReadHeaderTimeout: patience, ErrorLog: log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/_identity/") { // the user pool, which has a name of its own on AWS
				api.ServeHTTP(w, r)
				return
			}
			if shown := r.TLS.PeerCertificates; len(shown) > 0 && bytes.Equal(shown[0].Raw, leaf.Bytes) {
				d.fromInside.Add(1)
			}
			front.ServeHTTP(w, r)
		})}
	go func() { _ = server.ServeTLS(listener, "", "") }()
	t.Cleanup(func() { _ = server.Close() })
	return d
}

// send makes a call with headers, as pairs of name and value.
func (d *dedicated) send(c *http.Client, method, address, body string, headers ...string) (*http.Response, string) {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	resp, err := c.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return resp, string(text)
}

// ask makes a call of the API by the private name, whose data it decodes.
func (d *dedicated) ask(c *http.Client, method, path string, body, data any) {
	d.t.Helper()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			d.t.Fatal(err)
		}
	}
	resp, raw := d.send(c, method, d.private+path, string(text), "Content-Type", "application/json", "Authorization",
		"Bearer "+d.demo.Live)
	if err := json.Unmarshal([]byte(raw), &struct{ Data any }{data}); err != nil || resp.StatusCode >= 300 {
		d.t.Fatalf("%s %s answers %s %s, %v", method, path, resp.Status, raw, err)
	}
}

// A dedicated customer requires client certificates. Its callers call the private name; whoever has no certificate has
// the public name with paths of their own; and the account area and agents work though nobody calls the API there.
func TestACustomerWithClientCertificates(t *testing.T) {
	t.Parallel()
	clients := newAuthority(t)
	d := newDedicated(t, clients)
	caller, outside := d.caller(clients.pair()), d.caller()
	t.Run("the private name wants a certificate", func(t *testing.T) {
		for name, c := range map[string]*http.Client{"none": outside, "another's": d.caller(newAuthority(t).pair())} {
			if resp, err := c.Get(d.private + "/healthz"); err == nil {
				_ = resp.Body.Close()
				t.Errorf("with %s it answers %s", name, resp.Status)
			}
		}
		var me struct{ ID string }
		if d.ask(caller, http.MethodGet, "/v1/me", nil, &me); me.ID != d.demo.Account {
			t.Errorf("with a certificate: %+v", me)
		}
	})
	t.Run("the public name has no API", func(t *testing.T) {
		for _, path := range []string{"/v1/me", "/v1/social/accounts", "/mcp", "/healthz", "/openapi.json", "/v1"} {
			if resp, text := d.send(outside, http.MethodGet, d.public+path, "", "Authorization",
				"Bearer "+d.demo.Live); resp.StatusCode != http.StatusNotFound || text != "" {
				t.Errorf("%s answers %s %s", path, resp.Status, text)
			}
		}
		host := strings.TrimPrefix(d.private, "https://")
		if resp, _ := d.send(outside, http.MethodGet, d.public+"/v1/me", "", "Host", host, "Authorization",
			"Bearer "+d.demo.Live); resp.StatusCode != http.StatusForbidden {
			t.Errorf("the private name by a connection of the public one answers %s", resp.Status)
		}
	})
	t.Run("social accounts", func(t *testing.T) { d.connectsSocially(caller, outside) })
	t.Run("CRMs", func(t *testing.T) { d.takesHooks(caller, outside) })
	t.Run("a directory", func(t *testing.T) { d.servesDirectory(outside) })
	t.Run("a reviewer", func(t *testing.T) { d.showsReviewers(caller, outside) })
	t.Run("the account area", d.hasAnAccountArea)
	t.Run("agents", func(t *testing.T) { d.servesAgents(clients.pair()) })
}

// link finds the address that a page leads to.
var link = regexp.MustCompile(`<a class="go" href="([^"]+)"`)

func (d *dedicated) connectsSocially(caller, outside *http.Client) {
	var made socialAccount
	d.ask(caller, http.MethodPost, "/v1/social/accounts", object{"platform": "instagram"}, &made)
	if !strings.HasPrefix(made.AuthorizationURL, d.public+"/v1/social/callback?link=") {
		d.t.Fatalf("%+v", made)
	}
	shown, text := d.send(outside, http.MethodGet, made.AuthorizationURL, "")
	to := link.FindStringSubmatch(text)
	if shown.StatusCode != http.StatusOK || to == nil {
		d.t.Fatalf("the link answers %s %s", shown.Status, text)
	}
	resp, body := browse(d.t, http.MethodPost, html.UnescapeString(to[1]))
	back := resp.Header.Get("Location")
	if !strings.HasPrefix(back, d.public+"/v1/social/callback?") {
		d.t.Fatalf("the platform answers %s to %s: %s", resp.Status, back, body)
	}
	if resp, body := d.send(outside, http.MethodGet, back, "", "Cookie", cookies(shown)); resp.StatusCode !=
		http.StatusOK || !strings.Contains(body, "is connected") {
		d.t.Errorf("the callback answers %s %s", resp.Status, body)
	}
}

// cookies returns the cookies of a response, as a browser sends them.
func cookies(resp *http.Response) string {
	var all []string
	for _, c := range resp.Cookies() {
		all = append(all, c.Name+"="+c.Value)
	}
	return strings.Join(all, "; ")
}

func (d *dedicated) takesHooks(caller, outside *http.Client) {
	var shop struct{ ID string }
	d.ask(caller, http.MethodPost, "/v1/factories", object{"type": "seller", "name": "Shop",
		"settings": object{"currency": "EUR"}}, &shop)
	var made integration
	d.ask(caller, http.MethodPost, "/v1/integrations", object{"kind": "bitrix24", "factory_id": shop.ID,
		"webhook_url": d.service.Platforms + "/bitrix24/rest/1/" + crms.Secret + "/"}, &made)
	if !strings.HasPrefix(made.HookURL, d.public+"/integrations/hooks/") {
		d.t.Fatalf("%+v", made)
	}
	for address, want := range map[string]int{made.HookURL: http.StatusOK, made.HookURL + "x": http.StatusNotFound} {
		resp, body := d.send(outside, http.MethodPost, address, "event=ONCRMDEALUPDATE&data[FIELDS][ID]=1", "Content-Type",
			"application/x-www-form-urlencoded")
		if resp.StatusCode != want {
			d.t.Errorf("the hook %s answers %s %s", address, resp.Status, body)
		}
	}
	// HubSpot signs the address, which is that of the public name.
	const hook, body = "/integrations/hooks/hubspot", `[{"portalId":1,"objectId":1,"subscriptionType":"deal.creation"}]`
	stamp := strconv.FormatInt(time.Now().UnixMilli(), 10)
	for name, want := range map[string]int{d.public: http.StatusOK, d.private: http.StatusForbidden} {
		resp, text := d.send(outside, http.MethodPost, d.public+hook, body, "Content-Type", "application/json",
			"X-HubSpot-Request-Timestamp", stamp, "X-HubSpot-Signature-v3",
			crms.HubSignature(name+hook, []byte(body), stamp))
		if resp.StatusCode != want {
			d.t.Errorf("a hook signed for %s answers %s %s", name, resp.Status, text)
		}
	}
}

func (d *dedicated) servesDirectory(outside *http.Client) {
	connections := connection.NewService(d.service.DB(), time.Now, rand.Reader, nil, nil)
	name, account := "Okta", tenant.Account(d.demo.Account)
	c, err := connections.Create(d.t.Context(), account, connection.Settings{Name: &name})
	var token string
	if err == nil {
		token, err = connections.OpenDirectory(d.t.Context(), account, c.ID)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	noteSecret(token)
	if resp, text := d.send(outside, http.MethodGet, d.public+"/scim/v2/Users", "", "Authorization",
		"Bearer "+token); resp.StatusCode != http.StatusOK || !strings.Contains(text, "totalResults") {
		d.t.Errorf("SCIM answers %s %s", resp.Status, text)
	}
}

func (d *dedicated) showsReviewers(caller, outside *http.Client) {
	var factory, item struct{ ID, State string }
	d.ask(caller, http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "Blog"}, &factory)
	d.ask(caller, http.MethodPost, "/v1/content-items", object{"factory_id": factory.ID, "kind": "post",
		"prompt": "A walk by the sea"}, &item)
	poll.Until(d.t, "the post is generated", func() bool {
		d.ask(caller, http.MethodGet, "/v1/content-items/"+item.ID, nil, &item)
		return item.State == "generated"
	})
	var made struct{ URL string }
	d.ask(caller, http.MethodPost, "/v1/review-links", object{"content_item_ids": []string{item.ID}, "may": "decide"},
		&made)
	if !strings.HasPrefix(made.URL, d.public+"/review/") {
		d.t.Fatalf("%+v", made)
	}
	if resp, text := d.send(outside, http.MethodGet, made.URL, ""); resp.StatusCode != http.StatusOK ||
		!strings.Contains(text, item.ID) {
		d.t.Errorf("the review page answers %s %s", resp.Status, text)
	}
}

// requested is the hidden field of the local sign-in.
var requested = regexp.MustCompile(`name="request" value="([^"]*)"`)

// A person signs in by the public name, and sees a key that the API has listed.
func (d *dedicated) hasAnAccountArea(t *testing.T) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := d.caller()
	browser.Jar, browser.CheckRedirect = jar, nil
	pages := []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document", "Content-Type",
		"application/x-www-form-urlencoded"}
	resp, text := d.send(browser, http.MethodGet, d.public+"/auth/start?return=%2Fsettings%2Fapi-keys", "", pages...)
	field := requested.FindStringSubmatch(text)
	if field == nil {
		t.Fatalf("the sign-in answers %s at %s: %s", resp.Status, resp.Request.URL, text)
	}
	form := url.Values{"request": {html.UnescapeString(field[1])}, "email": {string(auth.Owner) + "@demo.example"},
		"password": {d.service.Password()}}
	before := d.fromInside.Load()
	resp, text = d.send(browser, http.MethodPost, d.public+"/_identity/login", form.Encode(), pages...)
	if resp.StatusCode != http.StatusOK || resp.Request.URL.String() != d.public+"/settings/api-keys" ||
		!strings.Contains(text, "Demo live") {
		t.Errorf("the account area answers %s at %s: %s", resp.Status, resp.Request.URL, text)
	}
	if d.fromInside.Load() == before {
		t.Error("the account area has not called the private name")
	}
}

// shown adds a credential to the requests of a transport.
type shown struct {
	bearer string
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper with the credential added.
func (s shown) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+s.bearer)
	return s.next.RoundTrip(r)
}

// An agent shows a certificate, and its tools call the API with that of the server.
func (d *dedicated) servesAgents(certificate tls.Certificate) {
	client := d.caller(certificate)
	client.Transport = shown{d.demo.Test, client.Transport}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "scripted", Version: "1"}, nil).Connect(d.t.Context(),
		&sdk.StreamableClientTransport{Endpoint: d.private + "/mcp", HTTPClient: client, DisableStandaloneSSE: true}, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	before := d.fromInside.Load()
	res, err := session.CallTool(d.t.Context(), &sdk.CallToolParams{Name: "account_overview", Arguments: object{}})
	if err != nil || res.IsError {
		d.t.Fatalf("%+v, %v", res, err)
	}
	if text := res.Content[0].(*sdk.TextContent).Text; !strings.Contains(text, "balance") ||
		d.fromInside.Load() == before {
		d.t.Errorf("the tool answers %s", text)
	}
}
