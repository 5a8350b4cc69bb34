package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/infra/measure/standing"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth/authorizer"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/task"
)

// metricPrice is the price of a custom metric for a month in which it has a value every hour.
const metricPrice = 0.30

// custom are the custom metrics of functions by name, with the number of each, by dimension, for a customer that
// does nothing and for one that works as the profiles do. Other metrics exist only during faults, for the hours in
// which they last.
var custom = map[string]struct{ idle, busy int }{
	worker.Failed: {1, 1},
	worker.Took:   {1, 1},
	// A day with live probes has a value in one hour.
	worker.ProviderProbesFailed: {0, 1},
	// The kinds are images, posts, videos, deliveries, and the tasks that start and end work.
	task.TaskMilliseconds:            {0, 6},
	generate.ProviderFailed:          {0, 3}, // the providers
	webhook.Succeeded:                {0, 1},
	webhook.Failed:                   {0, 1},
	authorizer.AuthenticationRefused: {0, 1},
	authorizer.PermissionRefused:     {0, 1},
	ledger.LostSpend:                 {0, 1},
	// It has a value in one hour of a day.
	transfer.OrphanMetric: {0, 1},
	// The canary counts them in one hour of a week.
	worker.ModelEnds:  {0, 1},
	"RefusedVariants": {0, 6}, // the platforms
	"RepairedTexts":   {0, 7}, // the five codes of the guard, flagged, and unreadable

	auditlog.AlteredMetric:    {},
	httpapi.ServerErrors:      {},
	"InterruptedCompositions": {},
	"UnsignedMedia":           {},
	"LostSubmissions":         {},
	"DisownedGenerations":     {},
	provider.StandInMetric:    {},
}

// customMetrics returns the price of the custom metrics of a profile for a month.
func (p profile) customMetrics() (dollars float64) {
	for _, m := range custom {
		n := m.idle
		if p.reads > 0 {
			n = m.busy
		}
		dollars += float64(n) * metricPrice
	}
	return dollars
}

// profile is the use of the service by a customer in a month.
type profile struct {
	name string
	// The numbers of calls, by the operation that represents them.
	reads, lists, changes float64
	// The numbers of generations, by scenario.
	images, posts, videos float64
	// webhooks is the number of webhooks that get each event.
	webhooks float64
	// platforms is the number of platforms that get each post and video.
	platforms float64
}

// profiles are the customers in the table of months. The first does nothing.
var profiles = []profile{
	{name: "idle"},
	{"small", 100_000, 10_000, 2_000, 500, 1_000, 50, 1, 2},
	{"medium", 2_000_000, 200_000, 40_000, 10_000, 20_000, 1_000, 2, 3},
	{"large", 50_000_000, 5_000_000, 1_000_000, 200_000, 400_000, 20_000, 2, 5},
}

const monthDays = 30

// delivered is the usage of one delivery of an event to a webhook that takes it at once, with the write units by place.
type delivered struct {
	table  metered.Reading
	places metered.Places
}

// deliveries counts the usage of a delivery. The first of a minute also writes the health of the webhook, so that the
// second is counted.
func deliveries(ctx context.Context, w *metered.World) (d delivered, err error) {
	if _, _, err = w.Attempt(ctx); err == nil {
		d.table, d.places, err = w.Attempt(ctx)
	}
	return d, err
}

// usage returns the usage of the delivery with the runs that send its message and make the attempt. The run of dispatch
// belongs to its event.
func (d delivered) usage() usage {
	u := usage{sends: 1, receives: 1, beats: 1, records: 1, table: d.table}
	u.ran("relay", handling+queueWait)
	u.ran("deliver", handling+time.Duration(d.table.Trips-1)*tableWait+quickWait)
	return u
}

// looking returns the usage of scheduled functions in a month, and of the polling of empty queues: five pollers
// poll each queue every 20 seconds.
func looking() usage {
	u := usage{}
	for _, f := range topology.Functions {
		if f.Trigger != topology.BySchedule {
			continue
		}
		runs := int(monthDays * 24 * time.Hour / f.Every)
		for range runs {
			u.ran(f.Name, handling+6*tableWait)
		}
		u.table.Reads += float64(runs) * scheduledReads
	}
	const pollers, pollEvery = 5, 20
	u.sends = len(topology.Queues) * pollers * monthDays * 24 * 3600 / pollEvery
	return u
}

