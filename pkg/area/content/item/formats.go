package item

import (
	"strings"

	"github.com/content-automation/api/pkg/base/format"
)

func init() {
	format.Define("content-state", format.Format{Values: format.Values(Queued, Generating, Generated, Scheduled,
		Publishing, Published, Failed, Canceled)})
	format.Define("content-outcome", format.Format{
		Values: strings.Fields("generated failed published insufficient_balance spend_limit_reached rate_limited")})
	format.Define("accounts", format.Format{Fewest: 1, Many: 15, Distinct: true})
	format.Define("omission", format.Format{
		Values: strings.Fields("needs_reconnect pending disconnected unsupported_kind choices_required rule_violated")})
}
