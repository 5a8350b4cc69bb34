package httpapi

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
)

// pathID is a parameter of a path that identifies a resource.
type pathID struct {
	name string
	// prefix is the prefix of its ids, and noun the name of the resource.
	prefix, noun string
}

// idsOf returns the parameters of a path that are ids, in their order. It panics if it does not know the resource of a
// parameter called …_id.
func idsOf(path string) (ids []pathID) {
	for segment := range strings.SplitSeq(path, "/") {
		name := strings.Trim(segment, "{}")
		resource, is := strings.CutSuffix(name, "_id")
		if name == segment || !is {
			continue
		}
		prefix, ok := id.Prefix(resource)
		if !ok {
			panic(fmt.Sprintf("httpapi: no resource has ids called %s", name))
		}
		noun := resource
		if prefix == id.APIKey {
			noun = "API key"
		}
		ids = append(ids, pathID{name, prefix, noun})
	}
	return ids
}

// checkPath refuses a request whose path has a malformed id, so that no operation makes a key of it. The answer is the
// one for an id that does not exist.
func checkPath(req *http.Request, ids []pathID) error {
	for _, p := range ids {
		if value := req.PathValue(p.name); !id.Valid(p.prefix, value) {
			return errs.Missing(p.noun, value)
		}
	}
	return nil
}
