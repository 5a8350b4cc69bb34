package text

import (
	"errors"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/go-text/typesetting/segmenter"
	"golang.org/x/text/unicode/bidi"

	language "github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/media/compose/script"
)

// Box is the place of a text, in pixels.
type Box struct {
	Width, Height float64
	// MaxEm and MinEm bound the size of the letters. The largest size that fits is used.
	MaxEm, MinEm float64
	MaxLines     int
	// MaxWords is the greatest number of words of a page. 0 is any.
	MaxWords int
	// Whole reports that no word may be divided, and that the family of the brand stays.
	Whole bool
}

// line is a line of a block.
type line struct {
	runs  []cluster
	width float64 // in pixels
	words []Word
	// parts are the parts of the line between its emoji in color, which are pictures.
	parts    []part
	pictures []picture
}

// part is a part of a line that libass draws at once.
type part struct {
	runs []cluster
	// from is the offset into the line, in bytes, before the width of the line before the part, and width that of the
	// part, in ems.
	from          int
	before, width float64
}

// Word is a part of a line that is spoken at once: a word, or a phrase of Japanese.
type Word struct {
	// Begin is the offset into the text, in bytes.
	Begin int
	// from and to are offsets into the line, in bytes.
	from, to int
	// before is the width of the line before the word, as it is read, and width that of the word, in ems.
	before, width float64
	// toLeft and toRight report the direction of the word. A number has none.
	toLeft, toRight bool
}

// against reports whether a word runs against the direction of its line.
func (w Word) against(rtl bool) bool { return rtl && w.toRight || !rtl && w.toLeft }

// Place returns the edges of a word, which counts from 1, in a block between two edges: as Marked draws it.
func (b Block) Place(n int, left, right, top float64, align Align) (from, above, to, below float64) {
	for i, l := range b.lines {
		if n > len(l.words) {
			n -= len(l.words)
			continue
		}
		w := l.words[n-1]
		before := l.seen(w, b.RTL, n-1)
		begin := left
		switch {
		case align == Center:
			begin = (left + right - l.width) / 2
		case b.RTL:
			begin = right - l.width
		}
		from = begin + before*b.Em
		if b.RTL {
			from = begin + l.width - (before+w.width)*b.Em
		}
		above = top + b.leading*float64(i)
		return from, above, from + w.width*b.Em, above + b.leading
	}
	return left, top, left, top
}

// seen returns the width of the line before a word as it is seen, in ems. Neighbors that run against the direction of
// the line change places.
func (l line) seen(w Word, rtl bool, n int) float64 {
	against := func(i int) bool {
		return i >= 0 && i < len(l.words) && l.words[i].against(rtl)
	}
	if !against(n) {
		return w.before
	}
	first, last := n, n
	for against(first - 1) {
		first--
	}
	for against(last + 1) {
		last++
	}
	begin, end := l.words[first].before, l.words[last].before+l.words[last].width
	return begin + end - w.before - w.width
}

// Words returns all words of the block, in reading order.
func (b Block) Words() (all []Word) {
	for _, l := range b.lines {
		all = append(all, l.words...)
	}
	return all
}

// Block is a laid-out text.
type Block struct {
	// Em is the size of the letters. Width and Height are those of the block, in pixels.
	Em, Width, Height float64
	// RTL reports whether the text runs from right to left.
	RTL     bool
	leading float64
	lines   []line
}

// Scaled returns the block with all lengths multiplied by a factor.
func (b Block) Scaled(k float64) Block {
	b.Em, b.Width, b.Height, b.leading = b.Em*k, b.Width*k, b.Height*k, b.leading*k
	b.lines = slices.Clone(b.lines)
	for i := range b.lines {
		b.lines[i].width *= k
	}
	return b
}

// Lines returns the text of each line, from the top.
func (b Block) Lines() []string {
	all := make([]string, len(b.lines))
	for i, l := range b.lines {
		var s strings.Builder
		for _, r := range l.runs {
			s.WriteString(r.text)
		}
		all[i] = s.String()
	}
	return all
}

// Covers reports whether the fonts have the letters of a text.
func (f *Fonts) Covers(text, lang string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err := f.units(text, lang)
	return err
}

