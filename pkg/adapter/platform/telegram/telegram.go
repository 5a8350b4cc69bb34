// Package telegram publishes in Telegram channels and groups with a bot that is an administrator there.
//
// A message is visible as soon as it is sent, the Bot API has no idempotency key, and a bot cannot read the messages of
// a channel. So a lost answer is never reconciled. Start with Platform.Make in telegram.go.
package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
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
	Habits: platform.Habits{Least: 200, Most: 900, Hashtags: 2, Links: true,
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
	wire.Keyed
	platform.Chain[state]
}

// New returns the adapter.
func New(cfg wire.Config) *Platform {
	p := &Platform{Keyed: wire.Keyed{API: wire.API{Client: wire.New(Name, cfg)}}}
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
	return true, time.Duration(min(w.Made, 1)) * time.Second, nil
}

// Make implements chain.Steps. It sends one message. The id of the post is that of the first one.
func (p *Platform) Make(ctx context.Context, w *platform.Work[state]) (ref platform.Ref, err error) {
	if w.Own.Chat == "" {
		w.Own.Chat = w.Account.ID
	}
	call, err := next(ctx, w)
	if err != nil {
		return ref, err
	}
	var made sent
	err = p.do(ctx, w.Account.Token.Access, call, &made)
	var moved *migration
	if errors.As(err, &moved) {
		w.Own.Chat = strconv.FormatInt(moved.chat, 10)
		return ref, platform.ErrMore
	}
	if err == nil && w.Made == 0 {
		ref = platform.Ref{ID: strconv.FormatInt(made.ID, 10), URL: address(made)}
	}
	return ref, err
}

// Find implements chain.Steps.
func (p *Platform) Find(context.Context, *platform.Work[state]) (ref platform.Ref, next platform.Stage, err error) {
	return ref, "", platform.Lost(errors.New("a bot cannot read a chat"))
}

// address returns the address of a message in a channel. It is empty for a group, whose messages only its members see.
func address(m sent) string {
	switch id := strconv.FormatInt(m.Chat.ID, 10); {
	case m.Chat.Username != "":
		return "https://t.me/" + m.Chat.Username + "/" + strconv.FormatInt(m.ID, 10)
	case strings.HasPrefix(id, "-100"):
		return "https://t.me/c/" + id[len("-100"):] + "/" + strconv.FormatInt(m.ID, 10)
	default:
		return ""
	}
}

// sent is the message that was sent, or the first message of an album.
type sent struct {
	ID   int64 `json:"message_id"`
	Chat chat  `json:"chat"`
}

// UnmarshalJSON reads a message or an album.
func (m *sent) UnmarshalJSON(raw []byte) error {
	type plain sent
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
	*m = sent(all[0])
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
		return told.refused(call.Posts)
	}
	if err := p.Client.Check(call, answer, refused); err != nil {
		return err
	}
	if unreadable == nil {
		unreadable = json.Unmarshal(told.Result, out)
	}
	if unreadable != nil {
		return p.Client.Garbled(call, unreadable)
	}
	return nil
}
