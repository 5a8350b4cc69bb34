package compose

import (
	"fmt"
	"image/color"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/timeline"
	"github.com/content-automation/api/testdata/breadth"
)

// colored makes a clip of one color, with a tone if it has a frequency.
func (b *bench) colored(name, color, size string, length time.Duration, tone string) string {
	b.t.Helper()
	to := filepath.Join(b.dir, name+".mp4")
	seconds := fmt.Sprint(length.Seconds())
	args := []string{"-f", "lavfi", "-i", "color=c=" + color + ":s=" + size + ":r=25", "-t", seconds}
	if tone != "" {
		args = []string{"-f", "lavfi", "-i", "color=c=" + color + ":s=" + size + ":r=25", "-f", "lavfi", "-i",
			"sine=f=" + tone, "-t", seconds}
	}
	b.ffmpeg(append(args, "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-movflags", "+faststart",
		to)...)
	return to
}

// heardIn returns the mean level of a part of a file after a filter, in dB.
func (b *bench) heardIn(path string, from, to float64, filter string) float64 {
	b.t.Helper()
	out := b.ffmpeg("-i", path, "-af", fmt.Sprintf("atrim=%.3f:%.3f,%s,volumedetect", from, to, filter), "-vn", "-f",
		"null", "-")
	_, rest, ok := strings.Cut(out, "mean_volume: ")
	value, _, _ := strings.Cut(rest, " dB")
	if !ok {
		b.t.Fatalf("no level in %s", out)
	}
	return number(b.t, strings.Replace(value, "-inf", "-200", 1))
}

// The intro is seen after the first scene, which is the hook, and the outro is the end, both with their own sound. The
// voice, the captions and the music go on after the intro.
func TestAVideoShowsItsHookItsIntroAndItsOutro(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const length = 12 * time.Second
	intro := b.colored("intro", "red", "270x480", 2500*time.Millisecond, "700")
	for _, quality := range breadth.First(1, Full, Draft) {
		v := Video{
			Format: Portrait, Quality: quality, scale: small, Captions: true, Language: "en", Fade: true,
			Narration: b.part("voice.wav", sample.Voice(6*time.Second)), Music: b.part("music.wav", sample.Track(20*time.Second)),
			Scenes: []Scene{{Text: "Made of nets that were lost at sea.", Picture: b.plain("green", color.RGBA{20, 120, 40, 255})},
				{Text: "Divers pull them out.", Picture: b.plain("green", color.RGBA{20, 120, 40, 255})}},
			Intro: Bumper{Clip: intro}, Outro: Bumper{Picture: b.plain("blue", color.RGBA{30, 30, 200, 255})},
			Length: length - 2500*time.Millisecond - timeline.Still, Brand: b.brand(),
		}
		res := b.compose(v)
		f := b.find(res, media.Final)
		if off := (f.Duration - length).Abs(); off > length/20 {
			t.Errorf("%s: a video of %v plays %v", quality, length, f.Duration)
		}
		probed := b.probe(f.Path)
		for _, s := range probed.Streams {
			if off := number(t, s.Duration) - f.Duration.Seconds(); math.Abs(off) > 0.1 {
				t.Errorf("%s: the %s plays %s s, not %v", quality, s.CodecType, s.Duration, f.Duration)
			}
		}
		written, err := os.ReadFile(b.find(res, media.Subtitles).Path)
		said := regexp.MustCompile(`--> 00:00:(\d\d\.\d+)\n(?:.+\n)+\n00:00:(\d\d\.\d+)`).FindSubmatch(written)
		if err != nil || said == nil {
			t.Fatalf("%s: the captions are %s, %v", quality, written, err)
		}
		// The first caption ends with its scene, and the next one begins after the intro.
		hook := number(t, string(said[1]))
		if next := number(t, string(said[2])); next < hook+2.5 || next > hook+3 {
			t.Errorf("%s: the hook ends at %v s, and the next caption begins at %v s", quality, hook, next)
		}
		every := quality.every()
		begin := timeline.Frames(time.Duration(hook*1e9)) / every
		first, last := begin+timeline.Frames(2500*time.Millisecond)/every, timeline.Frames(f.Duration)/every
		wanted := map[int][3]int{0: {20, 120, 40}, begin - 1: {20, 120, 40}, begin + 1: {254, 0, 0},
			first - 1: {254, 0, 0}, first + 1: {20, 120, 40},
			last - 60/every - 1: {20, 120, 40}, last - 60/every + 1: {30, 30, 200}, last - 1: {30, 30, 200}}
		colors := b.middles(f.Path, slices.Collect(maps.Keys(wanted))...)
		for frame, want := range wanted {
			if got := colors[frame]; !near(got, want[0], want[1], want[2]) {
				t.Errorf("%s: frame %d is %v, not %v", quality, frame, got, want)
			}
		}
		if got := b.middles(b.find(res, media.Poster).Path, 0)[0]; got[0] > 60 || got[1] < 100 {
			t.Errorf("%s: the poster is %v", quality, got)
		}
		end := f.Duration.Seconds()
		const tones = "bandpass=f=700:width_type=h:w=40,bandpass=f=700:width_type=h:w=40"
		if tone, after := b.heardIn(f.Path, hook+0.2, hook+2.3, tones),
			b.heardIn(f.Path, hook+2.7, end-2.2, tones); tone < after+10 {
			t.Errorf("%s: the tone of the intro has %v dB, and after it %v dB", quality, tone, after)
		}
		if left := b.heardIn(f.Path, end-1.8, end-0.1, "anull"); left > -60 {
			t.Errorf("%s: %v dB are heard in the outro, which is silent", quality, left)
		}
		for _, part := range [][2]float64{{0.4, hook - 0.2}, {hook + 3, end - 3}} {
			if voice := b.heardIn(f.Path, part[0], part[1], "anull"); voice < -30 {
				t.Errorf("%s: the voice has %v dB from %v s on", quality, voice, part[0])
			}
		}
		if facts := b.facts(f, probed); math.Abs(facts.Loudness-targetLoudness) > maxSlack+0.3 || facts.EditList {
			t.Errorf("%s: %+v", quality, facts)
		}
	}
}

