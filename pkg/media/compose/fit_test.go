package compose

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/fit"
	"github.com/content-automation/api/pkg/media/compose/sample"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// checkVideo checks a final video against what is promised, and against the platforms.
func (b *bench) checkVideo(res Result, width, height int, limits func(fit.Limits) *fit.Video) {
	b.t.Helper()
	f := b.find(res, media.Final)
	p := b.probe(f.Path)
	facts := b.facts(f, p)
	if facts.Width != width || facts.Height != height || f.Width != width || f.Height != height {
		b.t.Errorf("it has %d x %d pixels", facts.Width, facts.Height)
	}
	if math.Abs(facts.Loudness+14) > 1 || facts.Peak > -1 {
		b.t.Errorf("its loudness is %.1f LUFS, its true peak %.1f dBTP", facts.Loudness, facts.Peak)
	}
	if facts.FPS != 30 || facts.Sample != 48_000 || facts.Channels != 2 {
		b.t.Errorf("it has %.3f frames a second, and %d channels of %d Hz", facts.FPS, facts.Channels, facts.Sample)
	}
	frames := timeline.Frames(f.Duration)
	for _, s := range p.Streams {
		if off := number(b.t, s.Duration) - f.Duration.Seconds(); math.Abs(off) > 0.035 ||
			number(b.t, s.StartTime) != 0 {
			b.t.Errorf("the %s begins at %s and plays %s s, not %v", s.CodecType, s.StartTime, s.Duration, f.Duration)
		}
		if s.CodecType == "video" && (s.Profile != "High" || s.Aspect != "1:1" || s.ColorSpace != "bt709" ||
			int(number(b.t, s.Frames)) != frames) {
			b.t.Errorf("the picture has the profile %s, pixels of %s, the colors of %s and %s of %d frames", s.Profile,
				s.Aspect, s.ColorSpace, s.Frames, frames)
		}
	}
	b.checkKeyFrames(p)
	fits := 0
	for _, platform := range fit.Platforms {
		if l := limits(fit.Table[platform]); l != nil {
			fits++
			for _, fault := range l.Check(facts) {
				b.t.Errorf("%s does not take it: %s", platform, fault)
			}
		}
	}
	if fits == 0 {
		b.t.Error("no platform has this kind")
	}
	poster := b.find(res, media.Poster)
	if got := b.facts(poster, b.probe(poster.Path)); got.Width != width || got.Height != height ||
		got.Codec != "mjpeg" {
		b.t.Errorf("its poster is %+v", got)
	}
}

// checkKeyFrames checks that frames follow each other evenly, that a key frame comes every
// two seconds, and that nothing shown before one is stored behind it.
func (b *bench) checkKeyFrames(p probed) {
	b.t.Helper()
	const ticks = 15360 // in a second
	var key int64
	var shown []int64
	for i, packet := range p.Packets {
		if packet.Stream != 0 {
			continue
		}
		shown = append(shown, packet.Pts)
		if packet.Flags[0] == 'K' {
			key = packet.Pts
		}
		if packet.Pts < key || packet.Pts-key >= 2*ticks {
			b.t.Errorf("packet %d is shown %.2f s after its key frame", i, float64(packet.Pts-key)/ticks)
			return
		}
	}
	slices.Sort(shown)
	for i, at := range shown {
		if at != int64(i)*ticks/timeline.FPS {
			b.t.Fatalf("frame %d is shown at %d of %d", i, at, ticks)
		}
	}
}

func TestAShortVideoFitsThePlatforms(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	res := b.compose(Video{
		Format: Portrait, Quality: Full, Fade: true, Captions: true, Language: "en", Brand: b.brand(),
		Narration: b.part("voice.wav", sample.Voice(2200*time.Millisecond)),
		Music:     b.part("track.wav", sample.Track(3*time.Second)),
		Scenes:    []Scene{{Text: "Made of nets.", Picture: b.picture(0)}, {Text: "Try it!", Picture: b.picture(2)}},
	})
	b.checkVideo(res, 1080, 1920, func(l fit.Limits) *fit.Video { return l.Short })
	if got := b.find(res, media.Final).Duration; got != 3200*time.Millisecond {
		t.Errorf("2.2 s of voice make a video of %v", got)
	}
}

func TestALongVideoFitsThePlatforms(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	res := b.compose(Video{
		Format: Landscape, Quality: Full, Captions: true, Language: "en",
		Narration: b.part("voice.wav", sample.Voice(2200*time.Millisecond)),
		Scenes:    []Scene{{Text: "Made of nets.", Picture: b.picture(1)}, {Text: "Try it!", Picture: b.picture(2)}},
	})
	b.checkVideo(res, 1920, 1080, func(l fit.Limits) *fit.Video { return l.Long })
}

