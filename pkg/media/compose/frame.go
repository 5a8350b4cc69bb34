package compose

import "image"

// The areas of a video that no platform covers with its own buttons and texts: inside the greatest margins of TikTok,
// Reels, Shorts and clips of VK.
var (
	SafePortrait  = image.Rect(70, 250, 1080-130, 1920-430)
	SafeLandscape = image.Rect(96, 54, 1920-96, 1080-64)
)
