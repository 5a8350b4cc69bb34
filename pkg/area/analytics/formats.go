package analytics

import (
	"strings"

	"github.com/content-automation/api/pkg/base/format"
)

func init() {
	format.Define("metric", format.Format{
		Values: strings.Fields("engagement impressions reach views watch_time_seconds likes comments shares saves " +
			"clicks")})
}
