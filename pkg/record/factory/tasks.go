package factory

import (
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// The kinds of tasks that follow a change of a factory's state.
const (
	End    task.Kind = "factory.end"    // ends the running work of a deleted factory
	Resume task.Kind = "factory.resume" // wakes the work that waited for a paused factory
	// Publish schedules what content plans of a factory hold, after automatic publishing was turned on.
	Publish task.Kind = "factory.publish"
)

// StartEnd adds the task that ends the running work of a factory to the transaction that deletes the factory.
func StartEnd(tx *store.Tx, now time.Time, o tenant.Owner, factoryID string) error {
	return task.Create(tx, now, message(End, o, factoryID, task.ID(End, factoryID, 1)), struct{}{})
}

// StartResume adds the task that wakes the waiting work of a factory to the transaction that resumes the factory. Its
// id is new each time.
func StartResume(tx *store.Tx, now time.Time, o tenant.Owner, factoryID string) error {
	return task.Create(tx, now, message(Resume, o, factoryID, task.ID(Resume, id.New("resume", now), 1)), struct{}{})
}

// StartPublish adds the task that schedules the generated items of content plans to the transaction after which a
// factory publishes automatically. It begins after the index of items shows what was written before.
func StartPublish(tx *store.Tx, now time.Time, o tenant.Owner, factoryID string) error {
	t := message(Publish, o, factoryID, task.ID(Publish, id.New("publish", now), 1))
	t.DueAt = now.Add(indexLag)
	return task.Create(tx, now, t, struct{}{})
}

// indexLag is the time after which the index of items shows earlier writes.
const indexLag = 2 * time.Second

func message(kind task.Kind, o tenant.Owner, factoryID, taskID string) task.Task {
	return task.Task{Message: task.Message{
		ID: taskID, Kind: kind, Queue: topology.GenerateText, Subject: factoryID, Owner: o,
	}}
}
