package factory

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// document has the members of a factory's document that change with its social accounts.
type document struct {
	resource.Resource
	Accounts []string `json:"social_account_ids"`
}

// Accounts returns the ids of the social accounts of a factory's item.
func Accounts(it *store.Item) ([]string, error) {
	var d document
	return d.Accounts, it.Decode(&d)
}

// Attach adds a social account to a factory's item, and reports whether it was not there
// before. The rest of the document stays as it is.
func Attach(it *store.Item, accountID string, now time.Time) (changed bool, err error) {
	return edit(it, now, func(ids []string) []string {
		if slices.Contains(ids, accountID) {
			return ids
		}
		return append(ids, accountID)
	})
}

// Detach removes a social account from a factory's item, and reports whether it was there.
func Detach(it *store.Item, accountID string, now time.Time) (changed bool, err error) {
	return edit(it, now, func(ids []string) []string {
		return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == accountID })
	})
}

func edit(it *store.Item, now time.Time, change func([]string) []string) (changed bool, err error) {
	var d document
	all := map[string]json.RawMessage{}
	if err := it.Decode(&d); err != nil {
		return false, err
	}
	if err := it.Decode(&all); err != nil {
		return false, err
	}
	ids := change(d.Accounts)
	if len(ids) == len(d.Accounts) {
		return false, nil
	}
	d.Touch(now)
	for name, value := range map[string]any{"social_account_ids": ids, "version": d.Version,
		"updated_at": d.UpdatedAt} {
		if all[name], err = json.Marshal(value); err != nil {
			return false, fmt.Errorf("ref: encode %s of %s: %w", name, it.PK, err)
		}
	}
	return true, it.Encode(all)
}
