// Package telegram publishes in Telegram channels and groups with a bot that is an administrator there.
//
// A message is visible as soon as it is sent, the Bot API has no idempotency key, and a bot cannot read the messages of
// a channel. So a lost answer is never reconciled. Start with Platform.Make in telegram.go.
package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Name is the platform's id.
const Name = "telegram"

const ownAddress = "https://api.telegram.org"

var (
	photo = &platform.File{MIMEs: []string{"image/jpeg", "image/png", "image/webp"}, MaxBytes: 10 << 20,
		MinRatio: 1.0 / 20, MaxRatio: 20, MaxSides: 10_000}
	video = &platform.File{MIMEs: []string{"video/mp4"}, MaxBytes: 50 << 20}

	caption = platform.Text{Max: 1024, Unit: platform.UTF16}
	message = platform.Text{Max: 4096, Unit: platform.UTF16}

	kinds = map[platform.Kind]platform.Rule{
		platform.KindPost:      {Caption: caption, Rest: message, MaxMedia: 1, Image: photo},
		platform.KindVideo:     {Caption: caption, Rest: message, MinMedia: 1, MaxMedia: 1, Video: video},
		platform.KindMusicClip: {Caption: caption, Rest: message, MinMedia: 1, MaxMedia: 1, Video: video},
		platform.KindCarousel: {Caption: caption, Rest: message, MinMedia: 2, MaxMedia: 10, Image: photo,
			Video: video},
	}
	hashtags = platform.Hashtags{Max: 30}
)

var capabilities = platform.Capabilities{
	Label:    "Telegram",
	Connect:  platform.ConnectBotToken,
	Kinds:    kinds,
	Hashtags: hashtags,
	Markup:   markup,
	Options: []platform.Option{platform.OptionSilent, platform.OptionCover, optionFormat, optionProtect,
		optionPreview},
	Refuses:   refuses,
	Shape:     Options{},
	Privacies: []platform.Privacy{platform.Public},
	Metrics:   []string{"likes"},
	Account:   platform.AccountFigures{Names: []string{"followers"}},
	Edits:     true,
	Deletes:   true,
	Habits: platform.Habits{MinCaption: 200, MaxCaption: 900, Hashtags: 2, Links: true,
		Hours: []int{9, 19, 13, 21}, WeekendHours: []int{11, 20, 16},
		Action: "to open a link, to react or to forward the post",
		Form: "A post is read as a letter: the first line works as a headline, then plain paragraphs; a " +
			"question or an address stands alone in the last line."},
	Notes: []string{
		"The bot must be an administrator of the channel that may post messages.",
		"A caption of more than 1,024 characters is published as the media with its beginning, then a message with " +
			"the rest.",
		"With the option format, Telegram counts what readers see of the caption, without the tags of HTML. A text " +
			"that is changed later has the format, too.",
		"Bots cannot read views. Reactions are counted as likes, as far as Telegram has reported them to the bot " +
			"within 24 hours and the bot has no webhook.",
		"Where the answer to a message is lost, the publication ends as outcome_unknown.",
	},
}

// Platform is Telegram.
type Platform struct {
	wire.KeyConnector
	platform.Chain[state]
}

// New returns the adapter.
func New(cfg wire.Config) *Platform {
	p := &Platform{KeyConnector: wire.KeyConnector{API: wire.API{Client: wire.New(Name, cfg)}}}
	p.Chain = platform.Chain[state]{Steps: p, ID: Name, Caps: capabilities}
	return p
}

// chat is a channel or group.
type chat struct {
	ID       int64  `json:"id"`
	Type     string `json:"type"`
	Title    string `json:"title"`
	Username string `json:"username"`
}

