package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/service/api"
)

// operation is one call of an operation, without the work that follows.
type operation struct {
	route  httpapi.Route
	cost   metered.Cost
	used   usage
	places metered.Places
}

// operations counts the usage of one call of each operation.
func operations(ctx context.Context, w *metered.World) (all []operation, err error) {
	defer func() { w.Meter.Places = nil }()
	for _, route := range api.Routes() {
		w.Meter.Places = metered.Places{}
		cost, err := w.Try(ctx, route.OperationID, true)
		if err != nil {
			return nil, err
		}
		o := operation{route: route, cost: cost, used: usage{calls: 1}, places: w.Meter.Places}
		for _, part := range o.parts() {
			o.used.table.Trips += part.Trips
			o.used.table.Reads += part.Reads
			o.used.table.Writes += part.Writes
		}
		o.used.called(route.Function, cost)
		all = append(all, o)
	}
	return all, nil
}

// parts returns the usage of the authorizer, of the function and of the audit entry.
func (o operation) parts() []metered.Reading {
	return []metered.Reading{o.cost.Authorizer, o.cost.Function, o.cost.Audit}
}

// firstOfMinute returns the usage of the authorizer in the first call of a key in a minute.
func firstOfMinute(ctx context.Context, w *metered.World) (metered.Reading, error) {
	w.Clock = w.Clock.Add(time.Minute)
	c, err := w.Try(ctx, "getMe", true)
	return c.Authorizer, err
}

// The bounds of round trips.
const (
	authorizerTrips = 1
	readTrips       = 1
	writeTrips      = 2
	auditTrips      = 1
)

// more are the round trips that operations take beyond the bounds. startTraining reads the content that it learns
// from, which fits into one page of a query here. bulkPublishing claims its key, checks and changes each item, here
// one, and commits its answer. listProposals reads the factory at the same time as the list, and getServiceLevels
// reads the probes at the same time as the counts, so that they take as long as one trip. getUsage reads the names of
// the keys after their calls. updatePromotion reads the products of the promotion. connectSocialAccount finds the
// account of a channel that is already connected. sendMessage commits twice, and its reply here reads the factory. A
// draft is read before its subject. The counts of listed integrations, the factory of a changed one and the account of
// a disconnected one are read after it. deleteProfile looks at each list of what may belong to the profile. The
// calendar of a plan is read after the plan. The slots of an item's accounts and their posts of the day are read after
// the item that is scheduled or published, and so is the factory whose region decides which rules of law apply;
// validatePublishing reads its factory and accounts, too. A list of items that are published reads their publications
// in one batch. A publication is found by the index of items, and read from the table, because the index lags; its
// dossier is read after it. The template of an automation is checked as an item would be, with its factory and
// accounts. Best times read the items after their factory. A key reads the calls of the key that it replaced. A list
// of keys reads the calling key and who has made it, whose role decides what it shows; an invitation reads who has the
// address. A list of deliveries with some that are due reads which of their attempts are under way. verifyProvenance
// reads the register after the media; a picture whose hash is not there is looked for in four partitions more. Topics
// of a plan are read after it. listLookups reads what was found before and counts its call after the account is known.
// deleteApplication looks for accounts that use it, and deleteTemplate for factories. The feed of a factory is read
// after it, and the runs of the feed after both.
var more = map[string]int{
	"sendMessage": 3, "updateDraft": 1, "applyDraft": 1, "startTraining": 1, "listProposals": 1,
	"updatePromotion": 1, "connectSocialAccount": 1, "getServiceLevels": 1, "getUsage": 1, "listIntegrations": 1,
	"updateIntegration": 1, "disconnectIntegration": 1,
	"deleteProfile": 10, "deleteTemplate": 1, "deleteApplication": 2, "getContentPlan": 1, "scheduleContentItem": 3,
	"bulkPublishing": 3, "publishContentItem": 2, "validatePublishing": 3,
	"getBestTimes": 1, "listAllPublications": 2, "getPublication": 1, "getPublicationDossier": 2,
	"updatePublication": 1, "deletePublication": 1,
	"createAutomation": 1, "updateAutomation": 2, "listApiKeys": 1, "getApiKey": 1, "invitePerson": 1,
	"setFeed": 1, "listFeedRuns": 1,
	"replyToComment": 1, "updateComment": 1, "deleteComment": 1, "listDeliveries": 1,
	"listReviewLinks": 1, "getReviewLink": 1, // the links, and whether those who made them still may
	"verifyProvenance": 1, "listLookups": 2, "updateExperiment": 1, "applyExperiment": 1,
	"createPlanTopic": 1, "getPlanTopic": 1, "updatePlanTopic": 1, "deletePlanTopic": 1, "approvePlanTopics": 1,
}

// clocks are the round trips for the clock of the sandbox, whose time these operations need. A live key has none.
var clocks = map[string]int{
	"createPlanTopic": 1, "getPlanTopic": 1, "updatePlanTopic": 1, "deletePlanTopic": 1,
	"approvePlanTopics": 1, "scheduleContentItem": 1, "bulkPublishing": 2, "listAllPublications": 1,
	"validatePublishing": 1, "listSlots": 1, "approveContentItem": 1, "requestChanges": 1,
	"createAutomation": 1, "updateProduct": 1, "deleteProduct": 1, "listPromotions": 1,
	"createPromotion": 1, "updatePromotion": 1,
}

