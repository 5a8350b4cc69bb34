package apikey

import (
	"context"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/apikey/key"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
)

type createBody struct {
	Name        string            `json:"name" minLength:"1" maxLength:"100" pattern:"^[^\\x00-\\x1F\\x7F]*$" patternDescription:"free of control characters" doc:"Name of the key" example:"CRM integration"`
	Kind        tenant.Mode       `json:"kind" enum:"live,test" doc:"live: spends credits and publishes. test: uses the sandbox. A test key can create test keys only" example:"test"`
	Scopes      []auth.Scope      `json:"scopes" minItems:"1" maxItems:"13" nullable:"false" doc:"Scopes of the key. The calling key must have all of them"`
	IPAllowList []string          `json:"ip_allow_list,omitempty" maxItems:"50" nullable:"false" doc:"Address ranges (CIDR, IPv4 or IPv6) that may use the key. Empty: all" example:"[\"203.0.113.0/24\"]"`
	ExpiresAt   *time.Time        `json:"expires_at,omitempty" nullable:"true" doc:"Time at which the key expires (RFC 3339). Absent or null: never"`
	SpendLimit  *int64            `json:"spend_limit_credits,omitempty" nullable:"true" minimum:"0" maximum:"1000000000000" doc:"Credits that the key may spend in a calendar month (UTC). A call that would spend more fails with 402 spend_limit_reached. Test keys spend none. Absent or null: no limit of its own" example:"5000"`
	Metadata    resource.Metadata `json:"metadata,omitempty" doc:"Up to 20 key-value pairs of your own"`
}

// SchemaName names the schema in the OpenAPI document.
func (createBody) SchemaName() string { return "ApiKeyCreate" }

type patchBody struct {
	Name        string                 `json:"name,omitempty" minLength:"1" maxLength:"100" pattern:"^[^\\x00-\\x1F\\x7F]*$" patternDescription:"free of control characters" doc:"Name of the key" example:"CRM integration"`
	Scopes      []auth.Scope           `json:"scopes,omitempty" minItems:"1" maxItems:"13" nullable:"false" doc:"Scopes of the key. The calling key must have all of them"`
	IPAllowList []string               `json:"ip_allow_list,omitempty" maxItems:"50" nullable:"true" doc:"Address ranges (CIDR, IPv4 or IPv6) that may use the key. Null or empty: all"`
	ExpiresAt   *time.Time             `json:"expires_at,omitempty" nullable:"true" doc:"Time at which the key expires. Null: never"`
	SpendLimit  *int64                 `json:"spend_limit_credits,omitempty" nullable:"true" minimum:"0" maximum:"1000000000000" doc:"Credits that the key may spend in a calendar month (UTC). A call that would spend more fails with 402 spend_limit_reached. Test keys spend none. Null: no limit of its own"`
	Metadata    resource.MetadataPatch `json:"metadata,omitempty" nullable:"true" doc:"Pairs to set. A null value removes that pair; null removes all"`
}

// SchemaName names the schema in the OpenAPI document.
func (patchBody) SchemaName() string { return "ApiKeyUpdate" }

type rotateBody struct {
	OverlapSeconds int `json:"overlap_seconds,omitempty" minimum:"0" maximum:"604800" default:"0" doc:"Time for which the old secret stays valid, in seconds" example:"3600"`
}

// SchemaName names the schema in the OpenAPI document.
func (rotateBody) SchemaName() string { return "ApiKeyRotate" }

// KeyPath is the part of the path that names a key. It is exported because huma
// reads exported fields only, embedded ones too.
type KeyPath struct {
	ID string `path:"api_key_id" doc:"Id of the key" example:"key_01h455vb4pex5vsknk084sn02q"`
}

type createInput struct {
	Body createBody
}

type patchInput struct {
	KeyPath
	httpapi.IfMatch
	Body patchBody
}

type deleteInput struct {
	KeyPath
	httpapi.IfMatch
}

type rotateInput struct {
	KeyPath
	httpapi.IfMatch
	Body *rotateBody
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	op := func(id, method, path, summary, description string) httpapi.Op {
		return httpapi.Op{
			ID: id, Method: method, Path: path, Scope: auth.AccountManage, Function: "apikey", Tag: "API keys",
			Summary: summary, Description: description,
		}
	}
	list := op("listApiKeys", http.MethodGet, "/v1/api-keys", "List the API keys", "Secrets are not included. A live key lists all keys of the account, a test key the test keys.")
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)

	create := op("createApiKey", http.MethodPost, "/v1/api-keys", "Create an API key", "Only this response contains the secret. Store it safely.")
	create.Status = http.StatusCreated
	create.Errors = []errs.Code{errs.ScopeEscalation, errs.InvalidState}
	create.Example = map[string]any{"name": "CRM integration", "kind": "test", "scopes": []string{"content:read", "content:write"}}
	httpapi.Write(r, create, s.create)

	httpapi.Read(r, op("getApiKey", http.MethodGet, "/v1/api-keys/{api_key_id}", "Get an API key", "Includes the time and address of its last use."), s.get)

	update := op("updateApiKey", http.MethodPatch, "/v1/api-keys/{api_key_id}", "Change an API key", "Takes a JSON merge patch (RFC 7396). Takes effect on the next request.")
	update.Errors = []errs.Code{errs.ScopeEscalation, errs.InvalidState, errs.VersionMismatch}
	update.Example = map[string]any{"name": "CRM integration, production", "ip_allow_list": []string{"203.0.113.0/24"}}
	httpapi.Write(r, update, s.update)

	revoke := op("revokeApiKey", http.MethodDelete, "/v1/api-keys/{api_key_id}", "Revoke an API key", "Takes effect on the next request and cannot be undone. The key stays in the list with the state `revoked`.")
	revoke.Errors = []errs.Code{errs.VersionMismatch}
	httpapi.Write(r, revoke, s.revoke)

	rotate := op("rotateApiKey", http.MethodPost, "/v1/api-keys/{api_key_id}/rotate", "Rotate the secret of an API key", "The old secret stays valid for `overlap_seconds`. The calling key must have all scopes of the rotated key. Only this response contains the new secret.")
	rotate.Status = http.StatusCreated
	rotate.Errors = []errs.Code{errs.ScopeEscalation, errs.InvalidState, errs.VersionMismatch}
	rotate.Example = map[string]any{"overlap_seconds": 3600}
	httpapi.Write(r, rotate, s.rotate)
}

