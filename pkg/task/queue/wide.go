package queue

import (
	"context"
	"slices"
	"sync"
)

// callsAtATime is how many calls of one Send a wide sender makes at a time.
const callsAtATime = 4

// Wide returns a sender that sends many messages by several calls at a time, each of as many messages as a call takes.
func Wide(s Sender) Sender { return wide{s} }

type wide struct{ sender Sender }

func (w wide) Send(ctx context.Context, messages ...Message) []error {
	if len(messages) <= BatchSize {
		return w.sender.Send(ctx, messages...)
	}
	var all sync.WaitGroup
	failed, turns := make([]error, len(messages)), make(chan struct{}, callsAtATime)
	done := 0
	for batch := range slices.Chunk(messages, BatchSize) {
		at := failed[done : done+len(batch)]
		done += len(batch)
		turns <- struct{}{}
		all.Go(func() {
			copy(at, w.sender.Send(ctx, batch...))
			<-turns
		})
	}
	all.Wait()
	return failed
}
