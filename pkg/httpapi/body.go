package httpapi

import (
	"bytes"
	"mime"
	"net/http"
	"strings"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
)

// parse parses the body if the operation takes one. It runs once for each call: the schema check and a merge patch use
// the tree.
func (c *call) parse(takesBody, optional bool) (err error) {
	switch {
	case !takesBody:
		return rejectBody(c.body)
	case len(c.body) > 0:
		c.sent, err = jsontree.Parse(c.body)
		return err
	case optional:
		return nil
	default:
		return errs.New(errs.MalformedJSON, "The body is missing. Send one JSON object in UTF-8.")
	}
}

// rejectBody refuses a body of an operation that takes none: it would be lost silently. An empty object is permitted,
// because some clients send it instead of no body.
func rejectBody(body []byte) error {
	if b := bytes.TrimSpace(body); len(b) > 0 && !bytes.Equal(b, []byte("{}")) {
		return errs.Invalid("", "This operation takes no body. Leave it out.")
	}
	return nil
}

const (
	mediaJSON  = "application/json"
	mediaPatch = "application/merge-patch+json"
)

// checkMediaType refuses bodies of other media types than JSON. Other kinds of JSON, such as a JSON Patch, have another
// meaning. Without the header a body is taken for JSON.
func checkMediaType(method, contentType string) error {
	const advice = "Send the body as JSON in UTF-8, with the header Content-Type: application/json"
	kind, parameters, err := mime.ParseMediaType(contentType)
	charset := strings.ToLower(parameters["charset"])
	switch {
	case err != nil:
		return errs.New(errs.UnsupportedMediaType, "The header Content-Type is malformed. "+advice+".")
	case kind == mediaPatch && method != http.MethodPatch:
		return errs.New(errs.UnsupportedMediaType, mediaPatch+" is for PATCH only. "+advice+".")
	case kind == mediaPatch || kind == mediaJSON:
		if charset != "" && charset != "utf-8" && charset != "utf8" {
			return errs.New(errs.UnsupportedMediaType,
				"The charset of the header Content-Type is not UTF-8. "+advice+".")
		}
		return nil
	default:
		return errs.New(errs.UnsupportedMediaType, advice+", not %.80s.", kind)
	}
}
