package catalog

import (
	"math"
	"time"
)

// At returns the model in its state at a time: retired from its end on, and before it at the higher price of extended
// access, if its provider has one.
func (m Model) At(now time.Time) Model {
	if e := m.extended; e != nil && !now.Before(e.from) {
		m.Price = e.price
	}
	if m.Ended(now) {
		m.State = Retired
	}
	return m
}

// Notice returns the least time between the event of a model's end and the end, if its provider names the end early
// enough. New models of Bedrock end 45 days after AWS has said so, others later.
func (m Model) Notice() time.Duration {
	const day = 24 * time.Hour
	if m.Provider == bedrock {
		return 45 * day
	}
	return 60 * day
}

// bedrock is the provider whose models end with AWS's notice.
const bedrock = "bedrock"

// Ended reports whether the provider no longer has the model at a time.
func (m Model) Ended(now time.Time) bool { return m.RetiresAt != nil && !now.Before(m.RetiresAt.Time) }

// Retired reports whether a model is retired today.
func (o Offer) Retired(m Model) bool { return o.today(m).State == Retired }

// Ending returns the time from which on the catalog advises against a model, and its end. The zero time stands for
// none. Both are zero for models that are not in the catalog.
func Ending(id string) (deprecated, end time.Time) {
	m, _ := Find(id)
	return m.DeprecatedAt.OrZero(), m.RetiresAt.OrZero()
}

// Succeed returns the id of the model that takes the place of one that is retired: its successor, or the successor of
// that, as far as they make the same kind at no more than its last price. It returns the id itself if the model is not
// retired, or if none takes its place.
func (o Offer) Succeed(id string, live bool) string {
	first, ok := o.Find(id)
	for m := first; ok; {
		if m.State != Retired {
			if m.State == Available && first.Kind == m.Kind && first.Price.covers(m.Price) && (!live || o.has(m)) {
				return m.ID
			}
			return id
		}
		if m.Successor == nil {
			return id
		}
		m, ok = o.Find(*m.Successor)
	}
	return id
}

// covers reports whether a price is as high as another for each quantity.
func (p *Price) covers(q *Price) bool {
	if p == nil || q == nil || p.Unit != q.Unit || p.Megapixels != q.Megapixels {
		return false
	}
	inputs := []int{0, math.MaxInt}
	for _, long := range []*LongPrompt{p.LongPrompt, q.LongPrompt} {
		if long != nil {
			inputs = append(inputs, int(long.AboveInputTokens)+1)
		}
	}
	for _, n := range inputs {
		read, written := p.tokens(n)
		reads, writes := q.tokens(n)
		if writes*p.Per > written*q.Per || reads*p.Per > read*q.Per {
			return false
		}
	}
	return true
}
