package guard

import (
	"os"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

// A fact of an input supports the same fact in a text of any other language. Each line has what the fact is about, the
// language and the fact.
func TestAFactSupportsItselfInOtherLanguages(t *testing.T) {
	raw, err := os.ReadFile("testdata/facts.tsv")
	if err != nil {
		t.Fatal(err)
	}
	facts := map[string]map[string]string{}
	for line := range strings.Lines(string(raw)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if facts[f[0]] == nil {
			facts[f[0]] = map[string]string{}
		}
		facts[f[0]][f[1]] = f[2]
	}
	pairs := 0
	for _, same := range facts {
		for in, fact := range same {
			r := Rules{Now: now, Facts: []string{fact}}
			for language, text := range same {
				pairs++
				r.Language = language
				if found := Check([]Field{{Path: "/caption", Text: text + "."}}, r); len(found) > 0 {
					t.Errorf("%s, by the input in %s %q: %v", text, in, fact, found)
				}
			}
		}
	}
	if pairs < 4000 {
		t.Errorf("%d pairs are compared", pairs)
	}
}

// What an input says in another form or language, and what it does not say.
func TestFactsInOtherForms(t *testing.T) {
	const held, passes = true, false
	for _, c := range []struct {
		language, fact, text string
		held                 bool
	}{
		{"tr", "Open 9:00 to 18:00", "9.00-18.00 arası açığız, bekleriz.", passes},
		{"tr", "Open 9:00 to 18:00", "9.00-19.00 arası açığız, bekleriz.", held},
		{"de", "5 € bis 9 € je Stück", "Für 5.00-9.00 €.", passes},
		{"ru", "Open from 9 am to 6 pm", "Открыто с 9 утра до 6 вечера, ждём вас.", passes},
		{"ru", "Open from 9 am to 6 pm", "Открыто с 9 утра до 7 вечера, ждём вас.", held},
		{"ar", "Open from 9 am to 6 pm", "مفتوح من 9:00 صباحا إلى 6:00 مساء", passes},
		{"ar", "Open from 9 am to 6 pm", "مفتوح من 9:00 صباحا إلى 7:00 مساء", held},
		{"en", "Abierto de 9 de la mañana a 6 de la tarde.", "Open 9 am to 6 pm.", passes},
		{"en", "Aberto das 9 às 18", "Open 9 am to 6 pm.", passes},
		{"en", "Aberto das 9 às 18", "Open 9 am to 7 pm.", held},
		{"en", "Open daily. Bags of 5-10 kg, for 2-3 hours.", "Bags of 5-10 kg, for 2-3 hours.", passes},
		{"ja", "12,000 members", "会員数は1万2千人", passes},
		{"ja", "13,000 members", "会員数は1万2千人", held},
		{"en", "質保2年", "2 years of warranty.", passes},
		{"en", "質保2年", "3 years of warranty.", held},
		{"tr", "3 ay deneme", "5 ay deneme.", held},
		{"fil", "Sale", "Ang mga araw na 3 ay maganda.", passes},
		{"sv", "2 years of warranty", "2 månaders garanti.", held},
		{"th", "เปิดวันอังคารถึงวันเสาร์", "เปิดวันศุกร์ แวะมาเลย", passes},
		{"th", "ปิดวันศุกร์", "เปิดวันศุกร์ แวะมาเลย", held},
		{"vi", "Trà", "Chỉ đến hết hôm nay!", held},
		{"en", "Herbal tea", "Safe for people with diabetes.", held},
		{"en", "Unser Musik Festival im Park, jedes Jahr im Sommer.", "Music for all of us.", passes},
		{"he", "יום פתוח ב-12 בדצמבר 2026", "שבת, 12 בדצמבר, יום פתוח.", passes},
		{"de", "Tee", "Nur noch bis morgen!", held},
		{"fr", "Thé", "Jusqu'à demain seulement !", held},
		{"es", "Té", "Solo hasta mañana.", held},
		{"it", "Tè", "Solo fino a domani!", held},
		{"tr", "Çay", "Sadece yarına kadar!", held},
		{"zh", "茶", "仅限明天!", held},
		{"zh", "茶", "活动明天截止!", held},
		{"th", "ชา", "ถึงพรุ่งนี้เท่านั้น", held},
		{"vi", "Trà", "Chỉ đến ngày mai!", held},
		{"en", "Tea", "Only until tomorrow!", held},
		{"en", "Tea", "Last chance today.", held},
		{"en", "Was £129, now £103.20", "Was £103.20, now £129.", held},
		{"fr", "Au lieu de 129 €, 103,20 €", "Au lieu de 103,20 €, 129 €.", held},
		{"ja", "通常1,290円が1,032円", "通常1,032円が1,290円。", held},
		{"ko", "정가 12,900원, 할인가 10,320원", "정가 10,320원, 할인가 12,900원.", held},
		{"tr", "129 TL yerine 103 TL", "103 TL yerine 129 TL.", held},
		{"ar", "كان 129 ريالا والآن 103 ريالات", "كان 103 ريالات والآن 129 ريالا.", held},
		{"tr", "Çay", "Diğer tüm çaylardan daha iyi.", held},
		{"ko", "차", "다른 어떤 차보다 좋습니다.", held},
		{"zh", "茶", "比其他任何茶都好。", held},
		{"de", "Tee", "Auch für Schwangere geeignet.", held},
		{"ru", "Чай", "Безопасно при диабете.", held},
		{"th", "ชา", "ปลอดภัยสำหรับคนท้อง", held},
		{"it", "Tè", "Adatto a chi soffre di diabete.", held},
		{"uk", "Чай", "Безпечно при діабеті.", held},
		{"he", "תה", "בטוח לנשים בהיריון.", held},
		{"de", "Tee", "Morgen ist auch noch ein Tag.", passes},
		{"zh", "茶", "明天见。", passes},
		{"es", "Té", "Hasta mañana.", passes},
		{"fr", "Thé", "À demain !", passes},
		{"it", "Tè", "A domani!", passes},
		{"tr", "Çay", "Yarın görüşürüz.", passes},
		{"th", "ชา", "เจอกันพรุ่งนี้", passes},
		{"vi", "Trà", "Hẹn gặp bạn ngày mai nhé.", passes},
		{"de", "Tee", "Nicht für Schwangere geeignet.", passes},
		{"de", "Unsere Chefin Ines Osgood führt das Haus.", "Ines Osgod führt das Haus.", held},
	} {
		r := Rules{Language: c.language, Now: now, Facts: []string{c.fact}}
		if found := Check([]Field{{Path: "/caption", Text: c.text}}, r); (len(found) > 0) != c.held {
			t.Errorf("%s: %q by %q: found %v, want held %t", c.language, c.text, c.fact, found, c.held)
		}
	}
}
