package content

import (
	"context"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// New is an item that the service makes on behalf of a caller.
type New struct {
	FactoryID, Kind, Prompt string
	// ProductID is the product that it presents, or empty.
	ProductID string
	Metadata  resource.Metadata
}

// Make adds an item to the transaction, on behalf of a principal. Make and the commit refuse it as createContentItem
// does.
func (s *Service) Make(ctx context.Context, tx *store.Tx, p *auth.Principal, n New) (item.Item, error) {
	return s.create(auth.NewContext(ctx, p), tx, &createInput{createBody{
		FactoryID: n.FactoryID, Kind: item.Kind(n.Kind), Prompt: n.Prompt, ProductID: n.ProductID, Metadata: n.Metadata,
	}})
}
