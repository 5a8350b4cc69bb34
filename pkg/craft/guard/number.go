package guard

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// thaiDigits and thaiPowers are the parts of numbers in Thai. 20 begins with ยี่, and a last 1 is เอ็ด.
var (
	thaiDigits = map[string]float64{"หนึ่ง": 1, "เอ็ด": 1, "สอง": 2, "ยี่": 2, "สาม": 3, "สี่": 4, "ห้า": 5, "หก": 6,
		"เจ็ด": 7, "แปด": 8, "เก้า": 9}
	thaiPowers = map[string]float64{"สิบ": 10, "ร้อย": 100, "พัน": 1e3, "หมื่น": 1e4, "แสน": 1e5, "ล้าน": 1e6}

	thaiPart = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`หนึ่ง|เอ็ด|สอง|ยี่|สาม|สี่|ห้า|หก|เจ็ด|แปด|เก้า|สิบ|ร้อย|พัน|หมื่น|แสน|ล้าน`)
	})
	// thaiNumber matches a number of a digit and a power at least. Single words also stand for something else.
	thaiNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:(?:หนึ่ง|สอง|ยี่|สาม|สี่|ห้า|หก|เจ็ด|แปด|เก้า)?(?:สิบ|ร้อย|พัน|หมื่น|แสน|ล้าน)` +
			`(?:หนึ่ง|เอ็ด|สอง|สาม|สี่|ห้า|หก|เจ็ด|แปด|เก้า)?){1,7}`)
	})
	// tenThousands matches a number in digits before the sign for ten thousand.
	tenThousands = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(\d+(?:[.,]\d+)?)\s?(?:万|萬|만)\s?(?:(\d{1,4})(천)?)?`)
	})
)

// thaiValue returns the value of a number in Thai.
func thaiValue(text string) (total float64) {
	digit := 0.0
	million := 0.0
	for _, part := range thaiPart().FindAllString(text, -1) {
		if v, ok := thaiDigits[part]; ok {
			digit = v
			continue
		}
		power := thaiPowers[part]
		if power == 1e6 {
			million, total, digit = (total+max(digit, 0))*power, 0, 0
			if million == 0 {
				million = power
			}
			continue
		}
		total, digit = total+max(digit, 1)*power, 0
	}
	return million + total + digit
}

// thai writes the numbers of a text in Thai in digits.
func thai(text string) string {
	return thaiNumber().ReplaceAllStringFunc(text, func(m string) string {
		if len(thaiPart().FindAllString(m, -1)) < 2 {
			return m
		}
		return fmt.Sprintf("%.0f", thaiValue(m))
	})
}

// wholeTenThousands writes 1.2万 as 12000.
func wholeTenThousands(text string) string {
	return tenThousands().ReplaceAllStringFunc(text, func(m string) string {
		n := tenThousands().FindStringSubmatch(m)
		more := float64(atoi(n[2]))
		if n[3] != "" {
			more *= 1000
		}
		after := ""
		if strings.HasSuffix(m, " ") {
			after = " "
		}
		return fmt.Sprintf("%.0f%s", valuesOf(n[1])[0]*10000+more, after)
	})
}

// numberOf returns the value of a text that is one number in words.
func (l *lexicon) numberOf(text string) (v float64, ok bool) {
	text = l.fold(normal(text))
	switch l.base {
	case "th":
		return thaiValue(text), thaiPart().ReplaceAllString(text, "") == ""
	case "ja", "zh":
		return hanValue(text), strings.Trim(text, hanDigits) == ""
	case "ko":
		return koreanValue(text), true
	}
	text = strings.ReplaceAll(text, ",", "")
	words := wordText().FindAllStringIndex(text, -1)
	v, n := l.number(text, words, 0, false)
	return v, n == len(words)
}
