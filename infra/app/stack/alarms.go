package stack

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssnssubscriptions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/auth/authorizer"
	metrics "github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
)

// newAlarmTopic makes a topic of the customer's alarms. Its messages go to an address, if there is one.
func newAlarmTopic(stack awscdk.Stack, id, email string, key awskms.Key) awssns.Topic {
	topic := awssns.NewTopic(stack, jsii.String(id), &awssns.TopicProps{
		MasterKey:  key,
		EnforceSSL: jsii.Bool(true),
	})
	// A topic with a policy has no other permissions. Without this statement, no alarm
	// could be published.
	topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String("Alarms"),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("cloudwatch.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sns:Publish"),
		Resources:  &[]*string{topic.TopicArn()},
		Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": stack.Account()}},
	}))
	if email != "" {
		subscription := topic.AddSubscription(awssnssubscriptions.NewEmailSubscription(jsii.String(email), nil))
		accept(subscription, finding{"Serverless-SNSRedrivePolicy",
			"SNS repeats e-mail itself; the alarm stays in CloudWatch."})
	}
	return topic
}

// paging are the runbooks of the alarms that wake somebody: customers lose work, money or answers, or will within the
// hour. The others can wait for the morning, and a small stack may leave them out.
var paging = []string{"a-function-is-behind-its-stream", "a-key-is-disabled", "a-provider-fails", "audit-log-altered",
	"dead-letters", "errors-use-up-the-budget", "lost-spend", "messages-dropped-as-a-loop", "messages-wait-too-long",
	"the-canary-fails", "the-canary-is-silent"}

// alarms adds alarms to a stack.
type alarms struct {
	stack awscdk.Stack
	// pages gets the alarms that wake somebody, and notices the others, unless it is nil.
	pages, notices awssns.ITopic
	// namespace is the namespace of the metrics that the functions write.
	namespace string
}

// alarmsIn returns the alarms of a stack of the customer, with none added.
func (d *data) alarmsIn(stack awscdk.Stack) alarms {
	a := alarms{stack, d.pages, d.alarms, metrics.Namespace(d.settings.Customer, d.settings.Stage)}
	if d.settings.Quiet {
		a.notices = nil
	}
	return a
}

// deadLetters adds the alarm for messages in a dead-letter queue.
func (a alarms) deadLetters(of string, queue awssqs.Queue) {
	a.add(topology.Title(of)+"DeadLettersAlarm", alarm{
		says: "There are dead letters of " + of + ". List them with `admin dead-letters list`, fix the cause, and " +
			"send them back with `admin dead-letters redrive --queue " + of + "`.",
		runbook: "dead-letters",
		metric:  queue.MetricApproximateNumberOfMessagesVisible(metric("Maximum")),
		above:   0,
	})
}

// functions adds the alarms for functions that fail, and for messages that Lambda dropped because
// it mistook a chain of calls for an endless loop. Each watches the metric that Lambda has for all functions of the
// account in the region: one for each function would cost as much as all the other alarms. The runbooks say how to find
// the function.
func (a alarms) functions() {
	a.add("ErrorsAlarm", alarm{
		says:    "A function reports errors. Find it by the command of the runbook, and read its log.",
		runbook: "errors-of-a-function",
		metric:  lambdaMetric("Errors", "Sum"),
		above:   0,
	})
	a.add("LoopsAlarm", alarm{
		says: "Lambda has dropped messages of a function, because it takes its steps for an endless loop. Find the " +
			"function by the command of the runbook: it needs RecursiveLoop: Allow.",
		runbook: "messages-dropped-as-a-loop",
		metric:  lambdaMetric("RecursiveInvocationsDropped", "Sum"),
		above:   0,
	})
}

// age adds the alarm for a function that lags behind its stream, so that all its work is
// late.
func (a alarms) age(f topology.Function, fn awslambda.IFunction) {
	a.add(topology.Title(f.Name)+"AgeAlarm", alarm{
		says: "The function " + f.Name + " is more than a minute behind the stream of its table. It tries a " +
			"record for 20 hours, and gives it up then.",
		runbook: "a-function-is-behind-its-stream",
		metric:  fn.Metric(jsii.String("IteratorAge"), metric("Maximum")),
		above:   60_000,
	})
}

