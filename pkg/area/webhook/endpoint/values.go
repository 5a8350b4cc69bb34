package endpoint

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// document is the part of a delivery that never changes.
type document struct {
	ID        string        `json:"id"`
	CreatedAt resource.Time `json:"created_at"`
	WebhookID string        `json:"webhook_id"`
	EventID   string        `json:"event_id"`
	EventType event.Type    `json:"event_type"`
	Maker     string        `json:"maker,omitempty"`
}

// The names of the values of a delivery that are outside its document. Values of attempts
// are named by the number of the attempt, so that recording one twice leaves one.
const (
	valueNext     = "next"
	valueFailures = "failures"
	valueDue      = "due"
	valueUpdated  = "updated"
	valueReason   = "reason"
	valueWaiting  = "waiting"
	valueLease    = "lease"
	attemptPrefix = "a"
)

// StateFilter names the filter by a delivery's state.
const StateFilter = "state"

// values returns all values that may change but the attempts; an unset one is empty.
func (d *DeliveryRecord) values() []store.Value {
	var due, reason, waiting, failures string
	if d.NextAttemptAt != nil {
		due = d.NextAttemptAt.Format(resource.TimeLayout)
	}
	if d.FailedReason != nil {
		reason = *d.FailedReason
	}
	if d.WaitingFor != nil {
		waiting = *d.WaitingFor
	}
	if d.Failures > 0 {
		failures = strconv.Itoa(d.Failures)
	}
	return []store.Value{
		{Name: valueNext, Value: strconv.Itoa(d.Next)}, {Name: valueFailures, Value: failures},
		{Name: valueDue, Value: due}, {Name: valueUpdated, Value: d.UpdatedAt.Format(resource.TimeLayout)},
		{Name: valueReason, Value: reason}, {Name: valueWaiting, Value: waiting},
		{Name: valueLease, Value: leaseText(d.Lease)},
	}
}

// leaseText returns the lease as its value, which is empty for no lease.
func leaseText(l *task.Lease) string {
	if l == nil {
		return ""
	}
	return l.By + " " + l.Until.Format(time.RFC3339Nano)
}

// WriteTo writes the values of the delivery into its item, whose attempts stay.
func (d *DeliveryRecord) WriteTo(it *store.Item) {
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
	it.Filters, it.Parent, it.Due = map[string]string{StateFilter: d.State}, d.heldKey(), d.dueKey()
}

// ReadDelivery reads a delivery from its item.
func ReadDelivery(it *store.Item) (d DeliveryRecord, err error) {
	var doc document
	if err := it.Decode(&doc); err != nil {
		return d, err
	}
	d.ID, d.CreatedAt, d.Version, d.Metadata = doc.ID, doc.CreatedAt, it.Version, resource.Metadata{}
	d.Owner, d.Maker, d.Stored = it.Owner, doc.Maker, it.Version
	d.WebhookID, d.EventID, d.EventType = doc.WebhookID, doc.EventID, doc.EventType
	d.State = it.Filters[StateFilter]
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
	if waiting, ok := it.Attributes[valueWaiting]; ok {
		d.WaitingFor = &waiting
	}
	if lease, ok := it.Attributes[valueLease]; ok {
		by, until, _ := strings.Cut(lease, " ")
		d.Lease = &task.Lease{By: by, Until: v.parse(until)}
	}
	d.Attempts = v.attempts()
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

func (r *reader) instant(name string) resource.Time {
	return resource.Instant(r.parse(r.of.Attributes[name]))
}

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

// attempts returns the attempts, oldest first.
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

// Update returns the update that writes all that may change but the attempts.
func (d *DeliveryRecord) Update() store.Update {
	held, due := d.heldKey(), d.dueKey()
	return store.Update{
		Key: d.Key(), Version: d.Stored, Attributes: d.values(),
		Filters: []store.Value{{Name: StateFilter, Value: d.State}}, Parent: &held, Due: &due,
	}
}

// UpdateLease returns the update that writes the lease alone.
func (d *DeliveryRecord) UpdateLease() store.Update {
	return store.Update{Key: d.Key(), Version: d.Stored,
		Attributes: []store.Value{{Name: valueLease, Value: leaseText(d.Lease)}}}
}

// UpdateAttempt returns the update that writes an attempt, which Record has just taken
// over, and the values that it changed.
func (d *DeliveryRecord) UpdateAttempt(a Attempt) (store.Update, error) {
	b, err := json.Marshal(a)
	if err != nil {
		return store.Update{}, fmt.Errorf("webhook: encode attempt at %s: %w", d.ID, err)
	}
	u, number := d.Update(), d.Next-1
	u.Attributes = append(u.Attributes, store.Value{Name: attemptValue(number), Value: string(b)})
	if old := number - MaxAttempts; old > 0 {
		u.Attributes = append(u.Attributes, store.Value{Name: attemptValue(old)})
	}
	return u, nil
}