// Connect implements platform.Connector. The grant has the token of a bot, and the @name or number of the chat.
func (p *Platform) Connect(ctx context.Context, g platform.Grant) ([]platform.Account, error) {
	switch {
	case g.Token == "":
		return nil, platform.NeedsReconnect(platform.CodeNeedsReconnect,
			"Telegram is connected with the token of a bot.")
	case g.Choice == "":
		return nil, platform.Reject(platform.CodeInvalidOption, "Name the channel, such as @acme, in which the bot "+
			"is an administrator.")
	}
	var bot struct {
		ID int64 `json:"id"`
	}
	if err := p.call(ctx, g.Token, "getMe", nil, &bot); err != nil {
		return nil, err
	}
	var c chat
	if err := p.call(ctx, g.Token, "getChat", map[string]any{"chat_id": g.Choice}, &c); err != nil {
		return nil, err
	}
	var member struct {
		Status  string `json:"status"`
		CanPost bool   `json:"can_post_messages"`
	}
	if err := p.call(ctx, g.Token, "getChatMember", map[string]any{"chat_id": c.ID, "user_id": bot.ID},
		&member); err != nil {
		return nil, err
	}
	may := member.Status == "creator" || member.Status == "administrator" && (c.Type != "channel" || member.CanPost)
	if !may {
		return nil, platform.NeedsReconnect(platform.CodeMissingPermission, "Make the bot an administrator of the "+
			"channel that may post messages.")
	}
	// Telegram keeps the counts of reactions from now on. A bot with a webhook has none.
	if _, err := p.updates(ctx, g.Token, 1); err != nil && platform.KindOf(err) != platform.BadContent {
		return nil, err
	}
	a := platform.Account{ID: strconv.FormatInt(c.ID, 10), Name: c.Title, Token: platform.Token{Access: g.Token}}
	if c.Username != "" {
		a.Handle = "@" + c.Username
	}
	return []platform.Account{a}, nil
}

// state is the adapter's part of a handle: the chat, which changes if a group becomes a supergroup.
type state struct {
	Chat string `json:"chat,omitempty"`
}

// Prepare implements chain.Steps. Telegram takes one message a second in a chat.
func (p *Platform) Prepare(_ context.Context, w *platform.Work[state]) (ready bool, wait time.Duration, err error) {
	return true, time.Duration(min(w.PostsMade, 1)) * time.Second, nil
}

// Make implements chain.Steps. It sends one message. The id of the post is that of the first one.
func (p *Platform) Make(ctx context.Context, w *platform.Work[state]) (ref platform.Ref, err error) {
	w.Own.Chat = cmp.Or(w.Own.Chat, w.Account.ID)
	call, err := next(ctx, w)
	if err != nil {
		return ref, err
	}
	var made sentMessage
	err = p.do(ctx, w.Account.Token.Access, call, &made)
	var moved *migration
	if errors.As(err, &moved) {
		w.Own.Chat = strconv.FormatInt(moved.chat, 10)
		return ref, platform.ErrMore
	}
	if err == nil && made.ID == 0 {
		return ref, p.Client.GarbledError(call, errors.New("there is no message_id"))
	}
	if err == nil && w.PostsMade == 0 {
		ref = platform.Ref{ID: strconv.FormatInt(made.ID, 10), URL: address(made)}
	}
	return ref, err
}

// Find implements chain.Steps.
func (p *Platform) Find(context.Context, *platform.Work[state]) (ref platform.Ref, next platform.Stage, err error) {
	return ref, "", platform.Lost(errors.New("a bot cannot read a chat"))
}

// address returns the address of a message in a channel. It is empty for a group, whose messages only its members see.
func address(m sentMessage) string {
	switch id := strconv.FormatInt(m.Chat.ID, 10); {
	case m.Chat.Username != "":
		return "https://t.me/" + m.Chat.Username + "/" + strconv.FormatInt(m.ID, 10)
	case strings.HasPrefix(id, "-100"):
		return "https://t.me/c/" + id[len("-100"):] + "/" + strconv.FormatInt(m.ID, 10)
	default:
		return ""
	}
}

// sentMessage is the message that was sent, or the first message of an album.
type sentMessage struct {
	ID   int64 `json:"message_id"`
	Chat chat  `json:"chat"`
}

// UnmarshalJSON reads a message or an album.
func (m *sentMessage) UnmarshalJSON(raw []byte) error {
	type plain sentMessage
	if len(raw) > 0 && raw[0] != '[' {
		return json.Unmarshal(raw, (*plain)(m))
	}
	var all []plain
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	if len(all) == 0 {
		return errors.New("the album is empty")
	}
	*m = sentMessage(all[0])
	return nil
}

