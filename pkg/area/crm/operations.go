// Package crm holds the operations on integrations with CRMs, and receives the browsers and the webhooks that come from
// CRMs. Service.Register in operations.go has the operations, Record in integration.go what is stored, and Worker the
// tasks.
package crm

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/crm/registry"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/record/profile"
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

	integrations *kind.Kind[Record]
}

// NewService returns the service. It makes no call.
func NewService(db *store.DB, audit httpapi.Recorder, systems *Systems, vault social.Vault,
	secret seal.Secret, urls safehttp.Checker, now func() time.Time, random io.Reader) *Service {
	return &Service{db, audit, systems, vault, secret, urls, now, random, integrations.On(db, now)}
}

var integrations = kind.Kind[Record]{Name: Kind, ID: id.Integration, Path: "/v1/integrations/{integration_id}",
	Function: "crm", Tag: "Integrations", Reads: auth.AccountRead, Writes: auth.AccountManage,
	Beside: func(_ tenant.Owner, integrationID string) []store.Key { return CountKeys(integrationID) },
	Load: func(_ context.Context, f *kind.Found[Record]) error {
		if len(f.Beside) > 0 { // a list reads them for all of its page
			f.Record.Counts = CountsOf(f.Beside)
		}
		return nil
	},
	Place: func(it *store.Item, r *Record) { r.place(it) }}

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

// invalidState returns the error of an operation that the state of the integration does not permit.
func invalidState(r *Record, message string, allowed ...string) error {
	return errs.New(errs.InvalidState, "%s", message).In(string(r.State), allowed...)
}

// MaxAnswer is the number of bytes of an answer of a CRM that the client has to read.
const MaxAnswer = 1<<20 + 1

// Config has the dependencies of the adapters. HTTP is the client for the addresses of callers, because the hosts of
// CRMs are named by them. Endpoint is for tests and the local system, in which the fake of a CRM has its name as path
// below the endpoint.
type Config struct {
	Apps     func(ctx context.Context, name string) (platform.App, error)
	HTTP     wire.Doer
	Endpoint string
	Now      func() time.Time
}

// Systems has the adapters of all CRMs, and the sandbox for test keys.
type Systems struct {
	apps          func(ctx context.Context, name string) (platform.App, error)
	live, sandbox map[string]crm.Adapter
}

// NewSystems returns the adapters.
func NewSystems(c Config) *Systems {
	s := &Systems{c.Apps, map[string]crm.Adapter{}, map[string]crm.Adapter{}}
	if s.apps == nil {
		s.apps = func(context.Context, string) (app platform.App, err error) { return app, nil }
	}
	for _, name := range registry.Names() {
		cfg := wire.Config{HTTP: c.HTTP, Now: c.Now,
			App: func(ctx context.Context) (platform.App, error) { return s.apps(ctx, name) }}
		if c.Endpoint != "" {
			cfg.BaseURL = c.Endpoint + "/" + name
		}
		s.live[name], _ = registry.Live(name, cfg)
		s.sandbox[name], _ = registry.Sandbox(name, c.Now)
	}
	return s
}

// Of returns the adapter of a CRM for a mode, or nil if there is none.
func (s *Systems) Of(m tenant.Mode, name string) crm.Adapter {
	if m == tenant.Live {
		return s.live[name]
	}
	return s.sandbox[name]
}

// Configured reports whether integrations can be connected by OAuth in a mode: the operator has an application.
func (s *Systems) Configured(ctx context.Context, m tenant.Mode, name string) (bool, error) {
	if m == tenant.Test {
		return true, nil
	}
	app, err := s.apps(ctx, name)
	return app.ID != "", err
}

// kindID is the id of a CRM.
type kindID string

// Schema describes the id in the OpenAPI document, and restricts requests to known ids.
func (kindID) Schema(huma.Registry) *huma.Schema { return httpapi.Enum(registry.Names()) }

type connectInput struct {
	Body connectBody
}

type listInput struct {
	httpapi.PageInput
	resource.MetadataFilter
	profile.Filter
	// Only integrations with these CRMs, separated by commas.
	Kind []kindID `query:"kind" filter:"kind" nullable:"false"`
	// Only integrations whose items are made in this factory.
	FactoryID string `query:"factory_id" filter:"factory_id"`
	// Only integrations in these states, separated by commas.
	State []string `query:"state" filter:"state" enum:"pending,connected,needs_reconnect,disconnected" nullable:"false"`
}

