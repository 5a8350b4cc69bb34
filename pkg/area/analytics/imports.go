package analytics

import (
	"context"
	"net/http"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

type importBody struct {
	// Social account whose earlier posts are read. It has to be connected.
	AccountID string `json:"social_account_id" example:"soc_01h455vb4pex5vsknk084sn02q"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type importInput struct{ Body importBody }

type importPath struct {
	// Id of the import.
	ID string `path:"post_import_id" example:"pim_01h455vb4pex5vsknk084sn02q"`
}

// registerImports adds the operations of imports to the router.
func (s *Service) registerImports(r *httpapi.Router) {
	op := httpapi.ScopedOps("factory", "Analytics", auth.SocialManage)
	create := op("importPosts", http.MethodPost, "/v1/analytics/imports", "Import the earlier posts of an account",
		"Imports the posts that a social account published before it was connected, with their figures: "+
			"those of the last 12 months, at most 500. Best times, comparisons and diagnoses count them as "+
			"imported posts. They cost nothing, and the service never publishes or changes them. An import "+
			"starts by itself when an account is connected; call this operation to read the figures again. "+
			"Each post is imported once. The event `post_import.completed` reports the end. `past_posts` of "+
			"listPlatforms reports which platforms list earlier posts.").Opening(httpapi.Nothing)
	create.Status, create.Errors = http.StatusAccepted, []errs.Code{errs.NotFound, errs.InvalidState}
	httpapi.Write(r, create, s.createImport)
	httpapi.Read(r, op("getPostImport", http.MethodGet, "/v1/analytics/imports/{post_import_id}",
		"Get an import of posts", "Shows how many posts were read. An import is kept for 30 days, and its posts for "+
			"400 after they were read for the last time.").Opening(httpapi.Nothing), s.getImport)
}

func (s *Service) createImport(ctx context.Context, tx *store.Tx, in *importInput) (out social.PostImport, err error) {
	it, acct, _, err := s.account(ctx, in.Body.AccountID)
	if err != nil {
		e := *errs.As(err)
		e.Param = "/social_account_id"
		return out, &e
	}
	row, _ := registry.Find(acct.Platform)
	switch {
	case row.Capabilities.Past.Page == 0:
		return out, errs.Invalid("/social_account_id", "is on %s, which lists no earlier posts", row.Capabilities.Label)
	case !acct.Usable():
		return out, errs.New(errs.InvalidState, "The social account is %s. Connect it first.", acct.State).
			In(string(acct.State), "connect")
	}
	return acct.StartImport(tx, s.now(), it.Owner, in.Body.Metadata)
}

func (s *Service) getImport(ctx context.Context, in *importPath) (out social.PostImport, err error) {
	it, err := resource.Find(ctx, s.db, id.PostImport, social.ImportKind, in.ID)
	if err != nil {
		return out, err
	}
	return out, it.Decode(&out)
}
