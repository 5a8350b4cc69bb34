package webhook

import (
	"slices"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/tenant"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// SetMaker records who makes the webhook.
func (r *WebhookRecord) SetMaker(p *auth.Principal) {
	r.CreatedBy = p.Actor.ID
	if p.Actor.Kind == auth.Person {
		r.MakerScopes = append([]auth.Scope{}, p.Scopes...)
	}
}

// MakerKey is the key of the item that has the scopes of the maker if the maker is an API
// key. A person has no such item.
func MakerKey(account tenant.Account, maker string) store.Key {
	return credential.KeyOf(account, maker)
}

// Reader holds the scopes with which the maker of a webhook reads events.
type Reader []auth.Scope

// Reader returns the scopes of the maker, by its item. A key that has expired or was revoked counts with its last
// scopes, so that replacing a key stops no webhook. An unknown key has no scopes.
func (r *WebhookRecord) Reader(maker store.Item) (Reader, error) {
	if r.MakerScopes != nil || maker.Kind == "" || maker.SK != r.CreatedBy {
		return r.MakerScopes, nil
	}
	var k keyrecord.Record
	err := maker.Decode(&k)
	return Reader(k.Scopes), err
}

// May reports whether the maker may read events of the type.
func (r Reader) May(t event.Type) bool { return t.Readable(r) }

// Lacking returns those scopes that read events of the maker and that the others lack.
func (r Reader) Lacking(others []auth.Scope) (lacking []auth.Scope) {
	for _, known := range event.Types {
		if r.May(known.Type) && !known.Type.Readable(others) && !slices.Contains(lacking, known.Scope) {
			lacking = append(lacking, known.Scope)
		}
	}
	return lacking
}
