package httpapi

import (
	"bytes"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"

	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
)

// parse parses the body, where the operation takes one. That is done once for each
// call: its schema is checked by the tree, and a merge patch applies it.
func (c *call) parse(takesBody, optional bool) (err error) {
	switch {
	case !takesBody:
		return refuseBody(c.body)
	case len(c.body) > 0:
		c.sent, err = jsontree.Parse(c.body)
		return err
	case optional:
		return nil
	default:
		return errs.New(errs.MalformedJSON, "The body is missing. Send one JSON object in UTF-8.")
	}
}

// refuseTwice refuses parameters of which one is sent twice: all but the first would
// be lost silently.
func refuseTwice(query url.Values) error {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if len(query[name]) > 1 {
			return errs.Invalid(name, "is sent more than once")
		}
	}
	return nil
}

// refuseBody refuses what is sent to an operation that takes no body: it would be
// lost silently. An empty object is what some clients send for none.
func refuseBody(body []byte) error {
	if b := bytes.TrimSpace(body); len(b) > 0 && !bytes.Equal(b, []byte("{}")) {
		return errs.Invalid("", "This operation takes no body. Leave it out.")
	}
	return nil
}

// isTaken reports whether a method takes bodies of a media type. Other kinds of JSON,
// such as a JSON Patch, mean something else.
func isTaken(method, contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" || kind == "application/merge-patch+json" && method == http.MethodPatch)
}

func errMediaType() *errs.Error {
	return errs.New(errs.UnsupportedMediaType, "Send the body as JSON, with the header Content-Type: application/json.")
}
