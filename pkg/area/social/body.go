package social

import (
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
)

var (
	_ = format.Define("telegram-token", format.Format{Pattern: "^[0-9]+:[0-9A-Za-z_-]+$", Longest: 200,
		Wanted: "the token of a Telegram bot, as @BotFather shows it: digits, a colon, and letters"})
	_ = format.Define("channel", format.Format{Pattern: `^[^\x00-\x1F\x7F]+$`, Wanted: "free of control characters",
		Longest: 200, Example: "@acme_news"})
	_ = format.Define("client-id", format.Format{Name: format.NotBlank, Pattern: format.OneLine, Shortest: 1,
		Longest: 512, Example: "c2FtcGxlLWNsaWVudA"})
	_ = format.Define("client-secret", format.Format{Name: format.NotBlank, Pattern: format.OneLine, Longest: 1024,
		Example: "EXAMPLE-EXAMPLE"})
	_ = format.Define("vk-token", format.Format{Pattern: "^[0-9A-Za-z._-]+$", Longest: 500,
		Wanted: "a token of a community"})
)

type connectBody struct {
	profile.Given
	// Platform of the account. Send this or social_account_id.
	Platform platformID `json:"platform,omitempty"`
	// Id of an account to connect again. Send this or platform.
	SocialAccountID string `json:"social_account_id,omitempty" example:"soc_01h455vb4pex5vsknk084sn02q"`
	// telegram: token of a bot that is an administrator of the channel.
	BotToken string `json:"bot_token,omitempty" format:"telegram-token"`
	// Channel, page or community: its id on the platform, or a name such as @acme_news. telegram needs it. By OAuth its
	// owner chooses where it is left out.
	Channel string `json:"channel,omitempty" format:"channel"`
	// User name. rutube and bluesky need it: of bluesky, the handle of the account.
	Username string `json:"username,omitempty" maxLength:"200"`
	// Password. rutube and bluesky need it: of bluesky, an app password. It is used once and not stored.
	Password string `json:"password,omitempty" maxLength:"200"`
	// vk: token of a community, in place of OAuth. VK takes posts of text only with it.
	CommunityToken string `json:"community_token,omitempty" format:"vk-token"`
	// Only for OAuth: page of yours that the browser of the account's owner returns to, with social_account_id, and
	// error where it failed, in its query. The operator of the service lists the pages that are allowed.
	ReturnURL string `json:"return_url,omitempty" maxLength:"2048" example:"https://app.example.com/social"`
	// Number of seconds after its time at which a scheduled item is too late to be published. Absent: it is published
	// however late it is.
	LateAfterSeconds *int `json:"late_after_seconds,omitempty" minimum:"60" maximum:"15552000" example:"3600"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

// Rules refuses a body that names no account, and members that its platform does not take.
func (b connectBody) Rules() error {
	if b.Platform == "" && b.SocialAccountID == "" {
		return errs.Invalid("/platform", "send platform, which is one of %s, or the social_account_id of an account to "+
			"connect again", strings.Join(registry.Names(), ", "))
	}
	if row, ok := registry.Find(string(b.Platform)); ok {
		return errs.All(b.unused(row.Capabilities.Connect, row.Capabilities)...)
	}
	return nil
}

// credential returns the pointer of the member that has the credential of an account.
func (b connectBody) credential() string {
	switch {
	case b.BotToken != "":
		return "/bot_token"
	case b.CommunityToken != "":
		return "/community_token"
	case b.Password != "":
		return "/password"
	default:
		return "/platform"
	}
}

// ways say how accounts are connected, by the way.
var ways = map[platform.Connect]string{
	platform.ConnectOAuth:    "by OAuth: open the authorization_url of the answer",
	platform.ConnectBotToken: "by bot_token and channel",
	platform.ConnectPassword: "by username and password",
}

// credentialMember is a member of the body that connects an account.
type credentialMember struct {
	param, value  string
	taken, needed bool
}

// members returns the members that connect an account, and whether a platform takes or needs them.
func (b connectBody) members(how platform.Connect, c platform.Capabilities) []credentialMember {
	oauth, token, login := how == platform.ConnectOAuth, c.Connect == platform.ConnectBotToken,
		how == platform.ConnectPassword
	return []credentialMember{
		{"/bot_token", b.BotToken, token, token},
		{"/username", b.Username, login, login},
		{"/password", b.Password, login, login},
		{"/community_token", b.CommunityToken, c.CommunityToken, false},
		{"/channel", b.Channel, !login, token && b.SocialAccountID == ""},
		{"/return_url", b.ReturnURL, oauth || c.CommunityToken && b.CommunityToken == "", false},
	}
}

// unused refuses members that a platform does not take.
func (b connectBody) unused(how platform.Connect, c platform.Capabilities) (found []error) {
	for _, m := range b.members(how, c) {
		if m.value != "" && !m.taken {
			found = append(found, errs.Invalid(m.param, "is not taken by %s: leave it out. Its accounts are connected %s",
				c.Label, ways[c.Connect]))
		}
	}
	return found
}

// check refuses members that the platform does not take, and the lack of members that it needs.
func (b connectBody) check(how platform.Connect, c platform.Capabilities) error {
	found := b.unused(how, c)
	for _, m := range b.members(how, c) {
		if m.value == "" && m.needed {
			found = append(found, errs.Invalid(m.param, "is required: accounts of %s are connected %s", c.Label,
				ways[c.Connect]))
		}
	}
	return errs.All(found...)
}
