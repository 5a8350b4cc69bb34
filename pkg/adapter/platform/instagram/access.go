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
	prolong := p.OAuth
	prolong.Refused = refusals.Token
	issued, err := p.Client.Issue(ctx, prolong, form, token)
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

var refusals = graph.Refusals{Label: "Instagram", Rows: graph.Boxed}
