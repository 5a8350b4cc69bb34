package stack

import "github.com/content-automation/api/pkg/httpapi"

// The functions that serve the public pages, among them the one that platforms send the
// browsers of accounts' owners to, and the one that says of every other path under /v1 that
// it does not exist.
const (
	docsFunction    = "docs"
	socialFunction  = "social"
	unknownFunction = "account"
	unknownPath     = "/v1/{proxy+}"
)

// PublicRoutes are the only paths without a key. Which methods they know is left to
// their function: the gateway calls an unknown method an unknown path.
var PublicRoutes = []httpapi.Route{
	{Method: "ANY", Path: "/", Function: docsFunction},
	{Method: "ANY", Path: "/docs", Function: docsFunction},
	{Method: "ANY", Path: "/openapi.json", Function: docsFunction},
	{Method: "ANY", Path: "/openapi.yaml", Function: docsFunction},
	{Method: "ANY", Path: "/api-docs", Function: docsFunction},
	{Method: "ANY", Path: "/api-docs/{page+}", Function: docsFunction},
	{Method: "ANY", Path: "/healthz", Function: docsFunction},
	{Method: "ANY", Path: "/v1/social/callback", Function: socialFunction},
}
