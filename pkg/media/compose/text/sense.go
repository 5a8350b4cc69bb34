package text

import (
	"strings"
	"unicode"
)

// functionWords are the words of a language that belong to the word after them: articles, prepositions, conjunctions,
// pronouns and auxiliary verbs. No line and no page ends with one.
var functionWords = map[string]map[string]bool{
	"en": wordsOf("a an the of in on at to for from by with without about into onto over under after before between " +
		"through as than and or but nor so if that which who whose when while because is are was were be been am has " +
		"have had do does did will would can could may might must should not no my your his her its our their this " +
		"these those every each some any very too more most i you he she it we they there"),
	"de": wordsOf("der die das den dem des ein eine einen einem einer eines in im an am auf aus bei beim mit nach " +
		"von vom vor zu zum zur für gegen ohne um durch über unter zwischen seit bis und oder aber denn sondern wenn " +
		"weil dass als wie ob nicht kein keine mein meine dein deine sein seine ihr ihre unser unsere euer dieser " +
		"diese dieses jeder jede jedes sehr mehr ich du er sie es wir man"),
	"es": wordsOf("el la los las un una unos unas de del en a al con sin por para sobre entre desde hasta hacia " +
		"según tras y e o u ni pero sino que si como cuando porque es son era eran fue ha han había se me te le lo " +
		"nos les no mi mis tu tus su sus nuestro nuestra este esta estos estas cada muy más yo él ella"),
	"fr": wordsOf("le la les un une des du de d l à au aux en dans sur sous avec sans pour par chez " +
		"vers entre depuis contre et ou mais ni que qui quand si comme car est sont était ont " +
		"a se me te ne pas plus très mon ma mes ton ta tes son sa ses notre nos votre vos " +
		"leur leurs ce cet cette ces chaque je tu il elle on nous vous ils elles"),
	"it": wordsOf("il lo la i gli le un uno una di del dello della dei degli delle a al allo alla ai " +
		"agli alle da dal dalla in nel nello nella nei nelle con su sul sulla per tra fra " +
		"senza e ed o ma né che chi se come quando perché è sono era ha hanno si mi ti ci vi " +
		"non più molto mio mia tuo tua suo sua nostro nostra questo questa questi queste ogni"),
	"pt": wordsOf("o a os as um uma uns umas de do da dos das em no na nos nas ao à aos às com sem por pelo pela " +
		"para sobre entre desde até e ou mas nem que se como quando porque é são era foi há tem me te lhe não mais " +
		"muito meu minha teu tua seu sua nosso nossa este esta esse essa cada eu ele ela"),
	"ru": wordsOf("в во на с со к ко у о об обо от ото из изо за до по под над при про для без через между перед и а " +
		"но или да либо что чтобы как если когда где чем то же ли бы не ни это этот эта эти тот мой моя твой твоя " +
		"свой своя наш наша ваш ваша его её их каждый каждая очень самый самая более я ты он она мы вы они"),
	"uk": wordsOf("в у на з із зі до від за по під над при про для без через між перед і й та а але або чи що щоб як " +
		"якщо коли де ніж то ж би не ні це цей ця ці той мій моя твій твоя свій своя наш наша ваш ваша його її їх " +
		"кожен кожна дуже самий більш я ти він вона ми ви вони"),
	"pl": wordsOf("w we na z ze do od ode za po pod nad przy o u dla bez przez między przed i a ale lub albo oraz " +
		"ani że żeby jak jeśli gdy kiedy czy niż to nie jest są był była było mój moja twój twoja swój swoja nasz " +
		"nasza wasz jego jej ich ten ta te ci każdy każda bardzo ja ty on ona my wy"),
	"tr": wordsOf("bir bu şu o ve veya ya ama fakat her hiç çok daha en ne ki eğer çünkü"),
}

// postpositions are the words of a language that belong to the word before them. No line and no page begins with one.
var postpositions = map[string]map[string]bool{
	"tr": wordsOf("ile için gibi kadar göre karşı doğru sonra önce beri de da mi mı mu mü"),
	"hi": wordsOf("का की के को में से पर ने तक है हैं था थे थी भी ही"),
}

func wordsOf(s string) map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq(s) {
		all[w] = true
	}
	return all
}

// bind sets which units belong to the one after them: numbers, function words, and words before a postposition.
func bind(units []unit, lang string) {
	lang, _, _ = strings.Cut(strings.ToLower(lang), "-")
	for i := range units[:max(len(units)-1, 0)] {
		u := &units[i]
		if endOf(*u) != word || u.space == 0 {
			continue
		}
		bare := bareWord(u.text())
		if lang == "fr" || lang == "it" { // the article of "l'eau" is not a word by itself
			if _, rest, ok := strings.Cut(bare, "’"); ok {
				bare = rest
			}
		}
		u.binds = functionWords[lang][bare] || numeric(bare) ||
			postpositions[lang][bareWord(units[i+1].text())]
	}
}

// bareWord returns a word in lower case without the marks around it.
func bareWord(s string) string {
	return strings.ToLower(strings.TrimFunc(strings.ReplaceAll(s, "'", "’"), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}))
}

// numeric reports whether a word is a number without its noun.
func numeric(s string) bool {
	return strings.ContainsFunc(s, unicode.IsDigit) && !strings.ContainsFunc(s, unicode.IsLetter)
}

// inJapanese reports whether a text is Japanese.
func inJapanese(text, lang string) bool {
	lang, _, _ = strings.Cut(strings.ToLower(lang), "-")
	return lang == "ja" || lang != "zh" && lang != "ko" && strings.ContainsFunc(text, kana)
}

func kana(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) }

// phraseBreak reports whether a phrase of a Japanese text ends before a character. A phrase is a word with its
// particles and endings, which are in Hiragana, so that the next one begins with another kind of character. Without a
// dictionary, a phrase that begins with Hiragana is joined with the one before it, unless a particle ends that one.
func phraseBreak(chars []rune, at int) bool {
	if at <= 0 || at >= len(chars) {
		return true
	}
	before, after := chars[at-1], chars[at]
	hiragana := func(r rune) bool { return unicode.Is(unicode.Hiragana, r) }
	letter := func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Latin) || unicode.IsDigit(r) ||
			r == 'ー'
	}
	switch {
	case !letter(before) || !letter(after): // punctuation, spaces and emoji have their own rules
		return true
	case hiragana(before) && !hiragana(after):
		// A polite prefix belongs to its word.
		return (before != 'お' && before != 'ご') || at > 1 && hiragana(chars[at-2])
	case hiragana(before) && hiragana(after):
		return strings.ContainsRune("をはがに", before) && at > 1 && !hiragana(chars[at-2])
	}
	return false
}
