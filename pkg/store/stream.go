package store

import (
	"encoding/json"

	"github.com/content-automation/api/pkg/tenant"
)

// FromStream returns the item of a record of the table's stream, with its key, kind,
// owner, document the filters of events and its origin. Text returns a string attribute of the
// record's image.
func FromStream(text func(name string) (string, bool)) Item {
	get := func(name string) string {
		s, _ := text(name)
		return s
	}
	it := Item{
		Key: Key{get(attrPK), get(attrSK)}, Kind: get(attrKind),
		Owner: tenant.Of(tenant.Account(get(attrAccount)), tenant.Mode(get(attrMode))),
		Doc:   json.RawMessage(get(attrDoc)), Filters: map[string]string{},
	}
	for _, name := range []string{"type", "factory"} {
		if v := get(filterPrefix + name); v != "" {
			it.Filters[name] = v
		}
	}
	if v := get(textPrefix + OriginAttribute); v != "" {
		it.Attributes = map[string]string{OriginAttribute: v}
	}
	return it
}
