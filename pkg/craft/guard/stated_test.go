package guard

import (
	"fmt"
	"testing"
)

// Days of briefs are found in all languages, with their times, and the first and the last one of some days.
func TestDaysIn(t *testing.T) {
	for _, c := range []struct{ language, text, want string }{
		{"en", "We open on Saturday 12 December, 10:00. Bread for all!", "0-12-12 10:00"},
		{"en", "The shop is closed on 24 and 25 December.", "0-12-24, 0-12-25"},
		{"en", "20 % off from 7 December to 20 December", "0-12-7 begins, 0-12-20 ends"},
		{"en", "The sale runs December 7th until December 20th, 2026", "0-12-7 begins, 2026-12-20 ends"},
		{"en", "Launch: 2026-12-17 at 6 pm. Preorders since 3 November.", "2026-12-17 18:00, 0-11-3"},
		{"de", "Tag der offenen Tür am 12. Dezember ab 10 Uhr. Danach wird gebacken.", "0-12-12 10:00"},
		{"de", "Vom 7. bis 20. Dezember gibt es 20 % auf alles.", "0-12-7 begins, 0-12-20 ends"},
		{"fr", "Portes ouvertes le samedi 12 décembre à 10h00, fermé les 25 et 26 décembre",
			"0-12-12 10:00, 0-12-25, 0-12-26"},
		{"es", "Del 7 al 20 de diciembre, rebajas. Abrimos el 21 de diciembre.", "0-12-7 begins, 0-12-20 ends, " +
			"0-12-21"},
		{"it", "Inaugurazione il 3 marzo alle 18:00", "0-3-3 18:00"},
		{"pt", "De 7 a 20 de dezembro", "0-12-7 begins, 0-12-20 ends"},
		{"pl", "Dzień otwarty 12 grudnia o 10:00", "0-12-12 10:00"},
		{"ru", "С 7 по 20 декабря скидка, 21 декабря лекция в 19:00", "0-12-7 begins, 0-12-20 ends, 0-12-21 19:00"},
		{"uk", "Відкриття 12 грудня", "0-12-12"},
		{"tr", "Açılış 12 Aralık 2026", "2026-12-12"},
		{"ja", "12月12日（土）10時に開店。12月7日〜20日はセール", "0-12-12 10:00, 0-12-7 begins, 0-12-20 ends"},
		{"ko", "12월 17일 출시", "0-12-17"},
		{"zh", "12月7日至20日打折", "0-12-7 begins, 0-12-20 ends"},
		{"ar", "الافتتاح يوم 12 ديسمبر", "0-12-12"},
		{"he", "פתיחה ב-12 בדצמבר", "0-12-12"},
		{"hi", "12 दिसंबर को उद्घाटन", "0-12-12"},
		{"th", "เปิดร้านวันที่ 12 ธันวาคม", "0-12-12"},
		{"vi", "Khai trương ngày 12 tháng 12", "0-12-12"},
		{"nl", "Open dag op 12 december om 10:00", "0-12-12 10:00"},
		{"en", "Founded in 1998, open 24/7, with 12 loaves in May", ""},
	} {
		got := ""
		for _, d := range DaysIn(c.text, c.language) {
			if got != "" {
				got += ", "
			}
			got += fmt.Sprintf("%d-%d-%d", d.Year, d.Month, d.Day)
			if d.At != "" {
				got += " " + d.At
			}
			if d.Begins {
				got += " begins"
			}
			if d.Ends {
				got += " ends"
			}
		}
		if got != c.want {
			t.Errorf("%s: %s: %s, want %s", c.language, c.text, got, c.want)
		}
	}
}
