package text

import (
	"math"
	"slices"
	"strings"
)

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
	costTied      = 3.0  // for an end with a word that belongs to the next one, besides
	costLineEnd   = 0.1  // for a second line, so that short pages have one
	costAlone     = 0.5  // for a page of a single word, where pages have few
	costBeyond    = 1.5  // for each sentence that ends within a page
	costEmptiness = 0.6  // for a page with hardly a word
)

// Pages divides a text into pages of at most box.MaxLines lines and box.MaxWords words, in letters of the size
// box.MaxEm, or smaller ones for a page with a word that is too wide. In scripts without spaces, the lines alone count.
// It returns the errors of Fit.
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
	for _, end := range paginate(narrowed(units, width), width, box) {
		part := units[begin:end]
		// A long word makes the letters of its page smaller.
		smaller := 1.0
		for _, u := range part {
			smaller = min(smaller, width/u.width)
		}
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
