package instagram

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

var errNoID = errors.New("there is no id")

// failure is the body of a refusal.
type failure struct {
	Error *struct {
		Code      int  `json:"code"`
		Subcode   int  `json:"error_subcode"`
		Transient bool `json:"is_transient"`
	} `json:"error"`
}

// subcodes maps the refusals of content publishing that name their cause.
var subcodes = map[int]func() *platform.Error{
	2207008: gone, 2207020: gone, 2207053: gone,
	2207042: func() *platform.Error { return platform.Full(time.Hour) },
	2207027: func() *platform.Error {
		return platform.Later(platform.CodePlatformUnavailable, "Instagram still processes the media.")
	},
	2207004: media("The image is too large for Instagram."),
	2207005: media("Instagram does not take the format of the image."),
	2207009: media("Instagram does not take the ratio of width to height."),
	2207010: media("The caption is too long for Instagram."),
	2207026: media("Instagram does not take the format of the video."),
	2207028: media("Instagram takes 2 to 10 media in a carousel."),
	2207057: media("The frame of the cover is not in the video."),
	36001:   media("Instagram does not take the format of the image."),
	36003:   media("Instagram does not take the ratio of width to height."),
}

func gone() *platform.Error { return platform.Again(nil) }

func media(message string) func() *platform.Error {
	return func() *platform.Error { return platform.Reject(platform.CodeMediaRefused, message) }
}

// refused classifies refusals by code and subcode; posts reports whether the call may have made a
// post.
func refused(posts bool) wire.Refused {
	return func(a wire.Answer) *platform.Error {
		var f failure
		if err := json.Unmarshal(a.Body, &f); err != nil || f.Error == nil {
			return nil
		}
		if named, ok := subcodes[f.Error.Subcode]; ok {
			return named()
		}
		unsure := f.Error.Transient || f.Error.Code == 1 || f.Error.Code == 2 || f.Error.Subcode == 2207001 ||
			f.Error.Subcode == 2207003 || f.Error.Subcode == 2207032
		switch code := f.Error.Code; {
		case posts && (unsure || f.Error.Subcode == 2207051):
			// Instagram has published posts in spite of these errors.
			return platform.Lost(nil)
		case unsure:
			return platform.Busy()
		case code == 190, code == 102:
			return platform.Disconnected()
		case code == 10, code >= 200 && code <= 299:
			return platform.NeedsReconnect(platform.CodeMissingPermission, "Connect the account again and allow all "+
				"that the page of Facebook asks for.")
		case code == 4, code == 17, code == 32, code == 613:
			return platform.Limited(5 * time.Minute)
		case code == 9, code == 25:
			return platform.Full(time.Hour)
		case code == 368:
			return platform.Reject(platform.CodeContentPolicy, "Instagram has restricted the account for a while.")
		default:
			return platform.Reject(platform.CodeContentRefused, "Instagram refuses the post.")
		}
	}
}

// tokenRefused classifies refusals of the token endpoint. The owner has to connect again if the
// code or the token is invalid.
func tokenRefused(a wire.Answer) *platform.Error {
	e := refused(false)(a)
	if e != nil && e.Kind == platform.BadContent {
		return platform.Disconnected()
	}
	return e
}

// number reports whether an id is a number. An id becomes part of a path, and a number cannot
// change the path.
func number(id string) bool {
	for _, r := range id {
		if r < '0' || r > '9' {
			return false
		}
	}
	return id != "" && len(id) <= 32
}
