package api

import (
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/id"
)

// idPrefixes are the prefixes of ids, by the name of the member or parameter, or, for members called id, by the name of
// their schema.
var idPrefixes = map[string]string{
	"account_id": id.Account, "api_key_id": id.APIKey, "content_item_id": id.ContentItem,
	"content_plan_id": id.ContentPlan,
	"delivery_id":     id.Delivery, "event_id": id.Event, "factory_id": id.Factory, "factory_ids": id.Factory,
	"generation_id": id.Generation,
	"product_id":    id.Product, "promotion_id": id.Promotion, "proposal_ids": id.Proposal,
	"social_account_id": id.SocialAccount, "social_account_ids": id.SocialAccount, "connected_as": id.SocialAccount,
	"product_ids": id.Product, "photo_id": id.Photo, "photo_ids": id.Photo, "media_id": id.Media,
	"webhook_id": id.Webhook,

	"Account": id.Account, "AccountView": id.Account, "ApiKey": id.APIKey, "ApiKeyDetails": id.APIKey,
	"ApiKeyRevoked":    id.APIKey,
	"ApiKeyWithSecret": id.APIKey, "AuditEntry": id.AuditEntry, "BalanceEntry": id.LedgerEntry,
	"ContentItem": id.ContentItem,
	"ContentPlan": id.ContentPlan, "Delivery": id.Delivery, "Diagnosis": id.Diagnosis, "EventBase": id.Event,
	"FactoryBase": id.Factory,
	"Generation":  id.Generation, "OwnMedia": id.Media, "Product": id.Product, "ProductPhoto": id.Photo,
	"Promotion": id.Promotion, "Proposal": id.Proposal, "SocialAccount": id.SocialAccount, "Training": id.Training,
	"Webhook": id.Webhook, "WebhookWithSecret": id.Webhook,
}

// patterns are the patterns of other texts, by schema and member.
var patterns = map[string]string{
	"ApiKeyWithSecret.secret":  "^svc_(live|test)_[0-9A-Za-z]{49}$",
	"WebhookWithSecret.secret": "^whsec_[0-9A-Za-z+/]{43}=$",
	"Media.sha256":             "^[0-9a-f]{64}$",
}

// addresses are the members that contain only URLs.
var addresses = []string{"url", "doc_url", "avatar_url", "authorization_url", "sample_url", "preview_url", "source_url"}

// describeFormats adds patterns and formats to texts. The service answers 404 for a path with a malformed id, so the
// patterns of ids only inform readers and generators.
func describeFormats(doc *huma.OpenAPI) {
	eachSchema(doc, func(at, member string, s *huma.Schema) {
		if s.Type != huma.TypeString || s.Pattern != "" || len(s.Enum) > 0 {
			return
		}
		prefix := idPrefixes[member]
		if member == "id" {
			prefix = idPrefixes[at]
		}
		switch {
		case prefix != "":
			s.Pattern = "^" + prefix + "_[0-7][0-9a-hjkmnp-tv-z]{25}$" // a TypeID
		case slices.Contains(addresses, member) && s.Format == "":
			s.Format = "uri"
		default:
			s.Pattern = patterns[at+"."+member]
		}
	})
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, o := range operationsOf(doc.Paths[path]) {
			for _, p := range o.Parameters {
				if strings.EqualFold(p.Name, "If-Match") {
					p.Schema.Pattern = `^(\*|(W/)?"[^"]*"( *, *(W/)?"[^"]*")*)$`
				}
			}
		}
	}
	doc.Components.Headers["ETag"].Schema.Pattern = `^"[^"]*"$`
}
