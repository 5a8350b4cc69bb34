package main

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	xdraw "golang.org/x/image/draw"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/script"
	"github.com/content-automation/api/pkg/media/compose/theme"
)

// words are the texts of a sheet, in one language.
type words struct {
	lang, script string
	headings     [3]string
	scenes       [2]string
	story, song  string
}

var languages = []words{
	{"en", "latin", [3]string{"Five things that nobody tells you about fishing nets",
		"Each year, 640,000 tonnes of nets are lost at sea, where they go on catching fish for decades", "Follow us 🎣"},
		[2]string{"Our shoe is made of nets that were lost at sea.", "Try it today!"}, "New today: shoes made of nets",
		"Song of the sea"},
	{"ru", "cyrillic", [3]string{"Пять фактов о рыболовных сетях, о которых никто не говорит",
		"Каждый год в море теряется 640 000 тонн сетей, и они продолжают ловить рыбу десятилетиями", "Подпишитесь 🎣"},
		[2]string{"Наши кроссовки сделаны из сетей, потерянных в море.", "Попробуйте сегодня!"},
		"Сегодня: обувь из сетей", "Песня моря"},
	{"ar", "arabic", [3]string{"خمسة أشياء لا يخبرك بها أحد عن شباك الصيد", "في كل عام تضيع 640,000 طن من الشباك في " +
		"البحر، وتستمر في صيد الأسماك لعقود", "تابعونا 🎣"},
		[2]string{"حذاؤنا مصنوع من شباك ضاعت في البحر.", "جرّبه اليوم!"}, "جديد اليوم: أحذية من الشباك", "أغنية البحر"},
	{"hi", "devanagari", [3]string{"मछली पकड़ने के जाल के बारे में पाँच बातें जो कोई नहीं बताता",
		"हर साल 640,000 टन जाल समुद्र में खो जाते हैं और दशकों तक मछलियाँ पकड़ते रहते हैं", "हमें फ़ॉलो करें 🎣"},
		[2]string{"हमारा जूता समुद्र में खोए हुए जालों से बना है।", "आज ही आज़माएँ!"}, "आज नया: जाल से बने जूते",
		"समुद्र का गीत"},
	{"th", "thai", [3]string{"ห้าสิ่งเกี่ยวกับอวนจับปลาที่ไม่มีใครบอกคุณ", "ทุกปีอวน 640,000 ตันสูญหายในทะเล " +
		"และยังคงจับปลาต่อไปอีกหลายสิบปี", "ติดตามเรา 🎣"},
		[2]string{"รองเท้าของเราทำจากอวนที่สูญหายในทะเล", "ลองวันนี้เลย!"}, "ใหม่วันนี้: รองเท้าจากอวน",
		"เพลงแห่งท้องทะเล"},
	{"zh", "chinese", [3]string{"关于渔网，没有人告诉你的五件事", "每年有64万吨渔网遗失在海中，它们会在几十年里继续捕捉鱼类", "关注我们 🎣"},
		[2]string{"我们的鞋由遗失在海中的渔网制成。", "今天就试试！"}, "今日新品：渔网制成的鞋", "大海之歌"},
	{"he", "hebrew", [3]string{"חמישה דברים שאף אחד לא מספר לכם על רשתות דיג", "בכל שנה אובדות בים 640,000 טונות של " +
		"רשתות, והן ממשיכות ללכוד דגים במשך עשורים", "עקבו אחרינו 🎣"},
		[2]string{"הנעל שלנו עשויה מרשתות שאבדו בים.", "נסו אותה היום!"}, "חדש היום: נעליים מרשתות", "שיר הים"},
	{"ja", "japanese", [3]string{"漁網について誰も教えてくれない五つのこと", "毎年64万トンの漁網が海で失われ、何十年も魚を捕り続けています。", "フォローしてね 🎣"},
		[2]string{"私たちの靴は、海で失われた網から作られています。", "今日お試しください！"}, "本日発売：網から生まれた靴", "海の歌"},
}

// The sheet: all pictures have one height.
const (
	tile      = 420
	smallTile = 250
	// designTile shows what can be told apart at a glance.
	designTile = 186
	gap        = 12
)

