package main

import (
	"fmt"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/media"
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
