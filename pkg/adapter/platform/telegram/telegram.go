// Package telegram publishes in Telegram channels and groups with a bot that is an administrator
// there.
//
// A message is visible as soon as it is sent, the Bot API has no idempotency key, and a bot cannot
// read the messages of a channel. So a lost answer is never reconciled.
package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
)

var capabilities = platform.Capabilities{
	Label:   "Telegram",
	Connect: platform.ConnectBotToken,
	Kinds: map[platform.Kind]platform.Rule{
		platform.KindPost:      {Caption: caption, Rest: message, MaxMedia: 1, Image: photo},
		platform.KindVideo:     {Caption: caption, Rest: message, MinMedia: 1, MaxMedia: 1, Video: video},
		platform.KindMusicClip: {Caption: caption, Rest: message, MinMedia: 1, MaxMedia: 1, Video: video},
		platform.KindCarousel: {Caption: caption, Rest: message, MinMedia: 2, MaxMedia: 10, Image: photo,
			Video: video},
	},
	Hashtags:  platform.Hashtags{Max: 30},
	Options:   []platform.Option{platform.OptionSilent, platform.OptionCover},
	Shape:     Options{},
	Privacies: []platform.Privacy{platform.Public},
	Metrics:   []string{"likes"},
	Account:   platform.AccountFigures{Names: []string{"followers"}},
	Edits:     true,
	Deletes:   true,
	Habits: platform.Habits{Least: 200, Most: 900, Hashtags: 2, Links: true,
		Action: "to open a link, to react or to forward the post"},
	Notes: []string{
		"The bot must be an administrator of the channel that may post messages.",
		"A caption of more than 1,024 characters is published as the media with its beginning, then a message with " +
			"the rest.",
		"Bots cannot read views. Reactions are counted as likes, as far as Telegram has reported them to the bot " +
			"within 24 hours and the bot has no webhook.",
		"Where the answer to a message is lost, the publication ends as outcome_unknown.",
	},
}

// Options are the options of posts on Telegram, as callers send them.
type Options struct {
	platform.Visible
	platform.Quiet
}

// Platform is Telegram.
type Platform struct {
	client *wire.Client
}

var _ platform.Adapter = (*Platform)(nil)

// New returns the adapter.
func New(cfg wire.Config) *Platform { return &Platform{wire.New(Name, cfg)} }

// Name implements platform.Adapter.
func (p *Platform) Name() string { return Name }

// Capabilities implements platform.Adapter.
func (p *Platform) Capabilities() platform.Capabilities { return capabilities }

// Authorization implements platform.Connector.
func (p *Platform) Authorization(context.Context, platform.Authorization) (string, error) {
	return "", platform.Unsupported("OAuth")
}

// chat is a channel or group.
type chat struct {
	ID       int64  `json:"id"`
	Type     string `json:"type"`
	Title    string `json:"title"`
	Username string `json:"username"`
}

// Connect implements platform.Connector. The grant has the token of a bot, and the @name or number
// of the chat.
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

// Refresh implements platform.Connector. The token of a bot does not end.
func (p *Platform) Refresh(_ context.Context, a platform.Account) (platform.Token, error) {
	return a.Token, nil
}

// Revoke implements platform.Connector. It has no effect, because only the bot's owner can revoke
// the token.
func (p *Platform) Revoke(context.Context, platform.Account) error { return nil }

// work is the content of a handle.
type work struct {
	Chat string `json:"chat"` // changes if a group becomes a supergroup
	Part int    `json:"part"` // 1 is the media or the message, 2 is the rest of a long caption
}

func parse(h platform.Handle) (w work, err error) {
	if err := h.Decode(&w); err != nil {
		return w, err
	}
	if w.Chat == "" || w.Part < 1 || w.Part > 2 {
		return w, platform.Reject(platform.CodeInvalidHandle, "The publication is not known.")
	}
	return w, nil
}

// Start implements platform.Publisher. It has nothing to prepare.
func (p *Platform) Start(_ context.Context, a platform.Account, _ platform.Post) (platform.Step, error) {
	return platform.Go(platform.StageFinalize, work{a.ID, 1}, 0)
}

// Check implements platform.Publisher. No step leads to it.
func (p *Platform) Check(_ context.Context, _ platform.Account, _ platform.Post,
	h platform.Handle) (platform.Step, error) {
	w, err := parse(h)
	if err != nil {
		return platform.Step{}, err
	}
	return platform.Go(platform.StageFinalize, w, 0)
}

