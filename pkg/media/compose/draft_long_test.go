//go:build long

package compose

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
)

// draftShare is the greatest CPU time of a draft, relative to a still that ffmpeg encodes for as long in the fastest
// way at full frame rate: 4 s for a video of 20 s on a machine that takes 2.4 s for the still. A slower machine takes
// longer for both.
const draftShare = 4 / 2.4

// tries is the number of measurements of which one has to be within the bound: what else runs on the machine makes
// single ones larger.
const tries = 5

func TestADraftOfTwentySecondsTakesLittleCPU(t *testing.T) {
	b := newBench(t)
	for _, kind := range []string{"stills", "clips"} {
		least := 0.0
		for n := range tries {
			res, still := b.draft(kind, 4)
			looped := b.looped(still)
			t.Logf("%s: %v of CPU in %d runs; a looped still takes %v", kind, res.Usage.CPU, res.Usage.Runs, looped)
			if share := float64(res.Usage.CPU) / float64(looped); n == 0 || share < least {
				least = share
			}
			if least <= draftShare {
				break
			}
		}
		if least > draftShare {
			t.Errorf("%s: the draft takes %.2f times the CPU of a looped still, more than %.2f", kind, least, draftShare)
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
