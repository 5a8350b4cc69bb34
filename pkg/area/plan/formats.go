package plan

import (
	"github.com/content-automation/api/pkg/base/format"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
)

func init() {
	types := factoryrecord.ContentTypes
	format.Define("plan-content", format.Format{Values: types})
	format.Define("plan-contents", format.Format{Values: types, Fewest: 1, Many: len(types), Distinct: true})
	format.Define("chapter", format.Format{Longest: 500,
		Example: "The shoe can be ordered from 12 December with the code NETS10"})
	format.Define("topic", format.Format{Name: format.NotBlank, Pattern: format.OneLine, Shortest: 1, Longest: 400,
		Example: "Why the left shoe wears out first"})
}
