package webhook

import (
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
)

func TestWhatOpensTheBreaker(t *testing.T) {
	now := apitest.NewClock().Now()
	url := "https://crm.example.com/hook"
	r := &WebhookRecord{Webhook: Webhook{URL: &url}}
	fail := func(o breaker, times int, every time.Duration) (breaker, time.Time) {
		at := now
		for range times {
			o = o.afterFailure(r, at)
			at = at.Add(every)
		}
		return o, at
	}
	if o, at := fail(breaker{}, TripAfter-1, 0); o.open(r) || o.Failures != TripAfter-1 ||
		!o.afterFailure(r, at).open(r) {
		t.Errorf("breaker %+v", o)
	}
	if o, _ := fail(breaker{}, 100, tripWithin/(TripAfter-1)); o.open(r) {
		t.Errorf("failures far apart open the breaker %+v", o)
	}
	o, _ := fail(breaker{}, TripAfter, time.Second)
	if again := o.afterFailure(r, now.Add(time.Hour)); again != o {
		t.Errorf("it became %+v", again)
	}
	other, enabled := url+"/other", now.Add(time.Minute)
	for name, r := range map[string]*WebhookRecord{
		"another address": {Webhook: Webhook{URL: &other}},
		"enabled since":   {Webhook: Webhook{URL: &url}, EnabledAt: &enabled},
	} {
		if o.open(r) || o.afterFailure(r, enabled).Failures != 1 {
			t.Errorf("%s: %+v", name, o)
		}
	}
	for _, c := range []struct{ age, probe time.Duration }{
		{0, 2 * time.Second}, {30 * time.Second, 3 * time.Second}, {time.Minute, 6 * time.Second},
		{20 * time.Minute, 2 * time.Minute}, {48 * time.Hour, 5 * time.Minute},
	} {
		at := o.Since.Add(c.age)
		if got := o.duringProbe(at, 0.5).ProbeAt.Sub(at); got != c.probe {
			t.Errorf("after %v it is probed after %v, want %v", c.age, got, c.probe)
		}
	}
}