// Fit lays out a text of a language (BCP 47, may be empty), in the largest letters that fit. A text that is too long in
// the family of a brand is in Noto. Errors are ErrTooLong, ErrScript and ErrEmpty, or of reading the fonts.
func (f *Fonts) Fit(text, lang string, box Box) (Block, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, err := f.fit(text, lang, box)
	if f.first != script.Latin && errors.Is(err, ErrTooLong) && !box.Whole {
		noto := Fonts{set: f.set, first: script.Latin}
		return noto.fit(text, lang, box)
	}
	return b, err
}

func (f *Fonts) fit(text, lang string, box Box) (Block, error) {
	units, err := f.units(text, lang)
	if err != nil {
		return Block{}, err
	}
	apart := units
	units = withEmoji(units)
	leading, phrases := leadingOf(units), phrasesOf(text, lang)
	for em := box.MaxEm; ; em = max(em*0.96, box.MinEm) {
		width := box.Width / em
		if em == box.MinEm && widest(units) > width {
			units = apart
		}
		if em == box.MinEm && !box.Whole {
			units = divided(units, width)
		}
		most := min(box.MaxLines, int(box.Height/(em*leading)))
		if ends, ok := wrap(units, width); ok && len(ends) <= most {
			return block(units, balance(units, width, ends), em, leading, rightToLeft(text)), nil
		}
		if em == box.MinEm && phrases != loose {
			// Phrases may leave lines half empty: without them, more fits.
			phrases = loose
			if apart, err = f.unitsOf(text, lang, phrases); err != nil {
				return Block{}, err
			}
			units = withEmoji(apart)
			em = box.MinEm / 0.96
			continue
		}
		if em == box.MinEm {
			return Block{}, ErrTooLong
		}
	}
}

// mostEmoji is the number of emoji at the end of a text that stay with its last word.
const mostEmoji = 3

func widest(units []unit) (width float64) {
	for _, u := range units {
		width = max(width, u.whole())
	}
	return width
}

// withEmoji joins a few emoji at the end of a text with its last word: alone on a line, they look lost.
func withEmoji(units []unit) []unit {
	drawn := func(u unit) bool {
		return !slices.ContainsFunc(u.clusters, func(c cluster) bool { return c.art == nil })
	}
	at := len(units)
	for at > 0 && drawn(units[at-1]) {
		at--
	}
	if at == 0 || len(units)-at > mostEmoji {
		return units
	}
	joined := units[at-1]
	joined.clusters = slices.Clone(joined.clusters)
	for _, u := range units[at:] {
		if joined.space > 0 {
			gap := cluster{text: " ", face: joined.gap, width: joined.space, size: u.begin - joined.end}
			joined.clusters = append(joined.clusters, gap)
		}
		for _, c := range u.clusters {
			c.before += joined.width + joined.space
			joined.clusters = append(joined.clusters, c)
		}
		joined.width += joined.space + u.width
		joined.space, joined.gap, joined.end, joined.hyphen = u.space, u.gap, u.end, u.hyphen
	}
	return append(slices.Clone(units[:at-1]), joined)
}

// leadingOf returns the line spacing in ems: the greatest of the fonts used.
func leadingOf(units []unit) (most float64) {
	for _, u := range units {
		for _, c := range u.clusters {
			most = max(most, c.face.leading)
		}
	}
	return most
}

// wrap puts units into lines of at most a width, as many as fit into each, and returns the ends of the lines. It
// reports whether no unit is wider than a line.
func wrap(units []unit, width float64) (ends []int, ok bool) {
	used, space := 0.0, 0.0
	for i, u := range units {
		if u.whole() > width {
			return nil, false
		}
		if used > 0 && used+space+u.whole() > width {
			ends = append(ends, i)
			used, space = 0, 0
		}
		used += space + u.width
		space = u.space
	}
	return append(ends, len(units)), true
}

// The costs by which a text is divided into lines, in addition to the square of a line's relative deviation from the
// mean.
const (
	costLine   = 10   // for each line
	costSpace  = 0.04 // for an end within a phrase
	costWithin = 0.2  // for an end without a space, as in Chinese
	costBinds  = 1.5  // for an end with a number, or another word that belongs to the next one
	costShort  = 0.3  // for an end with another word of one or two letters
	costLast   = 1.2  // for a last line of less than shortLast of the mean
	shortLast  = 0.5
)

