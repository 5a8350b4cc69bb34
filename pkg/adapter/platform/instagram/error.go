package instagram

import (
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

var refusals = graph.Refusals{
	Label: "Instagram", Subcodes: subcodes, Unsure: []int{2207001, 2207003, 2207032}, Published: []int{2207051},
	Codes: map[int]func() *platform.Error{
		368: func() *platform.Error {
			return platform.Reject(platform.CodeContentPolicy, "Instagram has restricted the account for a while.")
		},
	},
}

// subcodes maps the refusals of content publishing that name their cause.
var subcodes = map[int]func() *platform.Error{
	2207008: gone, 2207020: gone, 2207053: gone,
	2207042: func() *platform.Error { return platform.Full(time.Hour) },
	2207027: func() *platform.Error {
		return platform.Later(platform.CodePlatformUnavailable, "Instagram still processes the media.")
	},
	2207004: graph.Media("The image is too large for Instagram."),
	2207005: graph.Media("Instagram does not take the format of the image."),
	2207009: graph.Media("Instagram does not take the ratio of width to height."),
	2207010: graph.Media("The caption is too long for Instagram."),
	2207026: graph.Media("Instagram does not take the format of the video."),
	2207028: graph.Media("Instagram takes 2 to 10 media in a carousel."),
	2207057: graph.Media("The frame of the cover is not in the video."),
	36001:   graph.Media("Instagram does not take the format of the image."),
	36003:   graph.Media("Instagram does not take the ratio of width to height."),
}

func gone() *platform.Error { return platform.Again(nil) }
