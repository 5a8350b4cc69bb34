package deliver

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

func TestWhatIsDoneWithAMessage(t *testing.T) {
	now := apitest.NewClock().Now()
	live, ended := &task.Lease{By: "x", Until: now.Add(time.Second)}, &task.Lease{By: "x", Until: now}
	later := resource.Instant(now.Add(time.Hour))
	type situation struct {
		delivery endpoint.DeliveryRecord
		number   int
		urgent   bool
		webhook  string
		payload  *payload
		maker    endpoint.Reader
	}
	for name, c := range map[string]struct {
		change func(*situation)
		next   action
		reason string
	}{
		"the attempt is due":   {func(*situation) {}, proceed, ""},
		"the delivery is gone": {func(s *situation) { s.delivery.State = "" }, nothing, ""},
		"it was delivered": {func(s *situation) { s.delivery.State = endpoint.DeliveryDelivered },
			nothing, ""},
		"it has failed": {func(s *situation) { s.delivery.State = endpoint.DeliveryFailed },
			nothing, ""},
		"the attempt was made":           {func(s *situation) { s.number = 2 }, resend, ""},
		"the next attempt was made, too": {func(s *situation) { s.number = 1 }, nothing, ""},
		"another function makes it":      {func(s *situation) { s.delivery.Lease = live }, wait, ""},
		"it was put off":                 {func(s *situation) { s.delivery.NextAttemptAt = &later }, resend, ""},
		"it was put off but is urgent": {func(s *situation) { s.delivery.NextAttemptAt, s.urgent = &later, true },
			proceed, ""},
		"urgent, but another makes it": {func(s *situation) { s.delivery.Lease, s.urgent = live, true }, wait, ""},
		"urgent, and made":             {func(s *situation) { s.number, s.urgent = 2, true }, resend, ""},
		"another function died in it":  {func(s *situation) { s.delivery.Lease = ended }, proceed, ""},
		"the webhook was deleted":      {func(s *situation) { s.webhook = "" }, end, endpoint.FailedDeleted},
		"the webhook was disabled": {func(s *situation) { s.webhook = endpoint.StateDisabled }, end,
			endpoint.FailedDisabled},
		"the event is gone": {func(s *situation) { s.payload = &payload{} }, end, endpoint.FailedExpired},
		"the maker may not read it": {func(s *situation) {
			s.maker = endpoint.Reader{auth.AccountRead,
				auth.StudioUse}
		}, end, endpoint.FailedNotPermitted},
		"the maker is unknown": {func(s *situation) { s.maker = nil }, end, endpoint.FailedNotPermitted},
		"a sample needs no scope": {func(s *situation) {
			s.payload.item.Kind, s.maker = "sample_event", nil
		}, proceed, ""},
		"disabled during an attempt": {func(s *situation) {
			s.delivery.Lease, s.webhook = live, endpoint.StateDisabled
		}, wait, ""},
		"made, and the webhook was deleted": {func(s *situation) { s.number, s.webhook = 2, "" }, resend, ""},
	} {
		t.Run(name, func(t *testing.T) {
			about := &payload{item: store.Item{Kind: event.Kind,
				Filters: map[string]string{"type": string(event.ContentGenerated)}}}
			s := situation{
				endpoint.DeliveryRecord{Delivery: endpoint.Delivery{State: endpoint.DeliveryPending}, Next: 3}, 3,
				false, endpoint.StateEnabled, about, endpoint.Reader{auth.ContentRead},
			}
			c.change(&s)
			if next, reason := decide(&s.delivery, s.number, s.urgent, s.webhook, s.payload, s.maker,
				now); next != c.next || reason != c.reason {
				t.Errorf("action %d %q, want %d %q", next, reason, c.next, c.reason)
			}
		})
	}
}
