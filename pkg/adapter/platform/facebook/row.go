package facebook

import (
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

const (
	// publisher is a public report: the answers that an open publisher has met.
	publisher = "gitroomhq/postiz-app facebook.provider.ts"
	unread    = "Facebook could not read the video."
)

var refusals = graph.Refusals{Label: "Facebook", Rows: []graph.Row{
	{Subcode: 1363047, Outcome: graph.Passing, Source: publisher},
	{Subcode: 1609010, Outcome: graph.Passing, Source: publisher},
	{Code: 6000, Outcome: graph.Passing, Source: graph.VideoErrors, Message: unread},
	{Subcode: 6000, Outcome: graph.Passing, Source: graph.VideoErrors, Message: unread},
	{Subcode: 1363019, Outcome: graph.Passing, Source: graph.VideoErrors, Message: unread},
	{Subcode: 1363030, Outcome: graph.Passing, Source: graph.VideoErrors, Message: unread},
	{Subcode: 1363037, Outcome: graph.Passing, Source: graph.VideoErrors, Message: unread},
	{Subcode: 1404112, Outcome: graph.Spent, After: time.Hour, Source: publisher,
		Message: "Facebook has limited the login of the page for some days. Its owner has to sign in at Facebook and " +
			"follow the instructions."},
	{Subcode: 1366051, Outcome: graph.Unclear, Source: publisher, Message: "The photos were already posted."},

	// The right to publish on the page is lost until its owner acts.
	{Subcode: 1363042, Outcome: graph.Ended, As: platform.CodeMissingPermission, Source: graph.VideoErrors,
		Message: "The login may not publish videos on the page. Connect the page again with a login that may."},
	{Subcode: 1404078, Outcome: graph.Ended, As: platform.CodeMissingPermission, Source: publisher,
		Message: "Facebook wants the owner of the page to be authorized to publish on it. Connect the page again " +
			"afterwards."},
	{Subcode: 4854002, Outcome: graph.Ended, As: platform.CodeNeedsReconnect, Source: publisher,
		Message: "Facebook wants the owner of the page to confirm who they are. Connect the page again afterwards."},

	refused(1363022, platform.CodeMediaRefused, graph.VideoErrors, "The video is too small for Facebook."),
	refused(1363023, platform.CodeMediaRefused, graph.VideoErrors, "The video is too large for Facebook."),
	refused(1366046, platform.CodeMediaRefused, publisher, "The image is too large for Facebook."),
	refused(2069019, platform.CodeMediaRefused, publisher, "Facebook does not take the file."),
	refused(1346003, platform.CodeContentPolicy, publisher,
		"Facebook refuses content that others have reported as abusive."),
	refused(1404102, platform.CodeContentPolicy, publisher, "Facebook refuses the text or the link of the post."),
	refused(1404006, platform.CodeContentPolicy, publisher,
		"Facebook asks the owner of the page for a security check before it takes the comment."),
	refused(1609008, platform.CodeContentRefused, publisher, "Facebook does not take the link of the post."),
	refused(2061006, platform.CodeContentRefused, publisher, "Facebook does not take a link of the post."),
	refused(1349125, platform.CodeContentRefused, publisher, "Facebook does not take the form of the post."),
}}

// refused returns the row of content that is refused.
func refused(subcode int, as platform.Code, source, message string) graph.Row {
	return graph.Row{Subcode: subcode, Outcome: graph.Refused, As: as, Message: message, Source: source}
}
