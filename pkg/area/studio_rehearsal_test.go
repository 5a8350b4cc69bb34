package area_test

import (
	"net/http"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/event"
)

func TestEachFailureCanBeRehearsed(t *testing.T) {
	w := newStudioWorld(t)
	for _, code := range provider.FailureCodes() {
		made := create(w.Caller, t, "images",
			object{"prompt": "A shoe", "sandbox": object{"outcome": "failed", "failure_code": code}})
		w.engine.Drain()
		want := provider.FailureOf(code)
		got := studioGet(w.Caller, t, made.ID)
		if got.State != studio.Failed || got.Failure == nil || got.Failure.Code != code ||
			got.Failure.Retryable != (want.Kind == provider.Rejected) || got.Failure.Message == "" {
			t.Errorf("%s: %+v", code, got.Failure)
		}
	}
	if events := apitest.All[event.Event](w.Caller, "/v1/events?type=studio.failed",
		100); len(events) != len(provider.FailureCodes()) {
		t.Errorf("%d events", len(events))
	}
}

func TestRefusalsCanBeRehearsed(t *testing.T) {
	w := newStudioWorld(t)
	for outcome, want := range map[string]struct {
		status  int
		code    errs.Code
		context string
	}{
		"insufficient_balance": {402, errs.InsufficientBalance, `{"required_credits":4,"available_credits":0}`},
		"spend_limit_reached": {402, errs.SpendLimitReached,
			`{"spend_limit_credits":40,"required_credits":4,"available_credits":2}`},
		"rate_limited": {429, errs.RateLimited, `{"limit":60,"window_seconds":60}`},
	} {
		a := w.Call(http.MethodPost, "/v1/studio/images",
			object{"prompt": "A shoe", "sandbox": object{"outcome": outcome}})
		a.Refused(t, want.status, want.code, "")
		a.Context(t, want.context)
		if after := a.Header.Get("Retry-After"); (after == "30") != (want.status == 429) {
			t.Errorf("%s: Retry-After %q", outcome, after)
		}
	}
	if all := apitest.All[studio.Generation](w.Caller, "/v1/studio/generations", 10); len(all) != 0 {
		t.Errorf("created %+v", all)
	}
}

func TestRehearsalsThatMakeNoSenseAreRefused(t *testing.T) {
	w := newStudioWorld(t)
	for param, sandbox := range map[string]object{
		"/sandbox/failure_code":  {"failure_code": "timeout"},
		"/sandbox/outcome":       {"outcome": "published"},
		"/sandbox/delay_seconds": {"delay_seconds": 61},
	} {
		w.Call(http.MethodPost, "/v1/studio/images", object{"prompt": "A shoe", "sandbox": sandbox}).Refused(t, 422,
			errs.ValidationFailed, param)
	}
	w.Call(http.MethodPost, "/v1/studio/images",
		object{"prompt": "A shoe", "sandbox": object{"outcome": "failed", "failure_code": "bad_luck"}}).Refused(t, 422,
		errs.ValidationFailed, "/sandbox/failure_code")
	w.Live().Call(http.MethodPost, "/v1/studio/images",
		object{"prompt": "A shoe", "sandbox": object{"outcome": "rate_limited"}}).Refused(t, 422,
		errs.ValidationFailed, "/sandbox")
}
