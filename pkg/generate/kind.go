package generate

import (
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/task"
)

// The kinds of tasks.
const (
	Generate task.Kind = "generate"        // one attempt at the work of a resource
	Start    task.Kind = "generate.start"  // starts the work of resources accepted together
	Remove   task.Kind = "generate.remove" // removes the files of a resource that was deleted
	Expire   task.Kind = "generate.expire" // deletes a resource of a sandbox whose time is over
)

// traits are the properties of a kind of generation.
type traits struct {
	// queue is the queue of its steps. Slow kinds have queues of their own, so that they do not delay the quick ones.
	queue topology.Queue
	// deadline is the longest time that a part of this kind may take, with its wait in the queue.
	deadline time.Duration
	// poll is the wait between two polls if the provider does not name one.
	poll time.Duration
	// file is the type of the files that the kind makes, empty if it makes none.
	file media.Type
	// usual is the usual duration of a part of this kind, with its wait in the queue.
	usual time.Duration
}

var kinds = map[provider.Kind]traits{
	provider.KindText:    {topology.GenerateText, 10 * time.Minute, 2 * time.Second, "", 5 * time.Second},
	provider.KindImage:   {topology.GenerateImage, 15 * time.Minute, 2 * time.Second, media.Image, 10 * time.Second},
	provider.KindVoice:   {topology.GenerateAudio, 15 * time.Minute, 3 * time.Second, media.Audio, 6 * time.Second},
	provider.KindMusic:   {topology.GenerateAudio, 20 * time.Minute, 3 * time.Second, media.Audio, 40 * time.Second},
	provider.KindVideo:   {topology.GenerateVideo, 60 * time.Minute, 5 * time.Second, media.Video, 90 * time.Second},
	provider.KindAvatar:  {topology.GenerateVideo, 60 * time.Minute, 5 * time.Second, media.Video, 2 * time.Minute},
	provider.KindCompose: {topology.Compose, time.Hour, 0, "", time.Minute},
	provider.KindSign:    {topology.Compose, time.Hour, 0, "", time.Second},
}

// Patience returns the shortest time that a message of a queue may wait before work of the queue reaches its deadline,
// or 0 if the queue has no work that ends by itself.
func Patience(q topology.Queue) (least time.Duration) {
	for _, k := range kinds {
		if k.queue == q && (least == 0 || k.deadline < least) {
			least = k.deadline
		}
	}
	return least
}
