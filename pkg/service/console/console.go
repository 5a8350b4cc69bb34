// Package console serves the account area: the sign-in, and pages with keys, webhooks, events, the audit log, usage,
// social accounts and people. A page calls the API with the access token of its person, and has no other way to the
// data. Every form works without scripts.
package console

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	customer "github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/area/erasure"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/proxy"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/record/admission"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
)

// Options are the options of New.
type Options struct {
	Wiring
	Sessions *session.Store
	Issuer   *signin.Client
	Verifier *signin.Verifier
	// Admit returns the person of an identity that has signed in. It returns an *errs.Error with a public message if
	// nobody has admitted them.
	Admit func(context.Context, signin.Identity) (session.Person, error)
	// People are the people of accounts, and Keys their API keys.
	People *person.Service
	Keys   *apikey.Service
	// Record writes an entry of the audit log of an account.
	Record func(ctx context.Context, account tenant.Account, by auth.Actor, e auditlog.Entry) error
	// Erasures are the erasures of the account and its profiles.
	Erasures *erasure.Service
	// Connections are the sign-on connections of accounts.
	Connections *connection.Service
}

// site is the account area.
type site struct {
	Options
	prefix  string // of all paths: the stage of a gateway without a domain
	origin  *url.URL
	client  *http.Client
	corners corners
}

// APITimeout bounds a call of the API. The slowest operations answer within the gateway's 29 seconds.
const APITimeout = 25 * time.Second

// New returns the handler of the account area.
func New(o Options) (http.Handler, error) {
	origin, err := url.Parse(o.URL)
	if err != nil {
		return nil, err
	}
	s := &site{Options: o, prefix: strings.TrimSuffix(origin.Path, "/"), origin: origin,
		client: cmp.Or(o.HTTP, &http.Client{Timeout: APITimeout})}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /settings/assets/{name}", serveAsset)
	if o.SignIn.Issuer == "" {
		routes.HandleFunc("/", s.notSetUp)
		return s.secured(routes), nil
	}
	s.addSignIn(routes)
	open := func(pattern string, handle func(*request) error) { routes.HandleFunc(pattern, s.signedIn(handle)) }
	open("GET "+homePath, showToday)
	addSearch(open)
	open("GET "+continuePath, showKept)
	open("POST /settings/mode", chooseMode)
	open("POST /settings/language", chooseLanguage)
	open("POST /settings/explorer", guarded("/settings/api-keys", openExplorer))
	addKeys(open)
	addPages(open)
	addClients(open)
	addFeeds(open)
	addAudit(open)
	addUsage(open)
	addContent(open)
	addApprovals(open)
	addCalendar(open)
	addExperiments(open)
	addErasure(open)
	addProfile(open)
	addNotifications(open)
	s.addLeave(routes)
	addSignOn(open)
	addPrograms(open)
	s.addOAuth(routes)
	s.addSetup(routes)
	s.addCLI(routes, open)
	routes.HandleFunc("/", s.unknown)
	// A form of another site is refused by the headers that browsers send with it.
	protection := http.NewCrossOriginProtection()
	protection.AddInsecureBypassPattern("/oauth/") // no cookie counts there
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.failed(w, r, http.StatusForbidden, "This form was sent by another site. Open the page again and repeat.")
	}))
	return s.secured(protection.Handler(routes)), nil
}

// policy is the Content-Security-Policy of all pages.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// secured sets the headers of all answers, and leads requests for other names of the host to the address itself, where
// the cookies are.
func (s *site) secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header())
		if host := hostOf(r); host != s.origin.Host && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			to := *r.URL
			http.Redirect(w, r, s.URL+to.RequestURI(), http.StatusFound)
			return
		}
		most := int64(maxForm)
		if hasFile(r) {
			most = maxLogoForm
		}
		r.Body = http.MaxBytesReader(w, r.Body, most)
		next.ServeHTTP(w, r)
	})
}

// hasFile reports whether a form may have a file.
func hasFile(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data;")
}

// maxForm bounds the body of a form without files.
const maxForm = 128 << 10

// notSetUp answers every request of an account area that people cannot sign in to.
func (s *site) notSetUp(w http.ResponseWriter, r *http.Request) {
	s.failedAs(w, r, nil, http.StatusServiceUnavailable, messageNotSetUp)
}

const messageNotSetUp = "Sign-in is not set up here, so the account area is closed. The API works with keys."

func (s *site) unknown(w http.ResponseWriter, r *http.Request) {
	s.failed(w, r, http.StatusNotFound, "There is no such page.")
}

// Wiring has what the account area is made from.
type Wiring struct {
	DB *store.DB
	// Seal is the system's secret. It seals the state of sign-ins in progress, too.
	Seal seal.Secret
	// SignIn is the issuer that the connections of accounts are federated into.
	SignIn signin.Settings
	// URL is the address of the account area as browsers use it, without a slash at its end. API is the address at
	// which this program reaches the API.
	URL, API string
	// HTTP calls the API. The default has no client certificate.
	HTTP *http.Client
	Now  func() time.Time
	// Pool federates the providers of customers. Without it no provider can be set up.
	Pool connection.Pool
	// Resolver looks up the TXT records of domains. If it is nil, the system's does.
	Resolver connection.Resolver
	// Documents fetches the documents that describe programs.
	Documents DocumentClient
	// Audit is the table of the audit log, and Region the region that writes it.
	Audit  *store.DB
	Region string
	// Mails reports that the stack sends e-mails to people.
	Mails bool
}