// serverErrors adds the alarm for responses with a status of 5xx.
func (a alarms) serverErrors(api awsapigateway.RestApi) {
	a.add("ServerErrorsAlarm", alarm{
		says:    "Callers receive 5xx responses.",
		runbook: "5xx-responses",
		metric:  api.MetricServerError(metric("Sum")),
		above:   4,
	})
}

// lostSpend adds the alarm for work that cost providers money and was not charged.
func (a alarms) lostSpend() {
	a.add("LostSpendAlarm", alarm{
		says: "Work that failed or was canceled has cost more than 2,000 credits in five minutes without being " +
			"charged. Find the account by the log of the function generate, and lower its limit with `admin account " +
			"update --lost-spend-limit`.",
		runbook: "lost-spend",
		metric:  a.counted(ledger.LostSpend),
		above:   2000,
	})
}

// models adds the alarms for models that AWS refuses to the account, or will end.
func (a alarms) models() {
	a.add("StandInsAlarm", alarm{
		says: "AWS has refused a text model to the account, and another one took its place at the promised price. The " +
			"log of the function names both; `make preflight` says why.",
		runbook: "a-model-is-refused",
		metric:  a.counted(provider.StandInMetric),
		above:   0,
	})
	a.add("ModelEndsAlarm", alarm{
		says: "A model of the catalog ends soon, is Legacy, or is not in the region any more. The log of the function " +
			"canary names it.",
		runbook: "a-model-ends",
		metric:  a.counted(worker.ModelEnds),
		above:   0,
	})
}

// orphans adds the alarm for objects without a record.
func (a alarms) orphans() {
	a.add("OrphansAlarm", alarm{
		says:    "The bucket has objects of media that no record has. The log of the function transfer names them.",
		runbook: "objects-without-a-record",
		metric:  a.counted(transfer.OrphanMetric),
		above:   0,
	})
}

// altered adds the alarms for entries of the audit log that were changed or removed.
func (a alarms) altered() {
	for _, change := range []string{"MODIFY", "REMOVE"} {
		options := metric("Sum")
		a.add("AuditLog"+topology.Title(strings.ToLower(change))+"Alarm", alarm{
			says: "An entry of the audit log was changed or removed (" + change +
				"). The log of the function levels names it.",
			runbook: "audit-log-altered",
			metric: awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
				Namespace: jsii.String(a.namespace), MetricName: jsii.String(auditlog.AlteredMetric),
				DimensionsMap: &map[string]*string{auditlog.ChangeDimension: jsii.String(change)},
				Statistic:     options.Statistic, Period: options.Period,
			}),
			above: 0,
		})
	}
}

// refused adds the alarms for bursts of calls that the authorizer refuses: someone guesses
// keys, or uses a key for operations that it does not permit.
func (a alarms) refused() {
	a.add("AuthenticationRefusedAlarm", alarm{
		says: "More than 500 requests in five minutes had an unknown, expired or revoked API key. Find their " +
			"addresses in the access log.",
		runbook: "requests-with-unknown-keys",
		metric:  a.counted(authorizer.AuthenticationRefused),
		above:   500,
	})
	a.add("PermissionRefusedAlarm", alarm{
		says: "More than 500 requests in five minutes had an API key that may not make them. Find the keys in the " +
			"audit log; revoke one that was stolen with `admin key revoke`.",
		runbook: "requests-that-keys-may-not-make",
		metric:  a.counted(authorizer.PermissionRefused),
		above:   500,
	})
}

// fruitless is the time in hours in which each call of a provider fails, until somebody is paged.
const fruitless = 6

