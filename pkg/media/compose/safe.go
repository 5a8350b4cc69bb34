package compose

import "image"

// Zone is the part of an upright picture of 1080 × 1920 that a platform covers with its own buttons and texts.
type Zone struct {
	// Platform is its name, and Use what is published there: video or story.
	Platform string
	Use      string
	// Top, Bottom, Left and Right are the heights and widths that are covered, in pixels.
	Top, Bottom, Left, Right int
}

// Zones are those of the platforms, as of 2026. docs/media.md has the source of each.
var Zones = []Zone{
	{"tiktok", "video", 150, 440, 60, 164},
	{"instagram", "video", 270, 440, 65, 130},
	{"facebook", "video", 270, 440, 65, 130},
	{"youtube", "video", 150, 480, 60, 130},
	{"instagram", "story", 270, 380, 65, 65},
	{"facebook", "story", 270, 380, 65, 65},
}

// overhang is how far letters may reach over the sides of their text.
const overhang = 4

// free returns the area that no platform covers for a use.
func free(use string) image.Rectangle {
	area := image.Rect(0, 0, wide, storyTall)
	for _, z := range Zones {
		if z.Use == use {
			area = area.Intersect(image.Rect(z.Left, z.Top, wide-z.Right, storyTall-z.Bottom))
		}
	}
	return image.Rect(area.Min.X+overhang, area.Min.Y, area.Max.X-overhang, area.Max.Y)
}

// The areas that no platform covers with its own buttons and texts: of upright videos, of stories, and of landscape
// videos, whose players have a bar at the bottom.
var (
	SafePortrait  = free("video")
	SafeStory     = free("story")
	SafeLandscape = image.Rect(96, 54, 1920-96, 1080-64)
)

// axis returns the part of an area with the middle of the picture as its own.
func axis(area image.Rectangle, wide int) image.Rectangle {
	side := max(area.Min.X, wide-area.Max.X)
	area.Min.X, area.Max.X = side, wide-side
	return area
}
