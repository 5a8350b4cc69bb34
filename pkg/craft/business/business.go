// Package business tells from the texts of a channel what kind of business it is: when its readers are there, and
// whether they are at work. The kinds are the lines of kinds.tsv: a name, b2b if the readers are at work, the hours of
// working days and of other days, the best first, and the words of the kind in 18 languages. A word counts at the
// beginning of a word of a text, and in scripts without spaces anywhere; = stands for a space. Start with Of.
package business

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed kinds.tsv
var table string

// Kind is a kind of business.
type Kind struct {
	Name string
	// Office reports whether its readers are at work: not on weekends and holidays.
	Office bool
	// Hours are the hours at which its readers are there on working days, the best first, and FreeHours those of other
	// days.
	Hours, FreeHours []int
	words            []string
}

// kinds are the lines of the table.
var kinds = sync.OnceValue(func() (all []Kind) {
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimRight(line, "\n"), "\t")
		k := Kind{Name: cells[0], Office: cells[1] == "b2b", Hours: numbers(cells[2]), FreeHours: numbers(cells[3])}
		for word := range strings.FieldsSeq(cells[4]) {
			k.words = append(k.words, strings.ReplaceAll(word, "=", " "))
		}
		all = append(all, k)
	}
	return all
})

// typical are the kinds of factories that no word tells more of, by their type.
var typical = map[string]Kind{
	"blogger":       {Name: "blogger", Hours: []int{19, 12, 8, 21}, FreeHours: []int{10, 19, 15}},
	"seller":        {Name: "seller", Hours: []int{12, 19, 20, 9}, FreeHours: []int{11, 19, 16}},
	"expert":        {Name: "expert", Hours: []int{8, 12, 17, 20}, FreeHours: []int{10, 18}},
	"brand":         {Name: "brand", Hours: []int{12, 18, 9, 20}, FreeHours: []int{11, 19, 16}},
	"news":          {Name: "news", Hours: []int{7, 12, 18, 21, 9, 15}, FreeHours: []int{8, 12, 18, 20}},
	"entertainment": {Name: "entertainment", Hours: []int{18, 20, 12, 21}, FreeHours: []int{11, 19, 15}},
	"office":        {Name: "office", Office: true, Hours: []int{8, 12, 10, 16}, FreeHours: []int{10}},
	"musician":      {Name: "musician", Hours: []int{18, 21, 20, 12}, FreeHours: []int{13, 19}},
}

// works are words by which a channel says that its readers are at work.
var works = strings.Fields("b2b business-to-business businesses companies enterprises entrepreneurs executives " +
	"cfo cio unternehmen firmenkunden geschäftskunden mittelstand entreprises dirigeants empresas pymes aziende " +
	"imprese pmi przedsiębior menedżer предпринимател компани бизнес підприєм бізнес işletme şirket " +
	"企業 法人 기업 사업자 企业 公司 " +
	"شركات الأعمال עסקים חברות व्यवसायों कंपनियों ธุรกิจ doanh=nghiệp bedrijven företag")

// Of returns the kind of business of a channel by the type of its factory and its texts: those that say most of it
// first, the last one being the readers. News are news, whatever they are about.
func Of(factoryType string, audience string, texts ...string) Kind {
	usual, known := typical[factoryType]
	if !known {
		usual = typical["brand"]
	}
	if factoryType == "news" {
		return usual
	}
	best, most := usual, 0
	for _, k := range kinds() {
		score := 0
		for i, text := range texts {
			for _, word := range k.words {
				if holds(text, word) {
					score += len(texts) - i
				}
			}
		}
		if score > most {
			best, most = k, score
		}
	}
	if best.Name == usual.Name && slices.ContainsFunc(works, func(word string) bool {
		return holds(audience, strings.ReplaceAll(word, "=", " "))
	}) {
		best = typical["office"]
	}
	return best
}

// Named returns the kind with a name, as it is kept with a plan. One that is not known is that of a brand.
func Named(name string) Kind {
	for _, k := range kinds() {
		if k.Name == name {
			return k
		}
	}
	if k, ok := typical[name]; ok {
		return k
	}
	return typical["brand"]
}

// holds reports whether a text has a word, or a longer word that begins with it.
func holds(text, word string) bool {
	text = strings.ToLower(text)
	first, _ := utf8.DecodeRuneInString(word)
	anywhere := unicode.In(first, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai,
		unicode.Arabic, unicode.Hebrew)
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		if anywhere || at == 0 || !unicode.IsLetter(before) {
			return true
		}
		from = at + len(word)
	}
}

func numbers(text string) (all []int) {
	for word := range strings.FieldsSeq(text) {
		n, err := strconv.Atoi(word)
		if err != nil {
			panic("business: " + err.Error()) // the table is part of the program
		}
		all = append(all, n)
	}
	return all
}
