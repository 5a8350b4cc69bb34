package compose

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// formFaults returns the differences of a video from the form that all platforms take. Instagram is the strictest: at
// most 25 Mbit a second, no edit list, and the index at the beginning.
func formFaults(f facts) (all []string) {
	for name, ok := range map[string]bool{
		"codec":     f.Codec == "h264" && f.Pixels == "yuv420p",
		"frames":    f.FPS == 30,
		"rate":      f.Rate <= 25_000_000,
		"sound":     f.Audio == "aac" && f.Sample == 48_000 && f.Channels == 2,
		"index":     f.Faststart,
		"edit list": !f.EditList,
	} {
		if !ok {
			all = append(all, name)
		}
	}
	return all
}

// boundFaults returns the bounds of a platform that a file exceeds.
func boundFaults(f facts, l *platform.File) (all []string) {
	short := min(f.Width, f.Height)
	ratio, sides := float64(f.Width)/float64(max(f.Height, 1)), f.Width+f.Height
	for name, ok := range map[string]bool{
		"bytes": l.MaxBytes == 0 || f.Bytes <= l.MaxBytes,
		"ratio": ratio >= l.MinRatio-0.001 && (l.MaxRatio == 0 || ratio <= l.MaxRatio+0.001),
		"sides": l.MaxSides == 0 || sides <= l.MaxSides,
		"width": l.MaxWidth == 0 || f.Width <= l.MaxWidth,
		"short": short >= l.MinShort && (l.MaxShort == 0 || short <= l.MaxShort),
		"long":  l.MaxLong == 0 || max(f.Width, f.Height) <= l.MaxLong,
		"time":  f.Length >= l.MinTime && (l.MaxTime == 0 || f.Length <= l.MaxTime),
	} {
		if !ok {
			all = append(all, name)
		}
	}
	return all
}

// checkBounds checks a file against the capabilities of all platforms that take its kind.
func (b *bench) checkBounds(f facts, kind platform.Kind, of func(platform.Rule) *platform.File) {
	b.t.Helper()
	takes := 0
	for _, row := range registry.Rows() {
		if l := of(row.Capabilities.Kinds[kind]); l != nil {
			takes++
			if faults := boundFaults(f, l); len(faults) > 0 {
				b.t.Errorf("%s refuses it: %v", row.Name, faults)
			}
		}
	}
	if takes == 0 {
		b.t.Errorf("no platform takes a %s", kind)
	}
}

// checkVideo checks a final video against its form, and against the platforms.
func (b *bench) checkVideo(res Result, width, height int, kind platform.Kind) {
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
	if faults := formFaults(facts); len(faults) > 0 {
		b.t.Errorf("another form: %v: %+v", faults, facts)
	}
	b.checkBounds(facts, kind, func(r platform.Rule) *platform.File { return r.Video })
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
		Narration: b.part("voice.wav", sample.Voice(3200*time.Millisecond)),
		Music:     b.part("track.wav", sample.Track(3*time.Second)),
		Scenes:    []Scene{{Text: "Made of nets.", Picture: b.picture(0)}, {Text: "Try it!", Picture: b.picture(2)}},
	})
	b.checkVideo(res, 1080, 1920, platform.KindVideo)
	if got := b.find(res, media.Final).Duration; got != 4200*time.Millisecond {
		t.Errorf("3.2 s of voice make a video of %v", got)
	}
}

func TestTheClipOfAStoryFitsThePlatforms(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	clip := b.clip(3200*time.Millisecond, 360, 640, true)
	res := b.compose(Video{Format: Portrait, Quality: Full,
		Scenes: []Scene{{Clip: clip, Length: 3200 * time.Millisecond}}})
	b.checkVideo(res, 1080, 1920, platform.KindStory)
}

// checkPicture checks a final picture against the platforms.
func (b *bench) checkPicture(f File, width, height int, kind platform.Kind) {
	b.t.Helper()
	facts := b.facts(f, b.probe(f.Path))
	if facts.Width != width || facts.Height != height || facts.Codec != "mjpeg" {
		b.t.Errorf("it is %+v", facts)
	}
	b.checkBounds(facts, kind, func(r platform.Rule) *platform.File { return r.Image })
}

