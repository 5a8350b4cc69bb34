package media_test

import (
	"math"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/media/compose/timeline"
)

func TestAVoiceFillsTheLength(t *testing.T) {
	const around = time.Second
	for _, c := range []struct{ spoken, length, want float64 }{
		{39, 40, 1}, {40.1, 40, 1}, {38, 40, 1}, {48.2, 40, 48.2 / 40.2}, {36, 40, 36 / 37.8},
		{80, 40, 1.25}, {20, 40, 0.85}, {20, 0, 1}, {0, 40, 1},
	} {
		got := timeline.Tempo(seconds(c.spoken), around, seconds(c.length))
		if math.Abs(got-c.want) > 0.001 {
			t.Errorf("%v s of voice in a video of %v s have a tempo of %.3f, not %.3f", c.spoken, c.length, got, c.want)
		}
	}
	length, marks := timeline.Faster(12*time.Second, []timeline.Mark{{Offset: 3, At: time.Second}, {Offset: 5,
		At: 6 * time.Second}}, 1.25)
	if length != 9600*time.Millisecond || marks[0] != (timeline.Mark{Offset: 3, At: 800 * time.Millisecond}) ||
		marks[1] != (timeline.Mark{Offset: 5, At: 4800 * time.Millisecond}) {
		t.Errorf("a faster voice has %v and %v", length, marks)
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