func (s *Service) list(ctx context.Context, in *httpapi.PageInput) (httpapi.Page[Key], error) {
	p := auth.FromContext(ctx)
	q := store.Query{Index: store.Table, Partition: credential.Keys(p.Account), Filters: map[string]string{}}
	if p.Mode == tenant.Test {
		q.Filters["kind"] = string(tenant.Test)
	}
	return httpapi.ListItems(ctx, s.db, q, *in, func(it store.Item) (Key, error) {
		r, err := key.Read(&it, s.now())
		return r.Key, err
	})
}

func (s *Service) create(ctx context.Context, tx *store.Tx, in *createInput) (out NewKey, err error) {
	p := auth.FromContext(ctx)
	b := in.Body
	if p.Mode == tenant.Test && b.Kind != tenant.Test {
		e := errs.New(errs.ScopeEscalation, "A test key can create test keys only. Use a live key.")
		e.Param = "/kind"
		return out, e
	}
	set := Settings{b.Name, b.Scopes, b.IPAllowList, b.ExpiresAt, b.SpendLimit, b.Metadata}
	if err := s.mayGive(p, &set, nil); err != nil {
		return out, err
	}
	return s.Create(ctx, tx, p.Account, b.Kind, set, p.KeyID())
}

// mayGive refuses settings with scopes that the caller lacks. Their validity comes
// first: a misspelt scope is a mistake, not an attempt to gain one.
func (s *Service) mayGive(p *auth.Principal, set *Settings, end *time.Time) error {
	if err := s.validate(set, end); err != nil {
		return err
	}
	return p.RequireScopes(set.Scopes, "/scopes")
}

// find reads the key in the path of the call.
func (s *Service) find(ctx context.Context, in KeyPath, match ...httpapi.IfMatch) (key.Record, store.Item, error) {
	p := auth.FromContext(ctx)
	r, it, err := s.Find(ctx, p.Account, p.Mode, in.ID)
	if err == nil {
		err = httpapi.Matches(r.Version, match)
	}
	return r, it, err
}

// hold is find together with the account.
func (s *Service) hold(ctx context.Context, in KeyPath, match httpapi.IfMatch) (held, error) {
	p := auth.FromContext(ctx)
	h, err := s.FindHeld(ctx, p.Account, p.Mode, in.ID)
	if err == nil {
		err = match.Check(h.Version)
	}
	return h, err
}

func (s *Service) get(ctx context.Context, in *KeyPath) (Key, error) {
	r, _, err := s.find(ctx, *in)
	return r.Key, err
}

func (s *Service) update(ctx context.Context, tx *store.Tx, in *patchInput) (out Key, err error) {
	k, err := s.hold(ctx, in.KeyPath, in.IfMatch)
	if err != nil {
		return out, err
	}
	set, err := httpapi.MergePatch(ctx, Settings{k.Name, k.Scopes, k.IPAllowList, k.ExpiresAt, k.SpendLimit, k.Metadata})
	if err != nil {
		return out, err
	}
	if in.Body.Scopes != nil {
		if err := s.mayGive(auth.FromContext(ctx), &set, k.ExpiresAt); err != nil {
			return out, err
		}
	}
	return s.Update(tx, k, set)
}

func (s *Service) revoke(ctx context.Context, tx *store.Tx, in *deleteInput) (out Key, err error) {
	r, it, err := s.find(ctx, in.KeyPath, in.IfMatch)
	if err != nil {
		return out, err
	}
	return s.Revoke(tx, r, it)
}

func (s *Service) rotate(ctx context.Context, tx *store.Tx, in *rotateInput) (out NewKey, err error) {
	k, err := s.hold(ctx, in.KeyPath, in.IfMatch)
	if err != nil {
		return out, err
	}
	// Whoever rotates a key holds it afterwards.
	if err := auth.FromContext(ctx).RequireScopes(k.Scopes, ""); err != nil {
		return out, err
	}
	var overlap time.Duration
	if in.Body != nil {
		overlap = time.Duration(in.Body.OverlapSeconds) * time.Second
	}
	return s.Rotate(tx, k, overlap)
}
