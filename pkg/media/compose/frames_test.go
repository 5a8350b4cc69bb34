package compose

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/theme"
	"github.com/content-automation/api/pkg/media/compose/timeline"
	"github.com/content-automation/api/testdata/breadth"
)

// said is a text for the frames in one script: a headline, what a voice says, a call to action, a price, a price of 12
// digits, the price before, the last day, and a name of 60 letters.
type said struct{ lang, headline, script, call, price, long, was, until, name string }

var scripts = []said{
	{"en", "New today: shoes made of nets", "Our shoe is made of nets. It was lost at sea.", "Try it today",
		"€103.20", "€123,456,789,012.50", "€129", "until 20 Dec",
		"Harbour Outfitters and Sons, Makers of Shoes since 1887 Ltd."},
	{"ar", "جديد اليوم: أحذية من الشباك", "حذاؤنا مصنوع من شباك. ضاعت في البحر.", "جرّبه اليوم", "١٠٣٫٢٠ €",
		"١٢٣٬٤٥٦٬٧٨٩٬٠١٢ €", "١٢٩ €", "حتى 20/12", "شركة الميناء للأحذية والملابس الرياضية والتجهيزات البحرية"},
	{"ja", "本日発売：網から生まれた靴🎣", "私たちの靴は、網から作られています。", "今日お試しください", "¥12,900", "¥123,456,789,012",
		"¥15,900", "12月20日まで", "港町スポーツ用品株式会社横浜本店みなとみらい支店横浜市西区靴と網の専門店"},
	{"ru", "Сегодня: обувь из сетей", "Наша обувь сделана из сетей. Они лежали в море.", "Попробуйте сегодня",
		"110 415 ₽", "123 456 789 012 ₽", "129 900 ₽", "до 20.12",
		"Мастерская обуви и одежды для бега «Северная гавань» и сыновья"},
	{"hi", "आज नया: जाल से बने जूते", "हमारा जूता जालों से बना है। वे समुद्र में थे।", "आज ही आज़माएँ", "₹9,499",
		"₹1,23,45,67,89,012", "₹11,999", "20/12 तक", "बंदरगाह जूते और खेल का सामान बनाने वाली पुरानी पारिवारिक कंपनी"},
	{"th", "ใหม่วันนี้: รองเท้าจากอวน", "รองเท้าของเราทำจากอวนที่สูญหายในทะเล", "ลองวันนี้เลย", "฿3,990",
		"฿123,456,789,012", "฿4,990", "ถึง 20/12", "บริษัทท่าเรือรองเท้าและอุปกรณ์กีฬาจำกัดมหาชนสาขากรุงเทพ"},
	{"zh", "今日新品：渔网制成的鞋🎣", "我们的鞋由渔网制成。渔网遗失在海中。", "今天就试试", "¥899", "¥123,456,789,012", "¥1,099",
		"至12月20日", "港口户外运动鞋服装备股份有限公司上海浦东新区第二旗舰专卖店"},
	{"he", "חדש היום: נעליים מרשתות", "הנעל שלנו עשויה מרשתות. הן אבדו בים.", "נסו אותה היום", "\u200f103.20 ₪",
		"\u200f123,456,789,012 ₪", "\u200f129 ₪", "עד 20.12", "חברת הנמל לנעליים ולביגוד ספורט ובניו בעירבון מוגבל חיפה"},
}

// looks are the brands: from dark to neon and nearly white, with one color, with two, without, and with the color of
// the pictures.
var looks = [][]canvas.Color{
	{{R: 0x0b, G: 0x5f, B: 0xa8}, {R: 0xff, G: 0xc1, B: 0x2e}}, {{R: 57, G: 255, B: 20}}, {{R: 16, G: 16, B: 18}},
	{{R: 250, G: 250, B: 250}, {R: 252, G: 252, B: 248}}, nil, {{R: 127, G: 127, B: 127}, {R: 120, G: 128, B: 132}},
}

// products are the sizes of photos of products.
var products = []image.Point{{1600, 900}, {1000, 1000}, {600, 1600}, {2000, 500}}

// framed is what a frame test composes: a theme, a script and a brand. Others have long texts.
type framed struct {
	theme string
	said
	colors []canvas.Color
	n      int
}

