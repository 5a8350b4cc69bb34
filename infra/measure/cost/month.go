package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/infra/measure/standing"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// profile is what a customer does in a month.
type profile struct {
	name string
	// Calls, by the operation that stands for them.
	reads, lists, changes float64
	// Generations, by scenario.
	images, posts, videos float64
	// webhooks is how many webhooks get each event.
	webhooks float64
}

// profiles are the customers that the months are of. The first does nothing.
var profiles = []profile{
	{name: "idle"},
	{"small", 100_000, 10_000, 2_000, 500, 1_000, 50, 1},
	{"medium", 2_000_000, 200_000, 40_000, 10_000, 20_000, 1_000, 2},
	{"large", 50_000_000, 5_000_000, 1_000_000, 200_000, 400_000, 20_000, 2},
}

const monthDays = 30

// delivery is what is assumed of one delivery of an event to a webhook: its item, which is
// written and then changed with its place in the indexes, and the run that sends it.
func delivery() usage {
	u := usage{sends: 1, receives: 1, beats: 1}
	u.table.Trips, u.table.Reads, u.table.Writes = 4, 3, 6
	u.ran("deliver", handling+2*tableWait+quickWait)
	return u
}

// looking is what the functions do in a month that a schedule calls, and what the polling
// of empty queues asks for: each queue is asked by five pollers every 20 seconds.
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

// scheduledReads are the read units of one run of the function due that finds nothing: one
// query for each shard of what is due, and the checkpoints.
const scheduledReads = 30

// monthOf adds up what a profile costs in a month: each part by its name.
func (p profile) monthOf(calls []weighed, all []counted, in func(price) float64) (parts []amount, sum float64) {
	add := func(name string, dollars float64) {
		parts = append(parts, amount{name, dollars})
		sum += dollars
	}
	call := func(name string, n float64) float64 {
		i := slices.IndexFunc(calls, func(c weighed) bool { return c.name == name })
		return billOf(&calls[i].used, n, in).sum
	}
	whole := func(name string, n float64) float64 {
		i := slices.IndexFunc(all, func(c counted) bool { return c.name == name })
		return billOf(&all[i].whole, n, in).sum
	}
	add("Standing", standing.Month())
	add("Custom metrics", p.customMetrics())
	idle := looking()
	add("Schedules and empty queues", billOf(&idle, 1, in).sum)
	add("Reads", call("getFactory", p.reads)+call("listContentItems", p.lists))
	add("Changes", call("updateContentItem", p.changes))
	add("Generations", whole("image", p.images)+whole("post", p.posts)+whole("short video", p.videos))
	sent := delivery()
	add("Deliveries", billOf(&sent, p.webhooks*(p.images+p.posts+p.videos), in).sum)
	return parts, sum
}

// monthsMarkdown writes the months of the profiles.
func monthsMarkdown(calls []weighed, all []counted) string {
	var b strings.Builder
	b.WriteString("### A customer's month\n\nIn dollars, in us-east-1, without free tiers, the prices of providers and traffic.\n\n| |")
	rows := [][]string{{"Reads of one resource"}, {"Lists"}, {"Changes"}, {"Images"}, {"Posts"}, {"Short videos"}, {"Webhooks for each event"}}
	for _, p := range profiles {
		b.WriteString(" " + p.name + " |")
		for i, n := range []float64{p.reads, p.lists, p.changes, p.images, p.posts, p.videos, p.webhooks} {
			rows[i] = append(rows[i], number(n))
		}
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(profiles)) + "\n")
	var sums, frankfurt []string
	lines := map[string][]string{}
	var order []string
	for _, p := range profiles {
		parts, sum := p.monthOf(calls, all, inVirginia)
		for _, part := range parts {
			if lines[part.service] == nil {
				order = append(order, part.service)
			}
			lines[part.service] = append(lines[part.service], fmt.Sprintf("%.2f", part.dollars))
		}
		sums = append(sums, fmt.Sprintf("%.2f", sum))
		_, sum = p.monthOf(calls, all, inFrankfurt)
		frankfurt = append(frankfurt, fmt.Sprintf("%.2f", sum))
	}
	for _, name := range order {
		rows = append(rows, append([]string{name}, lines[name]...))
	}
	rows = append(rows, append([]string{"**Sum**"}, sums...), append([]string{"Sum in eu-central-1"}, frankfurt...))
	for _, r := range rows {
		b.WriteString("| " + strings.Join(r, " | ") + " |\n")
	}
	b.WriteString("\nWhat a stack costs that does nothing:\n\n| | Number | Dollars a month |\n|---|---|---|\n")
	for _, r := range standing.Resources {
		fmt.Fprintf(&b, "| %s | %d | %.2f |\n", r.What, r.Count, float64(r.Count)*r.Dollars)
	}
	idle := looking()
	fmt.Fprintf(&b, "| Polling of empty queues, and scheduled functions | %d queues | %.2f |\n", len(topology.Queues), billOf(&idle, 1, inVirginia).sum)
	fmt.Fprintf(&b, "| Custom metrics | of the canary | %.2f |\n", profiles[0].customMetrics())
	b.WriteString("\n" + dedicatedMarkdown())
	return b.String()
}

// dedicatedMarkdown writes what a customer with infrastructure of its own pays for by the
// hour, without any work.
func dedicatedMarkdown() string {
	idle, regions := looking(), []func(price) float64{inVirginia, inFrankfurt}
	var shared, rest [2]float64
	for i, in := range regions {
		shared[i] = standing.Month() + profiles[0].customMetrics() + billOf(&idle, 1, in).sum
	}
	var b strings.Builder
	b.WriteString("### A dedicated customer's month\n\nThe customer `hooli` of `cdk.json` with all that it has of its own, idle, in dollars: two zones, six services with endpoints, 15 instances in office hours, and a replica in a second region.\n\n| | Number | us-east-1 | eu-central-1 |\n|---|---|---|---|\n")
	line := func(what, number string, dollars [2]float64) {
		fmt.Fprintf(&b, "| %s | %s | %.2f | %.2f |\n", what, number, dollars[0], dollars[1])
	}
	rows := func(all []standing.Own) {
		for _, r := range all {
			line(r.What, fmt.Sprint(r.Count), [2]float64{float64(r.Count) * r.Virginia, float64(r.Count) * r.Frankfurt})
		}
	}
	line("What each stack costs that does nothing", "", shared)
	rows(standing.Dedicated)
	own, replica := rents()
	for i := range rest {
		rest[i] = shared[i] + own[i]
	}
	line("**Sum of its region**", "", rest)
	rows(standing.Waiting)
	line("**Sum of the region of the replica**", "", replica)
	var during [2]float64
	during[0], during[1] = standing.Sum(standing.Dedicated[:2])
	line("More there after a failover: NAT gateways and endpoints", "", during)
	b.WriteString("\nBeside that, a replica costs each write of the table once more, and a cent and a half for each GB of files that is copied; NAT gateways and endpoints charge by the GB as well. Prices: <https://aws.amazon.com/vpc/pricing/>, <https://aws.amazon.com/privatelink/pricing/>, <https://aws.amazon.com/lambda/pricing/>.\n")
	return b.String()
}
