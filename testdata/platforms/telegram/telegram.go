// Package telegram is a fake of Telegram's Bot API: a bot, and a channel in which it
// is an administrator. It is as strict as the API about lengths, counts, files and rights.
package telegram

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/content-automation/api/testdata/platforms/control"
)

// The bot's token, its channel, and the channel's chat ids.
const (
	Token   = "7000000001:AAF-fake-token-of-a-bot-0123456789abc"
	Channel = "@acme_news"
	Chat    = -1001234567890
	Group   = -4242 // a group that has become the channel
)

// Fake implements the API in memory.
type Fake struct {
	*control.Control
	mu      sync.Mutex
	revoked bool
	kicked  bool
	demoted bool     // the bot is an administrator who may not post
	allowed []string // updates that the bot has requested
	updates []map[string]any
	// Webhook says that the bot has a webhook, so that it cannot request updates.
	Webhook bool
	// Confirmed says that the bot has confirmed updates, which are then removed.
	Confirmed bool
	// Altered counts the changes and deletions of messages.
	Altered int
	media   map[string]bool // ids of the messages with media
}

// New makes a fake with the clock now.
func New(now func() time.Time) *Fake {
	return &Fake{media: map[string]bool{}, Control: control.New(now, func(w http.ResponseWriter, seconds int) {
		control.JSON(w, http.StatusTooManyRequests, map[string]any{
			"ok": false, "error_code": 429, "description": fmt.Sprintf("Too Many Requests: retry after %d", seconds),
			"parameters": map[string]any{"retry_after": seconds},
		})
	})}
}

// Expire revokes the bot's token, as its owner can.
func (f *Fake) Expire() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.revoked = true
}

// Kick removes the bot from the channel.
func (f *Fake) Kick() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kicked = true
}

// Demote takes the right to post messages from the bot.
func (f *Fake) Demote() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.demoted = true
}

// Handler returns the handler of the API.
func (f *Fake) Handler() http.Handler { return f.Handle(http.HandlerFunc(f.serve)) }

type refusal struct {
	code        int
	description string
	params      map[string]any
}

func bad(format string, args ...any) *refusal {
	return &refusal{http.StatusBadRequest, "Bad Request: " + fmt.Sprintf(format, args...), nil}
}

func (f *Fake) serve(w http.ResponseWriter, r *http.Request) {
	token, method, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	f.mu.Lock()
	revoked, kicked := f.revoked, f.kicked
	f.mu.Unlock()
	var result any
	e := &refusal{code: http.StatusNotFound, description: "Not Found"}
	switch {
	case token != Token || revoked:
		e = &refusal{code: http.StatusUnauthorized, description: "Unauthorized"}
	case r.Method != http.MethodPost:
	case method == "getMe":
		result, e = map[string]any{"id": 7000000001, "is_bot": true, "username": "acme_bot"}, nil
	case kicked:
		e = &refusal{code: http.StatusForbidden, description: "Forbidden: bot was kicked from the channel chat"}
	default:
		if method == "getChatMemberCount" || method == "getChat" || method == "getChatMember" || strings.HasPrefix(method, "send") ||
			known[method] != nil {
			var in input
			if in, e = read(r); e == nil {
				result, e = f.do(method, in)
			}
		}
	}
	// Read the rest of the body of a refused upload.
	_, _ = io.Copy(io.Discard, r.Body)
	if e != nil {
		answer := map[string]any{"ok": false, "error_code": e.code, "description": e.description}
		if e.params != nil {
			answer["parameters"] = e.params
		}
		control.JSON(w, e.code, answer)
		return
	}
	control.JSON(w, http.StatusOK, map[string]any{"ok": true, "result": result})
}

// input has the parameters and the files of a call.
type input struct {
	params map[string]string
	files  map[string]file
}

type file struct {
	mime, sum string
	bytes     int64
	size      control.Medium // of a photo; the zero value if it cannot be decoded
}