// providers adds two alarms for each provider: most of its live calls fail, such as after its credential was revoked,
// or none of the few of a small customer has succeeded for hours. A call counts 1 if it failed, and otherwise 0. The
// two have a metric each, where a share and a least number of calls in one alarm would have two.
func (a alarms) providers(names []string) {
	for _, name := range names {
		over := func(statistic string, period awscdk.Duration) awscloudwatch.IMetric {
			return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{Namespace: jsii.String(a.namespace),
				MetricName: jsii.String(generate.ProviderFailed), Statistic: jsii.String(statistic), Period: period,
				DimensionsMap: &map[string]*string{"provider": jsii.String(name)}})
		}
		a.add(topology.Title(name)+"FailsAlarm", alarm{
			says: "More than half of the live calls of the provider " + name + " failed in five minutes and in the next " +
				"five, because of the provider or of the service's account there.",
			runbook: "a-provider-fails", above: 0.5, periods: 2,
			metric: over("Average", metric("Average").Period),
		})
		a.add(topology.Title(name)+"OnlyFailsAlarm", alarm{
			says: fmt.Sprintf("No live call of the provider %s has succeeded in %d hours, and at least one has failed, "+
				"because of the provider or of the service's account there.", name, fruitless),
			runbook: "a-provider-fails", above: 0.5,
			metric: over("Minimum", awscdk.Duration_Hours(jsii.Number(fruitless))),
		})
	}
}

// undecodable adds the alarm for messages that cannot be decoded.
func (a alarms) undecodable() {
	a.add("PutAsideAlarm", alarm{
		says: "Something that is stored cannot be decoded, and was put aside: a task or a delivery that is due, a " +
			"record of a stream, or an entry of the audit log. The logs of due, relay and levels name it by \"put " +
			"aside\".",
		runbook: "something-was-put-aside",
		metric:  a.counted(metrics.Aside),
		above:   0,
	})
}

// counted returns the sum of a metric that the functions write.
func (a alarms) counted(name string) awscloudwatch.Metric {
	m := metric("Sum")
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{Namespace: jsii.String(a.namespace),
		MetricName: jsii.String(name), Statistic: m.Statistic, Period: m.Period})
}

type alarm struct {
	says string
	// runbook is the heading of the alarm's section in docs/runbooks.md.
	runbook string
	metric  awscloudwatch.IMetric
	above   float64
	// periods is the number of periods in which the metric must be above the limit. 0 means
	// one.
	periods int
	// silent raises the alarm if the metric has no data. above is then not used.
	silent bool
}

// add makes an alarm that somebody hears of.
func (a alarms) add(id string, of alarm) awscloudwatch.Alarm {
	alarm := a.make(id, of)
	a.tell(alarm, of.runbook)
	return alarm
}

// tell sends an alarm to the topic of its severity, and so its end: a pager closes what is over.
func (a alarms) tell(of awscloudwatch.AlarmBase, runbook string) {
	topic := a.notices
	if slices.Contains(paging, runbook) {
		topic = a.pages
	}
	if topic != nil {
		of.AddAlarmAction(awscloudwatchactions.NewSnsAction(topic))
		of.AddOkAction(awscloudwatchactions.NewSnsAction(topic))
	}
}

// make makes an alarm without an action.
func (a alarms) make(id string, of alarm) awscloudwatch.Alarm {
	props := &awscloudwatch.AlarmProps{
		AlarmDescription:   describe(of.says, of.runbook),
		Metric:             of.metric,
		Threshold:          jsii.Number(of.above),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_THRESHOLD,
		EvaluationPeriods:  jsii.Number(float64(max(of.periods, 1))),
		// Missing data means that nothing happened.
		TreatMissingData: awscloudwatch.TreatMissingData_NOT_BREACHING,
	}
	if of.silent {
		props.Threshold, props.ComparisonOperator = jsii.Number(1), awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD
		props.TreatMissingData = awscloudwatch.TreatMissingData_BREACHING
	}
	return awscloudwatch.NewAlarm(a.stack, jsii.String(id), props)
}

// describe returns the description of an alarm with the address of its runbook.
func describe(says, runbook string) *string {
	return jsii.String(says + " Runbook: docs/runbooks.md#" + runbook)
}

func metric(statistic string) *awscloudwatch.MetricOptions {
	return &awscloudwatch.MetricOptions{
		Statistic: jsii.String(statistic),
		Period:    awscdk.Duration_Minutes(jsii.Number(5)),
	}
}

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

