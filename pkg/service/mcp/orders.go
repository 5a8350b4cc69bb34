package mcp

import (
	"context"
	"net/http"
	"strconv"
	"strings"
)

type planIn struct {
	orderIn
	FactoryID    string   `json:"factory_id"`
	Days         int      `json:"days,omitempty" jsonschema:"1 to 90; default 7"`
	PostsPerDay  int      `json:"posts_per_day,omitempty" jsonschema:"1 to 10; default 1"`
	ContentTypes []string `json:"content_types,omitempty" jsonschema:"default: those of the factory"`
	StartsOn     string   `json:"starts_on,omitempty" jsonschema:"first day, YYYY-MM-DD; default: tomorrow"`
	Brief        string   `json:"brief,omitempty" jsonschema:"what the plan is about"`
	ProductIDs   []string `json:"product_ids,omitempty"`
}

type productIn struct {
	orderIn
	FactoryID   string `json:"factory_id" jsonschema:"factory of type seller"`
	SKU         string `json:"sku" jsonschema:"number of the product, unique in its factory"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	Amount      *int64 `json:"amount,omitempty" jsonschema:"price in minor units, such as cents; needs currency"`
	Currency    string `json:"currency,omitempty" jsonschema:"ISO 4217"`
	URL         string `json:"url,omitempty" jsonschema:"page where it is sold"`
}

type estimateIn struct {
	Operation     string         `json:"operation"`
	Body          map[string]any `json:"body" jsonschema:"body of the operation"`
	FactoryID     string         `json:"factory_id,omitempty" jsonschema:"for createContentPlan and startTraining"`
	ContentItemID string         `json:"content_item_id,omitempty" jsonschema:"for regenerateContentItem"`
	CommentID     string         `json:"comment_id,omitempty" jsonschema:"for updateComment"`
	ChatID        string         `json:"chat_id,omitempty" jsonschema:"for sendMessage"`
}

type studioIn struct {
	orderIn
	waitIn
	Kind        string `json:"kind"`
	Prompt      string `json:"prompt,omitempty" jsonschema:"what to make: image, video and music"`
	Text        string `json:"text,omitempty" jsonschema:"text to speak: voice and avatar"`
	Model       string `json:"model,omitempty" jsonschema:"id of a model; default: that of the kind"`
	AspectRatio string `json:"aspect_ratio,omitempty" jsonschema:"of an image, video or avatar, such as 9:16"`
	Seconds     int    `json:"seconds,omitempty" jsonschema:"length of a video or of music"`
	Language    string `json:"language,omitempty" jsonschema:"of a voice or avatar, BCP 47"`
	Voice       string `json:"voice,omitempty"`
	ImageURL    string `json:"image_url,omitempty" jsonschema:"public https URL or media id to start from"`
}

// studioOperations are the operations of the studio by kind: the last part of the path, and the id.
var studioOperations = map[string][2]string{
	"image": {"images", "createImage"}, "video": {"videos", "createVideo"}, "music": {"music", "createMusic"},
	"voice": {"voices", "createVoice"}, "avatar": {"avatars", "createAvatar"},
}

func (s *server) addOrders() {
	add(s, tool[planIn]{name: "plan_week", title: "Plan a week", scope: "factories:write", effect: publishes,
		doc: "Plan the content of a week or of other days: items are generated at once, and have times. It costs credits. A " +
			"factory with auto_publish publishes them; others are published with schedule_or_publish.",
		values: map[string][]any{"content_types": {"short_video", "post", "carousel", "story", "long_video"}}, run: plan})
	add(s, tool[productIn]{name: "save_product", title: "Save a product", scope: "products:write", effect: changes,
		doc: "Create a product of a seller factory, or change the one with the same sku.", run: saveProduct})
	add(s, tool[estimateIn]{name: "estimate", title: "Estimate the price", scope: "account:read",
		doc: "The price in credits of an operation, before it is called. It changes nothing.",
		values: map[string][]any{"operation": {"createContentItem", "createContentItems", "regenerateContentItem",
			"createContentPlan", "createImage", "createVideo", "createMusic", "createVoice", "createAvatar", "sendMessage",
			"startTraining", "updateComment"}}, run: estimate})
	add(s, tool[studioIn]{name: "studio_generate", title: "Generate in the studio", scope: "studio:use", effect: adds,
		doc: "Generate one image, video, music track, voice or avatar outside of a factory, and wait for it. It costs credits. " +
			"If the wait ends first, read it later with call_operation and getGeneration.",
		values: map[string][]any{"kind": {"image", "video", "music", "voice", "avatar"}}, run: studio})
}

func plan(ctx context.Context, c call, in planIn) (said, error) {
	body := pick(in, "content_types", "starts_on", "brief", "product_ids")
	body["days"], body["posts_per_day"] = max(in.Days, 0), max(in.PostsPerDay, 0)
	if in.Days == 0 {
		body["days"] = 7
	}
	if in.PostsPerDay == 0 {
		body["posts_per_day"] = 1
	}
	ask, err := c.asks(in.Confirmation)
	if err != nil {
		return said{}, err
	}
	if ask {
		text, err := c.outlook(ctx, in.FactoryID, "")
		if err != nil {
			return said{}, err
		}
		return c.price(ctx, "createContentPlan", object{"factory_id": in.FactoryID, "body": body},
			"A content plan."+text)
	}
	a, err := c.caller.call(ctx, http.MethodPost, pathOf("factories", in.FactoryID, "content-plan"), body, c.key)
	data, err := into[any](a, err)
	return said{a.note() + "The plan is accepted. Its items are made in the background: list_content shows them.", data}, err
}

// saveProduct creates or changes a product. A product has its sku once, so that a repeat makes no other product.
func saveProduct(ctx context.Context, c call, in productIn) (said, error) {
	a, err := c.get(ctx, "/v1/products", pageIn{Limit: 1}.query("factory_id", in.FactoryID, "sku", in.SKU))
	found, err := into[[]struct{ ID string }](a, err)
	if err != nil {
		return said{}, err
	}
	body := pick(in, "name", "description", "url")
	if in.Amount != nil || in.Currency != "" {
		body["price"] = pick(in, "amount", "currency")
	}
	method, path, text := http.MethodPost, "/v1/products", "The product is created."
	if len(found) > 0 {
		method, path, text = http.MethodPatch, pathOf("products", found[0].ID), "The product is changed."
	} else {
		body["factory_id"], body["sku"] = in.FactoryID, in.SKU
	}
	switch ask, err := c.asks(in.Confirmation); {
	case err != nil:
		return said{}, err
	case ask:
		return c.asked("This creates or changes the product "+strconv.Quote(in.SKU)+".", body), nil
	}
	a, err = c.caller.call(ctx, method, path, body, c.key+"-"+strings.ToLower(method))
	data, err := into[any](a, err)
	return said{a.note() + text, data}, err
}

func estimate(ctx context.Context, c call, in estimateIn) (said, error) {
	a, err := c.caller.call(ctx, http.MethodPost, "/v1/balance/estimates", in, "")
	data, err := into[any](a, err)
	return said{"The price with a live key. Test keys spend nothing.", data}, err
}

func studio(ctx context.Context, c call, in studioIn) (said, error) {
	wait, err := in.wait()
	if err != nil {
		return said{}, err
	}
	of := studioOperations[in.Kind]
	body := pick(in, "prompt", "text", "model", "aspect_ratio", "seconds", "language", "voice", "image_url")
	ask, err := c.asks(in.Confirmation)
	if err != nil {
		return said{}, err
	}
	if ask {
		return c.price(ctx, of[1], object{"body": body}, "A new generation in the studio: "+in.Kind+".")
	}
	began := c.now()
	a, err := c.caller.call(ctx, http.MethodPost, "/v1/studio/"+of[0], body, c.key)
	if err != nil {
		return said{}, err
	}
	return c.await(ctx, "studio/generations", a, began, wait)
}
