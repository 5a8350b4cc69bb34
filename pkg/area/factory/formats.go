package factory

import (
	"strings"

	"github.com/content-automation/api/pkg/base/format"
)

func init() {
	format.Define("content-type", format.Format{Values: strings.Fields("post video carousel story music_clip"), Many: 5,
		Distinct: true})
	format.Define("media-file", format.Format{Pattern: "^med_[0-9a-z]{26}$",
		Wanted: "the id of a media: bring the file in by POST /v1/media first"})
}
