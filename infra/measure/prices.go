package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/infra/measure/standing"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth/authorizer"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/task"
)

// price is the price that AWS charges for a unit of use, in dollars, without the free tiers.
type price struct {
	service, what string
	// per is the number of units that the price is for.
	per float64
	// The prices in each region.
	virginia, frankfurt float64
	// of returns the number of units that a generation uses.
	of     func(u *usage) float64
	source string
}

// pricesAsOf says of when the prices are, and how sure.
const pricesAsOf = "August 2026. Those of API Gateway, DynamoDB, SQS, EventBridge, S3 and CloudWatch were compared " +
	"with the price list behind the pages. Those of Lambda in eu-central-1, WAF, KMS, Secrets Manager, X-Ray and of " +
	"networks were not: check them before you rely on them."

// million is the number of units that most prices are for.
const million = 1e6

// gigabyte is a gigabyte as AWS counts it.
const gigabyte = 1 << 30

// prices are the prices of everything that a generation uses, except its provider.
var prices = []price{
	{"API Gateway", "call of a REST API", million, 3.50, 3.70,
		func(u *usage) float64 { return float64(u.calls) }, "https://aws.amazon.com/api-gateway/pricing/"},
	{"WAF", "request", million, 0.60, 0.60,
		func(u *usage) float64 { return float64(u.calls) }, "https://aws.amazon.com/waf/pricing/"},
	{"Lambda", "run", million, 0.20, 0.20,
		func(u *usage) float64 { return float64(u.functionRuns()) }, "https://aws.amazon.com/lambda/pricing/"},
	{"Lambda", "GB-second, arm64", million, 13.3334, 13.3334,
		(*usage).gigabyteSeconds, "https://aws.amazon.com/lambda/pricing/"},
	{"DynamoDB", "write unit, on demand", million, 0.625, 0.7625,
		func(u *usage) float64 { return u.table.Writes }, "https://aws.amazon.com/dynamodb/pricing/on-demand/"},
	{"DynamoDB", "read unit, on demand", million, 0.125, 0.1525,
		func(u *usage) float64 { return u.table.Reads }, "https://aws.amazon.com/dynamodb/pricing/on-demand/"},
	{"DynamoDB", "record of the stream that Lambda reads", million, 0, 0,
		func(u *usage) float64 { return float64(u.records) }, "https://aws.amazon.com/dynamodb/pricing/on-demand/"},
	{"SQS", "request of a standard queue", million, 0.40, 0.40,
		func(u *usage) float64 { return float64(u.queueRequests()) }, "https://aws.amazon.com/sqs/pricing/"},
	{"SQS", "surcharge for a fair queue", million, 0.10, 0.10,
		func(u *usage) float64 { return float64(u.grouped) }, "https://aws.amazon.com/sqs/pricing/"},
	{"EventBridge", "custom event", million, 1.00, 1.00,
		func(u *usage) float64 { return float64(u.events) }, "https://aws.amazon.com/eventbridge/pricing/"},
	{"S3", "PUT or LIST", million, 5.00, 5.40,
		func(u *usage) float64 { return float64(u.puts + u.lists) }, "https://aws.amazon.com/s3/pricing/"},
	{"S3", "GET", million, 0.40, 0.43,
		func(u *usage) float64 { return float64(u.gets) }, "https://aws.amazon.com/s3/pricing/"},
	{"S3", "GB stored for a month", 1, 0.023, 0.0245,
		func(u *usage) float64 { return float64(u.stored) / gigabyte }, "https://aws.amazon.com/s3/pricing/"},
	{"KMS", "request", million, 3.00, 3.00,
		func(u *usage) float64 { return float64(u.puts + u.gets) }, "https://aws.amazon.com/kms/pricing/"},
	{"Secrets Manager", "read of a secret", million, 5.00, 5.00,
		func(u *usage) float64 { return float64(u.credentials) }, "https://aws.amazon.com/secrets-manager/pricing/"},
	{"CloudWatch Logs", "GB taken in", 1, 0.50, 0.63,
		func(u *usage) float64 { return u.logBytes() / gigabyte }, "https://aws.amazon.com/cloudwatch/pricing/"},
	{"X-Ray", "trace recorded", million, 5.00, 5.00,
		func(u *usage) float64 { return traced * float64(u.functionRuns()) }, "https://aws.amazon.com/xray/pricing/"},
}

// bill is the cost of a number of generations in one region.
type bill struct {
	lines []amount
	sum   float64
}

// amount is a line of a bill: the cost of one service.
type amount struct {
	service string
	dollars float64
}

