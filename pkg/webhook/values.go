package webhook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/resource"
	"github.com/content-automation/api/pkg/store"
)

// document is what never changes of a delivery.
type document struct {
	ID        string     `json:"id"`
	CreatedAt time.Time  `json:"created_at"`
	WebhookID string     `json:"webhook_id"`
	EventID   string     `json:"event_id"`
	EventType event.Type `json:"event_type"`
}

// The values of a delivery beside its document. Those of attempts are named by the
// number of the attempt: so recording one twice leaves one.
const (
	valueNext     = "next"
	valueFailures = "failures"
	valueDue      = "due"
	valueUpdated  = "updated"
	valueReason   = "reason"
	valueClaim    = "claim"
	attemptPrefix = "a"
)

// stateFilter names the filter by a delivery's state.
const stateFilter = "state"

// instantPattern writes times as the API shows them.
const instantPattern = "2006-01-02T15:04:05.000Z"

// values gives all that may change of a delivery but its attempts; a value that it
// has not is empty.
func (d *delivery) values() []store.Value {
	var due, reason, failures string
	if d.NextAttemptAt != nil {
		due = d.NextAttemptAt.Format(instantPattern)
	}
	if d.FailedReason != nil {
		reason = *d.FailedReason
	}
	if d.Failures > 0 {
		failures = strconv.Itoa(d.Failures)
	}
	return []store.Value{
		{Name: valueNext, Value: strconv.Itoa(d.Next)}, {Name: valueFailures, Value: failures},
		{Name: valueDue, Value: due}, {Name: valueUpdated, Value: d.UpdatedAt.Format(instantPattern)},
		{Name: valueReason, Value: reason}, {Name: valueClaim, Value: d.Claim.String()},
	}
}

// String writes the claim as its value; that of no claim is empty.
func (c *claim) String() string {
	if c == nil {
		return ""
	}
	return c.By + " " + c.Until.Format(time.RFC3339Nano)
}

// write puts what has changed of the delivery, and what it is found by, into its
// item. The attempts are there already.
func (d *delivery) write(it *store.Item) {
	if it.Attributes == nil {
		it.Attributes = map[string]string{}
	}
	for _, v := range d.values() {
		if v.Value == "" {
			delete(it.Attributes, v.Name)
			continue
		}
		it.Attributes[v.Name] = v.Value
	}
	it.Filters, it.Parent, it.Due = map[string]string{stateFilter: d.State}, d.heldKey(owner{it.Owner}), d.dueKey()
}

// readDelivery reads a delivery from its item.
func readDelivery(it *store.Item) (d delivery, err error) {
	var doc document
	if err := it.Decode(&doc); err != nil {
		return d, err
	}
	d.ID, d.CreatedAt, d.Version, d.Metadata = doc.ID, doc.CreatedAt, it.Version, resource.Metadata{}
	d.WebhookID, d.EventID, d.EventType = doc.WebhookID, doc.EventID, doc.EventType
	d.State, d.Attempts = it.Filters[stateFilter], []Attempt{}
	v := reader{of: it}
	d.Next, d.Failures = v.number(valueNext), v.number(valueFailures)
	d.UpdatedAt = v.instant(valueUpdated)
	if _, ok := it.Attributes[valueDue]; ok {
		due := v.instant(valueDue)
		d.NextAttemptAt = &due
	}
	if reason, ok := it.Attributes[valueReason]; ok {
		d.FailedReason = &reason
	}
	if held, ok := it.Attributes[valueClaim]; ok {
		by, until, _ := strings.Cut(held, " ")
		d.Claim = &claim{By: by, Until: v.parse(until)}
	}
	d.Attempts, d.Held = v.attempts(), it.Parent.PK != ""
	return d, v.err
}

// reader reads the values of an item. It keeps the first error.
type reader struct {
	of  *store.Item
	err error
}

func (r *reader) number(name string) int {
	text := r.of.Attributes[name]
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	r.note(err)
	return n
}

func (r *reader) instant(name string) time.Time { return r.parse(r.of.Attributes[name]) }

func (r *reader) parse(text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	r.note(err)
	return at
}

func (r *reader) note(err error) {
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("webhook: read delivery %s: %w", r.of.SK, err)
	}
}

// attempts gives the attempts, oldest first.
func (r *reader) attempts() []Attempt {
	var numbers []int
	for name := range r.of.Attributes {
		if n, err := strconv.Atoi(strings.TrimPrefix(name, attemptPrefix)); err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	all := make([]Attempt, len(numbers))
	for i, n := range numbers {
		r.note(json.Unmarshal([]byte(r.of.Attributes[attemptValue(n)]), &all[i]))
	}
	return all
}

// attemptValue names the value of the attempt with the given number.
func attemptValue(number int) string { return attemptPrefix + strconv.Itoa(number) }

// change gives the update that writes what has changed of the delivery to an
// owner's webhook.
func (d *delivery) change(o owner, version int64) store.Update {
	held, due := d.heldKey(o), d.dueKey()
	return store.Update{
		Key: o.deliveryKey(d.WebhookID, d.ID), Version: version, Attributes: d.values(),
		Filters: []store.Value{{Name: stateFilter, Value: d.State}}, Parent: &held, Due: &due,
	}
}

// claimed gives the update that writes the claim alone.
func (d *delivery) claimed(o owner, version int64) store.Update {
	return store.Update{Key: o.deliveryKey(d.WebhookID, d.ID), Version: version, Attributes: []store.Value{{Name: valueClaim, Value: d.Claim.String()}}}
}

// recorded gives the update that writes an attempt, just taken over by record, and
// what has changed by it.
func (d *delivery) recorded(o owner, version int64, a Attempt) (store.Update, error) {
	b, err := json.Marshal(a)
	if err != nil {
		return store.Update{}, fmt.Errorf("webhook: encode attempt at %s: %w", d.ID, err)
	}
	u, number := d.change(o, version), d.Next-1
	u.Attributes = append(u.Attributes, store.Value{Name: attemptValue(number), Value: string(b)})
	if old := number - maxAttempts; old > 0 {
		u.Attributes = append(u.Attributes, store.Value{Name: attemptValue(old)})
	}
	return u, nil
}
