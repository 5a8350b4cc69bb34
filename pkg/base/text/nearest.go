package text

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// aliases maps names of other APIs to those of this one.
var aliases = map[string]string{
	"page": "cursor", "pagetoken": "cursor", "startingafter": "cursor", "endingbefore": "cursor", "after": "cursor",
	"offset": "cursor", "nextcursor": "cursor",
	"sort": "order", "sortby": "order", "orderby": "order", "direction": "order",
	"perpage": "limit", "pagesize": "limit", "count": "limit",
	"status": "state", "body": "prompt", "content": "prompt", "kind": "type", "type": "kind",
	"enabled": "state", "active": "state", "topics": "event_types", "callback": "url",
	"createdafter": "from", "since": "from", "createdbefore": "to", "until": "to",
	"cancelled": "canceled", "completed": "generated", "succeeded": "generated", "done": "generated",
	"pending": "queued", "running": "generating", "made": "generated", "created": "generated", "ready": "generated",
	"finished": "generated", "posted": "published",
	"twitter": "x", "insta": "instagram", "ig": "instagram", "fb": "facebook", "meta": "facebook", "yt": "youtube",
	"vkontakte": "vk", "tg": "telegram", "bsky": "bluesky", "tt": "tiktok",
	"reel": "video", "reels": "video", "short": "video", "clip": "video", "tiktok": "video", "image": "post",
	"picture": "post", "photo": "post", "text": "post", "gallery": "carousel", "album": "carousel",
}

const (
	// longest bounds the names that are compared.
	longest = 64
	// shortest is the least length of a part of a name that stands for the whole.
	shortest = 3
)

// Nearest returns the known name that was probably meant, or "" if none is close.
func Nearest(unknown string, known []string) string {
	if unknown == "" || len(unknown) > longest {
		return ""
	}
	plain := fold(unknown)
	for _, name := range known {
		if fold(name) == plain {
			return name
		}
	}
	if name, ok := aliases[plain]; ok && slices.Contains(known, name) {
		return name
	}
	if area, what, ok := strings.Cut(unknown, "."); ok { // a type of event
		if name := area + "." + aliases[fold(what)]; slices.Contains(known, name) {
			return name
		}
	}
	best, least := "", utf8.RuneCountInString(plain)/3+1
	for _, name := range known {
		if d := Distance(plain, fold(name)); d < least {
			best, least = name, d
		}
	}
	if best != "" {
		return best
	}
	if i := slices.IndexFunc(known, func(name string) bool { return isPart(unknown, name) }); i >= 0 {
		return known[i]
	}
	return ""
}

// NearestHint returns "; did you mean …?" with the name that was probably meant, or "".
func NearestHint(unknown string, known []string) string {
	if name := Nearest(unknown, known); name != "" {
		return "; did you mean " + name + "?"
	}
	return ""
}

// fold removes the differences between the ways to write a name: case, and separators of words.
func fold(name string) string { return separators.Replace(strings.ToLower(name)) }

var separators = strings.NewReplacer("_", "", "-", "", ".", "", " ", "")

// isPart reports whether one name begins with the other, in the singular or plural, or ends with it as a word: duration
// and duration_seconds, events and event_types, webhook_url and url. A wildcard at its end is left out.
func isPart(unknown, known string) bool {
	long, short := strings.ToLower(known), stem(strings.TrimRight(strings.ToLower(unknown), ":.*"))
	if len(long) < len(short) {
		long, short = short, stem(long)
	}
	ends := func(separator string) bool { return strings.HasSuffix(stem(long), separator+short) }
	return len(short) >= shortest && (strings.HasPrefix(long, short) || ends("_") || ends("-"))
}

// stem removes the difference between the singular and the plural of a name.
func stem(name string) string {
	if short, ok := strings.CutSuffix(name, "ies"); ok {
		return short
	}
	return strings.TrimSuffix(strings.TrimSuffix(name, "s"), "y")
}

// Distance returns the number of letters that must be added, removed, changed or swapped with their neighbor to turn
// one name into the other.
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, row := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		next := make([]int, len(y)+1)
		next[0] = i + 1
		for j := range y {
			changed := 1
			if x[i] == y[j] {
				changed = 0
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, row[j]+changed)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(y)]
}

// NotOneOf returns the message about a value that is none of a closed list: the value that was probably meant, if one
// is close, and all values.
func NotOneOf(value string, values []string) string {
	hint := NearestHint(value, values)
	if hint == "" {
		hint = "."
	}
	return "is not a known value" + hint + " The values are " + strings.Join(values, ", ")
}
