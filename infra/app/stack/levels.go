package stack

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/service/worker"
)

// errorBudget is the part of a month's calls that may fail while the service still meets its
// target of availability.
const errorBudget = 0.001

// burn is a rate at which errors use up the month's budget, as a multiple of the even rate.
// The short window ends the alarm soon after the errors end.
type burn struct {
	name        string
	times       float64
	long, short int // minutes
}

// burns are the rates of the Site Reliability Workbook, chapter 5: two percent of the budget
// in an hour, and five percent in six hours.
var burns = []burn{{"Fast", 14.4, 60, 5}, {"Slow", 6, 360, 30}}

// burns adds the alarms for errors that would use up the month's budget before its end.
func (a alarms) burns(api awsapigateway.RestApi) {
	for _, b := range burns {
		above := b.times * errorBudget
		var windows []awscloudwatch.IAlarmRule
		for _, minutes := range []int{b.long, b.short} {
			windows = append(windows, awscloudwatch.AlarmRule_FromAlarm(a.make(fmt.Sprintf("%sBurn%dMinutes", b.name,
				minutes), alarm{
				says: fmt.Sprintf("More than %.2f of 100 calls failed in %d minutes. It is a part of the alarm "+
					"%sBurn.", 100*above, minutes, b.name),
				runbook: "errors-use-up-the-budget", metric: errorRate(api, minutes), above: above,
			}), awscloudwatch.AlarmState_ALARM))
		}
		a.tell(awscloudwatch.NewCompositeAlarm(a.stack, jsii.String(b.name+"Burn"), &awscloudwatch.CompositeAlarmProps{
			AlarmRule: awscloudwatch.AlarmRule_AllOf(windows...),
			AlarmDescription: describe(fmt.Sprintf("Errors use up the month's budget %g times too fast.", b.times),
				"errors-use-up-the-budget"),
		}), "errors-use-up-the-budget")
	}
}

// errorRate is the part of the calls that failed. Each call counts as 0 or 1.
func errorRate(api awsapigateway.RestApi, minutes int) awscloudwatch.IMetric {
	return api.MetricServerError(&awscloudwatch.MetricOptions{
		Statistic: jsii.String("Average"), Period: awscdk.Duration_Minutes(jsii.Number(float64(minutes))),
	})
}

// longestWait is the greatest age of a message in a queue whose work has no deadline. A message that is sent early is
// delayed by at most 15 minutes.
const longestWait = 30 * time.Minute

// waitsFor returns the age of a queue's oldest message from which on somebody is told: two thirds of the time after
// which work of the queue has failed, so that there is time to save it.
func waitsFor(q topology.Queue) time.Duration {
	if patience := generate.Patience(q); patience > 0 {
		return min(longestWait, patience*2/3)
	}
	return longestWait
}

// waiting adds the alarms for queues whose messages wait too long.
func (a alarms) waiting(queues map[topology.Queue]awssqs.Queue) {
	for _, q := range topology.Queues {
		above := waitsFor(q)
		a.add(topology.Title(string(q))+"WaitingAlarm", alarm{
			says: fmt.Sprintf("The oldest message of the queue %s has waited for more than %d minutes.", q,
				int(above.Minutes())),
			runbook: "messages-wait-too-long", metric: queues[q].MetricApproximateAgeOfOldestMessage(metric("Maximum")),
			above: above.Seconds(),
		})
	}
}

// probes adds the alarms for probes that fail twice in a row, and for a canary that does not run. One without a target
// is not silent, so that a new stack raises no alarm. A canary that cannot reach the API is always
// silent, so it gets no such alarm.
func (a alarms) probes(s customer.Settings) {
	a.add("ProbesAlarm", alarm{
		says:    "The canary has failed twice in a row: customers cannot make content.",
		runbook: "the-canary-fails", metric: a.counted(worker.Failed), above: 0, periods: 2,
	})
	if !s.Probed() {
		return
	}
	a.add("LiveProbeAlarm", alarm{
		says:    "The live probe of a provider has failed today. The log of canary names it by \"live probe failed\".",
		runbook: "a-live-probe-fails", metric: a.counted(worker.ProviderProbesFailed), above: 0,
	})
	count := metric("SampleCount")
	a.add("ProbesSilentAlarm", alarm{
		says:    "The canary has not run for 15 minutes.",
		runbook: "the-canary-is-silent", silent: true, periods: 3,
		metric: awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
			Namespace: jsii.String(a.namespace), MetricName: jsii.String(worker.Failed), Statistic: count.Statistic,
			Period: count.Period,
		}),
	})
}

