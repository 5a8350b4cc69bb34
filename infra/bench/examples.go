package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"time"

	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
)

// example is a call of an operation that succeeds each time.
type example struct {
	// id gives the resource in the path, made for this call where it is used up.
	id func(context.Context) (string, error)
	// part is the id of a part of it, where the path names one.
	part *string
	body any
	// live tells that it is made with a live key: the sandbox has nothing of the kind.
	live bool
	// undo is the operation that takes what was made away again, where there may only
	// be so many of them, or only so many that wait for their end.
	undo string
}

type object map[string]any

// examples gives one of each operation.
func (w *world) examples() map[string]example {
	// Ids are read when they are needed: there are none before the world is filled.
	of := func(id *string) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return *id, nil }
	}
	fresh := func(operation string) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) { return w.make(ctx, operation) }
	}
	canceled := func(ctx context.Context) (string, error) {
		id, err := w.make(ctx, "createContentItem")
		if err != nil {
			return "", err
		}
		_, err = w.call(ctx, request{operation: "cancelContentItem", id: id})
		return id, err
	}
	return map[string]example{
		"getMe":              {},
		"listBalanceEntries": {live: true},
		"listAuditEntries":   {},
		"listEvents":         {},
		"getEvent":           {id: of(&w.event)},

		"listApiKeys": {},
		"createApiKey": {undo: "revokeApiKey", body: object{
			"name": "CRM integration", "kind": "test", "scopes": []string{"content:read", "content:write"}, "ip_allow_list": []string{"192.0.2.0/24"},
		}},
		"getApiKey":    {id: of(&w.apiKey)},
		"updateApiKey": {id: of(&w.apiKey), body: object{"name": "CRM integration, production"}},
		"revokeApiKey": {id: fresh("createApiKey")},
		"rotateApiKey": {id: of(&w.apiKey), body: object{"overlap_seconds": 0}},

		"listPlans":  {},
		"listModels": {},

		"listFactories": {},
		"createFactory": {body: object{
			"type": "brand", "name": "Acme on social media", "language": "en", "tone": "warm and practical", "topics": []string{"running shoes", "training"},
			"settings": object{"brand_name": "Acme", "colors": []string{"#ff6600"}},
		}},
		"getFactory":    {id: of(&w.factory)},
		"updateFactory": {id: of(&w.factory), body: object{"tone": "dry and exact"}},

		"listContentItems": {},
		"createContentItem": {undo: "deleteContentItem", body: object{
			"factory_id": w.factory, "kind": "post", "prompt": "Our new trail running shoe, made of recycled nets",
		}},
		"createContentItems": {undo: "deleteContentItem", body: object{"items": []object{
			{"factory_id": w.factory, "kind": "post", "prompt": "Our new trail running shoe, made of recycled nets"},
			{"factory_id": w.factory, "kind": "video", "prompt": "How a fishing net becomes a shoe"},
		}}},
		"getContentItem":        {id: of(&w.item)},
		"updateContentItem":     {id: of(&w.item), body: object{"title": "Made of recycled nets", "hashtags": []string{"trailrunning"}}},
		"deleteContentItem":     {id: fresh("createContentItem")},
		"cancelContentItem":     {id: fresh("createContentItem")},
		"regenerateContentItem": {undo: "deleteContentItem", id: canceled, body: object{"prompt": "Our new trail running shoe, on a muddy path"}},

		"listWebhooks": {},
		"createWebhook": {undo: "deleteWebhook", body: object{
			"url": "http://127.0.0.1:9/hooks/content", "event_types": []string{"content.*", "balance.low"}, "description": "CRM",
		}},
		"getWebhook":    {id: of(&w.webhook)},
		"updateWebhook": {id: of(&w.webhook), body: object{"description": "CRM, production"}},
		"deleteWebhook": {id: fresh("createWebhook")},

		"rotateWebhookSecret": {id: of(&w.webhook)},
		"replayEvents":        {id: of(&w.webhook), body: object{"since": w.now().Add(-time.Hour).Format(time.RFC3339)}},
		"testWebhook":         {id: of(&w.webhook), body: object{"event_type": "content.generated"}},
		"createVideo":         {undo: "deleteGeneration", body: object{"prompt": "A trail running shoe on wet rock", "aspect_ratio": "9:16"}},
		"createImage":         {undo: "deleteGeneration", body: object{"prompt": "A trail running shoe on wet rock", "aspect_ratio": "4:5"}},
		"createMusic":         {undo: "deleteGeneration", body: object{"prompt": "Calm piano over soft rain", "seconds": 30}},
		"createVoice":         {undo: "deleteGeneration", body: object{"text": "Made of recycled nets.", "language": "en"}},
		"createAvatar":        {undo: "deleteGeneration", body: object{"text": "Made of recycled nets.", "image_url": "http://127.0.0.1:9/anna.jpg"}},
		"estimateGeneration":  {body: object{"kind": "image", "input": object{"prompt": "A trail running shoe on wet rock"}}},
		"listGenerations":     {},
		"getGeneration":       {id: of(&w.generation)},
		"deleteGeneration":    {id: fresh("createImage")},

		"listDeliveries": {id: of(&w.webhook)},
		"redeliver":      {id: of(&w.webhook), part: &w.delivery},
	}
}

// described stands in for the object store: it describes files and keeps none.
type described struct{}

var _ generate.Objects = described{}

// Remove has nothing to remove.
func (described) Remove(context.Context, media.Place) error { return nil }

// Save describes a file.
func (described) Save(_ context.Context, place media.Place, n int, body io.Reader) (media.File, error) {
	hash := sha256.New()
	size, err := io.Copy(hash, body)
	return media.File{
		ID: place.ID(n), Type: media.Image, MIMEType: "image/png", Key: place.Key(n, "png"),
		Width: 1080, Height: 1350, Bytes: size, SHA256: hex.EncodeToString(hash.Sum(nil)),
	}, err
}
