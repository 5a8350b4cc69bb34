package httpapi

import (
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
)

// Opens is what an operation opens: what others can reach after it, and what nobody takes back. The zero value means
// everything, so that a new operation is left to people by every mandate until its declaration says less.
type Opens uint8

// What an operation opens.
const (
	// Nothing: it reads or changes what belongs to the caller, and nothing else.
	Nothing Opens = 1 << iota
	// Address: it sets an address or account to which data or content are sent from then on.
	Address
	// Credential: it makes, replaces or takes a secret that lets somebody in.
	Credential
	// Copy: it makes or shows a copy of data behind links that need no key.
	Copy
	// Right: it gives a key or a person rights, or widens them.
	Right
	// Deletion: it deletes, ends or disconnects.
	Deletion
	// Spending: it may spend credits, at once or later. Where they are reserved, the mandate is compared.
	Spending
	// Publishing: it may publish, at once or later. Its scope is content:publish, or it needs that scope for what is
	// published.
	Publishing
)

// everything is what an operation without a declaration opens.
const everything = Address | Credential | Copy | Right | Deletion | Spending | Publishing

// Opening is one thing that operations open: its name, and the act by which a mandate leaves it to people.
type Opening struct {
	Opens Opens
	Name  string
	Act   auth.Act
}

// Openings returns all that operations open, in the order of the documents.
func Openings() []Opening { return slices.Clone(openings) }

var openings = []Opening{
	{Address, "address", auth.ActInvite},
	{Credential, "credential", auth.ActInvite},
	{Copy, "copy", auth.ActInvite},
	{Right, "right", auth.ActInvite},
	{Deletion, "deletion", auth.ActDelete},
	{Spending, "spending", auth.ActSpend},
	{Publishing, "publishing", auth.ActPublish},
}

// Opening returns the operation with what it opens.
func (op Op) Opening(what Opens) Op {
	op.Opens = what
	return op
}

// Has reports whether one of some things is opened.
func (o Opens) Has(some Opens) bool {
	if o == 0 {
		o = everything
	}
	return o&some != 0
}

// Names returns the names of what is opened, in the order of the documents.
func (o Opens) Names() []string {
	names := []string{}
	for _, one := range openings {
		if o.Has(one.Opens) {
			names = append(names, one.Name)
		}
	}
	return names
}

// String returns the names as a list, or nothing.
func (o Opens) String() string {
	if o == Nothing {
		return "nothing"
	}
	return strings.Join(o.Names(), ", ")
}

// Acts returns the acts that the operation always does. What may spend or publish is compared with a mandate where it
// does, unless nothing is declared.
func (o Opens) Acts() (acts []auth.Act) {
	for _, one := range openings {
		always := o == 0 || !(Spending | Publishing).Has(one.Opens)
		if always && o.Has(one.Opens) && !slices.Contains(acts, one.Act) {
			acts = append(acts, one.Act)
		}
	}
	return acts
}

// opened refuses a caller to whom the operation opens too much: a key whose mandate leaves it to people, and an
// auditor, who reads what needs a sign-in and takes nothing out of the account.
func (op Op) opened(p *auth.Principal) error {
	for _, act := range op.Opens.Acts() {
		if err := p.RequirePerson(act); err != nil {
			return err
		}
	}
	if p.Role == auth.Auditor && op.Opens.Has(everything) {
		return errs.New(errs.InsufficientScope, "Your role, %s, does not permit this: it reads, and opens nothing to "+
			"others. Ask an owner or an admin of the account.", p.Role)
	}
	return nil
}

// scopes returns the names of the scopes that the operation needs.
func (op Op) scopes() []string {
	names := []string{string(op.Scope)}
	for _, scope := range op.Also {
		names = append(names, string(scope))
	}
	return names
}