// sweep are all of them, or each theme with each of some scripts and brands.
func sweep() (all []framed) {
	n := 0
	for i, name := range theme.Names {
		for j, s := range scripts {
			for k, colors := range looks {
				if n++; breadth.All() || (i+j)%5 == 0 && (j+k)%6 == 0 {
					all = append(all, framed{name, s, colors, n + i + j})
				}
			}
		}
	}
	return all
}

func (c framed) String() string {
	return fmt.Sprintf("%s-%s-%d", c.theme, c.lang, slices.IndexFunc(looks, func(l []canvas.Color) bool {
		return slices.Equal(l, c.colors)
	}))
}

// magenta is the color of the product of the frames, which no brand has.
var magenta = color.NRGBA{R: 200, G: 0, B: 200, A: 255}

// shaped returns a photo of a product: a rectangle of magenta of the proportions, on transparency.
func shaped(width, height int) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := height / 10; y < height*9/10; y++ {
		for x := width / 10; x < width*9/10; x++ {
			img.SetNRGBA(x, y, magenta)
		}
	}
	return sample.PNG(img)
}

// shapes are the photos of products.
var shapes = sync.OnceValue(func() (all [][]byte) {
	for _, size := range products {
		all = append(all, shaped(size.X, size.Y))
	}
	return all
})

// seenProduct returns the rectangle of the product in a picture, and whether all of it is seen.
func seenProduct(img *image.RGBA) (box image.Rectangle, whole bool) {
	n := 0
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			c := pixelAt(img, y*img.Rect.Dx()+x)
			if c.R > 165 && c.G < 60 && c.B > 165 && c.R < 235 {
				box, n = box.Union(image.Rect(x, y, x+1, y+1)), n+1
			}
		}
	}
	return box, n >= box.Dx()*box.Dy()*97/100
}

func (c framed) hard() bool { return c.n%3 == 0 }

func (c framed) brand() *Brand {
	b := &Brand{Name: "Acme", Colors: c.colors, Theme: c.theme, Call: c.call, Right: c.n%4 == 1}
	if c.hard() {
		b.Name = c.name
	}
	return b
}

func (c framed) offer() *Offer {
	o := &Offer{Price: c.price, Was: c.was, Off: "−20 %", Until: c.until, Shop: "Acme", Action: c.call,
		Address: "acme.example"}
	if c.hard() {
		o.Price, o.Shop, o.Address = c.long, c.name, "shop.harbour-outfitters-and-sons.example"
	}
	return o
}

// marginOf is that of pictures without an interface over them.
const marginOf = 20

// covers are the margins that an interface covers, as docs/media.md has them with their sources.
type covers struct {
	name, use                string
	top, bottom, left, right int
}

// readZones reads the table of docs/media.md.
func readZones(t *testing.T) (all []covers) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "media.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| ([A-Z][A-Za-z ]+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| \S`)
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		use := "video"
		if m[1] == "Stories" {
			use = "story"
		}
		one := covers{name: m[1], use: use}
		for i, to := range []*int{&one.top, &one.bottom, &one.left, &one.right} {
			*to, _ = strconv.Atoi(m[i+2])
		}
		all = append(all, one)
	}
	if len(all) < 4 {
		t.Fatalf("docs/media.md has %d rows of zones", len(all))
	}
	return all
}

// freeOf returns the area of upright pictures that no interface covers for a use.
func freeOf(t *testing.T, use string) image.Rectangle {
	area := image.Rect(0, 0, wide, storyTall)
	for _, z := range readZones(t) {
		if z.use == use {
			area = area.Intersect(image.Rect(z.left, z.top, wide-z.right, storyTall-z.bottom))
		}
	}
	return area
}

// pair composes with letters and without them.
type pair struct {
	*bench
	bare *bench
	c    framed
}

// still is a composed picture with its letters.
func (p pair) stills(name string, w Work, area image.Rectangle) (all []*inked) {
	p.t.Helper()
	seen, bare := p.both(w)
	for i, f := range seen.Files {
		if f.Role == media.Final && f.Type == media.Image {
			all = append(all, p.ink(fmt.Sprint(name, i), p.image(f), p.image(bare[i]), area))
		}
	}
	return all
}

func (p pair) pairOf(w Work) Result { return p.bare.compose(w) }

