package apikey

import "github.com/content-automation/api/pkg/base/format"

func init() {
	format.Define("bound-profile", format.Format{Many: 20, Distinct: true})
}
