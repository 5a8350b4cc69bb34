package guard

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
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

// leastNoun is the shortest word that a number counts, in characters, if it is no word for a unit.
const leastNoun = 3

// isIdiom reports whether a number is also a manner of speech, as in a hundred reasons and around 360 degrees.
func isIdiom(v float64) bool {
	return slices.Contains([]float64{24, 99, 100, 101, 360, 365, 1000, 1001, 1e6}, v)
}

// counts takes the numbers of what has no unit out of an answer: those of two digits or more before a word.
func (s *scan) counts() {
	for _, at := range figureText().FindAllStringIndex(s.text, -1) {
		before, _ := utf8.DecodeLastRuneInString(s.text[:at[0]])
		if strings.ContainsRune("#.-/:", before) || unicode.IsLetter(before) && !s.words.spaceless() {
			continue
		}
		rest := s.text[at[1]:]
		word := strings.TrimLeft(rest, " ")
		next := wordText().FindString(word)
		glued := !s.words.spaceless() && s.words.base != "ko" // such as 80s
		if next == "" || !strings.HasPrefix(word, next) || word == rest && glued ||
			utf8.RuneCountInString(next) < leastNoun && glued ||
			common()[s.words.base][strings.ToLower(next)] {
			continue
		}
		var keys []string
		for _, v := range valuesOf(s.text[at[0]:at[1]]) {
			if times, ok := magnitudes().of(strings.ToLower(next)); ok {
				v *= times
			}
			if v < fewInWords || isIdiom(v) {
				keys = nil
				break
			}
			keys = append(keys, fmt.Sprintf("count %.6g", v))
		}
		if len(keys) > 0 {
			end := at[1] + len(rest) - len(word) + len(next)
			s.take(at[0], at[1], aQuantity, keys)
			s.claims[len(s.claims)-1].text = strings.Trim(s.maskedText[at[0]:end], " ")
		}
	}
}

var (
	halfMillion = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:half a million|medio millón de|medio millón|un demi-million d[e']|` +
			`demi-million|mezzo milione di|meio milhão de|pół miliona|полмиллиона|півмільйона|eine halbe million|` +
			`yarım milyon|` +
			`نصف مليون|חצי מיליון|nửa triệu|ครึ่งล้าน)`)
	})
	// centsText matches the whole part of a price and the word for its hundredths, as in sette euro e cinquanta.
	centsText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(\d+) ([Ee]uros?) (?:e |et |y |und |con )?(\p{L}+(?:-\p{L}+)?)`)
	})
)

// halfMillions writes half a million in digits.
func (l *lexicon) halfMillions(text string) string {
	return halfMillion().ReplaceAllString(text, "500000")
}

// cents writes a price whose hundredths are a word in digits.
func (l *lexicon) cents(text string) string {
	return centsText().ReplaceAllStringFunc(text, func(m string) string {
		n := centsText().FindStringSubmatch(m)
		v := 0.0
		for part := range strings.SplitSeq(n[3], "-") {
			one, ok := l.value(part)
			if !ok {
				return m
			}
			v += one
		}
		if v < 2 || v > 99 {
			return m
		}
		return fmt.Sprintf("%s.%02.0f %s", n[1], v, n[2])
	})
}
