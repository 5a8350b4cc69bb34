package main

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// aim is the longest time from the end of a fault to the last delivery of what was
// accepted before.
const aim = 6 * time.Second

// What the writes of a delivery contain: that of a claim, and that of an outcome.
const (
	claiming  = `SET x_claim=?`
	recording = `"delivered"`
)

// place is a step of a function with its name in the table.
type place struct {
	step
	name string
	// hidden is how long the queue hides a message whose function died here, before it
	// could say that it needs it no longer than it lives; 0: that it has said.
	hidden time.Duration
}

// holding is the call by which a function hides its messages for as long as it lives,
// again every second.
const holding = "ChangeMessageVisibilityBatch"

// places are the steps on the way of an event from the table to the receiver, in
// their order.
var places = []place{
	{step: step{function: "relay", operation: "PutEvents"}, name: "relay puts events on the bus"},
	{step: step{function: "dispatch", operation: holding}, name: "dispatch holds its messages", hidden: 3 * time.Minute},
	{step: step{function: "dispatch", operation: "Query"}, name: "dispatch reads the webhooks"},
	{step: step{function: "dispatch", operation: "PutItem"}, name: "dispatch writes a delivery"},
	{step: step{function: "dispatch", operation: "SendMessageBatch"}, name: "dispatch sends to the queue"},
	{step: step{function: "deliver", operation: holding}, name: "deliver holds its messages", hidden: 6 * time.Minute},
	{step: step{function: "deliver", operation: "BatchGetItem"}, name: "deliver reads"},
	{step: step{function: "deliver", operation: "BatchExecuteStatement", with: claiming}, name: "deliver claims an attempt"},
	{step: step{function: "deliver", operation: receiving}, name: "deliver calls the receiver"},
	{step: step{function: "deliver", operation: "BatchExecuteStatement", with: recording}, name: "deliver records the outcome"},
}

// webhookRows are the rows about deliveries.
func webhookRows(sz size) []row {
	kept := bounds{recovery: aim}
	once := bounds{recovery: aim, once: true}
	rows := []row{{name: "No fault", happen: nothing, bounds: once}}
	for _, p := range places {
		rows = append(rows,
			row{name: "Killed before " + p.name, happen: killed(sz, p, killBefore), bounds: bounds{recovery: p.hidden + aim}},
			row{name: "Killed after " + p.name, happen: killed(sz, p, killAfter), bounds: kept},
		)
	}
	rows = append(rows,
		row{name: "Dispatch and deliver queues wiped, then one sweep", happen: wiped, bounds: kept},
		row{name: "The same, sweep killed, then one more", happen: wipedAndKilled, bounds: kept},
		row{name: "The table refuses writes", happen: window(writes, sz.outage, refuse), bounds: kept},
		row{name: "Bus and queues refuse", happen: window(sends, sz.outage, refuse), bounds: kept},
		row{name: "Each message and event comes twice", happen: often(sends, 1, repeat), bounds: once},
		row{name: "Each message and event comes again after 2 s", happen: often(sends, 1, repeatAfter(2*time.Second)), bounds: once},
		row{name: "Every third write is done, its answer lost", happen: often(writes, 3, loseAnswer), bounds: kept},
		row{name: "Every third sending is done, its answer lost", happen: often(sends, 3, loseAnswer), bounds: kept},
		// The second attempt follows five seconds after the first, and up to half of one more.
		row{name: "Receiver down for 3 s", happen: down, bounds: bounds{recovery: aim + 2*time.Second, once: true}},
		row{name: "Dispatch frozen past its time-out", happen: frozen(step{function: "dispatch", operation: "SendMessageBatch"}, 35*time.Second), bounds: kept},
		row{name: "Deliver frozen past its claim", happen: frozen(step{function: "deliver", operation: receiving}, 40*time.Second), bounds: kept},
		row{name: "Deliver frozen past its time-out, its last write comes late", happen: frozen(places[len(places)-1].step, 65*time.Second), bounds: kept},
	)
	return append(rows, besides()...)
}

// frozen freezes a function at a step, once; others take its work over meanwhile.
func frozen(at step, d time.Duration) func(context.Context, *scene) error {
	return func(ctx context.Context, s *scene) error {
		return s.during(ctx, &fault{at: []step{at}, skip: 2, times: 1, do: s.caught(ctx, freeze(d))}, func(ctx context.Context) error {
			return until(ctx, func() (bool, error) { return s.happened() > 0, nil })
		})
	}
}

// killed kills functions at a step, each time that the work has come by there a few
// times more.
func killed(sz size, at place, do doing) func(context.Context, *scene) error {
	return func(ctx context.Context, s *scene) error {
		do := s.caught(ctx, do)
		if at.operation != holding && at.function != "relay" {
			do = s.whileHeld(ctx, do)
		}
		f := &fault{at: []step{at.step}, skip: 2, every: 5, times: sz.kills, do: do}
		return s.during(ctx, f, func(ctx context.Context) error {
			return until(ctx, func() (bool, error) { return s.happened() >= sz.kills, nil })
		})
	}
}

// window lets something happen to all calls for some time.
func window(at []step, d time.Duration, do doing) func(context.Context, *scene) error {
	return func(ctx context.Context, s *scene) error {
		return s.during(ctx, &fault{at: at, times: -1, do: do}, func(ctx context.Context) error { return pause(ctx, d) })
	}
}

// often lets something happen to every n-th call until the load has ended.
func often(at []step, n int, do doing) func(context.Context, *scene) error {
	return func(ctx context.Context, s *scene) error {
		return s.during(ctx, &fault{at: at, every: n, times: -1, do: do}, func(ctx context.Context) error {
			return s.load.reached(ctx, s.load.events)
		})
	}
}

// wiped empties the queues again and again for two seconds, then sweeps once.
func wiped(ctx context.Context, s *scene) error {
	if err := s.wipeOften(ctx, 2*time.Second); err != nil {
		return err
	}
	return s.sweepUp(ctx)
}

// wipedAndKilled likewise, but kills the first sweep in the middle of its work.
func wipedAndKilled(ctx context.Context, s *scene) error {
	if err := s.wipeOften(ctx, 2*time.Second); err != nil {
		return err
	}
	f := &fault{at: []step{{function: "sweep", operation: "SendMessageBatch"}}, do: killBefore}
	err := s.during(ctx, f, func(ctx context.Context) error {
		if _, err := s.sweep(ctx); err == nil {
			return errors.New("the sweep had nothing to send")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.sweepUp(ctx)
}

func (s *scene) wipeOften(ctx context.Context, d time.Duration) error {
	if err := s.meet(ctx); err != nil {
		return err
	}
	for end := time.Now().Add(d); time.Now().Before(end); {
		if err := s.wipe(ctx, s.path()...); err != nil {
			return err
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// sweepUp sweeps once. That there was nothing to sweep up would prove nothing.
func (s *scene) sweepUp(ctx context.Context) error {
	swept, err := s.sweep(ctx)
	if err == nil && swept.Made+swept.Resent == 0 {
		err = errors.New("the sweep found nothing that was lost")
	}
	s.happenedNow()
	return err
}

// down lets the receiver answer with 503 for three seconds: the second attempt,
// five seconds after the first, finds it well.
func down(ctx context.Context, s *scene) error {
	return s.during(ctx, &fault{at: []step{{operation: receiving}}, times: -1, do: answer(http.StatusServiceUnavailable)},
		func(ctx context.Context) error { return pause(ctx, 3*time.Second) })
}
