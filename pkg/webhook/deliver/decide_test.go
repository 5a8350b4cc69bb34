package deliver

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/webhook/hook"
)

func TestWhatIsDoneWithAMessage(t *testing.T) {
	now := apitest.NewClock().Now()
	live, ended := &task.Lease{By: "x", Until: now.Add(time.Second)}, &task.Lease{By: "x", Until: now}
	type situation struct {
		delivery hook.DeliveryRecord
		number   int
		webhook  string
		expired  bool
	}
	for name, c := range map[string]struct {
		change func(*situation)
		todo   todo
		reason string
	}{
		"the attempt is due":             {func(*situation) {}, proceed, ""},
		"the delivery is gone":           {func(s *situation) { s.delivery.State = "" }, nothing, ""},
		"it was delivered":               {func(s *situation) { s.delivery.State = hook.DeliveryDelivered }, nothing, ""},
		"it has failed":                  {func(s *situation) { s.delivery.State = hook.DeliveryFailed }, nothing, ""},
		"the attempt was made":           {func(s *situation) { s.number = 2 }, resend, ""},
		"the next attempt was made, too": {func(s *situation) { s.number = 1 }, nothing, ""},
		"another function makes it":      {func(s *situation) { s.delivery.Lease = live }, wait, ""},
		"another function died in it":    {func(s *situation) { s.delivery.Lease = ended }, proceed, ""},
		"the webhook was deleted":        {func(s *situation) { s.webhook = "" }, end, hook.FailedDeleted},
		"the webhook was disabled":       {func(s *situation) { s.webhook = hook.StateDisabled }, end, hook.FailedDisabled},
		"the event is gone":              {func(s *situation) { s.expired = true }, end, hook.FailedExpired},
		"disabled during an attempt": {func(s *situation) {
			s.delivery.Lease, s.webhook = live, hook.StateDisabled
		}, wait, ""},
		"made, and the webhook was deleted": {func(s *situation) { s.number, s.webhook = 2, "" }, resend, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := situation{hook.DeliveryRecord{Delivery: hook.Delivery{State: hook.DeliveryPending}, Next: 3}, 3, hook.StateEnabled, false}
			c.change(&s)
			if todo, reason := decide(&s.delivery, s.number, s.webhook, s.expired, now); todo != c.todo || reason != c.reason {
				t.Errorf("todo %d %q, want %d %q", todo, reason, c.todo, c.reason)
			}
		})
	}
}
