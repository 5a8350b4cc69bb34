package stack

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdadestinations"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdaeventsources"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/service/worker"
)

// work is the stack of the asynchronous path: the functions behind the state table's stream,
// in the order in which they run.
type work struct {
	stack awscdk.Stack
	// settings bound what queues start.
	settings customer.Settings
	queues   map[topology.Queue]awssqs.Queue
	alarms   alarms
	local    bool // shortens waits, for a developer
	// standby reports that the streams have records of changes made in another region.
	standby bool
}

func newWork(app constructs.Construct, d *data) *work {
	stack := newStack(app, d.settings, "work", "the asynchronous path: queues and the functions behind them")
	w := &work{stack: stack, settings: d.settings, queues: map[topology.Queue]awssqs.Queue{},
		alarms: d.alarmsIn(stack), local: d.settings.Local(), standby: d.settings.Standby()}
	for _, q := range topology.Queues {
		w.queues[q] = w.newQueue(q)
		output(stack, q.Output(), w.queues[q].QueueUrl())
	}
	w.alarms.waiting(w.queues)
	w.alarms.providers(d.settings.Providers)
	w.alarms.probes(d.settings)
	w.alarms.throttled()
	w.alarms.throttledTables(d)
	w.dashboard(d)
	w.alarms.functions()
	w.route(d.bus)
	w.announce(d.media)
	w.alarms.lostSpend()
	w.alarms.models()
	w.alarms.orphans()
	w.alarms.undecodable()
	functions := lambdas{stack: stack, data: d, queues: w.queues, alarms: w.alarms,
		releases: &releases{stack: stack, settings: d.settings}}
	functions.trainer = functions.newTrainingRole()
	newMailSet(stack, d.settings)
	for _, f := range topology.Functions {
		switch f.Trigger {
		case topology.ByStream:
			w.feedFromStream(functions.new(f), f, d.state, append(counted(), newItems(worker.RelayedKinds...))...)
		case topology.ByAuditStream:
			w.feedFromStream(functions.new(f), f, d.audit, newItems(auditlog.EntryKind),
				map[string]any{"eventName": []string{"MODIFY"}}, w.removed())
			w.alarms.altered()
		case topology.ByQueue:
			w.feedFromQueue(functions.new(f), f)
		case topology.BySchedule:
			w.schedule(functions.new(f), f, d.settings)
		case topology.ByRotation:
			w.rotate(functions.new(f), f, d)
		}
	}
	functions.releases.guard()
	return w
}

// longestTried is the age at which a stream's record is given up. A stream keeps records for a
// day, so an operator still has time to read it again.
const longestTried = 20 * time.Hour

// feedFromStream calls the function with the records that match the patterns. A failing record
// is tried again, separately from the others, for longestTried. Then its position goes to the
// dead-letter queue. An alarm shows that the function is behind.
func (w *work) feedFromStream(fn awslambda.IFunction, f topology.Function, table awsdynamodb.ITable,
	patterns ...map[string]any) {
	var filters []*map[string]any
	for _, pattern := range patterns {
		filters = append(filters, awslambda.FilterCriteria_Filter(&pattern))
	}
	dead := w.newDeadLetterQueue(f.Name)
	var window awscdk.Duration
	if f.Window > 0 && !w.local {
		window = seconds(f.Window)
	}
	awslambda.NewEventSourceMapping(w.stack, jsii.String(topology.Title(f.Name)+"Source"),
		&awslambda.EventSourceMappingProps{
			Target:                  fn,
			EventSourceArn:          table.TableStreamArn(),
			StartingPosition:        w.start(f),
			BatchSize:               jsii.Number(float64(f.Batch)),
			MaxBatchingWindow:       window,
			BisectBatchOnError:      jsii.Bool(true),
			ReportBatchItemFailures: jsii.Bool(true),
			RetryAttempts:           jsii.Number(-1),
			MaxRecordAge:            seconds(longestTried),
			ParallelizationFactor:   jsii.Number(4),
			OnFailure:               awslambdaeventsources.NewSqsDlq(dead),
			Filters:                 &filters,
		})
	w.alarms.age(f, fn)
}

// start returns the position at which a function begins in a stream. In the replica's region,
// the other region has already sent the messages of the stream; the function due sends any
// that are missing.
func (w *work) start(f topology.Function) awslambda.StartingPosition {
	if w.standby && f.Trigger == topology.ByStream {
		return awslambda.StartingPosition_LATEST
	}
	return awslambda.StartingPosition_TRIM_HORIZON
}

