package compose

import (
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/timeline"
	"github.com/content-automation/api/testdata/breadth"
)

// The picture changes as often as the video wants, where a caption begins, and no shot is a flash.
func TestScenesAreCutOnTheBeat(t *testing.T) {
	for cuts, want := range map[int][2]int{0: {3, 3}, 4: {7, 9}, 5: {9, 11}, 7: {12, 15}} {
		f := &videoRun{Video: Video{Quality: Full, Cuts: cuts}, scenes: make([]scene, 3)}
		f.scenes[1].whole = true
		lengths := []int{190, 210, 200}
		for at := 9; at < 600; at += 23 {
			f.cues = append(f.cues, cue{Cue: timeline.Cue{From: timeline.Time(at)}})
		}
		for i := range lengths {
			f.scenes[i].length = lengths[i]
		}
		f.cut(lengths)
		all, begin := 0, 0
		for n, s := range f.scenes {
			shots, long := s.shown()
			for i, one := range shots {
				if long[i] < leastShot {
					t.Errorf("%d cuts: shot %d of scene %d has %d frames", cuts, i, n, long[i])
				}
				if i > 0 && (begin+one.begin-9)%23 != 0 {
					t.Errorf("%d cuts: shot %d of scene %d begins at %d, between captions", cuts, i, n, begin+one.begin)
				}
				if v := one.move; s.whole && min(v.From.Size, v.To.Size) < Zoom {
					t.Errorf("a whole picture is cropped to %v", v)
				}
			}
			all += len(shots)
			begin += s.length
		}
		if all < want[0] || all > want[1] {
			t.Errorf("%d cuts in 10 s are %d shots in 20 s", cuts, all)
		}
	}
}

// Stills and clips are seen in their shots, in every quality, and the video keeps its length.
func TestShotsAreSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	// A dark picture with a light middle, which is larger in a nearer shot.
	img := image.NewRGBA(image.Rect(0, 0, 270, 480))
	canvas.Fill(img, img.Rect, canvas.Color{R: 20, G: 20, B: 20})
	canvas.Fill(img, image.Rect(85, 170, 185, 310), canvas.White)
	still := b.part("middle.png", sample.PNG(img))
	clip := b.dir + "/middle.mp4"
	b.ffmpeg("-loop", "1", "-i", still, "-t", "6", "-r", "30", "-pix_fmt", "yuv420p", "-preset", "ultrafast", clip)
	for name, s := range map[string]Scene{"still": {Picture: still}, "clip": {Clip: clip}} {
		qualities := []Quality{Full, Draft}
		if s.Clip != "" {
			slices.Reverse(qualities)
		}
		for _, quality := range breadth.First(1, qualities...) {
			s.Text = "We pull nets out of the sea."
			v := Video{Format: Portrait, Quality: quality, scale: small, Language: "en", Cuts: 5, Scenes: []Scene{s},
				Narration: b.part("voice.wav", sample.Voice(5*time.Second))}
			f := b.find(b.compose(v), media.Final)
			probed := b.probe(f.Path)
			sizes := map[int]bool{}
			var numbers []int
			for frame := 1; frame < int(f.Duration.Seconds()*float64(quality.fps())); frame += quality.fps() {
				numbers = append(numbers, frame)
			}
			for _, p := range b.framesOf(f.Path, 1080/small, 1920/small, numbers...) {
				light := 0
				for i := 0; i < len(p); i += 3 {
					if p[i] > 128 {
						light++
					}
				}
				sizes[light*20/len(p)*3] = true
			}
			if len(sizes) < 2 {
				t.Errorf("%s, %s: the light part has the sizes %v", name, quality, sizes)
			}
			if got := number(t, probed.Streams[0].Frames); int(got) != timeline.Frames(f.Duration)/quality.every() {
				t.Errorf("%s, %s: %v frames of %v", name, quality, got, f.Duration)
			}
		}
	}
}

