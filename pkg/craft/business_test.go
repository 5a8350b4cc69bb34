package craft_test

import (
	"testing"

	"github.com/content-automation/api/pkg/craft/business"
)

// The kind of a business is told from its words in each language.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		factory, audience, text, want string
		office                        bool
	}{
		{"brand", "", "Boulangerie Martin, une boulangerie de quartier à Lyon", "bakery", false},
		{"brand", "", "Bäckerei und Konditorei am Markt", "bakery", false},
		{"expert", "", "Kancelaria prawa pracy w Warszawie", "law", true},
		{"expert", "", "Rechtsanwälte für Arbeitsrecht", "law", true},
		{"expert", "", "弁護士による法律相談", "law", true},
		{"expert", "", "Steuerberaterin für Vereine", "finance", true},
		{"entertainment", "", "서울의 인디 게임 스튜디오", "games", false},
		{"brand", "", "An indie game studio", "games", false},
		{"brand", "", "Maschinenbau seit Generationen", "industry", true},
		{"brand", "HR managers of companies", "We make payroll simple", "office", true},
		{"brand", "families", "We make soap", "brand", false},
		{"blogger", "", "Laufen lernen", "fitness", false},
		{"news", "", "News about law firms", "news", false},
		{"brand", "", "مخبز في القاهرة", "bakery", false},
		{"brand", "", "מאפייה שכונתית", "bakery", false},
		{"brand", "", "ร้านเบเกอรี่", "bakery", false},
		{"brand", "", "Tiệm bánh nhỏ", "bakery", false},
		{"brand", "", "Кондитерская у дома", "bakery", false},
	} {
		got := business.Of(c.factory, c.audience, c.text)
		if got.Name != c.want || got.Office != c.office || len(got.Hours) == 0 || len(got.FreeHours) == 0 {
			t.Errorf("%q is %+v, want %s", c.text, got, c.want)
		}
		if business.Named(got.Name).Hours[0] != got.Hours[0] || business.Named(got.Name).Office != got.Office {
			t.Errorf("%s is not found by its name", got.Name)
		}
	}
}
