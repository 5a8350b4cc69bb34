package guard

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// leastWithin is the shortest Latin name that is found inside of a longer word, in characters.
const leastWithin = 4

// within reports whether a text has a Latin name glued to other text: to letters of another script, as in 比IKEA好, or
// to words that begin with a capital letter, as in #BetterThanRevolut and RevolutKiller.
func within(text, name string) bool {
	text, name = normal(text), strings.ReplaceAll(normal(name), " ", "")
	if utf8.RuneCountInString(name) < leastWithin || strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r)
	}) {
		return false
	}
	lower, wanted := strings.ToLower(text), strings.ToLower(name)
	if len(lower) != len(text) {
		text = lower
	}
	for at := 0; ; {
		i := strings.Index(lower[at:], wanted)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(wanted)
		before, _ := utf8.DecodeLastRuneInString(text[:from])
		after, _ := utf8.DecodeRuneInString(text[to:])
		start, _ := utf8.DecodeRuneInString(text[from:])
		if (!latinLetter(before) || unicode.IsLower(before) && unicode.IsUpper(start)) &&
			(!latinLetter(after) || unicode.IsUpper(after) && unicode.IsLower(lastRune(text[:to]))) {
			return true
		}
		at = to
	}
}

func latinLetter(r rune) bool { return unicode.Is(unicode.Latin, r) }

// sounds are the Latin letters for which a letter of another script may stand in a name. A letter with none is not
// heard, as far as the comparison goes: vowels are left out.
var sounds = map[rune]string{
	'б': "b", 'в': "vw", 'г': "gh", 'ґ': "g", 'д': "d", 'ж': "gjz", 'з': "zs", 'к': "kcq", 'л': "l", 'м': "m",
	'н': "n", 'п': "p", 'р': "r", 'с': "scz", 'т': "t", 'ф': "f", 'х': "hkc", 'ц': "czts", 'ч': "c", 'ш': "s", 'щ': "s",
	'β': "bv", 'γ': "g", 'δ': "d", 'ζ': "z", 'θ': "t", 'κ': "kcq", 'λ': "l", 'μ': "m", 'ν': "n", 'π': "p", 'ρ': "r",
	'σ': "s", 'ς': "s", 'τ': "t", 'φ': "f", 'χ': "h",
	'ב': "bv", 'ג': "gj", 'ד': "d", 'ז': "z", 'ח': "h", 'ט': "t", 'כ': "kc", 'ך': "kc", 'ל': "l", 'מ': "m", 'ם': "m",
	'נ': "n", 'ן': "n", 'ס': "scz", 'פ': "pf", 'ף': "pf", 'צ': "cz", 'ץ': "cz", 'ק': "kcq", 'ר': "r", 'ש': "s", 'ת': "t",
	'ب': "bp", 'پ': "p", 'ت': "t", 'ث': "t", 'ج': "gj", 'ح': "h", 'خ': "k", 'د': "d", 'ر': "r", 'ز': "zs", 'س': "scz",
	'ش': "s", 'ص': "s", 'ط': "t", 'غ': "g", 'ف': "fv", 'ق': "gqk", 'ك': "kcqg", 'ل': "l", 'م': "m", 'ن': "n",
	'क': "kcq", 'ख': "k", 'ग': "g", 'घ': "g", 'च': "c", 'ज': "jgz", 'ट': "t", 'ड': "d", 'त': "t", 'द': "d", 'न': "n",
	'प': "p", 'फ': "fp", 'ब': "b", 'म': "m", 'र': "r", 'ल': "l", 'व': "vw", 'श': "s", 'स': "scz", 'ह': "h",
}

// kana are the consonants of the rows of Katakana, from カ.
var kana = map[string]string{"カキクケコ": "kcq", "ガギグゲゴ": "g", "サシスセソ": "scz", "ザジズゼゾ": "zjs", "タチツテト": "tc",
	"ダヂヅデド": "d", "ナニヌネノン": "nm", "ハヒフヘホ": "hf", "バビブベボ": "bv", "パピプペポ": "p", "マミムメモ": "m",
	"ラリルレロ": "rl", "ヴ": "v", "ワ": "w"}

// hangul are the consonants of the first and of the last letters of syllables, in the order of Unicode.
var (
	hangulFirst = strings.Split("gkc,kc,n,td,td,rl,mb,bpv,p,sc,s,,jzg,j,c,kcq,t,pf,h", ",")
	hangulLast  = strings.Split(",kcg,k,k,n,n,n,td,rl,l,l,l,l,l,l,l,m,bp,b,stc,s,n,t,t,k,t,p,t", ",")
)

// heard returns the consonants of a word of another script: the Latin letters for which each may stand.
func heard(word string) (all []string) {
	for _, r := range strings.ToLower(word) {
		switch {
		case sounds[r] != "":
			all = append(all, sounds[r])
		case r >= 0xac00 && r <= 0xd7a3:
			n := int(r - 0xac00)
			for _, s := range []string{hangulFirst[n/588], hangulLast[n%28]} {
				if s != "" {
					all = append(all, s)
				}
			}
		case unicode.Is(unicode.Katakana, r):
			for row, s := range kana {
				if strings.ContainsRune(row, r) {
					all = append(all, s)
				}
			}
		}
	}
	return all
}

// consonants returns the consonants of a Latin name, each of a doubled one once.
func consonants(name string) (all []rune) {
	for _, r := range strings.ToLower(name) {
		if r < 'a' || r > 'z' || strings.ContainsRune("aeiouyw", r) || len(all) > 0 && all[len(all)-1] == r {
			continue
		}
		all = append(all, r)
	}
	return all
}

// leastConsonants is the number of consonants from which a name is known in the letters of another script.
const leastConsonants = 4

// hasName reports whether a text has a Latin name in the letters of another script, such as Револют for Revolut.
func hasName(text, name string) bool {
	wanted := consonants(name)
	if len(wanted) < leastConsonants || strings.Contains(name, " ") || !latinLetter(first(name)) {
		return false
	}
	return slices.ContainsFunc(wordsOf(normal(text)), func(word string) bool {
		if latinLetter(first(word)) {
			return false
		}
		found := heard(word)
		// A form of the word may have an ending.
		if len(found) < len(wanted) || len(found) > len(wanted)+1 ||
			utf8.RuneCountInString(word) > 2*utf8.RuneCountInString(name) {
			return false
		}
		for i, r := range wanted {
			if !strings.ContainsRune(found[i], r) {
				return false
			}
		}
		return true
	})
}
