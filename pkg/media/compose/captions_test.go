package compose

import (
	"image/color"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/sample"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// The spoken word has another color, which moves on with the voice.
func TestTheSpokenWordIsHighlighted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const text = "Nets make shoes"
	for _, c := range []struct {
		style CaptionStyle
		moves bool
		plate bool
	}{{"", true, true}, {Words, true, true}, {Lines, false, true}, {Outline, true, false}} {
		v := Video{
			Format: Portrait, Quality: Full, scale: 2, Captions: true, CaptionStyle: c.style, Language: "en",
			Narration: b.part("voice.wav", sample.Voice(3*time.Second)),
			Marks: []timeline.Mark{{Offset: 0, At: 0},
				{Offset: 5, At: time.Second}, {Offset: 10, At: 2 * time.Second}},
			Scenes: []Scene{{Text: text, Picture: b.plain("gray", color.RGBA{128, 128, 128, 255})}},
		}
		res := b.compose(v)
		var at []int
		for _, frame := range []int{24, 54, 84} {
			p := b.pixels(b.find(res, media.Final).Path, frame, 540, 960)
			sum, n, dark := 0, 0, 0
			for i := 0; i < len(p); i += 3 {
				if p[i] > 190 && p[i+1] > 140 && p[i+2] < 90 { // yellow
					sum, n = sum+i/3%540, n+1
				}
				if p[i] < 60 && p[i+1] < 60 {
					dark++
				}
			}
			if n > 60 {
				at = append(at, sum/n)
			}
			if c.plate != (dark > 9000) {
				t.Errorf("%q: frame %d has %d dark pixels", c.style, frame, dark)
			}
		}
		if c.moves && (len(at) != 3 || !slices.IsSorted(at) || at[2] < at[0]+100) || !c.moves && len(at) > 0 {
			t.Errorf("%q: the spoken word is at %v", c.style, at)
		}
	}
}

// Whatever the colors of the brand, the spoken word can be read, and differs from the others.
func TestTheHighlightHasContrast(t *testing.T) {
	for r := 0; r < 256; r += 15 {
		for g := 0; g < 256; g += 15 {
			for bl := 0; bl < 256; bl += 15 {
				ground := canvas.Color{R: uint8(r), G: uint8(g), B: uint8(bl)}
				brand := &Brand{Colors: []canvas.Color{ground, {R: 255, G: 102}}}
				letters := canvas.On(ground)
				c := brand.highlight(ground, letters)
				if canvas.Contrast(c.Luminance(), ground.Luminance()) < canvas.MinContrast {
					t.Fatalf("on %v, the spoken word is %v", ground, c)
				}
			}
		}
	}
	if c := (*Brand)(nil).highlight(canvas.Black, canvas.White); c == canvas.White {
		t.Error("without a brand, the spoken word is like the others")
	}
}
