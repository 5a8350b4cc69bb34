package record_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/quota"
)

var (
	three = quota.Limit{Name: "test", Most: 3, Window: time.Hour, Message: "Too many."}
	owner = tenant.Of("acc_1", tenant.Live)
)

func TestALimitHoldsInAnyWindow(t *testing.T) {
	clock := apitest.NewClock()
	db := storetest.Open(t, clock.Now)
	begin := func(o tenant.Owner, subject string) (*quota.Attempt, error) {
		return three.Begin(t.Context(), db, clock.Now(), o, subject)
	}
	clock.Add(50 * time.Minute) // windows do not begin with the hour
	var last *quota.Attempt
	for range 3 {
		a, err := begin(owner, "anna")
		if err != nil {
			t.Fatal(err)
		}
		last = a
		clock.Add(10 * time.Minute)
	}
	_, err := begin(owner, "anna")
	if e := errs.As(err); e.Code != errs.RateLimited || e.Message != "Too many." || e.RetryAfter != 30*time.Minute ||
		e.Context != (errs.RateContext{Limit: 3, WindowSeconds: 3600}) {
		t.Errorf("%+v", err)
	}
	for name, o := range map[string]tenant.Owner{"bob": owner, "anna": tenant.Of("acc_2", tenant.Live)} {
		if _, err := begin(o, name); err != nil {
			t.Errorf("%s of %s: %v", name, o, err)
		}
	}
	if err := last.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := begin(owner, "anna"); err != nil {
		t.Errorf("one is forgotten: %v", err)
	}
	if _, err := begin(owner, "anna"); errs.CodeOf(err) != errs.RateLimited {
		t.Errorf("%v", err)
	}
	clock.Add(30 * time.Minute)
	if _, err := begin(owner, "anna"); err != nil {
		t.Errorf("the first is over: %v", err)
	}
	if _, err := begin(owner, "anna"); errs.CodeOf(err) != errs.RateLimited {
		t.Errorf("%v", err)
	}
	clock.Add(2 * time.Hour)
	if _, err := begin(owner, "anna"); err != nil {
		t.Errorf("all are over: %v", err)
	}
}

func TestAttemptsSideBySideDoNotExceedTheLimit(t *testing.T) {
	clock := apitest.NewClock()
	db := storetest.Open(t, clock.Now)
	var admitted atomic.Int32
	var group sync.WaitGroup
	for range 12 {
		group.Go(func() {
			if _, err := three.Begin(t.Context(), db, clock.Now(), owner, "anna"); err == nil {
				admitted.Add(1)
			} else if errs.CodeOf(err) != errs.RateLimited {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := admitted.Load(); n != 3 {
		t.Errorf("%d were admitted", n)
	}
}
