package media

import (
	"maps"
	"slices"
)

// Formats are the MIME types of files that callers may import, by the type of the file.
var Formats = map[Type][]string{
	Image: {"image/jpeg", "image/png", "image/webp", "image/heic", "image/heif", "image/avif"},
	Audio: {"audio/mpeg", "audio/wav", "audio/aac", "audio/mp4"},
	Video: {"video/mp4"},
}

// limits are the largest sizes of files, in bytes.
var limits = map[Type]int64{Image: 20 << 20, Audio: 25 << 20, Video: 200 << 20}

// MaxPixels is the largest number of pixels of a picture.
const MaxPixels = 50_000_000

// Limit returns the largest size of a file of a type that callers may import. For an empty type it returns the largest
// of all limits.
func Limit(t Type) int64 {
	if t == "" {
		return slices.Max(slices.Collect(maps.Values(limits)))
	}
	return limits[t]
}

// Same reports whether two MIME types are of one format: telephones call HEIC by both of its names.
func Same(a, b string) bool {
	const heic, heif = "image/heic", "image/heif"
	return a == b || a == heic && b == heif || a == heif && b == heic
}

// TypeOf returns the type of files of a MIME type, or an empty type if none has it.
func TypeOf(mimeType string) Type {
	for t, formats := range Formats {
		if slices.Contains(formats, mimeType) {
			return t
		}
	}
	return ""
}
