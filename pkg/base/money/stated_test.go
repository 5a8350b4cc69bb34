package money

import (
	"slices"
	"testing"
)

func TestPricesThatTextsState(t *testing.T) {
	price := Price{12900, "EUR"}
	thousand := Price{129950, "EUR"}
	for _, c := range []struct {
		text string
		of   Price
		want bool
	}{
		{"Now for 129 €", price, true}, {"Nur 129,00 €!", price, true}, {"€129", price, true},
		{"EUR 129.00", price, true}, {"129 Euro", price, true}, {"129 euros", price, true},
		{"za 129 евро", price, true}, {"129 ευρώ", price, true}, {"١٢٩ يورو", price, true}, {"129 אירו", price, true},
		{"१२९ यूरो", price, true}, {"๑๒๙ ยูโร", price, true},
		{"129欧元", price, true}, {"129ユーロ", price, true}, {"129유로", price, true}, {"１２９ユーロ", price, true},
		{"129,- €", price, true}, {"129.– Euro", price, true},
		{"only 99 €", price, false}, {"129,99 €", price, false}, {"129 $", price, false}, {"99 евро", price, false},
		{"９９ユーロ", price, false}, {"٩٩ يورو", price, false}, {"99欧元", price, false}, {"€ 12.90", price, false},
		{"1.299,50 €", thousand, true}, {"1,299.50 EUR", thousand, true}, {"1 299,50 €", thousand, true},
		{"1’299.50 Euro", thousand, true}, {"1299,5 €", thousand, true}, {"12.995 €", thousand, false},
		{"$129", Price{12900, "USD"}, true}, {"US$129.00", Price{12900, "USD"}, true},
		{"129 dollars", Price{12900, "CAD"}, true}, {"129 долларов", Price{12900, "USD"}, true},
		{"129 דולר", Price{12900, "USD"}, true},
		{"¥12,900", Price{12900, "JPY"}, true}, {"12,900円", Price{12900, "JPY"}, true},
		{"129,000원에", Price{129000, "KRW"}, true}, {"129 рублей", Price{12900, "RUB"}, true},
		{"129元", Price{12900, "CNY"}, true}, {"₩129,000", Price{129000, "KRW"}, true},
		{"129,000원", Price{129000, "KRW"}, true},
		{"12 900 руб.", Price{1290000, "RUB"}, true}, {"12 900 ₽", Price{1290000, "RUB"}, true},
		{"₹1,29,900", Price{12990000, "INR"}, true}, {"129 zł", Price{12900, "PLN"}, true},
		{"129 złotych", Price{12900, "PLN"}, true},
		{"1 299 Kč", Price{129900, "CZK"}, true}, {"1 299 kr", Price{129900, "SEK"}, true},
		{"R$ 129,90", Price{12990, "BRL"}, true}, {"129 reais", Price{12900, "BRL"}, true},
		{"CHF 129.–", Price{12900, "CHF"}, true}, {"129 บาท", Price{12900, "THB"}, true},
		{"1.250 KWD", Price{1250, "KWD"}, true}, {"١٫٢٥٠ دينار", Price{1250, "KWD"}, true},
		{"129 ₪", Price{12900, "ILS"}, true}, {"129 TL", Price{12900, "TRY"}, true},
		{"129 kronor", Price{12900, "SEK"}, true},
	} {
		all := In(c.text)
		if len(all) == 0 {
			t.Errorf("%s: no price is found", c.text)
		}
		got := true
		for _, s := range all {
			got = got && slices.Contains(s.Means(), c.of)
		}
		if got != c.want {
			t.Errorf("%s: %v of %+v, want %v", c.text, got, all, c.want)
		}
	}
}

// Numbers that are no money.
func TestNumbersThatAreNoPrices(t *testing.T) {
	for _, text := range []string{
		"5 reasons to run", "In 2026 we ran 42 km", "20 % off", "minus 20 Prozent", "-20%", "iPhone 15",
		"Run 10k in 45 minutes", "3 für 2", "Größe 42", "24/7", "Top 10!", "5 Tipps",
		"2 рубашки", "5 батончиков", "6 ft tall", "10 pounds lighter", "We won 3 medals", "our 2024 European tour",
		"100 real people", "2 soles", "2026 원칙", "3 Kronleuchter",
		"COVID-19", "M3 screws", "100% recycled", "10 000 шагов", "5つの理由", "3가지 이유", "5个理由", "१० कारण", "No. 1",
		"Chapter 3", "6 R", "Web 3.0",
	} {
		for _, s := range In(text) {
			t.Errorf("%s states %+v", text, s)
		}
	}
}
