package console

import (
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// ascii reports whether a text has visible characters of ASCII alone, and spaces.
func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// hostName is a name of the DNS in ASCII, with two labels at least.
var hostName = regexp.MustCompile(`(?i)^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)

// hostNamed reports whether a host is a name in ASCII, as the DNS has it. Letters of other scripts are in it as xn--…,
// so that no host looks like another one. A host may have them in an address without the address having them, by
// percent signs.
func hostNamed(host string) bool {
	if !hostName.MatchString(host) || len(host) > 253 || net.ParseIP(host) != nil {
		return false
	}
	_, err := idna.Lookup.ToUnicode(strings.ToLower(host)) // refuses xn--… that stands for nothing
	return err == nil
}

// shownHost returns a host as it is shown to people: with letters of other scripts as xn--….
func shownHost(host string) string {
	if shown, err := idna.Lookup.ToASCII(host); err == nil {
		return shown
	}
	return url.PathEscape(host)
}

// alike are scripts whose letters look like those of Latin.
var alike = map[string]*unicode.RangeTable{"Latin": unicode.Latin, "Cyrillic": unicode.Cyrillic, "Greek": unicode.Greek,
	"Armenian": unicode.Armenian, "Cherokee": unicode.Cherokee, "Coptic": unicode.Coptic, "Lisu": unicode.Lisu,
	"Deseret": unicode.Deseret, "Georgian": unicode.Georgian}

// oneScript reports whether a name has letters of one of the scripts that look alike at most. Letters of others, such
// as those of Chinese, may be beside Latin ones. Letters that are made of others, such as mathematical ones, are none.
func oneScript(name string) bool {
	found := map[string]bool{}
	for _, r := range name {
		if !unicode.IsLetter(r) {
			continue
		}
		if r >= 0x1d400 && r <= 0x1d7ff || r >= 0xff21 && r <= 0xff5a || r >= 0x2100 && r <= 0x214f ||
			r >= 0x1f130 && r <= 0x1f189 {
			return false
		}
		for script, table := range alike {
			if unicode.Is(table, r) {
				found[script] = true
			}
		}
	}
	return len(found) <= 1
}

// famous are programs that many people know, with the hosts that they return to.
var famous = map[string][]string{
	"claude": {"claude.ai", "claude.com", "anthropic.com"}, "anthropic": {"claude.ai", "claude.com", "anthropic.com"},
	"chatgpt": {"chatgpt.com", "openai.com"}, "openai": {"chatgpt.com", "openai.com"},
	"cursor": {"cursor.com", "cursor.sh"}, "perplexity": {"perplexity.ai"}, "zapier": {"zapier.com"},
}

// latin are letters and digits by the Latin letters that they look like.
var latin = strings.NewReplacer("а", "a", "в", "b", "с", "c", "ԁ", "d", "е", "e", "ё", "e", "є", "e", "ԍ", "g", "һ",
	"h",
	"н", "h", "і", "i", "ї", "i", "ј", "j", "к", "k", "ӏ", "l", "м", "m", "о", "o", "р", "p", "ԛ", "q", "г", "r", "ѕ",
	"s",
	"т", "t", "ц", "u", "ѵ", "v", "ԝ", "w", "х", "x", "у", "y", "α", "a", "β", "b", "ϲ", "c", "ε", "e", "η", "n", "ι",
	"i",
	"κ", "k", "ν", "v", "ο", "o", "ρ", "p", "τ", "t", "υ", "u", "χ", "x", "ω", "w", "ս", "u", "օ", "o", "ո", "n",
	"0", "o", "1", "l", "3", "e", "5", "s", "ı", "i", "ɑ", "a", "ɡ", "g", "ß", "b",
	"℮", "e", "ǃ", "l", "|", "l", "@", "a", "$", "s")

// plain returns a name without the marks on its letters, and with the letters that others are made of.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
			return -1
		}
		return r
	}, norm.NFKD.String(name))
}

// together finds where two words stand together, such as in ClaudeDesktop.
var together = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)

// ownsName reports whether a program may have a name: one that many people know is for its own hosts, and for programs
// of the computer, which are shown as such. Letters that look like others count as those.
func ownsName(name string, redirects []string) bool {
	// Of i, l and 1 nobody tells one from another in all fonts.
	fold := func(s string) string { return strings.ReplaceAll(latin.Replace(strings.ToLower(s)), "i", "l") }
	name = plain(name)
	split := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && latin.Replace(string(r)) == string(r)
		})
	}
	words := append(split(name), split(together.ReplaceAllString(name, "$1 $2"))...)
	words = append(words, strings.Join(split(name), ""))
	for program, hosts := range famous {
		if !slices.ContainsFunc(words, func(word string) bool {
			return fold(word) == fold(program) || fold(word) == fold(program+"ai")
		}) {
			continue
		}
		for _, address := range redirects {
			u, err := url.Parse(address)
			if err != nil || u.Scheme == "https" && !slices.ContainsFunc(hosts, func(host string) bool {
				at := strings.ToLower(u.Hostname())
				return at == host || strings.HasSuffix(at, "."+host)
			}) {
				return false
			}
		}
	}
	return true
}
