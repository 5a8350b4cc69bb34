package media

import (
	"strings"

	"github.com/content-automation/api/pkg/base/format"
)

func init() {
	format.Define("media-failure", format.Format{
		Values: strings.Fields("not_uploaded not_fetched too_large size_mismatch checksum_mismatch type_mismatch " +
			"unreadable internal")})
	format.Define("media-mime", format.Format{
		Values: strings.Fields("image/jpeg image/png image/webp audio/mpeg audio/wav audio/aac audio/mp4 video/mp4")})
}