// both composes pictures, which are drawn once, with letters and without them.
func (p pair) both(w Work) (seen Result, bare []File) {
	p.t.Helper()
	tool := &twice{program: p.tool, fonts: p.bare.fontsDir, dir: p.t.TempDir()}
	b, engine := *p.bench, *p.Engine
	engine.tool, b.Engine = tool, &engine
	seen = b.compose(w)
	if len(tool.made) != len(seen.Files) {
		p.t.Fatalf("%d of %d pictures are without letters", len(tool.made), len(seen.Files))
	}
	return seen, tool.made
}

// twice is ffmpeg that encodes pictures a second time, with hollow fonts.
type twice struct {
	program
	// fonts is the folder of all hollow fonts, and dir that of made, the pictures without letters.
	fonts, dir string
	made       []File
}

// Run runs a job, and once more with hollow fonts if it encodes pictures.
func (w *twice) Run(ctx context.Context, job ffmpeg.Job) (ffmpeg.Report, error) {
	report, err := w.program.Run(ctx, job)
	last := len(job.Output) - 1
	if err != nil || !strings.HasSuffix(job.Output[last], "%d.jpg") {
		return report, err
	}
	linked, err := filepath.Glob(filepath.Join(job.Dir, "*.fonts", "*"))
	if err != nil {
		return report, err
	}
	var hollow []string
	for _, font := range linked {
		hollow = append(hollow, filepath.Join(w.fonts, filepath.Base(font)))
	}
	if err := ffmpeg.LinkAll(filepath.Join(job.Dir, "hollow"), hollow); err != nil {
		return report, err
	}
	job.Filter = regexp.MustCompile(`fontsdir=\w+\.fonts`).ReplaceAllString(job.Filter, "fontsdir=hollow")
	begin := len(w.made)
	job.Output = append(slices.Clone(job.Output[:last]), filepath.Join(w.dir, fmt.Sprintf("%d-%%d.jpg", begin)))
	again, err := w.program.Run(ctx, job)
	for n := range again.Frames {
		w.made = append(w.made, File{Path: filepath.Join(w.dir, fmt.Sprintf("%d-%d.jpg", begin, n))})
	}
	return report, err
}

// ink compares two frames, and reports what cannot be read.
func (p pair) ink(name string, seen, bare image.Image, area image.Rectangle) *inked {
	p.t.Helper()
	k := inkOf(seen, bare)
	if area.Empty() {
		area = k.seen.Rect.Inset(marginOf)
	}
	if dir := os.Getenv("FRAMES"); dir != "" {
		out, err := os.Create(filepath.Join(dir, fmt.Sprintf("%v-%s.png", p.c, name)))
		if err != nil {
			p.t.Fatal(err)
		}
		defer out.Close()
		if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(out, k.seen); err != nil {
			p.t.Fatal(err)
		}
	}
	for _, fault := range k.faults(p.c.lang, area) {
		p.t.Errorf("%v, %s: %s", p.c, name, fault)
	}
	return k
}

// hero checks that the product of a frame is large, and that nothing lies over it.
func (p pair) hero(name string, k *inked) {
	p.t.Helper()
	box, whole := seenProduct(k.seen)
	full := k.seen.Rect
	across, down := float64(box.Dx())/float64(full.Dx()), float64(box.Dy())/float64(full.Dy())
	if !whole || across > 0.945 || across < 0.795 && down < 0.545 {
		p.t.Errorf("%v, %s: the product takes %.2f of the width, %.2f of the height, whole: %t", p.c, name, across,
			down, whole)
	}
}

// Frames of every kind of media, in every theme, script and brand: what they show can be read and is seen.
func TestFramesOfEveryKind(t *testing.T) {
	t.Parallel()
	hollow := hollowed(t)
	story, video := freeOf(t, "story"), freeOf(t, "video")
	all := sweep()
	for i, c := range all {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			p := pair{b, benchOf(t, hollow), c}
			p.pictures(story)
			// Videos take longest: by default, there is one in each theme, and music clips in the other scripts.
			another := i > 0 && all[i-1].theme == c.theme
			if breadth.All() || !another {
				p.video(video)
			}
			if breadth.All() || another {
				p.music(video)
			}
		})
	}
}

