package factory

import "github.com/content-automation/api/pkg/store"

// Key is the key of a factory's item, for areas that read factories together with
// items of their own.
func Key(factoryID string) store.Key { return store.IDKey(factoryID) }

// Usable tells whether what was read by Key is a factory of the account and mode
// that was not deleted.
func Usable(it store.Item, account, mode string) bool {
	return it.Kind == Kind && it.Account == account && it.Mode == mode && it.Filters["state"] != StateDeleted
}
