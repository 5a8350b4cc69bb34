package main

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/pkg/media"
)

// some returns a usage that is easy to add up.
func some() usage {
	u := usage{
		table: metered.Reading{Trips: 7, Reads: 8, Writes: 16}, calls: 2, records: 3,
		sends: 5, receives: 2, beats: 3, grouped: 10, events: 4, lists: 1, submits: 1, polls: 2, fetches: 3, cancels: 4,
		credentials: 1,
	}
	u.stores(media.Image)
	u.stores(media.Video)
	u.ran("generate", 2*time.Second)
	u.ran("generate", time.Second)
	u.ran("relay", 500*time.Millisecond)
	return u
}

func TestUsageAddsUp(t *testing.T) {
	u := some()
	if u.queueRequests() != 12 || u.functionRuns() != 3 || u.puts != 2 || u.stored != 12_000_000 {
		t.Errorf("%+v", u)
	}
	// The runs take 3 s of 1 GiB, and half a second of half a GiB.
	if got := u.gigabyteSeconds(); got != 3.25 {
		t.Errorf("%v GB-seconds", got)
	}
	// Each file is fetched and stored at 50 MB/s.
	if want := 2*objectWait + 480*time.Millisecond; u.waited != want {
		t.Errorf("waited for %v, not %v", u.waited, want)
	}
	c := u.copied()
	u.ran("relay", time.Second)
	if c.functionRuns() != 3 {
		t.Error("a copy goes on with what it was copied from")
	}
}

func TestABillAddsUp(t *testing.T) {
	u := some()
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	for region, c := range map[string]struct {
		of    func(price) float64
		wants map[string]float64
	}{
		"us-east-1": {inVirginia, map[string]float64{
			"API Gateway": 2 * 3.5e-3, "WAF": 2 * 0.6e-3, "Lambda": 3*0.2e-3 + 3.25*13.3334e-3,
			"DynamoDB": 16*0.625e-3 + 8*0.125e-3, "SQS": 12*0.4e-3 + 10*0.1e-3,
			"EventBridge": 4e-3, "S3": 3*5e-3 + 1000*12e6/(1<<30)*0.023, "KMS": 2 * 3e-3, "Secrets Manager": 5e-3,
			"CloudWatch Logs": 1000 * (2*500 + 3*450) / float64(1<<30) * 0.5, "X-Ray": 3 * 0.01 * 5e-3,
		}},
		"eu-central-1": {inFrankfurt, map[string]float64{
			"API Gateway": 2 * 3.7e-3, "WAF": 2 * 0.6e-3, "Lambda": 3*0.2e-3 + 3.25*13.3334e-3,
			"DynamoDB": 16*0.7625e-3 + 8*0.1525e-3, "SQS": 12*0.4e-3 + 10*0.1e-3,
			"EventBridge": 4e-3, "S3": 3*5.4e-3 + 1000*12e6/(1<<30)*0.0245, "KMS": 2 * 3e-3, "Secrets Manager": 5e-3,
			"CloudWatch Logs": 1000 * (2*500 + 3*450) / float64(1<<30) * 0.63, "X-Ray": 3 * 0.01 * 5e-3,
		}},
	} {
		b := billOf(&u, 1000, c.of)
		sum := 0.0
		for _, l := range b.lines {
			if want, known := c.wants[l.service]; !known || !near(l.dollars, want) {
				t.Errorf("%s in %s: %v dollars, want %v", l.service, region, l.dollars, want)
			}
			delete(c.wants, l.service)
			sum += l.dollars
		}
		if len(c.wants) > 0 || !near(sum, b.sum) {
			t.Errorf("in %s %v are missing, and %v is not %v", region, c.wants, b.sum, sum)
		}
	}
}

func TestEveryPriceHasItsSource(t *testing.T) {
	for _, p := range prices {
		if !strings.HasPrefix(p.source, "https://aws.amazon.com/") || p.per <= 0 || p.virginia < 0 ||
			p.frankfurt < p.virginia || p.of == nil {
			t.Errorf("%+v", p)
		}
	}
}

func TestTheTablesOfGenerations(t *testing.T) {
	create := usage{table: metered.Reading{Trips: 4, Reads: 1, Writes: 6}, calls: 1}
	create.ran("authorizer", time.Second)
	u := some()
	all := []counted{{scenario: scenario{name: "one"}, create: create, whole: u},
		{scenario: scenario{name: "two"}, whole: u}}
	bills := billsTable(all)
	text := generationsTable(all) + bills + pricesTable() + assumptions(delivered{})
	for _, want := range []string{
		"| one | 4 + 3 | 1 + 7 | 6 + 10 | 1 + 2 | 3 | 12 | 4 | 2 | 1 + 2 + 3 + 4 |\n",
		"|  | one | two |\n|---|---|---|\n", "| EventBridge | 0.0040 | 0.0040 |\n",
		"| [DynamoDB](https://aws.amazon.com/dynamodb/pricing/on-demand/) | write unit, on demand | 1,000,000 | " +
			"$0.625 | $0.7625 |\n",
		"An image has 2 MB, a clip 10 MB", "polled 3 times", "takes 10ms", "4s of one that returns a",
		"1 of 100 runs are",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	// The lines add up to the total, except for rounding.
	lines, sum := 0.0, -1.0
	for _, m := range regexp.MustCompile(`(?m)^\| ([^|]+) \| ([0-9.]+) \| [0-9.]+ \|$`).FindAllStringSubmatch(bills,
		-1) {
		dollars, err := strconv.ParseFloat(m[2], 64)
		switch {
		case err != nil:
			t.Error(err)
		case m[1] == "**Sum**":
			sum = dollars
		case !strings.HasPrefix(m[1], "Sum"):
			lines += dollars
		}
	}
	if math.Abs(lines-sum) > 0.001 || sum <= 0 {
		t.Errorf("the lines add up to %v, the sum is %v:\n%s", lines, sum, bills)
	}
}
