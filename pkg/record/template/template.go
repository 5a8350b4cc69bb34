// Package template has the designs of media of a customer, as other areas need them: factories and profiles use one,
// and content items take a copy of it. Start with Record; Use notes a use, and DesignOf reads a design.
package template

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media/compose/theme"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Kind is the kind of a template's item.
const Kind = "template"

// Template is a template as lists show it.
type Template struct {
	resource.Resource
	// Name of the template.
	Name string `json:"name" example:"Acme, spring"`
	// Profile that it belongs to. Null: the account as a whole.
	ProfileID *tenant.Profile `json:"profile_id"`
}

// Record is the stored document of a template.
type Record struct {
	Template
	Design theme.Theme `json:"design"`
}

// Check returns all that is wrong with the design, with places in the member design.
func (r *Record) Check() error {
	var found []error
	for _, f := range r.Design.Check() {
		found = append(found, errs.Invalid("/design"+f.Member, "%s", f.Message))
	}
	return errs.All(found...)
}

// NotesKind is the kind of the item beside a template that has what changes without the template.
const NotesKind = "template_notes"

// Notes are beside a template from its creation to its deletion.
type Notes struct {
	// Users are the factories and profiles that have used it. Some may use it no more, or be gone: what ends a use
	// need not note it, as Using looks.
	Users []string `json:"users"`
	// Preview is the id of its last preview, or empty.
	Preview string `json:"preview,omitempty"`

	it store.Item
}

// NotesKey returns the key of the notes of a template.
func NotesKey(templateID string) store.Key { return store.IDKey("template_notes#" + templateID) }

// NotesOf returns the notes of an item that was read by NotesKey.
func NotesOf(it store.Item) (n Notes, err error) {
	if n.it = it; it.Kind != NotesKind {
		return n, fmt.Errorf("template: no notes in %q", it.PK)
	}
	return n, it.Decode(&n)
}

// Write adds changed notes to the transaction. It fails if they have changed meanwhile, or the template was deleted.
func (n *Notes) Write(tx *store.Tx) error { return tx.Rewrite(n.it, n) }

// Delete adds to the transaction that the notes end with their template, unless they have changed meanwhile.
func (n *Notes) Delete(tx *store.Tx) { tx.Delete(n.it) }

// Open adds the notes of a new template to the transaction, which creates the template.
func Open(tx *store.Tx, o tenant.Owner, templateID string) error {
	it := store.Item{Key: NotesKey(templateID), Kind: NotesKind, Owner: o}
	if err := it.Encode(Notes{Users: []string{}}); err != nil {
		return err
	}
	tx.Create(it, nil)
	return nil
}

// Add adds a new template and its notes to the transaction.
func Add(tx *store.Tx, now time.Time, o tenant.Owner, r *Record) error {
	it, err := store.NewItem(Kind, o, r.ID, r)
	if err != nil {
		return err
	}
	quota.Templates.Take(tx, now, &it)
	tx.Create(it, nil)
	return Open(tx, o, r.ID)
}

// MostUsers is the number of factories and profiles that may use a template.
const MostUsers = 5000

// Use adds to the transaction that a factory or profile of the owner uses a template from now on, unless it has used it
// before. The template must be one that the caller sees, of the owner's profile or of the account as a whole. Errors
// name the member template_id.
func Use(ctx context.Context, db *store.DB, tx *store.Tx, o tenant.Owner, user string, was, templateID *string) error {
	if templateID == nil || resource.Equal(was, templateID) {
		return nil
	}
	it, beside, err := resource.FindWith(ctx, db, id.Template, Kind, *templateID, NotesKey(*templateID))
	if err == nil && !o.Uses(it.Owner) {
		err = errs.Missing(Kind, *templateID)
	}
	if err != nil {
		return errs.At("/template_id", err)
	}
	n, err := NotesOf(beside[0])
	if err != nil {
		return err
	}
	if len(n.Users) >= MostUsers {
		if n.Users, err = n.Using(ctx, db, *templateID); err != nil {
			return err
		}
	}
	if len(n.Users) >= MostUsers {
		return errs.Invalid("/template_id", "is used by %d factories and profiles already, which is the maximum. "+
			"Create a copy of the template", MostUsers)
	}
	if !slices.Contains(n.Users, user) {
		n.Users = append(n.Users, user)
	}
	return n.Write(tx)
}

// user has the members of the document of a factory or profile by which it uses a template.
type user struct {
	TemplateID *string `json:"template_id"`
}

// Using returns the factories and profiles that use the template now. Nobody begins to while the notes stay as they
// are.
func (n *Notes) Using(ctx context.Context, db *store.DB, templateID string) (ids []string, err error) {
	items, err := db.GetAll(tenant.Unconfined(ctx), store.IDKeys(n.Users)...)
	if err != nil {
		return nil, err
	}
	ids = []string{}
	for i, it := range items {
		if it.Kind == "" || it.Kind == factoryrecord.Kind && factoryrecord.State(it) == factoryrecord.StateDeleted {
			continue
		}
		var u user
		if err := it.Decode(&u); err != nil {
			return nil, err
		}
		if u.TemplateID != nil && *u.TemplateID == templateID {
			ids = append(ids, n.Users[i])
		}
	}
	return ids, nil
}

// mostNamed is the number of users that a refusal names.
const mostNamed = 10

// Used returns the refusal to delete a template that factories or profiles use, which it names.
func Used(ids []string) error {
	names := strings.Join(ids[:min(len(ids), mostNamed)], ", ")
	if more := len(ids) - mostNamed; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return errs.New(errs.InvalidState, "The template is used by %s. Change their template_id, or set it to null, "+
		"first.", names)
}

// DesignOf returns the design of the first template that is named, for an owner whose factory or profile uses it. It is
// nil if none is named, or if the template is gone, as after a reset of the sandbox.
func DesignOf(ctx context.Context, db *store.DB, o tenant.Owner, ids ...*string) (*theme.Theme, error) {
	for _, templateID := range ids {
		if templateID == nil {
			continue
		}
		// A key that is bound to a profile makes content in a design of the account as a whole.
		it, err := db.Lookup(tenant.Unconfined(ctx), store.IDKey(*templateID))
		if err != nil || it.Kind != Kind || !o.Uses(it.Owner) {
			return nil, err
		}
		var r Record
		err = it.Decode(&r)
		return &r.Design, err
	}
	return nil, nil
}
