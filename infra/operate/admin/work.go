package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/service/worker/awsbus"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue/sqsqueue"
)

// work holds the clients and addresses for the dead letters of a customer's asynchronous
// path.
type work struct {
	sqs     *sqs.Client
	streams *dynamodbstreams.Client
	relay   *worker.Relay
	levels  *account.CallCounter
	// dead has the addresses of the dead-letter queues, by the name of the queue or
	// function.
	dead map[string]string
	// unseen is the time for which a letter that was read is hidden from other readers.
	unseen time.Duration
}

// openWork connects to the queues and the event bus of a customer's stacks, whose
// names have the given prefix.
func openWork(ctx context.Context, stack string) (*work, error) {
	if stack == "" {
		return nil, errors.New("name the stacks by --stack or STACK_NAME: <customer>-<stage>-<region>, such as " +
			"acme-prod-eu-central-1")
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
	w := &work{sqs: sqs.NewFromConfig(cfg), streams: dynamodbstreams.NewFromConfig(cfg), dead: map[string]string{},
		unseen: unseen}
	for _, source := range topology.DeadLetters() {
		if w.dead[source] = outputs[topology.DeadLettersOutput(source)]; w.dead[source] == "" {
			return nil, outdated(stack, topology.DeadLettersOutput(source))
		}
	}
	urls := map[topology.Queue]string{}
	for _, q := range topology.Queues {
		if urls[q] = outputs[q.Output()]; urls[q] == "" {
			return nil, outdated(stack, q.Output())
		}
	}
	for _, output := range []string{"BusName", "TableName"} {
		if outputs[output] == "" {
			return nil, outdated(stack, output)
		}
	}
	w.levels = account.NewCallCounter(store.Open(cfg, outputs["TableName"]))
	w.relay = worker.NewRelay(sqsqueue.Open(cfg, urls), awsbus.New(cfg, outputs["BusName"]))
	return w, nil
}

// outdated returns an error if stacks were deployed before an output was added.
func outdated(stack, output string) error {
	return fmt.Errorf("the stacks of %s have no output %s: deploy them anew", stack, output)
}
