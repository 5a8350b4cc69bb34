package docs

import (
	"bytes"
	"cmp"
	_ "embed"
	"html"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/text"
)

// Each line has a word of callers and the words of the pages that mean the same.
//
//go:embed synonyms.tsv
var synonymLines string

// synonyms are the words of the pages by those of callers.
var synonyms = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(synonymLines) {
		word, others, _ := strings.Cut(strings.TrimSpace(line), "\t")
		all[stem(word)] = strings.Fields(others)
	}
	return all
})

// idle are words that say nothing about what is looked for.
var idle = strings.Fields("a an and are at by can do does for from get how i in into is it many me much my of on or " +
	"our the to us we what when where which who why with without you your")

// found is a page, or a section of one, that the search knows.
type found struct {
	Path, Title, Kind string
	head, text        string // in small letters, what it is about and what it says
	plain             string
}

// hit is a result of a search.
type hit struct {
	Path    string  `json:"path"` // below the folder of the documentation
	Title   string  `json:"title"`
	Kind    string  `json:"kind"`
	Excerpt []piece `json:"excerpt"`
	score   float64
}

// piece is a part of an excerpt.
type piece struct {
	Text   string `json:"text"`
	Marked bool   `json:"marked,omitempty"`
}

// results are what a search has found. Instead has the words that were taken for those of the query.
type results struct {
	Root    string `json:"-"`
	Query   string `json:"query"`
	Instead string `json:"instead,omitempty"`
	Hits    []hit  `json:"hits"`
}

// most is the number of results that are shown.
const most = 12

var (
	sectionHead = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`<h[23] id="([^"]+)">(.*?)</h[23]>`)
	})
	element = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`<[^>]*>`)
	})
	inWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`</?(?:a|code|em|strong)\b[^>]*>`)
	})
)

// index returns all that can be found: the sections of guides, the operations, the codes of errors, and other pages.
func (r *reference) index() (all []found) {
	plain := func(part string) string {
		text := element().ReplaceAllString(inWords().ReplaceAllString(part, ""), " ")
		return strings.Join(strings.Fields(html.UnescapeString(text)), " ")
	}
	add := func(path, title, kind, also, text string) {
		all = append(all, found{path, title, kind, strings.ToLower(title + " " + also), strings.ToLower(text), text})
	}
	seen := map[string]bool{}
	for _, g := range guides {
		if seen[g.name] {
			continue
		}
		seen[g.name] = true
		var out bytes.Buffer
		if err := renderer().Convert(guideText(g.name), &out); err != nil {
			panic(err) // writing to memory does not fail
		}
		text := out.String()
		heads := sectionHead().FindAllStringSubmatchIndex(text, -1)
		end := func(i int) int {
			if i < len(heads) {
				return heads[i][0]
			}
			return len(text)
		}
		at := "guides/" + g.name
		add(at, g.title, "Guide", g.name, strings.TrimPrefix(plain(text[:end(0)]), g.title+" "))
		for i, h := range heads {
			add(at+"#"+text[h[2]:h[3]], g.title+": "+plain(text[h[4]:h[5]]), "Guide", "", plain(text[h[1]:end(i+1)]))
		}
	}
	for _, o := range r.all() {
		words := append(text.Words(o.ID), o.ID, o.Method, o.Path)
		add("reference/"+o.ID, o.Summary, "Operation", strings.Join(append(words, o.Tags...), " "),
			plain(string(r.markdown(o.Description))))
	}
	for _, i := range errs.Infos {
		add("errors/"+string(i.Code), string(i.Code), "Error", strings.ReplaceAll(string(i.Code), "_", " ")+" "+
			"error code", plain(i.Meaning+" "+i.When+" "+i.Fix))
	}
	add("errors", "Errors", "Page", "all codes error list", "All codes of errors, and when to repeat a request.")
	add("reference", "API reference", "Page", "operations endpoints openapi document", "All operations by area.")
	add("explorer", "Explorer", "Page", "try it console playground", "Send requests from the browser.")
	add("../#status", "Status", "Page", "health up down outage incident version", "Whether the service works now.")
	add("../settings", "Account area", "Page", "dashboard sign in login keys people usage", "Keys, people, webhooks, "+
		"approvals, the calendar and the usage of an account.")
	return all
}

// term is a word of a query with what it can mean.
type term struct {
	word string
	alts []alternative
}

type alternative struct {
	stem   string
	factor float64
}

// stem cuts the ending of a word, so that its forms are found by their common beginning.
func stem(word string) string {
	word = strings.ToLower(word)
	for _, end := range []string{"ings", "ing", "ies", "ed", "es", "s", "e", "y"} {
		if cut, ok := strings.CutSuffix(word, end); ok && utf8.RuneCountInString(cut) >= 3 {
			return cut
		}
	}
	return word
}

// terms returns the words of a query.
func terms(query string) (all []term) {
	words := strings.FieldsFunc(strings.ToLower(query), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '.' && c != '\''
	})
	asked := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(idle, w) })
	if len(asked) == 0 {
		asked = words
	}
	for _, word := range asked[:min(len(asked), 8)] {
		t := term{word, []alternative{{stem(word), 1}}}
		for _, other := range synonyms()[stem(word)] {
			t.alts = append(t.alts, alternative{stem(other), .95})
		}
		all = append(all, t)
	}
	return all
}

// parts reports whether a character stands between words.
func parts(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }

