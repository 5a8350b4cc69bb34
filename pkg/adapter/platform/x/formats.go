package x

import "github.com/content-automation/api/pkg/base/format"

func init() {
	format.Define("x-post", format.Format{Pattern: "^[0-9]{1,19}$",
		Wanted: "the id of a post: the digits at the end of its address"})
}
