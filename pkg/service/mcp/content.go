package mcp

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/base/backoff"
)

// mostWait is the longest wait for work in the background, and usualWait the one without wait_seconds.
const (
	mostWait  = 25
	usualWait = 20
)

type orderIn struct {
	Repeat       int    `json:"repeat,omitempty"`
	Confirmation string `json:"confirmation,omitempty"`
}

type waitIn struct {
	WaitSeconds *int `json:"wait_seconds,omitempty"`
}

type createIn struct {
	orderIn
	waitIn
	FactoryID        string   `json:"factory_id"`
	Kind             string   `json:"kind"`
	Prompt           string   `json:"prompt,omitempty"`
	From             string   `json:"from_content_item_id,omitempty"`
	Media            []string `json:"media,omitempty"`
	Title            string   `json:"title,omitempty"`
	Caption          string   `json:"caption,omitempty"`
	Hashtags         []string `json:"hashtags,omitempty"`
	Language         string   `json:"language,omitempty"`
	DurationSeconds  int      `json:"duration_seconds,omitempty"`
	Format           string   `json:"format,omitempty"`
	Script           string   `json:"script,omitempty"`
	ProductID        string   `json:"product_id,omitempty"`
	PublishAt        string   `json:"publish_at,omitempty"`
	SocialAccountIDs []string `json:"social_account_ids,omitempty"`
}

// timeText describes a time of publication.
const timeText = "2027-01-15T09:00:00Z, or 2027-01-15T09:00 in the factory's zone"

var createTexts = map[string]string{
	"prompt":           "what it is about",
	"media":            "own files to publish: med_… of upload_media",
	"duration_seconds": "of a video or music clip",
	"format":           "of a video: 9:16 or 16:9", "script": "what is said in a video, word for word",
	"publish_at": timeText,
}

type reviseIn struct {
	orderIn
	waitIn
	ContentItemID string   `json:"content_item_id"`
	Title         string   `json:"title,omitempty"`
	Caption       string   `json:"caption,omitempty"`
	Hashtags      []string `json:"hashtags,omitempty"`
	Regenerate    bool     `json:"regenerate,omitempty"`
	Prompt        string   `json:"prompt,omitempty"`
}

var reviseTexts = map[string]string{
	"hashtags": "without the #", "regenerate": "make it anew, for credits", "prompt": "new prompt; needs regenerate",
}

var kinds = []any{"post", "video", "carousel", "story", "music_clip"}

func (s *server) addContent() {
	add(s, tool[createIn]{name: "create_content", scope: "content:write", effect: publishes,
		doc: "Create a content item for credits, and wait for it. publish_at publishes it then; a factory with " +
			"auto_publish does so itself.",
		values: map[string][]any{"kind": kinds, "format": {"short", "long"}}, texts: createTexts, out: itemOut,
		run: create})
	add(s, tool[reviseIn]{name: "revise_content", scope: "content:write", effect: changes,
		doc:   "Change texts of a content item, free of charge, or regenerate it.",
		texts: reviseTexts, out: itemOut, run: revise})
	add(s, tool[reviewIn]{name: "review_content", scope: "content:publish", effect: publishes,
		doc:    "Approve a content item, or ask for changes. Approval schedules it if it has a publish_at.",
		values: map[string][]any{"decision": {"approve", "request_changes"}}, texts: reviewTexts, out: itemOut,
		run: review})
	add(s, tool[publishIn]{name: "schedule_or_publish", scope: "content:publish", effect: publishes,
		doc:   "Publish a content item now or at a time, or take it off the schedule. Free of charge.",
		texts: publishTexts, out: itemOut, run: publish})
}

func create(ctx context.Context, c call, in createIn) (toolResult, error) {
	body := pick(in, "factory_id", "kind", "prompt", "from_content_item_id", "title", "caption", "hashtags",
		"language", "duration_seconds", "format", "script", "product_id", "social_account_ids", "media")
	if len(in.Media) > 0 {
		body["source"] = "provided"
	}
	if in.PublishAt != "" {
		at, err := c.timeOf(ctx, "publish_at", in.PublishAt, in.FactoryID)
		if err != nil {
			return toolResult{}, err
		}
		body["publish_at"] = at
	}
	wait, err := in.wait()
	if err != nil {
		return toolResult{}, err
	}
	ask, err := c.asks(in.Confirmation)
	if err != nil {
		return toolResult{}, err
	}
	if ask {
		at, _ := body["publish_at"].(string)
		text, err := c.outlook(ctx, in.FactoryID, at)
		if err != nil {
			return toolResult{}, err
		}
		return c.price(ctx, "createContentItem", object{"body": body}, "A new "+in.Kind+"."+text)
	}
	began := c.now()
	a, err := c.caller.call(ctx, http.MethodPost, "/v1/content-items", body, c.key)
	if err != nil {
		return toolResult{}, err
	}
	return c.await(ctx, "content-items", a, began, wait)
}

// outlook says whether an item of a factory is published once it is generated.
func (c call) outlook(ctx context.Context, factory, publishAt string) (string, error) {
	if publishAt != "" {
		return " It is published at " + publishAt + ", once it is generated.", nil
	}
	f, err := into[struct {
		Auto bool `json:"auto_publish"`
	}](c.get(ctx, pathOf("factories", factory), nil))
	if err == nil && f.Auto {
		return " The factory publishes by itself what is generated, because its auto_publish is true.", nil
	}
	return "", err
}

