package threads

import (
	"fmt"

	"github.com/content-automation/api/testdata/platforms/meta"
)

// The calls of answers.
const (
	ofCreate  = `^POST /v1.0/\d+/threads$`
	ofPublish = `^POST /v1.0/\d+/threads_publish$`
	ofNode    = `^GET /v1.0/\d+$`
)

// Answers are the answers of the platform that a test can have it give once.
var Answers = meta.Boxes(ofCreate, ofPublish).With(own())

// own returns the answers that Threads alone gives.
func own() meta.Cases {
	c := meta.Cases{}
	const troubles = "Threads API, Troubleshooting"
	for _, word := range []string{"FAILED_DOWNLOADING_VIDEO", "FAILED_PROCESSING_AUDIO", "FAILED_PROCESSING_VIDEO",
		"INVALID_ASPEC_RATIO", "INVALID_BIT_RATE", "INVALID_DURATION", "INVALID_FRAME_RATE", "INVALID_AUDIO_CHANNELS",
		"INVALID_AUDIO_CHANNEL_LAYOUT", "UNKNOWN"} {
		c.State("container ERROR "+word, ofNode, fmt.Sprintf(`{"id":"1","status":"ERROR","error_message":%q}`, word),
			troubles)
	}
	c.State("container EXPIRED", ofNode, `{"id":"1","status":"EXPIRED"}`, troubles)
	const lost = "gitroomhq/postiz-app #2047, trypostit/trypost #280, nopara73/LongevityWorldCup #815"
	gone := meta.Refusal{Code: 24, Subcode: 4279009, Message: "The requested resource does not exist",
		Said: "The media with id 1 cannot be found."}
	c.Add("post", ofPublish, gone, lost)
	c.Add("container", ofNode, gone, "nopara73/LongevityWorldCup #815")
	c.Add("container", ofNode, meta.Refusal{Code: 987654}, "no document")
	c.Add("post", ofPublish, meta.Refusal{Code: 10, Subcode: 4279013}, "gitroomhq/postiz-app threads.provider.ts")
	return c
}
