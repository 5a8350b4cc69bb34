package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/task"
)

// The load of the model is that of a shared stack with this number of customers, who together make this number of
// calls a second.
const (
	customers     = 100
	callsASecond  = 10_000
	largestShare  = 0.10 // of all calls, by the largest customer, with one key
	changesShare  = 0.10 // of the calls, as updateContentItem
	createsShare  = 0.10 // of the calls, as a post with all the work that follows
	eventWebhooks = 1    // webhooks that get each event
)

// acceptedASecond is the number of generations of one account that are accepted a second. Each is a transaction
// that changes the balance, and conflicting ones are repeated.
const acceptedASecond = 100

// regionConcurrency is Lambda's default quota of an account in a region. AWS keeps leastUnreserved of it free of
// reservations.
const (
	regionConcurrency = 1000
	leastUnreserved   = 100
)

// partition is the number of write units a second that one partition of DynamoDB takes.
const partition = 1000

// scope is the set of items that share a partition.
type scope int

const (
	// ofItem means that each item has its own partition, whose load does not grow.
	ofItem scope = iota
	// ofAccount means that the items of one account, in one mode, share a partition. The largest customer has the
	// most.
	ofAccount
	// ofKey means that the items of one API key share a partition. The largest customer has one key.
	ofKey
	// ofShard means that all accounts share a set of shards, each with a partition.
	ofShard
)

// home is the destination of the writes of a place.
type home struct {
	scope  scope
	shards int
	what   string
	remedy string
}

const fewer = "Nothing for most customers. A customer that needs more gets a separate stack, or several accounts"

func inTable(kind string) metered.Place { return metered.Place{Kind: kind} }

func inIndex(name, kind string) metered.Place { return metered.Place{Index: name, Kind: kind} }

// homes are the destinations of all places that the load writes. A new place must be added, so that its author
// considers whether its partition can take the writes of a busy stack.
var homes = map[metered.Place]home{
	inIndex("by_due", task.ItemKind): {
		ofShard, task.Tasks.Shards, "Tasks that are due, in shards", "Raise `task.Tasks.Shards`",
	},
	inIndex("by_due", event.Kind): {ofShard, event.Shards, "Events of all accounts, in shards", "Raise `event.Shards`"},
	inTable("secret"):             {ofKey, 1, "Calls of one key: the authorizer's counter", "Several keys for one customer"},
	inTable("spend"):              {ofKey, 1, "The spending of one key", "Several keys for one customer"},
	inTable("audit_entry"): {
		ofAccount, 1, "Audit entries of one account",
		"Add the hour to the partition of entries; lists then merge hours",
	},
	inTable("balance"):                   {ofAccount, 1, "The balance of one account", fewer},
	inTable("waiting"):                   {ofAccount, 1, "The counter of one account's waiting work", fewer},
	inTable("levels"):                    {ofAccount, 1, "Service levels of one account", fewer},
	inTable("analytics"):                 {ofAccount, 1, "Analytics of one factory", "Several factories"},
	inIndex("by_owner", "content_item"):  {ofAccount, 1, "The list of one account's content", fewer},
	inIndex("by_owner", event.Kind):      {ofAccount, 1, "The list of one account's events", fewer},
	inIndex("by_owner", "balance_entry"): {ofAccount, 1, "The list of one account's ledger", fewer},
	inIndex("by_parent", "content_item"): {ofAccount, 1, "The list of one factory's content",
		"Several factories"},
	inTable("content_text"): {ofAccount, 1, "The signatures of one factory's texts",
		"Several factories"},
	inTable(webhook.DeliveryKind):         {ofAccount, 1, "The list of one webhook's deliveries", fewer},
	inIndex("by_parent", "balance_entry"): {},
	inTable("balance_entry"):              {},
	inTable(task.ItemKind):                {},
	inTable(event.Kind):                   {},
	inTable("content_item"):               {},
	inTable("answer"):                     {},
	// One for each hash, and for each resource.
	inTable(generate.RegisterKind):              {},
	inIndex("by_parent", generate.RegisterKind): {},
	inTable(generate.LikenessKind):              {},
	inIndex("by_parent", generate.LikenessKind): {},
}

