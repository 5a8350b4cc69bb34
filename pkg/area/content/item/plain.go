package item

import (
	"context"

	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/store"
)

var _ generate.Looking = (*work)(nil)

// Look implements generate.Looking. The finished media show no logo and no name if one of
// the accounts that the item may be published to is of a platform that permits none, unless
// the settings have a place for the logo there. The accounts are those of the item and of
// its factory, as they are now.
func (w *work) Look(ctx context.Context, db *store.DB) (look generate.Look, err error) {
	if !w.Brief.Brand.Shows() && w.offer() == nil && w.Brief.Logo == nil && w.bumpers() == 0 {
		return look, nil
	}
	rows, err := w.platforms(ctx, db)
	if err != nil {
		return look, err
	}
	var platforms []string
	for _, p := range rows {
		platforms = append(platforms, p.Name)
		look.Plain = look.Plain || p.Capabilities.Plain && !w.Brief.Logo.shown(p.Name)
	}
	if w.Brief.Logo != nil {
		look.Place = w.Brief.Logo.at(platforms)
	}
	return look, nil
}

// Show implements generate.Looking.
func (w *work) Show(look generate.Look) { w.look = look }

func accountKeys(ids []string) []store.Key {
	keys := make([]store.Key, len(ids))
	for i, id := range ids {
		keys[i] = store.IDKey(id)
	}
	return keys
}
