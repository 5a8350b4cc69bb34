package architect

import (
	"strings"

	"github.com/content-automation/api/pkg/base/format"
)

func init() {
	format.Define("draft-kind", format.Format{
		Values: strings.Fields("factory content_plan content_item factory_change content_item_change")})
	format.Define("chat-outcome", format.Format{
		Values: strings.Fields("replied timeout provider_unavailable insufficient_balance spend_limit_reached " +
			"rate_limited")})
	format.Define("chat-text", format.Format{Shortest: 1, Longest: 4000,
		Example: "A seller factory for running shoes in German, two posts a day"})
}
