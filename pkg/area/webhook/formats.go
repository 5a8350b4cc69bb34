package webhook

import (
	"strings"

	"github.com/content-automation/api/pkg/base/format"
)

func init() {
	format.Define("delivery-failure", format.Format{
		Values: strings.Fields("exhausted gone webhook_disabled webhook_deleted event_expired not_permitted")})
	format.Define("delivery-wait", format.Format{
		Values: strings.Fields("dispatch first_attempt response retry redelivery circuit_breaker capacity")})
	format.Define("event-pattern", format.Format{Fewest: 1, Many: 50, Distinct: true})
	format.Define("role-arn", format.Format{Shortest: 1, Longest: 256,
		Example: "arn:aws:iam::111122223333:role/content-automation-events"})
	format.Define("target-arn", format.Format{Shortest: 1, Longest: 512,
		Example: "arn:aws:sqs:eu-central-1:111122223333:content-events"})
}
