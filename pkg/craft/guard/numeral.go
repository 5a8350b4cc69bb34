package guard

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// value returns the value of one number word, which may be written with its prefix or joined of several.
func (l *lexicon) value(word string) (v float64, ok bool) {
	word = l.fold(word)
	if v, ok = l.numbers.of(word); ok {
		return v, true
	}
	if p := prefixes[l.base]; p != "" {
		r, size := utf8.DecodeRuneInString(word)
		if strings.ContainsRune(p, r) && len(word) > 3*size {
			return l.numbers.of(word[size:])
		}
	}
	if l.joined {
		return l.compound(word)
	}
	return 0, false
}

// compound returns the value of a number that is one word, such as neunundachtzig.
func (l *lexicon) compound(word string) (float64, bool) {
	var sum numberSum
	for rest := word; rest != ""; {
		found := 0
		for n := len(rest); n > 1 && found == 0; n-- {
			if v, ok := l.numbers.whole[rest[:n]]; ok && sum.add(v, l.base) {
				found = n
			}
		}
		if found == 0 {
			after, ok := strings.CutPrefix(rest, "und")
			if !ok || l.base != "de" || rest == word {
				return 0, false
			}
			rest, sum.joined = after, true
			continue
		}
		rest = rest[found:]
	}
	return sum.total + sum.current, sum.parts > 0
}

// numberSum adds the parts of a number.
type numberSum struct {
	total, current float64
	parts          int
	joined         bool
}

// add adds a part, and reports false if it begins another number.
func (s *numberSum) add(v float64, base string) bool {
	low := float64(int(s.current) % 100)
	switch {
	case v >= 1000:
		s.total, s.current = s.total+max(s.current, 1)*v, 0
	case v == 100 && s.current < 10:
		s.current = max(s.current, 1) * v
	case base == "fr" && v == 20 && low == 4:
		s.current += 76
	case base == "fr" && (low == 60 || low == 80) && v < 20:
		s.current += v
	case low == 0 && s.current != 0 || s.current == 0 && (s.parts == 0 || s.total > 0):
		s.current += v
	case low >= 20 && int(low)%10 == 0 && v < 10:
		s.current += v
	case s.joined && low > 0 && low < 10 && v >= 20 && v < 100:
		s.current += v
	default:
		return false
	}
	s.parts, s.joined = s.parts+1, false
	return true
}

// number returns the value of the number words that begin at word i of a text, and how many words they are. The words
// of inputs may be foreign.
func (l *lexicon) number(text string, words [][]int, i int, foreign bool) (v float64, n int) {
	var sum numberSum
	for k := i; k < len(words); k++ {
		word := l.fold(text[words[k][0]:words[k][1]])
		if k > i {
			if gap := text[words[k-1][1]:words[k][0]]; gap != " " && gap != "-" {
				return sum.total + sum.current, n
			}
			if l.join[word] && k+1 < len(words) {
				sum.joined = true
				continue
			}
			sum.joined = sum.joined || l.base == "ar" && strings.HasPrefix(word, "و")
		}
		part, ok := l.value(word)
		if !ok && (foreign || len(l.numbers.whole) == 0) {
			part, ok = numerals().of(word)
		}
		if !ok || !sum.add(part, l.base) {
			break
		}
		n = k - i + 1
	}
	return sum.total + sum.current, n
}

// hanDigits are the numbers of Chinese and Japanese.
const hanDigits = "〇零一二三四五六七八九十百千万两兩"

// hanValue returns the value of a number in Chinese or Japanese characters.
func hanValue(text string) float64 {
	return eastValue(text, "〇一二三四五六七八九", "十百千万")
}

// koreanValue returns the value of a Sino-Korean number.
func koreanValue(text string) float64 {
	return eastValue(text, "영일이삼사오육칠팔구", "십백천만")
}

func eastValue(text, digits, powers string) (total float64) {
	section, one := 0.0, 0.0
	for _, r := range strings.NewReplacer("零", "〇", "两", "二", "兩", "二").Replace(text) {
		if i := strings.IndexRune(digits, r); i >= 0 {
			one = one*10 + float64(i/len("一"))
			continue
		}
		switch p := strings.IndexRune(powers, r) / len("一"); p {
		case 3:
			total, section, one = total+max(section+one, 1)*10000, 0, 0
		default:
			section, one = section+max(one, 1)*[]float64{10, 100, 1000}[p], 0
		}
	}
	return total + section + one
}

