// Package awsbus publishes the events of the relay on a bus of EventBridge. Start with Bus.
package awsbus

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/task/queue"
)

// Bus is one bus. It is safe for concurrent use.
type Bus struct {
	client *eventbridge.Client
	name   string
}

var _ worker.Bus = Bus{}

// New returns the event bus that has a name in the account of the configuration.
func New(cfg aws.Config, name string) Bus { return Bus{eventbridge.NewFromConfig(cfg), name} }

// Publish implements worker.Bus.
func (b Bus) Publish(ctx context.Context, batch []worker.BusEvent) ([]error, error) {
	in := &eventbridge.PutEventsInput{}
	for _, e := range batch {
		in.Entries = append(in.Entries, types.PutEventsRequestEntry{EventBusName: &b.name,
			Source: aws.String(worker.EventSource), DetailType: &e.Type, Detail: &e.Detail})
	}
	out, err := b.client.PutEvents(ctx, in)
	if err != nil {
		return nil, err
	}
	failed := make([]error, len(out.Entries))
	for i, e := range out.Entries {
		if e.ErrorCode != nil {
			failed[i] = &queue.RefusedEntry{Code: *e.ErrorCode, Message: aws.ToString(e.ErrorMessage)}
		}
	}
	return failed, nil
}
