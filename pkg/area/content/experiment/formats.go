package experiment

import (
	"strings"

	"github.com/content-automation/api/pkg/base/format"
)

func init() {
	format.Define("arm", format.Format{Fewest: 2, Many: 4, Distinct: true})
	format.Define("experiment-metric", format.Format{
		Values: strings.Fields("likes comments shares saves clicks views reach impressions engagement")})
	format.Define("question", format.Format{Name: format.NotBlank, Pattern: format.OneLine, Shortest: 1, Longest: 500,
		Example: "Do questions in the first line bring more likes?"})
}
