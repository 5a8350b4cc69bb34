package metered

import (
	"context"
	"fmt"
	"time"
)

// seller is the body of a factory that has products.
var seller = Object{"type": "seller", "name": "Acme shop", "settings": Object{"currency": "EUR", "shop_name": "Acme"}}

// Seller creates a factory that has products.
func (w *World) Seller(ctx context.Context, key string) (string, error) {
	made, err := w.Call(ctx, Request{Operation: "createFactory", Key: key, Body: seller})
	if err != nil {
		return "", err
	}
	return made.ID()
}

// productBody returns the body of a product. Each body has a different SKU.
func (w *World) productBody(context.Context) (Object, error) {
	w.products++
	return Object{
		"factory_id": w.seller, "sku": fmt.Sprintf("TRAIL-%d", 40+w.products), "name": "Trail running shoe",
		"description": "Made of recycled nets, for wet rock",
		"price":       Object{"amount": 12900, "currency": "EUR"}, "url": "https://shop.example.com/trail",
		"attributes": Object{"color": "red"},
	}, nil
}

// promotionBody returns the body of a promotion with a new product, because a product can be in only a few
// promotions at a time.
func (w *World) promotionBody(ctx context.Context) (Object, error) {
	product, err := w.make(ctx, "createProduct")
	return Object{
		"factory_id": w.seller, "product_ids": []string{product}, "name": "Autumn sale",
		"discount": Object{"kind": "percent", "value": 20},
		"ends_at":  w.Clock.Truncate(time.Second).AddDate(0, 0, 14).Format(time.RFC3339),
		"message":  "Only while stocks last",
	}, err
}

// photographed creates a product with a photo, and keeps the id of the photo.
func (w *World) photographed(ctx context.Context) (product string, err error) {
	if product, err = w.make(ctx, "createProduct"); err != nil {
		return "", err
	}
	added, err := w.Call(ctx, Request{Operation: "addProductPhoto", ID: product,
		Body: w.Examples()["addProductPhoto"].Body})
	if err != nil {
		return "", err
	}
	w.photo, err = added.ID()
	return product, err
}

// feedBody is that of a feed that nobody fetches.
var feedBody = Object{"source": Object{"url": "http://127.0.0.1:9/google.xml"}, "format": "google_xml",
	"on_sold_out": "hold"}

// fed creates a factory with a feed.
func (w *World) fed(ctx context.Context) (factory string, err error) {
	if factory, err = w.Seller(ctx, ""); err == nil {
		_, err = w.Call(ctx, Request{Operation: "setFeed", ID: factory, Body: feedBody})
	}
	return factory, err
}

// synced creates a factory with a run of its feed, and keeps the id of the run.
func (w *World) synced(ctx context.Context) (factory string, err error) {
	if factory, err = w.fed(ctx); err != nil {
		return "", err
	}
	run, err := w.Call(ctx, Request{Operation: "syncFeed", ID: factory, Body: Object{}})
	if err != nil {
		return "", err
	}
	w.feedRun, err = run.ID()
	return factory, err
}
