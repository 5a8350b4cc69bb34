package store

import "encoding/json"

// FromStream reads from a record of the table's stream what tells what the item
// is: key, kind, owner and document, and the filter named type. Text gives a
// string attribute of the record's image.
func FromStream(text func(name string) (string, bool)) Item {
	get := func(name string) string {
		s, _ := text(name)
		return s
	}
	it := Item{
		Key: Key{get(attrPK), get(attrSK)}, Kind: get(attrKind), Account: get(attrAccount), Mode: get(attrMode),
		Doc: json.RawMessage(get(attrDoc)), Filters: map[string]string{},
	}
	if t := get(filterPrefix + "type"); t != "" {
		it.Filters["type"] = t
	}
	return it
}
