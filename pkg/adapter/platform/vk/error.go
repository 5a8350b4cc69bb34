package vk

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// refusal is the call that VK has refused.
type refusal struct {
	now    time.Time
	renews bool // its token can be refreshed
	posts  bool // it may have made a post
	// publishes says that it makes a post or prepares one. The refusal of another call, such as one that reads figures,
	// says nothing about the right to publish.
	publishes bool
}

// publishing are the methods that make a post or prepare one.
var publishing = []string{"wall.post", "photos.getWallUploadServer", "photos.saveWallPhoto", "video.save"}

// rule says what the error of VK with a code means. The first rule counts whose text the message has.
type rule struct {
	code  int
	says  *regexp.Regexp // nil for any message
	means func(refusal) *platform.Error
}

// The names and the texts of the errors are those of github.com/VKCOM/vk-api-schema, errors.json (version 5.199), and
// of the pages of the methods there. Other sources are named.
var rules = []rule{
	{1, nil, broken},                              // Unknown error occurred
	{10, nil, broken},                             // Internal server error
	{13, nil, broken},                             // Runtime error occurred during code invocation
	{36, nil, broken},                             // Method execution was interrupted due to timeout
	{6, nil, limited(time.Second)},                // Too many requests per second
	{9, nil, limited(10 * time.Minute)},           // Flood control: too many actions of the same kind
	{223, nil, limited(10 * time.Minute)},         // Too many replies
	{29, nil, limited(time.Hour)},                 // Rate limit reached: that of the method
	{1105, nil, limited(time.Hour)},               // Too many auth attempts, try again later
	{32, nil, limited(time.Minute)},               // Need wait
	{43, nil, fixed(platform.Busy)},               // This section is temporary unavailable
	{22, nil, fixed(platform.Busy)},               // Upload error
	{118, nil, fixed(uploadAgain)},                // Invalid server, of photos.saveWallPhoto
	{121, nil, fixed(uploadAgain)},                // Invalid hash, likewise
	{122, nil, fixed(uploadAgain)},                // Invalid photos
	{129, nil, fixed(uploadAgain)},                // Invalid photo
	{105, nil, fixed(uploadAgain)},                // Couldn't save file
	{601, nil, untilTomorrow},                     // You have requested too many actions this day. Try later.
	{224, nil, untilTomorrow},                     // Too many ads posts, of wall.post
	{219, nil, full(time.Hour)},                   // Advertisement post was recently added, of wall.post
	{214, daily, untilTomorrow},                   // vknet/vk #597: you can only add 50 posts a day
	{214, scheduled, refused("")},                 // a post is already scheduled for this time
	{214, unentitled, fixed(wallClosed)},          // Access to adding post denied
	{5, nil, token},                               // User authorization failed
	{1117, nil, token},                            // Access token has expired
	{1114, nil, token},                            // Anonymous token has expired
	{1116, nil, token},                            // Anonymous token is invalid
	{3609, nil, token},                            // Token extension required
	{17, nil, fixed(platform.Disconnected)},       // Validation required: VK gives a new token after it
	{25, nil, fixed(platform.Disconnected)},       // Token confirmation required
	{28, nil, fixed(platform.Disconnected)},       // Application authorization failed: not the token of a user
	{3610, nil, fixed(platform.Disconnected)},     // User is deactivated
	{3611, nil, fixed(platform.Disconnected)},     // Service is deactivated for user
	{18, nil, ofPublisher(platform.Disconnected)}, // User was deleted or banned
	{37, nil, ofPublisher(platform.Disconnected)}, // User was banned
	{27, nil, fixed(communityToken)},              // Group authorization failed; vk-api-schema #242
	{1051, nil, fixed(idToken)},                   // Method is unavailable for the token of VK ID
	{7, nil, ofPublisher(wallClosed)},             // Permission to perform this action is denied: no such right
	{15, nil, ofPublisher(wallClosed)},            // Access denied; subcode 1133: not with the scopes of the token
	{203, nil, ofPublisher(wallClosed)},           // Access to group denied
	{200, nil, denied},                            // Access to album denied: a post without photos may go
	{204, nil, denied},                            // Access to video denied: a post without videos may go
	{201, nil, denied},                            // Access to audio denied
	{210, nil, denied},                            // Access to wall's post denied
	{260, nil, denied},                            // Access to the groups list is denied due to privacy settings
	{14, nil, fixed(captcha)},                     // Captcha needed
	{3300, nil, fixed(captcha)},                   // Recaptcha needed
	{24, nil, fixed(confirm)},                     // Confirmation required
	{3301, nil, fixed(confirm)},                   // Phone validation needed
	{3302, nil, fixed(confirm)},                   // Password validation needed
	{3303, nil, fixed(confirm)},                   // Otp app validation needed
	{3304, nil, fixed(confirm)},                   // Email confirmation needed
	{11500, nil, fixed(confirm)},                  // CheckUserAction confirmation required
	{703, nil, fixed(confirm)},                    // You need to enable 2FA for this action
	{704, nil, fixed(confirm)},                    // User needs to enable 2FA for this action
	{2, nil, fixed(application)},                  // Application is disabled
	{20, nil, fixed(application)},                 // Denied for non-standalone applications
	{21, nil, fixed(application)},                 // Allowed only for standalone and OpenAPI applications
	{34, nil, fixed(application)},                 // Client version deprecated
	{101, nil, fixed(application)},                // Invalid application API ID
	{19, nil, fixed(blocked)},                     // Content blocked
	{30, nil, refused("")},                        // This profile is private
	{100, nil, refused("")},                       // One of the parameters specified was missing or invalid
	{113, nil, refused("")},                       // Invalid user id
	{114, nil, refused("")},                       // Invalid album id
	{119, nil, refused("")},                       // Invalid title
	{125, nil, refused("")},                       // Invalid group id
	{150, nil, refused("")},                       // Invalid timestamp
	{220, nil, refused("")},                       // Too many recipients, of wall.post
	{222, nil, noLinks},                           // Hyperlinks are forbidden, of wall.post
	{225, nil, refused("")},                       // Donut is disabled
	{300, nil, albumFull},                         // This album is full
	{302, nil, tooManyAlbums},                     // Albums number limit is reached
	{3102, nil, noSource},                         // Specified link is incorrect
	{104, nil, fixed(notFound)},                   // Not found
	{211, nil, fixed(platform.CommentGone)},       // Access to wall's comment denied: it does not exist
	{212, nil, fixed(uncommented)},                // Access to post comments denied
	{213, nil, fixed(uncommented)},                // Access to status replies denied
	{801, nil, fixed(uncommented)},                // Comments for this video are closed
}