func (w waitIn) wait() (time.Duration, error) {
	if w.WaitSeconds == nil {
		return usualWait * time.Second, nil
	}
	if *w.WaitSeconds < 0 || *w.WaitSeconds > mostWait {
		return 0, invalid("wait_seconds", "wait_seconds must be 0 to %d.", mostWait)
	}
	return time.Duration(*w.WaitSeconds) * time.Second, nil
}

// await reads a resource until its work has ended, or until the wait since a time is over.
func (c call) await(ctx context.Context, collection string, a *answer, began time.Time,
	wait time.Duration) (toolResult, error) {
	item, err := into[object](a, nil)
	if err != nil {
		return toolResult{}, err
	}
	id, _ := item["id"].(string)
	note := a.note()
	looked := false
	for pause := time.Second; ; pause += time.Second {
		works := item["state"] == "queued" || item["state"] == "generating"
		// An item with a time is scheduled a moment after it is generated.
		if ordered := item["state"] == "generated" && item["publish_at"] != nil; !works && (looked || !ordered) {
			break
		}
		looked = !works
		left := wait - c.now().Sub(began)
		if left <= 0 {
			break
		}
		if backoff.Sleep(ctx, min(pause, left)) != nil {
			break // the caller gets what there is
		}
		next, err := into[object](c.get(ctx, pathOf(collection, id), nil))
		if err != nil {
			return itemSaid(note+"It could not be read again. ", item), nil
		}
		item = next
	}
	return itemSaid(note, item), nil
}

// note says that an answer is a repeat.
func (a *answer) note() string {
	if a == nil || !a.isReplay {
		return ""
	}
	return "This was done before with the same arguments: this is its result. Set repeat to do it again. "
}

// itemSaid describes an item or a generation by its state, with its members that agents use.
func itemSaid(note string, item object) toolResult {
	id, _ := item["id"].(string)
	text := fmt.Sprintf("%s is %s.", id, cmp.Or(textOf(item["state"]), "accepted"))
	switch item["state"] {
	case "queued", "generating":
		text += " The work goes on: read it again in a while."
	case "failed":
		text += " The failure says why, and whether it is retryable."
	case "generated":
		text += " Its files have URLs that are valid for an hour."
	}
	if approval, _ := item["approval"].(object); approval["state"] == "pending" ||
		approval["state"] == "changes_requested" {
		if at, _ := item["publish_at"].(string); at != "" {
			text += " It has the time " + at + ", but is not published before it is approved"
		} else {
			text += " It waits for an approval, and is not published before"
		}
		text += ": review_content, or a review link for a person."
	}
	out := pick(item, append([]string{"model", "hashtags", "slides", "script", "product_id", "content_plan_id",
		"social_account_ids", "omitted_accounts", "publications", "cost_credits", "reserved_credits", "progress"},
		itemMembers...)...)
	var files []any
	media, _ := item["media"].([]any)
	for _, m := range media {
		one := pick(m, "role", "type", "mime_type", "url", "width", "height", "duration_seconds")
		if one["role"] == "final" || one["role"] == nil {
			files = append(files, one)
		}
	}
	out["media"] = files
	return toolResult{text: note + text, data: out}
}

// revise changes the texts of an item, or regenerates it.
func revise(ctx context.Context, c call, in reviseIn) (toolResult, error) {
	texts := pick(in, "title", "caption", "hashtags")
	wait, err := in.wait()
	switch {
	case err != nil:
		return toolResult{}, err
	case in.Prompt != "" && !in.Regenerate:
		return toolResult{}, invalid("prompt", "A new prompt needs regenerate: true.")
	case len(texts) == 0 && !in.Regenerate:
		return toolResult{}, invalid("caption", "Give a title, a caption or hashtags, or set regenerate to true.")
	}
	path := pathOf("content-items", in.ContentItemID)
	body := pick(in, "prompt")
	ask, err := c.asks(in.Confirmation)
	if err != nil {
		return toolResult{}, err
	}
	if ask {
		item, err := into[object](c.get(ctx, path, nil))
		switch {
		case err != nil:
			return toolResult{}, err
		case in.Regenerate:
			factory, _ := item["factory_id"].(string)
			at, _ := item["publish_at"].(string)
			text, err := c.outlook(ctx, factory, at)
			if err != nil {
				return toolResult{}, err
			}
			return c.price(ctx, "regenerateContentItem", object{"content_item_id": in.ContentItemID, "body": body},
				"Another attempt for "+in.ContentItemID+"."+text)
		case item["state"] == "scheduled":
			return c.input("The item is scheduled: the new texts will be published.", object{"new_texts": texts,
				"publish_at": item["publish_at"]}), nil
		}
		return c.input("This changes the texts of the item.", object{"new_texts": texts, "state": item["state"]}), nil
	}
	began := c.now()
	var a *answer
	if len(texts) > 0 { // a repeat makes the same texts, so that it needs no key
		if a, err = c.caller.call(ctx, http.MethodPatch, path, texts, ""); err != nil {
			return toolResult{}, err
		}
	}
	if in.Regenerate {
		if a, err = c.caller.call(ctx, http.MethodPost, path+"/regenerate", body, c.key); err != nil {
			return toolResult{}, err
		}
	}
	return c.await(ctx, "content-items", a, began, wait)
}

// price asks for a confirmation with the price of an operation.
func (c call) price(ctx context.Context, operation string, order object, text string) (toolResult, error) {
	order["operation"] = operation
	e, err := into[struct{ Credits int64 }](c.caller.call(ctx, http.MethodPost, "/v1/balance/estimates", order, ""))
	if err != nil {
		return toolResult{}, err
	}
	return c.input(text+" Price: "+strconv.FormatInt(e.Credits, 10)+" credits.",
		object{"credits": e.Credits, "order": order}), nil
}
