package crm

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/crm/registry"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// kindID is the id of a CRM.
type kindID string

// Schema describes the id in the OpenAPI document, and restricts requests to known ids.
func (kindID) Schema(huma.Registry) *huma.Schema { return httpapi.Enum(registry.Names()) }

type connectInput struct {
	Body connectBody
}

// Path is the path of one integration.
type Path struct {
	// Id of the integration.
	ID string `path:"integration_id" example:"int_01h455vb4pex5vsknk084sn02q"`
}

type listInput struct {
	httpapi.PageInput
	resource.Tagged
	profile.Filter
	// Only integrations with these CRMs, separated by commas.
	Kind []kindID `query:"kind" nullable:"false"`
	// Only integrations whose items are made in this factory.
	FactoryID string `query:"factory_id"`
	// Only integrations in these states, separated by commas.
	State []string `query:"state" enum:"pending,connected,needs_reconnect,disconnected" nullable:"false"`
}

type patchInput struct {
	Path
	httpapi.IfMatch
	Body patchBody
}

type changeInput struct {
	Path
	httpapi.IfMatch
}

// Register adds the operations of the area to the router.
func (s *Service) Register(r *httpapi.Router) {
	const collection, one = "/v1/integrations", "/v1/integrations/{integration_id}"
	op := httpapi.Ops("crm", "Integrations")
	list := op("listIntegrations", http.MethodGet, collection, auth.AccountRead, "List the integrations",
		"Integrations with CRMs, newest first.").Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)

	connect := op("connectIntegration", http.MethodPost, collection, auth.AccountManage, "Connect an integration",
		"By OAuth, the integration is `pending`: an administrator of the CRM opens `authorization_url` in a browser "+
			"within 30 minutes and grants access. Then it is `connected`. A Bitrix24 portal is connected at once by "+
			"the address of an incoming webhook in `webhook_url`; add an outgoing webhook to `hook_url` there, for "+
			"the changes of deals and products. With a test key no CRM is called: open `authorization_url`.\n\nTo "+
			"connect an integration again, such as one in state `needs_reconnect`, send its `integration_id`. An "+
			"account of a CRM is connected once.").Opening(httpapi.Address | httpapi.Credential)
	connect.Status = http.StatusCreated
	connect.Errors = []errs.Code{errs.NotFound, errs.WrongFactoryType, errs.Duplicate, errs.InvalidState}
	httpapi.Write(r, connect, s.connect)

	httpapi.Read(r, op("getIntegration", http.MethodGet, one, auth.AccountRead, "Get an integration",
		"Its state, its pipelines, the last synchronization and the last failure.").Opening(httpapi.Nothing), s.get)

	update := op("updateIntegration", http.MethodPatch, one, auth.AccountManage, "Change an integration",
		"Takes a JSON merge patch (RFC 7396). `mapping.products` imports the products of the CRM into the factory, "+
			"which is of type `seller`, and needs the scope products:write. Each entry of `mapping.stages` makes a "+
			"content item of a deal that enters the stage, once, and writes a note with the result to the deal; it "+
			"needs the scope content:write. The content is made on behalf of the caller who has set the mapping: it "+
			"counts toward the spend limit of that key, and is published automatically only if that key has the scope "+
			"content:publish.").Opening(httpapi.Spending | httpapi.Publishing)
	update.Errors = []errs.Code{errs.VersionMismatch, errs.NotFound, errs.WrongFactoryType, errs.InvalidState}
	update.Fixed = map[string]string{"kind": "connect another integration", "pipelines": "change them in the CRM"}
	httpapi.Write(r, update, s.update)

	sync := op("syncIntegration", http.MethodPost, one+"/sync", auth.AccountManage, "Synchronize an integration",
		"Reads all products and the changed deals of the CRM in the background. The service does it every day, and "+
			"reads a changed object when the CRM reports it. `last_sync` shows the end.").Opening(httpapi.Nothing)
	sync.Status = http.StatusAccepted
	sync.Errors = []errs.Code{errs.InvalidState, errs.VersionMismatch}
	httpapi.Write(r, sync, s.sync)

	disconnect := op("disconnectIntegration", http.MethodDelete, one, auth.AccountManage, "Disconnect an integration",
		"Its tokens are deleted here and revoked at the CRM, where the CRM can do that. Products and content stay. "+
			"The response shows the integration in state `disconnected`; it is deleted after 90 days.").
		Opening(httpapi.Deletion)
	disconnect.Errors = []errs.Code{errs.VersionMismatch}
	httpapi.Write(r, disconnect, s.disconnect)
}

func (s *Service) list(ctx context.Context, in *listInput) (page httpapi.Page[Integration], err error) {
	if in.FactoryID != "" && !id.Valid(id.Factory, in.FactoryID) {
		return page, errs.NotID("factory_id", "factory", in.FactoryID)
	}
	q := httpapi.AllOwned(ctx, Kind, in.Filter.Into(map[string]string{"factory_id": in.FactoryID,
		"kind": httpapi.AnyOf(in.Kind), "state": httpapi.AnyOf(in.State)}))
	in.Tagged.Into(&q)
	page, err = httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (Integration, error) {
		r, err := Decode(&it)
		return r.View(s.now()), err
	})
	if err != nil || len(page.Items) == 0 {
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

func (s *Service) get(ctx context.Context, in *Path) (Integration, error) {
	r, _, err := s.find(ctx, in.ID)
	return r.View(s.now()), err
}

func (s *Service) update(ctx context.Context, tx *store.Tx, in *patchInput) (out Integration, err error) {
	r, it, err := s.find(ctx, in.ID, in.IfMatch)
	if err != nil {
		return out, err
	}
	if r.State == Disconnected {
		return out, invalidState(&r, "The integration is disconnected. Connect it again first.", "connect")
	}
	set, err := httpapi.MergePatch(ctx, settings{r.FactoryID, r.Mapping, r.Metadata})
	if err != nil {
		return out, err
	}
	changed, err := s.apply(ctx, it.Owner, &r, set)
	if err != nil {
		return out, err
	}
	if changed && r.Usable() {
		if err := r.Sync(tx, s.now(), it.Owner); err != nil {
			return out, err
		}
	}
	if err := r.Save(tx, s.now(), it.Owner, it, ""); err != nil {
		return out, err
	}
	return r.View(s.now()), nil
}

func (s *Service) sync(ctx context.Context, tx *store.Tx, in *changeInput) (out Integration, err error) {
	r, it, err := s.find(ctx, in.ID, in.IfMatch)
	if err != nil {
		return out, err
	}
	if !r.Usable() {
		return out, invalidState(&r, "The integration is not connected. Connect it first.", "connect")
	}
	if err := r.Sync(tx, s.now(), it.Owner); err != nil {
		return out, err
	}
	if err := r.Save(tx, s.now(), it.Owner, it, ""); err != nil {
		return out, err
	}
	return r.View(s.now()), nil
}

func (s *Service) disconnect(ctx context.Context, tx *store.Tx, in *changeInput) (out Integration,
	err error) {
	r, it, err := s.find(ctx, in.ID, in.IfMatch)
	if err != nil {
		return out, err
	}
	if r.State != Disconnected {
		if err := r.Disconnect(ctx, s.db, tx, s.now(), it); err != nil {
			return out, err
		}
	}
	return r.View(s.now()), nil
}

// settings are the members of an integration that a caller sets.
type settings struct {
	FactoryID *string           `json:"factory_id"`
	Mapping   Mapping           `json:"mapping"`
	Metadata  resource.Metadata `json:"metadata"`
}
