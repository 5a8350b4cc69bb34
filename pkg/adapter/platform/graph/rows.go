package graph

import (
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// The sources of the rows: pages of Meta and public reports.
const (
	MetaErrors  = "https://developers.facebook.com/docs/graph-api/guides/error-handling"
	MetaLimits  = "https://developers.facebook.com/docs/graph-api/overview/rate-limiting"
	VideoErrors = "https://developers.facebook.com/documentation/video-api/reference/error-codes"
	BoxErrors   = "https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/error-codes"
	BoxStates   = "https://developers.facebook.com/docs/threads/troubleshooting"
)

const (
	signIn = "The owner of the account has to sign in at Facebook and follow its instructions. Connect the account " +
		"again afterwards."
	absent = "%s does not find the account, or something that the post names, or does not show it to the service."
)

// Common are the answers of all platforms of Meta.
var Common = []Row{
	{Code: 1, Outcome: Passing, Source: MetaErrors},
	{Code: 2, Outcome: Passing, Source: MetaErrors},
	{Code: -1, Outcome: Passing, Source: BoxErrors},
	{Code: -2, Outcome: Passing, Source: BoxErrors},
	{Code: 4, Outcome: Limited, Source: MetaErrors},
	{Code: 17, Outcome: Limited, Source: MetaErrors},
	{Code: 32, Outcome: Limited, Source: MetaLimits},
	{Code: 341, Outcome: Limited, Source: MetaErrors},
	{Code: 613, Outcome: Limited, Source: MetaLimits},
	{Code: 80000, To: 80014, Outcome: Limited, Source: MetaLimits}, // by product: 80001 pages, 80002 Instagram
	{Code: 9, Outcome: Spent, After: time.Hour, Source: BoxErrors},
	{Code: 368, Outcome: Spent, After: time.Hour, Source: MetaErrors,
		Message: "%s has blocked posts of the account for a while."},
	{Subcode: 1390008, Outcome: Spent, After: time.Hour, Source: "gitroomhq/postiz-app facebook.provider.ts",
		Message: "%s has blocked posts of the account for a while, because they follow each other too fast."},
	{Code: 368, Subcode: 1346003, Outcome: Refused, As: platform.CodeContentPolicy,
		Source:  "fbsamples/original-coast-clothing #67",
		Message: "%s refuses content that others have reported as abusive."},

	// The token has ended, or the owner has to act before it is accepted again.
	{Code: 102, Outcome: Ended, As: platform.CodeNeedsReconnect, Source: MetaErrors},
	{Code: 190, Outcome: Ended, As: platform.CodeNeedsReconnect, Source: MetaErrors},
	{Code: 190, Subcode: 458, Outcome: Ended, As: platform.CodeNeedsReconnect, Source: MetaErrors,
		Message: "The owner of the account has removed the service there. Connect the account again."},
	{Code: 190, Subcode: 459, Outcome: Ended, As: platform.CodeNeedsReconnect, Source: MetaErrors, Message: signIn},
	{Code: 190, Subcode: 460, Outcome: Ended, As: platform.CodeNeedsReconnect, Source: MetaErrors,
		Message: "The password of the account's owner has changed. Connect the account again."},
	{Code: 190, Subcode: 464, Outcome: Ended, As: platform.CodeNeedsReconnect, Source: MetaErrors, Message: signIn},
	{Code: 190, Subcode: 490, Outcome: Ended, As: platform.CodeNeedsReconnect, Message: signIn,
		Source: "gitroomhq/postiz-app facebook.provider.ts"},
	{Code: 190, Subcode: 492, Outcome: Ended, As: platform.CodeNeedsReconnect, Source: MetaErrors,
		Message: "The login has no role on the page any more. Connect the account again with a login that has one."},
	// The right to publish was not granted or was taken away. With a subcode, the codes may concern one post.
	{Code: 10, Bare: true, Outcome: Ended, As: platform.CodeMissingPermission, Source: MetaErrors},
	{Code: 200, To: 299, Bare: true, Outcome: Ended, As: platform.CodeMissingPermission, Source: MetaErrors},
	// Photos and albums that are not visible concern one post.
	{Code: 220, To: 221, Bare: true, Outcome: Unclear, Source: MetaErrors, Message: absent},

	// A node does not exist or is not shown. That says nothing about the token.
	{Code: 100, Subcode: 33, Outcome: Unclear, Missing: true, Source: "gitroomhq/postiz-app facebook.provider.ts",
		Message: absent},
	{Code: 803, Outcome: Unclear, Missing: true, Source: MetaErrors, Message: absent},
	{Code: 100, Bare: true, Outcome: Unclear, Source: MetaErrors, Message: "%s does not take a part of the post."},
	{Code: 506, Outcome: Unclear, Source: MetaErrors,
		Message: "%s takes no two equal posts one after the other."},
	{Code: 1609005, Outcome: Unclear, Source: MetaErrors, Message: "%s could not read the link of the post."},
	{Subcode: 1609005, Outcome: Unclear, Source: MetaErrors, Message: "%s could not read the link of the post."},

	// The operator's application is wrong.
	{Code: 3, Outcome: Unclear, As: platform.CodeNotConfigured, Source: MetaErrors,
		Message: "%s does not give the service's application this function."},
	{Code: 101, Outcome: Setup, Source: MetaErrors},
	{Code: 104, Outcome: Setup, Source: MetaErrors},
}

// Boxed are the answers of the platforms that publish by containers.
var Boxed = []Row{
	{Subcode: 2207001, Outcome: Passing, Source: BoxErrors},
	{Subcode: 2207003, Outcome: Passing, Source: BoxErrors},
	{Subcode: 2207032, Outcome: Passing, Source: BoxErrors},
	{Subcode: 2207027, Outcome: Wait, After: 30 * time.Second, Source: BoxErrors,
		Message: "%s still processes the media."},
	{Subcode: 2207006, Outcome: Renew, Missing: true, Source: BoxErrors},
	{Subcode: 2207008, Outcome: Renew, Missing: true, Source: BoxErrors},
	{Subcode: 2207020, Outcome: Renew, Source: BoxErrors},
	{Subcode: 2207053, Outcome: Renew, Source: BoxErrors},
	{Subcode: 2207077, Outcome: Renew, Source: "gitroomhq/postiz-app instagram.provider.ts"},
	{Subcode: 2207082, Outcome: Renew, Source: "gitroomhq/postiz-app #1992"},
	{Subcode: 2207085, Outcome: Renew, Source: "gitroomhq/postiz-app #1992"},
	{Code: 24, Subcode: 4279009, Outcome: Renew, Missing: true, Source: "gitroomhq/postiz-app #2047, " +
		"trypostit/trypost #280, nopara73/LongevityWorldCup #815"},
	{Subcode: 2207042, Outcome: Spent, After: time.Hour, Source: BoxErrors},
	// The platform could not read a file, which may be the fault of either side.
	{Code: 9004, Outcome: Unclear, As: platform.CodeMediaRefused, Source: BoxErrors,
		Message: "%s could not read a file of the post."},
	{Subcode: 2207052, Outcome: Unclear, As: platform.CodeMediaRefused,
		Source:  BoxErrors + ", gitroomhq/postiz-app #1900",
		Message: "%s could not read a file of the post."},
	// The post is taken for spam. Meta has published posts in spite of this.
	{Subcode: 2207051, Outcome: Unclear, As: platform.CodeContentPolicy, Source: BoxErrors,
		Message: "%s takes the post for spam."},
	{Code: 25, Subcode: 2207050, Outcome: Ended, As: platform.CodeNeedsReconnect, Source: BoxErrors,
		Message: "%s has restricted the account. Its owner has to sign in there and follow the instructions. Connect " +
			"the account again afterwards."},
	media(2207004, "The image is too large for %s."),
	media(2207005, "%s does not take the format of the image."),
	media(2207009, "%s does not take the ratio of width to height."),
	media(2207023, "%s does not take the kind of media."),
	media(2207026, "%s does not take the format of the video."),
	media(2207057, "The frame of the cover is not in the video."),
	{Subcode: 2207010, Outcome: Refused, Source: BoxErrors, Message: "The caption is too long for %s."},
	{Subcode: 2207028, Outcome: Refused, As: platform.CodeMediaRefused, Source: BoxErrors,
		Message: "%s takes 2 to 10 media in a carousel."},
	{Subcode: 2207035, Outcome: Refused, As: platform.CodeInvalidOption, Source: BoxErrors,
		Message: "%s takes no place of a tag in a video."},
	{Subcode: 2207036, Outcome: Refused, As: platform.CodeInvalidOption, Source: BoxErrors,
		Message: "%s wants the place of a tag in a picture."},
	{Subcode: 2207037, Outcome: Refused, As: platform.CodeInvalidOption, Source: BoxErrors,
		Message: "%s does not take the tags of the post."},
	{Subcode: 2207040, Outcome: Refused, Source: BoxErrors, Message: "The post has more tags than %s takes."},
	{Subcode: 2207067, Outcome: Refused, As: platform.CodeUnsupported, Source: BoxErrors,
		Message: "%s takes a video as a Reel only."},
	{Subcode: 2207018, Outcome: Refused, As: platform.CodeInvalidOption,
		Source:  "gitroomhq/postiz-app instagram.provider.ts",
		Message: "%s does not take one of the collaborators."},
	{Subcode: 2207081, Outcome: Refused, As: platform.CodeInvalidOption,
		Source:  "gitroomhq/postiz-app instagram.provider.ts",
		Message: "The account may not publish trial Reels."},
	media(36001, "%s does not take the format of the image."),
	media(36003, "%s does not take the ratio of width to height."),
	{Code: 352, Outcome: Refused, As: platform.CodeMediaRefused, Source: BoxErrors,
		Message: "%s does not take the format of the video."},
	{Code: 36000, Outcome: Refused, As: platform.CodeMediaRefused, Source: BoxErrors,
		Message: "The image is too large for %s."},
	{Code: 36001, Outcome: Refused, As: platform.CodeMediaRefused, Source: BoxErrors,
		Message: "%s does not take the format of the image."},
	{Code: 36003, Outcome: Refused, As: platform.CodeMediaRefused, Source: BoxErrors,
		Message: "%s does not take the ratio of width to height."},
	{Code: 36004, Outcome: Refused, Source: BoxErrors, Message: "The caption is too long for %s."},
}

// media returns the row of media that are refused.
func media(subcode int, message string) Row {
	return Row{Subcode: subcode, Outcome: Refused, As: platform.CodeMediaRefused, Message: message, Source: BoxErrors}
}