// balance divides units into as few lines as wrap does, of about equal length, which end with phrases if that costs
// little.
func balance(units []unit, width float64, ends []int) []int {
	total := 0.0
	for _, u := range units {
		total += u.width + u.space
	}
	mean := min(total/float64(len(ends)), width)
	begins := make([]int, len(units)+1) // the beginning of the line that ends here
	best := make([]float64, len(units)+1)
	for i := range units {
		best[i+1] = math.Inf(1)
	}
	for begin := range units {
		used, space := 0.0, 0.0
		for end := begin + 1; end <= len(units); end++ {
			u := units[end-1]
			if used += space + u.width; used > width && end > begin+1 {
				break
			}
			if space = u.space; used+u.hyphen.width > width && end > begin+1 {
				continue // without room for a hyphen, the line does not end here
			}
			off := (used + u.hyphen.width - mean) / mean
			cost := best[begin] + costLine + off*off
			switch {
			case end == len(units) && off < shortLast-1 && len(ends) > 2:
				cost += costLast
			case end == len(units) || endOf(u) != word:
			case u.binds:
				cost += costBinds
			case space > 0 && short(u):
				cost += costShort
			case space > 0:
				cost += costSpace
			default:
				cost += costWithin
			}
			if cost < best[end] {
				best[end], begins[end] = cost, begin
			}
		}
	}
	var all []int
	for at := len(units); at > 0; at = begins[at] {
		all = append(all, at)
	}
	slices.Reverse(all)
	return all
}

// short reports whether a unit is a short word, such as a preposition, in a script of languages in which it precedes
// the word that it belongs to.
func short(u unit) bool {
	return len(u.clusters) <= 2 && unicode.In([]rune(u.clusters[0].text)[0], unicode.Latin, unicode.Cyrillic,
		unicode.Greek, unicode.Hebrew, unicode.Arabic)
}

// block makes the block of units with the given ends of lines.
func block(units []unit, ends []int, em, leading float64, rtl bool) Block {
	b := Block{Em: em, RTL: rtl, leading: leading * em, Height: float64(len(ends)) * leading * em}
	begin := 0
	for _, end := range ends {
		l := lineOf(units[begin:end])
		l.width *= em
		b.lines, b.Width = append(b.lines, l), max(b.Width, l.width)
		begin = end
	}
	return b
}

// lineOf joins units to a line, whose width is in ems.
func lineOf(units []unit) line {
	var l line
	var all []cluster
	var open part
	at := 0
	close := func(end float64) {
		if open.runs != nil {
			open.runs, open.width = runs(open.runs), end-open.before
			l.parts = append(l.parts, open)
		}
	}
	add := func(c cluster, before float64) {
		all = append(all, c)
		at += len(c.text)
		switch {
		case c.art != nil:
			close(before)
			l.pictures = append(l.pictures, picture{c.art, before, c.width})
			open = part{from: at, before: before + c.width}
		case c.text == " " && open.runs == nil: // libass leaves out a space at the beginning
			open.from, open.before = at, open.before+c.width
		default:
			open.runs = append(open.runs, c)
		}
	}
	for i, u := range units {
		begin := at
		for _, c := range u.clusters {
			add(c, l.width+c.before)
		}
		l.words = append(l.words, Word{Begin: u.begin, from: begin, to: at, before: l.width, width: u.width,
			toLeft: rightToLeft(u.text()), toRight: leftToRight(u.text())})
		l.width += u.width
		if i < len(units)-1 && u.space > 0 {
			add(cluster{text: " ", face: u.gap, width: u.space}, l.width)
			l.width += u.space
		}
	}
	if last := units[len(units)-1]; last.hyphen.face != nil {
		add(last.hyphen, l.width)
		l.width += last.hyphen.width
	}
	close(l.width)
	l.runs = runs(all)
	return l
}

// The reasons for which a text cannot be laid out.
var (
	ErrTooLong = errors.New("text: the text is too long for its place")
	ErrScript  = errors.New("text: the fonts lack the script of the text")
	ErrEmpty   = errors.New("text: the text has nothing to show")
)

// cluster is a character as a reader sees it.
type cluster struct {
	text  string
	face  *face
	width float64 // in ems, alone
	// size is the length of the character in the text, in bytes. A space of another width or kind is drawn as U+0020.
	size int
	// art is the drawing of an emoji in color, and before the width of its unit before it, in ems.
	art    art
	before float64
}

