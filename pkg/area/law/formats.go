package law

import "github.com/content-automation/api/pkg/base/format"

func init() {
	var ids []string
	for _, r := range Rules {
		ids = append(ids, r.ID)
	}
	format.Define("law-rule", format.Format{Values: ids})
}
