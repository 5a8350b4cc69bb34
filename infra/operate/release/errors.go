package release

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/cloud/metric"
)

// Metrics is the part of CloudWatch that a release uses.
type Metrics interface {
	GetMetricData(context.Context, *cloudwatch.GetMetricDataInput,
		...func(*cloudwatch.Options)) (*cloudwatch.GetMetricDataOutput, error)
}

// Open makes a Releaser for an account and region, and for the functions whose names begin with those of a customer and
// its stage, such as acme-prod.
func Open(cfg aws.Config, of string) *Releaser {
	at := strings.LastIndexByte(of, '-')
	namespace := metric.Namespace(of[:max(0, at)], of[at+1:])
	metrics := cloudwatch.NewFromConfig(cfg)
	return &Releaser{
		Lambda: lambda.NewFromConfig(cfg), Now: time.Now, Wait: Wait,
		Errors: func(ctx context.Context, function, version string, since time.Time) (float64, error) {
			return Failed(ctx, metrics, function, version, namespace, since, time.Now())
		},
	}
}

// Failed returns the number of failed calls of a version by the alias. Calls of the previous
// version do not count. The failures of work that a function handles itself count if they are
// many for its calls: some are the callers' own.
func Failed(ctx context.Context, metrics Metrics, function, version, namespace string, from,
	to time.Time) (float64, error) {
	of := func(name string) (float64, error) {
		return sum(ctx, metrics, "AWS/Lambda", name, map[string]string{"FunctionName": function,
			"Resource": function + ":" + Alias, "ExecutedVersion": version}, from, to)
	}
	all, err := of("Errors")
	if err != nil {
		return 0, err
	}
	handled, err := sum(ctx, metrics, namespace, metric.HandledFailures,
		map[string]string{"release": function + ":" + version}, from, to)
	if err != nil || handled < customer.LeastFailures {
		return all, err
	}
	calls, err := of("Invocations")
	if err == nil && handled > customer.FailedPart*calls {
		all += handled
	}
	return all, err
}

// sum returns the sum of a metric.
func sum(ctx context.Context, metrics Metrics, namespace, name string, by map[string]string, from,
	to time.Time) (sum float64, err error) {
	var dimensions []types.Dimension
	for _, d := range slices.Sorted(maps.Keys(by)) {
		dimensions = append(dimensions, types.Dimension{Name: aws.String(d), Value: aws.String(by[d])})
	}
	in := &cloudwatch.GetMetricDataInput{
		// The metrics have whole minutes, so the first may begin before the release.
		StartTime: aws.Time(from.Truncate(time.Minute)), EndTime: aws.Time(to.Add(time.Minute)),
		MetricDataQueries: []types.MetricDataQuery{{Id: aws.String("value"), MetricStat: &types.MetricStat{
			Metric: &types.Metric{
				Namespace: &namespace, MetricName: &name, Dimensions: dimensions,
			},
			Period: aws.Int32(60), Stat: aws.String("Sum"),
		}}},
	}
	for {
		page, err := metrics.GetMetricData(ctx, in)
		if err != nil {
			return 0, fmt.Errorf("read the metric %s: %w", name, err)
		}
		for _, result := range page.MetricDataResults {
			for _, value := range result.Values {
				sum += value
			}
		}
		if in.NextToken = page.NextToken; aws.ToString(in.NextToken) == "" {
			break
		}
	}
	return sum, nil
}

// Wait waits, or returns the error of the context.
func Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
