package instagram

import "github.com/content-automation/api/pkg/base/format"

func init() {
	format.Define("instagram-name", format.Format{Pattern: "^[A-Za-z0-9._]{1,30}$", Wanted: "a user name of Instagram"})
}
