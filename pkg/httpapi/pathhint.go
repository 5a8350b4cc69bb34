package httpapi

import (
	"path"
	"strings"

	nearest "github.com/content-automation/api/pkg/base/text"
)

// longestPath bounds the paths that are compared.
const longestPath = 200

// pathHint returns the end of the message about an unknown path, with the path of the API that was probably meant.
func pathHint(unknown string) string {
	if len(unknown) > longestPath {
		return "."
	}
	meant := path.Clean("/" + unknown)
	if !strings.HasPrefix(meant, "/v1/") {
		meant = "/v1" + meant
	}
	for _, template := range Paths {
		if _, literal := compare(meant, template); literal {
			if strings.HasSuffix(unknown, "/") {
				return ": leave out the slash at its end."
			}
			return "; did you mean " + template + "?"
		}
	}
	best, most := "", 0
	for _, template := range Paths {
		if same, _ := compare(meant, template); same > most {
			best, most = template, same
		}
	}
	if best == "" {
		// The resource may be below another.
		for _, template := range Paths {
			if path.Base(template) == path.Base(meant) {
				best = template
				break
			}
		}
	}
	if best == "" {
		return "."
	}
	return "; did you mean " + best + "?"
}

// compare returns the number of equal parts of a path and a template, or 0 if one of the names is not even similar, and
// reports whether all parts are equal.
func compare(text, template string) (same int, literal bool) {
	parts, names := strings.Split(text, "/"), strings.Split(template, "/")
	if len(parts) != len(names) {
		return 0, false
	}
	literal = true
	for i, name := range names {
		switch {
		case parts[i] == name || strings.HasPrefix(name, "{"):
			same++
		case nearest.Nearest(parts[i], []string{name}) == "":
			return 0, false
		default:
			literal = false
		}
	}
	return same, literal
}
