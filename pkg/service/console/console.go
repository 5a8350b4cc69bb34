// Package console serves the account area: the sign-in, and pages with keys, webhooks, events, the audit log, usage,
// social accounts and people. A page calls the API with the access token of its person, and has no other way to the
// data. Every form works without scripts.
package console

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/audit/chain"
	"github.com/content-automation/api/pkg/area/erasure"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/person"
)

// Options are the options of New.
type Options struct {
	// URL is the address of the account area as browsers use it, without a slash at its end. API is the address at
	// which this program reaches the API.
	URL, API string
	// HTTP calls the API. The default has no client certificate.
	HTTP     *http.Client
	Sessions *session.Store
	Issuer   *signin.Client
	Verifier *signin.Verifier
	// Admit returns the person of an identity that has signed in. It returns an *errs.Error with a public message if
	// nobody has admitted them.
	Admit func(context.Context, signin.Identity) (session.Person, error)
	// RoleOf returns the role that a person has now, and an empty one for a person who has no access.
	RoleOf func(ctx context.Context, account tenant.Account, personID string) (auth.Role, error)
	// SetEmergency lets an owner sign in without the connection that is required, or ends that.
	SetEmergency func(ctx context.Context, account tenant.Account, personID string, on bool) error
	// PersonOf returns the record of a person, and Choose changes what they get by e-mail.
	PersonOf func(ctx context.Context, account tenant.Account, personID string) (person.Record, error)
	Choose   func(ctx context.Context, account tenant.Account, personID string, change func(*person.Choices)) error
	// OpenLeave returns what the link of an e-mail permits, or person.ErrNoLeave.
	OpenLeave func(ctx context.Context, token string) (person.Leave, error)
	// Mails reports that people get e-mails. Watch starts the hourly look at an account.
	Mails bool
	Watch func(ctx context.Context, account tenant.Account) error
	// EndKey revokes an API key of an account. One that was revoked before is no error.
	EndKey func(ctx context.Context, account tenant.Account, keyID string) error
	// Audit writes an entry of the audit log of an account.
	Audit func(ctx context.Context, account tenant.Account, by auth.Actor, e chain.Entry) error
	// Erasures are the erasures of the account and its profiles.
	Erasures *erasure.Service
	// Connections are the sign-on connections of accounts, and SignIn the issuer that they are federated into.
	Connections *connection.Service
	SignIn      signin.Settings
	// Documents fetches the documents that describe programs.
	Documents DocumentClient
	// Seal is the secret that seals the state of sign-ins in progress.
	Seal seal.Secret
	Now  func() time.Time
}

// site is the account area.
type site struct {
	Options
	prefix  string // of all paths: the stage of a gateway without a domain
	origin  *url.URL
	pages   map[string]*page
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
	if s.pages, err = parsePages(); err != nil {
		return nil, err
	}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /settings/assets/{name}", serveAsset)
	if o.SignIn.Issuer == "" {
		routes.HandleFunc("/", s.notSetUp)
		return s.secured(routes), nil
	}
	s.addSignIn(routes)
	open := func(pattern string, handle func(*request) error) { routes.HandleFunc(pattern, s.signedIn(handle)) }
	open("GET "+homePath, showHome)
	open("POST /settings/mode", chooseMode)
	open("POST /settings/language", chooseLanguage)
	open("POST /settings/explorer", guarded("/settings/api-keys", openExplorer))
	addKeys(open)
	addMandates(open)
	addWebhooks(open)
	addEvents(open)
	addUsage(open)
	addSocial(open)
	addApplications(open)
	addIntegrations(open)
	addContent(open)
	addApprovals(open)
	addCalendar(open)
	addAutomations(open)
	addExperiments(open)
	addProfiles(open)
	addErasure(open)
	addPeople(open)
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
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		next.ServeHTTP(w, r)
	})
}

// maxForm bounds the body of a form.
const maxForm = 128 << 10

// notSetUp answers every request of an account area that people cannot sign in to.
func (s *site) notSetUp(w http.ResponseWriter, r *http.Request) {
	s.failedAs(w, r, nil, http.StatusServiceUnavailable, messageNotSetUp)
}

const messageNotSetUp = "Sign-in is not set up here, so the account area is closed. The API works with keys."

func (s *site) unknown(w http.ResponseWriter, r *http.Request) {
	s.failed(w, r, http.StatusNotFound, "There is no such page.")
}
