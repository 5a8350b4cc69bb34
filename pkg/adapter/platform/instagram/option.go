package instagram

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/format"
)

var _ = format.Define("instagram-name", format.Format{Pattern: "^[A-Za-z0-9._]{1,30}$",
	Wanted: "a user name of Instagram"})

// These options are members of the shape of Instagram alone.
const (
	optionCollaborators platform.Option = "collaborators"
	optionTags          platform.Option = "user_tags"
	optionFeed          platform.Option = "share_to_feed"
	optionTrial         platform.Option = "trial"
	optionAudio         platform.Option = "audio_name"
)

// Options are the options of posts on Instagram, as callers send them.
type Options struct {
	platform.Visible
	platform.Described
	platform.Framed
	platform.Commented
	platform.Declared
	platform.Partnered
	platform.Located
	// User names of up to three accounts that are invited as authors, without @.
	Collaborators []string `json:"collaborators,omitempty" format:"instagram-name" maxItems:"3" nullable:"false"`
	// Accounts that are tagged.
	UserTags []UserTag `json:"user_tags,omitempty" maxItems:"20" nullable:"false"`
	// Whether a Reel is also shown on the profile. Absent: true.
	ShareToFeed *bool `json:"share_to_feed,omitempty"`
	// Shows a Reel to people who do not follow the account first. manual: the owner shares it with the followers in
	// Instagram; performance: Instagram does, if it performs well.
	Trial string `json:"trial,omitempty" enum:"manual,performance"`
	// Name of the original audio of a Reel. It cannot be changed here later.
	AudioName string `json:"audio_name,omitempty" minLength:"1" maxLength:"100"`
}

// UserTag names an account in a picture or a Reel.
type UserTag struct {
	// User name of the account that is tagged, without @.
	Username string `json:"username" format:"instagram-name"`
	// Place of the tag in a picture, from the left edge (0) to the right one (1). A Reel has none.
	X *float64 `json:"x,omitempty" minimum:"0" maximum:"1"`
	// Place of the tag in a picture, from the top (0) to the bottom (1). A Reel has none.
	Y *float64 `json:"y,omitempty" minimum:"0" maximum:"1"`
	// Number of the picture of a carousel, from 1. Absent: 1.
	Slide int `json:"slide,omitempty" minimum:"1" maximum:"10"`
}

// at returns the index of the tagged file.
func (t UserTag) at() int { return max(t.Slide, 1) - 1 }

// optionsOf returns the options of a post.
func optionsOf(p platform.Post) Options {
	own, _ := p.Options.Own.(Options)
	return own
}

// refuses returns what is wrong with the options of a post.
func refuses(p platform.Post) []platform.Problem {
	own := optionsOf(p)
	found := own.Refused(Name, 0, 2)
	if own.Trial != "" && (len(own.Collaborators) > 0 || own.ShareToFeed != nil) {
		found = append(found, platform.Wrong(Name, optionTrial, "takes no collaborators and no share_to_feed: a trial "+
			"Reel is shown to people who do not follow the account."))
	}
	for i, tag := range own.UserTags {
		option := platform.Option(fmt.Sprintf("%s[%d]", optionTags, i))
		switch at := tag.at(); {
		case at >= len(p.Media):
			found = append(found, platform.Wrong(Name, option+".slide", "is %d, but the post has %d files.", at+1,
				len(p.Media)))
		case p.Media[at].Video() && p.Kind == platform.KindCarousel:
			found = append(found, platform.Wrong(Name, option+".slide", "is that of a video. Instagram tags accounts "+
				"in "+
				"the pictures of a carousel."))
		case p.Media[at].Video() && (tag.X != nil || tag.Y != nil):
			found = append(found, platform.Wrong(Name, option, "has a place, which tags of a Reel do not have: leave "+
				"out "+
				"x and y."))
		case !p.Media[at].Video() && (tag.X == nil || tag.Y == nil):
			found = append(found, platform.Wrong(Name, option, "needs x and y: the place of the tag in the picture."))
		}
	}
	return found
}

// tag adds the accounts that are tagged in the i-th file to its container.
func tag(form url.Values, p platform.Post, i int) {
	type place struct {
		Username string   `json:"username"`
		X        *float64 `json:"x,omitempty"`
		Y        *float64 `json:"y,omitempty"`
	}
	var all []place
	for _, t := range optionsOf(p).UserTags {
		if t.at() == i {
			all = append(all, place{t.Username, t.X, t.Y})
		}
	}
	if raw, err := json.Marshal(all); err == nil && len(all) > 0 {
		form.Set("user_tags", string(raw))
	}
}

// graduation maps the option trial to the values of Instagram.
var graduation = map[string]string{"manual": "MANUAL", "performance": "SS_PERFORMANCE"}

// adorn adds the options of a post to its container.
func adorn(form url.Values, p platform.Post) {
	own := optionsOf(p)
	if own.Paid {
		form.Set("is_paid_partnership", "true")
		if len(own.Partners) > 0 {
			form.Set("branded_content_sponsor_ids", strings.Join(own.Partners, ","))
		}
	}
	if raw, err := json.Marshal(own.Collaborators); err == nil && len(own.Collaborators) > 0 {
		form.Set("collaborators", string(raw))
	}
	if own.ShareToFeed != nil {
		form.Set("share_to_feed", strconv.FormatBool(*own.ShareToFeed))
	}
	if own.Trial != "" {
		form.Set("trial_params", `{"graduation_strategy":"`+graduation[own.Trial]+`"}`)
	}
	for name, value := range map[string]string{"location_id": own.LocationID, "audio_name": own.AudioName} {
		if value != "" {
			form.Set(name, value)
		}
	}
}
