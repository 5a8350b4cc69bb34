package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"
)

// eventSource is the `source` of every event that the relay puts on the bus.
const eventSource = "content-automation"

// visibilityFactor is how many times its function's time-out a message stays
// invisible: fewer than six, and Lambda's own retries meet the message again. A
// function that holds its messages says itself how long that is; the queue's time only
// counts where it dies before, and is the shortest that Lambda takes. A message that
// comes again meanwhile does no harm: every consumer bears each twice.
const (
	visibilityFactor     = 6
	visibilityFactorHeld = 1
)

// How often a message is tried before it is put aside: one of a function that holds
// its messages comes again within seconds at first, and so more often in the time
// that a trouble may last.
const (
	attempts     = 5
	attemptsHeld = 15
)

// newBus makes the customer's event bus.
func newBus(stack awscdk.Stack, s Settings) awsevents.EventBus {
	return awsevents.NewEventBus(stack, jsii.String("Bus"), &awsevents.EventBusProps{
		EventBusName: jsii.String(s.Customer + "-" + s.Stage),
	})
}

// newQueue makes a queue and the one that takes what could not be done.
func (w *work) newQueue(name string) awssqs.Queue {
	receives, factor := attempts, visibilityFactor
	if consumer(name).Holds {
		receives, factor = attemptsHeld, visibilityFactorHeld
	}
	return awssqs.NewQueue(w.stack, jsii.String(title(name)+"Queue"), &awssqs.QueueProps{
		Encryption:        awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		RetentionPeriod:   awscdk.Duration_Days(jsii.Number(4)),
		VisibilityTimeout: seconds(factor * consumer(name).Timeout),
		DeadLetterQueue: &awssqs.DeadLetterQueue{
			Queue:           w.newDeadLetterQueue(name),
			MaxReceiveCount: jsii.Number(float64(receives)),
		},
	})
}

// newDeadLetterQueue makes a queue for what failed; anything in it is an alarm.
func (w *work) newDeadLetterQueue(of string) awssqs.Queue {
	queue := awssqs.NewQueue(w.stack, jsii.String(title(of)+"DeadLetters"), &awssqs.QueueProps{
		Encryption:      awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:      jsii.Bool(true),
		RetentionPeriod: awscdk.Duration_Days(jsii.Number(14)),
	})
	w.alarms.deadLetters(of, queue)
	output(w.stack, title(of)+"DeadLettersUrl", queue.QueueUrl())
	return queue
}

// route sends every event on the bus to the queue of the dispatch function.
func (w *work) route(bus awsevents.EventBus) {
	awsevents.NewRule(w.stack, jsii.String("EventRule"), &awsevents.RuleProps{
		EventBus:     bus,
		Description:  jsii.String("Events of the service to the dispatch function"),
		EventPattern: &awsevents.EventPattern{Source: jsii.Strings(eventSource)},
		Targets: &[]awsevents.IRuleTarget{
			awseventstargets.NewSqsQueue(w.queues[DispatchQueue], &awseventstargets.SqsQueueProps{
				DeadLetterQueue: w.newDeadLetterQueue("event"),
			}),
		},
	})
}

func seconds(n int) awscdk.Duration { return awscdk.Duration_Seconds(jsii.Number(float64(n))) }
