package mcp

import (
	"context"
	"net/http"
	"strconv"
)

type reviewIn struct {
	ContentItemID string `json:"content_item_id"`
	Decision      string `json:"decision"`
	Note          string `json:"note,omitempty"`
	Confirmation  string `json:"confirmation,omitempty"`
}

var reviewTexts = map[string]string{"note": "needed with request_changes"}

// review approves an item, or asks for changes. Its idempotency keys have the version of the item, because the same
// decision can be made again after a change. An item that is as the call wants it is left as it is.
func review(ctx context.Context, c call, in reviewIn) (said, error) {
	if in.Decision == "request_changes" && in.Note == "" {
		return said{}, invalid("note", "Say in note what is to be changed, such as \"Name the price first.\"")
	}
	path := pathOf("content-items", in.ContentItemID)
	item, err := into[struct {
		Title     string   `json:"title"`
		Caption   string   `json:"caption"`
		Hashtags  []string `json:"hashtags"`
		PublishAt *string  `json:"publish_at"`
		Version   int64    `json:"version"`
		Approval  struct{ State string }
	}](c.get(ctx, path, nil))
	if err != nil {
		return said{}, err
	}
	to := "/approve"
	switch {
	case in.Decision == "request_changes":
		to = "/request-changes"
	case item.Approval.State == "approved":
		return c.read(ctx, path, "The item is approved already. ")
	}
	switch ask, err := c.asks(in.Confirmation); {
	case err != nil:
		return said{}, err
	case ask:
		text := "This asks for changes of the item."
		if in.Decision == "approve" {
			text = "This approves the item: it is published at its time, or at once if its factory publishes by itself."
		}
		return c.asked(text, object{"title": item.Title, "caption": item.Caption, "hashtags": item.Hashtags,
			"publish_at": item.PublishAt, "note": in.Note}), nil
	}
	key := c.key + "-" + strconv.FormatInt(item.Version, 10)
	_, err = c.caller.call(ctx, http.MethodPost, pathOf("approvals", in.ContentItemID)+to, pick(in, "note"), key)
	if err != nil {
		return said{}, err
	}
	return c.read(ctx, path, "")
}