// call makes a call that posts nothing. It follows a group that has become a supergroup.
func (p *Platform) call(ctx context.Context, token platform.Secret, method string, params map[string]any,
	out any) error {
	err := p.do(ctx, token, wire.Call{Name: method, JSON: params}, out)
	var moved *migration
	if !errors.As(err, &moved) || params["chat_id"] == nil {
		return err
	}
	params = maps.Clone(params)
	params["chat_id"] = moved.chat
	if err = p.do(ctx, token, wire.Call{Name: method, JSON: params}, out); errors.As(err, &moved) {
		return platform.Busy().Because(err)
	}
	return err
}

// migration is the error of a group that has become a supergroup.
type migration struct{ chat int64 }

func (m *migration) Error() string { return fmt.Sprintf("telegram: the chat is now %d", m.chat) }

// envelope is an answer of Telegram.
type envelope struct {
	OK         bool            `json:"ok"`
	Result     json.RawMessage `json:"result"`
	Code       int             `json:"error_code"`
	Said       string          `json:"description"`
	Parameters struct {
		RetryAfter int   `json:"retry_after"`
		Migrated   int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// do makes a call, whose name is the method.
func (p *Platform) do(ctx context.Context, token platform.Secret, call wire.Call, out any) error {
	call.Method = http.MethodPost
	call.URL = p.Client.Base(ownAddress) + "/bot" + url.PathEscape(token.Reveal()) + "/" + call.Name
	call.Secrets = []platform.Secret{token}
	answer, err := p.Client.Do(ctx, call)
	if err != nil {
		return err
	}
	var told envelope
	unreadable := json.Unmarshal(answer.Body, &told)
	if unreadable == nil && !told.OK {
		if told.Parameters.Migrated != 0 {
			return &migration{told.Parameters.Migrated}
		}
		if cause := causeOf(told.Said); cause != nil {
			return cause
		}
	}
	refused := func(wire.Answer) *platform.Error {
		if unreadable != nil || told.OK {
			return nil
		}
		return told.classify(call.Posts)
	}
	if err := p.Client.Check(call, answer, refused); err != nil {
		return err
	}
	if unreadable == nil {
		unreadable = json.Unmarshal(told.Result, out)
	}
	if unreadable != nil {
		return p.Client.GarbledError(call, unreadable)
	}
	return nil
}

// These options are members of the shape of Telegram alone.
const (
	optionFormat  platform.Option = "format"
	optionProtect platform.Option = "protect"
	optionPreview platform.Option = "link_preview"
)

// formatHTML is the value of the option format for texts in HTML.
const formatHTML = "html"

// Options are the options of posts on Telegram, as callers send them.
type Options struct {
	platform.Visible
	platform.Quiet
	// How the caption is written. html: with the tags b, i, u, s, code, pre, blockquote, tg-spoiler and a with href; <,
	// > and & are written as &lt;, &gt; and &amp;. Absent: plain text.
	Format string `json:"format,omitempty" enum:"plain,html"`
	// Lets readers neither forward nor save the post.
	Protect bool `json:"protect,omitempty"`
	// Whether the preview of the first link is shown below a post without media. Absent: true.
	LinkPreview *bool `json:"link_preview,omitempty"`
}

// optionsOf returns the options of a post.
func optionsOf(o platform.Options) Options {
	own, _ := o.Own.(Options)
	return own
}

// markup returns the markup of a text with the options. Telegram counts a text after it has read the markup.
func markup(o platform.Options) platform.Markup {
	if optionsOf(o).Format == formatHTML {
		return platform.HTML
	}
	return ""
}

// params returns the parameters that the options add to a call that sends a message or changes its text.
func (o Options) params(sends, text bool) map[string]any {
	all := map[string]any{}
	if o.Format == formatHTML {
		all["parse_mode"] = "HTML"
	}
	if sends && o.Silent {
		all["disable_notification"] = true
	}
	if sends && o.Protect {
		all["protect_content"] = true
	}
	if text && o.LinkPreview != nil && !*o.LinkPreview {
		all["link_preview_options"] = map[string]bool{"is_disabled": true}
	}
	return all
}

// tags are the tags of a text.
var tags = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<(/?)([a-z-]+)((?: [a-z]+="[^"<>]*")?)>`)
})

// formats are the tags that Telegram takes, and attributes the one attribute of some.
var (
	formats = []string{"b", "strong", "i", "em", "u", "ins", "s", "strike", "del", "code", "pre", "blockquote",
		"tg-spoiler", "a"}
	attributes = map[string]string{"a": "href", "code": "class"}
)

// mostFormatted bounds the formatted parts of a text: Telegram drops the formats and links of others without a word
// (TelegramBots #854, tdlib/td #739).
const mostFormatted = 100

// htmlProblem returns what is wrong with a text in HTML, or "".
func htmlProblem(text string) string {
	var open []string
	parts := 0
	for _, m := range tags().FindAllStringSubmatch(text, -1) {
		closes, name, attribute := m[1] != "", m[2], strings.TrimSpace(m[3])
		known, _, _ := strings.Cut(attribute, "=")
		within := ""
		if len(open) > 0 {
			within = open[len(open)-1]
		}
		switch {
		case !slices.Contains(formats, name):
			return "has the tag " + name + ", which Telegram does not take. It takes " + strings.Join(formats, ", ") +
				"."
		case attribute != "" && (closes || attributes[name] != known), name == "a" && !closes && attribute == "":
			return "has the tag " + name + " with a wrong attribute: only a has one, href."
		case !closes:
			if within != "pre" || name != "code" { // which names the language of one part
				parts++
			}
			open = append(open, name)
		case within != name:
			return "closes the tag " + name + ", which is not the one that was opened last."
		default:
			open = open[:len(open)-1]
		}
	}
	switch {
	case len(open) > 0:
		return "does not close the tag " + open[len(open)-1] + "."
	case parts > mostFormatted:
		return fmt.Sprintf("has %d formatted parts. Telegram shows those after the first %d as plain text. Use at "+
			"most %d.", parts, mostFormatted, mostFormatted)
	}
	rest := tags().ReplaceAllString(text, "")
	if strings.ContainsAny(rest, "<>") {
		return "has a < or > that belongs to no tag: write &lt; or &gt;."
	}
	if strings.TrimSpace(html.UnescapeString(rest)) == "" && text != "" {
		return "has tags, and no text."
	}
	return ""
}

// refuses returns what is wrong with the options of a post.
func refuses(p platform.Post) (found []platform.Problem) {
	own := optionsOf(p.Options)
	if own.LinkPreview != nil && len(p.Media) > 0 {
		found = append(found, platform.Wrong(Name, optionPreview, "is of posts without media: a post with media shows "+
			"no preview of a link."))
	}
	if own.Format != formatHTML {
		return found
	}
	arranged := platform.Arrange(p, platform.Capabilities{Kinds: kinds, Hashtags: hashtags, Markup: markup})
	if arranged.SecondMessage != "" {
		found = append(found, platform.Wrong(Name, optionFormat, "is taken for a caption of up to 1,024 characters "+
			"with media: a longer one becomes two messages, and its tags could be cut."))
	}
	if wrong := htmlProblem(p.Caption); wrong != "" {
		found = append(found, platform.Problem{Platform: Name, Param: "caption", Message: "With " +
			"options.telegram.format " +
			"html, the caption " + wrong})
	}
	return found
}

// item is one file of an album.
type item struct {
	Type      string `json:"type"`
	Media     string `json:"media"`
	Caption   string `json:"caption,omitempty"`
	Mode      any    `json:"parse_mode,omitempty"`
	Streaming bool   `json:"supports_streaming,omitempty"`
	Width     int    `json:"width,omitempty"`
	Height    int    `json:"height,omitempty"`
	Duration  int    `json:"duration,omitempty"`
}

// next returns the call that sends the next part of a post: the media or the text, then the rest of a long caption.
func next(ctx context.Context, w *platform.Work[state]) (wire.Call, error) {
	post, text := w.Post, w.Text()
	own := optionsOf(post.Options)
	if w.PostsMade > 0 || len(post.Media) == 0 {
		body := own.params(true, true)
		body["chat_id"], body["text"] = w.Own.Chat, text
		return wire.Call{Name: "sendMessage", JSON: body, Posts: true}, nil
	}
	fields, options := url.Values{"chat_id": {w.Own.Chat}}, own.params(true, false)
	mode := options["parse_mode"]
	if len(post.Media) > 1 {
		delete(options, "parse_mode") // it belongs to the caption of the first file
	}
	for name, value := range options {
		fields.Set(name, fmt.Sprint(value))
	}
	call := wire.Call{Posts: true, Timeout: wire.UploadTimeout}
	var files []wire.File
	switch m := post.Media[0]; {
	case len(post.Media) > 1:
		call.Name = "sendMediaGroup"
		var items []item
		for i, m := range post.Media {
			name := "file" + strconv.Itoa(i)
			it := item{Type: "photo", Media: "attach://" + name}
			if m.Video() {
				it = item{Type: "video", Media: it.Media, Streaming: true, Width: m.Width, Height: m.Height,
					Duration: int(m.Duration.Seconds())}
			}
			if i == 0 {
				it.Caption, it.Mode = text, mode
			}
			items = append(items, it)
			files = append(files, wire.File{Field: name, Name: wire.FileName(m), Media: m})
		}
		raw, err := json.Marshal(items)
		if err != nil {
			return wire.Call{}, fmt.Errorf("telegram: album: %w", err)
		}
		fields.Set("media", string(raw))
	case m.Video():
		call.Name = "sendVideo"
		fields.Set("supports_streaming", "true")
		for name, n := range map[string]int{"width": m.Width, "height": m.Height,
			"duration": int(m.Duration.Seconds())} {
			if n > 0 {
				fields.Set(name, strconv.Itoa(n))
			}
		}
		files = []wire.File{{Field: "video", Name: wire.FileName(m), Media: m}}
		if c := post.Cover; c != nil {
			fields.Set("cover", "attach://cover")
			files = append(files, wire.File{Field: "cover", Name: wire.FileName(*c), Media: *c})
		}
	default:
		call.Name = "sendPhoto"
		files = []wire.File{{Field: "photo", Name: wire.FileName(m), Media: m}}
	}
	if len(post.Media) == 1 && text != "" {
		fields.Set("caption", text)
	}
	body, err := wire.Multipart(ctx, fields, files...)
	call.Body = body
	return call, err
}

// The causes of refusals that mean that nothing is left to do.
var (
	errUnchanged = errors.New("message is not modified")
	errGone      = errors.New("message to delete not found")
)

// causeOf returns the cause of a refusal. Telegram has no codes for it, only descriptions.
func causeOf(description string) error {
	for _, known := range []error{errUnchanged, errGone} {
		if strings.HasPrefix(description, "Bad Request: "+known.Error()) {
			return known
		}
	}
	return nil
}

// Edit implements platform.Editor. A repeat is refused as unchanged, which is success.
func (p *Platform) Edit(ctx context.Context, a platform.Account, post platform.PlacedPost, text string) error {
	if post.Parts > 1 {
		return platform.Reject(platform.CodeInvalidOption, "The text of the post is in several messages. Change it in "+
			"Telegram.")
	}
	own := optionsOf(post.Options)
	if wrong := htmlProblem(text); own.Format == formatHTML && wrong != "" {
		return platform.Reject(platform.CodeInvalidOption, "The post is in HTML, and the new text "+wrong)
	}
	body := own.params(false, post.Media == 0)
	body["chat_id"], body["message_id"] = a.ID, post.ID
	if post.Media > 0 {
		body["caption"] = text
		return p.alter(ctx, a, wire.Call{Name: "editMessageCaption", JSON: body}, errUnchanged)
	}
	body["text"] = text
	return p.alter(ctx, a, wire.Call{Name: "editMessageText", JSON: body}, errUnchanged)
}

// Delete implements platform.Deleter. A repeat finds no message, which is success.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.PlacedPost) error {
	if post.Media > 1 || post.Parts > 1 {
		return platform.Reject(platform.CodeInvalidOption, "The post is several messages, of which Telegram has "+
			"reported the first alone. Delete them in Telegram.")
	}
	return p.alter(ctx, a, wire.Call{Name: "deleteMessage",
		JSON: map[string]any{"chat_id": a.ID, "message_id": post.ID}},
		errGone)
}

