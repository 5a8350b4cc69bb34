package vk

import (
	"net/url"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// These options are members of the shape of VK alone.
const (
	optionSigned platform.Option = "signed"
	optionSource platform.Option = "source_url"
)

// Options are the options of posts on VK, as callers send them.
type Options struct {
	platform.Visible
	platform.Commented
	platform.Quiet
	platform.Sponsored
	platform.Closed
	// Shows the name of the person who connected the account below the post.
	Signed bool `json:"signed,omitempty"`
	// Page that the post is taken from, which VK shows below it.
	Source string `json:"source_url,omitempty" format:"web-address"`
}

// refuses returns what is wrong with the options of a post.
func refuses(p platform.Post) (found []platform.Problem) {
	own, _ := p.Options.Own.(Options)
	if own.DisableComments && p.Options.FirstComment != "" {
		found = append(found, platform.Wrong(Name, platform.OptionFirstComment, "cannot be written below a post with "+
			"disable_comments."))
	}
	return found
}

// describe adds the options of a post to the call that makes it.
func describe(params url.Values, p platform.Post) {
	own, _ := p.Options.Own.(Options)
	for name, on := range map[string]bool{"close_comments": own.DisableComments, "mute_notifications": own.Silent,
		"mark_as_ads": own.Paid, "signed": own.Signed} {
		if on {
			params.Set(name, "1")
		}
	}
	if own.Source != "" {
		params.Set("copyright", own.Source)
	}
}
