package profile

import (
	"net/http"
	"reflect"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	record "github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
)

type createBody struct {
	// Name of the client. The page by which its social accounts are connected shows it.
	Name string `json:"name" format:"line-not-blank" minLength:"1" maxLength:"100" example:"Harbour Coffee"`
	// Id of a media with its logo: a picture of the account as a whole or of the profile, of up to 64 KiB. The profile
	// keeps a copy for that page.
	Logo *string `json:"logo,omitempty" nullable:"true" maxLength:"64"`
	// Credits that the work for the profile may cost in a calendar month (UTC). A call that would cost more fails with
	// 402 spend_limit_reached. Absent or null: no limit of its own.
	SpendLimit *int64 `json:"spend_limit_credits,omitempty" nullable:"true" format:"credits" example:"5000"`
	// Credits of one call above which live work for the profile needs a quote_id: content plans and batches of content
	// items take one. Work that takes none is refused above it. Absent or null: it needs none.
	QuoteAbove *int64 `json:"quote_required_above_credits,omitempty" nullable:"true" format:"credits" example:"500"`
	// Country in which the content of its factories is published (ISO 3166-1). The content must keep the rules of law
	// of this country. A factory may have another one. Absent or null: none.
	Region *string `json:"region,omitempty" nullable:"true" minLength:"2" maxLength:"2" example:"DE"`
	// Marking of advertising of its factories, for countries that require it. Absent: none.
	AdMarking *record.AdMarking `json:"ad_marking,omitempty"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type patchBody struct {
	// Name of the client.
	Name string `json:"name,omitempty" format:"line-not-blank" minLength:"1" maxLength:"100" example:"Harbour Coffee"`
	// Id of a media with its logo. Null removes it.
	Logo *string `json:"logo,omitempty" nullable:"true" maxLength:"64"`
	// Credits that the work for the profile may cost in a calendar month (UTC). It counts for the present month at
	// once. Null: no limit of its own.
	SpendLimit *int64 `json:"spend_limit_credits,omitempty" nullable:"true" format:"credits" example:"8000"`
	// Credits of one call above which live work for the profile needs a quote_id. Null: it needs none.
	QuoteAbove *int64 `json:"quote_required_above_credits,omitempty" nullable:"true" format:"credits" example:"500"`
	// Country in which the content of its factories is published (ISO 3166-1). The content must keep the rules of law
	// of this country. A factory may have another one. Null: none.
	Region *string `json:"region,omitempty" nullable:"true" minLength:"2" maxLength:"2" example:"DE"`
	// Marking of advertising of its factories, for countries that require it. Null: none.
	AdMarking *record.AdMarkingPatch `json:"ad_marking,omitempty"`
	// Pairs to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

type createInput struct{ Body createBody }

// Path names the profile of a call.
type Path struct {
	// Id of the profile.
	ID string `path:"profile_id" example:"prf_01h455vb4pex5vsknk084sn02q"`
}

type patchInput struct {
	Path
	httpapi.IfMatch
	Body patchBody
}

type deleteInput struct {
	Path
	httpapi.IfMatch
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	const collection, one = "/v1/profiles", "/v1/profiles/{profile_id}"
	op := func(id, method, path string, scope auth.Scope, summary, description string) httpapi.Op {
		return httpapi.Op{
			ID: id, Method: method, Path: path, Scope: scope, Function: "account", Tag: "Profiles",
			Summary: summary, Description: description, AccountWide: method != http.MethodGet,
		}
	}
	list := op("listProfiles", http.MethodGet, collection, auth.AccountRead, "List the profiles",
		"Newest first. A key that is bound to profiles lists these.").Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)

	create := op("createProfile", http.MethodPost, collection, auth.AccountManage, "Create a profile",
		"A profile is a client of an agency. Factories, social accounts, media, webhooks and generations of the "+
			"studio that are created with its id belong to it, with all that they make. A key with `profile_ids` "+
			"sees and makes nothing else.").Opening(httpapi.Nothing)
	create.Status = http.StatusCreated
	create.Errors = []errs.Code{errs.UnsupportedMedia, errs.InvalidState, errs.NotFound}
	httpapi.Write(r, create, s.create)

	httpapi.Read(r, op("getProfile", http.MethodGet, one, auth.AccountRead, "Get a profile",
		"Includes what the work for it has cost this month.").Opening(httpapi.Nothing), s.get)

	update := op("updateProfile", http.MethodPatch, one, auth.AccountManage, "Change a profile",
		"Takes a JSON merge patch (RFC 7396).").Opening(httpapi.Spending)
	update.Errors = []errs.Code{errs.UnsupportedMedia, errs.VersionMismatch}
	httpapi.Write(r, update, s.update)

	remove := op("deleteProfile", http.MethodDelete, one, auth.AccountManage, "Delete a profile",
		"A profile is deleted once nothing belongs to it: `invalid_state` names what does. Delete its factories, "+
			"content items, generations and media, disconnect its social accounts, delete its webhooks and revoke "+
			"its keys before. Its chats end with it. The entries of the balance stay.").Opening(httpapi.Deletion)
	remove.Errors = []errs.Code{errs.InvalidState, errs.VersionMismatch}
	httpapi.Write(r, remove, s.remove)
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) { NewService(e.DB, e.Media, e.Now).Register(r) }

// Input is the type of the body of the operation that creates a profile. Imports check what comes in by its schema.
var Input = reflect.TypeFor[createBody]()
