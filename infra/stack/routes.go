package stack

// Route is one operation of the API as the gateway sees it.
type Route struct {
	Method, Path string
	// Function answers it.
	Function string
}

// The function that serves the public pages, and the one that says of every
// other path under /v1 that it does not exist.
const (
	docsFunction    = "docs"
	unknownFunction = "account"
	unknownPath     = "/v1/{proxy+}"
)

// PublicRoutes are the only paths without a key.
var PublicRoutes = []Route{
	{"GET", "/openapi.json", docsFunction},
	{"GET", "/openapi.yaml", docsFunction},
	{"GET", "/api-docs/explorer", docsFunction},
	{"GET", "/api-docs/assets/{file}", docsFunction},
	{"GET", "/healthz", docsFunction},
}