// billOf returns the bill of n generations that each use u.
func billOf(u *usage, n float64, in func(price) float64) (b bill) {
	for _, p := range prices {
		dollars := n * p.of(u) * in(p) / p.per
		if last := len(b.lines) - 1; last < 0 || b.lines[last].service != p.service {
			b.lines = append(b.lines, amount{service: p.service})
		}
		b.lines[len(b.lines)-1].dollars += dollars
		b.sum += dollars
	}
	return b
}

func inVirginia(p price) float64 { return p.virginia }

func inFrankfurt(p price) float64 { return p.frankfurt }

// costSection shows the cost of calls, generations and months, and the basis of these figures.
func costSection(m measured) string {
	return "### Calls\n\nA million calls with a test key in us-east-1, in dollars, without the work that follows.\n\n" +
		callsTable(m) +
		"\n### Generations\n\nWith two figures, the first is for the request, the second for everything after it.\n\n" +
		generationsTable(m.generations) +
		"\n### Cost of 1,000 generations\n\nIn dollars, in us-east-1.\n\n" + billsTable(m.generations) +
		"\n### A customer's month\n\nIn dollars, in us-east-1.\n\n" + monthsTable(m) +
		"\n### Media that stay\n\nMedia are kept until the customer deletes them. In dollars, in us-east-1, beside " +
		"the months above, which have the storage of their own media. Nobody reads media after they are published; " +
		"the bucket moves them to cheaper tiers.\n\n" + growthTable(m) +
		"\n### A catalog that follows a feed\n\n" + feedTable(m.feed) +
		"\n### Assumptions\n\n" + assumptions(m.delivery) + "\n### Prices\n\nAs of " + pricesAsOf + "\n\n" + pricesTable()
}

func generationsTable(all []counted) string {
	t := newTable("Generation", "Round trips", "Read units", "Write units", "Runs of functions", "Stream records",
		"Queue requests", "Events", "Files stored", "Provider: submit + poll + fetch + cancel")
	for _, c := range all {
		first, rest := c.create.table, c.whole.table.Minus(c.create.table)
		t.row(c.name, fmt.Sprintf("%d + %d", first.Trips, rest.Trips), number(first.Reads)+" + "+number(rest.Reads),
			number(first.Writes)+" + "+number(rest.Writes),
			fmt.Sprintf("%d + %d", c.create.functionRuns(), c.whole.functionRuns()-c.create.functionRuns()),
			c.whole.records, c.whole.queueRequests(), c.whole.events, c.whole.puts,
			fmt.Sprintf("%d + %d + %d + %d", c.whole.submits, c.whole.polls, c.whole.fetches, c.whole.cancels))
	}
	return t.String()
}

func billsTable(all []counted) string {
	head, sums, frankfurt := []any{""}, []any{"**Sum**"}, []any{"Sum in eu-central-1"}
	var lines [][]any
	cell := func(dollars float64) string { return fmt.Sprintf("%.4f", dollars) }
	for _, c := range all {
		head = append(head, c.name)
		b := billOf(&c.whole, 1000, inVirginia)
		for i, l := range b.lines {
			if len(lines) == i {
				lines = append(lines, []any{l.service})
			}
			lines[i] = append(lines[i], cell(l.dollars))
		}
		sums = append(sums, cell(b.sum))
		frankfurt = append(frankfurt, cell(billOf(&c.whole, 1000, inFrankfurt).sum))
	}
	t := newTable(head...)
	for _, l := range append(lines, sums, frankfurt) {
		t.row(l...)
	}
	return t.String()
}

func pricesTable() string {
	t := newTable("Service", "", "For", "us-east-1", "eu-central-1")
	for _, p := range prices {
		per := "1"
		if p.per == million {
			per = "1,000,000"
		}
		t.row("["+p.service+"]("+p.source+")", p.what, per, "$"+number(p.virginia), "$"+number(p.frankfurt))
	}
	return t.String()
}

