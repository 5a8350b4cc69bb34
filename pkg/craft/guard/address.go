package guard

import (
	"regexp"
	"strings"
	"sync"
)

var (
	mailText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)[\p{L}\d._%+-]+(?:@|\s?(?:\(at\)|\[at\])\s?)[\p{L}\d-]+(?:\.[\p{L}\d-]+)+`)
	})
	handleText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`@[\p{L}\d_][\p{L}\d_.]*[\p{L}\d_]`)
	})
	// spelledDomain matches a domain whose point is a word.
	spelledDomain = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)([\p{L}\d-]{3,})\sdot\s(shop|store|online|net|org|io)\b`)
	})
	// hiddenPoint matches a point in brackets, by which an address is hidden.
	hiddenPoint = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`([\p{L}\d])(?:\[\.\]|\(\.\))([\p{L}\d])`)
	})
	phoneText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\+?\(?\d(?:[ ().\-/]{0,3}\d){6,17}`)
	})
)

// addressOf returns the canonical form of a link: its host and path.
func addressOf(link string) string {
	address := strings.ToLower(strings.TrimRight(link, "*_"))
	for _, prefix := range []string{"https://", "http://", "www."} {
		address = strings.TrimPrefix(address, prefix)
	}
	host, path, _ := strings.Cut(address, "/")
	if path = strings.TrimRight(path, "/"); path != "" {
		return host + "/" + path
	}
	return host
}

// covers reports whether one of the addresses of the inputs is an address, or leads on from it.
func covers(known []string, address string) bool {
	for _, k := range known {
		host, _, _ := strings.Cut(k, "/")
		if k == address || host == address || strings.HasSuffix(host, "."+address) {
			return true
		}
	}
	return false
}

// The numbers of digits of a telephone number, and of the part that identifies it whatever the prefix for the country.
const (
	leastPhone = 7
	samePhone  = 7
)

// phoneOf returns the digits of a telephone number, or false if the digits are another number.
func phoneOf(text string) (digits string, ok bool) {
	digits = strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, strings.Replace(text, "(0)", "", 1)) // as in +49 (0)30
	international := strings.HasPrefix(text, "+") || strings.HasPrefix(text, "00")
	if len(digits) < leastPhone || !international && grouped(text) {
		return "", false
	}
	if len(digits) == len("88005553535") && digits[0] == '8' { // the prefix inside Russia
		digits = digits[1:]
	}
	return strings.TrimLeft(digits, "0"), true
}

// grouped reports whether digits are a number in groups of thousands, or a plain number.
func grouped(text string) bool {
	groups := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if len(groups) == 1 {
		return !strings.HasPrefix(text, "0") && len(text) < 10
	}
	for _, g := range groups[1:] {
		if len(g) != 3 {
			return false
		}
	}
	return len(groups[0]) < 3 || groups[len(groups)-1] == "000"
}

func samePhones(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	return len(b) >= samePhone && strings.HasSuffix(a, b)
}
