package instagram

import (
	"context"
	"errors"
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

const ofPage = "instagram_business_account{id,username,name,profile_picture_url}"

// pages returns the accounts of the pages that the owner has chosen, without duplicates. It joins
// the owner's own pages and those of business portfolios, which the first list lacks.
func (p *Platform) pages(ctx context.Context, token platform.Secret) (all []profile, err error) {
	var own struct {
		Data []page `json:"data"`
	}
	if err := p.API.Get(ctx, token, "/me/accounts", url.Values{"fields": {ofPage}, "limit": {"100"}}, &own); err != nil {
		return nil, err
	}
	var portfolios struct {
		Data []struct {
			Owned struct {
				Data []page `json:"data"`
			} `json:"owned_pages"`
		} `json:"data"`
	}
	err = p.API.Get(ctx, token, "/me/businesses", url.Values{"fields": {"owned_pages.limit(100){" + ofPage + "}"},
		"limit": {"100"}}, &portfolios)
	var refused *platform.Error
	if errors.As(err, &refused) &&
		(refused.Kind == platform.BadContent || refused.Code == platform.CodeMissingPermission) {
		err = nil // the owner has no portfolios
	}
	if err != nil {
		return nil, err
	}
	pages := own.Data
	for _, b := range portfolios.Data {
		pages = append(pages, b.Owned.Data...)
	}
	for _, page := range pages {
		if i := page.Instagram; i != nil &&
			!slices.ContainsFunc(all, func(known profile) bool { return known.ID == i.ID }) {
			all = append(all, *i)
		}
	}
	return all, nil
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

// ends returns when the access to an owner's data ends. If Facebook does not state it, ends returns
// otherwise.
func (p *Platform) ends(ctx context.Context, t platform.Token, otherwise time.Time) time.Time {
	return graph.Ends(ctx, p.Client, p.Client.Base(graphAddress)+version, t.Access, otherwise)
}

// Refresh implements platform.Connector. A token that has ended cannot be refreshed, and no token
// outlives the access that its owner has granted.
func (p *Platform) Refresh(ctx context.Context, a platform.Account) (platform.Token, error) {
	t, err := p.extend(ctx, a.Token.Access)
	if err != nil {
		return platform.Token{}, err
	}
	t.EndsAt = p.ends(ctx, t, a.Token.EndsAt)
	if !a.Token.ExpiresAt.IsZero() && t.ExpiresAt.Before(a.Token.ExpiresAt.Add(prolonged)) &&
		p.Client.Now().Add(long/2).After(t.ExpiresAt) {
		t.EndsAt = t.ExpiresAt // Facebook no longer prolongs it
	}
	return t, nil
}