// Pictures in place of a video are what it would show: its cover, its product with a caption, and its end card.
func TestFramesInPlaceOfAVideo(t *testing.T) {
	t.Parallel()
	hollow, free := hollowed(t), freeOf(t, "video")
	for _, c := range []framed{{"playful", scripts[1], looks[0], 1}, {"editorial", scripts[0], looks[4], 5}} {
		b := newBench(t)
		p := pair{b, benchOf(t, hollow), c}
		v := Video{Format: Portrait, Quality: Draft, Captions: true, Language: c.lang, Brand: c.brand(),
			Offer: c.offer(), Headline: c.headline, Frames: true, Scenes: []Scene{{Text: c.script, Whole: true,
				Picture: p.part("product.png", shapes()[1]), OnScreen: c.headline}}}
		seen, bare := p.both(v)
		if len(seen.Files) != 3 {
			t.Fatalf("%v: there are %d pictures", c, len(seen.Files))
		}
		at := func(n int, name string, area image.Rectangle) *inked {
			return p.ink(name, p.image(seen.Files[n]), p.image(bare[n]), area)
		}
		p.hero("cover", at(0, "cover", coverArea))
		scene := at(1, "scene", free)
		p.hero("scene", scene)
		if least, found := scene.spoken(1310); !found || least < 3 {
			t.Errorf("%v: the spoken word is marked: %t, with the contrast %.1f", c, found, least)
		}
		p.endCard("end", at(2, "end", free), free)
	}
}

// The end card of a video without a product has the call to action and the address of the brand.
func TestTheEndCardHasTheAddressOfTheBrand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := pair{b, benchOf(t, hollowed(t)), framed{"minimal", scripts[0], looks[0], 1}}
	rows := func(address string) int {
		v := Video{Format: Portrait, Quality: Draft, Language: "en", Frames: true, Brand: &Brand{Name: "Acme",
			Call: "Try it today", Address: address}, Scenes: []Scene{{Text: "Nets.",
			Picture: p.plain("gray", color.RGBA{127, 127, 127, 255})}}}
		seen, bare := p.both(v)
		return len(inkOf(p.image(seen.Files[0]), p.image(bare[0])).lines)
	}
	if with, without := rows("acme.example"), rows(""); with != without+1 || without < 2 {
		t.Errorf("there are %d rows with an address, and %d without", with, without)
	}
}

// pictures checks posts, carousels and stories.
func (p pair) pictures(story image.Rectangle) {
	c, gray := p.c, p.plain("gray", color.RGBA{127, 127, 127, 255})
	photo := p.part("product.png", shapes()[c.n%len(products)])
	ratio := Ratios[c.n%3]
	brand, offer := c.brand(), c.offer()
	p.stills("post", Picture{Use: Post, Path: gray, Text: c.headline, Language: c.lang, Brand: brand, Ratio: ratio},
		image.Rectangle{})
	sold := p.stills("product post", Picture{Use: Post, Path: photo, Text: c.headline, Language: c.lang, Brand: brand,
		Whole: true, Offer: offer}, image.Rectangle{})
	p.hero("product post", sold[0])
	p.stills("slide", Carousel{Language: c.lang, Brand: brand, Ratio: ratio, Offer: offer, Slides: []Slide{
		{Path: gray, Heading: c.headline}, {Path: gray, Heading: c.call, Body: c.script},
		{Path: gray, Heading: c.headline, Body: c.script}, {Path: gray, Heading: c.call}}}, image.Rectangle{})
	p.stills("story", Picture{Use: Story, Path: gray, Text: c.headline, Language: c.lang, Brand: brand}, story)
	sold = p.stills("product story", Picture{Use: Story, Path: photo, Text: c.headline, Language: c.lang, Brand: brand,
		Whole: true, Offer: offer}, story)
	p.hero("product story", sold[0])
}

