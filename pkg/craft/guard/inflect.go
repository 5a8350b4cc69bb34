package guard

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// inflections are the endings that the forms of one word may differ by. The stem of a word is what is left without its
// first ending that fits, as long as three letters stay.
var inflections = map[string]string{
	"en": "est er ing ed es s ly 's",
	"de": "eren erer eres erem ere sten ster stes stem ste er es en em e s n st",
	"es": "ísimos ísimas ísimo ísima itos itas ito ita os as es o a e",
	"pt": "íssimos íssimas íssimo íssima inhos inhas inho inha os as es o a e",
	"it": "issimi issime issimo issima hi he i e o a",
	"fr": "ères ère es s e",
	"pl": "szego szemu szych szymi szym szej szą szy sze sza iego iemu iej ich imi im ego emu ej ych ymi ym ą ę ie " +
		"owi ów om ach ami em y i e a o u",
	"uk": "ішого ішому ішими ішій ішою ішої ішим іших іший іша іше іші шого шому шими шій шої шим ших ший ша ше ші " +
		"ого ому ими ій ою ої им их ий а е і у и о",
	"hi": "ियों ियाँ ों ें ा ी े ो",
	"ko": "하고 한데 하게 합니다 하지 해서 해요 한 해 할 하",
	"he": "ים ות ה ת י",
	"ar": "ات ون ين ان ها هم ا ه ة ي",
}

// suffixes are the endings that may follow one another in Turkish.
var suffixes = strings.Fields("lar ler ın in un ün nın nin nun nün ım im um üm ı i u ü a e yı yi yu yü ya ye nı ni " +
	"nu nü na ne sı si su sü da de ta te dan den tan ten nda nde ndan nden dır dir dur dür tır tir tur tür ca ce ça " +
	"çe la le yla yle ki dı di du dü tı ti tu tü mış miş muş müş sa se")

// particles may follow a Korean word without a space between them.
var particles = strings.Fields("은 는 이 가 을 를 의 에 에서 에게 로 으로 와 과 도 만 보다 까지 부터 라고 이라고 이나 나 처럼 입니다 이에요 예요")

// sameWord reports whether a word of a text is the forbidden one or a form of it. Both are plain.
func (l *lexicon) sameWord(word, forbidden string) bool {
	if word == forbidden {
		return true
	}
	if unicode.Is(unicode.Cyrillic, first(forbidden)) {
		if stem(word) == stem(forbidden) || stem(strings.TrimSuffix(word, "ле")) == stem(forbidden) {
			return true
		}
	}
	word, forbidden = l.fold(word), l.fold(forbidden)
	switch l.base {
	case "tr":
		rest, ok := strings.CutPrefix(word, forbidden)
		return ok && agglutinated(rest)
	case "ko":
		if rest, ok := strings.CutPrefix(word, forbidden); ok && slices.Contains(particles, rest) {
			return true
		}
	case "ar":
		word, forbidden = strings.ReplaceAll(word, "ى", "ي"), strings.ReplaceAll(forbidden, "ى", "ي")
		word = unprefixed(word, "وال فال بال كال ال لل و ف ب ل ك")
	case "he":
		word = unprefixed(word, "שה מה וה בה לה ה ו ב ל מ ש כ")
	case "pl":
		word, forbidden = polish.Replace(word), polish.Replace(forbidden)
	}
	endings := strings.Fields(inflections[l.base])
	return len(endings) > 0 && (inflected(word, forbidden, endings) || l.base == "fr" &&
		inflected(word, strings.TrimSuffix(forbidden, "er"), []string{"ère", "ères"}) &&
		strings.HasSuffix(forbidden, "er"))
}

// polish writes a letter that changes before an ending without its sign.
var polish = strings.NewReplacer("ń", "n", "ś", "s", "ź", "z", "ć", "c")

func first(word string) rune {
	r, _ := utf8.DecodeRuneInString(word)
	return r
}

// inflected reports whether a word is the stem of the forbidden one with another ending or none.
func inflected(word, forbidden string, endings []string) bool {
	for _, base := range append([]string{""}, endings...) {
		stem, ok := strings.CutSuffix(forbidden, base)
		if !ok || utf8.RuneCountInString(stem) < leastStem {
			continue
		}
		if rest, ok := strings.CutPrefix(word, stem); ok && (rest == "" || slices.Contains(endings, rest)) {
			return true
		}
	}
	return false
}

// unprefixed returns a word without the first of the prefixes that it has, as long as three letters stay.
func unprefixed(word, prefixes string) string {
	for prefix := range strings.FieldsSeq(prefixes) {
		if rest, ok := strings.CutPrefix(word, prefix); ok && utf8.RuneCountInString(rest) >= leastStem {
			return rest
		}
	}
	return word
}

// agglutinated reports whether a text is a row of Turkish endings.
func agglutinated(rest string) bool {
	return rest == "" || slices.ContainsFunc(suffixes, func(s string) bool {
		after, ok := strings.CutPrefix(rest, s)
		return ok && agglutinated(after)
	})
}
