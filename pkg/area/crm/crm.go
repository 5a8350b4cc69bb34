// Package crm holds the operations on integrations with CRMs, and receives the browsers and the webhooks that come from
// CRMs. Service.Register in operations.go has the operations, Record in integration.go what is stored, and Worker the
// tasks.
package crm

import (
	"context"
	"io"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Service connects integrations.
type Service struct {
	db      *store.DB
	audit   httpapi.Recorder // for the ends of authorizations
	systems *Systems
	vault   social.Vault
	secret  seal.Secret // signs the states of authorizations
	urls    safehttp.Checker
	now     func() time.Time
	random  io.Reader
}

// NewService returns the service.
func NewService(db *store.DB, audit httpapi.Recorder, systems *Systems, vault social.Vault,
	secret seal.Secret, urls safehttp.Checker, now func() time.Time, random io.Reader) *Service {
	return &Service{db, audit, systems, vault, secret, urls, now, random}
}

// Open opens the service of a function.
func Open(e area.Env) *Service {
	client := e.Client(safehttp.Options{MaxBody: MaxAnswer})
	c := Config{HTTP: client, Endpoint: e.PlatformEndpoint, Now: e.Now}
	if e.Apps != nil {
		c.Apps = social.NewApps(e.Apps, e.Now).Get
	}
	return NewService(e.DB, e.Audit, NewSystems(c), social.Vault{Envelope: e.Envelope, DB: e.DB}, e.Seal,
		client, e.Now, e.Random)
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) { Open(e).Register(r) }

// find reads an integration of the caller, with its counts.
func (s *Service) find(ctx context.Context, integrationID string, match ...httpapi.IfMatch) (r Record,
	it store.Item, err error) {
	it, counts, err := resource.FindWith(ctx, s.db, id.Integration, Kind, integrationID, CountKeys(integrationID)...)
	if err != nil {
		return r, it, err
	}
	if r, err = Decode(&it); err != nil {
		return r, it, err
	}
	r.Counts = CountsOf(counts)
	return r, it, httpapi.Matches(r.Version, match)
}

// invalidState returns the error of an operation that the state of the integration does not permit.
func invalidState(r *Record, message string, allowed ...string) error {
	return errs.New(errs.InvalidState, "%s", message).In(string(r.State), allowed...)
}
