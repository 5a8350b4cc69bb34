package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/relay"
)

// work is what the dead letters of a customer's asynchronous path are handled with.
type work struct {
	sqs     *sqs.Client
	streams *dynamodbstreams.Client
	relay   *relay.Relay
	// dead has the addresses of the dead-letter queues, by what each is of.
	dead map[string]string
}

// The outputs of the stacks that tell of queues end so.
const (
	queueOutput = "QueueUrl"
	deadOutput  = "DeadLettersUrl"
)

// openWork connects to the queues and the event bus of a customer's stacks, of which
// it is told the common beginning of their names.
func openWork(ctx context.Context, stack string) (*work, error) {
	if stack == "" {
		return nil, errors.New("name the stacks by --stack or STACK_NAME: <customer>-<region>, such as acme-eu-central-1")
	}
	cfg, err := configuration(ctx)
	if err != nil {
		return nil, err
	}
	client := cloudformation.NewFromConfig(cfg)
	outputs := map[string]string{}
	for _, part := range []string{"-data", "-work"} {
		name := stack + part
		out, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
		if err != nil {
			return nil, fmt.Errorf("read the outputs of the stack %s: %w", name, err)
		}
		for _, s := range out.Stacks {
			for _, o := range s.Outputs {
				outputs[*o.OutputKey] = *o.OutputValue
			}
		}
	}
	w := &work{sqs: sqs.NewFromConfig(cfg), streams: dynamodbstreams.NewFromConfig(cfg), dead: map[string]string{}}
	queues := map[job.Queue]queue.Sender{}
	for name, value := range outputs {
		if of, ok := strings.CutSuffix(name, deadOutput); ok {
			w.dead[named(of)] = value
		} else if of, ok := strings.CutSuffix(name, queueOutput); ok {
			queues[job.Queue(named(of))] = sqsqueue.New(w.sqs, value)
		}
	}
	if len(w.dead) == 0 || outputs["BusName"] == "" {
		return nil, fmt.Errorf("the stacks of %s have no outputs of dead letters and the bus: deploy them anew", stack)
	}
	w.relay = relay.New(queues, eventbridge.NewFromConfig(cfg), outputs["BusName"])
	return w, nil
}

var capital = regexp.MustCompile(`\B[A-Z]`)

// named gives the name that an output was made from: generate-text of GenerateText.
func named(output string) string {
	return strings.ToLower(capital.ReplaceAllString(output, "-$0"))
}
