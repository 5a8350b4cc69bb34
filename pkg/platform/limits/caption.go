// Package limits holds the platforms' limits of what is published.
package limits

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Caption is how long the text below a post may be on a platform.
type Caption struct {
	Platform string
	Most     int
	// UTF16 counts UTF-16 units, of which an emoji has two or more, in place of
	// characters.
	UTF16 bool
}

// Captions are the limits of the platforms that publish one. Telegram's is that of a
// text below media, and those of YouTube and VK are of a video's description.
var Captions = []Caption{
	{Platform: "instagram", Most: 2200},
	{Platform: "tiktok", Most: 2200, UTF16: true},
	{Platform: "youtube", Most: 5000},
	{Platform: "telegram", Most: 1024},
	{Platform: "vk", Most: 5000},
}

// Length returns the length of a text as the platform counts it.
func (c Caption) Length(text string) int {
	if c.UTF16 {
		return len(utf16.Encode([]rune(text)))
	}
	return utf8.RuneCountInString(text)
}