// maxAge returns the age of a queue's oldest message that raises the alarm. It is two thirds of the time after which
// the work of the queue fails, so that there is time to save it.
func maxAge(q topology.Queue) time.Duration {
	if patience := generate.Patience(q); patience > 0 {
		return min(longestWait, patience*2/3)
	}
	return longestWait
}

// waiting adds the alarms for queues whose messages wait too long.
func (a alarms) waiting(queues map[topology.Queue]awssqs.Queue) {
	for _, q := range topology.Queues {
		above := maxAge(q)
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

// slowest is the limit of the 99th percentile of the latency of calls, in milliseconds. Only
// replies of the architect take longer.
const slowest = 10_000

// busiest is the part of the account's concurrency, in percent, that leaves operators time to
// request more.
const busiest = 80

// lasting is the number of periods of five minutes in which a limit must be reached. Callers
// repeat the calls that a short peak refuses.
const lasting = 3

// slow adds the alarm for calls that take long.
func (a alarms) slow(api awsapigateway.RestApi) {
	a.add("LatencyAlarm", alarm{
		says:    fmt.Sprintf("One call of a hundred takes more than %d seconds.", slowest/1000),
		runbook: "calls-are-slow", metric: api.MetricLatency(metric("p99")), above: slowest, periods: lasting,
	})
}

// throttled adds the alarms for Lambda's limit, which all functions of the account share.
func (a alarms) throttled() {
	a.add("ThrottlesAlarm", alarm{
		says: "Lambda has refused to start functions of this account for 15 minutes. The dashboard shows which of " +
			"them.",
		runbook: "functions-are-throttled", metric: lambdaMetric("Throttles", "Sum"), above: 0, periods: lasting,
	})
	options := metric("Maximum")
	a.add("ConcurrencyAlarm", alarm{
		says: fmt.Sprintf("More than %d of 100 functions that the account may run at a time run or are reserved. "+
			"Ask for more in Service Quotas.", busiest),
		runbook: "functions-are-throttled", above: busiest,
		metric: awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
			Expression: jsii.String("100 * claimed / SERVICE_QUOTA(used)"),
			Label:      jsii.String("Percent of the account's concurrency"), Period: options.Period,
			UsingMetrics: &map[string]awscloudwatch.IMetric{
				"claimed": lambdaMetric("ClaimedAccountConcurrency", "Maximum"),
				// CloudWatch knows quotas only for usage metrics.
				"used": awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
					Namespace: jsii.String("AWS/Usage"), MetricName: jsii.String("ResourceCount"),
					Statistic: options.Statistic,
					DimensionsMap: &map[string]*string{
						"Service": jsii.String("Lambda"), "Type": jsii.String("Resource"),
						"Resource": jsii.String("ConcurrentExecutions"), "Class": jsii.String("None"),
					},
				}),
			},
		}),
	})
}

// throttledTables adds the alarms for tables that refuse reads or writes.
func (a alarms) throttledTables(d *data) {
	for _, t := range d.tables() {
		using, ids := map[string]awscloudwatch.IMetric{}, []string{}
		for i, m := range t.throttles() {
			id := fmt.Sprintf("m%d", i)
			using[id], ids = m, append(ids, id)
		}
		a.add(t.id+"ThrottlesAlarm", alarm{
			says: "DynamoDB has refused reads or writes of the table " + t.id +
				" for 15 minutes. The dashboard shows of which index.",
			runbook: "a-table-is-throttled", above: 0, periods: lasting,
			metric: awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
				Expression: jsii.String("SUM([" + strings.Join(ids, ", ") + "])"),
				Label:      jsii.String("Refused reads and writes"), Period: metric("Sum").Period, UsingMetrics: &using,
			}),
		})
	}
}

// watched is a table with its indexes.
type watched struct {
	id      string
	table   awsdynamodb.ITable
	indexes []store.Index
}

func (d *data) tables() []watched {
	return []watched{{"State", d.state, store.StateIndexes}, {"Audit", d.audit, store.AuditIndexes}}
}