// video checks the cover, the scenes and the end card of a video.
func (p pair) video(area image.Rectangle) {
	c, gray := p.c, p.plain("gray", color.RGBA{127, 127, 127, 255})
	first, second, _ := strings.Cut(c.script, ".")
	if second = strings.TrimSpace(second); second == "" {
		first, second = c.script, c.call
	}
	scenes := []Scene{{Text: first + ".", Picture: p.part("product.png", shapes()[c.n%len(products)]), Whole: true,
		OnScreen: c.headline}, {Text: second, Picture: gray, OnScreen: c.headline}}
	if c.n%2 == 1 {
		slices.Reverse(scenes)
	}
	v := Video{Format: Portrait, Quality: Draft, Captions: true, Language: c.lang, Brand: c.brand(), Offer: c.offer(),
		Narration: p.part("voice.wav", voice()), Headline: c.headline, Scenes: scenes}
	seen, bare := p.compose(v), p.pairOf(v)
	cover := p.ink("cover", p.image(p.find(seen, media.Poster)), p.bare.image(p.find(bare, media.Poster)), coverArea)
	if scenes[0].Whole {
		p.hero("cover", cover)
	}
	last := drafted(p.find(seen, media.Final).Duration) - 2
	numbers := append(restful(scenes[0].Text, scenes[1].Text), last)
	with, without := p.seen(seen, numbers), p.seen(bare, numbers)
	frames, marked := map[bool]int{}, map[bool]int{}
	for i, n := range numbers {
		name := fmt.Sprint("frame", n)
		k := p.ink(name, with[i], without[i], area)
		if n == last {
			p.endCard(name, k, area)
			continue
		}
		captions, sold := 1210, false
		if box, _ := seenProduct(k.seen); !box.Empty() {
			captions, sold = 1310, true // below the price and the headline
			p.hero(name, k)
		} else if box := apartFrom(k.seen, canvas.Color{R: 127, G: 127, B: 127}); !box.In(area.Inset(-2)) {
			p.t.Errorf("%v, %s: a plate is at %v, outside of %v", c, name, box, area)
		}
		frames[sold]++
		if least, found := k.spoken(captions); found {
			if marked[sold]++; least < 3 {
				p.t.Errorf("%v, %s: the box of the spoken word has the contrast %.1f", c, name, least)
			}
		}
		p.captioned(name, k)
	}
	for sold, n := range frames {
		if n > 1 && marked[sold] == 0 { // one frame may show a single word
			p.t.Errorf("%v: none of %d frames shows the box of a spoken word, of the product: %t", c, n, sold)
		}
	}
	if c.n%5 == 0 {
		v.Captions = false
		plain := p.seen(p.compose(v), []int{last - 3, last})
		again := p.seen(seen, []int{last - 3, last})
		if !sameFrame(plain[0], again[0]) || !sameFrame(plain[1], again[1]) {
			p.t.Errorf("%v: there are captions on the end card", c)
		}
	}
}

