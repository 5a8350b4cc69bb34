package webhook

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/store"
)

func TestWhatIsDoneWithAMessage(t *testing.T) {
	now := apitest.NewClock().Now()
	held, ended := &claim{By: "x", Until: now.Add(time.Second)}, &claim{By: "x", Until: now}
	for name, c := range map[string]struct {
		change func(*task)
		todo   step
		reason string
	}{
		"the attempt is due":             {func(*task) {}, stepTry, ""},
		"the delivery is gone":           {func(t *task) { t.gone = true }, stepNone, ""},
		"it was delivered":               {func(t *task) { t.delivery.State = stateDelivered }, stepNone, ""},
		"it has failed":                  {func(t *task) { t.delivery.State = stateFailed }, stepNone, ""},
		"the attempt was made":           {func(t *task) { t.Attempt = 2 }, stepResend, ""},
		"the next attempt was made, too": {func(t *task) { t.Attempt = 1 }, stepNone, ""},
		"somebody carries it out":        {func(t *task) { t.delivery.Claim = held }, stepWait, ""},
		"somebody died in it":            {func(t *task) { t.delivery.Claim = ended }, stepTry, ""},
		"the webhook was deleted":        {func(t *task) { t.hook = &hook{} }, stepEnd, failedDeleted},
		"the webhook was disabled":       {func(t *task) { t.hook.record.State = stateDisabled }, stepEnd, failedDisabled},
		"the event is gone":              {func(t *task) { t.payload = &payload{} }, stepEnd, failedExpired},
		"disabled, while carried out": {func(t *task) {
			t.delivery.Claim, t.hook.record.State = held, stateDisabled
		}, stepWait, ""},
		"made, and the webhook was deleted": {func(t *task) { t.Attempt, t.hook = 2, &hook{} }, stepResend, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := &task{
				delivery: delivery{Delivery: Delivery{State: statePending}, Next: 3},
				hook:     &hook{record: record{Webhook: Webhook{State: stateEnabled}}}, payload: &payload{item: store.Item{Kind: "event"}},
			}
			m.Attempt = 3
			c.change(m)
			if todo, reason := m.next(now); todo != c.todo || reason != c.reason {
				t.Errorf("step %d %q, want %d %q", todo, reason, c.todo, c.reason)
			}
		})
	}
}

func TestHealthThatAnAttemptTells(t *testing.T) {
	now := apitest.NewClock().Now()
	at := func(d time.Duration) *time.Time {
		moment := now.Add(d)
		return &moment
	}
	message, no, gone := "no", 500, 410
	success, failure := outcome{Attempt: Attempt{At: now}}, outcome{Attempt: Attempt{At: now, Status: &no, Error: &message}}
	left := outcome{Attempt: Attempt{At: now, Status: &gone, Error: &message}}
	for name, c := range map[string]struct {
		before  Webhook
		o       outcome
		changed bool
		after   Webhook
	}{
		"the first success":         {Webhook{}, success, true, Webhook{LastSuccessAt: at(0)}},
		"a success in that minute":  {Webhook{LastSuccessAt: at(-time.Second)}, success, false, Webhook{LastSuccessAt: at(-time.Second)}},
		"a success a minute later":  {Webhook{LastSuccessAt: at(-time.Minute)}, success, true, Webhook{LastSuccessAt: at(0)}},
		"a success after a failure": {Webhook{LastSuccessAt: at(-time.Second), FailingSince: at(-1)}, success, true, Webhook{LastSuccessAt: at(0)}},
		"the first failure":         {Webhook{}, failure, true, Webhook{FailingSince: at(0)}},
		"a failure after a success": {Webhook{LastSuccessAt: at(-1)}, failure, true, Webhook{LastSuccessAt: at(-1), FailingSince: at(0)}},
		"a failure that ended late": {Webhook{LastSuccessAt: at(1)}, failure, false, Webhook{LastSuccessAt: at(1)}},
		"another failure":           {Webhook{FailingSince: at(-time.Hour)}, failure, false, Webhook{FailingSince: at(-time.Hour)}},
		"a failure after 5 days": {Webhook{FailingSince: at(-failingLimit)}, failure, true,
			Webhook{FailingSince: at(-failingLimit), State: stateDisabled}},
		"gone": {Webhook{LastSuccessAt: at(-1)}, left, true, Webhook{LastSuccessAt: at(-1), FailingSince: at(0), State: stateDisabled}},
	} {
		t.Run(name, func(t *testing.T) {
			r := record{Webhook: c.before}
			r.State = stateEnabled
			if c.after.State == "" {
				c.after.State = stateEnabled
			}
			if changed := r.note(c.o, now); changed != c.changed {
				t.Errorf("changed %v", changed)
			}
			same := func(a, b *time.Time) bool { return (a == nil) == (b == nil) && (a == nil || a.Equal(*b)) }
			if r.State != c.after.State || !same(r.FailingSince, c.after.FailingSince) || !same(r.LastSuccessAt, c.after.LastSuccessAt) {
				t.Errorf("became %+v, want %+v", r.Webhook, c.after)
			}
			// A disabled webhook tells nothing any more.
			r.State, r.FailingSince, r.LastSuccessAt = stateDisabled, nil, nil
			if r.note(c.o, now) {
				t.Error("noted on a disabled webhook")
			}
		})
	}
}
