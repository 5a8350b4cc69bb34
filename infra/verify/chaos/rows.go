package main

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// aim is the longest time from the end of a fault to the last delivery of an event that was accepted before.
const aim = 6 * time.Second

// The writes of a delivery contain these texts: claiming that of a claim, and recording that of an outcome.
const (
	claiming  = `\"lease\"`
	recording = `"delivered"`
)

// place is a step of a function's work, with its name in the table.
type place struct {
	name string
	at   []step
	// held reports whether the function holds messages at the step.
	held bool
	// hidden is the time for which the queue hides a message whose function died before it could limit that time to
	// its own life.
	hidden time.Duration
	// leased reports whether a submission to a provider may be under way. Its lease must end, up to 15 s later,
	// before the next submission.
	leased bool
}

// holding is the call by which a function hides its messages while it lives. It repeats the call every second.
const holding = "ChangeMessageVisibilityBatch"

// places are the steps of an event on its way from the table to the receiver, in their order.
var places = []place{
	{name: "relay puts events on the bus", at: []step{{function: "relay", operation: "PutEvents"}}},
	{name: "dispatch holds its messages", at: []step{{function: "dispatch", operation: holding}},
		hidden: 5 * time.Second},
	{name: "dispatch reads the webhooks", at: []step{{function: "dispatch", operation: "Query"}}, held: true},
	{name: "dispatch writes a delivery",
		at: []step{{function: "dispatch", operation: "TransactWriteItems"}}, held: true},
	{name: "deliver holds its messages", at: []step{{function: "deliver", operation: holding}},
		hidden: 20 * time.Second},
	{name: "deliver reads", at: []step{{function: "deliver", operation: "BatchGetItem"}}, held: true},
	{name: "deliver claims an attempt",
		at: []step{{function: "deliver", operation: "PutItem", with: claiming}}, held: true},
	{name: "deliver calls the receiver", at: []step{{function: "deliver", operation: receiving}}, held: true},
	{name: "deliver records the outcome", at: []step{outcomes}, held: true},
}

// outcomes are the writes of the outcomes of attempts.
var outcomes = step{function: "deliver", operation: "TransactWriteItems", with: recording}

// webhookRows returns the rows about deliveries.
func webhookRows(sz size) []row {
	kept := bounds{recovery: aim}
	once := bounds{recovery: aim, once: true}
	rows := []row{{name: "No fault", happen: nothing, bounds: once}}
	for _, p := range places {
		rows = append(rows, killedAt(sz, p)...)
	}
	rows = append(rows,
		row{name: "Dispatch and deliver queues wiped, then one sweep", happen: wiped, bounds: kept},
		row{name: "Every third write is done, its answer lost", happen: often(writes, 3, loseAnswer), bounds: kept},
		row{name: "Every third sending is done, its answer lost", happen: often(sends, 3, loseAnswer), bounds: kept},
		row{name: "Dispatch frozen past its time-out",
			happen: frozen([]step{{function: "dispatch", operation: "TransactWriteItems"}}, 35*time.Second),
			bounds: kept},
		row{name: "Deliver frozen past its claim", happen: frozen([]step{{function: "deliver", operation: receiving}},
			40*time.Second), bounds: kept},
		row{name: "Deliver frozen past its time-out, its last write comes late",
			happen: frozen([]step{outcomes}, 65*time.Second), bounds: kept},
	)
	return rows
}

// nothing causes no fault.
func nothing(context.Context, *scene) error { return nil }

// frozen freezes a function at a step, once. Other instances take its work over.
func frozen(at []step, d time.Duration) func(context.Context, *scene) error {
	return func(ctx context.Context, s *scene) error {
		return s.during(ctx, s.times(1), &fault{at: at, skip: 2, do: s.caught(ctx, freeze(d))})
	}
}

// rowsAlong returns the rows about work that passes places: one without a fault, those in which functions are
// killed at each place, and the others. The row without a fault bounds the number of submissions to providers.
func rowsAlong(sz size, places []place, others ...row) []row {
	const none = "No fault"
	rows := []row{{name: none, happen: nothing, bounds: bounds{once: true}}}
	for _, p := range places {
		rows = append(rows, killedAt(sz, p)...)
	}
	rows = append(rows, others...)
	for i := range rows {
		if rows[i].bounds.once {
			rows[i].against = none
		}
	}
	return rows
}

// killedAt returns the rows in which functions are killed before and after a step.
func killedAt(sz size, p place) []row {
	return []row{
		{name: "Killed before " + p.name, happen: killed(sz, p, killBefore), bounds: bounds{recovery: p.hidden + aim}},
		{name: "Killed after " + p.name, happen: killed(sz, p, killAfter), bounds: bounds{recovery: aim}},
	}
}

// killed kills functions at a step several times, and lets the work pass the step a few times before each kill.
func killed(sz size, at place, do doing) func(context.Context, *scene) error {
	return func(ctx context.Context, s *scene) error {
		do := s.caught(ctx, do)
		if at.held {
			do = s.whileHeld(ctx, do)
		}
		f := &fault{at: at.at, skip: 1, every: 2, times: sz.kills, do: do}
		return s.during(ctx, s.times(sz.kills), f)
	}
}

// often applies do to every n-th call until the load has ended.
func often(at []step, n int, do doing) func(context.Context, *scene) error {
	return func(ctx context.Context, s *scene) error {
		all := func(ctx context.Context) error { return s.load.reached(ctx, s.load.events) }
		return s.during(ctx, all, &fault{at: at, every: n, times: -1, do: do})
	}
}

// wiped empties the queues repeatedly for two seconds, then sweeps once.
func wiped(ctx context.Context, s *scene) error {
	return s.wipeUntil(ctx, s.path(), s.sweepUp)
}

// wipeUntil empties queues repeatedly for two seconds, and whenever a message is sent to one, and then calls find
// to recover the lost messages. If find finds none, the row would prove nothing, so wipeUntil tries again.
func (s *scene) wipeUntil(ctx context.Context, urls []string, find func(context.Context) (int, error)) error {
	const tries = 5
	wipeSent := func(_ call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
		pass(w)
		_ = s.wipe(ctx, urls...) // the caller checks that it had an effect
	}
	wipeOn := func(ctx context.Context) error {
		for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
			if err := s.wipe(ctx, urls...); err != nil {
				return err
			}
			if err := pause(ctx, 20*time.Millisecond); err != nil {
				return err
			}
		}
		return nil
	}
	for range tries {
		if err := s.during(ctx, wipeOn, &fault{at: []step{{operation: "SendMessageBatch"}}, times: -1,
			do: wipeSent}); err != nil {
			return err
		}
		if found, err := find(ctx); err != nil || found > 0 {
			return err
		}
	}
	return errors.New("nothing was lost")
}

// sweepUp sweeps once and returns the number of lost messages that it found.
func (s *scene) sweepUp(ctx context.Context) (found int, err error) {
	swept, err := s.sweep(ctx)
	s.happenedNow()
	return swept.Events.Deliveries + swept.Tasks.Resent, err
}
