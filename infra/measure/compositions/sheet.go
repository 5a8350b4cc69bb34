package main

import (
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	xdraw "golang.org/x/image/draw"

	"github.com/content-automation/api/pkg/media/compose"
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
