// Package social holds the operations on social accounts: connecting them to the platforms, and attaching them to
// factories. Service.Register in operations.go has the operations, and Record in account.go what is stored.
package social

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Service connects social accounts.
type Service struct {
	db        *store.DB
	platforms *Platforms
	vault     Vault
	secret    seal.Secret // signs the states of authorizations
	now       func() time.Time
	random    io.Reader
	audit     httpapi.Recorder // for the ends of authorizations
}

// NewService returns the service.
func NewService(db *store.DB, audit httpapi.Recorder, platforms *Platforms, vault Vault,
	secret seal.Secret, now func() time.Time, random io.Reader) *Service {
	return &Service{db, platforms, vault, secret, now, random, audit}
}

// Open opens the service of a function.
func Open(e area.Env) *Service {
	return NewService(e.DB, e.Audit, OpenPlatforms(e), Vault{Envelope: e.Envelope, DB: e.DB}, e.Seal, e.Now, e.Random)
}

// OpenPlatforms returns the adapters of a function.
func OpenPlatforms(e area.Env) *Platforms {
	c := PlatformsConfig{Endpoint: e.PlatformEndpoint, Now: e.Now, Only: e.Platforms}
	if e.Apps != nil {
		c.Apps = NewApps(e.Apps, e.Now).Get
	}
	return NewPlatforms(c)
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) { Open(e).Register(r) }

// find reads an account of the caller.
func (s *Service) find(ctx context.Context, accountID string, match ...httpapi.IfMatch) (Record,
	store.Item, error) {
	it, err := resource.Find(ctx, s.db, id.SocialAccount, Kind, accountID)
	if err != nil {
		return Record{}, it, err
	}
	r, err := Decode(&it)
	if err == nil {
		err = httpapi.Matches(r.Version, match)
	}
	return r, it, err
}

// maxLine bounds the letters of a text of a platform.
const maxLine = 200

// fill copies the platform's description of the account. The texts are untrusted data: they are
// cut, and the service never calls their addresses.
func fill(r *Record, a platform.Account) {
	r.PlatformID, r.Handle = a.ID, resource.Text(text.ClipLine(a.Handle, maxLine))
	r.DisplayName = resource.Text(text.ClipLine(a.Name, maxLine))
	r.AvatarURL = nil
	if strings.HasPrefix(a.AvatarURL, "https://") && len(a.AvatarURL) <= 2048 {
		r.AvatarURL = &a.AvatarURL
	}
}

// invalidState returns the error of an operation that the state of the account does not permit.
func invalidState(r *Record, message string, allowed ...string) error {
	return errs.New(errs.InvalidState, "%s", message).In(string(r.State), allowed...)
}
