package release

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
)

// Open makes a Releaser for an account and region.
func Open(cfg aws.Config) *Releaser {
	metrics := cloudwatch.NewFromConfig(cfg)
	return &Releaser{
		Lambda: lambda.NewFromConfig(cfg), Now: time.Now, Wait: Wait,
		Errors: func(ctx context.Context, function, version string, since time.Time) (float64, error) {
			return failed(ctx, metrics, function, version, since, time.Now())
		},
	}
}

// failed returns the number of failed calls of a version by the alias. Calls of the previous
// version do not count.
func failed(ctx context.Context, metrics *cloudwatch.Client, function, version string, from,
	to time.Time) (sum float64, err error) {
	in := &cloudwatch.GetMetricDataInput{
		// The metrics have whole minutes, so the first may begin before the release.
		StartTime: aws.Time(from.Truncate(time.Minute)), EndTime: aws.Time(to.Add(time.Minute)),
		MetricDataQueries: []types.MetricDataQuery{{Id: aws.String("errors"), MetricStat: &types.MetricStat{
			Metric: &types.Metric{
				Namespace: aws.String("AWS/Lambda"), MetricName: aws.String("Errors"),
				Dimensions: []types.Dimension{
					{Name: aws.String("FunctionName"), Value: &function},
					{Name: aws.String("Resource"), Value: aws.String(function + ":" + Alias)},
					{Name: aws.String("ExecutedVersion"), Value: &version},
				},
			},
			Period: aws.Int32(60), Stat: aws.String("Sum"),
		}}},
	}
	for {
		page, err := metrics.GetMetricData(ctx, in)
		if err != nil {
			return 0, fmt.Errorf("read the errors of %s: %w", function, err)
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
