package social

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

type applicationBody struct {
	profile.Given
	// Platform with which you have registered the application. It cannot be changed.
	Platform platformID `json:"platform" example:"x"`
	// Id that the platform has given the application: client_id, client_key or app id. It cannot be changed.
	ClientID string `json:"client_id" format:"client-id"`
	// Secret of the application. It is sealed, and no answer shows it. Required except on vk, whose applications have
	// none.
	ClientSecret string `json:"client_secret,omitempty" format:"client-secret"`
	// Permissions that owners of accounts are asked for, if the platform has granted the application other ones than
	// usual. Absent or empty: the usual ones.
	Scopes []permission `json:"scopes,omitempty" maxItems:"50" uniqueItems:"true" nullable:"false"`
	// Most that its accounts use together in a day: US cents on X, uploads on YouTube. Absent or null: the usual limit
	// of the platform.
	DailyLimit *int `json:"daily_limit,omitempty" nullable:"true" minimum:"1" maximum:"100000000" example:"1000"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

// permission is a permission that a platform gives, in its own words.
type permission string

// Schema describes the permission in the OpenAPI document.
func (permission) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString, Pattern: "^[!-~]{1,200}$",
		PatternDescription: "a name of up to 200 characters without spaces"}
	s.PrecomputeMessages()
	return s
}

// Rules refuses an application that the platform does not have.
func (b applicationBody) Rules() error {
	secret, needed := needsSecret()[string(b.Platform)]
	switch {
	case !needed:
		return errs.Invalid("/platform", "needs no application: its accounts are connected by a token or a login")
	case secret && b.ClientSecret == "":
		return errs.Invalid("/client_secret", "is required: send the secret that the platform shows beside the "+
			"client_id")
	case !secret && b.ClientSecret != "":
		return errs.Invalid("/client_secret", "is not used: the applications of %s have no secret here", b.Platform)
	}
	return checkLimit(string(b.Platform), b.DailyLimit)
}

type applicationPatch struct {
	// New secret of the application. Its accounts use it from now on.
	ClientSecret string `json:"client_secret,omitempty" format:"client-secret"`
	// Permissions that owners of accounts are asked for. Empty or null: the usual ones. Accounts that are connected
	// keep theirs until they are connected again.
	Scopes []permission `json:"scopes,omitempty" maxItems:"50" uniqueItems:"true" nullable:"true"`
	// Most that its accounts use together in a day: US cents on X, uploads on YouTube. Null: the usual limit of the
	// platform.
	DailyLimit *int `json:"daily_limit,omitempty" nullable:"true" minimum:"1" maximum:"100000000" example:"2000"`
	// Pairs to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

// applicationSettings are the members of an application that can be changed.
type applicationSettings struct {
	ClientSecret string            `json:"client_secret,omitempty"`
	Scopes       []string          `json:"scopes"`
	DailyLimit   *int              `json:"daily_limit"`
	Metadata     resource.Metadata `json:"metadata"`
}

type makeApplication struct{ Body applicationBody }

// ApplicationPath is the path of one application. It is exported because huma finds the parameters of embedded types
// only if the types are exported.
type ApplicationPath struct {
	// Id of the application.
	ID string `path:"application_id" example:"app_01h455vb4pex5vsknk084sn02q"`
}

type patchApplication struct {
	ApplicationPath
	httpapi.IfMatch
	Body applicationPatch
}

type applicationsInput struct {
	httpapi.PageInput
	resource.Tagged
	profile.Filter
	// Only applications of these platforms, separated by commas.
	Platform []platformID `query:"platform" nullable:"false"`
}

// registerApplications adds the operations on applications of customers.
func (s *Service) registerApplications(r *httpapi.Router) {
	const collection, one = "/v1/social/applications", "/v1/social/applications/{application_id}"
	op := httpapi.ScopedOps("social", "Social accounts", auth.SocialManage)
	list := op("listApplications", http.MethodGet, collection, "List your applications", "Newest first.").
		Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.listApplications)

	create := op("createApplication", http.MethodPost, collection, "Add an application of your own",
		"Adds an application that you have registered with a platform. Accounts that are connected "+
			"from now on use it: those of the profile, or without a profile all accounts whose profile has "+
			"no application of its own. The platform then shows your name on its page, and its limits and "+
			"prices count for your application alone. Enter `redirect_url` of the response at the "+
			"platform. Accounts that are already connected keep their application until you connect them "+
			"again with their `social_account_id`. Their id stays, and `application_id` reports which "+
			"application they use. If there are several applications for a platform, the newest is used.").
		Opening(httpapi.Address | httpapi.Credential)
	create.Status = http.StatusCreated
	create.Errors = []errs.Code{errs.NotFound, errs.InvalidState}
	httpapi.Write(r, create, s.createApplication)

	httpapi.Read(r, op("getApplication", http.MethodGet, one, "Get an application", "Without its secret.").
		Opening(httpapi.Nothing),
		s.getApplication)

	update := op("updateApplication", http.MethodPatch, one, "Change an application",
		"Takes a JSON merge patch (RFC 7396). A new `client_secret` is used by all of its accounts at once.").
		Opening(httpapi.Address | httpapi.Credential)
	update.Errors = []errs.Code{errs.VersionMismatch}
	const another = "create another application, and connect its accounts again"
	update.Fixed = map[string]string{"client_id": another, "platform": another, "profile_id": another}
	httpapi.Write(r, update, s.updateApplication)

	remove := op("deleteApplication", http.MethodDelete, one, "Delete an application",
		"An application is deleted once no account uses it, because its accounts could neither be renewed nor be "+
			"published to for long. Connect these again before, with a newer application or, if none is left for "+
			"them, after its deletion; `GET /v1/social/accounts?application_id=…` lists them. With `force=true` it is "+
			"deleted nevertheless: its accounts become `needs_reconnect` when they are next used or renewed.").
		Opening(httpapi.Deletion)
	remove.Errors = []errs.Code{errs.InvalidState, errs.VersionMismatch}
	httpapi.Write(r, remove, s.deleteApplication)
}

func (s *Service) listApplications(ctx context.Context, in *applicationsInput) (httpapi.Page[Application], error) {
	q := httpapi.AllOwned(ctx, ApplicationKind, in.Filter.Into(map[string]string{
		"platform": httpapi.AnyOf(in.Platform)}))
	in.Tagged.Into(&q)
	return httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (Application, error) {
		r, err := applicationOf(&it)
		return r.view(ctx), err
	})
}

func (s *Service) createApplication(ctx context.Context, tx *store.Tx, in *makeApplication) (out Application,
	err error) {
	b, now := in.Body, s.now()
	if err := b.Rules(); err != nil {
		return out, err
	}
	if !slices.Contains(s.platforms.Names(), string(b.Platform)) {
		return out, s.switchedOff(string(b.Platform))
	}
	o, err := b.Given.Owner(ctx, tx, now)
	if err != nil {
		return out, err
	}
	all, err := s.shelves(ctx, string(b.Platform), o)
	if err != nil {
		return out, err
	}
	if len(all[0].IDs) >= maxApplications {
		if err := s.prune(ctx, &all[0]); err != nil {
			return out, err
		}
	}
	if len(all[0].IDs) >= maxApplications {
		return out, errs.New(errs.InvalidState, "There are already %d applications with this platform, which is the "+
			"maximum. Delete one first.", maxApplications)
	}
	r := &applicationRecord{Application: Application{
		Resource: resource.New(id.New(id.Application, now), now, b.Metadata), ProfileID: o.ProfileID(),
		Platform: string(b.Platform), ClientID: b.ClientID, Scopes: texts(b.Scopes),
		DailyLimit: b.DailyLimit,
	}}
	if err := s.keep(ctx, o, r, b.ClientSecret); err != nil {
		return out, err
	}
	it, err := r.item(o)
	if err != nil {
		return out, err
	}
	tx.Create(it, nil)
	all[0].IDs = append(all[0].IDs, r.ID)
	return r.view(ctx), all[0].write(tx)
}

// findApplication reads an application of the caller.
func (s *Service) findApplication(ctx context.Context, applicationID string,
	match ...httpapi.IfMatch) (r applicationRecord, it store.Item, err error) {
	if it, err = resource.Find(ctx, s.db, id.Application, ApplicationKind, applicationID); err != nil {
		return r, it, err
	}
	if r, err = applicationOf(&it); err == nil && r.Deleted {
		err = errs.Missing(ApplicationKind, applicationID)
	}
	if err == nil {
		err = httpapi.Matches(r.Version, match)
	}
	return r, it, err
}

func (s *Service) getApplication(ctx context.Context, in *ApplicationPath) (Application, error) {
	r, _, err := s.findApplication(ctx, in.ID)
	return r.view(ctx), err
}

func (s *Service) updateApplication(ctx context.Context, tx *store.Tx, in *patchApplication) (out Application,
	err error) {
	r, it, err := s.findApplication(ctx, in.ID, in.IfMatch)
	if err != nil {
		return out, err
	}
	set, err := httpapi.MergePatch(ctx, applicationSettings{"", r.Scopes, r.DailyLimit, r.Metadata})
	if err != nil {
		return out, err
	}
	if set.ClientSecret != "" && len(r.Sealed) == 0 {
		return out, errs.Invalid("/client_secret", "is not used: the applications of %s have no secret here",
			r.Platform)
	}
	if err := checkLimit(r.Platform, set.DailyLimit); err != nil {
		return out, err
	}
	if err := s.keep(ctx, it.Owner, &r, set.ClientSecret); err != nil {
		return out, err
	}
	r.Scopes, r.DailyLimit = append([]string{}, set.Scopes...), set.DailyLimit
	r.Metadata = set.Metadata.OrEmpty()
	err = replaceApplication(tx, it, &r, s.now())
	return r.view(ctx), err
}

type removeApplication struct {
	ApplicationPath
	httpapi.IfMatch
	// Whether to delete an application that accounts use. They have to be connected again.
	Force bool `query:"force"`
}

func (s *Service) deleteApplication(ctx context.Context, tx *store.Tx, in *removeApplication) (out Application,
	err error) {
	r, it, err := s.findApplication(ctx, in.ID, in.IfMatch)
	if err != nil {
		return out, err
	}
	if !in.Force {
		if used, err := s.used(ctx, it.Owner, r.ID); err != nil {
			return out, err
		} else if used {
			return out, errs.New(errs.InvalidState, "Accounts use the application: GET "+
				"/v1/social/accounts?application_id=%s lists them. Connect them again with another one, disconnect "+
				"them, or repeat the request with force=true.", r.ID)
		}
	}
	all, err := s.shelves(ctx, r.Platform, it.Owner)
	if err != nil {
		return out, err
	}
	all[0].IDs = slices.DeleteFunc(all[0].IDs, func(one string) bool { return one == r.ID })
	if err := r.remove(tx, it, s.now()); err != nil {
		return out, err
	}
	return r.view(ctx), all[0].write(tx)
}
