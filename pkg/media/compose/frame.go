package compose

import "image"

// The areas of a video that no platform covers with its own buttons and texts: inside the greatest margins of the
// interfaces that docs/media.md lists with their sources.
var (
	SafePortrait  = image.Rect(65, 270, 1080-164, 1920-480)
	SafeLandscape = image.Rect(96, 54, 1920-96, 1080-64)
)