// A video ends with a card in the brand's color, unless it has an outro. Its poster has the headline.
func TestAVideoHasACoverAndAnEndCard(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dark := b.plain("dark", color.RGBA{10, 10, 10, 255})
	green := canvas.Color{R: 0, G: 110, B: 60}
	v := Video{Format: Portrait, Quality: Draft, scale: small, Language: "en", Headline: "Nets make shoes",
		Narration: b.part("voice.wav", sample.Voice(4*time.Second)),
		Brand:     &Brand{Name: "Acme", Call: "Try them", Colors: []canvas.Color{green}, Theme: "bold"},
		Scenes:    []Scene{{Text: "We pull nets out of the sea.", Picture: dark}}}
	ends := func(v Video) (canvas.Color, image.Image, *bench) {
		res := b.compose(v)
		f := b.find(res, media.Final)
		width, height := 1080/small, 1920/small
		p := b.pixels(f.Path, int(f.Duration.Seconds()*10)-2, width, height)
		at := (height*9/10*width + width/2) * 3
		return canvas.Color{R: p[at], G: p[at+1], B: p[at+2]}, b.image(b.find(res, media.Poster)), b
	}
	last, poster, _ := ends(v)
	if last.G < 80 || last.R > 40 {
		t.Errorf("at the end, there is %v", last)
	}
	if got := letters(poster, coverPortrait); poster.Bounds().Dx() != 1080 || got.Dx() < 300 || got.Dy() < 80 {
		t.Errorf("the poster of %v has its headline at %v", poster.Bounds(), got)
	}
	v.Outro, v.Headline = Bumper{Picture: dark}, ""
	if last, poster, _ = ends(v); last.G > 40 || poster.Bounds().Dx() != 1080/small {
		t.Errorf("with an outro, there is %v at the end, and the poster has %v", last, poster.Bounds())
	}
}

// Posts and slides have the wanted ratio, and texts are in the manner of the theme.
func TestRatiosAndThemes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	gray := b.plain("gray", color.RGBA{100, 100, 110, 255})
	main := canvas.Color{R: 160, G: 20, B: 60}
	for ratio, tall := range map[Ratio]int{"": 1350, Square: 1080, Four5: 1350, Two3: 1620} {
		res := b.compose(Picture{Use: Post, Path: gray, Ratio: ratio, Text: "Nets", Language: "en"})
		if f := res.Files[0]; f.Height != tall || b.image(f).Bounds().Dy() != tall {
			t.Errorf("%q: a post is %d tall", ratio, f.Height)
		}
	}
	for theme, want := range map[string]struct {
		ground canvas.Color
		at     [2]image.Point
	}{"bold": {main, [2]image.Point{{20, 20}, {20, 1040}}}, "editorial": {paper, [2]image.Point{{10, 10}, {10, 10}}}} {
		res := b.compose(Carousel{Language: "en", Ratio: Square,
			Brand:  &Brand{Theme: theme, Colors: []canvas.Color{main}},
			Slides: []Slide{{Path: gray, Heading: "Five facts"}, {Path: gray, Heading: "Nets", Body: "At sea"}}})
		for i, f := range res.Files {
			c := colorAt(b.image(f), want.at[i].X, want.at[i].Y)
			if !near([3]int{int(c.R), int(c.G), int(c.B)}, int(want.ground.R), int(want.ground.G), int(want.ground.B)) {
				t.Errorf("%s: slide %d has %v behind its text", theme, i+1, c)
			}
		}
	}
	// No text lies on the band of the first slide, nor where platforms cover a story.
	brand := &Brand{Name: "Acme", Theme: "bold", Colors: []canvas.Color{main}}
	slides := []Slide{{Path: gray, Heading: strings.Repeat("Nets ", 12)}, {Path: gray, Heading: "Nets"}}
	img := b.image(b.compose(Carousel{Language: "en", Brand: brand, Slides: slides}).Files[0])
	if got := letters(img, image.Rect(slideInset, slideTall-bandTall+2, wide, slideTall-bandTall+40)); !got.Empty() {
		t.Errorf("on the band, there is %v", got)
	}
	img = b.image(b.compose(Picture{Use: Story, Path: gray, Text: "Nets make shoes", Language: "en",
		Brand: brand}).Files[0])
	if got := letters(img, image.Rect(0, SafeStory.Max.Y+8, wide, storyTall)); !got.Empty() {
		t.Errorf("below the safe area of a story, there is %v", got)
	}
	if e := b.fails(Picture{Use: Post, Path: gray, Ratio: "3:2"}); e.About != "/ratio" {
		t.Errorf("another ratio: %v", e)
	}
	if e := b.fails(Picture{Use: Post, Path: gray, Brand: &Brand{Theme: "loud"}}); e.About != "/brand/theme" {
		t.Errorf("another theme: %v", e)
	}
}
