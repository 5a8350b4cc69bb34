package guard

import (
	"strconv"
	"strings"
	"sync"
)

// figure matches a number in digits, with or without separators of thousands and decimals.
const figure = `\d{1,3}(?:[., ']\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?`

// valuesOf returns the values that a number in digits may have: a separator may be of thousands or of decimals.
func valuesOf(text string) (all []float64) {
	add := func(s string) {
		if v, err := strconv.ParseFloat(s, 64); err == nil {
			all = append(all, v)
		}
	}
	bare := strings.NewReplacer(" ", "", "'", "", ",", "", ".", "")
	last := strings.LastIndexAny(text, ".,")
	if last < 0 {
		add(bare.Replace(text))
		return all
	}
	head, tail := text[:last], text[last+1:]
	if len(tail) == 3 && len(head) <= 3 || strings.Count(text, text[last:last+1]) > 1 {
		add(bare.Replace(text))
	}
	if strings.Count(text, text[last:last+1]) == 1 {
		add(bare.Replace(head) + "." + tail)
	}
	if len(tail) == 3 && strings.ContainsAny(head, " '.,") {
		add(bare.Replace(text))
	}
	return all
}

// magnitudes multiply the number before them. Those that end with * are the beginnings of words.
var magnitudes = sync.OnceValue(func() lookup[float64] {
	return table[float64]{
		1e3: "k thousand tausend tsd тыс тысяч* mil mille mila tysiąc* bin duizend" +
			" тисяч* ألف آلاف אלף אלפים हज़ार हजार nghìn ngàn",
		1e6: "m mio mn million* millón millon millones millionen milión* milhão milhões" +
			" milion* млн миллион* мільйон* milyon" +
			" مليون ملايين מיליון",
		1e9: "bn mrd billion* milliard* млрд миллиард* bilhão bilhões miliard*",
	}.index()
})

// numerals are numbers in words that may stand before a unit.
var numerals = sync.OnceValue(func() lookup[float64] {
	return table[float64]{
		2:    "two zwei dos deux due duas dois два две двух twee",
		3:    "three drei tres trois tre três три трех трёх drie",
		4:    "four vier cuatro quatre quattro quatro четыре четырех четырёх",
		5:    "five fünf cinco cinq cinque пять пяти vijf",
		6:    "six sechs seis sei шесть шести zes",
		7:    "seven sieben siete sept sette sete семь семи zeven",
		8:    "eight acht ocho huit otto oito восемь восьми",
		9:    "nine neun nueve neuf nove девять девяти negen",
		10:   "ten zehn diez dix dieci dez десять десяти tien",
		12:   "twelve zwölf doce douze dodici doze двенадцать двенадцати twaalf",
		15:   "fifteen fünfzehn quince quinze quindici пятнадцать пятнадцати vijftien",
		20:   "twenty zwanzig veinte vingt venti vinte двадцать двадцати twintig",
		25:   "twenty-five fünfundzwanzig veinticinco vingt-cinq venticinque",
		30:   "thirty dreißig treinta trente trenta trinta тридцать тридцати dertig",
		40:   "forty vierzig cuarenta quarante quaranta quarenta сорок сорока veertig",
		50:   "fifty fünfzig cincuenta cinquante cinquanta cinquenta пятьдесят пятидесяти vijftig",
		60:   "sixty sechzig sesenta soixante sessanta sessenta шестьдесят шестидесяти zestig",
		70:   "seventy siebzig setenta soixante-dix settanta семьдесят семидесяти zeventig",
		75:   "seventy-five fünfundsiebzig",
		80:   "eighty achtzig ochenta quatre-vingt quatre-vingts ottanta oitenta восемьдесят восьмидесяти tachtig",
		90:   "ninety neunzig noventa quatre-vingt-dix novanta девяносто negentig",
		100:  "hundred hundert einhundert cien cent cento cem сто ста honderd",
		200:  "zweihundert doscientos doscientas duecento duzentos двести двухсот",
		300:  "dreihundert trescientos trescientas trecento trezentos триста трехсот трёхсот",
		500:  "fünfhundert quinientos quinientas cinquecento quinhentos пятьсот пятисот",
		1000: "thousand tausend eintausend mil mille тысяча тысячу",
	}.index()
})

// table has the words for values, divided by spaces. A word with * matches all words that begin with it.
type table[V comparable] map[V]string

// lookup finds the value of a word.
type lookup[V comparable] struct {
	whole, begins map[string]V
	longest       int // of the beginnings, in bytes
}

func (t table[V]) index() lookup[V] {
	l := lookup[V]{whole: map[string]V{}, begins: map[string]V{}}
	for v, words := range t {
		for word := range strings.FieldsSeq(words) {
			if head, ok := strings.CutSuffix(word, "*"); ok {
				l.begins[head] = v
				l.longest = max(l.longest, len(head))
				continue
			}
			l.whole[word] = v
		}
	}
	return l
}

// of returns the value of a word in lower case, and reports whether it has one.
func (l lookup[V]) of(word string) (v V, ok bool) {
	if v, ok = l.whole[word]; ok {
		return v, true
	}
	for n := min(len(word), l.longest); n > 0; n-- {
		if v, ok = l.begins[word[:n]]; ok {
			return v, true
		}
	}
	return v, false
}