// broken returns an error for each bound that an operation breaks.
func (o operation) broken() (err error) {
	most := writeTrips
	if o.route.Method == http.MethodGet {
		most = readTrips
	}
	most += more[o.route.OperationID] + clocks[o.route.OperationID]
	for i, bound := range []struct {
		part        string
		least, most int
	}{
		{"authorizer", authorizerTrips, authorizerTrips}, {"function", 0, most},
		{"audit entry", auditTrips, auditTrips},
	} {
		if trips := o.parts()[i].Trips; trips < bound.least || trips > bound.most {
			err = errors.Join(err, fmt.Errorf("%s: the %s takes %d round trips, the bound is %d",
				o.route.OperationID, bound.part, trips, bound.most))
		}
	}
	return err
}

// broken returns an error for each bound that is broken.
func (m measured) broken() (err error) {
	for _, o := range m.operations {
		err = errors.Join(err, o.broken())
	}
	return err
}

func unitsSection(m measured) string {
	t := newTable("Operation", "Function", "Round trips", "Read units", "Write units")
	for _, o := range m.operations {
		sum := func(of func(metered.Reading) string) string {
			p := o.parts()
			return of(p[0]) + " + " + of(p[1]) + " + " + of(p[2])
		}
		t.row(o.route.OperationID, o.route.Function,
			sum(func(r metered.Reading) string { return strconv.Itoa(r.Trips) }),
			sum(func(r metered.Reading) string { return number(r.Reads) }),
			sum(func(r metered.Reading) string { return number(r.Writes) }))
	}
	return fmt.Sprintf("%s\nThe first call of a key in a minute costs the authorizer %d round trips and %s write "+
		"units.\n",
		t, m.firstOfMinute.Trips, number(m.firstOfMinute.Writes))
}

// compared are the operations whose calls are compared with the floor: the most frequent ones, and those that write
// most.
var compared = []string{
	"getFactory", "listContentItems", "createFactory", "createImage", "createContentItem", "updateContentItem",
}

// The largest costs that a read and a create may have, in floors.
const (
	readAim   = 1.3
	createAim = 2.2
)

// floor returns the cheapest possible call that code answers and that leaves a trace: the gateway with its
// firewall, one run of a function, one write of one unit and their logs.
func floor() operation {
	o := operation{route: httpapi.Route{OperationID: "floor"}, used: usage{calls: 1}}
	o.used.table = metered.Reading{Trips: 1, Writes: 1}
	o.used.ran("account", handling+tableWait)
	return o
}

// perMillion returns the price of a million calls in us-east-1.
func (o operation) perMillion() float64 { return billOf(&o.used, million, inVirginia).sum }

// callsTable compares calls with the floor.
func callsTable(m measured) string {
	t := newTable("Call", "Read units", "Write units", "Gateway and firewall", "Lambda", "DynamoDB", "Logs and traces",
		"Sum", "Times the floor")
	all := []operation{floor()}
	for _, id := range compared {
		all = append(all, m.call(id))
	}
	for _, o := range all {
		bill := map[string]dollars{}
		for _, l := range billOf(&o.used, million, inVirginia).lines {
			bill[l.service] += dollars(l.dollars)
		}
		t.row(o.route.OperationID, o.used.table.Reads, o.used.table.Writes, bill["API Gateway"]+bill["WAF"],
			bill["Lambda"],
			bill["DynamoDB"], bill["CloudWatch Logs"]+bill["X-Ray"], dollars(o.perMillion()),
			dollars(o.perMillion()/all[0].perMillion()))
	}
	written := newTable("Written by createContentItem", "Units in the table", "In its indexes")
	inTable, inIndexes := map[string]float64{}, map[string]float64{}
	for place, n := range m.call("createContentItem").places {
		inTable[place.Kind] += 0
		if place.Index == "" {
			inTable[place.Kind] += n
		} else {
			inIndexes[place.Kind] += n
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(inTable)) {
		written.row(kind, inTable[kind], inIndexes[kind])
	}
	return t.String() + "\n" + written.String()
}

// The shop of the model: this number of rows, of which 1 % change a day.
const (
	shopRows    = 50_000
	countedRows = 1000
)

// feeds counts the usage of the runs of a feed.
func feeds(ctx context.Context, w *metered.World) (metered.Feed, error) {
	return w.Feed(ctx, countedRows)
}

// runCost is what a run costs the table.
type runCost struct{ dollars, reads, writes float64 }

// feedCosts returns the costs of the first run of the model, and of a daily one. The usage of the few counted rows
// includes all that is done once for a run, so that they are upper bounds.
func feedCosts(of metered.Feed, in func(price) float64) (first, daily runCost) {
	cost := func(u metered.Used) runCost {
		used := usage{table: u.Reading}
		const each = shopRows / countedRows
		return runCost{billOf(&used, each, in).sum, u.Reads / countedRows, u.Writes / countedRows}
	}
	return cost(of.First), cost(of.Daily)
}

// feedTable shows the cost of a feed.
func feedTable(of metered.Feed) string {
	first, daily := feedCosts(of, inVirginia)
	t := newTable("Of the table", "Read units of a row", "Write units of a row", "Dollars")
	t.row("The first run", figure(first.reads), figure(first.writes), fmt.Sprintf("%.2f", first.dollars))
	t.row("A run with 1 % changed", figure(daily.reads), figure(daily.writes), fmt.Sprintf("%.2f", daily.dollars))
	t.row("A month of daily runs", "", "", fmt.Sprintf("%.2f", 30*daily.dollars))
	return fmt.Sprintf("A shop has %s products without photos. In us-east-1.\n\n%s", number(shopRows), t)
}

func figure(n float64) string { return fmt.Sprintf("%.2f", n) }

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
