package item

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/samples"
	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/craft/guard"
)

// asked are prompts in the languages of the sandbox.
var asked = map[string]string{
	"en": "Our new trail running shoe, made of recycled nets", "de": "Unser neuer Laufschuh aus alten Netzen",
	"es": "Nuestra nueva zapatilla de redes recicladas", "fr": "Notre nouvelle chaussure en filets recyclés",
	"it": "La nostra nuova scarpa di reti riciclate", "pt": "O nosso novo tênis de redes recicladas",
	"ru": "Наши новые кроссовки из старых сетей", "uk": "Наші нові кросівки зі старих сіток",
	"pl": "Nasz nowy but do biegania ze starych sieci", "tr": "Eski ağlardan yapılan yeni koşu ayakkabımız",
	"ar": "حذاؤنا الجديد للجري من شباك قديمة", "hi": "पुराने जालों से बना हमारा नया जूता",
	"ja": "古い網から作った新しいランニングシューズ", "zh": "用旧渔网做的新跑鞋", "ko": "낡은 그물로 만든 새 운동화",
	"he": "נעל הריצה החדשה שלנו מרשתות ישנות", "th": "รองเท้าวิ่งใหม่ของเราจากอวนเก่า",
	"vi": "Giày chạy mới của chúng tôi từ lưới cũ", "nl": "Onze nieuwe loopschoen van oude netten", "zh-hant": "用舊漁網做的新跑鞋",
	"sv": "Vår nya löparsko av gamla nät", "da": "Vores nye løbesko af gamle net",
	"nb": "Den nye løpeskoen vår av gamle garn", "fi": "Uusi juoksukenkämme vanhoista verkoista",
	"cs": "Naše nová běžecká bota ze starých sítí", "ro": "Noul nostru pantof de alergare din plase vechi",
	"hu": "Az új futócipőnk régi hálókból", "el": "Το νέο μας παπούτσι για τρέξιμο από παλιά δίχτυα",
	"bg": "Новата ни обувка за бягане от стари мрежи", "id": "Sepatu lari baru kami dari jaring bekas",
}

// The samples of the sandbox pass the guards in each of its languages, for each type of factory and kind of content, so
// that test keys see them and not the plain text that replaces a refused one.
func TestTheSamplesOfTheSandboxPassTheGuards(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	writer := sandbox.New(func() time.Time { return now })
	for _, language := range samples.Written() {
		for _, kind := range []Kind{Post, Video, Carousel, Story, MusicClip} {
			for _, of := range []string{"blogger", "seller", "expert", "brand", "news", "entertainment", "musician"} {
				f := voiced()
				f.Type, f.Sells = of, of == "seller"
				format := ""
				if kind == Video {
					format = FormatShort
				}
				if of == "news" && kind == MusicClip {
					continue // which is refused when the item is created
				}
				r := recordOf(t, kind, format, language, f)
				r.Item.Prompt = asked[language]
				if f.Sells {
					r.Brief.Product = &Product{ProductID: "prd_1", Name: "Trail shoe", Description: "Made of nets. Weighs 240 g.",
						Price: money.Price{Amount: 12900, Currency: "EUR"}}
				}
				if err := PlannerOf(r).Plan(all, Options{}, false); err != nil {
					t.Fatal(err)
				}
				req := writerOf(r).foreseen(r.Attempt.Parts[0])
				sub, err := writer.Submit(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				rules := writerOf(r).rules(now)
				rules.NeedsSource = false
				name := fmt.Sprint(language, " ", kind, " of ", of)
				if found := guard.Check(writerOf(r).fields(*sub.Result.Text), rules); len(found) > 0 {
					t.Errorf("%s: %s", name, guard.Reasons(found))
				}
				req.Repair = &provider.Repair{Problems: []string{"x"}}
				again, err := writer.Submit(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				rules.Forbidden, rules.Facts = []string{"shoe", "nets"}, nil
				// The plain text is one word, in no language.
				found := slices.DeleteFunc(guard.Check(writerOf(r).fields(*again.Result.Text), rules),
					func(f guard.Finding) bool { return f.Code == guard.Language })
				if len(found) > 0 {
					t.Errorf("%s, written again: %s", name, guard.Reasons(found))
				}
			}
		}
	}
}
