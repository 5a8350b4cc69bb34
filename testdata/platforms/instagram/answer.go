package instagram

import (
	"fmt"

	"github.com/content-automation/api/testdata/platforms/meta"
)

// The calls of answers.
const (
	ofCreate  = `^POST /v26.0/\d+/media$`
	ofPublish = `^POST /v26.0/\d+/media_publish$`
	ofNode    = `^GET /v26.0/\d+$`
)

// Answers are the answers of the platform that a test can have it give once.
var Answers = meta.Boxes(ofCreate, ofPublish).With(own())

// own returns the answers that Instagram alone gives.
func own() meta.Cases {
	c := meta.Cases{}
	const publisher = "gitroomhq/postiz-app instagram.provider.ts"
	for _, subcode := range []int{2207018, 2207067, 2207081} {
		c.Add("prepare", ofCreate, meta.Refusal{Code: 100, Subcode: subcode}, publisher)
	}
	for code, source := range map[int]string{2207001: meta.BoxErrors, 2207003: meta.BoxErrors, 2207020: meta.BoxErrors,
		2207026: meta.BoxErrors, 2207032: meta.BoxErrors, 2207052: meta.BoxErrors, 2207053: meta.BoxErrors,
		2207057: meta.BoxErrors, 2207009: meta.BoxErrors, 2207051: meta.BoxErrors, 2207077: publisher,
		2207082: "gitroomhq/postiz-app #1992", 2207085: "gitroomhq/postiz-app #1992", 2207999: "no document"} {
		c.State(fmt.Sprintf("container ERROR %d", code), ofNode, fmt.Sprintf(`{"id":"1","status_code":"ERROR",`+
			`"status":"Error: Media upload has failed with error code %d"}`, code), source)
	}
	c.State("container ERROR without a code", ofNode,
		`{"id":"1","status_code":"ERROR","status":"Error: Media upload has failed."}`, "no document")
	c.State("container EXPIRED", ofNode, `{"id":"1","status_code":"EXPIRED","status":"Expired: not published in 24 hours"}`,
		"Instagram Platform, IG Container")
	c.Add("container", ofNode, meta.Refusal{Code: 100, Subcode: 33}, "gitroomhq/postiz-app instagram.provider.ts")
	c.Add("container", ofNode, meta.Refusal{Code: 24, Subcode: 2207006}, meta.BoxErrors)
	c.Add("container", ofNode, meta.Refusal{Code: 987654}, "no document")
	return c
}
