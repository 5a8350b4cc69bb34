// Package product wires the function product: products and promotions.
package product

import (
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/product/promotion"
	"github.com/content-automation/api/pkg/httpapi"
)

// Mount registers the operations of the function with a router.
func Mount(r *httpapi.Router, e area.Env) {
	product.Mount(r, e)
	promotion.Mount(r, e)
}
