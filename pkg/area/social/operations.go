package social

import (
	"context"
	"net/http"

	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

type connectInput struct {
	Body connectBody
}

// Path is the path of one account. It is exported because huma finds the parameters of embedded
// types only if the types are exported.
type Path struct {
	// Id of the social account.
	ID string `path:"social_account_id" example:"soc_01h455vb4pex5vsknk084sn02q"`
}

type disconnectInput struct {
	Path
	httpapi.IfMatch
	// Whether to disconnect an account that items are scheduled to. It is removed from them; an item without another
	// account is unscheduled.
	Force bool `query:"force"`
}

type attachInput struct {
	Path
	httpapi.IfMatch
	// Id of the factory.
	FactoryID string `path:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
}

type listInput struct {
	httpapi.PageInput
	resource.Tagged
	profile.Filter
	// Only accounts of these platforms, separated by commas.
	Platform []platformID `query:"platform" nullable:"false"`
	// Only accounts in these states, separated by commas.
	State []string `query:"state" enum:"pending,connected,needs_reconnect,disconnected" nullable:"false"`
	// Only accounts of this factory.
	FactoryID string `query:"factory_id"`
	// Only accounts that were connected with this application.
	ApplicationID string `query:"application_id"`
}

// Register adds the operations of the area to the router.
func (s *Service) Register(r *httpapi.Router) {
	const collection, one, attached = "/v1/social/accounts", "/v1/social/accounts/{social_account_id}",
		"/v1/factories/{factory_id}/social-accounts/{social_account_id}"
	op := httpapi.ScopedOps("social", "Social accounts", auth.SocialManage)
	platforms := op("listPlatforms", http.MethodGet, "/v1/social/platforms", "List the platforms",
		"The platforms, with what each takes and how an account is connected. An account of a platform that is not "+
			"`configured` cannot be connected.").Opening(httpapi.Nothing)
	platforms.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, platforms, s.listPlatforms)

	list := op("listSocialAccounts", http.MethodGet, collection, "List the social accounts", "Newest first.").
		Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)

	connect := op("connectSocialAccount", http.MethodPost, collection, "Connect a social account",
		"What to send depends on the platform's `connect`, see listPlatforms:\n\n"+
			"- `oauth2`: the account is `pending`. Its owner opens `authorization_url` in a browser within 30 "+
			"minutes and grants access. Where they have several pages or channels, they choose one; a `channel` in "+
			"the request chooses it before. Then the account is `connected`, and the event "+
			"`social_account.connected` is sent. With a test key no platform asks: open `authorization_url`.\n"+
			"- `bot_token`: send `bot_token` and `channel`. The account is `connected` at once.\n"+
			"- `password`: send `username` and `password`. The password is used once and not stored. The account is "+
			"`connected` at once. After 10 refused passwords of a user name within an hour, or 50 of all user names, "+
			"the answer is `rate_limited`.\n\n"+
			"To connect an account again, such as one in state `needs_reconnect`, send its `social_account_id`. It is "+
			"connected with the newest of your own applications, see createApplication, or else with that of the "+
			"operator. "+
			"Connecting an account of a platform that is connected already returns or updates that account: there is "+
			"never a second one.").Opening(httpapi.Address | httpapi.Credential)
	connect.Status = http.StatusCreated
	connect.Errors = []errs.Code{errs.NotFound, errs.InvalidState}
	httpapi.Write(r, connect, s.connect)

	httpapi.Read(r, op("getSocialAccount", http.MethodGet, one, "Get a social account", "").
		Opening(httpapi.Nothing), s.get)

	disconnect := op("disconnectSocialAccount", http.MethodDelete, one, "Disconnect a social account",
		"Its tokens are deleted here and revoked at the platform, where the platform can do that. It is detached "+
			"from its factories. An account that items are scheduled to is disconnected with `force=true` only. The "+
			"response shows the account in state `disconnected`; it is deleted after 90 days. Connecting the same "+
			"account of the platform before revives it.").Opening(httpapi.Deletion)
	disconnect.Errors = []errs.Code{errs.InvalidState, errs.VersionMismatch}
	httpapi.Write(r, disconnect, s.disconnect)

	attach := op("attachSocialAccount", http.MethodPut, attached, "Attach a social account to a factory",
		"The factory publishes to it from now on, unless a request names other accounts. An account may serve "+
			"several factories. Attaching it again changes nothing. `If-Match` takes the ETag of the account.").
		Opening(httpapi.Publishing)
	attach.Errors = []errs.Code{errs.InvalidState, errs.VersionMismatch}
	httpapi.Write(r, attach, s.attach)

	detach := op("detachSocialAccount", http.MethodDelete, attached, "Detach a social account from a factory",
		"What is scheduled to the account stays scheduled. Detaching it again changes nothing. `If-Match` takes the "+
			"ETag of the account.").Opening(httpapi.Deletion)
	detach.Errors = []errs.Code{errs.VersionMismatch}
	httpapi.Write(r, detach, s.detach)
	s.registerApplications(r)
	s.registerCreator(r)
	s.registerLookup(r)
}

func (s *Service) list(ctx context.Context, in *listInput) (httpapi.Page[Account], error) {
	filters := in.Filter.Into(map[string]string{"platform": httpapi.AnyOf(in.Platform),
		"state": httpapi.AnyOf(in.State)})
	if in.FactoryID != "" {
		filters[FactoryFilter(in.FactoryID)] = "yes"
	}
	if in.ApplicationID != "" {
		filters[applicationFilter] = in.ApplicationID
	}
	q := httpapi.AllOwned(ctx, Kind, filters)
	in.Tagged.Into(&q)
	return httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (Account, error) {
		r, err := Decode(&it)
		return r.View(), err
	})
}

func (s *Service) get(ctx context.Context, in *Path) (Account, error) {
	r, _, err := s.find(ctx, in.ID)
	return r.View(), err
}

func (s *Service) disconnect(ctx context.Context, tx *store.Tx, in *disconnectInput) (out Account, err error) {
	it, beside, err := resource.FindWith(ctx, s.db, id.SocialAccount, Kind, in.ID, ScheduledKey(in.ID))
	if err != nil {
		return out, err
	}
	r, err := Decode(&it)
	if err != nil {
		return out, err
	}
	if err := in.IfMatch.Check(r.Version); err != nil {
		return out, err
	}
	if r.State == Disconnected {
		return r.View(), nil
	}
	scheduled := beside[0].Count()
	if scheduled > 0 && !in.Force {
		return out, invalidState(&r, "Items are scheduled to the account, or are being published to it. Unschedule "+
			"them, or repeat the request with force=true.", "disconnect with force=true")
	}
	if !in.Force {
		tx.Counted(ScheduledKey(in.ID), scheduled)
	}
	if err := r.Disconnect(tx, s.now(), it); err != nil {
		return out, err
	}
	return r.View(), nil
}

// both reads a factory and an account of the caller.
func (s *Service) both(ctx context.Context, in *attachInput) (of, it store.Item, r Record, err error) {
	if !id.Valid(id.Factory, in.FactoryID) {
		return of, it, r, errs.Missing(factoryrecord.Kind, in.FactoryID)
	}
	found, beside, err := resource.FindAll(ctx, s.db, id.SocialAccount, []string{in.ID},
		factoryrecord.Key(in.FactoryID))
	if err != nil {
		return of, it, r, err
	}
	if of = beside[0]; !factoryrecord.Usable(of, auth.FromContext(ctx).Owner) {
		return of, it, r, errs.Missing(factoryrecord.Kind, in.FactoryID)
	}
	it, ok := found[in.ID]
	if !ok {
		return of, it, r, errs.Missing(Kind, in.ID)
	}
	if it.Owner != of.Owner {
		return of, it, r, errs.Invalid("social_account_id", "is of another profile than the factory")
	}
	r, err = Decode(&it)
	return of, it, r, err
}

func (s *Service) attach(ctx context.Context, tx *store.Tx, in *attachInput) (out Account, err error) {
	of, it, r, err := s.both(ctx, in)
	if err != nil {
		return out, err
	}
	if err := in.Check(r.Version); err != nil {
		return out, err
	}
	if r.State == Disconnected {
		return out, invalidState(&r, "The account is disconnected. Connect it again first.", "connect")
	}
	added := r.Attach(in.FactoryID)
	changed, err := factoryrecord.Attach(&of, r.ID, s.now())
	if err != nil {
		return out, err
	}
	if changed && !auth.FromContext(ctx).Has(auth.ContentPublish) {
		factory.Steer(&of)
	}
	ids, err := factoryrecord.Accounts(&of)
	switch {
	case err != nil:
		return out, err
	case changed && len(ids) > MaxPerFactory:
		return out, invalidState(&r, "The factory already has the most accounts that it can have. Detach another one "+
			"first.", "detach")
	case added && len(r.FactoryIDs) > MaxFactories:
		return out, invalidState(&r, "The account already serves the most factories that it can serve. Detach it from "+
			"another one first.", "detach")
	}
	return s.replaceBoth(tx, of, it, &r, changed, added)
}

func (s *Service) detach(ctx context.Context, tx *store.Tx, in *attachInput) (out Account, err error) {
	of, it, r, err := s.both(ctx, in)
	if err != nil {
		return out, err
	}
	if err := in.Check(r.Version); err != nil {
		return out, err
	}
	changed, err := factoryrecord.Detach(&of, r.ID, s.now())
	if err != nil {
		return out, err
	}
	return s.replaceBoth(tx, of, it, &r, changed, r.Detach(in.FactoryID))
}

// replaceBoth adds a factory and an account to the transaction, each only if it has changed.
func (s *Service) replaceBoth(tx *store.Tx, of, it store.Item, r *Record, factoryChanged,
	changed bool) (Account, error) {
	if factoryChanged {
		tx.Replace(of)
		if err := factory.NotifyItem(tx, of); err != nil {
			return Account{}, err
		}
	}
	if changed {
		if err := r.Replace(tx, s.now(), it, ""); err != nil {
			return Account{}, err
		}
	}
	return r.View(), nil
}
