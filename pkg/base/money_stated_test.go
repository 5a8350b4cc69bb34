package base_test

import (
	"slices"
	"testing"

	"github.com/content-automation/api/pkg/base/money"
)

func TestPricesThatTextsState(t *testing.T) {
	price := money.Price{Amount: 12900, Currency: "EUR"}
	thousand := money.Price{Amount: 129950, Currency: "EUR"}
	for _, c := range []struct {
		text string
		of   money.Price
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
		{"$129", money.Price{Amount: 12900, Currency: "USD"}, true}, {"US$129.00", money.Price{Amount: 12900, Currency: "USD"}, true},
		{"129 dollars", money.Price{Amount: 12900, Currency: "CAD"}, true}, {"129 долларов", money.Price{Amount: 12900, Currency: "USD"}, true},
		{"129 דולר", money.Price{Amount: 12900, Currency: "USD"}, true},
		{"¥12,900", money.Price{Amount: 12900, Currency: "JPY"}, true}, {"12,900円", money.Price{Amount: 12900, Currency: "JPY"}, true},
		{"129,000원에", money.Price{Amount: 129000, Currency: "KRW"}, true}, {"129 рублей", money.Price{Amount: 12900, Currency: "RUB"}, true},
		{"129元", money.Price{Amount: 12900, Currency: "CNY"}, true}, {"₩129,000", money.Price{Amount: 129000, Currency: "KRW"}, true},
		{"129,000원", money.Price{Amount: 129000, Currency: "KRW"}, true},
		{"12 900 руб.", money.Price{Amount: 1290000, Currency: "RUB"}, true}, {"12 900 ₽", money.Price{Amount: 1290000, Currency: "RUB"}, true},
		{"₹1,29,900", money.Price{Amount: 12990000, Currency: "INR"}, true}, {"129 zł", money.Price{Amount: 12900, Currency: "PLN"}, true},
		{"129 złotych", money.Price{Amount: 12900, Currency: "PLN"}, true},
		{"1 299 Kč", money.Price{Amount: 129900, Currency: "CZK"}, true}, {"1 299 kr", money.Price{Amount: 129900, Currency: "SEK"}, true},
		{"R$ 129,90", money.Price{Amount: 12990, Currency: "BRL"}, true}, {"129 reais", money.Price{Amount: 12900, Currency: "BRL"}, true},
		{"CHF 129.–", money.Price{Amount: 12900, Currency: "CHF"}, true}, {"129 บาท", money.Price{Amount: 12900, Currency: "THB"}, true},
		{"1.250 KWD", money.Price{Amount: 1250, Currency: "KWD"}, true}, {"١٫٢٥٠ دينار", money.Price{Amount: 1250, Currency: "KWD"}, true},
		{"129 ₪", money.Price{Amount: 12900, Currency: "ILS"}, true}, {"129 TL", money.Price{Amount: 12900, Currency: "TRY"}, true},
		{"129 kronor", money.Price{Amount: 12900, Currency: "SEK"}, true},
	} {
		all := money.In(c.text)
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
		for _, s := range money.In(text) {
			t.Errorf("%s states %+v", text, s)
		}
	}
}