// starts returns where words that begin with a stem are in a text.
func starts(text, stem string) (all []int) {
	for from := 0; len(all) < 4; {
		i := strings.Index(text[from:], stem)
		if i < 0 {
			break
		}
		at := from + i
		if before, _ := utf8.DecodeLastRuneInString(text[:at]); at == 0 || parts(before) {
			all = append(all, at)
		}
		from = at + len(stem)
	}
	return all
}

// ending returns the end of the word that begins at a place.
func ending(text string, at int) int {
	if i := strings.IndexFunc(text[at:], parts); i >= 0 {
		return at + i
	}
	return len(text)
}

// score tells how well an entry answers a term.
func (f found) score(t term) (best float64) {
	for _, a := range t.alts {
		score := 0.
		for _, at := range starts(f.head, a.stem) {
			part := 6.
			if stem(f.head[at:ending(f.head, at)]) == a.stem {
				part = 10
			}
			if at < len(f.Title) { // the title, not the words beside it
				part += 2 + 4/float64(1+strings.Count(f.Title, " "))
			}
			if at == 0 {
				part += 2
			}
			score = max(score, part)
		}
		score += .6 * float64(len(starts(f.text, a.stem)))
		best = max(best, score*a.factor)
	}
	return best
}

// searcher finds pages. Its index is made at the first search.
type searcher struct {
	entries []found
	words   map[string]bool
}

func (r *reference) searcher() *searcher {
	s := &searcher{r.index(), map[string]bool{}}
	for _, e := range s.entries {
		for word := range strings.FieldsFuncSeq(e.head, func(c rune) bool { return !unicode.IsLetter(c) }) {
			if utf8.RuneCountInString(word) > 3 {
				s.words[word] = true
			}
		}
	}
	for word := range synonyms() {
		s.words[word] = true
	}
	return s
}

// search returns the pages that answer a query, the best first. Of the sections of a page it returns the best.
func (s *searcher) search(query string) results {
	out := results{Query: strings.TrimSpace(query), Hits: []hit{}}
	if utf8.RuneCountInString(out.Query) > 200 {
		out.Query = string([]rune(out.Query)[:200])
	}
	asked := terms(out.Query)
	mended := false
	for i, t := range asked {
		if !slices.ContainsFunc(s.entries, func(e found) bool { return e.score(t) > 0 }) {
			if word := s.nearest(t.word); word != "" {
				asked[i], mended = terms(word)[0], true
			}
		}
	}
	if mended {
		for _, t := range asked {
			out.Instead = strings.TrimSpace(out.Instead + " " + t.word)
		}
	}
	best := map[string]hit{}
	for least := len(asked); least > 0 && len(best) == 0; least-- {
		for _, e := range s.entries {
			sum, matched := 0., 0
			for _, t := range asked {
				if score := e.score(t); score > 0 {
					sum, matched = sum+score, matched+1
				}
			}
			page, section, _ := strings.Cut(e.Path, "#")
			if e.Kind == "Guide" && section == "" {
				sum++ // the guide before its sections
			}
			if matched >= least && sum > best[page].score {
				best[page] = hit{e.Path, e.Title, e.Kind, e.excerpt(asked), sum}
			}
		}
	}
	for _, h := range best {
		out.Hits = append(out.Hits, h)
	}
	slices.SortFunc(out.Hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(len(a.Title), len(b.Title)),
			cmp.Compare(a.Path, b.Path))
	})
	out.Hits = out.Hits[:min(len(out.Hits), most)]
	return out
}

// nearest returns the known word that a word was meant to be, or nothing if none is near.
func (s *searcher) nearest(word string) (best string) {
	least := 1
	switch n := utf8.RuneCountInString(word); {
	case n < 4:
		return ""
	case n > 6:
		least = 2
	}
	least++
	for known := range s.words {
		if d := distance([]rune(word), []rune(known), least+1); d < least || d == least && best != "" && known < best {
			best, least = known, d
		}
	}
	return best
}

// distance returns how many letters differ between two words, or limit if more do.
func distance(a, b []rune, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		before := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := 1
			if x == y {
				cost = 0
			}
			before, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, before+cost)
		}
	}
	return min(row[len(b)], limit)
}

// excerpt returns a part of the text with the words of a query.
func (f found) excerpt(asked []term) (all []piece) {
	type span struct{ from, to int }
	var marks []span
	for _, t := range asked {
		for _, a := range t.alts {
			for _, at := range starts(f.text, a.stem) {
				marks = append(marks, span{at, ending(f.text, at)})
			}
		}
	}
	slices.SortFunc(marks, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	if len(f.text) != len(f.plain) { // a letter is longer in small: the places are others
		marks = nil
	}
	from, to := 0, min(len(f.plain), 170)
	if len(marks) > 0 && marks[0].to > 150 {
		from = marks[0].from - 70
		to = min(len(f.plain), from+180)
	}
	from, to = boundary(f.plain, from, 1), boundary(f.plain, to, -1)
	add := func(text string, marked bool) {
		if text != "" {
			all = append(all, piece{text, marked})
		}
	}
	at := from
	if from > 0 {
		add("… ", false)
	}
	for _, m := range marks {
		if m.from >= at && m.to <= to {
			add(f.plain[at:m.from], false)
			add(f.plain[m.from:m.to], true)
			at = m.to
		}
	}
	add(f.plain[at:max(at, to)], false)
	if to < len(f.plain) {
		add(" …", false)
	}
	return all
}

// boundary moves a place in a text to a space, in steps of 1 or -1.
func boundary(text string, at, step int) int {
	for at > 0 && at < len(text) && text[at] != ' ' {
		at += step
	}
	return at
}