// Open returns the handler of the account area of a service.
func Open(w Wiring) (http.Handler, error) {
	if w.Resolver == nil {
		w.Resolver = net.DefaultResolver
	}
	people := person.NewService(w.DB, w.Now, nil)
	admissions := admission.NewService(w.DB, people, w.Now)
	return New(Options{
		Wiring: w, Sessions: session.New(w.DB, w.Seal, w.Now), Issuer: signin.NewClient(w.SignIn),
		Verifier: signin.New(w.SignIn, w.Now), People: people, Erasures: erasure.NewService(w.DB, w.Now),
		Keys:        apikey.NewService(w.DB, customer.NewService(w.DB, w.Now), w.Now, rand.Reader),
		Connections: connection.NewService(w.DB, w.Now, rand.Reader, w.Resolver, w.Pool),
		Record: func(ctx context.Context, account tenant.Account, by auth.Actor, e auditlog.Entry) error {
			return auditlog.Write(ctx, w.Audit, w.Region, tenant.Of(account, tenant.Live), by, e)
		},
		Admit: func(ctx context.Context, who signin.Identity) (session.Person, error) {
			a, err := admissions.Admit(ctx, who)
			var refusal *admission.Refusal
			if errors.As(err, &refusal) {
				return session.Person{}, &Refusal{refusals[refusal.Reason], refusal}
			}
			return session.Person{ID: a.ID, Account: a.Account, Name: a.Name, Email: a.Email}, err
		},
	})
}

// role returns the role that a person has now, and an empty one for a person who has no access.
func (s *site) role(ctx context.Context, account tenant.Account, personID string) (auth.Role, error) {
	r, _, err := s.People.Find(ctx, account, personID)
	if errs.CodeOf(err) == errs.NotFound || err == nil && r.State != person.Active {
		return "", nil
	}
	return r.Role, err
}

// endKey revokes an API key of an account. One that was revoked before is no error.
func (s *site) endKey(ctx context.Context, account tenant.Account, keyID string) error {
	_, err := s.Keys.End(ctx, account, keyID)
	if c := errs.CodeOf(err); c == errs.NotFound || c == errs.InvalidState {
		return nil
	}
	return err
}

// Refusal is the error of an identity that nobody has admitted.
type Refusal struct {
	Message string
	*admission.Refusal
}

// Error is the message with the package, for the log.
func (r *Refusal) Error() string { return "console: not admitted: " + r.Message }

// refusals are the messages for those who are not admitted. They tell nothing about other people.
var refusals = map[admission.Reason]string{
	admission.Unverified: "Your e-mail address is not verified. Verify it at your sign-in service, or ask the owner " +
		"of your account.",
	admission.Uninvited: "You are not a person of any account, or your invitation has expired. Ask the owner of your " +
		"account for an invitation.",
	admission.Elsewhere: "Your company requires single sign-on. Continue with its provider.",
	admission.Unconfirmed: "The provider of your company has been set up or replaced. An owner of the account " +
		"confirms it first, signed in another way.",
	admission.Conflict: "You have signed in to this account in another way before. Sign in that way, or ask the " +
		"owner of your account.",
}

// opened is the handler of an address, which is made at its first event.
type opened struct {
	open func(base string) (http.Handler, error)

	mu      sync.Mutex
	base    string
	handler http.Handler
}

func (o *opened) at(base string) (http.Handler, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.handler == nil || o.base != base {
		handler, err := o.open(base)
		if err != nil {
			return nil, err
		}
		o.base, o.handler = base, handler
	}
	return o.handler, nil
}

// Lambda adapts the account area to the events of API Gateway (payload format 1.0). Open returns the handler for the
// address that the browser uses.
func Lambda(open func(base string) (http.Handler, error)) func(context.Context,
	events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	o := &opened{open: open}
	return proxy.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The gateway's id replaces the id that the browser sent.
		gateway, _ := proxy.Gateway(r.Context())
		w.Header().Set("X-Request-Id", gateway.RequestID)
		handler, err := o.at(web.BaseURL(cmp.Or(r.Header.Get("Host"), r.Host), gateway.Stage))
		if err != nil {
			http.Error(w, messageUnavailable, http.StatusServiceUnavailable)
			return
		}
		handler.ServeHTTP(w, r)
	}))
}

// explorerLifetime is the lifetime of the key of the explorer, and explorerName its name.
const (
	explorerLifetime = time.Hour
	explorerName     = "Explorer"
)

// openExplorer makes a sandbox key for the explorer, in place of an earlier one, and leads there. The key is in the
// fragment of the address, which browsers send to no server; the explorer removes it from the address.
func openExplorer(r *request) error {
	a := r.api
	a.mode = tenant.Test
	if old := r.session.ExplorerKey; old != "" {
		revokeExplorerKey(r.Context(), a, old)
	}
	made, err := r.makeKey(tenant.Test, map[string]any{"name": explorerName, "scopes": auth.AllScopes(),
		"expires_at": r.site.Now().Add(explorerLifetime).UTC().Format(time.RFC3339)})
	if err != nil {
		return err
	}
	if err := r.site.Sessions.Change(r.Context(), r.session,
		func(s *session.Session) { s.ExplorerKey = made.ID }); err != nil {
		return err
	}
	http.Redirect(r.w, r.Request, r.site.prefix+"/api-docs/explorer#key="+url.QueryEscape(*made.Secret),
		http.StatusSeeOther)
	return nil
}

// revokeExplorerKey revokes the key of the explorer. If that fails, the key ends within the hour by itself.
func revokeExplorerKey(ctx context.Context, a api, id string) {
	err := a.change(ctx, http.MethodDelete, "/v1/api-keys/"+url.PathEscape(id), "end-"+id, nil, nil)
	var failed *failure
	if err != nil && (!errors.As(err, &failed) || failed.Status >= http.StatusInternalServerError) {
		slog.Warn("the key of the explorer was not revoked", "error", err)
	}
}
