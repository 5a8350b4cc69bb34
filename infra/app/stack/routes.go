package stack

import "github.com/content-automation/api/pkg/httpapi"

// The functions of the public pages. One page receives the browsers of accounts' owners from
// platforms; one function answers for all unknown paths under /v1.
const (
	docsFunction    = "docs"
	socialFunction  = "social"
	unknownFunction = "account"
	unknownPath     = "/v1/{proxy+}"
)

// PublicRoutes are the only routes without a key. The functions decide about the methods: the
// gateway treats an unknown method as an unknown path.
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
