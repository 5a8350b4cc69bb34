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
	{Path: "/", Function: docsFunction},
	{Path: "/docs", Function: docsFunction},
	{Path: "/openapi.json", Function: docsFunction},
	{Path: "/openapi.yaml", Function: docsFunction},
	{Path: "/api-docs", Function: docsFunction},
	{Path: "/api-docs/{page+}", Function: docsFunction},
	{Path: "/healthz", Function: docsFunction},
	{Path: "/v1/social/callback", Function: socialFunction},
}
