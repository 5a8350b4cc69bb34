package law

import (
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/base/money"
)

// Window is the time before a reduction whose lowest price is the prior price.
const Window = 30 * 24 * time.Hour

// Step is a price that is in force from a time until the next step.
type Step struct {
	At    time.Time
	Price money.Price
}

// InForce returns the price that is in force just before a time. It is false if none is known.
func InForce(steps []Step, before time.Time) (p money.Price, ok bool) {
	for _, s := range steps {
		if s.At.Before(before) {
			p, ok = s.Price, true
		}
	}
	return p, ok
}

// Prior returns the prior price of a reduction that began at a time: the lowest price that was in force in the 30 days
// before, in the currency of the last one. The price at the beginning of these days counts. The steps are ordered by
// time. It is false if no price is known before the reduction.
func Prior(steps []Step, began time.Time) (lowest money.Price, ok bool) {
	last, ok := InForce(steps, began)
	if !ok {
		return lowest, false
	}
	from := began.Add(-Window)
	lowest = last
	for i, s := range steps {
		// A price that ended before the window, or at once, does not count.
		ended := i+1 < len(steps) && (!steps[i+1].At.After(from) || !steps[i+1].At.After(s.At))
		if s.At.Before(began) && !ended && s.Price.Currency == last.Currency && s.Price.Amount < lowest.Amount {
			lowest = s.Price
		}
	}
	return lowest, true
}

// Percent returns the whole percentage by which a price is below the prior price, which is never above the real one but
// for the rounding of a price to its smallest unit. It is 0 if the price is not below.
func Percent(prior, now money.Price) int64 {
	if prior.Currency != now.Currency || prior.Amount <= now.Amount || prior.Amount == 0 {
		return 0
	}
	n := (prior.Amount - now.Amount) * 100 / prior.Amount
	if n < 100 && now.Amount <= Reduced(prior, n+1) {
		n++
	}
	return n
}

// Reduced returns the amount that is a percentage below a price. Halves of the smallest unit are rounded up.
func Reduced(p money.Price, percent int64) int64 { return (p.Amount*(100-percent) + 50) / 100 }

// broken says what the reduction announces that is above the real one.
func (r *Reduction) broken() (param, message string) {
	of := ""
	if r.Of != "" {
		of = " of " + r.Of
	}
	switch {
	case r.Struck.Amount > 0 && (r.Struck.Currency != r.Prior.Currency || r.Struck.Amount > r.Prior.Amount):
		return r.StruckParam, fmt.Sprintf("is %s, and the lowest price%s in the 30 days before the promotion is %s",
			r.Struck, of, r.Prior)
	case r.Now.Amount >= r.Prior.Amount && r.Prior.Amount > 0:
		return r.Param, fmt.Sprintf("makes a price%s of %s, which is no reduction: the lowest price in the 30 days "+
			"before the promotion is %s", of, r.Now, r.Prior)
	case r.Percent > 0 && r.Now.Amount > Reduced(r.Prior, r.Percent):
		return r.Param, fmt.Sprintf("is %d percent, and the real reduction%s is %d percent: the lowest price in the "+
			"30 days before the promotion is %s", r.Percent, of, Percent(r.Prior, r.Now), r.Prior)
	}
	return "", ""
}
