package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/infra/measure/metered"
)

// weighed is one call of an operation, without the work that follows from it.
type weighed struct {
	name   string
	used   usage
	places metered.Places
}

// single are the operations whose calls are compared with the floor: the most frequent
// ones, and those that write most.
var single = []string{"getFactory", "listContentItems", "createFactory", "createImage", "createContentItem", "updateContentItem"}

// The most that a read and a create are to cost, in floors.
const (
	readAim   = 1.3
	createAim = 2.2
)

// floor is the least that a call can cost that is answered by code and leaves a trace: the
// gateway with its firewall, one run of a function, one write of one unit and their logs.
func floor() weighed {
	u := usage{calls: 1, table: metered.Reading{Trips: 1, Writes: 1}}
	u.ran("account", handling+tableWait)
	return weighed{name: "floor", used: u}
}

// weighCalls counts one call of each of the operations.
func weighCalls(ctx context.Context, w *metered.World, operations []string) (all []weighed, err error) {
	for _, operation := range operations {
		w.Meter.Places = metered.Places{}
		cost, err := w.Try(ctx, operation, true)
		if err != nil {
			return nil, err
		}
		c := weighed{name: operation, used: callOf(w, operation, cost), places: metered.Places{}}
		maps.Copy(c.places, w.Meter.Places)
		all = append(all, c)
	}
	w.Meter.Places = nil
	return all, nil
}

// callOf is the usage of one call.
func callOf(w *metered.World, operation string, cost metered.Cost) usage {
	u := usage{calls: 1}
	for _, part := range []metered.Reading{cost.Authorizer, cost.Function, cost.Audit} {
		u.table.Trips += part.Trips
		u.table.Reads += part.Reads
		u.table.Writes += part.Writes
	}
	u.ran("authorizer", handling+time.Duration(cost.Authorizer.Trips)*tableWait)
	u.ran(w.Routes[operation].Function, handling+time.Duration(cost.Function.Trips+cost.Audit.Trips)*tableWait)
	return u
}

// perMillion is what a million of such calls cost in us-east-1.
func (c weighed) perMillion() float64 { return billOf(&c.used, million, inVirginia).sum }

// callsMarkdown compares calls with the floor.
func callsMarkdown(all []weighed) string {
	least := floor()
	var b strings.Builder
	b.WriteString("### Calls\n\nOne million calls in us-east-1, in dollars, without the work that follows. The floor is the least that a call can cost that code answers and that leaves a trace: the gateway with its firewall, one run of a function, one write unit and their logs. Calls are made with a test key; a live key adds the ledger to what creates work.\n\n")
	b.WriteString("| Call | Read units | Write units | Gateway and firewall | Lambda | DynamoDB | Logs and traces | Sum | Times the floor |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, c := range append([]weighed{least}, all...) {
		bill := map[string]float64{}
		for _, l := range billOf(&c.used, million, inVirginia).lines {
			bill[l.service] += l.dollars
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", c.name, number(c.used.table.Reads), number(c.used.table.Writes),
			bill["API Gateway"]+bill["WAF"], bill["Lambda"], bill["DynamoDB"], bill["CloudWatch Logs"]+bill["X-Ray"], c.perMillion(), c.perMillion()/least.perMillion())
	}
	last := all[slices.IndexFunc(all, func(c weighed) bool { return c.name == "createContentItem" })]
	b.WriteString("\nThe write units of createContentItem:\n\n| Written | In the table | In its indexes |\n|---|---|---|\n")
	table, indexes := map[string]float64{}, map[string]float64{}
	for place, n := range last.places {
		table[place.Kind] += 0
		if place.Index == "" {
			table[place.Kind] += n
		} else {
			indexes[place.Kind] += n
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(table)) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", kind, number(table[kind]), number(indexes[kind]))
	}
	return b.String()
}
