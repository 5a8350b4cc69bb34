package httpapi

import (
	"net/http"
	"strings"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
)

// pathID is a parameter of a path that identifies a resource.
type pathID struct {
	name string
	// prefix is the prefix of its ids, and noun the name of the resource.
	prefix, noun string
}

// pathIDs are the path parameters that are ids.
var pathIDs = []pathID{
	{"api_key_id", id.APIKey, "API key"},
	{"chat_id", id.Chat, "chat"},
	{"comment_id", id.Comment, "comment"},
	{"content_item_id", id.ContentItem, "content item"},
	{"delivery_id", id.Delivery, "delivery"},
	{"draft_id", id.Draft, "draft"},
	{"event_id", id.Event, "event"},
	{"factory_id", id.Factory, "factory"},
	{"generation_id", id.Generation, "generation"},
	{"media_id", id.Media, "media"},
	{"photo_id", id.Photo, "photo"},
	{"product_id", id.Product, "product"},
	{"promotion_id", id.Promotion, "promotion"},
	{"proposal_id", id.Proposal, "proposal"},
	{"publication_id", id.Publication, "publication"},
	{"review_link_id", id.ReviewLink, "review link"},
	{"social_account_id", id.SocialAccount, "social_account"},
	{"webhook_id", id.Webhook, "webhook"},
}

// idsOf returns the parameters of a path that are ids, in their order.
func idsOf(path string) (ids []pathID) {
	for segment := range strings.SplitSeq(path, "/") {
		for _, p := range pathIDs {
			if segment == "{"+p.name+"}" {
				ids = append(ids, p)
			}
		}
	}
	return ids
}

// checkPath refuses a request whose path has a malformed id, so that no operation makes a key of it. The answer is the
// one for an id that does not exist.
func checkPath(req *http.Request, ids []pathID) error {
	for _, p := range ids {
		if value := req.PathValue(p.name); !id.Valid(p.prefix, value) {
			return errs.Missing(p.noun, value)
		}
	}
	return nil
}
