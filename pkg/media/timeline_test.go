package media_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/content-automation/api/pkg/media/compose/timeline"
	"github.com/content-automation/api/pkg/media/probe"
)

func TestTheClockFollowsTheMarks(t *testing.T) {
	script := "aaaa bbbb cccc"
	c := timeline.NewClock(script, []timeline.Mark{{Offset: 0, At: 200 * time.Millisecond}, {Offset: 5,
		At: time.Second}, {Offset: 10, At: 3 * time.Second},
		{Offset: 7, At: 2 * time.Second}, {Offset: 12, At: 9 * time.Second}}, 4*time.Second)
	for offset, want := range map[int]time.Duration{0: 200 * time.Millisecond, 5: time.Second, 10: 3 * time.Second,
		14: 4 * time.Second, 99: 4 * time.Second} {
		if got := c.At(offset); got != want {
			t.Errorf("at %d it is %v, not %v", offset, got, want)
		}
	}
	if got := c.At(7); got <= time.Second || got >= 3*time.Second {
		t.Errorf("between two marks it is %v", got)
	}
	// Without marks, the length of the text decides, with pauses where sentences end.
	even := timeline.NewClock("aaaa. bbbb", nil, 10*time.Second)
	if first := even.At(6); first < 6*time.Second || first > 8*time.Second {
		t.Errorf("the second of two words begins at %v of 10 s", first)
	}
}

func TestScenesFollowTheVoice(t *testing.T) {
	texts := []string{"aaaa", "bbbb", "cccc"}
	c := timeline.NewClock(strings.Join(texts, " "), []timeline.Mark{{Offset: 4, At: 2 * time.Second}, {Offset: 5,
		At: 3 * time.Second}, {Offset: 9, At: 5 * time.Second},
		{Offset: 10, At: 5 * time.Second}}, 8*time.Second)
	got := timeline.Scenes(texts, c, 200*time.Millisecond, 800*time.Millisecond, 30)
	// Cuts at 0.2 + (2+3)/2 and 0.2 + 5; the end at 9 s.
	if want := []int{81, 75, 114}; !slices.Equal(got, want) {
		t.Errorf("scenes of %v frames, not %v", got, want)
	}
}

func TestNoSceneIsTooShortAndNoFrameIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,60}`), 1, 12).Draw(t, "texts")
		spoken := time.Duration(rapid.IntRange(100, 60_000).Draw(t, "ms")) * time.Millisecond
		script := strings.Join(texts, " ")
		lengths := timeline.Scenes(texts, timeline.NewClock(script, nil, spoken), 200*time.Millisecond,
			600*time.Millisecond, timeline.FPS)
		total := 0
		for _, n := range lengths {
			if n < timeline.FPS {
				t.Fatalf("a scene of %d frames in %v", n, lengths)
			}
			total += n
		}
		if want := max(timeline.Frames(spoken+800*time.Millisecond), timeline.FPS*len(texts)); total != want {
			t.Fatalf("%v are %d frames, not %d", lengths, total, want)
		}
	})
}

func TestCaptionsAreReadable(t *testing.T) {
	cues := []timeline.Cue{
		{From: time.Second, To: 2 * time.Second, Lines: []string{"Nets & yarn", "<b>"}},
		{From: 2500 * time.Millisecond, To: 4 * time.Second, Lines: []string{"More"}},
		{From: 8 * time.Second, To: 9 * time.Second, Lines: []string{"Last"}},
	}
	timeline.Follow(cues, 9200*time.Millisecond)
	got := timeline.WebVTT(cues)
	want := "WEBVTT\n\n00:00:01.000 --> 00:00:02.500\nNets &amp; yarn\n&lt;b&gt;\n\n00:00:02.500 --> " +
		"00:00:04.700\nMore\n\n00:00:08.000 --> 00:00:09.200\nLast\n"
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if info, err := probe.Bytes([]byte(got)); err != nil || info.MIMEType != "text/vtt" {
		t.Errorf("they are %+v, %v", info, err)
	}
}

// A cue that is too short to be read is shown with its neighbor, and none is lost.
func TestShortCuesAreJoined(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	got := timeline.Readable([]timeline.Cue{{From: 0, To: ms(900), Lines: []string{"a"}},
		{From: ms(900), To: ms(1100), Lines: []string{"b"}}, {From: ms(1100), To: ms(1500), Lines: []string{"c"}},
		{From: ms(1500), To: ms(3000), Lines: []string{"d"}}, {From: ms(3000), To: ms(3100), Lines: []string{"e"}}})
	said := ""
	for _, c := range got {
		if c.To-c.From < timeline.Shortest {
			t.Errorf("%+v is short", c)
		}
		said += strings.Join(c.Lines, "")
	}
	if said != "abcde" || len(got) != 3 {
		t.Errorf("%+v", got)
	}
}