// unit is the smallest part of a text between two possible line breaks.
type unit struct {
	clusters []cluster
	// begin and end are offsets into the text, in bytes, without the space after it.
	begin, end int
	// width is the width of the unit, and space that of the space after it, in ems.
	width, space float64
	// gap is the font of the space after it.
	gap *face
	// binds reports whether the unit belongs to the one after it.
	binds bool
	// hyphen is seen if the line ends here, at a soft hyphen (UAX 14). Without a face, there is none.
	hyphen cluster
}

// whole returns the width of the unit at the end of a line.
func (u unit) whole() float64 { return u.width + u.hyphen.width }

func (u unit) text() string {
	var b strings.Builder
	for _, c := range u.clusters {
		b.WriteString(c.text)
	}
	return b.String()
}

// Clean replaces control characters, such as line ends, by spaces. Offsets stay the same.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// units divides a text at the possible line breaks: those of a Japanese text are at the ends of its phrases, and those
// of a Chinese one at the ends of its words.
func (f *Fonts) units(text, lang string) ([]unit, error) {
	return f.unitsOf(text, lang, phrasesOf(text, lang))
}

func (f *Fonts) unitsOf(text, lang string, phrases phrasing) ([]unit, error) {
	text = Clean(text)
	d := divider{Fonts: f, first: f.first, chars: []rune(text)}
	if !has(d.first, text) {
		d.first = script.Latin
	}
	d.order = script.OrderOf(d.first, text, lang)
	var seg segmenter.Segmenter
	seg.Init(d.chars)
	breaks := breaksOf(&seg, d.chars, phrases)
	for graphemes := seg.GraphemeIterator(); graphemes.Next(); {
		g := graphemes.Grapheme()
		if err := d.take(g.Text, g.Offset); err != nil {
			return nil, err
		}
		if breaks[g.Offset+len(g.Text)] {
			d.close()
		}
	}
	d.close()
	if len(d.all) == 0 {
		return nil, ErrEmpty
	}
	d.all[len(d.all)-1].hyphen = cluster{}
	bind(d.all, lang)
	return d.all, nil
}

// breaksOf returns the offsets at which a line may end.
func breaksOf(seg *segmenter.Segmenter, chars []rune, phrases phrasing) map[int]bool {
	breaks, within := map[int]bool{}, map[int]bool{}
	if phrases == chinese {
		within = withinChinese(chars)
	}
	for lines := seg.LineIterator(); lines.Next(); {
		line := lines.Line()
		end := line.Offset + len(line.Text)
		breaks[end] = !together(chars, end) && !within[end] && (phrases != japanese || phraseBreak(chars, end))
	}
	for _, at := range thaiBreaks(chars) {
		breaks[at] = true
	}
	return breaks
}

// divider divides a text into units.
type divider struct {
	*Fonts
	first script.Family
	order script.Order
	chars []rune
	// u is the unit that is not complete, and at the number of the bytes that were taken.
	u   unit
	all []unit
	at  int
}

// take adds the next character, which is at an offset.
func (d *divider) take(g []rune, offset int) (err error) {
	if unicode.IsSpace(g[0]) { // a mark after it stands alone
		size := len(string(g[:1]))
		d.at += size
		if err = d.space(g[0], offset, size); err != nil || len(g) == 1 {
			return err
		}
		g = g[1:]
	}
	size := len(string(g))
	begin := d.at
	d.at += size
	if g[0] == softHyphen && len(d.u.clusters) > 0 {
		if d.u.hyphen, err = d.cluster([]rune{'-'}, d.order, 0); err != nil {
			return err
		}
	}
	c, err := d.cluster(g, d.order, size)
	if err != nil {
		return err
	}
	if c.text == "" && c.art == nil { // it is not seen
		if n := len(d.u.clusters); n > 0 {
			d.u.clusters[n-1].size, d.u.end = d.u.clusters[n-1].size+size, d.at
		}
		return nil
	}
	if d.u.clusters == nil {
		d.u.begin = begin
	}
	d.u.clusters, d.u.end, d.u.hyphen = append(d.u.clusters, c), d.at, cluster{}
	return nil
}

// softHyphen is a place where a word may be divided: a hyphen is seen at the end of a line, and nothing elsewhere.
const softHyphen = '\u00ad'

