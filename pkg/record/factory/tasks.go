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
	End    task.Kind = "factory.end"    // ends what a deleted factory has under way
	Resume task.Kind = "factory.resume" // wakes what waited for a paused factory
)

// StartEnd adds to the transaction that deletes a factory the task that ends what it has
// under way.
func StartEnd(tx *store.Tx, now time.Time, o tenant.Owner, factoryID string) error {
	return task.Create(tx, now, message(End, o, factoryID, task.ID(End, factoryID, 1)), struct{}{})
}

// StartResume adds to the transaction that resumes a factory the task that wakes what
// waits. Its id is new each time.
func StartResume(tx *store.Tx, now time.Time, o tenant.Owner, factoryID string) error {
	return task.Create(tx, now, message(Resume, o, factoryID, task.ID(Resume, id.New("resume", now), 1)), struct{}{})
}

func message(kind task.Kind, o tenant.Owner, factoryID, taskID string) task.Task {
	return task.Task{Message: task.Message{
		ID: taskID, Kind: kind, Queue: topology.GenerateText, Subject: factoryID, Owner: o,
	}}
}
