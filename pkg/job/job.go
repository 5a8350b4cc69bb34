// Package job carries accepted work from the transaction that accepted it to the
// worker that does it. A job is an item of the state table: it is committed with
// what it is for, and the relay sends it to its queue from there. So no accepted
// work is lost, and none is queued that was not accepted.
package job

import (
	"time"

	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
	"github.com/content-automation/api/pkg/topology"
)

// Queue is a queue of the table of queues.
type Queue = topology.Queue

// The queues that work is for.
const (
	GenerateText  = topology.GenerateText
	GenerateImage = topology.GenerateImage
	GenerateAudio = topology.GenerateAudio
	GenerateVideo = topology.GenerateVideo
	Deliver       = topology.Deliver
	Dispatch      = topology.Dispatch
)

// Kind is the kind of a job's item; the relay acts on it.
const Kind = "job"

// keep is how long a job's item stays for whoever looks into a failure.
const keep = 7 * 24 * time.Hour

// Job is the message that a worker gets. A worker may get it twice, late, or
// after the work was canceled: it must look at the subject before it acts.
type Job struct {
	ID    string `json:"id"`
	Queue Queue  `json:"queue"`
	// Subject is the id of the resource that the work is for.
	Subject string `json:"subject"`
	// Attempt tells the tries at the same subject apart; 1 for the first.
	Attempt int `json:"attempt"`
	tenant.Owner
	// Task tells what is to be done where that is not a step of the subject's work.
	Task string `json:"task,omitempty"`
	// Turn numbers the steps of work that takes many: a message is for one step, and
	// one for a step that was taken is a repeat. 1 for the first.
	Turn int `json:"turn,omitempty"`
	// Receives is how often the queue has brought this message; more than once where
	// its function died or failed.
	Receives int `json:"-"`
}

// Next is the message that follows a step.
type Next struct {
	Job   Job
	Delay time.Duration
}

// Item makes the item of a job whose message carries more than the job itself:
// the message is sent as it is, so it must have the members of a Job.
func Item(now time.Time, j Job, message any) (store.Item, error) {
	it, err := store.NewItem(Kind, j.Owner, j.ID, message)
	if err != nil {
		return store.Item{}, err
	}
	it.Listed = store.Key{} // jobs are not listed by account
	it.ExpireAt = now.Add(keep)
	return it, nil
}
