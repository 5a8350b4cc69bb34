package telegram

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// The outcomes of refusals, which Telegram tells apart by its descriptions.
type outcome int

const (
	// gone: the bot has lost the chat, or the chat does not exist any more. That ends the account.
	gone outcome = iota + 1
	// unentitled: the bot may not send messages in the chat. That ends the account if the call sends one.
	unentitled
	// token: the bot's token is not valid any more.
	token
	// media: Telegram does not take the file.
	media
	// missing: the message does not exist.
	missing
	// other: another program receives the updates of the bot.
	other
	// odd: nothing says what the refusal means.
	odd
)

// rule says what the refusals mean whose description has a text, in lower case.
type rule struct {
	says  string
	means outcome
}

// The descriptions are those of github.com/tdlib/telegram-bot-api, of github.com/TelegramBotAPI/errors and of
// github.com/vrumger/telegram-errors; those in capitals are errors of core.telegram.org/api/errors. Others are named.
var rules = []rule{
	{"chat not found", gone},                      // 400; python-telegram-bot #3956
	{"chat_id_invalid", gone},                     // 400
	{"peer_id_invalid", gone},                     // 400
	{"channel_invalid", gone},                     // 400
	{"channel_private", gone},                     // 400: the channel is private, or the bot was banned from it
	{"chat_forbidden", gone},                      // 400
	{"bot was kicked", gone},                      // 403: from the group, supergroup or channel chat
	{"bot is not a member", gone},                 // 403; grammyjs/grammY #309
	{"bot was blocked", gone},                     // 403: by the user
	{"user is deactivated", gone},                 // 403
	{"user_deactivated", gone},                    // 400
	{"chat was deactivated", gone},                // 403: the group chat was deactivated
	{"the group chat was deleted", gone},          // 403
	{"chat was deleted", gone},                    // 403
	{"user_banned_in_channel", gone},              // 400
	{"need administrator rights", unentitled},     // 400: in the channel chat; teloxide #450
	{"not enough rights", unentitled},             // 400: to send text messages to the chat; pyTelegramBotAPI #2068
	{"have no rights to send", unentitled},        // 400: a message
	{"have no write access", unentitled},          // 400: to the chat; tdlib/td #2301
	{"chat_admin_required", unentitled},           // 400
	{"chat_write_forbidden", unentitled},          // 400
	{"chat_restricted", unentitled},               // 400
	{"chat_guest_send_forbidden", unentitled},     // 400
	{"chat_send_", unentitled},                    // 400: CHAT_SEND_PLAIN_FORBIDDEN, CHAT_SEND_PHOTOS_FORBIDDEN …
	{"right_forbidden", unentitled},               // 400
	{"logged out", token},                         // 400: the bot uses another server of the Bot API
	{"message to edit not found", missing},        // 400
	{"message_id_invalid", missing},               // 400
	{"request entity too large", media},           // 413
	{"file is too big", media},                    // 400
	{"file must be non-empty", media},             // 400
	{"photo_invalid_dimensions", media},           // 400
	{"photo_ext_invalid", media},                  // 400
	{"photo_save_file_invalid", media},            // 400
	{"image_process_failed", media},               // 400
	{"media_empty", media},                        // 400
	{"media_invalid", media},                      // 400
	{"video_file_invalid", media},                 // 400
	{"video_content_type_invalid", media},         // 400
	{"wrong file", media},                         // 400
	{"wrong type of the web page content", media}, // 400
	{"group send failed", odd},                    // 400: an album, of which nothing says how much was sent
	{"terminated by other getupdates", other},     // 409
	{"webhook is active", other},                  // 409: can't use getUpdates method while webhook is active
}

var (
	seconds = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)retry after (\d+)`) })
	// quoted are the parts of a description that come from the call, such as the name of a tag.
	quoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"[^"]*"`) })
)

// longest bounds the time that Telegram names, in seconds.
const longest = 24 * 60 * 60

// refused classifies a refusal; sends reports whether the call sends a message. It returns nil for failures inside
// Telegram, which the status tells.
func (e envelope) refused(sends bool) *platform.Error {
	said := strings.ToLower(quoted().ReplaceAllString(e.Said, ""))
	switch {
	case e.Code == http.StatusTooManyRequests:
		after := e.Parameters.RetryAfter
		if m := seconds().FindStringSubmatch(e.Said); after == 0 && m != nil {
			after, _ = strconv.Atoi(m[1]) // the digits of a number that is too large stand for no time
		}
		return platform.Limited(time.Duration(min(max(after, 0), longest)) * time.Second)
	case e.Code == http.StatusUnauthorized, e.Code == http.StatusNotFound && said == "not found":
		return platform.Disconnected() // Telegram answers 404 to a malformed token
	case e.Code < 400 || e.Code >= 500:
		return nil
	}
	for _, r := range rules {
		if strings.Contains(said, r.says) {
			return r.means.error(sends)
		}
	}
	switch {
	case e.Code == http.StatusForbidden && sends:
		return unentitled.error(sends)
	case e.Code == http.StatusForbidden:
		return denied()
	case e.Code == http.StatusConflict && !sends:
		return other.error(sends)
	case e.Code == http.StatusRequestEntityTooLarge:
		return media.error(sends)
	case e.Code == http.StatusBadRequest:
		return platform.Reject(platform.CodeContentRefused, "Telegram refuses the message.")
	}
	return platform.Odd()
}

func (o outcome) error(sends bool) *platform.Error {
	switch o {
	case gone:
		return platform.NeedsReconnect(platform.CodeMissingPermission, "The bot is no longer in the chat, or the chat "+
			"does not exist. Add the bot to it as an administrator.")
	case unentitled:
		if !sends {
			return denied()
		}
		return platform.NeedsReconnect(platform.CodeMissingPermission, "The bot may no longer post in the chat. "+
			"Make it "+
			"an administrator again.")
	case token:
		return platform.Disconnected()
	case media:
		return platform.Reject(platform.CodeMediaRefused, "Telegram refuses the file.")
	case missing:
		return platform.Reject(platform.CodePostNotFound, "Telegram does not have the message.")
	case other:
		return platform.Unsupported("counts of reactions while another program receives the updates of the bot")
	}
	return platform.Odd()
}

// denied is the error of a right that says nothing about that to send messages.
func denied() *platform.Error {
	return platform.Reject(platform.CodeMissingPermission, "Telegram does not let the bot do this in the chat.")
}
