package webhook

import (
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// ReplayKind is the kind of the tasks that replay missed events. Their subject is the
// webhook; each step replays a page of events.
const ReplayKind task.Kind = "replay"

// replayTime bounds the duration of a replay.
const replayTime = 24 * time.Hour

// EndpointReplay is the payload of such a task.
type EndpointReplay struct {
	// From and To bound the ids of the events.
	From string `json:"from"`
	To   string `json:"to"`
	// After is the end of the page before.
	After *store.Cursor `json:"after,omitempty"`
}

// NewReplay adds the task to a transaction that replays the events from since until now.
func NewReplay(tx *store.Tx, to Ref, since, now time.Time) error {
	t := task.Task{
		Message: task.Message{
			ID: "task#replay#" + id.New(id.Webhook, now), Kind: ReplayKind, Queue: topology.Replay, Subject: to.ID,
			Owner: to.Owner,
		},
		Deadline: now.Add(replayTime),
	}
	return task.Create(tx, now, t, EndpointReplay{From: id.First(id.Event, since), To: id.First(id.Event, now)})
}
