package main

// price is what AWS charges for one thing, in dollars, without the free tiers.
type price struct {
	service, what string
	// per is how many of them the price is for.
	per float64
	// The regions that are priced.
	virginia, frankfurt float64
	// of returns how many of them a generation uses.
	of     func(u *usage) float64
	source string
}

// pricesAsOf says of when the prices are, and how sure.
const pricesAsOf = "August 2026. Those of API Gateway, DynamoDB, SQS, EventBridge, S3 and CloudWatch were compared with the price list behind the pages. " +
	"Those of Lambda in eu-central-1, WAF, KMS, Secrets Manager, X-Ray and of networks were not: check them before you rely on them."

// million is what most prices are for.
const million = 1e6

// gigabyte is AWS's.
const gigabyte = 1 << 30

// prices are all that a generation is charged for beside its provider.
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

// bill is what a number of generations cost in one region.
type bill struct {
	lines []amount
	sum   float64
}

// amount is one line of a bill: all of one service.
type amount struct {
	service string
	dollars float64
}

// billOf adds up what n generations cost that use as much each.
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