// space takes a space. It has the font of the character before it, except that of emoji, whose space is as wide as they
// are.
func (d *divider) space(r rune, offset, size int) (err error) {
	u := &d.u
	n := len(u.clusters)
	if n == 0 {
		return nil
	}
	if u.space == 0 {
		if u.gap = u.clusters[n-1].face; u.gap == d.faces[script.Emoji] {
			if u.gap, err = d.face(d.first); err != nil {
				return err
			}
		}
		u.space = d.width(u.gap, []rune{' '})
	}
	if together(d.chars, offset+1) || unbroken(r) {
		u.clusters, u.space, u.end = append(u.clusters, cluster{text: " ", face: u.gap, width: u.space, size: size}), 0,
			d.at
	}
	return nil
}

// close measures the unit and appends it.
func (d *divider) close() {
	u := d.u
	if d.u = (unit{}); u.clusters == nil {
		return
	}
	for i, c := range u.clusters {
		if c.art != nil {
			u.clusters[i].before = d.joined(u.clusters[:i])
		}
	}
	u.width = d.joined(u.clusters)
	d.all = append(d.all, u)
}

// joined returns the width of clusters beside each other, in ems.
func (f *Fonts) joined(clusters []cluster) (width float64) {
	for _, r := range runs(clusters) {
		width += f.width(r.face, []rune(r.text))
	}
	return width
}

// unbroken reports whether a space keeps the words beside it on one line (UAX 14, class GL): the no-break space, that
// of figures and the narrow one, which stands between a number and its currency.
func unbroken(r rune) bool { return r == '\u00a0' || r == '\u2007' || r == '\u202f' }

// together reports whether a space before an offset divides what belongs together: the digits of a number, a number and
// its sign, or a word of Thai and a sign that repeats or shortens it.
func together(chars []rune, at int) bool {
	if at < 2 || at >= len(chars) || chars[at-1] != ' ' {
		return false
	}
	before, after := chars[at-2], chars[at]
	return repeats(after) || unicode.IsDigit(before) && (unicode.IsDigit(after) || sign(after)) ||
		sign(before) && unicode.IsDigit(after)
}

// sign reports whether a character is written beside a number: of a currency, a part or a degree.
func sign(r rune) bool { return unicode.Is(unicode.Sc, r) || strings.ContainsRune("%‰°№", r) }

// runs joins neighbors of the same font.
func runs(clusters []cluster) []cluster {
	var all []cluster
	for _, c := range clusters {
		if n := len(all); n > 0 && all[n-1].face == c.face {
			all[n-1].text += c.text
			continue
		}
		all = append(all, c)
	}
	return all
}

// RightToLeft reports whether a text runs from right to left. A text without letters runs as its language does.
func RightToLeft(text, lang string) bool {
	if rightToLeft(text) || leftToRight(text) {
		return rightToLeft(text)
	}
	return slices.Contains([]string{"ar", "he", "fa", "ur", "yi", "ps"}, baseOf(lang))
}

// rightToLeft reports whether a paragraph runs from right to left, by its first letter with a direction.
func rightToLeft(text string) bool {
	for _, r := range text {
		switch p, _ := bidi.LookupRune(r); p.Class() {
		case bidi.L:
			return false
		case bidi.R, bidi.AL:
			return true
		}
	}
	return false
}

// leftToRight reports whether the first letter of a text with a direction runs from left to right.
func leftToRight(text string) bool {
	for _, r := range text {
		switch p, _ := bidi.LookupRune(r); p.Class() {
		case bidi.L:
			return true
		case bidi.R, bidi.AL:
			return false
		}
	}
	return false
}

