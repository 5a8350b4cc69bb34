package consent

import (
	"cmp"
	"context"
	"crypto/hmac"
	"errors"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/store"

	customer "github.com/content-automation/api/pkg/area/account"
)

// linkParam is the parameter of the callback's path that has the state of a link. With it, the path
// shows the request to the owner of an account, and changes nothing.
const linkParam = "link"

// maxName bounds the letters of a name in the page.
const maxName = 200

// request is a customer's request for access.
type request struct {
	Asking
	// Customer is the name of the account of the service that makes the request, and AccountID is its id.
	Customer, AccountID string
	// Address is the address of the page of the other side.
	Address string
}

// link returns the page that names the customer who requests access. The owner sees it before the
// page of the platform, which names only the operator's application.
func (f *Flow) link(ctx context.Context, state string) page {
	v, err := f.visit(ctx, state)
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
	address, err := v.subject.Address(ctx, v.consent, state)
	if err != nil {
		return broken("find the page of the other side", err)
	}
	ask := &request{AccountID: string(v.it.Owner.Account), Address: address}
	if ask.Asking, err = v.subject.Asks(v.consent); err != nil {
		return broken("find the other side", err)
	}
	if ask.Customer, err = f.customer(ctx, v.it.Owner.Account); err != nil {
		return broken("read the customer", err)
	}
	cookie, err := v.cookie(ctx, state)
	if err != nil {
		return broken("sign the cookie", err)
	}
	p := page{Status: http.StatusOK, Title: ask.Customer + " asks for access to " + ask.To, cookie: cookie, Ask: ask}
	if err := v.brand(ctx, &p); err != nil {
		return broken("read the profile", err)
	}
	if p.Brand != "" {
		p.Title += " for " + p.Brand
	}
	return p
}

// brand adds the name and the logo of the profile that the access is for to a page.
func (v *visit) brand(ctx context.Context, p *page) error {
	if v == nil || v.it.Owner.Profile == "" {
		return nil
	}
	brand, err := profile.BrandOf(ctx, v.DB, v.it.Owner)
	p.Brand = text.ClipLine(brand.Name, maxName)
	p.Logo = template.URL(brand.Logo) // made of a picture that was decoded
	return err
}

// customer returns the name of a customer's account as one line.
func (f *Flow) customer(ctx context.Context, id tenant.Account) (string, error) {
	it, err := f.DB.Get(ctx, store.IDKey(string(id)))
	if err != nil {
		return "", err
	}
	var a customer.Account
	if err := it.Decode(&a); err != nil {
		return "", err
	}
	return cmp.Or(text.ClipLine(a.Name, maxName), string(id)), nil
}

// cookie returns the cookie of a browser that has shown the page of a state. The callback refuses a
// browser without it, because the platform's page can be opened without the page of the link. With
// TLS, no other site of the domain can set the cookie.
func (v *visit) cookie(ctx context.Context, state string) (*http.Cookie, error) {
	keys, err := v.Secret.Keys(ctx, nil, statePurpose)
	if err != nil {
		return nil, err
	}
	name, secure := v.cookieName()
	return &http.Cookie{
		Name: name, Value: shown(keys[0], state), Path: "/", MaxAge: int(v.state.until.Sub(v.Now()) / time.Second),
		Secure: secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}, nil
}

func (v *visit) cookieName() (name string, secure bool) {
	name = v.Cookie + v.state.subject
	if secure = strings.HasPrefix(v.consent.Redirect, "https://"); secure {
		name = "__Host-" + name
	}
	return name, secure
}

// shownTo reports whether the browser of a request has shown the page of the state, or the state has no page.
func (v *visit) shownTo(ctx context.Context, req *http.Request, state string) (bool, error) {
	if !v.consent.Page {
		return true, nil
	}
	keys, err := v.Secret.Keys(ctx, nil, statePurpose)
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

// elsewhere returns the page for a browser that has not shown the page of the link. The link stays valid.
func (v *visit) elsewhere(state string) page {
	return page{
		Status: http.StatusForbidden, Title: "See first who asks for access", Link: v.consent.link(state), of: v,
		code: failedElsewhere,
		Text: "Nothing was connected: this browser was not shown who asks. Open the page below, and allow the access " +
			"again.",
	}
}
