package stack

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/service/worker"
)

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
