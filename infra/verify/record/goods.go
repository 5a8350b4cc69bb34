package main

import (
	"context"
	"maps"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/pkg/area/media/incoming"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// goodsRefusals are those of products and promotions.
var goodsRefusals = map[string]map[errs.Code]spoiler{
	"createProduct": {
		errs.ValidationFailed: member("price", metered.Object{"amount": -1, "currency": "EUR"}),
		errs.NotFound:         member("factory_id", unknownFactory),
		errs.WrongFactoryType: inBrand,
		errs.Duplicate:        again,
	},
	"updateProduct": {
		errs.ValidationFailed: member("price", metered.Object{"currency": "EURO"}),
		errs.Duplicate:        takenSKU,
	},
	"deleteProduct": {errs.InvalidState: promoted},
	"addProductPhoto": {
		errs.ValidationFailed: member("mime_type", "image/svg+xml"),
		errs.InvalidState:     untilRefused,
		errs.QueueFull:        fullOf("media-pending#", incoming.MaxPending),
		errs.UnsupportedMedia: ofRecording,
	},
	"createPromotion": {
		errs.ValidationFailed: member("discount", metered.Object{"kind": "percent", "value": 120}),
		errs.NotFound:         member("factory_id", unknownFactory),
		errs.WrongFactoryType: inBrand,
	},
	"updatePromotion": {
		errs.ValidationFailed: member("ends_at", "2020-01-01T00:00:00Z"),
		errs.InvalidState: func(ctx context.Context, s *scene, r *metered.Request) error {
			_, err := s.w.Call(ctx, metered.Request{Operation: r.Operation, ID: r.ID, Body: metered.Object{"state": "ended"}})
			return err
		},
	},
}

func init() { maps.Copy(refusals, goodsRefusals) }

// inBrand sends the call to a factory that has no products.
func inBrand(ctx context.Context, s *scene, r *metered.Request) error {
	factory, err := s.make(ctx, r.Key, "createFactory", s.w.Examples()["createFactory"].Body)
	r.Body = inFactory(r.Body, factory)
	return err
}

// takenSKU asks for the SKU of another product of the factory.
func takenSKU(ctx context.Context, s *scene, r *metered.Request) error {
	other, err := s.w.Prepare(ctx, "createProduct")
	if err == nil {
		_, err = s.w.Call(ctx, other)
	}
	r.Body = metered.Object{"sku": other.Body.(metered.Object)["sku"]}
	return err
}

// promoted has a promotion include the product.
func promoted(ctx context.Context, s *scene, r *metered.Request) error {
	promotion, err := s.w.Prepare(ctx, "createPromotion")
	if err != nil {
		return err
	}
	promotion.Body = changed(promotion.Body.(metered.Object), "product_ids", []string{r.ID})
	_, err = s.w.Call(ctx, promotion)
	return err
}

// ofRecording names a media that is no picture.
func ofRecording(ctx context.Context, s *scene, r *metered.Request) error {
	made, err := s.w.Prepare(ctx, "createMedia")
	if err != nil {
		return err
	}
	made.Body = changed(changed(made.Body.(metered.Object), "type", "audio"), "mime_type", "audio/mpeg")
	answer, err := s.w.Call(ctx, made)
	if err != nil {
		return err
	}
	mediaID, err := answer.ID()
	if err != nil {
		return err
	}
	it, err := s.w.State.Get(ctx, store.IDKey(mediaID))
	if err != nil {
		return err
	}
	of, err := incoming.Decode(&it)
	if err != nil {
		return err
	}
	tx := &store.Tx{}
	if err := incoming.Settle(tx, s.w.Now(), it, of, &media.File{ID: mediaID, Type: media.Audio, MIMEType: "audio/mpeg"}, nil); err != nil {
		return err
	}
	r.Body = metered.Object{"media_id": mediaID}
	return s.w.State.Commit(ctx, tx)
}
