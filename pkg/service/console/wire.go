package console

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"time"

	customer "github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/area/audit/chain"
	"github.com/content-automation/api/pkg/area/erasure"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/record/admission"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
)

// Wiring has what the account area is made from.
type Wiring struct {
	DB *store.DB
	// Seal is the system's secret.
	Seal   seal.Secret
	SignIn signin.Settings
	// URL is the address of the account area as browsers use it, and API that of the API as this program reaches it.
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
		URL: w.URL, API: w.API, HTTP: w.HTTP, Documents: w.Documents, Sessions: session.New(w.DB, w.Seal, w.Now),
		Issuer:      signin.NewClient(w.SignIn),
		Connections: connection.NewService(w.DB, w.Now, rand.Reader, w.Resolver, w.Pool), SignIn: w.SignIn,
		Erasures: erasure.NewService(w.DB, w.Now),
		Verifier: signin.New(w.SignIn, w.Now), Seal: w.Seal, Now: w.Now,
		RoleOf: func(ctx context.Context, account tenant.Account, personID string) (auth.Role, error) {
			r, _, err := people.Find(ctx, account, personID)
			if errs.CodeOf(err) == errs.NotFound || err == nil && r.State != person.Active {
				return "", nil
			}
			return r.Role, err
		},
		SetEmergency: func(ctx context.Context, account tenant.Account, personID string, on bool) error {
			_, err := people.SetBreakGlass(ctx, account, personID, on)
			return err
		},
		Mails: w.Mails, Watch: people.Watch, Choose: people.Choose, OpenLeave: people.OpenLeave,
		PersonOf: func(ctx context.Context, account tenant.Account, personID string) (person.Record, error) {
			r, _, err := people.Find(ctx, account, personID)
			return r, err
		},
		EndKey: func(ctx context.Context, account tenant.Account, keyID string) error {
			keys := apikey.NewService(w.DB, customer.NewService(w.DB, w.Now), w.Now, rand.Reader)
			_, err := keys.End(ctx, account, keyID)
			if c := errs.CodeOf(err); c == errs.NotFound || c == errs.InvalidState {
				return nil
			}
			return err
		},
		Audit: func(ctx context.Context, account tenant.Account, by auth.Actor, e chain.Entry) error {
			return chain.Write(ctx, w.Audit, w.Region, tenant.Of(account, tenant.Live), by, e)
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

// Refusal is the error of an identity that nobody has admitted.
type Refusal struct {
	Message string
	*admission.Refusal
}

// Error returns the message.
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
