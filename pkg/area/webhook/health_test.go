package webhook

import (
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/record/resource"
)

func TestHealthThatAnAttemptTells(t *testing.T) {
	now := apitest.NewClock().Now()
	at := func(d time.Duration) *resource.Time {
		moment := resource.Time{Time: now.Add(d)}
		return &moment
	}
	message, no, gone := "no", 500, 410
	success, failure := Outcome{Attempt: Attempt{At: resource.Instant(now)}},
		Outcome{Attempt: Attempt{At: resource.Instant(now), Status: &no, Error: &message}}
	retried := failure
	retried.Age = retriedFor
	left := Outcome{Attempt: Attempt{At: resource.Instant(now), Status: &gone, Error: &message}}
	for name, c := range map[string]struct {
		before  Webhook
		o       Outcome
		changed bool
		after   Webhook
	}{
		"the first success": {Webhook{}, success, true, Webhook{LastSuccessAt: at(0)}},
		"a success in that minute": {Webhook{LastSuccessAt: at(-time.Second)}, success, false,
			Webhook{LastSuccessAt: at(-time.Second)}},
		"a success a minute later": {Webhook{LastSuccessAt: at(-time.Minute)}, success, true,
			Webhook{LastSuccessAt: at(0)}},
		"a success after a failure": {Webhook{LastSuccessAt: at(-time.Second), FailingSince: at(-1)}, success,
			true, Webhook{LastSuccessAt: at(0)}},
		"the first failure": {Webhook{}, failure, true, Webhook{FailingSince: at(0)}},
		"a failure after a success": {Webhook{LastSuccessAt: at(-1)}, failure, true,
			Webhook{LastSuccessAt: at(-1), FailingSince: at(0)}},
		"a failure that ended late": {Webhook{LastSuccessAt: at(1)}, failure, false,
			Webhook{LastSuccessAt: at(1)}},
		"another failure": {Webhook{FailingSince: at(-time.Hour)}, failure, false,
			Webhook{FailingSince: at(-time.Hour)}},
		"a failure after 5 days": {Webhook{FailingSince: at(-FailingLimit)}, retried, true,
			Webhook{FailingSince: at(-FailingLimit), State: StateDisabled}},
		"a first failure after 5 days": {Webhook{FailingSince: at(-FailingLimit)}, failure, false,
			Webhook{FailingSince: at(-FailingLimit)}},
		"gone": {Webhook{LastSuccessAt: at(-1)}, left, true,
			Webhook{LastSuccessAt: at(-1), FailingSince: at(0), State: StateDisabled}},
	} {
		t.Run(name, func(t *testing.T) {
			r := WebhookRecord{Webhook: c.before}
			r.State = StateEnabled
			if c.after.State == "" {
				c.after.State = StateEnabled
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
			r.State, r.FailingSince, r.LastSuccessAt = StateDisabled, nil, nil
			if note(&r, c.o, now) {
				t.Error("noted on a disabled webhook")
			}
		})
	}
}