// An intro of other proportions is seen whole, on a ground of its own color.
func TestAnIntroIsNotCropped(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	split := filepath.Join(b.dir, "split.mp4")
	b.ffmpeg("-f", "lavfi", "-i", "color=c=white:s=480x270:r=25:d=1.5", "-vf",
		"drawbox=x=0:y=100:w=30:h=70:color=red:t=fill,drawbox=x=450:y=100:w=30:h=70:color=blue:t=fill", "-c:v", "libx264", "-preset", "ultrafast",
		"-pix_fmt", "yuv420p", "-movflags", "+faststart", split)
	clip := Scene{Clip: b.colored("own", "green", "270x480", 2*time.Second, "440"), Length: 2 * time.Second}
	res := b.compose(Video{Format: Portrait, Quality: Full, scale: small, Scenes: []Scene{clip},
		Intro: Bumper{Clip: split}, Outro: Bumper{Clip: clip.Clip}})
	f := b.find(res, media.Final)
	if (f.Duration - 5500*time.Millisecond).Abs() > 100*time.Millisecond {
		t.Errorf("it plays %v", f.Duration)
	}
	width, height := 1080/small, 1920/small
	p := b.pixels(f.Path, 10, width, height)
	at := func(x, y int) [3]int {
		i := (y*width + x) * 3
		return [3]int{int(p[i]), int(p[i+1]), int(p[i+2])}
	}
	if left, right := at(4, height/2), at(width-5, height/2); left[0] < 200 || left[2] > 90 || right[2] < 200 ||
		right[0] > 90 {
		t.Errorf("the edges of the intro are %v and %v", left, right)
	}
	for _, y := range []int{10, height - 10} {
		if got := at(width/2, y); !near(got, 255, 255, 255) {
			t.Errorf("the ground at %d is %v", y, got)
		}
	}
	if silent, own := b.heardIn(f.Path, 0.1, 1.4, "anull"), b.heardIn(f.Path, 1.7, 3.3, "anull"); silent > -60 || own < -30 {
		t.Errorf("the intro has %v dB, and the clip %v dB", silent, own)
	}
}

// A clip of other proportions is cut, or seen whole on a ground of its own color. It keeps its length and its sound.
func TestAClipIsCutOrShownWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	split := filepath.Join(b.dir, "wide.mp4")
	b.ffmpeg("-f", "lavfi", "-i", "color=c=white:s=480x270:r=25:d=2.5", "-f", "lavfi", "-i", "sine=f=440:d=2.5", "-vf",
		"drawbox=x=0:y=100:w=30:h=70:color=red:t=fill,drawbox=x=450:y=100:w=30:h=70:color=blue:t=fill", "-c:v", "libx264", "-preset", "ultrafast",
		"-pix_fmt", "yuv420p", "-movflags", "+faststart", split)
	for _, quality := range []Quality{Full, Draft} {
		for _, whole := range []bool{true, false} {
			f := b.find(b.compose(Video{Format: Portrait, Quality: quality, scale: small,
				Scenes: []Scene{{Clip: split, Whole: whole, Length: 2500 * time.Millisecond}}}), media.Final)
			width, height := 1080/small, 1920/small
			p := b.pixels(f.Path, 5, width, height)
			left, right := (height/2*width+4)*3, (height/2*width+width-5)*3
			red, blue := p[left] > 200 && p[left+2] < 90, p[right+2] > 200 && p[right] < 90
			if red != whole || blue != whole {
				t.Errorf("%s: whole is %v, and the edges are %v and %v", quality, whole, p[left:left+3],
					p[right:right+3])
			}
			if (f.Duration-2500*time.Millisecond).Abs() > 100*time.Millisecond ||
				b.heardIn(f.Path, 0.2, 2.2, "anull") < -40 {
				t.Errorf("%s: it plays %v", quality, f.Duration)
			}
		}
	}
}

func TestABadIntroIsNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := Video{Format: Portrait, Quality: Draft, scale: small,
		Scenes: []Scene{{Picture: b.picture(0), Length: time.Second}}}
	broken := b.part("broken.mp4", []byte("no movie"))
	for about, change := range map[string]func(*Video){
		"/intro": func(v *Video) { v.Intro = Bumper{Clip: broken} },
		"/outro": func(v *Video) { v.Outro = Bumper{Picture: broken} },
	} {
		bad := v
		change(&bad)
		if e := b.fails(bad); e.Code != CodeUnreadable || e.About != about {
			t.Errorf("%s: %v", about, e)
		}
	}
	v.Intro = Bumper{Clip: "a", Picture: "b"}
	if e := b.fails(v); e.Code != CodeInvalid || e.About != "/intro" {
		t.Errorf("%v", e)
	}
}
