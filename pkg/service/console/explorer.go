package console

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/tenant"
)

// explorerLifetime is the lifetime of the key of the explorer, and explorerName its name.
const (
	explorerLifetime = time.Hour
	explorerName     = "Explorer"
)

// openExplorer makes a sandbox key for the explorer, in place of an earlier one, and leads there. The key is in the
// fragment of the address, which browsers send to no server; the explorer removes it from the address.
func openExplorer(r *request) error {
	a := r.api
	a.mode = tenant.Test
	if old := r.session.ExplorerKey; old != "" {
		revokeExplorerKey(r.Context(), a, old)
	}
	var made key
	err := a.change(r.Context(), http.MethodPost, "/v1/api-keys", r.once(), map[string]any{
		"name": explorerName, "kind": tenant.Test, "scopes": auth.AllScopes(),
		"expires_at": r.site.Now().Add(explorerLifetime).UTC().Format(time.RFC3339)}, &made)
	if err != nil {
		return err
	}
	if made.Secret == nil {
		return &failure{Status: http.StatusConflict, Message: "This form was sent before. Open the page again."}
	}
	if err := r.site.Sessions.Change(r.Context(), r.session,
		func(s *session.Session) { s.ExplorerKey = made.ID }); err != nil {
		return err
	}
	http.Redirect(r.w, r.Request, r.site.prefix+"/api-docs/explorer#key="+url.QueryEscape(*made.Secret),
		http.StatusSeeOther)
	return nil
}

// revokeExplorerKey revokes the key of the explorer. If that fails, the key ends within the hour by itself.
func revokeExplorerKey(ctx context.Context, a api, id string) {
	err := a.change(ctx, http.MethodDelete, "/v1/api-keys/"+url.PathEscape(id), "end-"+id, nil, nil)
	var failed *failure
	if err != nil && (!errors.As(err, &failed) || failed.Status >= http.StatusInternalServerError) {
		slog.Warn("the key of the explorer was not revoked", "error", err)
	}
}