// limit is a limit that is reached at some number of calls a second.
type limit struct {
	what string
	// takes is the capacity, and used is the amount of it that one call a second uses.
	takes, used float64
	unit        string
	// ours reports whether the limit is a constant or a key of ours, so that no quota of AWS has to be raised.
	ours   bool
	remedy string
}

// at returns the number of calls a second of the whole stack at which the limit is reached.
func (l limit) at() float64 { return l.takes / l.used }

// mix is the average usage of one call.
type mix struct {
	places metered.Places
	// took is the time of the runs of functions, and runs is their number, by function.
	took, runs map[string]float64
	reads      float64
	writes     float64
	audit      float64
	events     float64
}

// mixOf averages the calls of the load.
func mixOf(all measured) mix {
	m := mix{places: metered.Places{}, took: map[string]float64{}, runs: map[string]float64{}}
	add := func(u usage, places metered.Places, share float64) {
		for place, n := range places {
			m.places[place] += share * n
			if place.Kind == "audit_entry" {
				m.audit += share * n
			} else {
				m.writes += share * n
			}
		}
		m.reads += share * u.table.Reads
		m.events += share * float64(u.events)
		for name, r := range u.runs {
			m.runs[name] += share * float64(r.times)
			m.took[name] += share * r.took.Seconds()
		}
	}
	read, change, post := all.call("getFactory"), all.call("updateContentItem"), all.generation("post")
	add(read.used, read.places, 1-changesShare-createsShare)
	add(change.used, change.places, changesShare)
	add(post.whole, post.places, createsShare)
	add(all.delivery.usage(), all.delivery.places, createsShare*eventWebhooks)
	return m
}

// leastRun is the minimum time that Lambda counts for a run when it limits the number of runs a second: ten for
// each unit of concurrency.
const leastRun = 100 * time.Millisecond

// limits returns all limits, in the order in which they are reached.
func limits(m mix) (all []limit, err error) {
	concurrency := 0.0
	for name, took := range m.took {
		concurrency += max(took, m.runs[name]*leastRun.Seconds())
	}
	authorizer := topology.FunctionNamed("authorizer")
	const runs, writes = "runs at a time, ten a second each", "write units"
	all = []limit{
		{"The throttle of the gateway's stage", customer.CallsPerSecond, 1, "calls", true,
			"Raise `customer.CallsPerSecond`, and with it what is reserved for the authorizer"},
		{"The concurrency reserved for the authorizer", float64(authorizer.ReservedConcurrency),
			max(m.took["authorizer"], leastRun.Seconds()), runs, true,
			"Raise `Reserved` in `pkg/cloud/topology/functions.go`: a tenth of the calls a second"},
		{"Lambda: concurrency of the region", regionConcurrency, concurrency, runs, false,
			"Ask for the quota `Concurrent executions`"},
		{"API Gateway: calls of the region", 10_000, 1, "calls", false, "Ask for the quota `Throttle rate`"},
		{"DynamoDB: writes of the state table", 40_000, m.writes, writes, false,
			"Ask for the quota `Table-level write throughput limit`"},
		{"DynamoDB: writes of a new state table", float64(customer.FreshTable.Writes), m.writes, writes, false,
			"It doubles within half an hour of its peak. The setting `warmThroughput` starts it with more"},
		{"DynamoDB: reads of the state table", 40_000, m.reads, "read units", false,
			"Ask for the quota `Table-level read throughput limit`"},
		{"DynamoDB: writes of the audit table", 40_000, m.audit, writes, false, "As for the state table"},
		{"EventBridge: PutEvents in eu-central-1", 2_400, m.events, "events", false,
			"Ask for the quota `PutEvents throttle limit`. In us-east-1 it is 10,000"},
		{"EventBridge: invocations in eu-central-1", 4_500, m.events, "invocations", false,
			"Ask for the quota `Invocations throttle limit`. In us-east-1 it is 18,750"},
		{"KMS: cryptographic requests in eu-central-1", 20_000, createsShare * 2, "requests", false,
			"Ask for the quota; the bucket's own key already saves most requests"},
	}
	if m.places[inTable("balance")] > 0 {
		all = append(all, limit{"Accepted generations of one account: transactions that meet on its balance",
			acceptedASecond, createsShare * largestShare, "generations", true,
			"Several accounts for one customer; its contract names the limit"})
	}
	for _, f := range topology.Functions {
		if took := m.took[f.Name]; f.Trigger == topology.ByQueue && took > 0 {
			all = append(all, limit{"The concurrency of a queue of `" + f.Name + "`",
				float64(f.Concurrency * f.Batch), took,
				"messages at a time", true, "Work waits longer. Raise `Concurrency` of the function with the " +
					"account's quota, and the quotas of providers"})
		}
	}
	for place, used := range m.places {
		h, known := homes[place]
		if !known {
			return nil, fmt.Errorf("it is not known what shares the partition of %+v: add it to homes", place)
		}
		switch h.scope {
		case ofItem:
			continue
		case ofAccount, ofKey:
			used *= largestShare
		case ofShard:
		}
		all = append(all, limit{h.what, float64(partition * max(h.shards, 1)), used, writes, true, h.remedy})
	}
	slices.SortStableFunc(all, func(a, b limit) int {
		return cmp.Or(cmp.Compare(math.Round(a.at()), math.Round(b.at())), strings.Compare(a.what, b.what))
	})
	return all, nil
}

