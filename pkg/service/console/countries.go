package console

import (
	"cmp"
	"slices"

	tongue "golang.org/x/text/language"
	"golang.org/x/text/language/display"

	clip "github.com/content-automation/api/pkg/base/text"
)

// dictionaries have the names of countries in the languages of the pages. Those of all languages take a megabyte.
var dictionaries = map[string]*display.Dictionary{"en": display.English, "ru": display.Russian}

// Countries returns the codes of all countries with their names in the language of the page, sorted by these.
func (v *view) Countries() (all []choice) {
	names := cmp.Or(dictionaries[v.Language], display.English).Regions()
	for n := range 26 * 26 {
		region, err := tongue.ParseRegion(string([]byte{'A' + byte(n/26), 'A' + byte(n%26)}))
		if err != nil || !region.IsCountry() || region.Canonicalize() != region {
			continue
		}
		if name := names.Name(region); name != "" { // a country of the past has none
			all = append(all, choice{region.String(), name})
		}
	}
	slices.SortFunc(all, func(a, b choice) int { return cmp.Compare(clip.Fold(a.Text), clip.Fold(b.Text)) })
	return all
}
