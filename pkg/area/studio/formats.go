package studio

import (
	"strings"

	"github.com/content-automation/api/pkg/base/format"
)

func init() {
	format.Define("generation-outcome", format.Format{
		Values: strings.Fields("generated failed insufficient_balance spend_limit_reached rate_limited")})
	format.Define("studio-prompt", format.Format{Shortest: 1, Longest: 4000,
		Example: "A trail running shoe on wet rock, morning light"})
}
