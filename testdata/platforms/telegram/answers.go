package telegram

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/content-automation/api/testdata/platforms/control"
)

// Where the answers are described.
const (
	botAPI  = "core.telegram.org/bots/api, Making requests"
	lists   = "vrumger/telegram-errors"
	mtproto = "core.telegram.org/api/errors"
)

// Answers are answers of the Bot API that its documents or public reports describe.
var Answers = []control.Row{
	said("429 with a time", 429, "Too Many Requests: retry after 35", `{"retry_after":35}`, botAPI),
	said("429 with a time in words", 429, "Too Many Requests: retry after 7", "", lists),
	said("500", 500, "Internal Server Error", "", "tdlib/telegram-bot-api"),
	said("502", 502, "Bad Gateway", "", "tdlib/telegram-bot-api"),
	said("401", 401, "Unauthorized", "", lists),
	said("404", 404, "Not Found", "", "tdlib/telegram-bot-api: a malformed token"),
	said("400 logged out", 400, "Logged out", "", botAPI+", logOut"),
	said("400 migrated", 400, "Bad Request: group chat was upgraded to a supergroup chat",
		fmt.Sprintf(`{"migrate_to_chat_id":%d}`, Chat), botAPI),
	said("400 chat not found", 400, "Bad Request: chat not found", "", "python-telegram-bot #3956"),
	said("400 need administrator rights", 400, "Bad Request: need administrator rights in the channel chat", "",
		"teloxide #450"),
	said("400 not enough rights", 400, "Bad Request: not enough rights to send text messages to the chat", "",
		"pyTelegramBotAPI #2068"),
	said("400 no rights to send", 400, "Bad Request: have no rights to send a message", "", lists),
	said("400 no write access", 400, "Bad Request: have no write access to the chat", "", "tdlib/td #2301"),
	said("400 CHAT_ADMIN_REQUIRED", 400, "Bad Request: CHAT_ADMIN_REQUIRED", "", mtproto),
	said("400 CHAT_WRITE_FORBIDDEN", 400, "Bad Request: CHAT_WRITE_FORBIDDEN", "", lists),
	said("400 CHANNEL_PRIVATE", 400, "Bad Request: CHANNEL_PRIVATE", "", lists),
	said("400 CHAT_SEND_PLAIN_FORBIDDEN", 400, "Bad Request: CHAT_SEND_PLAIN_FORBIDDEN", "", mtproto),
	said("400 deactivated", 400, "Bad Request: group chat was deactivated", "", "tdlib/telegram-bot-api"),
	said("400 kicked", 400, "Bad Request: bot was kicked from the channel chat", "", "tdlib/telegram-bot-api"),
	said("403 kicked", 403, "Forbidden: bot was kicked from the channel chat", "", "tdlib/telegram-bot-api"),
	said("403 no member", 403, "Forbidden: bot is not a member of the channel chat", "", "grammyjs/grammY #309"),
	said("403 deactivated", 403, "Forbidden: user is deactivated", "", lists),
	said("400 no chat_id", 400, "Bad Request: chat_id is empty", "", "tdlib/telegram-bot-api"),
	said("400 entities", 400, "Bad Request: can't parse entities: Unsupported start tag \"chat not found\" at byte offset 0",
		"", "tdlib/telegram-bot-api"),
	said("400 too long", 400, "Bad Request: message is too long", "", "tdlib/telegram-bot-api"),
	said("400 dimensions", 400, "Bad Request: PHOTO_INVALID_DIMENSIONS", "", mtproto),
	said("413", 413, "Request Entity Too Large", "", "tdlib/telegram-bot-api"),
	said("400 group send failed", 400, "Bad Request: group send failed", "", "tdlib/telegram-bot-api"),
	said("409", 409, "Conflict: something else", "", "stands for those that no document has"),
}

// said is an answer to the sending of a message.
func said(name string, code int, description, parameters, source string) control.Row {
	quoted, _ := json.Marshal(description) // a text is no error
	body := fmt.Sprintf(`{"ok":false,"error_code":%d,"description":%s`, code, quoted)
	if parameters != "" {
		body += `,"parameters":` + parameters
	}
	return control.Row{Name: name, Source: source, Answer: control.Answer{Status: code, Body: body + "}",
		Call: regexp.MustCompile("^POST /bot[^/]*/send")}}
}
