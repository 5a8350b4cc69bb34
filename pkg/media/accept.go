package media

import (
	"maps"
	"slices"
)

// Formats are the MIME types that callers may bring in, by the type of the file.
var Formats = map[Type][]string{
	Image: {"image/jpeg", "image/png", "image/webp"},
	Audio: {"audio/mpeg", "audio/wav", "audio/aac", "audio/mp4"},
	Video: {"video/mp4"},
}

// limits are the sizes up to which files are taken, in bytes.
var limits = map[Type]int64{Image: 20 << 20, Audio: 25 << 20, Video: 200 << 20}

// MaxPixels is how many pixels a picture may have.
const MaxPixels = 50_000_000

// Limit returns the size up to which callers may bring in files of a type; for no type,
// that of the largest.
func Limit(t Type) int64 {
	if t == "" {
		return slices.Max(slices.Collect(maps.Values(limits)))
	}
	return limits[t]
}

// TypeOf returns the type of a file of a MIME type; empty where none has it.
func TypeOf(mimeType string) Type {
	for t, formats := range Formats {
		if slices.Contains(formats, mimeType) {
			return t
		}
	}
	return ""
}
