package compose

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider/synth"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
)

// draftShare is the greatest CPU time of a draft, relative to a still that ffmpeg encodes for as long in the fastest
// way at full frame rate: 4 s for a video of 20 s on a machine that takes 2.4 s for the still. A slower machine takes
// longer for both.
const draftShare = 4 / 2.4

func TestADraftOfTwentySecondsTakesLittleCPU(t *testing.T) {
	b := newBench(t)
	narration, err := synth.MP3(5, 19*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	voice := b.part("voice.mp3", narration)
	var still string
	for _, kind := range []string{"stills", "clips"} {
		v := Video{Format: Portrait, Quality: Draft, Fade: true, Captions: true, Language: "en", Narration: voice,
			Brand: b.brand()}
		for i := range 4 {
			drawn := synth.Scene{Width: 1080, Height: 1920, Seed: uint32(i)}
			s := Scene{Text: "Our shoe is made of nets that were lost at sea, and divers pull them out."}
			if kind == "stills" {
				picture, err := synth.JPEG(drawn)
				if err != nil {
					t.Fatal(err)
				}
				still = b.part(fmt.Sprintf("still%d.jpg", i), picture)
				s.Picture = still
			} else {
				clip, err := synth.MP4(drawn, 5*time.Second, false)
				if err != nil {
					t.Fatal(err)
				}
				s.Clip = b.part(fmt.Sprintf("clip%d.mp4", i), clip)
			}
			v.Scenes = append(v.Scenes, s)
		}
		res := b.compose(v)
		final := b.find(res, media.Final)
		f := b.facts(final, b.probe(final.Path))
		if f.Width != 1080 || f.Height != 1920 || f.Codec != "h264" || f.Audio != "aac" || f.FPS != 10 ||
			final.Duration != 20*time.Second {
			t.Errorf("%s: the draft is %+v, of %v", kind, f, final.Duration)
		}
		looped := b.looped(still)
		t.Logf("%s: %v of CPU in %d runs; a looped still takes %v", kind, res.Usage.CPU, res.Usage.Runs, looped)
		if share := float64(res.Usage.CPU) / float64(looped); share > draftShare {
			t.Errorf("%s: the draft takes %.2f times the CPU of a looped still, more than %.2f", kind, share, draftShare)
		}
	}
}

// looped returns the CPU time of encoding a still for 20 s.
func (b *bench) looped(still string) time.Duration {
	b.t.Helper()
	report, err := b.tool.Run(b.t.Context(), ffmpeg.Job{
		Dir: b.dir, Inputs: []ffmpeg.Input{{Path: still, Format: "jpeg_pipe", Options: []string{"-framerate", "30"}}},
		Filter: "[0:v]format=yuv420p,loop=loop=-1:size=1:start=0,trim=end_frame=600,setpts=N/(30*TB),fps=30[out]",
		Output: []string{"-map", "[out]", "-c:v", "libx264", "-preset", "ultrafast", "-f", "mp4", "looped.mp4"},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return report.Usage.CPU
}

func TestSettingsLowerThePriority(t *testing.T) {
	s := Settings{FFmpeg: filepath.Join(tools, "ffmpeg"), Fonts: filepath.Join(tools, "fonts"), Scratch: t.TempDir(),
		Threads: 1, Nice: 19}
	e, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	if e.tool.Nice != 19 {
		t.Errorf("ffmpeg runs with a niceness of %d", e.tool.Nice)
	}
	for _, bad := range []int{-1, 20} {
		s.Nice = bad
		if _, err := New(s); err == nil || !strings.Contains(err.Error(), "Nice") || os.IsNotExist(err) {
			t.Errorf("a niceness of %d is %v", bad, err)
		}
	}
}
