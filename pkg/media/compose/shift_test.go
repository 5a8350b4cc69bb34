package compose

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// No caption of the file is lost or shorter than half a second by an intro, wherever the boundary of the hook cuts the
// captions: the boundary is a frame, and a sentence begins a rounding before it.
func TestAnIntroLosesNoCaption(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 4))
	for range 2000 {
		f := &videoRun{Video: Video{Narration: "voice.wav", Scenes: make([]Scene, 2)}, intro: bumper{frames: 60},
			scenes: []scene{{length: 40 + random.IntN(120)}, {length: 300}}}
		hook := timeline.Time(f.scenes[0].length)
		at, said := time.Duration(0), ""
		for n := 0; at < hook+5*time.Second; n++ {
			to := at + time.Duration(500+random.IntN(1500))*time.Millisecond
			if at < hook && to > hook-300*time.Millisecond {
				to = hook - time.Duration(random.IntN(40))*time.Millisecond // the rounding
			}
			if to-at < 100*time.Millisecond {
				to = at + 100*time.Millisecond
			}
			word := string(rune('a' + n%26))
			f.told = append(f.told, timeline.Cue{From: at, To: to, Lines: []string{word}})
			if said += word; to <= hook {
				f.before = len(f.told)
			}
			at = to
		}
		f.shift(2 * time.Second)
		got := ""
		for i, c := range f.told {
			if c.To-c.From < timeline.Shortest && len(f.told) > 2 {
				t.Fatalf("the caption %d of %v has %v", i, c.Lines, c.To-c.From)
			}
			if i > 0 && c.From < f.told[i-1].To {
				t.Fatalf("the caption %v begins before the end of the one before it", c)
			}
			got += strings.Join(c.Lines, "")
		}
		if got != said {
			t.Fatalf("the captions say %s, not %s", got, said)
		}
	}
}
