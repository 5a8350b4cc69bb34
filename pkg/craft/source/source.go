// Package source has the sources that a channel quotes: feeds and pages, and the articles that were read from them.
// Choose picks the articles for a text.
package source

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Kind is the form of a source.
type Kind string

// The forms.
const (
	Feed Kind = "feed" // RSS, Atom or JSON Feed
	Page Kind = "page" // one article
)

// Source is an address that a channel quotes.
type Source struct {
	URL  string `json:"url"`
	Kind Kind   `json:"kind"`
}

// Article is a text that was read from a source.
type Article struct {
	Title string `json:"title"`
	URL   string `json:"url"`
	// PublishedAt is nil if the source does not say it.
	PublishedAt *time.Time `json:"published_at,omitempty"`
	Text        string     `json:"text,omitempty"`
}

// Entry is an entry of a feed. Its texts have no markup.
type Entry struct {
	// Key is the same each time that the entry is read. It is empty if the entry has neither an id nor a link.
	Key, Title, URL, Summary, Content string
	PublishedAt                       *time.Time // nil if the feed does not say it
}

// Cache is what a source had when it was last read.
type Cache struct {
	Source
	// ETag and Modified are the validators of its answer.
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	At           time.Time `json:"at"`
	Articles     []Article `json:"articles"`
	// FailedAt is the time of a read that failed since, or zero.
	FailedAt time.Time `json:"failed,omitzero"`
}

// Fresh is the time for which a source is not read again, even if it could not be read, and Keep the time for which its
// articles can be used if it cannot be read.
const (
	Fresh = 15 * time.Minute
	Keep  = 24 * time.Hour
)

// MaxChosen bounds the articles in a prompt. The others bound the parts of an article, in characters.
const (
	MaxChosen = 5
	MaxText   = 1500
	MaxTitle  = 300
	MaxURL    = 999
)

// ID returns a short name of the address of a source, for keys.
func (s Source) ID() string {
	sum := sha256.Sum256([]byte(s.URL))
	return hex.EncodeToString(sum[:12])
}

// Choose returns the articles for a subject: those that share the most words with it, then the newest. Articles that
// are older than most are left out, unless most is 0, and so are those that another source has, too.
func Choose(all []Cache, subject string, now time.Time, most time.Duration) []Article {
	wanted := stems(subject)
	type rated struct {
		Article
		shared int
	}
	var found []rated
	seen := map[string]bool{}
	for _, c := range all {
		for _, a := range c.Articles {
			old := most > 0 && a.PublishedAt != nil && now.Sub(*a.PublishedAt) > most
			if old || seen[a.URL] || a.Text == "" {
				continue
			}
			seen[a.URL] = true
			shared := 0
			for stem := range stems(a.Title + " " + a.Text) {
				if wanted[stem] {
					shared++
				}
			}
			found = append(found, rated{a, shared})
		}
	}
	slices.SortStableFunc(found, func(a, b rated) int {
		return cmp.Or(b.shared-a.shared, at(b.Article).Compare(at(a.Article)))
	})
	var chosen []Article
	for _, r := range found[:min(len(found), MaxChosen)] {
		chosen = append(chosen, r.Article)
	}
	return chosen
}

// Latest returns the articles of sources, the newest first. Those that are older than most are left out, unless most is
// 0, and so are those that another source has, too.
func Latest(all []Cache, now time.Time, most time.Duration) (found []Article) {
	seen := map[string]bool{}
	for _, c := range all {
		for _, a := range c.Articles {
			if old := most > 0 && a.PublishedAt != nil && now.Sub(*a.PublishedAt) > most; !old && !seen[a.URL] &&
				a.Title != "" {
				seen[a.URL] = true
				found = append(found, a)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Article) int { return at(b).Compare(at(a)) })
	return found
}

func at(a Article) time.Time {
	if a.PublishedAt == nil {
		return time.Time{}
	}
	return *a.PublishedAt
}

// The shortest word that tells a subject, and the letters of it that are compared, so that forms of a word are equal.
const (
	leastWord = 4
	stemSize  = 5
)

func stems(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	}) {
		if n := utf8.RuneCountInString(word); n >= leastWord {
			all[string([]rune(word)[:min(n, stemSize)])] = true
		}
	}
	return all
}
