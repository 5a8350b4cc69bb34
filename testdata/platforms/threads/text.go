package threads

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/testdata/platforms/control"
)

// pictures and videos are the files that the platform takes (Threads API, Overview, image and video specifications).
// Images that are narrower than 320 pixels or wider than 1,440 are scaled.
var (
	pictures = control.Bounds{MIMEs: []string{"image/jpeg", "image/png"}, MaxBytes: 8 << 20,
		Narrowest: control.Ratio{Width: 1, Height: 10}, Widest: control.Ratio{Width: 10, Height: 1}}
	videos = control.Bounds{MIMEs: []string{"video/mp4", "video/quicktime"}, MaxBytes: 1 << 30, MaxWidth: 1920,
		Narrowest: control.Ratio{Width: 1, Height: 100}, Widest: control.Ratio{Width: 10, Height: 1},
		MaxLength: 5 * time.Minute}
)

// topics are the topic tags that the platform takes: 1 to 50 characters without . and &.
var topics = regexp.MustCompile(`^[^.&]{1,50}$`)

// addresses are the links in a text. The document has an example without a scheme (Text Attachments, "How links are
// counted").
var addresses = regexp.MustCompile(`(?i)(?:https?://|www\.)[^\s\pZ<>"]+`)

// links counts the different links of a text.
func links(text string) int {
	all := addresses.FindAllString(text, -1)
	for i := range all {
		all[i] = strings.TrimRight(all[i], ".,;:!?)")
	}
	slices.Sort(all)
	return len(slices.Compact(all))
}

// length counts a text: characters, and emoji by the bytes of their UTF-8 (Threads API, Posts: "Text posts are limited
// to 500 characters. Emojis are counted as the number of UTF-8 bytes"). The joiners and variation selectors of an emoji
// are parts of it.
func length(text string) (n int) {
	for _, r := range text {
		if emoji(r) {
			n += utf8.RuneLen(r)
		} else {
			n++
		}
	}
	return n
}

// emoji reports whether a character is one of an emoji, by the blocks of Unicode that have them.
func emoji(r rune) bool {
	return r >= 0x1F000 && r <= 0x1FAFF || r >= 0x2600 && r <= 0x27BF || r == 0x200D || r == 0xFE0F || r == 0x20E3 ||
		r > 0x2190 && r < 0x2C00 && unicode.Is(unicode.So, r)
}
