package social

import (
	"context"
	"crypto/hmac"
	"errors"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/store"

	customer "github.com/content-automation/api/pkg/area/account"
)

// linkParam is the parameter of the callback's path that has the state of a link. With it, the path
// shows the request to the owner of an account, and changes nothing.
const linkParam = "link"

// request is a customer's request for access to an account.
type request struct {
	// Customer is the name of the account of the service that makes the request, and AccountID
	// is its id.
	Customer, AccountID string
	// For is the name of the profile that the account is connected for, and Logo a data URL of its logo. Both are empty
	// without a profile.
	For  string
	Logo template.URL
	// Platform is the name of the platform in the platform's own spelling.
	Platform string
	// May lists the rights of the customer after the owner has allowed the request, in whole
	// phrases.
	May []string
	// Address is the address of the platform's page.
	Address string
}

// authorization has the parameters of the platform's page.
func (c consent) authorization(state string) platform.Authorization {
	return platform.Authorization{RedirectURL: c.Redirect, State: state, Verifier: c.Verifier}
}

// link returns the address of the page of a state.
func (c consent) link(state string) string { return c.Redirect + "?" + linkParam + "=" + state }

// link returns the page that names the customer who requests access. The owner sees it before the
// page of the platform, which names only the operator's application.
func (s *Service) link(ctx context.Context, state string) page {
	v, err := s.visit(ctx, state)
	switch {
	case errors.Is(err, errForged), err == nil && !v.consent.Page:
		return linkInvalid
	case errors.Is(err, errUsed):
		return linkUsed
	case errors.Is(err, errExpired):
		return linkExpired
	case errors.As(err, new(*authority.EndedError)):
		return linkEnded
	case err != nil:
		return broken("read the state", err)
	}
	adapter, ok := s.platforms.Of(v.it.Owner.Mode, v.record.Platform)
	if !ok {
		return broken("find the platform", errors.New(v.record.Platform))
	}
	address, err := adapter.Authorization(ctx, v.consent.authorization(state))
	if err != nil {
		return broken("find the platform's page", err)
	}
	name, err := s.customer(ctx, v.it.Owner.Account)
	if err != nil {
		return broken("read the customer", err)
	}
	cookie, err := v.cookie(ctx, state)
	if err != nil {
		return broken("sign the cookie", err)
	}
	caps := adapter.Capabilities()
	ask := &request{Customer: name, AccountID: string(v.it.Owner.Account), Platform: caps.Label, May: may(caps),
		Address: address}
	title := name + " asks for access to your account on " + caps.Label
	if v.it.Owner.Profile != "" {
		brand, err := profile.BrandOf(ctx, s.db, v.it.Owner)
		if err != nil {
			return broken("read the profile", err)
		}
		if ask.For = strings.TrimSpace(line(brand.Name)); ask.For != "" {
			title += " for " + ask.For
		}
		ask.Logo = template.URL(brand.Logo) // made of a picture that was decoded
	}
	return page{Status: http.StatusOK, Title: title, cookie: cookie, Ask: ask}
}

// customer returns the name of a customer's account as one line.
func (s *Service) customer(ctx context.Context, id tenant.Account) (string, error) {
	it, err := s.db.Get(ctx, store.IDKey(string(id)))
	if err != nil {
		return "", err
	}
	var a customer.Account
	if err := it.Decode(&a); err != nil {
		return "", err
	}
	if name := strings.TrimSpace(line(a.Name)); name != "" {
		return name, nil
	}
	return string(id), nil
}

// may returns the uses of a connected account of a platform.
func may(c platform.Capabilities) []string {
	publish := "publish on the account in your name"
	if c.Comment.Max > 0 {
		publish += ", and comment on these posts"
	}
	all := []string{publish, "read the name and the picture of the account"}
	if len(c.Metrics) > 0 {
		all = append(all, "read how often its posts were seen and liked")
	}
	return append(all, "keep this access until you end it in the settings of "+c.Label)
}

// cookie returns the cookie of a browser that has shown the page of a state. The callback refuses a
// browser without it, because the platform's page can be opened without the page of the link. With
// TLS, no other site of the domain can set the cookie.
func (v *visit) cookie(ctx context.Context, state string) (*http.Cookie, error) {
	keys, err := v.secret.Keys(ctx, nil, statePurpose)
	if err != nil {
		return nil, err
	}
	name, secure := v.cookieName()
	return &http.Cookie{
		Name: name, Value: shown(keys[0], state), Path: "/", MaxAge: int(v.state.until.Sub(v.now()) / time.Second),
		Secure: secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}, nil
}

func (v *visit) cookieName() (name string, secure bool) {
	name = "link_" + v.record.ID
	if secure = strings.HasPrefix(v.consent.Redirect, "https://"); secure {
		name = "__Host-" + name
	}
	return name, secure
}

// shownTo reports whether the browser of a request has shown the page of the state, or the state
// has no page.
func (v *visit) shownTo(ctx context.Context, req *http.Request, state string) (bool, error) {
	if !v.consent.Page {
		return true, nil
	}
	keys, err := v.secret.Keys(ctx, nil, statePurpose)
	if err != nil {
		return false, err
	}
	name, _ := v.cookieName()
	for _, c := range req.CookiesNamed(name) {
		for _, key := range keys {
			if hmac.Equal([]byte(shown(key, state)), []byte(c.Value)) {
				return true, nil
			}
		}
	}
	return false, nil
}

// shown returns the value of the cookie for the page of a state. The signed text has more members
// than any state, so that its signature is never that of a state.
func shown(key []byte, state string) string { return signature(key, "shown."+state) }

// elsewhere returns the page for a browser that has not shown the page of the link. The link stays
// valid.
func (v *visit) elsewhere(state string) page {
	return page{
		Status: http.StatusForbidden, Title: "See first who asks for access", Link: v.consent.link(state), of: v,
		code: failedElsewhere,
		Text: "Nothing was connected: this browser was not shown who asks. Open the page below, and allow the access " +
			"again.",
	}
}
