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
	Days         int      `json:"days,omitempty"`
	PostsPerDay  int      `json:"posts_per_day,omitempty"`
	ContentTypes []string `json:"content_types,omitempty"`
	StartsOn     string   `json:"starts_on,omitempty"`
	Brief        string   `json:"brief,omitempty"`
	Approve      string   `json:"approve,omitempty"`
	ProductIDs   []string `json:"product_ids,omitempty"`
}

var planTexts = map[string]string{
	"days": "default 7", "posts_per_day": "1 to 10; default 1",
	"starts_on": "first day, 2027-01-15; default: tomorrow", "brief": "what the plan is about",
}

type productIn struct {
	orderIn
	FactoryID   string `json:"factory_id"`
	SKU         string `json:"sku"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	Amount      *int64 `json:"amount,omitempty"`
	Currency    string `json:"currency,omitempty"`
	URL         string `json:"url,omitempty"`
}

var productTexts = map[string]string{
	"factory_id": "fac_… of type seller", "sku": "its number", "name": "needed if it is new", "description": "facts",
	"amount": "price in cents; needs currency", "url": "page where it is sold",
}

type estimateIn struct {
	Operation     string         `json:"operation"`
	Body          map[string]any `json:"body"`
	FactoryID     string         `json:"factory_id,omitempty"`
	ContentItemID string         `json:"content_item_id,omitempty"`
}

var estimateTexts = map[string]string{
	"factory_id": "fac_…, for plans and training", "content_item_id": "cnt_…, for regenerateContentItem",
}

type studioIn struct {
	orderIn
	waitIn
	Kind        string `json:"kind"`
	Prompt      string `json:"prompt,omitempty"`
	Text        string `json:"text,omitempty"`
	Model       string `json:"model,omitempty"`
	AspectRatio string `json:"aspect_ratio,omitempty"`
	Seconds     int    `json:"duration_seconds,omitempty"`
	Language    string `json:"language,omitempty"`
	Voice       string `json:"voice,omitempty"`
	ImageURL    string `json:"image_url,omitempty"`
}

var studioTexts = map[string]string{
	"prompt": "what to make: image, video, music", "text": "text to speak: voice, avatar",
	"aspect_ratio": "such as 9:16", "duration_seconds": "of a video or music",
	"language": "BCP 47", "voice": "id from listVoices",
	"image_url": "public https URL or med_… to start from",
}

// studioOperations are the operations of the studio by kind: the last part of the path, and the id.
var studioOperations = map[string][2]string{
	"image": {"images", "createImage"}, "video": {"videos", "createVideo"}, "music": {"music", "createMusic"},
	"voice": {"voices", "createVoice"}, "avatar": {"avatars", "createAvatar"},
}

func (s *server) addOrders() {
	add(s, tool[planIn]{name: "plan_week", scope: "factories:write", effect: publishes,
		doc: "Plan the content of 1 to 90 days, for credits. approve: topics waits for " +
			"approvePlanTopics. auto_publish publishes it.",
		values: map[string][]any{"content_types": {"post", "video", "carousel", "story", "music_clip", "short_video",
			"long_video"},
			"approve": {"none", "topics"}},
		texts: planTexts, out: []string{"id", "state", "items{}"}, run: plan})
	add(s, tool[productIn]{name: "save_product", scope: "products:write", effect: changes,
		doc: "Create a product of a seller factory, or change the one with the same sku.", texts: productTexts,
		out: []string{"id", "state"}, run: saveProduct})
	add(s, tool[uploadIn]{name: "upload_media", scope: "content:write", effect: adds,
		doc:   "Bring in a picture, video or recording: by its address, or by a signed address to which you send it.",
		texts: uploadTexts, out: []string{"id", "state", "upload{}"}, run: upload})
	add(s, tool[estimateIn]{name: "estimate", scope: "account:read",
		doc: "The price of an operation in credits.",
		values: map[string][]any{"operation": {"createContentItem", "createContentItems", "regenerateContentItem",
			"createContentPlan", "createImage", "createVideo", "createMusic", "createVoice", "createAvatar",
			"startTraining"}}, texts: estimateTexts, out: []string{"credits#"}, run: estimate})
	add(s, tool[studioIn]{name: "studio_generate", scope: "studio:use", effect: adds,
		doc: "Generate an image, video, music, voice or avatar outside of a factory, and wait for it. It costs " +
			"credits. Read it later by getGeneration.",
		values: map[string][]any{"kind": {"image", "video", "music", "voice", "avatar"}}, texts: studioTexts,
		out: []string{"id", "state", "media[]"}, run: studio})
}

func plan(ctx context.Context, c call, in planIn) (said, error) {
	body := pick(in, "content_types", "starts_on", "brief", "product_ids", "approve")
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
	data, err := into[object](a, err)
	delete(data, "calendar") // list_content shows the items with their times
	if data["approve"] == "topics" {
		return said{text: a.note() + "The plan is accepted. Its topics wait for an approval: getContentPlan shows " +
			"them, and approvePlanTopics approves them.", data: data}, err
	}
	return said{text: a.note() + "The plan is accepted. Its items are made in the background: list_content with its " +
		"content_plan_id shows them.", data: data}, err
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
	data, err := into[object](a, err)
	return said{text: a.note() + text, data: pick(data, productMembers...)}, err
}

func estimate(ctx context.Context, c call, in estimateIn) (said, error) {
	a, err := c.caller.call(ctx, http.MethodPost, "/v1/balance/estimates", in, "")
	data, err := into[any](a, err)
	return said{text: "The price with a live key. Test keys spend nothing.", data: data}, err
}

func studio(ctx context.Context, c call, in studioIn) (said, error) {
	wait, err := in.wait()
	if err != nil {
		return said{}, err
	}
	of := studioOperations[in.Kind]
	body := pick(in, "prompt", "text", "model", "aspect_ratio", "duration_seconds", "language", "voice", "image_url")
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
