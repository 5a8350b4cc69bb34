package engine

import (
	"time"

	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/provider"
)

// work is how a kind of generation is treated.
type work struct {
	// queue is where its steps wait. Kinds that take long have queues of their
	// own, so that they do not hold back the quick ones.
	queue job.Queue
	// deadline is the most that a part of this kind may take, its waiting in the
	// queue included.
	deadline time.Duration
	// poll is how long to wait between two polls where the provider does not tell.
	poll time.Duration
	// file is what its files must be; empty: it makes none.
	file media.Type
}

var kinds = map[provider.Kind]work{
	provider.KindText:     {job.GenerateText, 10 * time.Minute, 2 * time.Second, ""},
	provider.KindImage:    {job.GenerateImage, 15 * time.Minute, 2 * time.Second, media.Image},
	provider.KindVoice:    {job.GenerateAudio, 15 * time.Minute, 3 * time.Second, media.Audio},
	provider.KindMusic:    {job.GenerateAudio, 20 * time.Minute, 3 * time.Second, media.Audio},
	provider.KindVideo:    {job.GenerateVideo, 60 * time.Minute, 5 * time.Second, media.Video},
	provider.KindAvatar:   {job.GenerateVideo, 60 * time.Minute, 5 * time.Second, media.Video},
	provider.KindCaptions: {job.GenerateText, 5 * time.Minute, time.Second, media.Captions},
}

func queueOf(kind provider.Kind) job.Queue { return kinds[kind].queue }