func TestTheClipOfAStoryFitsThePlatforms(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	clip := b.clip(3200*time.Millisecond, 360, 640, true)
	res := b.compose(Video{Format: Portrait, Quality: Draft,
		Scenes: []Scene{{Clip: clip, Length: 3200 * time.Millisecond}}})
	b.checkVideo(res, 1080, 1920, func(l fit.Limits) *fit.Video { return l.Story })
}

func TestAMusicClipFitsThePlatforms(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	res := b.compose(MusicClip{
		Track: b.part("track.wav", sample.Track(16*time.Second)), Cover: b.picture(2), Length: 15 * time.Second,
		Title: "Sea song", Quality: Draft, Brand: b.brand(),
	})
	b.checkVideo(res, 1080, 1920, func(l fit.Limits) *fit.Video { return l.Short })
}

// checkPicture checks a final picture against the platforms.
func (b *bench) checkPicture(f File, width, height int, limits func(fit.Limits) *fit.Picture) {
	b.t.Helper()
	facts, fits := b.facts(f, b.probe(f.Path)), 0
	if facts.Width != width || facts.Height != height {
		b.t.Errorf("it has %d x %d pixels", facts.Width, facts.Height)
	}
	for _, platform := range fit.Platforms {
		if l := limits(fit.Table[platform]); l != nil {
			fits++
			for _, fault := range l.Check(facts) {
				b.t.Errorf("%s does not take it: %s", platform, fault)
			}
		}
	}
	if fits == 0 {
		b.t.Error("no platform has this kind")
	}
}

func TestPicturesFitThePlatforms(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	image := func(l fit.Limits) *fit.Picture { return l.Image }
	b.checkPicture(b.find(b.compose(Picture{Use: Post, Path: b.picture(1)}), media.Final), 1080, 1350, image)
	b.checkPicture(b.find(b.compose(Picture{Use: Story, Path: b.picture(1), Text: "New today", Brand: b.brand()}),
		media.Final), 1080, 1920,
		func(l fit.Limits) *fit.Picture { return l.Card })
	slides := b.compose(Carousel{Brand: b.brand(), Language: "en",
		Slides: []Slide{{b.picture(0), "One"}, {b.picture(1), "Two"}, {b.picture(2), ""}}})
	if len(slides.Files) != 3 {
		t.Errorf("three slides are %d files", len(slides.Files))
	}
	for _, f := range slides.Files {
		b.checkPicture(f, 1080, 1350, image)
	}
}

func TestTheTableRefusesWhatNoPlatformTakes(t *testing.T) {
	good := fit.Facts{
		Width: 1080, Height: 1920, Bytes: 10_000_000, Codec: "h264", Pixels: "yuv420p", FPS: 30,
		Length: 20 * time.Second, Rate: 4_000_000,
		Audio: "aac", Sample: 48_000, Channels: 2, Faststart: true,
	}
	for name, change := range map[string]func(*fit.Facts){
		"":                 func(*fit.Facts) {},
		"another codec":    func(f *fit.Facts) { f.Codec = "vp9" },
		"4:4:4":            func(f *fit.Facts) { f.Pixels = "yuv444p" },
		"no sound":         func(f *fit.Facts) { f.Audio = "" },
		"tiny":             func(f *fit.Facts) { f.Width, f.Height = 90, 160 },
		"many frames":      func(f *fit.Facts) { f.FPS = 120 },
		"an hour":          func(f *fit.Facts) { f.Length = time.Hour },
		"too many bytes":   func(f *fit.Facts) { f.Bytes = 400_000_000 },
		"96 kHz":           func(f *fit.Facts) { f.Sample = 96_000 },
		"moov at the end":  func(f *fit.Facts) { f.Faststart = false },
		"an edit list":     func(f *fit.Facts) { f.EditList = true },
		"too many bits":    func(f *fit.Facts) { f.Rate = 30_000_000 },
		"six channels":     func(f *fit.Facts) { f.Channels = 6 },
		"a wide panorama ": func(f *fit.Facts) { f.Width, f.Height = 1920, 128 },
	} {
		f := good
		change(&f)
		faults := fit.Table[fit.Instagram].Short.Check(f)
		if (len(faults) == 0) != (name == "") {
			t.Errorf("%q: %v", name, faults)
		}
	}
}
