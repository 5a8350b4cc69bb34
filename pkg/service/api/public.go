package api

import (
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/people"
	"github.com/content-automation/api/pkg/auth/authorizer"
	"github.com/content-automation/api/pkg/httpapi"
)

// The functions behind routes without an operation. One page receives the browsers of accounts' owners from platforms,
// one those from CRMs and the webhooks of CRMs; another shows content to reviewers; customers' directories call SCIM
// with a token of their own; one function answers for all unknown paths under /v1, and one serves agents.
const (
	DocsFunction    = "docs"
	ConsoleFunction = "console"
	SocialFunction  = "social"
	CRMFunction     = "crm"
	PeopleFunction  = "apikey"
	ContentFunction = "content"
	MCPFunction     = "mcp"
	UnknownFunction = "account"
	UnknownPath     = "/v1/{proxy+}"
)

// PublicRoutes are the only routes without a key. The functions decide about the methods: the
// gateway treats an unknown method as an unknown path.
var PublicRoutes = []httpapi.Route{
	{Path: "/", Function: DocsFunction},
	{Path: "/docs", Function: DocsFunction},
	{Path: "/openapi.json", Function: DocsFunction},
	{Path: "/openapi.yaml", Function: DocsFunction},
	{Path: "/api-docs", Function: DocsFunction},
	{Path: "/api-docs/{page+}", Function: DocsFunction},
	{Path: "/healthz", Function: DocsFunction},
	{Path: "/llms.txt", Function: DocsFunction},
	{Path: "/llms-full.txt", Function: DocsFunction},
	{Path: "/.well-known/oauth-protected-resource", Function: MCPFunction},
	{Path: "/.well-known/oauth-protected-resource/mcp", Function: MCPFunction},
	{Path: "/v1/social/callback", Function: SocialFunction},
	{Path: crm.CallbackPath, Function: CRMFunction},
	{Path: crm.HooksPath + "{token}", Function: CRMFunction},
	{Path: "/review/{token}", Function: ContentFunction},
	{Path: "/settings", Function: ConsoleFunction},
	{Path: "/settings/{page+}", Function: ConsoleFunction},
	{Path: "/auth/{step+}", Function: ConsoleFunction},
	{Path: "/setup", Function: ConsoleFunction},
	{Path: "/oauth/{step+}", Function: ConsoleFunction},
	{Path: "/.well-known/oauth-authorization-server", Function: ConsoleFunction},
	{Path: people.SCIMPath + "/{path+}", Function: PeopleFunction},
}

// GuardedRoutes are the routes without an operation for which the gateway asks the authorizer. Agents without a token
// are refused there: API Gateway renames the header WWW-Authenticate in answers of functions, and agents look for it.
var GuardedRoutes = []httpapi.Route{
	{Path: authorizer.AgentsPath, Function: MCPFunction},
	{Path: UnknownPath, Function: UnknownFunction},
}

// OutsidePaths returns the beginnings of the paths for those who have neither a key nor a client certificate: browsers
// of people and owners, platforms, CRMs, directories and reviewers.
func OutsidePaths() (paths []string) {
	outside := []string{ConsoleFunction, SocialFunction, CRMFunction, PeopleFunction, ContentFunction}
	for _, r := range PublicRoutes {
		path, _, _ := strings.Cut(r.Path, "{")
		if slices.Contains(outside, r.Function) && !slices.ContainsFunc(paths, func(p string) bool {
			return strings.HasPrefix(path, p)
		}) {
			paths = append(paths, path)
		}
	}
	return paths
}