// throttles returns the metrics of refused reads and writes, of the table and of each index.
// DynamoDB counts them by table or index only.
func (w watched) throttles() (all []awscloudwatch.IMetric) {
	options := metric("Sum")
	for _, name := range []string{"ReadThrottleEvents", "WriteThrottleEvents"} {
		of := map[string]*string{"TableName": w.table.TableName()}
		add := func(label string) {
			dimensions := map[string]*string{}
			maps.Copy(dimensions, of)
			all = append(all, awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
				Namespace: jsii.String("AWS/DynamoDB"), MetricName: jsii.String(name), DimensionsMap: &dimensions,
				Statistic: options.Statistic, Period: options.Period, Label: jsii.String(name + " " + label),
			}))
		}
		add(w.id)
		for _, x := range w.indexes {
			of["GlobalSecondaryIndexName"] = jsii.String(x.Name())
			add(w.id + " " + x.Name())
		}
	}
	return all
}

// guardKeys sends a message when someone disables a key of the customer or schedules its
// deletion. Without the key, the tables, the files, the secrets and the logs cannot be read, or media not be signed.
// No metric shows this, and the functions could not log it.
func (d *data) guardKeys() {
	if d.settings.Local() {
		return
	}
	keys := []*string{d.key.KeyArn()}
	if d.secrets != nil {
		keys = append(keys, d.secrets.KeyArn())
	}
	if d.signing != nil {
		keys = append(keys, d.signing.KeyArn())
	}
	rule := awsevents.NewRule(d.stack, jsii.String("KeysRule"), &awsevents.RuleProps{
		Description: describe("Someone has disabled a key of "+d.settings.Customer+", or scheduled its deletion.",
			"a-key-is-disabled"),
		EventPattern: &awsevents.EventPattern{
			Source: jsii.Strings("aws.kms"), DetailType: jsii.Strings("AWS API Call via CloudTrail"),
			Detail: &map[string]any{
				"eventName": []string{"DisableKey", "ScheduleKeyDeletion"},
				"resources": map[string]any{"ARN": keys},
			},
		},
	})
	rule.Node().DefaultChild().(awsevents.CfnRule).SetTargets([]any{&awsevents.CfnRule_TargetProperty{
		Id: jsii.String("Target0"), Arn: d.pages.TopicArn(),
		InputTransformer: &awsevents.CfnRule_InputTransformerProperty{
			InputPathsMap: map[string]*string{
				"action": jsii.String("$.detail.eventName"), "key": jsii.String("$.detail.requestParameters.keyId"),
				"who": jsii.String("$.detail.userIdentity.arn"), "at": jsii.String("$.time"),
			},
			InputTemplate: jsii.String(`"` + d.settings.Short() +
				`: <action> of the key <key> by <who> at <at>. Nothing that it encrypts can be read. Runbook: docs/runbooks.md#a-key-is-disabled"`),
		},
	}})
	accept(rule, finding{"Serverless-EventBusDLQ", "SNS takes the message, or EventBridge tries again for a day. A " +
		"queue of messages that no one hears of would help no one."})
	d.pages.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String("Keys"),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("events.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sns:Publish"), Resources: &[]*string{d.pages.TopicArn()},
	}))
}

// budget sends an e-mail when the account's costs of a month pass four fifths of the budget,
// or are forecast to pass the budget.
func (d *data) budget() {
	s := d.settings
	if s.MonthlyBudget == 0 {
		return
	}
	notice := func(kind string, percent int) map[string]any {
		return map[string]any{
			"Notification": map[string]any{"NotificationType": kind, "ComparisonOperator": "GREATER_THAN",
				"Threshold": percent, "ThresholdType": "PERCENTAGE"},
			"Subscribers": []any{map[string]any{"SubscriptionType": "EMAIL", "Address": s.AlarmEmail}},
		}
	}
	awscdk.NewCfnResource(d.stack, jsii.String("Budget"),
		&awscdk.CfnResourceProps{Type: jsii.String("AWS::Budgets::Budget"), Properties: &map[string]any{
			"Budget": map[string]any{
				"BudgetType": "COST", "TimeUnit": "MONTHLY", "BudgetLimit": map[string]any{"Amount": s.MonthlyBudget,
					"Unit": "USD"},
			},
			"NotificationsWithSubscribers": []any{notice("ACTUAL", 80), notice("FORECASTED", 100)},
		}})
}
