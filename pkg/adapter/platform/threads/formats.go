package threads

import "github.com/content-automation/api/pkg/base/format"

func init() {
	format.Define("threads-tag", format.Format{Pattern: `^[^.&\x00-\x1F]+$`, Wanted: "free of . and &", Shortest: 1,
		Longest: 50})
}
