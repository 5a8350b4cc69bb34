package content_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
)

func TestARehearsedFailureHasItsCode(t *testing.T) {
	w := newWorld(t)
	for code, retryable := range map[provider.FailureCode]bool{provider.FailedContentPolicy: false,
		provider.FailedTimeout: true} {
		it := w.generated("sandbox", object{"outcome": "failed", "failure_code": code})
		if f := it.Failure; it.State != item.Failed || f == nil || f.Stage != "generate" || f.Code != code ||
			f.Retryable != retryable {
			t.Errorf("%s: %+v", code, f)
		}
	}
}

func TestARehearsedRefusalCreatesNothing(t *testing.T) {
	w := newWorld(t)
	w.Call(http.MethodPost, "/v1/content-items", w.body("sandbox", object{"outcome": "rate_limited"})).Refused(t, 429,
		errs.RateLimited, "")
	a := w.Call(http.MethodPost, "/v1/content-items", w.body("sandbox", object{"outcome": "insufficient_balance"}))
	a.Refused(t, 402, errs.InsufficientBalance, "")
	one := credits(t, a)
	if one < 1 {
		t.Errorf("one item costs %d", one)
	}
	// A batch is refused as a whole, and needs the credits of the items that rehearse.
	a = w.Call(http.MethodPost, "/v1/content-items/batch", object{"items": []any{
		w.body("sandbox", object{"outcome": "generated"}), w.body("sandbox", object{"outcome": "insufficient_balance"}),
	}})
	a.Refused(t, 402, errs.InsufficientBalance, "")
	if both := credits(t, a); both != 2*one {
		t.Errorf("two items cost %d, one %d", both, one)
	}
	if all := apitest.All[item.Item](w.Caller, "/v1/content-items", 10); len(all) != 0 {
		t.Errorf("created %+v", all)
	}

	it := w.generated()
	w.Call(http.MethodPost, "/v1/content-items/"+it.ID+"/regenerate",
		object{"sandbox": object{"outcome": "spend_limit_reached"}}).Refused(t, 402, errs.SpendLimitReached, "")
	w.Call(http.MethodPost, "/v1/content-items/"+it.ID+"/regenerate",
		object{"sandbox": object{"failure_code": "timeout"}}).Refused(t, 422, errs.ValidationFailed,
		"/sandbox/failure_code")
	if now := w.get(it.ID); now.State != item.Generated || now.Attempt != 1 {
		t.Errorf("%+v", now)
	}
}

// credits returns the price of the work in an answer of 402.
func credits(t *testing.T, a apitest.Answer) (n int64) {
	t.Helper()
	if _, err := fmt.Sscanf(a.Error.Message, "This costs %d credits", &n); err != nil {
		t.Error(err)
	}
	return n
}
