package x

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// The configuration of counting (twitter-text, config/v3.json): a text may weigh 280. Characters of the ranges weigh 1,
// others 2, an emoji 2, and a link 23, in the form NFC.
const (
	mostWeight = 280
	linkWeight = 23
)

// light are the ranges of the characters that weigh 1.
var light = &unicode.RangeTable{R16: []unicode.Range16{{0, 4351, 1}, {8192, 8205, 1}, {8208, 8223, 1},
	{8242, 8247, 1}}, LatinOffset: 1}

// emoji is an emoji with its parts: a flag, a keycap, or pictures that are joined.
var emoji = regexp.MustCompile(`[\x{1F1E6}-\x{1F1FF}]{2}|[0-9#*]\x{FE0F}?\x{20E3}|` + picture +
	`(?:\x{200D}` + picture + `)*`)

// picture is one picture with its variation or its colour of skin.
const picture = `[\x{00A9}\x{00AE}\x{203C}\x{2049}\x{2122}\x{2139}\x{2194}-\x{21AA}\x{231A}-\x{23FF}\x{24C2}\x{25AA}-` +
	`\x{27BF}\x{2934}-\x{2B55}\x{3030}\x{303D}\x{3297}\x{3299}\x{1F004}-\x{1FAFF}]\x{FE0F}?[\x{1F3FB}-\x{1F3FF}]?`

// address is what may be a link: with a protocol or without, and the characters that twitter-text takes in paths.
var address = regexp.MustCompile(`(?i)(https?://)?((?:[a-z0-9\x{00C0}-\x{024F}](?:[a-z0-9_\x{00C0}-\x{024F}-]{0,62}` +
	`[a-z0-9\x{00C0}-\x{024F}])?\.)+)([a-z]{2,24})\b(:\d+)?(/[a-z0-9!*';:=+,.$%#\[\]&|@~_\x{0400}-\x{04FF}/()-]*)?` +
	`(\?[a-z0-9!?*'();:&=+$/%#\[\]_.,~|@-]*)?`)

// generic are the top-level domains of more than two letters that the fake knows. Those of two letters are countries.
const generic = " com net org info biz edu gov int mil pro name app dev shop store online site blog xyz news media " +
	"agency cloud page tech design studio world live life today email link video music social "

// links returns where the links of a text begin and end. X knows a link without protocol by its domain alone; one in a
// country needs a path, but for co and tv.
func links(text string) (all [][2]int) {
	for _, m := range address.FindAllStringSubmatchIndex(text, -1) {
		whole, domain := text[m[0]:m[1]], strings.ToLower(text[m[6]:m[7]])
		country := len(domain) == 2
		before := rune(' ')
		for _, r := range text[:m[0]] {
			before = r
		}
		bare := m[2] < 0 && country && domain != "co" && domain != "tv" && m[10] < 0
		joined := strings.ContainsRune("@＠$#＃-_./", before) || unicode.IsLetter(before) && before < 0x3000 ||
			unicode.IsDigit(before)
		if joined || bare || !country && !strings.Contains(generic, " "+domain+" ") {
			continue
		}
		end := m[0] + len(strings.TrimRight(whole, `.,;:!?'"`))
		for strings.HasSuffix(text[m[0]:end], ")") &&
			strings.Count(text[m[0]:end], "(") < strings.Count(text[m[0]:end], ")") {
			end--
		}
		all = append(all, [2]int{m[0], end})
	}
	return all
}

// weight returns what a text weighs.
func weight(text string) (sum int) {
	text = norm.NFC.String(text)
	at := 0
	for _, l := range links(text) {
		sum += weightOfPlain(text[at:l[0]]) + linkWeight
		at = l[1]
	}
	return sum + weightOfPlain(text[at:])
}

func weightOfPlain(text string) (sum int) {
	at := 0
	for _, m := range emoji.FindAllStringIndex(text, -1) {
		if text[m[0]] < 0x80 && m[1]-m[0] == 1 {
			continue
		}
		sum += weightOfRunes(text[at:m[0]]) + 2
		at = m[1]
	}
	return sum + weightOfRunes(text[at:])
}

func weightOfRunes(text string) (sum int) {
	for _, r := range text {
		if unicode.Is(light, r) {
			sum++
		} else {
			sum += 2
		}
	}
	return sum
}

// cashtag is a stock symbol of twitter-text: up to six letters, and a part after a point or a low line.
var cashtag = regexp.MustCompile(`(?i)(?:^|\s)\$[a-z]{1,6}(?:[._][a-z]{1,2})?(?:$|[\s!-/:-@])`)

// cashtags counts the stock symbols of a text.
func cashtags(text string) (n int) {
	for _, word := range strings.Fields(text) {
		if cashtag.MatchString(word) {
			n++
		}
	}
	return n
}
