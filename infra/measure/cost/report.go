package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// generationsMarkdown writes what generations use and cost, then the months of customers,
// and what all of that rests on.
func generationsMarkdown(all []counted, months string) string {
	var b strings.Builder
	b.WriteString("### Generations\n\nCounted from the request with a live key to the settlement of its credits: authorizer, function of the area, audit entry, stream, relay, queues, worker, event and analytics. The event is dispatched to an account without webhooks. With two figures, the first is for the request, the second for everything after it.\n\n")
	b.WriteString("| Generation | Round trips | Read units | Write units | Runs of functions | Stream records | Queue requests | Events | Files stored | Provider: submit + poll + fetch + cancel |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, c := range all {
		rest := c.whole.table.Minus(c.create.table)
		fmt.Fprintf(&b, "| %s | %d + %d | %s + %s | %s + %s | %d + %d | %d | %d | %d | %d | %d + %d + %d + %d |\n", c.name,
			c.create.table.Trips, rest.Trips, number(c.create.table.Reads), number(rest.Reads), number(c.create.table.Writes), number(rest.Writes),
			c.create.functionRuns(), c.whole.functionRuns()-c.create.functionRuns(), c.whole.records, c.whole.queueRequests(), c.whole.events, c.whole.puts,
			c.whole.submits, c.whole.polls, c.whole.fetches, c.whole.cancels)
	}
	b.WriteString("\n### Cost of 1,000 generations\n\nIn dollars, without the provider's price, in us-east-1.\n\n")
	const thousand = 1000
	head, line := "| |", "|---|"
	bills := make([]bill, len(all))
	for i, c := range all {
		head, line = head+" "+c.name+" |", line+"---|"
		bills[i] = billOf(&c.whole, thousand, inVirginia)
	}
	b.WriteString(head + "\n" + line + "\n")
	if len(bills) > 0 {
		for n, l := range bills[0].lines {
			row(&b, l.service, bills, func(b bill) float64 { return b.lines[n].dollars })
		}
	}
	row(&b, "**Sum**", bills, func(b bill) float64 { return b.sum })
	for i, c := range all {
		bills[i] = billOf(&c.whole, thousand, inFrankfurt)
	}
	row(&b, "Sum in eu-central-1", bills, func(b bill) float64 { return b.sum })
	b.WriteString("\n" + months)
	b.WriteString(assumptions())
	fmt.Fprintf(&b, "\nThe prices, as of %s\n\n| Service | | For | us-east-1 | eu-central-1 | Source |\n|---|---|---|---|---|---|\n", pricesAsOf)
	for _, p := range prices {
		per := "1"
		if p.per == million {
			per = "1,000,000"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | $%s | $%s | <%s> |\n", p.service, p.what, per, number(p.virginia), number(p.frankfurt), p.source)
	}
	return b.String()
}

func row(b *strings.Builder, name string, bills []bill, of func(bill) float64) {
	b.WriteString("| " + name + " |")
	for _, bill := range bills {
		fmt.Fprintf(b, " %.4f |", of(bill))
	}
	b.WriteString("\n")
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// assumptions lists what the cost rests on that was not counted.
func assumptions() string {
	ms := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) + " ms" }
	megabytes := func(n int64) string { return number(float64(n)/1e6) + " MB" }
	var b strings.Builder
	b.WriteString("\nAssumptions:\n\n")
	fmt.Fprintf(&b, "- A run of a function takes %s, and for each response that it waits for %s (table), %s (queue), %s (bus), %s (object store), %s (a provider that accepts a request or reports its progress), %s (a provider that returns a text), %s (with media). A composition takes %s for a second of a video, and %s for a picture. Files are transferred at %s a second. Each run has one message. Start-up is not included.\n",
		ms(handling), ms(tableWait), ms(queueWait), ms(busWait), ms(objectWait), ms(quickWait), textWait, mediaWait, ms(cutWait), ms(cardWait), megabytes(bytesPerSecond))
	fmt.Fprintf(&b, "- An image has %s, a clip %s, speech %s. Each is kept for a month, and not downloaded by the customer.\n",
		megabytes(sizes["image"]), megabytes(sizes["video"]), megabytes(sizes["audio"]))
	fmt.Fprintf(&b, "- An image is polled %d times, a clip %d times. Texts and speech are returned at once.\n", slow["image"], slow["video"])
	b.WriteString("- Each message is sent, received and deleted singly. Its visibility is extended at the start of its run and every second. All generation queues are fair queues.\n")
	b.WriteString("- Each file that is stored or composed of makes a request to KMS, although the bucket key avoids most of them. Tables and logs share their requests over minutes. Each generation reads the secret once, although a function caches it for five minutes.\n")
	fmt.Fprintf(&b, "- Each run of a function logs %d bytes, but for the authorizer, and each call in the gateway's log %d; %g of 100 runs are traced.\n", logged, accessLogged, traced*100)
	b.WriteString("- Assumed of a delivery to a webhook: four round trips, 3 read units and 6 write units, and a receiver that answers in 300 ms. Of the month of a stack: each queue is polled by five pollers every 20 seconds.\n")
	fmt.Fprintf(&b, "- A custom metric costs $%.2f for a month in which it has a value every hour. The canary has %d; work has up to %d. Metrics of faults are not included.\n", metricPrice, int(math.Round(profiles[0].customMetrics()/metricPrice)), int(math.Round(profiles[1].customMetrics()/metricPrice)))
	b.WriteString("- Not included: hash chains and service levels, whose function takes up to 100 entries of the audit log at a time (under load about 0.2 write units for a call), free tiers, storage of items and backups, traffic to customers, and taxes.\n")
	return b.String()
}
