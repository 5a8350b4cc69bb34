package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
)

func TestEveryCodeHasItsStatusAndType(t *testing.T) {
	// The table of the contract. Codes that are added later are held by the document of the last release.
	const contract = `
400 invalid_request_error malformed_json invalid_cursor invalid_header
401 authentication_error missing_api_key invalid_api_key
402 payment_error insufficient_balance spend_limit_reached
403 permission_error insufficient_scope plan_not_allowed ip_not_allowed scope_escalation person_required profile_not_allowed outside_mandate
404 invalid_request_error not_found unknown_path
405 invalid_request_error method_not_allowed
409 conflict_error idempotency_in_progress invalid_state stale_proposal duplicate quote_used
412 conflict_error version_mismatch
413 invalid_request_error body_too_large
415 invalid_request_error unsupported_media_type
422 invalid_request_error validation_failed idempotency_key_reused wrong_factory_type unsupported_model unsupported_media rule_violated
429 rate_limit_error rate_limited queue_full
500 api_error internal
503 api_error provider_unavailable
504 api_error timeout`
	for line := range strings.Lines(strings.TrimSpace(contract)) {
		words := strings.Fields(line)
		for _, code := range words[2:] {
			if status, kind := httpapi.Status(errs.Code(code)); fmt.Sprint(status, " ", kind) != words[0]+" "+words[1] {
				t.Errorf("%s is answered %d %s, want %s %s", code, status, kind, words[0], words[1])
			}
		}
	}
	if status, kind := httpapi.Status("nobody knows it"); status != 500 || kind != "api_error" {
		t.Errorf("an unknown code is answered %d %s", status, kind)
	}
}

func TestPeriods(t *testing.T) {
	at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
	for _, c := range []struct {
		p       httpapi.Period
		holds   string // of seconds 0 to 3
		invalid bool
	}{
		{httpapi.Period{}, "0123", false},
		{httpapi.Period{From: at(1)}, "123", false},
		{httpapi.Period{To: at(2)}, "01", false},
		{httpapi.Period{From: at(1), To: at(3)}, "12", false},
		{httpapi.Period{From: at(1), To: at(1)}, "", true},
		{httpapi.Period{From: at(2), To: at(1)}, "", true},
	} {
		from, to, err := c.p.Bounds(id.Event)
		if (err != nil) != c.invalid || err != nil && errs.As(err).Param != "from" {
			t.Errorf("%+v: %v", c.p, err)
		}
		if err != nil {
			continue
		}
		var bounds, contains string
		for s := range 4 {
			made := id.New(id.Event, at(s))
			if (from == "" || made >= from) && (to == "" || made <= to) {
				bounds += fmt.Sprint(s)
			}
			if c.p.Contains(at(s)) {
				contains += fmt.Sprint(s)
			}
		}
		if bounds != c.holds || contains != c.holds {
			t.Errorf("%+v: its bounds hold %s, it contains %s, want %s", c.p, bounds, contains, c.holds)
		}
	}
}
