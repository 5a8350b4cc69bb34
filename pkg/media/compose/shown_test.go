package compose

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image/jpeg"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/media"
)

// The videos of testdata/media/videos show seven bars of 75 % in the middle half of their height, and a white disc in
// the middle below them. Flash and beep of the sync files come at 2.0 s.

// filmed returns the path of a video of testdata.
func filmed(name string) string {
	return filepath.Join("..", "..", "..", "testdata", "media", "videos", name+".mp4")
}

// seenFrame is a decoded frame, in which a picture lies at a place that may be larger than it.
type seenFrame struct {
	rgb           []byte
	width, height int
	// left, top, wide and tall are those of the whole picture.
	left, top, wide, tall float64
}

// at returns the color at a share of the picture, or false outside of the frame.
func (s seenFrame) at(x, y float64) (c [3]int, ok bool) {
	px, py := int(s.left+x*s.wide), int(s.top+y*s.tall)
	if px < 0 || py < 0 || px >= s.width || py >= s.height {
		return c, false
	}
	for i := range c {
		c[i] = int(s.rgb[(py*s.width+px)*3+i])
	}
	return c, true
}

// placed puts a picture of a size into the middle of a frame: whole, or covering it.
func (s seenFrame) placed(width, height float64, whole bool) seenFrame {
	across, down := float64(s.width)/width, float64(s.height)/height
	by := max(across, down)
	if whole {
		by = min(across, down)
	}
	s.wide, s.tall = width*by, height*by
	s.left, s.top = (float64(s.width)-s.wide)/2, (float64(s.height)-s.tall)/2
	return s
}

// faults returns what is not as it was filmed: colors that are off by more than a number of levels, a white that is
// darker than least, and a disc that is no circle.
func (s seenFrame) faults(off, least int) (all []string) {
	bars := [][3]int{{191, 191, 191}, {191, 191, 0}, {0, 191, 191}, {0, 191, 0}, {191, 0, 191},
		{191, 0, 0}, {0, 0, 191}}
	seen := 0
	for i, want := range bars {
		got, ok := s.at((float64(i)+0.5)/7, 0.33)
		if !ok {
			continue
		}
		seen++
		for c := range got {
			if d := got[c] - want[c]; max(d, -d) > off {
				all = append(all, fmt.Sprintf("bar %d is %v, not %v", i, got, want))
				break
			}
		}
	}
	if disc, ok := s.at(0.5, 0.85); !ok || min(disc[0], disc[1], disc[2]) < least || seen < 2 {
		all = append(all, fmt.Sprintf("the disc is %v, and %d bars are seen", disc, seen))
	}
	bright := func(x, y float64) bool {
		c, ok := s.at(x, y)
		return ok && min(c[0], c[1], c[2]) > 205
	}
	across, down, step := 0.0, 0.0, 1/max(s.wide, s.tall)
	for d := -0.5; d < 0.5; d += step {
		if bright(0.5+d, s.middle()) {
			across += step * s.wide
		}
		if bright(0.5, 0.5+d/2+0.25) {
			down += step / 2 * s.tall
		}
	}
	if across < 8 || down < across*0.92-1 || down > across*1.08+1 {
		all = append(all, fmt.Sprintf("the disc has %.0f x %.0f pixels", across, down))
	}
	return all
}

// middle returns the height of the middle of the disc.
func (s seenFrame) middle() float64 {
	first, last := 0.0, 0.0
	for y := 0.5; y < 1; y += 0.5 / s.tall {
		if c, ok := s.at(0.5, y); ok && min(c[0], c[1], c[2]) > 205 {
			if first == 0 {
				first = y
			}
			last = y
		}
	}
	return (first + last) / 2
}

// shown is a video, with what is right of it.
type shown struct {
	name          string
	width, height float64
	off, least    int
}