// restful returns the numbers of frames of a draft of two scenes in which no text is moving, before its end card.
func restful(first, second string) (numbers []int) {
	clock := timeline.NewClock(first+" "+second, nil, spoken)
	lengths := timeline.Scenes([]string{first, second}, clock, lead, tail, leastScene)
	cut := lengths[0] / Draft.every()
	end := cut + (lengths[1]-min(timeline.Frames(endCard), lengths[1]/2))/Draft.every()
	for _, n := range []int{9, 13, 17, cut + 6, cut + 9} {
		if n < cut-1 || n >= cut+6 && n < end-1 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// coverArea is the area of the texts of a cover: the middle that grids show in 3:4, with margins.
var coverArea = image.Rect(60, 240, wide-60, 1680)

// captioned checks that captions are in the middle of the frame, unless they need the whole width that is free.
func (p pair) captioned(name string, k *inked) {
	p.t.Helper()
	var box image.Rectangle
	for _, l := range k.letters {
		if l.at.Max.Y >= 1310 && l.at.Dy() >= 20 { // below the price of a product
			box = box.Union(l.at)
		}
	}
	least := 516
	if p.c.lang == "ja" || p.c.lang == "zh" {
		least = 500 // a full stop has room after it
	}
	if middle := (box.Min.X + box.Max.X) / 2; !box.Empty() && box.Dx() < 640 && (middle < least || middle > 564) {
		p.t.Errorf("%v, %s: the middle of the caption is at %d, of %v", p.c, name, middle, box)
	}
}

// endCard checks that an end card is opaque, and in the middle of the frame with all that it has.
func (p pair) endCard(name string, k *inked, area image.Rectangle) {
	p.t.Helper()
	ground := colorAt(k.seen, 6, 900)
	for y := 4; y < storyTall; y += 8 {
		for x := 4; x < wide; x += 8 {
			in := x > 40 && x < wide-40 && y > 200 && y < storyTall-440
			if !in && apartBy(colorAt(k.seen, x, y), ground) > 18 {
				p.t.Fatalf("%v, %s: the ground is %v, but %v at %d, %d", p.c, name, ground, colorAt(k.seen, x, y), x, y)
			}
		}
	}
	middle := func(what string, box image.Rectangle, off int) {
		if at := box.Min.X + box.Max.X; at < 1080-2*off || at > 1080+2*off {
			p.t.Errorf("%v, %s: the middle of %s is at %.1f, of %v", p.c, name, what, float64(at)/2, box)
		}
	}
	all := apartFrom(k.seen, ground)
	middle("all", all, 4)
	if all.Min.Y < area.Min.Y-4 || all.Max.Y > area.Max.Y+24 { // with the shadow of the product
		p.t.Errorf("%v, %s: it lies at %v", p.c, name, all)
	}
	product, whole := seenProduct(k.seen)
	if middle("the product", product, 4); product.Empty() || !whole {
		p.t.Errorf("%v, %s: the product is at %v, whole: %t", p.c, name, product, whole)
	}
	var rows []image.Rectangle
	for _, l := range k.lines {
		if n := len(rows) - 1; n >= 0 && l.at.Min.Y < rows[n].Max.Y-4 {
			rows[n] = rows[n].Union(l.at)
		} else {
			rows = append(rows, l.at)
		}
	}
	if len(rows) < 5 { // name, price, what it saves, button and address
		p.t.Errorf("%v, %s: there are %d rows of text", p.c, name, len(rows))
	}
	for _, row := range rows {
		middle("a row", row, 10)
	}
}

// sameFrame reports whether two frames differ only by the loss of encoding.
func sameFrame(a, b image.Image) bool {
	for y := 2; y < a.Bounds().Dy(); y += 4 {
		for x := 2; x < a.Bounds().Dx(); x += 4 {
			if apartBy(colorAt(a, x, y), colorAt(b, x, y)) > 60 {
				return false
			}
		}
	}
	return true
}

// apartFrom returns the rectangle of all that has another color than the ground. Single pixels are what encoding has
// left of a frame before.
func apartFrom(img *image.RGBA, ground canvas.Color) (box image.Rectangle) {
	size := img.Rect.Size()
	apart := func(x, y int) bool { return x < size.X && apartBy(pixelAt(img, y*size.X+x), ground) > 60 }
	for y := range size.Y {
		for x := range size.X {
			if apart(x, y) && (apart(x+1, y) || x > 0 && apart(x-1, y)) {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

// spoken is the length of the voice.
const spoken = 4500 * time.Millisecond

var voice = sync.OnceValue(func() []byte { return sample.Voice(spoken) })

// seen decodes frames of a video at once.
func (p pair) seen(res Result, numbers []int) (all []image.Image) {
	p.t.Helper()
	f := p.find(res, media.Final)
	var of []string
	for _, n := range numbers {
		of = append(of, fmt.Sprintf("eq(n\\,%d)", n))
	}
	to := filepath.Join(p.dir, "frames.raw")
	p.ffmpeg("-i", f.Path, "-vf", "select="+strings.Join(of, "+"), "-fps_mode", "passthrough", "-frames:v",
		fmt.Sprint(len(numbers)), "-f", "rawvideo", "-pix_fmt", "rgba", to)
	raw, err := os.ReadFile(to)
	if size := f.Width * f.Height * 4; err != nil || len(raw) != size*len(numbers) {
		p.t.Fatalf("%d frames have %d bytes, %v", len(numbers), len(raw), err)
	}
	for part := range slices.Chunk(raw, f.Width*f.Height*4) {
		all = append(all, &image.RGBA{Pix: part, Stride: f.Width * 4, Rect: image.Rect(0, 0, f.Width, f.Height)})
	}
	return all
}

// music checks a music clip.
func (p pair) music(area image.Rectangle) {
	c := p.c
	m := MusicClip{Track: p.part("track.wav", track()), Cover: p.plain("gray", color.RGBA{127, 127, 127, 255}),
		Length: minMusic, Title: c.headline, Artist: c.brand().Name, Language: c.lang, Brand: c.brand(), Quality: Draft}
	seen, bare := p.compose(m), p.pairOf(m)
	p.ink("music", p.seen(seen, []int{40})[0], p.seen(bare, []int{40})[0], area)
}

var track = sync.OnceValue(func() []byte { return sample.Track(minMusic) })

// drafted returns the number of frames of a draft.
func drafted(d time.Duration) int { return int(d.Seconds() * float64(Draft.fps())) }
