package generate

import (
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// Outcomes that a test key can request, in addition to the states of a resource.
const (
	OutcomeFailed  = "failed"
	OutcomeBalance = string(errs.InsufficientBalance)
	OutcomeSpend   = string(errs.SpendLimitReached)
	OutcomeRate    = string(errs.RateLimited)
)

// Rehearsal is the part of a test key's request that does not depend on the outcomes of an area. The areas embed it.
type Rehearsal struct {
	// Code of the failure, with its message and retryable as with a live key. With outcome failed only. Absent:
	// generation_failed.
	FailureCode provider.FailureCode `json:"failure_code,omitempty" maxLength:"64" example:"content_policy"`
	// Seconds until the result.
	DelaySeconds int `json:"delay_seconds,omitempty" minimum:"0" maximum:"60" default:"0"`
}

// Check refuses a failure code that does not exist, or whose outcome is not a failure.
func (r Rehearsal) Check(outcome string) error {
	const param = "/sandbox/failure_code"
	switch {
	case r.FailureCode == "":
		return nil
	case provider.FailureOf(r.FailureCode) == nil:
		return errs.Invalid(param, "%s", text.NotOneOf(string(r.FailureCode), codes()))
	case outcome != OutcomeFailed:
		return errs.Invalid(param, "needs outcome failed")
	}
	return nil
}

func codes() []string {
	all := make([]string, 0, len(provider.FailureCodes()))
	for _, code := range provider.FailureCodes() {
		all = append(all, string(code))
	}
	slices.Sort(all)
	return all
}

// Delay returns how long the work takes.
func (r Rehearsal) Delay() time.Duration { return time.Duration(r.DelaySeconds) * time.Second }

// Request returns the rehearsal that the sandbox performs for work that was accepted at the start.
func (r Rehearsal) Request(outcome string, start time.Time) provider.Rehearsal {
	return provider.Rehearsal{Fail: outcome == OutcomeFailed, Code: r.FailureCode, Start: start, Delay: r.Delay()}
}

// RehearsedError returns the error that a test key requests as the outcome of work that costs credits with a live key,
// or nil if it requests none. Work of a model without a price counts as one credit.
func RehearsedError(outcome string, credits int64, p *auth.Principal) error {
	credits = max(credits, 1)
	switch outcome {
	case OutcomeBalance:
		return ledger.Payer{}.Covers(ledger.Balance{}, nil, credits)
	case OutcomeSpend:
		limit := 10 * credits // of which half of the price is left
		return ledger.Payer{Limit: &limit}.Covers(ledger.Balance{Credits: credits},
			[]store.Item{store.Counter(limit - credits/2), {}}, credits)
	case OutcomeRate:
		e := errs.New(errs.RateLimited, "%s", auth.MessageRateLimited).With(errs.RateContext{Limit: p.Rate.Limit,
			WindowSeconds: p.Rate.Window})
		e.RetryAfter = time.Duration(max(p.Rate.Reset, 1)) * time.Second
		return e
	}
	return nil
}