// newItems is the pattern of the records of new items of some kinds.
func newItems(kinds ...string) map[string]any {
	return map[string]any{
		"eventName": []string{"INSERT"},
		"dynamodb":  map[string]any{"NewImage": map[string]any{"kind": map[string]any{"S": kinds}}},
	}
}

// removed is the pattern of the records of removals, without the removals of expired items by
// DynamoDB. The local AWS cannot match a missing member within a missing member.
func (w *work) removed() map[string]any {
	pattern := map[string]any{"eventName": []string{"REMOVE"}}
	if !w.local {
		pattern["userIdentity"] = map[string]any{"principalId": []any{map[string]any{"exists": false}}}
	}
	return pattern
}

// counted are the patterns of the records that analytics count.
func counted() (all []map[string]any) {
	for _, source := range analytics.Sources {
		all = append(all, map[string]any{
			"eventName": []string{"INSERT", "MODIFY"},
			"dynamodb": map[string]any{"NewImage": map[string]any{
				"kind": map[string]any{"S": []string{source.Kind}}, "f_state": map[string]any{"S": source.States},
			}},
		})
	}
	return all
}

// feedFromQueue calls the function with the messages of its queues. The function returns the
// messages that failed, and only those are delivered again. Each queue has its own pollers.
func (w *work) feedFromQueue(fn awslambda.IFunction, f topology.Function) {
	var concurrency *float64
	if most := w.settings.Cap(f); most > 0 {
		concurrency = jsii.Number(float64(most))
	}
	// A batch of more than 10 needs a window, which would only delay a developer.
	batch, window := f.Batch, awscdk.Duration(nil)
	if f.Window > 0 && !w.local {
		window = seconds(f.Window)
	} else {
		batch = min(batch, 10)
	}
	for _, q := range f.Consumes {
		source := awslambda.NewEventSourceMapping(w.stack, jsii.String(topology.Title(string(q))+"Source"),
			&awslambda.EventSourceMappingProps{
				Target:                  fn,
				EventSourceArn:          w.queues[q].QueueArn(),
				BatchSize:               jsii.Number(float64(batch)),
				MaxBatchingWindow:       window,
				ReportBatchItemFailures: jsii.Bool(true),
				MaxConcurrency:          concurrency,
			})
		accept(source, finding{"Serverless-LambdaEventSourceMappingDestination", "Its queue has dead letters."})
	}
}

// newBus makes the customer's event bus.
func newBus(stack awscdk.Stack, s customer.Settings) awsevents.EventBus {
	return awsevents.NewEventBus(stack, jsii.String("Bus"), &awsevents.EventBusProps{
		EventBusName: jsii.String(s.Short()),
	})
}

// newQueue makes a queue with its dead-letter queue.
func (w *work) newQueue(q topology.Queue) awssqs.Queue {
	queue := awssqs.NewQueue(w.stack, jsii.String(topology.Title(string(q))+"Queue"), &awssqs.QueueProps{
		Encryption:        awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		RetentionPeriod:   awscdk.Duration_Days(jsii.Number(4)),
		VisibilityTimeout: seconds(q.Visibility()),
		DeadLetterQueue: &awssqs.DeadLetterQueue{
			Queue:           w.newDeadLetterQueue(string(q)),
			MaxReceiveCount: jsii.Number(float64(q.Receives())),
		},
	})
	return queue
}

// newDeadLetterQueue makes a queue for failed messages. Any message in it raises an alarm.
func (w *work) newDeadLetterQueue(of string) awssqs.Queue {
	queue := awssqs.NewQueue(w.stack, jsii.String(topology.Title(of)+"DeadLetters"), &awssqs.QueueProps{
		Encryption:      awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:      jsii.Bool(true),
		RetentionPeriod: awscdk.Duration_Days(jsii.Number(14)),
	})
	accept(queue,
		finding{"AwsSolutions-SQS3", "It holds dead letters itself, of a queue, a rule, a stream or a function."},
		finding{"Serverless-SQSRedrivePolicy", "It holds dead letters itself."})
	w.alarms.deadLetters(of, queue)
	output(w.stack, topology.DeadLettersOutput(of), queue.QueueUrl())
	return queue
}

