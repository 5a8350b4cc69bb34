package health

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/record/resource"
)

func TestHealthThatAnAttemptTells(t *testing.T) {
	now := apitest.NewClock().Now()
	at := func(d time.Duration) *resource.Time {
		moment := resource.Time{Time: now.Add(d)}
		return &moment
	}
	message, no, gone := "no", 500, 410
	success, failure := endpoint.Outcome{Attempt: endpoint.Attempt{At: resource.Instant(now)}},
		endpoint.Outcome{Attempt: endpoint.Attempt{At: resource.Instant(now), Status: &no, Error: &message}}
	left := endpoint.Outcome{Attempt: endpoint.Attempt{At: resource.Instant(now), Status: &gone, Error: &message}}
	for name, c := range map[string]struct {
		before  endpoint.Webhook
		o       endpoint.Outcome
		changed bool
		after   endpoint.Webhook
	}{
		"the first success": {endpoint.Webhook{}, success, true, endpoint.Webhook{LastSuccessAt: at(0)}},
		"a success in that minute": {endpoint.Webhook{LastSuccessAt: at(-time.Second)}, success, false,
			endpoint.Webhook{LastSuccessAt: at(-time.Second)}},
		"a success a minute later": {endpoint.Webhook{LastSuccessAt: at(-time.Minute)}, success, true,
			endpoint.Webhook{LastSuccessAt: at(0)}},
		"a success after a failure": {endpoint.Webhook{LastSuccessAt: at(-time.Second), FailingSince: at(-1)}, success,
			true, endpoint.Webhook{LastSuccessAt: at(0)}},
		"the first failure": {endpoint.Webhook{}, failure, true, endpoint.Webhook{FailingSince: at(0)}},
		"a failure after a success": {endpoint.Webhook{LastSuccessAt: at(-1)}, failure, true,
			endpoint.Webhook{LastSuccessAt: at(-1), FailingSince: at(0)}},
		"a failure that ended late": {endpoint.Webhook{LastSuccessAt: at(1)}, failure, false,
			endpoint.Webhook{LastSuccessAt: at(1)}},
		"another failure": {endpoint.Webhook{FailingSince: at(-time.Hour)}, failure, false,
			endpoint.Webhook{FailingSince: at(-time.Hour)}},
		"a failure after 5 days": {endpoint.Webhook{FailingSince: at(-FailingLimit)}, failure, true,
			endpoint.Webhook{FailingSince: at(-FailingLimit), State: endpoint.StateDisabled}},
		"gone": {endpoint.Webhook{LastSuccessAt: at(-1)}, left, true,
			endpoint.Webhook{LastSuccessAt: at(-1), FailingSince: at(0), State: endpoint.StateDisabled}},
	} {
		t.Run(name, func(t *testing.T) {
			r := endpoint.WebhookRecord{Webhook: c.before}
			r.State = endpoint.StateEnabled
			if c.after.State == "" {
				c.after.State = endpoint.StateEnabled
			}
			if changed := note(&r, c.o, now); changed != c.changed {
				t.Errorf("changed %v", changed)
			}
			same := func(a, b *resource.Time) bool { return (a == nil) == (b == nil) && (a == nil || a.Equal(b.Time)) }
			if r.State != c.after.State || !same(r.FailingSince, c.after.FailingSince) ||
				!same(r.LastSuccessAt, c.after.LastSuccessAt) {
				t.Errorf("became %+v, want %+v", r.Webhook, c.after)
			}
			// Attempts at a disabled webhook show nothing.
			r.State, r.FailingSince, r.LastSuccessAt = endpoint.StateDisabled, nil, nil
			if note(&r, c.o, now) {
				t.Error("noted on a disabled webhook")
			}
		})
	}
}