// read reads a body in JSON or a form.
func read(r *http.Request) (input, *refusal) {
	in := input{map[string]string{}, map[string]file{}}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err != nil:
		return in, bad("there is no content type")
	case kind == "application/json":
		var raw map[string]any
		if err := json.NewDecoder(r.Body).Decode(&raw); err != nil {
			return in, bad("can't parse the JSON")
		}
		for name, v := range raw {
			switch x := v.(type) {
			case float64:
				v = strconv.FormatInt(int64(x), 10)
			case []any, map[string]any:
				raw, err := json.Marshal(x)
				if err != nil {
					return in, bad("can't parse the JSON")
				}
				v = string(raw)
			}
			in.params[name] = fmt.Sprint(v)
		}
	case kind == "multipart/form-data":
		if r.ContentLength < 0 {
			return in, bad("there is no content length")
		}
		for form := multipart.NewReader(r.Body, params["boundary"]); ; {
			part, err := form.NextPart()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return in, bad("can't read the form")
			}
			if part.FileName() != "" {
				content, size := control.Picture(part)
				n, sum, err := control.Sum(content)
				if err != nil {
					return in, bad("can't read the file")
				}
				in.files[part.FormName()] = file{part.Header.Get("Content-Type"), sum, n, size}
				continue
			}
			value, err := io.ReadAll(io.LimitReader(part, 1<<20))
			if err != nil {
				return in, bad("can't read the form")
			}
			in.params[part.FormName()] = string(value)
		}
	default:
		return in, bad("the content type %q", kind)
	}
	return in, nil
}

var known = map[string][]string{
	"getWebhookInfo": {}, "getUpdates": {"offset", "limit", "timeout", "allowed_updates"},
	"getChat": {"chat_id"}, "getChatMember": {"chat_id", "user_id"}, "getChatMemberCount": {"chat_id"},
	"sendMessage": {"chat_id", "text", "disable_notification", "parse_mode", "protect_content", "link_preview_options"},
	"sendPhoto":   {"chat_id", "caption", "disable_notification", "parse_mode", "protect_content"},
	"sendVideo": {"chat_id", "caption", "disable_notification", "parse_mode", "protect_content", "supports_streaming",
		"width", "height", "duration", "cover"},
	"sendMediaGroup":     {"chat_id", "media", "disable_notification", "protect_content"},
	"editMessageText":    {"chat_id", "message_id", "text", "parse_mode", "link_preview_options"},
	"editMessageCaption": {"chat_id", "message_id", "caption", "parse_mode"},
	"deleteMessage":      {"chat_id", "message_id"},
}

func (f *Fake) do(method string, in input) (any, *refusal) {
	for name := range in.params {
		if !slices.Contains(known[method], name) {
			return nil, bad("the parameter %s is not known", name)
		}
	}
	if method == "getWebhookInfo" || method == "getUpdates" {
		return f.listen(method, in)
	}
	chat := map[string]any{"id": Chat, "type": "channel", "title": "Acme news", "username": Channel[1:]}
	switch in.params["chat_id"] {
	case Channel, strconv.Itoa(Chat):
	case strconv.Itoa(Group):
		return nil, &refusal{http.StatusBadRequest, "Bad Request: group chat was upgraded to a supergroup chat",
			map[string]any{"migrate_to_chat_id": Chat}}
	default:
		return nil, bad("chat not found")
	}
	switch method {
	case "getChat":
		return chat, nil
	case "getChatMemberCount":
		return 1500, nil
	case "getChatMember":
		return map[string]any{"status": "administrator", "can_post_messages": !f.isDemoted()}, nil
	}
	if f.isDemoted() {
		if method == "deleteMessage" {
			return nil, bad("message can't be deleted")
		}
		return nil, bad("need administrator rights in the channel chat")
	}
	if strings.HasPrefix(method, "edit") || method == "deleteMessage" {
		return f.alter(method, in)
	}
	content, e := check(method, in)
	if e != nil {
		return nil, e
	}
	sent := func() map[string]any {
		return map[string]any{"message_id": f.Small(), "chat": chat, "date": f.Now().Unix()}
	}
	message := sent()
	f.Publish(control.Post{ID: fmt.Sprint(message["message_id"]), Account: Channel, Content: content})
	f.mu.Lock()
	f.media[fmt.Sprint(message["message_id"])] = method != "sendMessage"
	f.mu.Unlock()
	f.React(message["message_id"].(int64), 7)
	if method != "sendMediaGroup" {
		return message, nil
	}
	album := []any{message}
	for range len(in.files) - 1 {
		album = append(album, sent())
	}
	return album, nil
}

