package compose

import (
	"image/color"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/timeline"
	"github.com/content-automation/api/testdata/breadth"
)

// small is a quarter of the size, for tests that do not depend on it.
const small = 4

func (b *bench) plain(name string, c color.RGBA) string {
	return b.part(name+".png", sample.Plain(270, 480, c))
}

// middles returns the colors in the upper part of frames, where nothing is written.
func (b *bench) middles(path string, frames ...int) map[int][3]int {
	all := map[int][3]int{}
	for n, p := range b.framesOf(path, 1080/small, 1920/small, frames...) {
		at := (150*1080/small + 135) * 3
		all[n] = [3]int{int(p[at]), int(p[at+1]), int(p[at+2])}
	}
	return all
}

// near reports whether two colors differ only by the loss of encoding.
func near(a [3]int, r, g, b int) bool {
	far := func(x, y int) bool { return x-y > 14 || y-x > 14 }
	return !far(a[0], r) && !far(a[1], g) && !far(a[2], b)
}

func TestTheVoiceDecidesTheCut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := Video{
		Format: Portrait, Quality: Full, scale: small, Language: "en",
		Narration: b.part("voice.wav", sample.Voice(4*time.Second)),
		Scenes: []Scene{{Text: "Red is first.", Picture: b.plain("red", color.RGBA{200, 30, 30, 255})},
			{Text: "Then blue, for longer.", Picture: b.plain("blue", color.RGBA{30, 30, 200, 255})}},
		// The voice is silent between 1.4 s and 1.8 s.
		Marks: []timeline.Mark{{Offset: 13, At: 1400 * time.Millisecond}, {Offset: 14, At: 1800 * time.Millisecond}},
	}
	cut := timeline.Frames(lead + 1600*time.Millisecond)
	f := b.find(b.compose(v), media.Final)
	if at := b.middles(f.Path, cut-1, cut); !near(at[cut-1], 200, 30, 30) || !near(at[cut], 30, 30, 200) {
		t.Errorf("around frame %d the colors are %v", cut, at)
	}
	if f.Duration != timeline.Time(timeline.Frames(lead+4*time.Second+tail)) {
		t.Errorf("4 s of voice make a video of %v", f.Duration)
	}
	v.Fade = true
	faded := b.find(b.compose(v), media.Final)
	var numbers []int
	for n := cut - 8; n <= cut+8; n++ {
		numbers = append(numbers, n)
	}
	at := b.middles(faded.Path, numbers...)
	if mid := at[cut]; !near(mid, 115, 30, 115) {
		t.Errorf("in the middle of a cross-fade the color is %v", mid)
	}
	// It begins and ends with a step as small as the others: no frame is missing or twice.
	last := 215
	for n := cut - fadeFrames/2 - 1; n <= cut+fadeFrames/2; n++ {
		c := at[n]
		if step := last - c[0]; step < -3 || step > 34 {
			t.Errorf("in frame %d, the color goes from %d to %d", n, last, c[0])
		}
		last = c[0]
	}
	if before, after := at[cut-8], at[cut+8]; !near(before, 200, 30, 30) ||
		!near(after, 30, 30, 200) {
		t.Errorf("before and after the cross-fade the colors are %v and %v", before, after)
	}
	if faded.Duration != f.Duration {
		t.Errorf("with a cross-fade it plays %v, not %v", faded.Duration, f.Duration)
	}
}

func TestCaptionsAreBurnedInWhereNothingCoversThem(t *testing.T) {
	t.Parallel()
	for lang, script := range map[string]string{"ar": "حذاء من الشباك. أكثر من ذلك بكثير في كل يوم.",
		"ja": "私たちの靴は、海で失われた網から作られています。"} {
		t.Run(lang, func(t *testing.T) { checkCaptions(t, lang, script) })
	}
}

func checkCaptions(t *testing.T, lang, script string) {
	b := newBench(t)
	v := Video{
		Format: Portrait, Quality: Full, scale: small, Captions: true, Language: lang,
		Narration: b.part("voice.wav", sample.Voice(3*time.Second)),
		Scenes:    []Scene{{Text: script, Picture: b.plain("white", color.RGBA{255, 255, 255, 255})}},
	}
	res := b.compose(v)
	written, err := os.ReadFile(b.find(res, media.Subtitles).Path)
	if err != nil || !strings.Contains(strings.ReplaceAll(string(written), "\n", " "), script[:20]) {
		t.Errorf("the captions are %s, %v", written, err)
	}
	width, height := 1080/small, 1920/small
	p := b.pixels(b.find(res, media.Final).Path, 30, width, height)
	dark, letters := 0, 0
	for y := range height {
		for x := range width {
			at := (y*width + x) * 3
			c := canvas.Color{R: p[at], G: p[at+1], B: p[at+2]}
			if c.Luminance() > 0.95 {
				continue
			}
			if x*small < SafePortrait.Min.X-8 || x*small > SafePortrait.Max.X+8 ||
				y*small < SafePortrait.Min.Y || y*small > SafePortrait.Max.Y+8 {
				t.Fatalf("something is drawn at %d, %d, which platforms cover", x*small, y*small)
			}
			if canvas.Contrast(c.Luminance(), 1) >= canvas.MinContrast {
				dark++
			} else {
				letters++
			}
		}
	}
	if dark < 1000 || letters < 100 {
		t.Errorf("%d pixels are of the background of captions, %d of letters", dark, letters)
	}
	// The poster is a frame without captions.
	poster := b.pixels(b.find(res, media.Poster).Path, 0, width, height)
	for i, v := range poster {
		if v < 240 {
			t.Fatalf("the poster has the value %d at %d", v, i)
		}
	}
	v.Captions = false
	res = b.compose(v)
	b.find(res, media.Subtitles)
	for _, v := range b.pixels(b.find(res, media.Final).Path, 30, width, height) {
		if v < 240 {
			t.Fatal("captions that were turned off are burned in")
		}
	}
}