// alter makes a call that changes a message. The refusal done means that it was changed before.
func (p *Platform) alter(ctx context.Context, a platform.Account, call wire.Call, done error) error {
	var out json.RawMessage
	err := p.do(ctx, a.Token.Access, call, &out)
	var moved *migration
	switch {
	case errors.Is(err, done):
		return nil
	case errors.As(err, &moved):
		return platform.Reject(platform.CodePostNotFound, "The group has become a supergroup since, which has its own "+
			"messages.")
	}
	return err
}

// reactionCount is the update with the reactions to a message of a channel. Telegram keeps it only
// for a bot that has requested it.
const reactionCount = "message_reaction_count"

// usual lists the updates that Telegram keeps for a bot that has requested none.
var usual = []string{
	"message", "edited_message", "channel_post", "edited_channel_post", "business_connection", "business_message",
	"edited_business_message", "deleted_business_messages", "inline_query", "chosen_inline_result", "callback_query",
	"shipping_query",
	"pre_checkout_query", "purchased_paid_media", "poll", "poll_answer", "my_chat_member", "chat_join_request",
	"chat_boost", "removed_chat_boost",
}

// mostUpdates is how many updates Telegram returns at once.
const mostUpdates = 100

// update is an update of a bot, as far as it counts reactions.
type update struct {
	Count *struct {
		Chat      chat  `json:"chat"`
		Message   int64 `json:"message_id"`
		Reactions []struct {
			Total int64 `json:"total_count"`
		} `json:"reactions"`
	} `json:"message_reaction_count"`
}

