package compose

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/testdata/breadth"
)

func TestADraft(t *testing.T) {
	b := newBench(t)
	for _, kind := range breadth.First(1, "clips", "stills") {
		res, _ := b.draft(kind, 2)
		final := b.find(res, media.Final)
		f := b.facts(final, b.probe(final.Path))
		if f.Width != 1080 || f.Height != 1920 || f.Codec != "h264" || f.Audio != "aac" || f.FPS != 10 ||
			final.Duration != 10*time.Second {
			t.Errorf("%s: the draft is %+v, of %v", kind, f, final.Duration)
		}
	}
}

// draft composes a draft of scenes of 5 s, of stills or clips. It returns the last of the stills, too.
func (b *bench) draft(kind string, scenes int) (res Result, still string) {
	b.t.Helper()
	narration, err := sandbox.MP3(5, time.Duration(scenes)*5*time.Second-time.Second)
	if err != nil {
		b.t.Fatal(err)
	}
	v := Video{Format: Portrait, Quality: Draft, Fade: true, Captions: true, Language: "en",
		Narration: b.part("voice.mp3", narration), Brand: b.brand()}
	for i := range scenes {
		drawn := sandbox.Scene{Width: 1080, Height: 1920, Seed: uint32(i)}
		s := Scene{Text: "Our shoe is made of nets that were lost at sea, and divers pull them out."}
		picture, err := sandbox.JPEG(drawn)
		if err != nil {
			b.t.Fatal(err)
		}
		still = b.part(fmt.Sprintf("still%d.jpg", i), picture)
		if kind == "stills" {
			s.Picture = still
		} else {
			clip, err := sandbox.MP4(drawn, 5*time.Second, false)
			if err != nil {
				b.t.Fatal(err)
			}
			s.Clip = b.part(fmt.Sprintf("clip%d.mp4", i), clip)
		}
		v.Scenes = append(v.Scenes, s)
	}
	return b.compose(v), still
}

func TestSettingsLowerThePriority(t *testing.T) {
	s := Settings{FFmpeg: filepath.Join(tools, "ffmpeg"), Fonts: filepath.Join(tools, "fonts"), Scratch: t.TempDir(),
		Threads: 1, Nice: 19}
	e, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	if tool := e.tool.(ffmpeg.Tool); tool.Nice != 19 {
		t.Errorf("ffmpeg runs with a niceness of %d", tool.Nice)
	}
	for _, bad := range []int{-1, 20} {
		s.Nice = bad
		if _, err := New(s); err == nil || !strings.Contains(err.Error(), "Nice") || os.IsNotExist(err) {
			t.Errorf("a niceness of %d is %v", bad, err)
		}
	}
}
