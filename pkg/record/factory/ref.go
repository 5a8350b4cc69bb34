// Package factory has the parts of factories that other areas need. It does not import the rest of a factory, such as
// languages and time zones, so that functions that only check a factory start faster. State and Accounts read the item
// of a factory.
package factory

import (
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// Kind is the kind of a factory's item.
const Kind = "factory"

// The states of a factory in which it creates nothing new.
const (
	StatePaused  = "paused"
	StateDeleted = "deleted"
)

// State returns the state of a factory that was read by Key, or an empty text if there is none.
func State(it store.Item) string { return it.Filters["state"] }

// Key returns the key of a factory's item, for areas that read factories together with items of their own.
func Key(factoryID string) store.Key { return store.IDKey(factoryID) }

// Usable reports whether an item that was read by Key is a factory of the owner that was not deleted.
func Usable(it store.Item, o tenant.Owner) bool {
	return it.Kind == Kind && o.Sees(it.Owner) && it.Filters["state"] != StateDeleted
}

// seller is the type of the factories that have products and promotions.
const seller = "seller"

// RefError returns the error for a factory that a body names and that was not found, or that could not be read because
// of err.
func RefError(err error, factoryID string) error {
	if err != nil && errs.CodeOf(err) != errs.NotFound {
		return err
	}
	e := errs.Missing(Kind, factoryID)
	e.Param = "/factory_id"
	return e
}

// CheckSeller refuses a factory that has no products and promotions.
func CheckSeller(it store.Item, what string) error {
	if it.Filters["type"] == seller {
		return nil
	}
	e := errs.New(errs.WrongFactoryType, "Only a factory of the type seller has %s. This one is of the type %s.", what,
		it.Filters["type"])
	e.Param = "/factory_id"
	return e
}
