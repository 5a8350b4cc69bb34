// Package limits holds limits of the platforms, for what need not link the adapters. A test of pkg/adapter/platform/registry compares them with the adapters' own.
package limits

import "github.com/content-automation/api/pkg/adapter/platform"

// Caption is how long the text below a video may be on a platform.
type Caption struct {
	Platform string
	platform.Text
}

// Captions are the limits of all platforms.
var Captions = []Caption{
	{"instagram", platform.Text{Max: 2200}},
	{"tiktok", platform.Text{Max: 2200, Unit: platform.UTF16}},
	{"youtube", platform.Text{Max: 5000, Unit: platform.Bytes}},
	{"telegram", platform.Text{Max: 1024, Unit: platform.UTF16}},
	{"vk", platform.Text{Max: 5000}},
	{"rutube", platform.Text{Max: 5000}},
}