// dashboard adds the dashboard with the metrics of the service. A quiet stack has none.
func (w *work) dashboard(d *data) {
	s := d.settings
	if s.Quiet {
		return
	}
	api := func(name, statistic string) awscloudwatch.IMetric {
		return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
			Namespace: jsii.String("AWS/ApiGateway"), MetricName: jsii.String(name), Statistic: jsii.String(statistic),
			DimensionsMap: &map[string]*string{"ApiName": jsii.String(s.Short())},
		})
	}
	graph := func(title string, metrics ...awscloudwatch.IMetric) awscloudwatch.IWidget {
		return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{Title: jsii.String(title), Left: &metrics,
			Width: jsii.Number(8)})
	}
	ours := func(name, statistic string) awscloudwatch.IMetric {
		return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
			Namespace: jsii.String(w.alarms.namespace), MetricName: jsii.String(name),
			Statistic: jsii.String(statistic),
		})
	}
	byDimension := func(name, dimension, statistic string) awscloudwatch.IMetric {
		return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
			Expression: jsii.String(fmt.Sprintf("SEARCH('{%s,%s} MetricName=%q', '%s')", w.alarms.namespace,
				dimension, name, statistic)),
			UsingMetrics: &map[string]awscloudwatch.IMetric{}, Label: jsii.String(name),
		})
	}
	var ages []awscloudwatch.IMetric
	for _, q := range topology.Queues {
		ages = append(ages, w.queues[q].MetricApproximateAgeOfOldestMessage(metric("Maximum")))
	}
	// A search compares the parts of names between hyphens.
	parts := strings.ReplaceAll(s.Short(), "-", " FunctionName=")
	byFunction := func(name, statistic string) awscloudwatch.IMetric {
		return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
			Expression: jsii.String(fmt.Sprintf("SEARCH('{AWS/Lambda,FunctionName} MetricName=%q FunctionName=%s', "+
				"'%s')", name, parts, statistic)),
			UsingMetrics: &map[string]awscloudwatch.IMetric{}, Label: jsii.String(name),
		})
	}
	var refused []awscloudwatch.IMetric
	for _, t := range d.tables() {
		refused = append(refused, t.throttles()...)
	}
	awscloudwatch.NewDashboard(w.stack, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName: jsii.String(s.Name()),
		Widgets: &[]*[]awscloudwatch.IWidget{
			{
				graph("Calls and failures", api("Count", "Sum"), api("5XXError", "Sum"), api("4XXError", "Sum")),
				graph("Latency of calls, ms", api("Latency", "p50"), api("Latency", "p95"), api("Latency", "p99")),
				graph("Probes", ours(worker.Failed, "Sum"), ours(worker.Took, "Maximum")),
			},
			{
				graph("Oldest message, s", ages...),
				graph("Time of tasks, ms, by kind", byDimension("TaskMilliseconds", "kind", "p95")),
				graph("Deliveries", ours("DeliveriesSucceeded", "Sum"), ours("DeliveriesFailed", "Sum")),
			},
			{
				graph("Refused by DynamoDB", refused...),
				graph("Functions, by name: refused, at a time", byFunction("Throttles", "Sum"),
					byFunction("ConcurrentExecutions", "Maximum")),
				graph("Concurrency of the account", lambdaMetric("ClaimedAccountConcurrency", "Maximum"),
					lambdaMetric("Throttles", "Sum")),
			},
			{
				graph("Providers", byDimension("LostSubmissions", "provider", "Sum"),
					byDimension("DisownedGenerations", "provider", "Sum"),
					byDimension("InterruptedCompositions", "task", "Sum"),
					byDimension("UnsignedMedia", "reason", "Sum"),
					byDimension("RepairedTexts", "reason", "Sum"), byDimension("RefusedVariants", "platform", "Sum")),
				graph("Keys refused, spending lost", ours("AuthenticationRefused", "Sum"),
					ours("PermissionRefused", "Sum"), ours("LostSpendCredits", "Sum")),
			},
		},
	})
}

// lambdaMetric returns a metric of all functions of the region.
func lambdaMetric(name, statistic string) awscloudwatch.IMetric {
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{Namespace: jsii.String("AWS/Lambda"),
		MetricName: jsii.String(name), Statistic: jsii.String(statistic), Period: metric(statistic).Period})
}
