package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"

	"github.com/content-automation/api/pkg/base/errs"
)

// Role is the role of a person in an account.
type Role string

// The roles.
const (
	Owner     Role = "owner"
	Admin     Role = "admin"
	Developer Role = "developer"
	Auditor   Role = "auditor"
)

// Roles lists all roles with what each permits, in the order of the documents.
var Roles = []struct {
	Role    Role
	Permits string
}{
	{Owner, "Everything"},
	{Admin, "Everything except changing owners"},
	{Developer, "Everything except people and sign-on. Of the API keys only their own"},
	{Auditor, "Reads everything and changes nothing"},
}

// Known reports whether r is one of the roles.
func (r Role) Known() bool {
	return slices.ContainsFunc(Roles, func(known struct {
		Role    Role
		Permits string
	}) bool {
		return known.Role == r
	})
}

// Scopes returns the scopes of a person with the role.
func (r Role) Scopes() []Scope {
	switch r {
	case Owner, Admin, Developer:
		return AllScopes()
	case Auditor:
		return []Scope{AccountRead, FactoriesRead, ContentRead, ProductsRead}
	}
	return nil
}

// Manages reports whether a person with the role manages people and sign-on.
func (r Role) Manages() bool { return r == Owner || r == Admin }

// PersonScope marks operations that only people may call. It is not a scope: no key can have it. The operations decide
// by the role.
const PersonScope Scope = "person"

// ModeHeader is the header that selects the mode of a person's call.
const ModeHeader = "X-Account-Mode"

// Subject returns the hash by which the credential of a person is found: of the pool, and of the pool's name of the
// person.
func Subject(pool, subject string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "subject\n%d\n%s\n%s", len(pool), pool, subject))
	return hex.EncodeToString(sum[:])
}

// MayCall returns an error unless the principal may call an operation with the scope and the method. An auditor may
// read by every scope.
func (p *Principal) MayCall(scope Scope, method string) error {
	reads := method == http.MethodGet || method == http.MethodHead
	switch {
	case scope == PersonScope && p.Actor.Kind != Person:
		return errs.New(errs.PersonRequired, "%s", messagePersonRequired)
	case method == http.MethodDelete && p.leaves(ActDelete) != nil:
		return p.RequirePerson(ActDelete)
	case scope == PersonScope || p.Has(scope) || p.Role == Auditor && reads:
		return nil
	case scope == ContentPublish && p.leaves(ActPublish) != nil:
		return p.RequirePerson(ActPublish)
	case p.Role != "":
		return errs.New(errs.InsufficientScope, "Your role, %s, does not permit this: it lacks the scope %s. Ask an "+
			"owner or an admin of the account.", p.Role, scope)
	}
	e := errs.New(errs.InsufficientScope, "%s", MessageScope(scope))
	e.Scope = string(scope)
	return e
}

const messagePersonRequired = "Only a person who has signed in to the account area may do this. API keys cannot " +
	"manage people, whatever their scopes."