// assumptions lists the figures that were assumed, not counted.
func assumptions(d delivered) string {
	megabytes := func(n int64) string { return number(float64(n)/1e6) + " MB" }
	most := profiles[len(profiles)-1].customMetrics()
	return fmt.Sprintf(`- A run of a function takes %v, and waits %v for a response of the table, %v of a queue, %v of the
bus, %v of the object store, %v of a provider that accepts a request or reports its progress, %v of one that returns a
text, %v with media. A composition takes %v for a second of a video, and %v for a picture. Files are transferred at %s a
second. Each run has one message. Start-up is not included.
- An image has %s, a clip %s, speech %s. Each is kept for a month, and not downloaded by the customer.
- An image is polled %d times, a clip %d times. Texts and speech are returned at once.
- Each message is sent, received and deleted singly. Its visibility is extended at the start of its run and every
second. All queues of work are fair queues.
- Each file that is stored or composed makes a request to KMS, although the bucket key avoids most of them. Each
generation reads the secret once, although a function caches it for five minutes.
- Each run of a function but the authorizer logs %d bytes, and each call %d in the gateway's log; %g of 100 runs are
traced.
- A delivery to a webhook takes %d round trips, %s read units and %s write units, which are counted; the receiver
answers in 300 ms. Five pollers look at each queue every 20 seconds.
- A custom metric costs $%.2f for a month in which it has a value every hour. The canary has %.0f; work has up to %.0f.
Metrics of faults are not included.
- Not included: prices of providers, service levels (under load about 0.1 write units for a call), free
tiers, storage of items and backups, traffic to customers (that to platforms is above), monthly users of Cognito, and
taxes.
`,
		handling, tableWait, queueWait, busWait, objectWait, quickWait, textWait, mediaWait, cutWait, cardWait,
		megabytes(bytesPerSecond), megabytes(sizes[media.Image]), megabytes(sizes[media.Video]),
		megabytes(sizes[media.Audio]), slow[provider.KindImage], slow[provider.KindVideo], logged,
		accessLogged, traced*100, d.table.Trips, number(d.table.Reads), number(d.table.Writes),
		metricPrice, profiles[0].customMetrics()/metricPrice, most/metricPrice)
}

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

// Media stay until the customer deletes them, so that each month adds to the storage of all before.

// tier is the price of media of some ages, in dollars for a GB and month.
type tier struct {
	name string
	// months is the number of months that an object spends in the tier. The last tier has the rest.
	months              int
	virginia, frankfurt float64
}

// tiers are those of S3 Intelligent-Tiering for objects that nobody reads: an object is cold after 30 days in it, and
// archived after 90. Before, it is in S3 Standard for customer.TierAfterDays.
var tiers = []tier{
	{"new", customer.TierAfterDays/monthDays + 1, 0.023, 0.0245},
	{"not read for 30 days", 2, 0.0125, 0.0135},
	{"not read for 90 days", 0, 0.004, 0.005},
}

const (
	// watching is the price of S3 Intelligent-Tiering for an object and month.
	watching = 0.0025 / 1000
	// egress is the price of a GB that leaves AWS. Platforms fetch media from the bucket, or get them from a function.
	egress = 0.09
)

// stored returns the media that a month of the customer adds: GB and files.
func (p profile) stored(m measured) (gigabytes, files float64) {
	for name, n := range map[string]float64{"image": p.images, "post": p.posts, "short video": p.videos} {
		u := m.generation(name).whole
		gigabytes += n * float64(u.stored) / gigabyte
		files += n * float64(u.puts)
	}
	return gigabytes, files
}

// sent returns the GB that platforms get in a month: the picture of each post, and each video.
func (p profile) sent() float64 {
	return p.platforms * (p.posts*float64(sizes[media.Image]) + p.videos*float64(sizes[media.Video])) / gigabyte
}

// tierAt returns the tier of media of an age in months.
func tierAt(age int) tier {
	for _, t := range tiers {
		if age < t.months || t.months == 0 {
			return t
		}
		age -= t.months
	}
	return tiers[len(tiers)-1]
}

// storage returns the dollars a month for the storage of media after a number of months.
func (p profile) storage(m measured, months int, in func(tier) float64) (sum float64) {
	gigabytes, files := p.stored(m)
	for age := range months {
		sum += gigabytes * in(tierAt(age))
		if age*monthDays >= customer.TierAfterDays {
			sum += files * watching
		}
	}
	return sum
}

// growthTable shows what media cost that nobody deletes, and what the platforms get.
func growthTable(m measured) string {
	head := []any{""}
	rows := [][]any{{"GB of media more each month"}, {"GB of media after a year"}, {"Storage in the first month"},
		{"Storage in the twelfth month"}, {"The same in eu-central-1"}, {"Platforms that get each post"},
		{"GB to platforms in a month"}, {"Traffic to platforms in a month"}}
	virginia, frankfurt := func(t tier) float64 { return t.virginia }, func(t tier) float64 { return t.frankfurt }
	for _, p := range profiles {
		head = append(head, p.name)
		gigabytes, _ := p.stored(m)
		for i, cell := range []any{number(math.Round(gigabytes)), number(math.Round(12 * gigabytes)),
			dollars(p.storage(m, 1, virginia)), dollars(p.storage(m, 12, virginia)),
			dollars(p.storage(m, 12, frankfurt)), number(p.platforms), number(math.Round(p.sent())),
			dollars(p.sent() * egress)} {
			rows[i] = append(rows[i], cell)
		}
	}
	t := newTable(head...)
	for _, r := range rows {
		t.row(r...)
	}
	return t.String()
}
