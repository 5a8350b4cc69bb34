package social

import "github.com/content-automation/api/pkg/base/format"

func init() {
	format.Define("telegram-token", format.Format{Pattern: "^[0-9]+:[0-9A-Za-z_-]+$", Longest: 200,
		Wanted: "a token of @BotFather"})
	format.Define("channel", format.Format{Pattern: `^[^\x00-\x1F\x7F]+$`, Wanted: "free of control characters",
		Longest: 200, Example: "@acme_news"})
	format.Define("vk-token", format.Format{Pattern: "^[0-9A-Za-z._-]+$", Longest: 500,
		Wanted: "a token of a community"})
}
