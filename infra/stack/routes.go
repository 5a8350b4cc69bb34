package stack

import "github.com/content-automation/api/pkg/httpapi"

// The function that serves the public pages, and the one that says of every
// other path under /v1 that it does not exist.
const (
	docsFunction    = "docs"
	unknownFunction = "account"
	unknownPath     = "/v1/{proxy+}"
)

// PublicRoutes are the only paths without a key.
var PublicRoutes = []httpapi.Route{
	{Method: "GET", Path: "/openapi.json", Function: docsFunction},
	{Method: "GET", Path: "/openapi.yaml", Function: docsFunction},
	{Method: "GET", Path: "/api-docs/explorer", Function: docsFunction},
	{Method: "GET", Path: "/api-docs/assets/{file}", Function: docsFunction},
	{Method: "GET", Path: "/healthz", Function: docsFunction},
}
