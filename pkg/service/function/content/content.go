// Package content wires the function content: the content items, and what surrounds their publication, and
// the comments on posts.
package content

import (
	"net/http"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/engagement"
	"github.com/content-automation/api/pkg/area/publishing"
	"github.com/content-automation/api/pkg/httpapi"
)

// Mount registers the operations of the function with a router.
func Mount(r *httpapi.Router, e area.Env) {
	content.Mount(r, e)
	publishing.Mount(r, e)
	engagement.Mount(r, e)
}

// With returns the handler of the function: the operations, and the page of review links, which needs no key.
func With(e area.Env, operations http.Handler) http.Handler {
	return publishing.Open(e).With(operations)
}
