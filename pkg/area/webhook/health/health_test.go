package health

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/webhook/hook"
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
	success, failure := hook.Outcome{Attempt: hook.Attempt{At: resource.Instant(now)}}, hook.Outcome{Attempt: hook.Attempt{At: resource.Instant(now), Status: &no, Error: &message}}
	left := hook.Outcome{Attempt: hook.Attempt{At: resource.Instant(now), Status: &gone, Error: &message}}
	for name, c := range map[string]struct {
		before  hook.Webhook
		o       hook.Outcome
		changed bool
		after   hook.Webhook
	}{
		"the first success":         {hook.Webhook{}, success, true, hook.Webhook{LastSuccessAt: at(0)}},
		"a success in that minute":  {hook.Webhook{LastSuccessAt: at(-time.Second)}, success, false, hook.Webhook{LastSuccessAt: at(-time.Second)}},
		"a success a minute later":  {hook.Webhook{LastSuccessAt: at(-time.Minute)}, success, true, hook.Webhook{LastSuccessAt: at(0)}},
		"a success after a failure": {hook.Webhook{LastSuccessAt: at(-time.Second), FailingSince: at(-1)}, success, true, hook.Webhook{LastSuccessAt: at(0)}},
		"the first failure":         {hook.Webhook{}, failure, true, hook.Webhook{FailingSince: at(0)}},
		"a failure after a success": {hook.Webhook{LastSuccessAt: at(-1)}, failure, true, hook.Webhook{LastSuccessAt: at(-1), FailingSince: at(0)}},
		"a failure that ended late": {hook.Webhook{LastSuccessAt: at(1)}, failure, false, hook.Webhook{LastSuccessAt: at(1)}},
		"another failure":           {hook.Webhook{FailingSince: at(-time.Hour)}, failure, false, hook.Webhook{FailingSince: at(-time.Hour)}},
		"a failure after 5 days": {hook.Webhook{FailingSince: at(-FailingLimit)}, failure, true,
			hook.Webhook{FailingSince: at(-FailingLimit), State: hook.StateDisabled}},
		"gone": {hook.Webhook{LastSuccessAt: at(-1)}, left, true, hook.Webhook{LastSuccessAt: at(-1), FailingSince: at(0), State: hook.StateDisabled}},
	} {
		t.Run(name, func(t *testing.T) {
			r := hook.Record{Webhook: c.before}
			r.State = hook.StateEnabled
			if c.after.State == "" {
				c.after.State = hook.StateEnabled
			}
			if changed := note(&r, c.o, now); changed != c.changed {
				t.Errorf("changed %v", changed)
			}
			same := func(a, b *resource.Time) bool { return (a == nil) == (b == nil) && (a == nil || a.Equal(b.Time)) }
			if r.State != c.after.State || !same(r.FailingSince, c.after.FailingSince) || !same(r.LastSuccessAt, c.after.LastSuccessAt) {
				t.Errorf("became %+v, want %+v", r.Webhook, c.after)
			}
			// Attempts at a disabled webhook show nothing.
			r.State, r.FailingSince, r.LastSuccessAt = hook.StateDisabled, nil, nil
			if note(&r, c.o, now) {
				t.Error("noted on a disabled webhook")
			}
		})
	}
}
