package timeline

import (
	"math"
	"testing"
	"time"
)

func TestAVoiceFillsTheLength(t *testing.T) {
	const around = time.Second
	for _, c := range []struct{ spoken, length, want float64 }{
		{39, 40, 1}, {40.1, 40, 1}, {38, 40, 1}, {48.2, 40, 48.2 / 40.2}, {36, 40, 36 / 37.8},
		{80, 40, maxTempo}, {20, 40, minTempo}, {20, 0, 1}, {0, 40, 1},
	} {
		got := Tempo(seconds(c.spoken), around, seconds(c.length))
		if math.Abs(got-c.want) > 0.001 {
			t.Errorf("%v s of voice in a video of %v s have a tempo of %.3f, not %.3f", c.spoken, c.length, got, c.want)
		}
	}
	length, marks := Faster(12*time.Second, []Mark{{3, time.Second}, {5, 6 * time.Second}}, 1.25)
	if length != 9600*time.Millisecond || marks[0] != (Mark{3, 800 * time.Millisecond}) ||
		marks[1] != (Mark{5, 4800 * time.Millisecond}) {
		t.Errorf("a faster voice has %v and %v", length, marks)
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
