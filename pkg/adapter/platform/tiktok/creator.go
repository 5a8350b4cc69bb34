package tiktok

import (
	"context"
	"slices"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// The values of the options disclosure and mode.
const (
	disclosureNone, disclosureOwn, disclosurePaid = "none", "own_brand", "paid_partnership"
	modeDirect, modeInbox                         = "direct", "inbox"
)

// creator is TikTok's answer about an account.
type creator struct {
	User     string   `json:"creator_username"`
	Nickname string   `json:"creator_nickname"`
	Avatar   string   `json:"creator_avatar_url"`
	Levels   []string `json:"privacy_level_options"`
	Comments bool     `json:"comment_disabled"`
	Duet     bool     `json:"duet_disabled"`
	Stitch   bool     `json:"stitch_disabled"`
	MaxTime  int64    `json:"max_video_post_duration_sec"`
}

func (p *Platform) creator(ctx context.Context, a platform.Account) (c creator, err error) {
	return c, p.post(ctx, a, "/v2/post/publish/creator_info/query/", map[string]any{}, &c)
}

// CreatorInfo implements platform.CreatorReader.
func (p *Platform) CreatorInfo(ctx context.Context, a platform.Account) (out platform.Creator, err error) {
	c, err := p.creator(ctx, a)
	if err != nil && platform.KindOf(err) == platform.Quota {
		return platform.Creator{Full: true}, nil
	}
	if err != nil {
		return out, err
	}
	out = platform.Creator{Username: c.User, Nickname: c.Nickname, AvatarURL: c.Avatar, Comments: !c.Comments,
		Duet: !c.Duet, Stitch: !c.Stitch, MaxVideoSeconds: c.MaxTime}
	for _, privacy := range capabilities.Privacies {
		if slices.ContainsFunc(levels[privacy], func(l string) bool { return slices.Contains(c.Levels, l) }) {
			out.Privacies = append(out.Privacies, privacy)
		}
	}
	return out, nil
}

// asks returns the choices that the person who posts has not made. TikTok forbids to make them for the person.
func asks(post platform.Post) (missing []platform.Problem) {
	o := optionsOf(post)
	ask := func(absent bool, option, message string) {
		if absent {
			missing = append(missing, platform.Problem{Platform: Name, Param: "options." + option, Message: message})
		}
	}
	const person = " TikTok requires that the person who posts chooses it: there is no default."
	video := len(post.Media) > 0 && post.Media[0].Video()
	if o.Mode != modeInbox {
		ask(post.Options.Privacy == "", "privacy", "is required."+person)
		ask(o.Comments == nil && !o.DisableComments, "comments", "is required."+person)
		ask(video && o.Duet == nil && !o.DisableDuet, "duet", "is required."+person)
		ask(video && o.Stitch == nil && !o.DisableStitch, "stitch", "is required."+person)
		ask(o.Disclosure == "", "disclosure", "is required."+person)
		ask(o.Disclosure == disclosurePaid && post.Options.Privacy == platform.Private, "privacy",
			"must not be private, as TikTok shows paid partnerships to others.")
	}
	ask(!o.Consent, "consent", "must be true: the person who posts agrees to the music usage confirmation of TikTok, "+
		"and for paid partnerships to its branded content policy.")
	return missing
}

// refuses returns what is wrong with the options of a post.
func refuses(post platform.Post) (found []platform.Problem) {
	o := optionsOf(post)
	if o.CoverSlide > len(post.Media) {
		found = append(found, platform.Wrong(Name, optionCover, "is %d, but the post has %d photos.", o.CoverSlide,
			len(post.Media)))
	}
	if o.AutoMusic && o.Mode == modeInbox {
		found = append(found, platform.Wrong(Name, optionMusic, "is chosen in TikTok with mode inbox: leave it out."))
	}
	return found
}

// chosen reports whether an interaction is off.
func chosen(on *bool, off, creatorOff bool) bool { return off || creatorOff || on != nil && !*on }

// info returns the description of a post that is published at once.
func (o Options) info(s state, text map[string]any) map[string]any {
	text["privacy_level"] = s.Privacy
	text["disable_comment"] = chosen(o.Comments, o.DisableComments, s.Silent)
	text["brand_content_toggle"] = o.Disclosure == disclosurePaid
	text["brand_organic_toggle"] = o.Disclosure == disclosureOwn
	return text
}

// inInbox is the warning about a post that its creator has yet to finish.
var inInbox = &platform.Warning{Code: platform.FinishInApp, Message: "The post is in the inbox of the TikTok " +
	"account. Open the notification in TikTok, and finish it there."}