// scheduledReads is the number of read units of one run of the function due that finds nothing: one query for each
// shard of due items, and the checkpoints.
const scheduledReads = 30

// monthOf returns the parts of the price of a month, and their sum.
func (p profile) monthOf(m measured, in func(price) float64) (parts []amount, sum float64) {
	add := func(name string, dollars float64) {
		parts = append(parts, amount{name, dollars})
		sum += dollars
	}
	bill := func(u usage, n float64) float64 { return billOf(&u, n, in).sum }
	add("Standing", standing.Month())
	add("Custom metrics", p.customMetrics())
	add("Schedules and empty queues", bill(looking(), 1))
	add("Reads", bill(m.call("getFactory").used, p.reads)+bill(m.call("listContentItems").used, p.lists))
	add("Changes", bill(m.call("updateContentItem").used, p.changes))
	add("Generations", bill(m.generation("image").whole, p.images)+bill(m.generation("post").whole, p.posts)+
		bill(m.generation("short video").whole, p.videos))
	add("Deliveries", bill(m.delivery.usage(), p.webhooks*(p.images+p.posts+p.videos)))
	return parts, sum
}

// monthsTable shows the months of the profiles.
func monthsTable(m measured) string {
	head := []any{""}
	rows := [][]any{
		{"Reads of one resource"}, {"Lists"}, {"Changes"}, {"Images"}, {"Posts"}, {"Short videos"},
		{"Webhooks for each event"},
	}
	priced := make([][]any, 7)
	sums, frankfurt := []any{"**Sum**"}, []any{"Sum in eu-central-1"}
	for n, p := range profiles {
		head = append(head, p.name)
		for i, n := range []float64{p.reads, p.lists, p.changes, p.images, p.posts, p.videos, p.webhooks} {
			rows[i] = append(rows[i], n)
		}
		parts, sum := p.monthOf(m, inVirginia)
		for i, part := range parts {
			if n == 0 {
				priced[i] = []any{part.service}
			}
			priced[i] = append(priced[i], dollars(part.dollars))
		}
		sums = append(sums, dollars(sum))
		_, sum = p.monthOf(m, inFrankfurt)
		frankfurt = append(frankfurt, dollars(sum))
	}
	t := newTable(head...)
	for _, r := range slices.Concat(rows, priced, [][]any{sums, frankfurt}) {
		t.row(r...)
	}
	return t.String()
}

// standingSection shows the price of a month without any work, for the stack of a shared customer and for a
// customer with its own infrastructure.
func standingSection(m measured) string {
	idle, t := looking(), newTable("A stack", "Number", "Dollars a month")
	for _, r := range standing.Resources {
		t.row(r.What, r.Count, dollars(float64(r.Count)*r.Dollars))
	}
	t.row("Polling of empty queues, and scheduled functions", fmt.Sprint(len(topology.Queues), " queues"),
		dollars(billOf(&idle, 1, inVirginia).sum))
	t.row("Custom metrics", "of the canary", dollars(profiles[0].customMetrics()))
	_, virginia := profiles[0].monthOf(m, inVirginia)
	t.row("**Sum**", "", dollars(virginia))
	t.row("A quiet stack, which has no dashboard", "", dollars(virginia-standing.Dashboard))
	for year := 2; year <= 3; year++ {
		t.row(fmt.Sprintf("More from year %d on, for rotations of %d keys", year, standing.Rotated), "",
			dollars(standing.Rotations(year)))
	}

	own := newTable("A dedicated customer", "Number", "us-east-1", "eu-central-1")
	line := func(what string, number any, prices [2]float64) {
		own.row(what, number, dollars(prices[0]), dollars(prices[1]))
	}
	lines := func(all []standing.Own, sum [2]float64) [2]float64 {
		for _, r := range all {
			prices := standing.Sum([]standing.Own{r})
			line(r.What, r.Count, prices)
			sum[0], sum[1] = sum[0]+prices[0], sum[1]+prices[1]
		}
		return sum
	}
	_, frankfurt := profiles[0].monthOf(m, inFrankfurt)
	line("A stack, as above", "", [2]float64{virginia, frankfurt})
	line("**Sum of its region**", "", lines(standing.Dedicated, [2]float64{virginia, frankfurt}))
	line("**Sum of the region of the replica**", "", lines(standing.Waiting, [2]float64{}))
	line("More there after a failover: NAT gateways and endpoints", "", standing.Sum(standing.Dedicated[:2]))
	return t.String() + "\n" + own.String()
}
