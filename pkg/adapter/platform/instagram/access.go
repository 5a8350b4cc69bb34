package instagram

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

const (
	// long is the life of a token, unless Facebook states a different one.
	long = 60 * 24 * time.Hour
	// access is how long an application may act for an owner, unless Facebook states otherwise.
	// A refresh does not extend it.
	access = 90 * 24 * time.Hour
	// prolonged is the least extension by a refresh of a token that Facebook still prolongs.
	prolonged = 24 * time.Hour
)

// profile is an Instagram account of a page.
type profile struct {
	ID       string `json:"id"`
	Username string `json:"username"`
	Name     string `json:"name"`
	Picture  string `json:"profile_picture_url"`
}

// page is a page of Facebook.
type page struct {
	Instagram *profile `json:"instagram_business_account"`
}

// profiles returns the accounts of the pages that the owner has chosen, without duplicates.
func (p *Platform) profiles(ctx context.Context, token platform.Secret) (all []profile, err error) {
	pages, err := graph.Pages[page](ctx, p.Graph, token,
		"instagram_business_account{id,username,name,profile_picture_url}")
	for _, page := range pages {
		if i := page.Instagram; i != nil &&
			!slices.ContainsFunc(all, func(known profile) bool { return known.ID == i.ID }) {
			all = append(all, *i)
		}
	}
	return all, err
}

// extend exchanges a token for one of about 60 days.
func (p *Platform) extend(ctx context.Context, token platform.Secret) (platform.Token, error) {
	form := url.Values{"grant_type": {"fb_exchange_token"}, "fb_exchange_token": {token.Reveal()}}
	issued, err := p.Client.Issue(ctx, p.OAuth, form, token)
	if err != nil {
		return platform.Token{}, err
	}
	if issued.Seconds == 0 {
		issued.Seconds = int64(long.Seconds())
	}
	t := issued.As(p.Client.Now(), platform.Token{Scopes: capabilities.Scopes})
	t.Refresh = t.Access
	return t, nil
}

// Refresh implements platform.Connector. A token that has ended cannot be refreshed, and no token
// outlives the access that its owner has granted.
func (p *Platform) Refresh(ctx context.Context, a platform.Account) (platform.Token, error) {
	t, err := p.extend(ctx, a.Token.Access)
	if err != nil {
		return platform.Token{}, err
	}
	t.EndsAt = graph.Ends(ctx, p.Graph, t.Access, a.Token.EndsAt)
	if !a.Token.ExpiresAt.IsZero() && t.ExpiresAt.Before(a.Token.ExpiresAt.Add(prolonged)) &&
		p.Client.Now().Add(long/2).After(t.ExpiresAt) {
		t.EndsAt = t.ExpiresAt // Facebook no longer prolongs it
	}
	return t, nil
}

var refusals = graph.Refusals{
	Label: "Instagram", Subcodes: subcodes, Unsure: []int{2207001, 2207003, 2207032}, Published: []int{2207051},
	Codes: map[int]func() *platform.Error{
		368: func() *platform.Error {
			return platform.Reject(platform.CodeContentPolicy, "Instagram has restricted the account for a while.")
		},
	},
}

// subcodes maps the refusals of content publishing that name their cause.
var subcodes = map[int]func() *platform.Error{
	2207008: gone, 2207020: gone, 2207053: gone,
	2207042: func() *platform.Error { return platform.Full(time.Hour) },
	2207027: func() *platform.Error {
		return platform.Later(platform.CodePlatformUnavailable, "Instagram still processes the media.")
	},
	2207004: graph.Media("The image is too large for Instagram."),
	2207005: graph.Media("Instagram does not take the format of the image."),
	2207009: graph.Media("Instagram does not take the ratio of width to height."),
	2207010: graph.Media("The caption is too long for Instagram."),
	2207026: graph.Media("Instagram does not take the format of the video."),
	2207028: graph.Media("Instagram takes 2 to 10 media in a carousel."),
	2207057: graph.Media("The frame of the cover is not in the video."),
	36001:   graph.Media("Instagram does not take the format of the image."),
	36003:   graph.Media("Instagram does not take the ratio of width to height."),
}

func gone() *platform.Error { return platform.Again(nil) }