// Finalize implements platform.Publisher. It sends one message.
func (p *Platform) Finalize(ctx context.Context, a platform.Account, post platform.Post,
	h platform.Handle) (platform.Step, error) {
	w, err := parse(h)
	if err != nil {
		return platform.Step{}, err
	}
	text := platform.Arrange(post, capabilities)
	call, err := p.message(ctx, w, post, text)
	if err != nil {
		return platform.Step{}, err
	}
	var made sent
	err = p.do(ctx, a.Token.Access, call, &made)
	var moved *migration
	if errors.As(err, &moved) {
		w.Chat = strconv.FormatInt(moved.chat, 10)
		return platform.Go(platform.StageFinalize, w, 0)
	}
	if err != nil {
		return platform.Step{}, err
	}
	published := platform.Published{ID: strconv.FormatInt(made.ID, 10), URL: address(made)}
	if w.Part == 1 && text.Rest != "" {
		w.Part = 2
		// Telegram takes one message a second in a chat.
		step, err := platform.Go(platform.StageFinalize, w, time.Second)
		step.Post = published
		return step, err
	}
	if w.Part == 2 {
		published = platform.Published{} // the post is the media, which an earlier step has published
	}
	return platform.Step{Next: platform.StageDone, Post: published}, nil
}

// Reconcile implements platform.Publisher.
func (p *Platform) Reconcile(context.Context, platform.Account, platform.Post, platform.Handle,
	time.Time) (platform.Step, error) {
	return platform.Step{}, platform.Lost(errors.New("a bot cannot read a chat"))
}

// address returns the address of a message in a channel. It is empty for a group, whose messages
// only its members see.
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

// call makes a call that posts nothing.
func (p *Platform) call(ctx context.Context, token platform.Secret, method string, params map[string]any,
	out any) error {
	return p.do(ctx, token, wire.Call{Name: method, JSON: params}, out)
}

// migration is the error of a group that has become a supergroup.
type migration struct{ chat int64 }

func (m *migration) Error() string { return fmt.Sprintf("telegram: the chat is now %d", m.chat) }

// do makes a call, whose name is the method.
func (p *Platform) do(ctx context.Context, token platform.Secret, call wire.Call, out any) error {
	call.Method = http.MethodPost
	call.URL = p.client.Base(ownAddress) + "/bot" + url.PathEscape(token.Reveal()) + "/" + call.Name
	call.Secrets = []platform.Secret{token}
	answer, err := p.client.Do(ctx, call)
	if err != nil {
		return err
	}
	var envelope struct {
		OK         bool            `json:"ok"`
		Result     json.RawMessage `json:"result"`
		Code       int             `json:"error_code"`
		Said       string          `json:"description"`
		Parameters struct {
			RetryAfter int   `json:"retry_after"`
			Migrated   int64 `json:"migrate_to_chat_id"`
		} `json:"parameters"`
	}
	unreadable := json.Unmarshal(answer.Body, &envelope)
	refused := func(wire.Answer) *platform.Error {
		switch {
		case unreadable != nil || envelope.OK:
			return nil
		case envelope.Code == http.StatusTooManyRequests:
			return platform.Limited(time.Duration(envelope.Parameters.RetryAfter) * time.Second)
		case envelope.Code == http.StatusUnauthorized, envelope.Code == http.StatusNotFound:
			return platform.Disconnected() // Telegram answers 404 to a malformed token
		case envelope.Code == http.StatusForbidden:
			return platform.NeedsReconnect(platform.CodeMissingPermission, "The bot may no longer post in the chat. "+
				"Make it an administrator again.")
		case envelope.Code >= 400 && envelope.Code < 500:
			return platform.Reject(platform.CodeContentRefused, "Telegram refuses the message.")
		default:
			return nil
		}
	}
	if unreadable == nil && envelope.Parameters.Migrated != 0 {
		return &migration{envelope.Parameters.Migrated}
	}
	if cause := causeOf(envelope.Said); unreadable == nil && !envelope.OK && cause != nil {
		return cause
	}
	if err := p.client.Check(call, answer, refused); err != nil {
		return err
	}
	if unreadable == nil {
		unreadable = json.Unmarshal(envelope.Result, out)
	}
	if unreadable != nil {
		return p.client.Garbled(call, unreadable)
	}
	return nil
}
