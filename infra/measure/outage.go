package main

import (
	"context"
	"fmt"
	"time"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/pkg/area/webhook"
)

// The outage of the model: a receiver is silent for a day, in which this number of events happen.
const (
	silentEvents = 1_000_000
	silentTime   = 24 * time.Hour
)

// countedEvents is the number of events of the outage that is counted, of which the model has silentEvents.
const countedEvents = 100

// probesADay bounds the probes of a day: one every tenth of the outage, at least every five minutes.
const probesADay = 400

// hottest is the number of write units a second that a partition may take because of a silent receiver.
const hottest = partition / 2

// outages counts the usage of an outage.
func outages(ctx context.Context, w *metered.World) (metered.Outage, error) {
	return w.Outage(ctx, countedEvents)
}

// outage is the cost of the outage of the model.
type outage struct {
	// held, probes and returned are the costs in dollars of the table: of the deliveries during the outage, of the
	// probes, and of all deliveries after it.
	held, probes, returned float64
	// heldUnits and returnedUnits are the write units of one delivery.
	heldUnits, returnedUnits float64
	loads                    []load
}

// load is the number of write units a second of a partition.
type load struct {
	what   string
	during bool
	units  float64
}

// outageOf returns the costs of the model. The usage of the few counted events includes all that is done once for an
// outage, so that it is an upper bound.
func outageOf(of metered.Outage, in func(price) float64) (o outage) {
	dollars := func(u metered.Used, n float64) float64 {
		used := usage{table: u.Reading}
		return billOf(&used, n, in).sum
	}
	const each = silentEvents / countedEvents
	o.held, o.probes, o.returned = dollars(of.Held, each), dollars(of.Probe, probesADay), dollars(of.Returned, each)
	o.heldUnits, o.returnedUnits = of.Held.Writes/countedEvents, of.Returned.Writes/countedEvents
	during := silentEvents / silentTime.Seconds()
	for _, p := range []struct {
		what   string
		of     metered.Place
		shards float64
	}{
		{"The list of the webhook's deliveries", inTable(webhook.DeliveryKind), 1},
		{"The index of its held deliveries", inIndex("by_due", webhook.DeliveryKind), webhook.HeldShards},
	} {
		o.loads = append(o.loads, load{p.what, true, during * of.Held.Places[p.of] / countedEvents / p.shards},
			load{p.what, false, webhook.MostASecond * of.Returned.Places[p.of] / countedEvents / p.shards})
	}
	return o
}

// outageTable shows the cost and the load of a receiver that is silent.
func outageTable(of metered.Outage) string {
	o := outageOf(of, inVirginia)
	t := newTable("Of the table", "Write units of a delivery", "Dollars")
	t.row("The day of the outage", o.heldUnits, fmt.Sprintf("%.2f", o.held))
	t.row("The probes of the day", "none", fmt.Sprintf("%.2f", o.probes))
	t.row("The return", o.returnedUnits, fmt.Sprintf("%.2f", o.returned))
	loads := newTable("Partition", "When", "Write units a second")
	for _, l := range o.loads {
		when := fmt.Sprintf("at the return, %d deliveries a second", webhook.MostASecond)
		if l.during {
			when = "during the outage"
		}
		loads.row(l.what, when, fmt.Sprintf("%.0f", l.units))
	}
	return fmt.Sprintf("A receiver is silent for a day, in which %s events happen. In us-east-1.\n\n%s\n%s",
		number(silentEvents), t, loads)
}