// divided divides the units that are wider than a line into units of one character.
func divided(units []unit, width float64) []unit {
	var all []unit
	for _, u := range units {
		if u.whole() <= width {
			all = append(all, u)
			continue
		}
		at := u.begin
		for i, c := range u.clusters {
			c.before = 0
			part := unit{clusters: []cluster{c}, width: c.width, begin: at, end: at + c.size}
			if at = part.end; i == len(u.clusters)-1 {
				part.space, part.gap, part.end, part.hyphen = u.space, u.gap, u.end, u.hyphen
			}
			all = append(all, part)
		}
	}
	return all
}

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
	"nl": wordsOf("de het een van in op aan te ten ter tot voor door met zonder om bij uit over onder na naar " +
		"tegen tussen en of maar dat die als wanneer terwijl omdat dan is zijn was waren wordt heeft hebben " +
		"niet geen mijn je jouw uw haar ons onze hun dit deze elke elk zeer meer ik jij hij zij wij"),
	"sv": wordsOf("en ett den det de i på av till från för med utan om under över mellan mot vid hos efter " +
		"före och eller men att som när medan om är var har hade inte min din sin vår er deras denna detta " +
		"varje mycket mer jag du han hon vi ni"),
	"da": wordsOf("en et den det de i på af til fra for med uden om under over mellem mod ved hos efter før " +
		"og eller men at som når mens er var har havde ikke min din sin denne dette hver meget mere jeg du " +
		"han hun vi"),
	"nb": wordsOf("en ei et den det de i på av til fra for med uten om under over mellom mot ved hos etter " +
		"før og eller men at som når mens er var har hadde ikke min din sin vår deres denne dette hver " +
		"veldig mer jeg du han hun vi"),
	"cs": wordsOf("v ve na s se z ze do od k ke o u po při pro před mezi za bez přes nad pod a i nebo ale že " +
		"aby když jak než je jsou byl byla ne můj tvůj svůj náš váš jeho její jejich ten ta to ty každý " +
		"velmi já on ona my"),
	"ro": wordsOf("un o al a ai ale am au de din la în pe cu fără pentru prin între spre sub după până și sau " +
		"dar că să dacă când ca este e sunt era nu se îmi îți își mai foarte fiecare acest această meu tău " +
		"său noastră nostru eu tu el"),
	"hu": wordsOf("a az egy és vagy de hogy ha mint nem is csak mert minden nagyon én te ő mi ti"),
	"el": wordsOf("ο η το οι τα του της των τον την τους τις ένας μια ένα σε στο στη στην στον στα στις από " +
		"για με χωρίς ως μέχρι κατά μετά πριν και ή αλλά ότι που να αν όταν είναι ήταν έχει δεν μη θα πιο " +
		"πολύ κάθε"),
	"bg": wordsOf("в във на с със от до за по под над при без през между пред и или но че да ако когато като " +
		"е са беше не се ми ти си мой твой наш ваш този тази това тези всеки много по най аз ти той тя ние"),
	"id": wordsOf("di ke dari pada untuk dengan tanpa oleh dalam antara dan atau tetapi yang bahwa jika " +
		"ketika karena adalah tidak bukan akan sudah sangat setiap para sebuah seorang"),
	"th": wordsOf("ที่ ซึ่ง ไม่ ของ ใน นอก บน จาก ถึง สู่ กับ โดย เพื่อ สำหรับ ด้วย และ หรือ แต่ ถ้า " +
		"เมื่อ เพราะ การ ความ ผู้ นัก เป็น คือ มี ให้ จะ กำลัง ทุก ยัง เกี่ยวกับ"),
	"zh": wordsOf("在 和 与 與 不 很 最 每 第 用 从 從 把 被 为 為 让 讓 对 對 由 向 跟 也 都 就 再 可"),
}