func (f *Fake) isDemoted() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.demoted
}

// alter changes or deletes a message.
func (f *Fake) alter(method string, in input) (any, *refusal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id, text := in.params["message_id"], in.params["text"]+in.params["caption"]
	if _, e := fits(text, in.params["parse_mode"], method == "editMessageText"); e != nil && method != "deleteMessage" {
		return nil, e
	}
	if mode := in.params["parse_mode"]; mode != "" {
		text += " parse_mode " + mode
	}
	post, found := f.Find(id)
	switch {
	case method == "deleteMessage":
		if !f.Remove(id) {
			return nil, bad("message to delete not found")
		}
	case !found:
		return nil, bad("message to edit not found")
	case f.media[id] != (method == "editMessageCaption"):
		return nil, bad("there is no text in the message to edit")
	case post.Content == text:
		return nil, bad("message is not modified: specified new message content and reply markup are exactly the same")
	default:
		f.Rewrite(id, text)
	}
	f.Altered++
	return true, nil
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }

// fits returns what a reader sees of a text or of a caption, and refuses what is too long.
func fits(text, mode string, message bool) (string, *refusal) {
	seen, e := visible(text, mode)
	switch {
	case e != nil:
		return "", e
	case message && strings.TrimSpace(seen) == "":
		return "", bad("message text is empty")
	case message && units(seen) > 4096:
		return "", bad("message is too long")
	case !message && units(seen) > 1024:
		return "", bad("message caption is too long")
	}
	return seen, nil
}

// photos are the photos that the Bot API takes (sendPhoto: "The photo's width and height must not exceed 10000 in total.
// Width and height ratio must be at most 20").
var photos = control.Bounds{Narrowest: control.Ratio{Width: 1, Height: 20}, Widest: control.Ratio{Width: 20, Height: 1},
	MaxSum: 10_000}

// check refuses a message that the API would refuse, and returns its content.
func check(method string, in input) (string, *refusal) {
	text := in.params["caption"]
	type item struct {
		Type, Media, Caption string
		Mode                 string `json:"parse_mode"`
	}
	items := []item{}
	switch method {
	case "sendMessage":
		text = in.params["text"]
	case "sendPhoto", "sendVideo":
		name := strings.ToLower(method[len("send"):])
		items = append(items, item{name, "attach://" + name, text, ""})
	case "sendMediaGroup":
		if err := json.Unmarshal([]byte(in.params["media"]), &items); err != nil || len(items) < 2 || len(items) > 10 {
			return "", bad("there must be 2 to 10 media")
		}
		text = items[0].Caption
	}
	mode := in.params["parse_mode"]
	if method == "sendMediaGroup" && items[0].Mode != "" {
		mode = items[0].Mode
	}
	if _, e := fits(text, mode, method == "sendMessage"); e != nil {
		return "", e
	}
	cover, covered := in.params["cover"]
	if covered {
		if cover != "attach://cover" || in.files["cover"].bytes == 0 ||
			!strings.HasPrefix(in.files["cover"].mime, "image/") {
			return "", bad("wrong file of the cover")
		}
		text += " " + in.files["cover"].sum
		delete(in.files, "cover")
	}
	if len(items) != len(in.files) {
		return "", bad("there are %d files for %d media", len(in.files), len(items))
	}
	content := text
	for _, name := range []string{"parse_mode", "protect_content", "link_preview_options",
		"disable_notification"} {
		if value := in.params[name]; value != "" {
			content += " " + name + " " + value
		}
	}
	for _, it := range items {
		if it.Mode != "" {
			content += " parse_mode " + it.Mode
		}
		f, ok := in.files[strings.TrimPrefix(it.Media, "attach://")]
		most := map[string]int64{"photo": 10 << 20, "video": 50 << 20}[it.Type]
		want := map[string]string{"photo": "image/", "video": "video/"}[it.Type]
		if !ok || f.bytes == 0 || f.bytes > most || !strings.HasPrefix(f.mime, want) {
			return "", bad("wrong file of the %s: %+v", it.Type, f)
		}
		if it.Type == "photo" && !photos.Takes(f.size) {
			return "", bad("PHOTO_INVALID_DIMENSIONS")
		}
		content += " " + f.sum
	}
	return content, nil
}