// Refusals whose reason is known.
var (
	noLinks       = refused("VK takes no links in the text of this post.")
	albumFull     = refused("The album of the community is full.")
	tooManyAlbums = refused("The community has too many albums.")
	noSource      = refused("VK does not find the page of source_url.")
)

// The meanings of 214 beside "Access to adding post denied".
var (
	daily      = regexp.MustCompile(`(?i)\b(a|per|this) day\b|\bdaily\b|\blimit (is |was )?(reached|exceeded)`)
	scheduled  = regexp.MustCompile(`(?i)\bscheduled\b|publish[ _]date|\bpostponed\b`)
	unentitled = regexp.MustCompile(`(?i)^access to adding post denied\W*$|\b(editor|administrator|admin|rights?|` +
		`permissions?|no access|not allowed|wall is closed)\b`)
)

// refused classifies refusals by their number, and by their text where the number has several meanings.
func (p *Platform) refused(t platform.Token, method string, posts bool) wire.Refused {
	of := refusal{now: p.Client.Now(), renews: t.Refresh != "", posts: posts,
		publishes: slices.Contains(publishing, method)}
	return func(a wire.Answer) *platform.Error {
		var body struct {
			Error *struct {
				Code int    `json:"error_code"`
				Said string `json:"error_msg"`
			} `json:"error"`
		}
		if err := json.Unmarshal(a.Body, &body); err != nil || body.Error == nil {
			return nil
		}
		for _, r := range rules {
			if r.code == body.Error.Code && (r.says == nil || r.says.MatchString(strings.TrimSpace(body.Error.Said))) {
				return r.means(of)
			}
		}
		if !a.OK() {
			return nil // the status tells it
		}
		return platform.Odd()
	}
}

