//go:build long

package compose

import (
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/adapter/platform"
)

func TestALongVideoFitsThePlatforms(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	res := b.compose(Video{
		Format: Landscape, Quality: Full, Captions: true, Language: "en",
		Narration: b.part("voice.wav", sample.Voice(4200*time.Millisecond)), // Pinterest takes 4 s and more
		Scenes:    []Scene{{Text: "Made of nets.", Picture: b.picture(1)}, {Text: "Try it!", Picture: b.picture(2)}},
	})
	b.checkVideo(res, 1920, 1080, platform.KindVideo)
}

func TestAMusicClipFitsThePlatforms(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	res := b.compose(MusicClip{
		Track: b.part("track.wav", sample.Track(16*time.Second)), Cover: b.picture(2), Length: 15 * time.Second,
		Title: "Sea song", Quality: Full, Brand: b.brand(),
	})
	b.checkVideo(res, 1080, 1920, platform.KindMusicClip)
}