// sheets writes the sheets whose names contain a word: one for each language, those of products, logos, captions, fonts
// and ratios, and one of the designs in each language.
func (s *bench) sheets(to, only string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	all := map[string]func() ([][]image.Image, error){"products": s.products, "logos": s.logos, "captions": s.styles,
		"fonts": s.families, "ratios": s.ratios}
	for i, w := range languages {
		name := "designs"
		if i > 0 { // they are large, and written if they are asked for
			name += "-" + w.script
		}
		if i > 0 && !strings.Contains(only, "designs") {
			continue
		}
		all[name] = func() ([][]image.Image, error) { return s.designs(w) }
	}
	for name, rows := range all {
		if !strings.Contains(name, only) {
			continue
		}
		pictures, err := rows()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		height := smallTile
		if strings.HasPrefix(name, "designs") {
			height = designTile
		}
		if err := lay(filepath.Join(to, name+".jpg"), height, pictures...); err != nil {
			return err
		}
	}
	for _, w := range languages {
		if !strings.Contains(w.script, only) {
			continue
		}
		pictures, err := s.sheet(w)
		if err != nil {
			return fmt.Errorf("%s: %w", w.script, err)
		}
		if err := lay(filepath.Join(to, w.script+".jpg"), tile, pictures); err != nil {
			return err
		}
	}
	return nil
}

// sheet composes every kind in a language, and returns pictures of them.
func (s *bench) sheet(w words) ([]image.Image, error) {
	brand := s.brand("Acme")
	plain := *brand
	plain.Colors = nil
	video := func(f compose.Format, pictures []string, b *compose.Brand) compose.Video {
		return compose.Video{
			Format: f, Quality: compose.Draft, Captions: true, Language: w.lang, Narration: s.voice, Brand: b,
			Scenes: []compose.Scene{{Text: w.scenes[0], Picture: pictures[0], OnScreen: w.story},
				{Text: w.scenes[1], Picture: pictures[1]}},
		}
	}
	return s.shots(w.lang, []shot{
		{video(compose.Portrait, s.tall, brand), []time.Duration{2 * time.Second, 10 * time.Second}},
		{video(compose.Landscape, s.wide, &plain), []time.Duration{2 * time.Second}},
		{compose.Carousel{Language: w.lang, Brand: brand,
			Slides: []compose.Slide{{Path: s.tall[2], Heading: w.headings[0]},
				{Path: s.tall[1], Heading: w.headings[1], Body: w.scenes[0]},
				{Path: s.tall[0], Heading: w.story, Body: w.headings[1]},
				{Path: s.cover, Heading: w.headings[2], Body: w.scenes[1]}}}, nil},
		{compose.Picture{Use: compose.Story, Path: s.tall[3], Text: w.story, Language: w.lang, Brand: brand}, nil},
		{compose.Picture{Use: compose.Post, Path: s.wide[1], Text: w.headings[0], Language: w.lang,
			Brand: &plain}, nil},
		{compose.MusicClip{Track: s.track, Cover: s.cover, Length: song, Title: w.song, Language: w.lang,
			Quality: compose.Draft, Brand: brand}, []time.Duration{7 * time.Second}},
	})
}

// shots composes, and returns the pictures and the chosen frames.
func (s *bench) shots(name string, shots []shot) (all []image.Image, err error) {
	for i, shot := range shots {
		res, err := s.compose(fmt.Sprintf("%s-%d", name, i), shot.work)
		if err != nil {
			return nil, err
		}
		for _, at := range shot.at {
			img, err := s.frame(res.Files[0].Path, at)
			if err != nil {
				return nil, err
			}
			all = append(all, img)
		}
		for _, f := range res.Files {
			if shot.at != nil {
				break
			}
			img, err := read(f.Path)
			if err != nil {
				return nil, err
			}
			all = append(all, img)
		}
	}
	return all, nil
}

// frame returns a frame of a video.
func (s *bench) frame(path string, at time.Duration) (image.Image, error) {
	to := filepath.Join(s.dir, "frame.jpg")
	out, err := exec.CommandContext(s.ctx, s.settings.FFmpeg, "-v", "error", "-nostdin", "-y", "-ss",
		fmt.Sprintf("%.2f", at.Seconds()), "-i", path, "-frames:v", "1", "-q:v", "2", to).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return read(to)
}

func read(path string) (image.Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return jpeg.Decode(f)
}