var (
	hanNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`([` + hanDigits + `]+)(\s?(?:%|パーセント|円|元|块|塊|月|日|号|時|点半|点钟|点|割|成|折|年|个月|か月|ヶ月|` +
			`人以上|人|名以上|名|位|多位|多名|万|小时|時間|分钟|歳|公斤|千克|克|家|店))`)
	})
	koreanNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`([영일이삼사오육칠팔구십백천만]+)(\s?(?:퍼센트|프로|원|년|개월|명|킬로))`)
	})
	koreanDate = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`([일이삼사오육칠팔구십유시]+)월\s?([일이삼사오육칠팔구십]+)일`)
	})
	koreanHour = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(한|두|세|네|다섯|여섯|일곱|여덟|아홉|열한|열두|열)\s?시(\s?반|에|부터|까지)`)
	})
	// hanHour matches an hour that is not a few points: the part of the day is before it.
	hanHour = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`((?:上午|下午|早上|晚上|夜里|凌晨|中午|傍晚|早晨)\s?)([` + hanDigits + `]+)([点點])`)
	})
	percentOf = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`百分之(\d+(?:\.\d+)?|[` + hanDigits + `]+)`)
	})
	tenths = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d+(?:\.\d+)?)\s?(割引き?|割|成|折)`) })
	// percentBefore is the form of Turkish, whose number follows.
	percentBefore = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:yüzde\s|%\s?)(\d+(?:[.,]\d+)?)`)
	})
)

// eastern writes the numbers of a text in Chinese, Japanese or Korean in digits, where they are dates, times, amounts
// or parts of a hundred. Others, such as a hundred reasons, are a manner of speech.
func (l *lexicon) eastern(text string, answer bool) string {
	switch l.base {
	case "ja", "zh":
		text = percentOf().ReplaceAllStringFunc(text, func(m string) string {
			n := strings.TrimPrefix(m, "百分之")
			if n[0] > '9' {
				n = fmt.Sprintf("%g", hanValue(n))
			}
			return n + "%"
		})
		text = hanHour().ReplaceAllStringFunc(text, func(m string) string {
			n := hanHour().FindStringSubmatch(m)
			return fmt.Sprintf("%s%g%s", n[1], hanValue(n[2]), n[3])
		})
		counted := l.has(text, "warranty") || strings.Contains(text, "客")
		text = hanNumber().ReplaceAllStringFunc(text, func(m string) string {
			n := hanNumber().FindStringSubmatch(m)
			v, unit := hanValue(n[1]), strings.TrimSpace(n[2])
			idiom := slices.Contains([]string{"年", "名", "位", "家", "店", "分钟", "小时", "時間", "人以上", "人"}, unit) && !counted
			if answer && idiom || unit == "成" && v >= 10 || unit == "折" && v >= 100 {
				return m
			}
			if unit == "折" && v > 10 {
				v /= 10
			}
			return fmt.Sprintf("%g", v) + strings.NewReplacer("块", "元", "塊", "元").Replace(n[2])
		})
		return tenths().ReplaceAllStringFunc(text, func(m string) string {
			n := tenths().FindStringSubmatch(m)
			v := valuesOf(n[1])[0]
			if n[2] == "折" {
				v = 10 - v
			}
			if v <= 0 || v >= 10 {
				return m
			}
			return fmt.Sprintf("%g%%", 10*v) + strings.TrimPrefix(strings.TrimPrefix(n[2], "割"), "成")
		})
	case "ko":
		text = koreanDate().ReplaceAllStringFunc(text, func(m string) string {
			d := koreanDate().FindStringSubmatch(m)
			month := strings.NewReplacer("유", "육", "시", "십").Replace(d[1])
			return fmt.Sprintf("%g월 %g일", koreanValue(month), koreanValue(d[2]))
		})
		text = koreanHour().ReplaceAllStringFunc(text, func(m string) string {
			n := slices.Index(strings.Fields("- 한 두 세 네 다섯 여섯 일곱 여덟 아홉 열 열한 열두"),
				koreanHour().FindStringSubmatch(m)[1])
			return fmt.Sprintf("%d시%s", n, koreanHour().FindStringSubmatch(m)[2])
		})
		return koreanNumber().ReplaceAllStringFunc(text, func(m string) string {
			n := koreanNumber().FindStringSubmatch(m)
			if strings.TrimSpace(n[2]) == "원" && !strings.ContainsAny(n[1], "십백천만") {
				return m // as in the word for a garden
			}
			if v := koreanValue(n[1]); !answer || v >= fewInWords || strings.ContainsAny(n[2], "퍼프원") ||
				l.has(text, "warranty") {
				return fmt.Sprintf("%g", v) + n[2]
			}
			return m
		})
	}
	return text
}
