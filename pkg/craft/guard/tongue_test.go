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
		{"de", "Öffnungszeiten: Mo-Fr 9-18 Uhr, Sa 10-14 Uhr", "Am Mittwoch haben wir geöffnet, kommt vorbei.", passes},
		{"de", "Öffnungszeiten: Mo–Fr 9–18 Uhr, Sa 10–14 Uhr", "Samstags haben wir geöffnet, kommt vorbei.", passes},
		{"en", "Mon-Fri 9am-6pm, Sat 10am-2pm", "We are open on Wednesday, drop in.", passes},
		{"en", "Öffnungszeiten: Mo-Fr 9-18 Uhr", "We are open on Wednesday, drop in.", passes},
		{"fr", "Lun-ven 9h-18h", "Nous sommes ouverts mercredi, venez.", passes},
		{"es", "Lun-vie 9:00-18:00", "El miércoles abrimos, ven.", passes},
		{"it", "Lun-ven 9-18", "Mercoledì siamo aperti, vieni.", passes},
		{"pt", "Seg-sex 9h-18h", "Na quarta-feira estamos abertos, venha.", passes},
		{"pl", "pn-pt 9-18", "W środę otwarte, zapraszamy.", passes},
		{"ru", "Пн-Пт 9:00-18:00", "В среду открыты, приходите.", passes},
		{"uk", "Пн-Пт 9:00-18:00", "У середу відчинено, чекаємо на вас.", passes},
		{"tr", "Pzt-Cum 9.00-18.00", "Çarşamba açığız, bekleriz.", passes},
		{"en", "Пн-Пт 9:00-18:00", "We are open on Wednesday, drop in.", passes},
		{"ja", "月～金 9:00～18:00", "水曜も営業しています。", passes},
		{"ko", "월~금 9:00~18:00", "수요일에도 영업합니다, 오세요.", passes},
		{"zh", "周一至五 9:00-18:00", "周三营业，欢迎光临。", passes},
		{"de", "Öffnungszeiten: Mo-Fr 9-18 Uhr, Sa 10-14 Uhr", "Am Sonntag haben wir geöffnet, kommt vorbei.", held},
		{"de", "Mo-Fr 9-18 Uhr, Sa-So geschlossen", "Am Samstag haben wir geöffnet, kommt vorbei.", held},
		{"en", "Пн-Пт 9:00-18:00", "We are open on Sunday, drop in.", held},
		{"ja", "月～金 9:00～18:00", "日曜も営業しています。", held},
		{"zh", "周一至五 9:00-18:00", "周日营业，欢迎光临。", held},
		{"de", "Tag der offenen Tür am 12. Dezember 2026", "So., 12. Dez.: Tag der offenen Tür.", held},
		{"de", "Tag der offenen Tür am 12. Dezember 2026", "Sa., 12. Dez.: Tag der offenen Tür.", passes},
		{"fr", "Portes ouvertes le 12 décembre 2026", "Dim. 12 déc. : portes ouvertes.", held},
		{"ru", "День открытых дверей 12 декабря 2026", "Вс, 12 декабря.", held},
		{"es", "Puertas abiertas el 12 de diciembre de 2026", "Dom. 12 dic.: puertas abiertas.", held},
		{"de", "Unsere Chefin Ines Osgood führt das Haus.", "Ines Osgod führt das Haus.", held},
	} {
		r := Rules{Language: c.language, Now: now, Facts: []string{c.fact}}
		if found := Check([]Field{{Path: "/caption", Text: c.text}}, r); (len(found) > 0) != c.held {
			t.Errorf("%s: %q by %q: found %v, want held %t", c.language, c.text, c.fact, found, c.held)
		}
	}
}
