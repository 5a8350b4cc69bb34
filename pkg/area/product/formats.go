package product

import "github.com/content-automation/api/pkg/base/format"

func init() {
	format.Define("sku", format.Format{Pattern: `^[^\x00-\x20\x7F]([^\x00-\x1F\x7F]*[^\x00-\x20\x7F])?$`, Shortest: 1,
		Longest: 64, Wanted: "free of control characters, and of spaces at its ends"})
}