// route sends every event on the bus to the queue of the dispatch function.
func (w *work) route(bus awsevents.EventBus) {
	rule := awsevents.NewRule(w.stack, jsii.String("EventRule"), &awsevents.RuleProps{
		EventBus:     bus,
		Description:  jsii.String("Events of the service to the dispatch function"),
		EventPattern: &awsevents.EventPattern{Source: jsii.Strings(worker.EventSource)},
	})
	queue := w.queues[topology.Dispatch]
	target(rule, awsevents.CfnRule_TargetProperty{Arn: queue.QueueArn()}, queue,
		w.newDeadLetterQueue(topology.EventRule))
}

// announce sends the notices of uploads into the bucket to the queue of imports. S3
// publishes them on the account's default bus.
func (w *work) announce(bucket awss3.Bucket) {
	rule := awsevents.NewRule(w.stack, jsii.String("UploadRule"), &awsevents.RuleProps{
		Description: jsii.String("Uploads of callers to the function import-media"),
		EventPattern: &awsevents.EventPattern{
			Source:     jsii.Strings("aws.s3"),
			DetailType: jsii.Strings("Object Created"),
			Detail: &map[string]any{
				"bucket": map[string]any{"name": []*string{bucket.BucketName()}},
				"object": map[string]any{"key": []any{map[string]any{"prefix": media.Uploads}}},
			},
		},
	})
	queue := w.queues[topology.ImportMedia]
	target(rule, awsevents.CfnRule_TargetProperty{Arn: queue.QueueArn()}, queue,
		w.newDeadLetterQueue(topology.UploadRule))
}

// target adds a target to the rule. Undelivered events go to the last of the queues, which are
// the queues that the rule may send to. The CDK package for targets would link a fifth of all
// its services.
func target(rule awsevents.Rule, t awsevents.CfnRule_TargetProperty, queues ...awssqs.Queue) {
	t.Id = jsii.String("Target0")
	t.DeadLetterConfig = &awsevents.CfnRule_DeadLetterConfigProperty{Arn: queues[len(queues)-1].QueueArn()}
	rule.Node().DefaultChild().(awsevents.CfnRule).SetTargets([]any{&t})
	for _, queue := range queues {
		queue.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("events.amazonaws.com"), nil)},
			Actions:    jsii.Strings("sqs:SendMessage"),
			Resources:  &[]*string{queue.QueueArn()},
			Conditions: &map[string]any{"ArnEquals": map[string]any{"aws:SourceArn": rule.RuleArn()}},
		}))
	}
}

func seconds(d time.Duration) awscdk.Duration {
	return awscdk.Duration_Seconds(jsii.Number(d.Seconds()))
}

// everyLocally is the period of schedules in the local system, because a developer waits for
// them.
const everyLocally = time.Minute

// schedule calls the function periodically. EventBridge gives up a call soon, because the next
// call does the same work.
func (w *work) schedule(fn awslambda.IFunction, f topology.Function, s customer.Settings) {
	every := f.Every
	if s.Local() {
		every = everyLocally
	}
	period := awscdk.Duration_Minutes(jsii.Number(every.Minutes()))
	dead := w.newDeadLetterQueue(f.Name)
	// EventBridge calls the function asynchronously, so Lambda reports the function's own
	// failures. It does not try again, because the next call does the same work.
	fn.ConfigureAsyncInvoke(&awslambda.EventInvokeConfigOptions{
		MaxEventAge: period, RetryAttempts: jsii.Number(0), OnFailure: awslambdadestinations.NewSqsDestination(dead),
	})
	rule := awsevents.NewRule(w.stack, jsii.String(topology.Title(f.Name)+"Schedule"), &awsevents.RuleProps{
		Description: jsii.String("Calls the function " + f.Name + " regularly"),
		Schedule:    awsevents.Schedule_Rate(period),
	})
	target(rule, awsevents.CfnRule_TargetProperty{
		Arn: fn.FunctionArn(),
		RetryPolicy: &awsevents.CfnRule_RetryPolicyProperty{MaximumEventAgeInSeconds: period.ToSeconds(nil),
			MaximumRetryAttempts: jsii.Number(2)},
	}, dead)
	fn.AddPermission(jsii.String("Schedule"), &awslambda.Permission{
		Principal: awsiam.NewServicePrincipal(jsii.String("events.amazonaws.com"), nil), SourceArn: rule.RuleArn(),
	})
}