var filmedVideos = []shown{
	{"rot_b", 360, 640, 6, 240},
	{"sar43", 640, 360, 6, 240},
	{"tagged709", 1280, 720, 6, 250},
	{"untagged709", 1280, 720, 6, 250},
	{"fullrange709", 1280, 720, 6, 250},
	{"hdr_hlg", 1280, 720, 12, 220},
	{"hdr_pq", 1280, 720, 12, 220},
	{"frag_full", 360, 640, 6, 240},
	{"frag_empty", 360, 640, 6, 240},
}

// A video is drawn as its file says that it is seen: turned, with square pixels and in its colors. That holds whole and
// cropped, as intro and outro, for the poster and for the thumbnail.
func TestAVideoIsDrawnAsItsFileSays(t *testing.T) {
	t.Parallel()
	for _, v := range filmedVideos {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			newBench(t).draws(filmed(v.name), v)
		})
	}
}

func (b *bench) draws(path string, v shown) {
	b.t.Helper()
	check := func(what string, s seenFrame, whole bool) {
		b.t.Helper()
		for _, fault := range s.placed(v.width, v.height, whole).faults(v.off, v.least) {
			b.t.Errorf("%s: %s", what, fault)
		}
	}
	for _, c := range []struct {
		format  Format
		whole   bool
		quality Quality
	}{{Portrait, true, Full}, {Landscape, true, Draft}, {Landscape, false, Full}} {
		if c.format == Landscape && v.width < v.height && !c.whole {
			c.format = Portrait
		}
		bumper := Bumper{Clip: path}
		w := Video{Format: c.format, Quality: c.quality, Intro: bumper, Outro: bumper, scale: 4,
			Scenes: []Scene{{Clip: path, Length: time.Second, Whole: c.whole}}}
		res := b.compose(w)
		width, height := w.size()
		final := b.find(res, media.Final)
		each := int(final.Duration.Seconds()-1) / 2 * c.quality.fps()
		numbers := map[string]int{"intro": 5, "scene": each + 5, "outro": each + c.quality.fps() + 5}
		frames := b.framesOf(final.Path, width, height, slices.Collect(maps.Values(numbers))...)
		for what, frame := range numbers {
			s := seenFrame{rgb: frames[frame], width: width, height: height}
			check(fmt.Sprintf("%s, %s, whole: %t", what, c.format, c.whole), s, c.whole || what != "scene")
		}
		poster := b.find(res, media.Poster)
		check("poster", seenFrame{rgb: b.jpeg(poster.Path), width: width, height: height}, c.whole)
	}
	small, err := b.Frame(b.t.Context(), path)
	if err != nil {
		b.t.Fatal(err)
	}
	config, err := jpeg.DecodeConfig(bytes.NewReader(small))
	if err != nil {
		b.t.Fatal(err)
	}
	s := seenFrame{rgb: b.jpeg(b.part("small.jpg", small)), width: config.Width, height: config.Height}
	if want := int(float64(config.Width) * v.height / v.width); config.Height < want-2 || config.Height > want+2 {
		b.t.Errorf("the thumbnail has %d x %d pixels", config.Width, config.Height)
	}
	check("thumbnail", s, true)
}

// jpeg decodes a JPEG as readers do, by another decoder than ffmpeg's.
func (b *bench) jpeg(path string) (rgb []byte) {
	b.t.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	img, err := jpeg.Decode(f)
	if err != nil {
		b.t.Fatal(err)
	}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			red, green, blue, _ := img.At(x, y).RGBA()
			rgb = append(rgb, byte(red>>8), byte(green>>8), byte(blue>>8))
		}
	}
	return rgb
}

// copied makes another file of a video without encoding it again.
func (b *bench) copied(name string, args ...string) string {
	b.t.Helper()
	to := filepath.Join(b.dir, name+".mp4")
	b.ffmpeg(append(args, to)...)
	return to
}

