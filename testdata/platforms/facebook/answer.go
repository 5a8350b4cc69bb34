package facebook

import (
	"net/http"

	"github.com/content-automation/api/testdata/platforms/meta"
)

// The calls of answers.
const (
	ofPhoto  = `^POST /v26.0/\d+/photos$`
	ofFeed   = `^POST /v26.0/\d+/feed$`
	ofReel   = `^POST /v26.0/\d+/video_reels$`
	ofUpload = `^POST /upload/\d+$`
	ofNode   = `^GET /v26.0/\d+$`
)

// Answers are the answers of the platform that a test can have it give once.
var Answers = meta.Common(ofPhoto, ofFeed).With(own())

// own returns the answers that Facebook alone gives.
func own() meta.Cases {
	c := meta.Cases{}
	const publisher = "gitroomhq/postiz-app facebook.provider.ts"
	for _, subcode := range []int{1363047, 1609010, 1609008, 1346003, 1404102, 1404112, 1404078, 4854002, 2061006, 1349125,
		1366051} {
		c.Add("post", ofFeed, meta.Refusal{Code: 100, Subcode: subcode}, publisher)
	}
	c.Add("prepare", ofPhoto, meta.Refusal{Code: 1, Subcode: 1363047}, publisher)
	c.Add("prepare", ofPhoto, meta.Refusal{Code: 1, Subcode: 1366046}, publisher)
	c.Add("prepare", ofPhoto, meta.Refusal{Code: 100, Subcode: 2069019}, publisher)
	for _, subcode := range []int{6000, 1363042, 1363023, 1363022} {
		c.Add("Reel", ofReel, meta.Refusal{Code: 100, Subcode: subcode}, meta.VideoErrors)
	}
	for _, subcode := range []int{1363030, 1363019, 1363037} {
		c.Add("upload", ofUpload, meta.Refusal{Code: 100, Subcode: subcode}, meta.VideoErrors)
	}
	const transfer = "trypostit/trypost #32"
	c["upload refused for a header"] = raw(ofUpload, http.StatusBadRequest, `{"debug_info":{"retriable":false,`+
		`"type":"ParameterValidationError","message":"HeaderValuePredicate: Header Offset not convertable"}}`, transfer)
	c["upload refused, and can be tried again"] = raw(ofUpload, http.StatusBadRequest, `{"debug_info":{"retriable":true,`+
		`"type":"ProcessingFailedError","message":"Request processing failed"}}`, transfer)
	const reels = "Video API, Reels Publishing"
	c.State("video too small", ofNode, `{"status":{"video_status":"error","uploading_phase":{"status":"complete"},`+
		`"processing_phase":{"status":"error","error":{"message":"Resolution too low. Video must have a minimum `+
		`resolution of 540p."}},"publishing_phase":{"status":"not_started"}}}`, reels)
	c.State("video with a problem of 1363019", ofNode, `{"status":{"video_status":"error","uploading_phase":{"status":`+
		`"complete"},"processing_phase":{"status":"error","errors":[{"code":1363019,"message":"There was a problem `+
		`uploading your video."}]},"publishing_phase":{"status":"not_started"}}}`, reels)
	c.State("video not read", ofNode, `{"status":{"video_status":"error","uploading_phase":{"status":"error","error":`+
		`{"message":"The file could not be downloaded."}},"processing_phase":{"status":"not_started"},`+
		`"publishing_phase":{"status":"not_started"}}}`, reels)
	c.State("video failed without a reason", ofNode, `{"status":{"video_status":"error","uploading_phase":{"status":`+
		`"complete"},"processing_phase":{"status":"error"},"publishing_phase":{"status":"not_started"}}}`, reels)
	return c
}

// raw returns an answer in another form.
func raw(call string, status int, body, source string) meta.Case {
	c := meta.Cases{}
	c.State("", call, body, source)
	one := c[""]
	one.Status = status
	return one
}