// limitsTable shows the limits in the order in which they are reached.
func limitsTable(all []limit) string {
	load := number(callsASecond)
	t := newTable("Limit", "Reached at calls a second", "Allows, a second", "Used at "+load+" calls a second", "Remedy")
	for _, l := range all {
		// The units of a load differ in their last digits from run to run, and rounding would show it.
		at := fmt.Sprintf("%.0f", math.Floor(l.at()+0.1))
		if l.at() < callsASecond {
			at = "**" + at + "**"
		}
		t.row(l.what, at, number(l.takes)+" "+l.unit, fmt.Sprintf("%.0f", l.used*callsASecond), l.remedy)
	}
	return fmt.Sprintf("The load: %d customers; %s calls a second all together, of which the largest customer makes %g "+
		"of 100 with one key. Of 100 calls %g change an item, %g create a post, which is generated and delivered to %d "+
		"webhook, and the others read.\n\n%s", customers, load, largestShare*100, changesShare*100, createsShare*100,
		eventWebhooks, t)
}

// quota is a default quota of an AWS account in one region.
type quota struct {
	what string
	// has is the default quota, and takes is the amount of it that one stack uses.
	has, takes int
	name       string
}

// stacks returns the number of stacks that fit.
func (q quota) stacks() int { return q.has / q.takes }

// accountQuotas returns the quotas that stacks of shared customers in one account share, the scarcest first.
func accountQuotas() []quota {
	usual := customer.Settings{}
	reserved := usual.Reservations()
	all := []quota{
		{"Lambda: concurrency with all queues busy", regionConcurrency, reserved + usual.Background() + usual.Requests(),
			"Concurrent executions"},
		{"Lambda: concurrency that may be reserved", regionConcurrency - leastUnreserved, reserved,
			"Concurrent executions"},
		{"X-Ray: sampling rules", 25, 3, "Custom sampling rules"},
		{"EventBridge: buses", 100, 1, "Event buses"},
		{"WAF: web ACLs", 100, 2, "Maximum web ACLs per account"},
		{"DynamoDB: tables", 2500, 2, "Maximum number of tables"},
	}
	slices.SortStableFunc(all, func(a, b quota) int { return cmp.Compare(a.stacks(), b.stacks()) })
	return all
}

// accountTable shows the number of stacks in an AWS account.
func accountTable() string {
	all := accountQuotas()
	t := newTable("Quota of an AWS account in a region", "Default", "A stack takes", "Stacks", "Ask for")
	for _, q := range all {
		t.row(q.what, q.has, q.takes, q.stacks(), "`"+q.name+"`")
	}
	return fmt.Sprintf("With its default quotas, one AWS account takes %d stack of shared customers in a region whose "+
		"queues are all busy. With `accountStacks`, several share it: each gets a part, for its queues, its "+
		"authorizer and its calls. One account of the API takes %d accepted generations a second.\n\n%s", all[0].stacks(),
		acceptedASecond, t)
}