// Register adds the operations of the area to the router.
func (s *Service) Register(r *httpapi.Router) {
	httpapi.List(r, s.integrations.Op(httpapi.Op{ID: "listIntegrations", Summary: "List the integrations",
		Description: "Integrations with CRMs, newest first."}, http.MethodGet, "/v1/integrations"), s.list)
	httpapi.Write(r, s.integrations.Op(httpapi.Op{ID: "connectIntegration", Summary: "Connect an integration",
		Description: "By OAuth, the integration is `pending`: an administrator of the CRM opens `authorization_url` " +
			"in a browser within 30 minutes and grants access. Then it is `connected`. A Bitrix24 portal is " +
			"connected at once by the address of an incoming webhook in `webhook_url`; add an outgoing webhook to " +
			"`hook_url` there, for the changes of deals and products. With a test key no CRM is called: open " +
			"`authorization_url`.\n\nTo connect an integration again, such as one in state `needs_reconnect`, send " +
			"its `integration_id`. An account of a CRM is connected once.",
		Opens:  httpapi.Address | httpapi.Credential,
		Errors: []errs.Code{errs.NotFound, errs.WrongFactoryType, errs.Duplicate, errs.InvalidState}},
		http.MethodPost, "/v1/integrations"), s.connect)
	kind.Get(r, s.integrations, httpapi.Op{ID: "getIntegration", Summary: "Get an integration",
		Description: "Its state, its pipelines, the last synchronization and the last failure."}, s.view)
	kind.Update(r, s.integrations, httpapi.Op{ID: "updateIntegration", Summary: "Change an integration",
		Description: "Takes a JSON merge patch (RFC 7396). `mapping.products` imports the products of the CRM into " +
			"the factory, which is of type `seller`, and needs the scope products:write. Each entry of " +
			"`mapping.stages` makes a content item of a deal that enters the stage, once, and writes a note with the " +
			"result to the deal; it needs the scope content:write. The content is made on behalf of the caller who " +
			"has set the mapping: it counts toward the spend limit of that key, and is published automatically only " +
			"if that key has the scope content:publish.",
		Opens:        httpapi.Spending | httpapi.Publishing,
		Errors:       []errs.Code{errs.NotFound, errs.WrongFactoryType, errs.InvalidState},
		FixedMembers: map[string]string{"kind": "connect another integration", "pipelines": "change them in the CRM"}},
		s.changed, s.view)
	httpapi.Write(r, s.integrations.Op(httpapi.Op{ID: "syncIntegration", Summary: "Synchronize an integration",
		Description: "Reads all products and the changed deals of the CRM in the background. The service does it " +
			"every day, and reads a changed object when the CRM reports it. `last_sync` shows the end.",
		Status: http.StatusAccepted, Opens: httpapi.Nothing, Errors: []errs.Code{errs.InvalidState}},
		http.MethodPost, s.integrations.Path+"/sync"), s.sync)
	httpapi.Write(r, s.integrations.Op(httpapi.Op{ID: "disconnectIntegration", Summary: "Disconnect an integration",
		Description: "Its tokens are deleted here and revoked at the CRM, where the CRM can do that. Products and " +
			"content stay. The response shows the integration in state `disconnected`; it is deleted after 90 days."},
		http.MethodDelete, s.integrations.Path), s.disconnect)
}

// view returns an integration as callers see it.
func (s *Service) view(_ context.Context, f *kind.Found[Record]) (Integration, error) {
	return f.Record.View(s.now()), nil
}

func (s *Service) list(ctx context.Context, in *listInput) (page httpapi.Page[Integration], err error) {
	if page, err = kind.Page(ctx, s.integrations, in, s.view); err != nil || len(page.Items) == 0 {
		return page, err
	}
	var keys []store.Key
	for _, i := range page.Items {
		keys = append(keys, CountKeys(i.ID)...)
	}
	counts, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return page, err
	}
	each := len(keys) / len(page.Items)
	for n := range page.Items {
		page.Items[n].Counts = CountsOf(counts[n*each:])
	}
	return page, nil
}

func (s *Service) changed(ctx context.Context, tx *store.Tx, c *kind.Change[Record, patchBody]) error {
	if c.Was.State == Disconnected {
		return invalidState(c.Was, "The integration is disconnected. Connect it again first.", "connect")
	}
	changed, err := s.apply(ctx, c.Item.Owner, c.Was, c.Record)
	if err != nil || !changed || !c.Record.Usable() {
		return err
	}
	return c.Record.Sync(tx, c.Now, c.Item.Owner)
}

func (s *Service) sync(ctx context.Context, tx *store.Tx, in *httpapi.IfMatch) (out Integration, err error) {
	f, err := s.integrations.Find(ctx, httpapi.PathID(ctx), *in)
	if err != nil {
		return out, err
	}
	if !f.Record.Usable() {
		return out, invalidState(f.Record, "The integration is not connected. Connect it first.", "connect")
	}
	if err := f.Record.Sync(tx, s.now(), f.Item.Owner); err != nil {
		return out, err
	}
	if err := s.integrations.Replace(tx, f); err != nil {
		return out, err
	}
	return s.view(ctx, f)
}

func (s *Service) disconnect(ctx context.Context, tx *store.Tx, in *httpapi.IfMatch) (out Integration, err error) {
	f, err := s.integrations.Find(ctx, httpapi.PathID(ctx), *in)
	if err == nil && f.Record.State != Disconnected {
		err = f.Record.Disconnect(ctx, s.db, tx, s.now(), f.Item)
	}
	if err != nil {
		return out, err
	}
	return s.view(ctx, f)
}