// updates returns the updates of the last 24 hours that no program of the bot's owner has read,
// oldest first. It also makes Telegram keep the counts of reactions from now on. It requests the
// same kinds of updates as before, and confirms none, so that other programs of the bot's owner
// still receive all of their updates. A bot with a webhook has no such list.
func (p *Platform) updates(ctx context.Context, token platform.Secret, most int) (all []update, err error) {
	var hook struct {
		URL     string   `json:"url"`
		Allowed []string `json:"allowed_updates"`
	}
	if err := p.call(ctx, token, "getWebhookInfo", nil, &hook); err != nil {
		return nil, err
	}
	if hook.URL != "" {
		return nil, platform.Unsupported("counts of reactions while the bot has a webhook")
	}
	if len(hook.Allowed) == 0 {
		hook.Allowed = usual
	}
	wanted := hook.Allowed
	if !slices.Contains(wanted, reactionCount) {
		wanted = append(slices.Clone(wanted), reactionCount)
	}
	return all, p.call(ctx, token, "getUpdates", map[string]any{"limit": most, "timeout": 0,
		"allowed_updates": wanted}, &all)
}

// Metrics implements platform.Publisher. It returns the reactions to a message from Telegram's last
// count for the bot. They are unknown if that count is older than 24 hours.
func (p *Platform) Metrics(ctx context.Context, a platform.Account,
	post platform.PublishedPost) (m platform.Metrics, err error) {
	id, err := strconv.ParseInt(post.ID, 10, 64)
	if err != nil {
		return m, platform.Reject(platform.CodePostNotFound, "Telegram does not have the message.")
	}
	all, err := p.updates(ctx, a.Token.Access, mostUpdates)
	if err != nil {
		return m, err
	}
	for _, u := range all {
		c := u.Count
		if c == nil || c.Message != id || strconv.FormatInt(c.Chat.ID, 10) != a.ID && "@"+c.Chat.Username != a.ID {
			continue
		}
		n := int64(0)
		for _, r := range c.Reactions {
			n += r.Total
		}
		m.Likes = &n
	}
	return m, nil
}

