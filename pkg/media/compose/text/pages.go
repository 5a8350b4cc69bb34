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
	costBeyond    = 1.5  // for each sentence that ends within a page
	costEmptiness = 0.6  // for a page with hardly a word
)

// Pages divides a text into pages of at most box.MaxLines lines, in letters of the size box.MaxEm. It returns the
// errors of Fit.
func (f *Fonts) Pages(text, lang string, box Box) ([]Page, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	units, err := f.units(text, lang)
	if err != nil {
		return nil, err
	}
	em, leading, rtl := box.MaxEm, leadingOf(units), rightToLeft(text)
	width := box.Width / em
	units = divided(units, width)
	pages := []Page{}
	begin := 0
	for _, end := range paginate(units, width, box.MaxLines) {
		part := units[begin:end]
		ends, _ := wrap(part, width)
		b := block(part, balance(part, width, ends), em, leading, rtl)
		pages = append(pages, Page{b, part[0].begin, part[len(part)-1].end})
		begin = end
	}
	return pages, nil
}

// paginate returns the ends of the pages with the least total cost.
func paginate(units []unit, width float64, maxLines int) []int {
	ends := make([]int, len(units)+1) // the beginning of the page that ends here
	best := make([]float64, len(units)+1)
	for i := range units {
		best[i+1] = math.Inf(1)
	}
	for begin := range units {
		beyond, used := 0.0, 0.0
		for end := begin + 1; end <= len(units); end++ {
			if lines, _ := wrap(units[begin:end], width); len(lines) > maxLines {
				break
			}
			last := units[end-1]
			used += last.width + last.space
			fill := min(used/width, 1)
			cost := best[begin] + costPage + beyond + costEmptiness*(1-fill)*(1-fill)
			switch endOf(last) {
			case sentence:
				beyond += costBeyond
			case phrase:
				cost += costPhrase
			case word:
				if end < len(units) {
					cost += costWord
				}
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
