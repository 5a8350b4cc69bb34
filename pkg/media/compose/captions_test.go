package compose

import (
	"fmt"
	"image"
	"image/color"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/theme"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// The spoken word has another color, which moves on with the voice.
func TestTheSpokenWordIsHighlighted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const text = "Our new net"
	for _, c := range []struct {
		style CaptionStyle
		moves bool
		plate bool
	}{{"", true, true}, {Words, true, true}, {Lines, false, true}, {Outline, true, false}} {
		v := Video{
			Format: Portrait, Quality: Full, scale: 2, Captions: true, CaptionStyle: c.style, Language: "en",
			Narration: b.part("voice.wav", sample.Voice(3*time.Second)),
			Marks: []timeline.Mark{{Offset: 0, At: 0},
				{Offset: 4, At: time.Second}, {Offset: 8, At: 2 * time.Second}},
			Scenes: []Scene{{Text: text, Picture: b.plain("gray", color.RGBA{128, 128, 128, 255})}},
		}
		res := b.compose(v)
		var at []int
		numbers := []int{24, 54, 84}
		frames := b.framesOf(b.find(res, media.Final).Path, 540, 960, numbers...)
		for _, frame := range numbers {
			p := frames[frame]
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

// known are the main colors of well-known brands.
var known = []string{"#f40009", "#e50914", "#00704a", "#0077ff", "#e20074", "#ff6600", "#1877f2", "#25d366", "#ff0000",
	"#ffcc00", "#fc6d26", "#0a66c2", "#7b0099", "#21a038", "#ef3124", "#005bff", "#cb11ab", "#ff5a5f", "#1db954",
	"#a50034", "#00a0df", "#ffd100"}

// The spoken word stands out whatever the colors of the brand, in every theme: it lies on a box that can be told from
// what is around it, and can be read there.
func TestTheSpokenWordStandsOutForEveryBrand(t *testing.T) {
	check := func(c canvas.Color) {
		for _, style := range []CaptionStyle{"", Words, Outline} {
			for _, name := range theme.Names {
				f := &videoRun{Video: Video{Format: Portrait, CaptionStyle: style,
					Brand: &Brand{Colors: []canvas.Color{c}, Theme: name}}}
				s := f.style()
				if !s.marked || contrast(s.spoken, s.back) < 3 ||
					contrast(canvas.On(s.spoken), s.spoken) < canvas.MinContrast ||
					contrast(s.letters, s.back) < canvas.MinContrast {
					t.Errorf("%s, %v, %s: the spoken word is on %v, the others are %v on %v", name, c, style, s.spoken,
						s.letters, s.back)
				}
				if s.outline == 0 {
					continue
				}
				// Without a plate, it can be told from what is behind it, too.
				for _, in := range []theme.Color{theme.Main, theme.Tint, theme.Soft, theme.Deep, "#7f7f7f"} {
					ground := f.Brand.in(in)
					behind := []canvas.Color{ground, f.Brand.decorated(ground, canvas.On(ground))}
					if box := s.on(3, behind...).spoken; min(contrast(box, behind[0]), contrast(box, behind[1])) < 3 ||
						contrast(canvas.On(box), box) < canvas.MinContrast {
						t.Errorf("%s, %v: the spoken word is on %v, on the ground %v", name, c, box, behind)
					}
				}
			}
		}
	}
	for _, hex := range known {
		c, err := canvas.ParseColor(hex)
		if err != nil {
			t.Fatal(err)
		}
		check(c)
	}
	for r := 0; r < 256; r += 15 {
		for g := 0; g < 256; g += 15 {
			for bl := 0; bl < 256; bl += 15 {
				check(canvas.Color{R: uint8(r), G: uint8(g), B: uint8(bl)})
			}
		}
	}
}

// The file of captions is of the text, also where no font has its characters: nothing is drawn then.
func TestTheFileOfCaptionsNeedsNoFont(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := Video{Format: Portrait, Quality: Draft, Language: "en",
		Narration: b.part("voice.wav", sample.Voice(6*time.Second)),
		Scenes: []Scene{{Text: "A market, which is called მაღაზია by the locals.", Picture: b.picture(0)},
			{Text: "It costs ৳1,299 & is <new>.", Picture: b.picture(1)}}}
	written, err := os.ReadFile(b.find(b.compose(v), media.Subtitles).Path)
	said := strings.ReplaceAll(string(written), "\n", " ")
	if err != nil || !strings.Contains(said, "called მაღაზია by the locals.") ||
		!strings.Contains(said, "৳1,299 &amp; is &lt;new&gt;.") {
		t.Errorf("the captions are %s, %v", written, err)
	}
	v.Captions = true
	if e := b.fails(v); e.Code != CodeScript || e.About != "/scenes" {
		t.Errorf("captions that are drawn: %v", e)
	}
}

// Words are drawn where they are measured, also those whose letters have marks: the box of the spoken word lies there.
func TestWordsLieWhereTheyAreMeasured(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dir := t.TempDir()
	r, all := &run{Engine: b.Engine, fonts: b.fonts, dir: dir, out: dir}, album{}
	img := image.NewRGBA(image.Rect(0, 0, 1080, 400))
	canvas.Fill(img, img.Rect, canvas.Black)
	var edges [][2]float64
	var what []string
	for _, said := range []string{"ضاعت في البحر.", "حذاؤنا مصنوع", "ض", "في", "البحر", "الشباك", "הן אבדו בים.",
		"समुद्र में थे।", "ในทะเล", "It was lost"} {
		for _, align := range []text.Align{text.Start, text.Center} {
			block, err := b.fonts.Fit(said, "", text.Box{Width: 1000, Height: 300, MaxEm: 100, MinEm: 100, MaxLines: 1})
			if err != nil {
				t.Fatal(err)
			}
			s := text.NewScript(1080, 400)
			s.Text(block, 40, 1040, 100, align, canvas.White, text.Always)
			left, right := 1080.0, 0.0
			for n := range block.Words() {
				from, _, to, _ := block.Place(n+1, 40, 1040, 100, align)
				left, right = min(left, from), max(right, to)
			}
			edges, what = append(edges, [2]float64{left, right}), append(what, fmt.Sprintf("%s, %v", said, align))
			if err := all.add(r, fmt.Sprintf("words%02d", len(edges)), img, s); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := all.deliver(t.Context(), r, media.Final); err != nil {
		t.Fatal(err)
	}
	for i, f := range r.files {
		drawn, at := b.image(f), edges[i]
		box := letters(drawn, drawn.Bounds())
		if l, r := float64(box.Min.X)-at[0], at[1]-float64(box.Max.X); max(l, -l, r, -r) > 12 {
			t.Errorf("%s: it is measured from %.0f to %.0f, and drawn at %v", what[i], at[0], at[1], box)
		}
	}
}