// Turns and mirrors of all kinds, in H.264 and HEVC, in the matrix of the track and of the movie.
func TestAVideoIsTurnedByItsMatrices(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	from := filmed("tagged709")
	// The bars are seen from the left to the right after what a file says, so the frames are stored the other way.
	stored := func(name, filter, codec string, turn ...string) string {
		flat := b.copied("flat-"+name, "-i", from, "-t", "1.2", "-vf", filter, "-c:v", codec, "-preset", "ultrafast")
		return b.copied(name, append(turn, "-i", flat, "-c", "copy")...)
	}
	const ninety, quarter, half = "90", "270", "180"
	videos := map[string]string{
		"90":           stored("90", "transpose=clock", "libx264", "-display_rotation", ninety),
		"270":          stored("270", "transpose=cclock", "libx264", "-display_rotation", quarter),
		"180":          stored("180", "hflip,vflip", "libx264", "-display_rotation", half),
		"mirror":       stored("mirror", "hflip", "libx264", "-display_hflip"),
		"flip":         stored("flip", "vflip", "libx264", "-display_vflip"),
		"HEVC":         stored("hevc", "transpose=clock", "libx265", "-display_rotation", ninety),
		"of the movie": b.moved(stored("movie", "transpose=clock", "libx264", "-display_rotation", ninety)),
	}
	for name, path := range videos {
		t.Run(name, func(t *testing.T) {
			small, err := b.Frame(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			s := seenFrame{rgb: b.jpeg(b.part(name+".jpg", small)), width: 400, height: 224}
			for _, fault := range s.placed(400, 225, true).faults(10, 240) {
				t.Error(fault)
			}
		})
	}
}

// moved moves the matrix of the first track of a file to its movie.
func (b *bench) moved(path string) string {
	b.t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	movie, track := bytes.Index(content, []byte("mvhd"))+4+36, bytes.Index(content, []byte("tkhd"))+4+40
	whole := bytes.Clone(content[movie:][:36])
	copy(content[movie:], content[track:][:36])
	copy(content[track:], whole)
	return b.part("moved.mp4", content)
}

// Pixels that only the headers of the codec say, wide colors without HDR, and HDR with data of its mastering.
func TestAVideoIsDrawnAsItsCodecSays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	aspect := b.copied("aspect", "-i", filmed("sar43"), "-an", "-t", "1.2", "-vf", "setsar=4/3", "-c:v", "libx264",
		"-preset", "ultrafast")
	content, err := os.ReadFile(aspect)
	if err != nil {
		t.Fatal(err)
	}
	copy(content[bytes.Index(content, []byte("pasp")):], "free")
	wide := "zscale=tin=709:min=709:pin=709:rin=limited:t=709:m=2020_ncl:p=2020,format=yuv420p10le"
	const mastered = "log-level=error:hdr10=1:max-cll=1000,400:" +
		"master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)"
	for name, c := range map[string]struct {
		path string
		v    shown
	}{
		"aspect": {b.part("vui.mp4", content), shown{"", 640, 360, 8, 240}},
		"wide": {b.copied("wide", "-i", filmed("tagged709"), "-t", "1.2", "-vf", wide, "-c:v", "libx265",
			"-preset", "ultrafast", "-crf", "8", "-x265-params",
			"log-level=error", "-color_primaries", "bt2020", "-color_trc", "bt2020-10", "-colorspace", "bt2020nc"),
			shown{"", 1280, 720, 22, 240}},
		"mastered": {b.copied("mastered", "-i", filmed("hdr_pq"), "-t", "1.2", "-c:v", "libx265",
			"-preset", "ultrafast", "-crf", "8", "-x265-params", mastered,
			"-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc"),
			shown{"", 1280, 720, 22, 220}},
	} {
		small, err := b.Frame(t.Context(), c.path)
		if err != nil {
			t.Fatal(err)
		}
		config, err := jpeg.DecodeConfig(bytes.NewReader(small))
		if err != nil {
			t.Fatal(err)
		}
		s := seenFrame{rgb: b.jpeg(b.part(name+".jpg", small)), width: config.Width, height: config.Height}
		for _, fault := range s.placed(c.v.width, c.v.height, true).faults(c.v.off, c.v.least) {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

// events returns the times of the first bright frame and of the first sound of a video, after a time.
func (b *bench) events(path string, after time.Duration) (flash, beep float64) {
	b.t.Helper()
	pictures, sound := filepath.Join(b.dir, "flash.raw"), filepath.Join(b.dir, "beep.raw")
	b.ffmpeg("-i", path, "-map", "0:v", "-vf", "scale=8:8", "-pix_fmt", "gray", "-f", "rawvideo", pictures,
		"-map", "0:a",
		"-ac", "1", "-ar", "48000", "-f", "s16le", sound)
	frames, err := os.ReadFile(pictures)
	if err != nil {
		b.t.Fatal(err)
	}
	samples, err := os.ReadFile(sound)
	if err != nil {
		b.t.Fatal(err)
	}
	flash, beep = -1, -1
	const rate = 48000
	for i := int(after.Seconds() * 30); i < len(frames)/64 && flash < 0; i++ {
		if frames[i*64+27] > 150 {
			flash = float64(i) / 30
		}
	}
	for i := int(after.Seconds() * rate); i < len(samples)/2 && beep < 0; i++ {
		if v := int16(binary.LittleEndian.Uint16(samples[2*i:])); v > 2000 || v < -2000 {
			beep = float64(i) / rate
		}
	}
	return flash, beep
}

// What is seen and what is heard at a moment stay within 40 ms of each other, whenever the tracks begin.
func TestSoundAndPictureStayTogether(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	sync := filmed("sync")
	const fragments = "frag_keyframe+empty_moov+delay_moov+default_base_moof"
	for name, c := range map[string]struct {
		path        string
		flash, beep float64
	}{
		"together":   {sync, 2, 2},
		"late sound": {filmed("sync_late_audio"), 2, 2},
		"late pictures": {b.copied("late", "-itsoffset", "0.7", "-i", sync, "-i", sync, "-map", "0:v", "-map",
			"1:a", "-c", "copy"), 2.7, 2},
		"both late":          {b.copied("both", "-itsoffset", "1", "-i", sync, "-c", "copy"), 2, 2},
		"a negative start":   {b.copied("cut", "-ss", "0.5", "-i", sync, "-c", "copy"), 1.5, 1.5},
		"fragments":          {b.copied("frag", "-i", sync, "-c", "copy", "-movflags", fragments), 2, 2},
		"60 frames a second": {b.copied("60", "-i", sync, "-r", "60", "-preset", "ultrafast", "-c:a", "copy"), 2, 2},
		"50 and a late sound": {b.copied("50", "-i", filmed("sync_late_audio"), "-r", "50", "-preset", "ultrafast", "-c:a",
			"copy"), 2, 2},
		"frames when they come": {b.copied("vfr", "-i", sync, "-vf", "select=not(mod(n\\,3))+gt(n\\,45)",
			"-fps_mode", "vfr", "-preset", "ultrafast",
			"-c:a", "copy"), 2, 2},
	} {
		for _, place := range []string{"scene", "intro", "outro"} {
			if place != "scene" && !strings.HasPrefix(name, "late") {
				continue
			}
			w := Video{Format: Portrait, Quality: Full, scale: 4,
				Scenes: []Scene{{Clip: c.path, Length: 3 * time.Second, Whole: true}}}
			after := time.Duration(0)
			switch still := []Scene{{Picture: b.picture(0), Length: time.Second}}; place {
			case "intro":
				w.Scenes, w.Intro = still, Bumper{Clip: c.path}
			case "outro":
				w.Scenes, w.Outro, after = still, Bumper{Clip: c.path}, time.Second
			}
			flash, beep := b.events(b.find(b.compose(w), media.Final).Path, after)
			at := after.Seconds()
			if d := (flash - c.flash) - (beep - c.beep); max(d, -d) > 0.04 ||
				max(flash-at-c.flash, c.flash+at-flash) > 0.07 {
				t.Errorf("%s, %s: the flash comes at %.3f, the beep at %.3f; want %.1f and %.1f", name, place, flash-at,
					beep-at, c.flash, c.beep)
			}
		}
	}
}
