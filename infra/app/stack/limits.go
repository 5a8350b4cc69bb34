package stack

import (
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/pkg/store"
)

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
			for k, v := range of {
				dimensions[k] = v
			}
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
