package publishing

import (
	"strings"

	"github.com/content-automation/api/pkg/base/format"
)

func init() {
	format.Define("publication-order", format.Format{
		Values: strings.Fields("time impressions reach views watch_time_seconds likes comments shares saves clicks")})
	format.Define("review-note", format.Format{Name: format.NotBlank, Shortest: 1, Longest: 2000,
		Example: "Name the price in the first line."})
}