func TestPicturesFitThePlatforms(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.checkPicture(b.find(b.compose(Picture{Use: Post, Path: b.picture(1)}), media.Final), 1080, 1350,
		platform.KindPost)
	b.checkPicture(b.find(b.compose(Picture{Use: Story, Path: b.picture(1), Text: "New today", Brand: b.brand()}),
		media.Final), 1080, 1920, platform.KindStory)
	slides := b.compose(Carousel{Brand: b.brand(), Language: "en",
		Slides: []Slide{{Path: b.picture(0), Heading: "One"}, {Path: b.picture(1), Heading: "Two"},
			{Path: b.picture(2)}}})
	if len(slides.Files) != 3 {
		t.Errorf("three slides are %d files", len(slides.Files))
	}
	for _, f := range slides.Files {
		b.checkPicture(f, 1080, 1350, platform.KindCarousel)
	}
}

// Another form, and a file that is too large, too long or too wide, are found.
func TestOtherVideosDoNotFit(t *testing.T) {
	instagram, _ := registry.Find("instagram")
	good := facts{
		Width: 1080, Height: 1920, Bytes: 10_000_000, Codec: "h264", Pixels: "yuv420p", FPS: 30,
		Length: 20 * time.Second, Rate: 4_000_000,
		Audio: "aac", Sample: 48_000, Channels: 2, Faststart: true,
	}
	for name, change := range map[string]func(*facts){
		"":                 func(*facts) {},
		"another codec":    func(f *facts) { f.Codec = "vp9" },
		"4:4:4":            func(f *facts) { f.Pixels = "yuv444p" },
		"no sound":         func(f *facts) { f.Audio = "" },
		"many frames":      func(f *facts) { f.FPS = 120 },
		"an hour":          func(f *facts) { f.Length = time.Hour },
		"too many bytes":   func(f *facts) { f.Bytes = 400_000_000 },
		"96 kHz":           func(f *facts) { f.Sample = 96_000 },
		"moov at the end":  func(f *facts) { f.Faststart = false },
		"an edit list":     func(f *facts) { f.EditList = true },
		"too many bits":    func(f *facts) { f.Rate = 30_000_000 },
		"six channels":     func(f *facts) { f.Channels = 6 },
		"a wide panorama ": func(f *facts) { f.Width, f.Height = 1920, 128 },
	} {
		f := good
		change(&f)
		limit := instagram.Capabilities.Kinds[platform.KindVideo].Video
		faults := slices.Concat(formFaults(f), boundFaults(f, limit))
		if (len(faults) == 0) != (name == "") {
			t.Errorf("%q: %v", name, faults)
		}
	}
}

// Each format that is made fits each platform that takes its kind. Instagram alone refuses posts and slides in 2:3,
// which are made for others.
func TestFormatsFitThePlatforms(t *testing.T) {
	type format struct {
		name          string
		width, height int
		video         bool
	}
	size := func(f Format) (int, int) {
		at := Video{Format: f}.full()
		return at.X, at.Y
	}
	made := map[platform.Kind][]format{platform.KindStory: {{"story", wide, storyTall, false}}}
	for _, kind := range []platform.Kind{platform.KindVideo, platform.KindMusicClip, platform.KindStory} {
		for _, f := range []Format{Portrait, Landscape} {
			if w, h := size(f); f == Portrait || kind == platform.KindVideo {
				made[kind] = append(made[kind], format{string(f), w, h, true})
			}
		}
	}
	for _, kind := range []platform.Kind{platform.KindPost, platform.KindCarousel} {
		for _, r := range Ratios {
			made[kind] = append(made[kind], format{string(r), wide, r.tall(), false})
		}
	}
	for _, row := range registry.Rows() {
		for kind, formats := range made {
			rule, ok := row.Capabilities.Kinds[kind]
			for _, f := range formats {
				if !ok || f.video && rule.Video == nil || !f.video && rule.Image == nil {
					continue
				}
				m := platform.Media{MIME: "image/jpeg", Bytes: 900_000, Width: f.width, Height: f.height}
				if f.video {
					m.MIME, m.Duration = "video/mp4", 20*time.Second
				}
				post := platform.Post{Kind: kind, Title: "A shoe", Caption: "It runs",
					Media: slices.Repeat([]platform.Media{m}, max(rule.MinMedia, 1))}
				found := platform.Fit(row.Name, post, row.Capabilities)
				if refused := row.Name == "instagram" && f.name == string(Two3); (len(found) > 0) != refused {
					t.Errorf("%s of %s in %s: %+v", kind, row.Name, f.name, found)
				}
			}
		}
	}
}
