package main

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// The calls of the providers: those of submitting request a generation, and those of polling read its progress or
// fetch its result.
var (
	submitting = []step{
		{function: "generate", operation: "POST bedrock"}, {function: "generate", operation: "POST elevenlabs"},
		{function: "generate", operation: "POST fal"},
		{function: "generate", operation: "POST polly"}, {function: "generate", operation: "POST replicate"},
	}
	polling = []step{{function: "generate", operation: "GET fal"}, {function: "generate", operation: "GET replicate"},
		{function: "generate", operation: "GET polly"}}
)

// jobPlaces are the steps of work on its way from its acceptance to its end.
var jobPlaces = []place{
	{name: "content accepts", at: []step{{function: "content", operation: "TransactWriteItems"}}},
	{name: "studio accepts", at: []step{{function: "studio", operation: "TransactWriteItems"}}},
	{name: "relay sends jobs to their queues", at: []step{{function: "relay", operation: "SendMessageBatch"}}},
	{name: "generate holds its messages", at: []step{{function: "generate", operation: holding}},
		hidden: 12 * time.Minute},
	{name: "generate reads", at: []step{{function: "generate", operation: "GetItem"}}, held: true},
	{name: "generate leases a submission",
		at: []step{{function: "generate", operation: "PutItem", with: `\"lease\":{`}}, held: true, leased: true},
	{name: "generate submits to a provider", at: submitting, held: true, leased: true},
	{name: "generate asks a provider", at: polling, held: true},
	{name: "generate stores a file", at: []step{{function: "generate", operation: "PUT s3"}}, held: true, leased: true},
	{name: "generate writes a step", at: []step{{function: "generate", operation: "PutItem"},
		{function: "generate", operation: "TransactWriteItems"}}, held: true, leased: true},
	{name: "generate writes the end",
		at: []step{{function: "generate", operation: "TransactWriteItems", with: `{"S":"ended"}`}}, held: true},
	{name: "rollup reads what it has counted", at: []step{{function: "rollup", operation: "BatchGetItem"}}, held: true},
	{name: "rollup writes the sums", at: []step{{function: "rollup", operation: "TransactWriteItems"}}, held: true},
	{name: "compose leases a composition", at: []step{{function: "compose", operation: "PutItem", with: `\"lease\":{`}},
		held: true, leased: true},
	{name: "compose fetches a part", at: []step{{function: "compose", operation: "GET s3"}}, held: true, leased: true},
	{name: "compose stores a file", at: []step{{function: "compose", operation: "PUT s3"}}, held: true, leased: true},
	{name: "compose writes the end",
		at: []step{{function: "compose", operation: "TransactWriteItems", with: `{"S":"ended"}`}}, held: true},
	{name: "generate sends the next step",
		at: []step{{function: "generate", operation: "SendMessageBatch"}}, held: true},
}

// jobRows returns the rows about generations.
func jobRows(sz size) []row {
	once := bounds{once: true}
	return rowsAlong(sz, jobPlaces,
		row{name: "Queues of generation wiped, then resumed", happen: wipedJobs},
		row{name: "Every third write is done, its answer lost", happen: often(writes, 3, loseAnswer)},
		row{name: "Every third sending is done, its answer lost", happen: often(sends, 3, loseAnswer), bounds: once},
		row{name: "Every fourth submission is accepted, its answer lost", happen: often(submitting, 4, loseAnswer)},
		row{name: "Every third poll is answered, its answer lost", happen: often(polling, 3, loseAnswer)},
		row{name: "Generate frozen for 40 s at a provider", happen: frozen(submitting, 40*time.Second)},
	)
}

// wipedJobs empties the queues of generation repeatedly for two seconds, then calls the function that recovers lost
// messages.
func wipedJobs(ctx context.Context, s *scene) error {
	return s.wipeUntil(ctx, s.urls(append([]topology.Queue{topology.Compose}, topology.Generation...)...),
		func(ctx context.Context) (int, error) {
			swept, err := s.sweep(ctx)
			s.happenedNow()
			return swept.Tasks.Resent, err
		})
}
