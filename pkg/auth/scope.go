// Package auth has the scopes of calls, the format of API keys, and the principal that the authorizer passes to the
// functions. Start with Principal in principal.go.
package auth

import "slices"

// Scope is a permission of a key.
type Scope string

// The 13 scopes; there are no others.
const (
	AccountRead    Scope = "account:read"
	AccountManage  Scope = "account:manage"
	FactoriesRead  Scope = "factories:read"
	FactoriesWrite Scope = "factories:write"
	ContentRead    Scope = "content:read"
	ContentWrite   Scope = "content:write"
	ContentPublish Scope = "content:publish"
	StudioUse      Scope = "studio:use"
	ProductsRead   Scope = "products:read"
	ProductsWrite  Scope = "products:write"
	SocialManage   Scope = "social:manage"
	ArchitectUse   Scope = "architect:use"
	WebhooksManage Scope = "webhooks:manage"
)

// Scopes lists all scopes with their permissions, in the order of the documents.
var Scopes = []struct {
	Scope   Scope
	Permits string
}{
	{AccountRead, "Read the account, its balance, events, plans and models"},
	{AccountManage, "Manage API keys and read the audit log"},
	{FactoriesRead, "Read factories, their plans, analytics and proposals"},
	{FactoriesWrite, "Create and change factories and start their work"},
	{ContentRead, "Read content items and publications"},
	{ContentWrite, "Create, change and delete content items"},
	{ContentPublish, "Schedule and publish content items"},
	{StudioUse, "Generate media in the studio"},
	{ProductsRead, "Read products and promotions"},
	{ProductsWrite, "Create and change products and promotions"},
	{SocialManage, "Connect and manage social accounts"},
	{ArchitectUse, "Chat with the architect and apply its drafts"},
	{WebhooksManage, "Manage webhooks and their deliveries"},
}

// AllScopes returns the names of all scopes.
func AllScopes() []Scope {
	all := make([]Scope, len(Scopes))
	for i, s := range Scopes {
		all[i] = s.Scope
	}
	return all
}

// Known reports whether s is one of the scopes.
func (s Scope) Known() bool { return slices.Contains(AllScopes(), s) }