// postpositions are the words of a language that belong to the word before them. No line and no page begins with one.
var postpositions = map[string]map[string]bool{
	"tr": wordsOf("ile için gibi kadar göre karşı doğru sonra önce beri de da mi mı mu mü"),
	"zh": wordsOf("的 了 吗 嗎 呢 吧 们 們 地 得 着 著 过 過 里 裡 中 上 下"),
	"th": wordsOf("นี้ นั้น แล้ว เลย ไหม มาก ครับ ค่ะ คะ นะ"),
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
	lang = baseOf(lang)
	for i := range units[:max(len(units)-1, 0)] {
		u := &units[i]
		if endOf(*u) != word || u.space == 0 && lang != "th" && lang != "zh" {
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

// phrasing is how the lines of a text without spaces end: anywhere, if loose.
type phrasing int

const (
	loose phrasing = iota
	japanese
	chinese
)

func phrasesOf(text, lang string) phrasing {
	lang = baseOf(lang)
	switch {
	case lang == "ja" || lang != "zh" && lang != "ko" && strings.ContainsFunc(text, kana):
		return japanese
	case lang != "ko" && strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }):
		return chinese
	}
	return loose
}

// baseOf returns the language of a tag (BCP 47).
func baseOf(tag string) string {
	base, _, _ := strings.Cut(language.Language(tag), "-")
	return base
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

// Page is the part of a longer text that is shown at once.
type Page struct {
	Block
	// Begin and End are offsets into the text, in bytes.
	Begin, End int
}

// The costs by which a text is divided into pages. A page that ends within a phrase or extends beyond a sentence is
// worse than one more page that is not full.
const (
	costPage      = 1.0
	costPhrase    = 0.25 // for an end with a phrase, within a sentence
	costWord      = 0.9  // for an end with a word, within a phrase
	costTied      = 6.0  // for an end with a word that belongs to the next one, besides
	costLineEnd   = 0.1  // for a second line, so that short pages have one
	costAlone     = 0.5  // for a page of a single word, where pages have few
	costBeyond    = 8.0  // for each sentence that ends within a page
	costEmptiness = 0.6  // for a page with hardly a word
)

// Pages divides a text into pages of at most box.MaxLines lines and box.MaxWords words, in letters of the size
// box.MaxEm, or smaller ones if a word is too wide: all pages have one size. In scripts without spaces, the lines alone
// count. It returns the errors of Fit.
func (f *Fonts) Pages(text, lang string, box Box) ([]Page, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	units, err := f.units(text, lang)
	if err != nil {
		return nil, err
	}
	em, leading, rtl := box.MaxEm, leadingOf(units), rightToLeft(text)
	width := box.Width / em
	units = divided(units, width/leastPage)
	pages := []Page{}
	begin := 0
	// A long word makes the letters smaller: those of all pages, which have one size.
	smaller := 1.0
	for _, u := range units {
		smaller = min(smaller, width/u.whole())
	}
	for _, end := range paginate(narrowed(units, width), width, box) {
		part := units[begin:end]
		ends, _ := wrap(part, width/smaller)
		b := block(part, balance(part, width/smaller, ends), em*smaller, leading, rtl)
		pages = append(pages, Page{b, part[0].begin, part[len(part)-1].end})
		begin = end
	}
	return pages, nil
}

// leastPage is the smallest size of the letters of a page, relative to that of the others. If a word would need less,
// it is divided.
const leastPage = 0.6

// narrowed returns units of which none is wider than a line.
func narrowed(units []unit, width float64) []unit {
	all := slices.Clone(units)
	for i := range all {
		all[i].width = min(all[i].width, width)
	}
	return all
}

// paginate returns the ends of the pages with the least total cost.
func paginate(units []unit, width float64, box Box) []int {
	ends := make([]int, len(units)+1) // the beginning of the page that ends here
	best := make([]float64, len(units)+1)
	for i := range units {
		best[i+1] = math.Inf(1)
	}
	for begin := range units {
		beyond, used, words := 0.0, 0.0, 0
		for end := begin + 1; end <= len(units); end++ {
			last := units[end-1]
			part := units[begin:end]
			lines, _ := wrap(part, width)
			if len(lines) > box.MaxLines || box.MaxWords > 0 && words == box.MaxWords {
				break
			}
			used += last.width + last.space
			if last.space > 0 {
				words++
			}
			fill := min(used/width, 1)
			if box.MaxWords > 0 && words > 0 {
				fill = min(float64(words)/float64(box.MaxWords-1), 1)
			}
			cost := best[begin] + costPage + beyond + costEmptiness*(1-fill)*(1-fill)
			if len(lines) > 1 && box.MaxWords > 0 {
				cost += costLineEnd
				for _, at := range balance(part, width, lines) {
					if at < len(part) && part[at-1].binds {
						cost += costTied
					}
				}
			}
			switch endOf(last) {
			case sentence:
				beyond += costBeyond
			case phrase:
				cost += costPhrase
			case word:
				if end < len(units) {
					cost += costWord
				}
				if last.binds {
					cost += costTied
				}
			}
			if words == 1 && box.MaxWords > 1 && end == begin+1 {
				cost += costAlone
			}
			if cost < best[end] {
				best[end], ends[end] = cost, begin
			}
		}
	}
	var all []int
	for at := len(units); at > 0; at = ends[at] {
		all = append(all, at)
	}
	slices.Reverse(all)
	return all
}

// ending is the largest part of speech that ends with a unit.
type ending int

const (
	word ending = iota
	phrase
	sentence
)

// endOf returns the ending of a unit, by its punctuation.
func endOf(u unit) ending {
	trimmed := strings.TrimRight(u.text(), `"'”’»)]}」』）`)
	switch {
	case strings.HasSuffix(trimmed, ".") || hasSuffixOf(trimmed, "!?…。！？؟।"):
		return sentence
	case hasSuffixOf(trimmed, ",;:–—、，；：،؛"):
		return phrase
	}
	return word
}

func hasSuffixOf(s, chars string) bool {
	return s != "" && strings.ContainsRune(chars, []rune(s)[len([]rune(s))-1])
}
