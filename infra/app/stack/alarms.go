package stack

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssnssubscriptions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/auth/authorizer"
	metrics "github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/service/worker"
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