var (
	_ = format.Define("crm-token", format.Format{Pattern: "^[0-9A-Za-z]+$", Wanted: "a token of letters and digits",
		Longest: 100})
	_ = format.Define("bitrix24-webhook", format.Format{Longest: 500,
		Example: "https://acme.bitrix24.ru/rest/1/xxxxxxxxxxxxxxxx/"})
	_ = format.Define("product-template", format.Format{Shortest: 1, Longest: 2000, Example: "Present our new product"})
	_ = format.Define("deal-template", format.Format{Shortest: 1, Longest: 2000,
		Example: "A case study: what the customer needed, and what we delivered"})
)

type connectBody struct {
	profile.ProfileMember
	// CRM. Send this or integration_id.
	Kind kindID `json:"kind,omitempty" example:"bitrix24"`
	// Id of an integration to connect again. Send this or kind.
	IntegrationID string `json:"integration_id,omitempty" maxLength:"64" example:"int_01h455vb4pex5vsknk084sn02q"`
	// Factory that gets the products and makes the content.
	FactoryID string `json:"factory_id,omitempty" maxLength:"64" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// bitrix24: host of the portal; required without webhook_url. amocrm: host of the account, only if it is at
	// kommo.com.
	Portal string `json:"portal,omitempty" maxLength:"253" example:"acme.bitrix24.ru"`
	// bitrix24: address of an incoming webhook with the permission crm. It is kept as a secret.
	WebhookURL string `json:"webhook_url,omitempty" format:"bitrix24-webhook"`
	// bitrix24: token of the outgoing webhook. Webhooks without it are refused. Needs webhook_url.
	ApplicationToken string `json:"application_token,omitempty" format:"crm-token"`
	// What the integration does with products and stages. Absent: nothing, until it is changed.
	Mapping *mappingBody `json:"mapping,omitempty"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type patchBody struct {
	// Factory that gets the products and makes the content. It cannot change after products were imported.
	FactoryID *string `json:"factory_id,omitempty" maxLength:"64" nullable:"true"`
	// What the integration does with products and stages.
	Mapping *mappingBody `json:"mapping,omitempty"`
	// Pairs to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

type mappingBody struct {
	// What is done with products. Absent: nothing.
	Products *productsBody `json:"products,omitempty"`
	// All stages that make content. A deal makes one item in each of them, once.
	Stages []Stage `json:"stages,omitempty" nullable:"false" maxItems:"20"`
}

func (b *mappingBody) mapping() (m Mapping) {
	if b.Products != nil {
		m.Products = Products(*b.Products)
	}
	m.Stages = b.Stages
	return m
}

type productsBody struct {
	// Whether the products of the CRM become products of the factory, which is of type seller. A product that is
	// deleted in the CRM is archived.
	Import bool `json:"import,omitempty"`
	// Kind of the content that is made of a product that is added to the CRM later. Null: none is made.
	Kind *string `json:"kind,omitempty" enum:"post,video,carousel,story" nullable:"true" example:"carousel"`
	// Prompt of that content, which presents the product.
	Template *string `json:"template,omitempty" format:"product-template" nullable:"true"`
}

// Rules refuses a body that names no CRM.
func (b connectBody) Rules() error {
	if (b.Kind == "") == (b.IntegrationID == "") {
		return errs.Invalid("/kind", "send kind, which is one of %s, or the integration_id of an integration to "+
			"connect again, not both", strings.Join(registry.Names(), ", "))
	}
	return nil
}

var (
	host    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([a-z0-9-]{1,63}\.)+[a-z]{2,63}$`) })
	webhook = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/rest/[0-9]+/[0-9A-Za-z]+/?$`) })
)

// check refuses members that the CRM does not take, and the lack of members that it needs.
func (b connectBody) check(f crm.Facts, test bool) error {
	var found []error
	portal := strings.ToLower(b.Portal)
	switch {
	case b.Portal != "" && !f.Portal && !f.Site:
		found = append(found, errs.Invalid("/portal", "is not used to connect %s. Leave it out", f.Label))
	case b.Portal != "" && !host().MatchString(portal):
		found = append(found, errs.Invalid("/portal", "is not the name of a host; write it as acme.bitrix24.ru"))
	case b.Portal != "" && b.WebhookURL != "":
		found = append(found, errs.Invalid("/portal", "is part of webhook_url. Leave it out"))
	case b.Portal == "" && f.Portal && b.WebhookURL == "" && !test:
		found = append(found, errs.Invalid("/portal", "is missing: send the host of the portal, or webhook_url"))
	}
	switch u, err := url.Parse(b.WebhookURL); {
	case b.WebhookURL == "":
	case !f.Address:
		found = append(found, errs.Invalid("/webhook_url", "is not used to connect %s. Leave it out", f.Label))
	case err != nil || !webhook().MatchString(u.Path) || u.RawQuery != "" || u.User != nil:
		found = append(found, errs.Invalid("/webhook_url", "is not the address of an incoming webhook; write it as "+
			"https://acme.bitrix24.ru/rest/1/xxxxxxxxxxxxxxxx/"))
	}
	if b.ApplicationToken != "" && b.WebhookURL == "" {
		found = append(found, errs.Invalid("/application_token", "needs webhook_url"))
	}
	return errs.All(found...)
}