// lay writes rows of pictures below each other.
func lay(path string, tile int, rows ...[]image.Image) error {
	width := 0
	for _, row := range rows {
		w := gap
		for _, p := range row {
			w += p.Bounds().Dx()*tile/p.Bounds().Dy() + gap
		}
		width = max(width, w)
	}
	sheet := image.NewRGBA(image.Rect(0, 0, width, (tile+gap)*len(rows)+gap))
	draw.Draw(sheet, sheet.Rect, image.White, image.Point{}, draw.Src)
	y := gap
	for _, row := range rows {
		x := gap
		for _, p := range row {
			w := p.Bounds().Dx() * tile / p.Bounds().Dy()
			xdraw.CatmullRom.Scale(sheet, image.Rect(x, y, x+w, y+tile), p, p.Bounds(), draw.Src, nil)
			x += w + gap
		}
		y += tile + gap
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := jpeg.Encode(f, sheet, &jpeg.Options{Quality: 80}); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// shot is a composition, and the times of its frames if it is a video.
type shot struct {
	work compose.Work
	at   []time.Duration
}

// logos composes posts with five kinds of logos, one row each, on five grounds, and the slides whose band shows them.
func (s *bench) logos() (rows [][]image.Image, err error) {
	put := func(name string, content []byte) string {
		path := filepath.Join(s.dir, name)
		if failed := os.WriteFile(path, content, 0o600); failed != nil {
			err = failed
		}
		return path
	}
	orange := color.RGBA{255, 102, 0, 255}
	var grounds []string
	for i, c := range []color.RGBA{orange, {255, 255, 255, 255}, {12, 12, 14, 255}} {
		grounds = append(grounds, put(fmt.Sprintf("ground%d.png", i), sample.Plain(1080, 1350, c)))
	}
	grounds = append(grounds, s.tall[0], s.tall[2])
	for i, logo := range [][]byte{sample.Logo(orange), sample.Logo(color.RGBA{0, 0, 0, 255}),
		sample.Logo(color.RGBA{255, 255, 255, 255}), sample.Product(400, 300, sample.Nature),
		sample.TwoTone(color.RGBA{0, 0, 0, 255}, color.RGBA{255, 255, 255, 255})} {
		brand := &compose.Brand{Name: "Acme", Logo: put(fmt.Sprintf("logo%d.png", i), logo),
			Colors: []canvas.Color{{R: orange.R, G: orange.G, B: orange.B}}}
		var shots []shot
		for _, ground := range grounds {
			shots = append(shots, shot{compose.Picture{Use: compose.Post, Path: ground, Brand: brand}, nil})
		}
		shots = append(shots, shot{compose.Carousel{Language: "en", Brand: brand, Slides: []compose.Slide{
			{Path: s.tall[1], Heading: "On the band"}, {Path: s.tall[3], Heading: "On a panel"},
			{Path: s.tall[2], Heading: "In a box"}, {Path: s.cover, Heading: "At the end"}}}, nil})
		row, failed := s.shots(fmt.Sprintf("logo%d", i), shots)
		if failed != nil || err != nil {
			return nil, fmt.Errorf("logo %d: %w", i, errors.Join(failed, err))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// styles composes videos with the three styles of captions, without a brand and with one, in three languages.
func (s *bench) styles() (rows [][]image.Image, err error) {
	for i, w := range languages {
		if i > 2 {
			break
		}
		var shots []shot
		for _, style := range []compose.CaptionStyle{compose.Words, compose.Lines, compose.Outline} {
			for _, brand := range []*compose.Brand{nil, s.brand("Acme")} {
				v := compose.Video{Format: compose.Portrait, Quality: compose.Draft, Captions: true,
					CaptionStyle: style, Language: w.lang, Narration: s.voice, Brand: brand, Scenes: []compose.Scene{
						{Text: w.scenes[0], Picture: s.tall[i]}, {Text: w.scenes[1], Picture: s.tall[1]}}}
				shots = append(shots, shot{v, []time.Duration{2 * time.Second, 5 * time.Second}})
			}
		}
		row, err := s.shots("captions"+w.lang, shots)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// families composes every kind of text in the fonts of brands, one row each, in three languages. The fonts lack the
// letters of the third.
func (s *bench) families() (rows [][]image.Image, err error) {
	for _, family := range script.Fonts {
		brand := s.brand("Acme Outdoor")
		brand.Font = family
		var shots []shot
		for i, w := range languages[:3] {
			offer := &compose.Offer{Price: "€1,299.50", Was: "€1,499", Promotion: "Sale", Action: "Order today"}
			shots = append(shots, shot{compose.Video{Format: compose.Portrait, Quality: compose.Draft, Captions: true,
				Language: w.lang, Narration: s.voice, Brand: brand, Scenes: []compose.Scene{
					{Text: w.scenes[0], Picture: s.tall[i]}, {Text: w.scenes[1], Picture: s.tall[1]}}},
				[]time.Duration{2 * time.Second}},
				shot{compose.Carousel{Language: w.lang, Brand: brand, Offer: offer, Slides: []compose.Slide{
					{Path: s.tall[2], Heading: w.headings[0]}, {Path: s.tall[1], Heading: w.headings[1]},
					{Path: s.cover, Heading: w.headings[2]}}}, nil})
		}
		row, err := s.shots("font"+family, shots)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// products composes every kind of media of a product, with photos of four proportions, one row each.
func (s *bench) products() (rows [][]image.Image, err error) {
	offer := &compose.Offer{Price: "103,20 €", Was: "129 €", Promotion: "Sommerschlussverkauf", Shop: "Schuhhaus Nord",
		Action: "Jetzt bestellen"}
	brand := &compose.Brand{Name: "Schuhhaus Nord", Colors: []canvas.Color{{R: 0xd6, G: 0x2f, B: 0x2f}}}
	for i, c := range []struct {
		width, height int
		scene         sample.Scene
	}{{1600, 1200, sample.Studio}, {1200, 1200, sample.Nature}, {900, 1600, sample.Nature}, {1600, 900, sample.Cut}} {
		photo := filepath.Join(s.dir, fmt.Sprintf("product%d.png", i))
		if err := os.WriteFile(photo, sample.Product(c.width, c.height, c.scene), 0o600); err != nil {
			return nil, err
		}
		video := func(f compose.Format) compose.Video {
			return compose.Video{Format: f, Quality: compose.Draft, Captions: true, Language: "de", Narration: s.voice,
				Brand: brand, Offer: offer, Scenes: []compose.Scene{
					{Text: "Dieser Schuh ist aus Netzen, die im Meer verloren gingen.", Picture: photo, Whole: true},
					{Text: "Taucher holen sie heraus, und bald sind sie Garn.", Picture: s.tall[1]}}}
		}
		row, err := s.shots(fmt.Sprintf("product%d", i), []shot{
			{compose.Picture{Use: compose.Post, Path: photo, Language: "de", Brand: brand,
				Whole: true, Offer: offer}, nil},
			{compose.Carousel{Language: "de", Brand: brand, Offer: offer, Slides: []compose.Slide{
				{Path: photo, Heading: "Ein Schuh aus Netzen", Whole: true}, {Path: s.tall[2], Heading: "Er hält lange"},
				{Path: photo, Heading: "Vom Meer an den Fuß", Whole: true}}}, nil},
			{compose.Picture{Use: compose.Story, Path: photo, Text: "Heute neu", Language: "de", Brand: brand,
				Whole: true, Offer: offer}, nil},
			{video(compose.Portrait), []time.Duration{2 * time.Second, 10 * time.Second}},
			{video(compose.Landscape), []time.Duration{2 * time.Second}},
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// designs composes every kind in each theme of the service, one row each, in a language: a post, a carousel, a product,
// a story, a product in a story, and the cover, the frames and the end card of a video, and a music clip.
func (s *bench) designs(w words) (rows [][]image.Image, err error) {
	photo := filepath.Join(s.dir, "shoe.png")
	if err := os.WriteFile(photo, sample.Product(1600, 900, sample.Cut), 0o600); err != nil {
		return nil, err
	}
	offer := &compose.Offer{Price: "€103.20", Was: "€129", Off: "−20%", Promotion: "Winter sale", Until: "until 20 Dec",
		Shop: "Acme", Action: w.scenes[1], Address: "acme.example"}
	for _, name := range theme.Names {
		brand := s.brand("Acme")
		brand.Theme, brand.Call = name, w.scenes[1]
		row, err := s.shots("design-"+name+w.lang, []shot{
			{compose.Picture{Use: compose.Post, Path: s.tall[1], Text: w.headings[0], Language: w.lang,
				Brand: brand}, nil},
			{compose.Carousel{Language: w.lang, Brand: brand, Slides: []compose.Slide{
				{Path: s.tall[2], Heading: w.headings[0]}, {Path: s.tall[1], Heading: w.headings[1], Body: w.scenes[0]},
				{Path: s.tall[0], Heading: w.story}, {Path: s.cover, Heading: w.headings[2], Body: w.scenes[1]}}}, nil},
			{compose.Carousel{Language: w.lang, Brand: brand, Offer: offer, Slides: []compose.Slide{
				{Path: photo, Heading: w.story, Whole: true}}}, nil},
			{compose.Picture{Use: compose.Story, Path: s.tall[3], Text: w.story, Language: w.lang, Brand: brand}, nil},
			{compose.Picture{Use: compose.Story, Path: photo, Text: w.story, Language: w.lang, Brand: brand,
				Whole: true, Offer: offer}, nil},
		})
		if err != nil {
			return nil, err
		}
		video := compose.Video{Format: compose.Portrait, Quality: compose.Draft, Captions: true, Language: w.lang,
			Narration: s.voice, Brand: brand, Headline: w.story, Offer: offer, Scenes: []compose.Scene{
				{Text: w.scenes[0], Picture: s.tall[0], OnScreen: w.story},
				{Text: w.scenes[1], Picture: photo, OnScreen: w.story, Whole: true}}}
		seen, err := s.covered("design-"+name+w.lang, video, 2*time.Second, 9500*time.Millisecond, 11*time.Second)
		if err != nil {
			return nil, err
		}
		song, err := s.shots("song-"+name+w.lang, []shot{{compose.MusicClip{Track: s.track, Cover: s.cover,
			Length: song, Title: w.song, Artist: "Acme", Language: w.lang, Quality: compose.Draft, Brand: brand},
			[]time.Duration{7 * time.Second}}})
		if err != nil {
			return nil, err
		}
		rows = append(rows, slices.Concat(row, seen, song))
	}
	return rows, nil
}

// covered composes a video, and returns its poster and the chosen frames.
func (s *bench) covered(name string, v compose.Video, at ...time.Duration) (all []image.Image, err error) {
	res, err := s.compose(name+"-video", v)
	if err != nil {
		return nil, err
	}
	poster := slices.IndexFunc(res.Files, func(f compose.File) bool { return f.Role == media.Poster })
	img, err := read(res.Files[poster].Path)
	if err != nil {
		return nil, err
	}
	all = append(all, img)
	for _, t := range at {
		if img, err = s.frame(res.Files[0].Path, t); err != nil {
			return nil, err
		}
		all = append(all, img)
	}
	return all, nil
}

// ratios composes a post and a carousel in each ratio, and the cover of a long video.
func (s *bench) ratios() (rows [][]image.Image, err error) {
	w, brand := languages[0], s.brand("Acme")
	for _, ratio := range compose.Ratios {
		row, err := s.shots("ratio-"+string(ratio[0]), []shot{
			{compose.Picture{Use: compose.Post, Path: s.tall[0], Text: w.headings[0], Language: w.lang, Brand: brand,
				Ratio: ratio}, nil},
			{compose.Carousel{Language: w.lang, Brand: brand, Ratio: ratio, Slides: []compose.Slide{
				{Path: s.tall[2], Heading: w.headings[0]}, {Path: s.tall[1], Heading: w.headings[1], Body: w.scenes[0]},
				{Path: s.tall[0], Heading: w.story}, {Path: s.cover, Heading: w.headings[2], Body: w.scenes[1]}}}, nil},
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	long, err := s.covered("ratio", compose.Video{Format: compose.Landscape, Quality: compose.Draft, Captions: true,
		Language: w.lang, Narration: s.voice, Brand: brand, Headline: w.story,
		Scenes: []compose.Scene{{Text: w.scenes[0], Picture: s.wide[0]}, {Text: w.scenes[1], Picture: s.wide[1]}}},
		2*time.Second, 11*time.Second)
	return append(rows, long), err
}