// Days implements platform.AccountReader.
func (p *Platform) Days(ctx context.Context, a platform.Account, _ time.Time) ([]platform.Day, error) {
	var members int64
	if err := p.call(ctx, a.Token.Access, "getChatMemberCount", map[string]any{"chat_id": a.ID}, &members); err != nil {
		return nil, err
	}
	return []platform.Day{{Date: platform.Midnight(p.Client.Now()), Followers: &members}}, nil
}

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
	description string
	means       outcome
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

// classify classifies a refusal; sends reports whether the call sends a message. It returns nil for failures inside
// Telegram, which the status tells.
func (e envelope) classify(sends bool) *platform.Error {
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
		if strings.Contains(said, r.description) {
			return r.means.error(sends)
		}
	}
	switch {
	case e.Code == http.StatusForbidden && sends:
		return unentitled.error(sends)
	case e.Code == http.StatusForbidden:
		return deniedError()
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
			return deniedError()
		}
		return platform.NeedsReconnect(platform.CodeMissingPermission, "The bot may no longer post in the chat. "+
			"Make it an administrator again.")
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

// deniedError is the error of a right that says nothing about that to send messages.
func deniedError() *platform.Error {
	return platform.Reject(platform.CodeMissingPermission, "Telegram does not let the bot do this in the chat.")
}