func fixed(e func() *platform.Error) func(refusal) *platform.Error {
	return func(refusal) *platform.Error { return e() }
}

// broken is the meaning of a failure inside VK, which may have made the post.
func broken(of refusal) *platform.Error {
	if of.posts {
		return platform.Lost(nil)
	}
	return platform.Busy()
}

func limited(after time.Duration) func(refusal) *platform.Error {
	return func(refusal) *platform.Error { return platform.Limited(after) }
}

func full(after time.Duration) func(refusal) *platform.Error {
	return func(refusal) *platform.Error { return platform.Full(after) }
}

// moscow is the distance of the clock of Moscow, whose midnight begins the day of VK.
const moscow = 3 * time.Hour

// untilTomorrow is the meaning of a quota of the day.
func untilTomorrow(of refusal) *platform.Error {
	local := of.now.UTC().Add(moscow)
	return platform.Full(local.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(local))
}

// token is the meaning of a token that has ended. The token of a community is not refreshed.
func token(of refusal) *platform.Error {
	if of.renews {
		return platform.TokenExpired()
	}
	return platform.Disconnected()
}

// ofPublisher is the meaning of a right that ends the account if the call publishes. Another call is refused alone.
func ofPublisher(e func() *platform.Error) func(refusal) *platform.Error {
	return func(of refusal) *platform.Error {
		if of.publishes {
			return e()
		}
		return denied(of)
	}
}

func denied(refusal) *platform.Error {
	return platform.Reject(platform.CodeMissingPermission, "VK does not let the account do this in the community.")
}

func refused(message string) func(refusal) *platform.Error {
	if message == "" {
		message = "VK refuses the post."
	}
	return func(refusal) *platform.Error { return platform.Reject(platform.CodeContentRefused, message) }
}

// uploadAgain is the error of an upload that VK does not know any more.
func uploadAgain() *platform.Error { return platform.Again(nil) }

func wallClosed() *platform.Error {
	return platform.NeedsReconnect(platform.CodeMissingPermission,
		"The account may not post on the wall of the community.")
}

func communityToken() *platform.Error {
	return platform.NeedsReconnect(platform.CodeMissingPermission, "The token of a community may post text only: "+
		"connect the community with the account of an editor.")
}

func idToken() *platform.Error {
	return platform.NeedsReconnect(platform.CodeMissingPermission, "VK has not given the application the right to "+
		"post "+
		"on walls.")
}

func captcha() *platform.Error {
	return platform.Reject(platform.CodeCaptchaRequired, "VK wants the account to solve a captcha: post by hand once, "+
		"then publish again.")
}

func confirm() *platform.Error {
	return platform.Reject(platform.CodeMissingPermission, "VK wants the owner of the account to confirm something: "+
		"open VK, then publish again.")
}

func application() *platform.Error {
	return platform.Later(platform.CodeNotConfigured, "VK refuses the service's application.")
}

func blocked() *platform.Error {
	return platform.Reject(platform.CodeContentPolicy, "VK has blocked the content.")
}

func notFound() *platform.Error {
	return platform.Reject(platform.CodePostNotFound, "VK does not have the post.")
}

func uncommented() *platform.Error { return platform.Unsupported("comments below this post") }

// uploadRefused returns the error that an upload server has answered. Its names of files that it does not take begin
// with ERR_UPLOAD, such as ERR_UPLOAD_BAD_IMAGE_SIZE. After another one, the file is uploaded again.
func uploadRefused(said string) *platform.Error {
	if strings.Contains(strings.ToUpper(said), "ERR_UPLOAD") || strings.Contains(strings.ToLower(said), "invalid") {
		return platform.Reject(platform.CodeMediaRefused, "VK refuses the file.").Saying(said)
	}
	return platform.Again(nil).Saying(said)
}
