package linkedin

import "github.com/content-automation/api/pkg/base/format"

func init() {
	format.Define("linkedin-post", format.Format{Pattern: "^urn:li:(share|ugcPost):[0-9]{1,20}$",
		Wanted: "the URN of a post, such as urn:li:share:7000000000000000001"})
	format.Define("linkedin-author", format.Format{Pattern: "^urn:li:(person|organization):[A-Za-z0-9_-]{1,64}$",
		Wanted: "the URN of a member or an organisation", Example: "urn:li:organization:5515715"})
}