func TestAClipFillsItsScene(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	clip := b.clip(2*time.Second, 270, 480, false)
	video := func(length time.Duration, clips ...string) Video {
		v := Video{Format: Portrait, Quality: Draft, scale: small}
		for _, c := range clips {
			v.Scenes = append(v.Scenes, Scene{Clip: c, Length: length})
		}
		return v
	}
	// It may be cut, played more slowly, and its last frame may stay for a second.
	for _, length := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 3900 * time.Millisecond} {
		f := b.find(b.compose(video(length, clip)), media.Final)
		if got := number(t, b.probe(f.Path).Streams[0].Frames); int(got) != timeline.Frames(length)/Draft.every() {
			t.Errorf("a clip of 2 s in a scene of %v has %v frames", length, got)
		}
	}
	faded := video(1500*time.Millisecond, clip, clip)
	faded.Quality, faded.Fade = Full, true
	faded.Scenes = append(faded.Scenes, Scene{Picture: b.picture(0), Length: time.Second})
	if f := b.find(b.compose(faded), media.Final); int(number(t, b.probe(f.Path).Streams[0].Frames)) != 120 {
		t.Errorf("clips that are joined by cross-fades have %s frames", b.probe(f.Path).Streams[0].Frames)
	}
	if e := b.fails(video(5*time.Second, clip)); e.Code != CodeTooShort || e.About != "/scenes/0/clip" ||
		e.Stage != StagePicture {
		t.Errorf("a clip of 2 s in a scene of 5 s: %v", e)
	}
	// It says that it plays 2 s, but ends in the middle.
	whole, err := os.ReadFile(clip)
	if err != nil {
		t.Fatal(err)
	}
	broken := b.part("broken.mp4", whole[:len(whole)*2/5])
	if e := b.fails(video(2*time.Second, clip, broken)); e.About != "/scenes/1/clip" || e.Code != CodeTooShort &&
		e.Code != CodeUnreadable {
		t.Errorf("a clip that ends early: %v", e)
	}
}

func TestTheLogoLiesOverTheWholeVideo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	gray := b.plain("gray", color.RGBA{60, 60, 60, 255})
	res := b.compose(Video{
		Format: Portrait, Quality: Draft, scale: small, Scenes: []Scene{{Picture: gray, Length: time.Second},
			{Picture: gray, Length: time.Second}},
		Brand: b.brand(),
	})
	for frame, p := range b.framesOf(b.find(res, media.Final).Path, 1080/small, 1920/small, 0, 9, 10, 19) {
		light := 0
		for i := 0; i < len(p); i += 3 {
			if p[i] > 200 {
				light++
			}
		}
		if light < 100 {
			t.Errorf("frame %d has %d pixels of the logo", frame, light)
		}
	}
}

func TestDescriptionsAreChecked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one := []Scene{{Picture: b.picture(0), Length: time.Second}}
	for about, w := range map[string]Work{
		"/format":          Video{Quality: Full, Scenes: one},
		"/quality":         Video{Format: Portrait, Scenes: one},
		"/caption_style":   Video{Format: Portrait, Quality: Full, Scenes: one, CaptionStyle: "bold"},
		"/scenes":          Video{Format: Portrait, Quality: Full},
		"/scenes/0":        Video{Format: Portrait, Quality: Full, Scenes: []Scene{{Picture: "a", Clip: "b"}}},
		"/scenes/0/length": Video{Format: Portrait, Quality: Full, Scenes: []Scene{{Picture: "a"}}},
		"/scenes/1/text": Video{Format: Portrait, Quality: Full, Narration: "v",
			Scenes: []Scene{{Picture: "a", Text: "A."}, {Picture: "b"}}},
		"/slides": Carousel{},
		"/use":    Picture{},
		"/length": MusicClip{Quality: Full, Length: 5 * time.Second},
	} {
		if e := b.fails(w); e.Code != CodeInvalid || e.About != about || e.Stage != StageInputs {
			t.Errorf("%s: %v", about, e)
		}
	}
}

// A voice that is a quarter too long, or too short, does not change the length of the video.
func TestAVideoHasTheRequestedLength(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const length = 12 * time.Second
	clip := b.clip(4*time.Second, 270, 480, false)
	still, moving := Scene{Picture: b.picture(0)}, Scene{Clip: clip}
	for i, spoken := range breadth.First(2, 14200*time.Millisecond, 8*time.Second, 11*time.Second) {
		voice := b.part("voice.wav", sample.Voice(spoken))
		scenes := []Scene{still, moving}
		for _, see := range breadth.First(1, scenes[i%2], scenes[1-i%2]) {
			v := Video{Format: Portrait, Quality: Draft, scale: small, Captions: true, Narration: voice, Length: length}
			for _, text := range []string{"Made of nets that were lost.", "Divers pull them out.", "Try it today, please."} {
				see.Text = text
				v.Scenes = append(v.Scenes, see)
			}
			res := b.compose(v)
			f := b.find(res, media.Final)
			if off := (f.Duration - length).Abs(); off > length/20 {
				t.Errorf("%v of voice make a video of %v", spoken, f.Duration)
			}
			for _, s := range b.probe(f.Path).Streams {
				if off := number(t, s.Duration) - f.Duration.Seconds(); math.Abs(off) > 0.1 {
					t.Errorf("%v of voice: the %s plays %s s, not %v", spoken, s.CodecType, s.Duration, f.Duration)
				}
			}
		}
	}
}
