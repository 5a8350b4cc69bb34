package catalog

import "time"

// At returns the model in its state at a time: retired from its end on.
func (m Model) At(now time.Time) Model {
	if m.Ended(now) {
		m.State = Retired
	}
	return m
}

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
	first, ok := Find(id)
	for m := first; ok; {
		if !o.Retired(m) {
			if m.State == Available && first.Kind == m.Kind && first.Price.covers(m.Price) && (!live || o.has(m)) {
				return m.ID
			}
			return id
		}
		if m.Successor == nil {
			return id
		}
		m, ok = Find(*m.Successor)
	}
	return id
}

// covers reports whether a price is as high as another for each quantity.
func (p *Price) covers(q *Price) bool {
	return p != nil && q != nil && p.Unit == q.Unit && p.Megapixels == q.Megapixels &&
		q.Credits*p.Per <= p.Credits*q.Per && q.InputCredits*p.Per <= p.InputCredits*q.Per
}
