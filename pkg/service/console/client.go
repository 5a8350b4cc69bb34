package console

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	client "github.com/content-automation/api/clients/go"
	connection "github.com/content-automation/api/pkg/area/consent"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/profile"
)

// addClients adds what the page of a client has beside its declaration.
func addClients(open func(string, func(*request) error)) {
	open("GET "+profilesPath+"/{id}/logo", serveLogo)
	open("POST "+profilesPath+"/{id}/logo", changeLogo)
	open("GET "+profilesPath+"/{id}/connect-page", showConnectPage)
}

const (
	// shownPosts are the next posts of the page of a client, out of shownWeeks, and shownLinks its review links.
	shownPosts, shownWeeks, shownLinks = 5, 5, 5
	// maxLogoForm bounds a form with a file. A file that is larger than a logo gets an answer that says so.
	maxLogoForm = 4 << 20
	// logoTries bounds the looks at a logo that is being decoded.
	logoTries = 10
)

// logoKinds are the kinds of pictures that a logo may have: those that browsers and e-mails show.
var logoKinds = []string{"image/png", "image/jpeg", "image/webp"}

// besideClient adds what the page of a client shows: its face, accounts, next posts, review links and spending.
func besideClient(r *request, _ *view, p brand, to map[string]any) error {
	now := r.site.Now().UTC()
	of := func(more ...string) url.Values {
		q := url.Values{"profile_id": {p.ID}}
		for i := 0; i+1 < len(more); i += 2 {
			q.Set(more[i], more[i+1])
		}
		return q
	}
	var accounts []socialAccount
	var next []planned
	var links []client.ReviewLink
	var belong []belonging
	var n names
	var moreLinks string
	err := atOnce(
		func() (err error) { n, err = r.names(); return err },
		func() (err error) { belong, err = r.belongings(p.ID); return err },
		func() (err error) {
			_, err = r.api.list(r.Context(), "/v1/social/accounts", of("limit", "100"), &accounts)
			return err
		},
		func() (err error) {
			moreLinks, err = r.api.list(r.Context(), "/v1/review-links", of("state", "active",
				"limit", strconv.Itoa(shownLinks)), &links)
			return err
		},
		func() error {
			q := of("from", now.Format(time.RFC3339), "to", now.AddDate(0, 0, 7*shownWeeks).Format(time.RFC3339),
				"order", "asc", "state", "planned,pending", "limit", strconv.Itoa(shownPosts))
			_, err := r.api.list(r.Context(), "/v1/publications", q, &next)
			if err == nil && len(next) > 0 {
				q.Set("to", next[len(next)-1].PlannedAt.Add(time.Second).UTC().Format(time.RFC3339))
				_, err = r.dressed(next, q)
			}
			return err
		})
	r.permitMedia(picturesOf(next)...)
	to["Accounts"] = slices.DeleteFunc(accounts, socialAccount.Gone)
	to["Next"], to["Links"], to["MoreLinks"] = next, links, moreLinks != ""
	to["Belongings"], to["Spent"], to["Face"] = belong, p.limited(p.Usage.UsedCredits), faceIn(n.Profiles, p.ID, p.Name)
	return err
}

// profileOf reads the profile of a request, which its person may see.
func (r *request) profileOf() (p brand, o tenant.Owner, err error) {
	o = tenant.Of(r.session.Account, r.session.Mode).Of(tenant.Profile(r.PathValue("id")))
	return p, o, r.api.get(r.Context(), r.apiPath("profiles"), nil, &p)
}

// serveLogo serves the copy of a logo that its profile keeps. The address changes with the logo.
func serveLogo(r *request) error {
	p, o, err := r.profileOf()
	var logo profile.Logo
	if err == nil && p.Logo != nil {
		logo, err = profile.LogoOf(r.Context(), r.site.DB, o)
	}
	if err != nil {
		return err
	}
	if !slices.Contains(logoKinds, logo.MIMEType) {
		return errNoPage
	}
	r.w.Header().Set("Content-Type", logo.MIMEType)
	r.w.Header().Set("Cache-Control", "private, max-age=86400, immutable")
	_, _ = r.w.Write(logo.Picture)
	return nil
}

// changeLogo makes the picture of a form the logo of a profile, or removes the logo. It brings the picture in as a
// caller of the API does.
func changeLogo(r *request) error {
	var logo any
	var err error
	done := "logo-removed"
	if r.PostFormValue("remove") == "" {
		done = "logo"
		logo, err = r.bringIn()
	}
	if err == nil {
		a := r.api
		a.version = r.PostFormValue("version")
		err = a.change(r.Context(), http.MethodPatch, r.apiPath("profiles"), r.once()+"-set",
			map[string]any{"logo": logo}, nil)
	}
	if found, other := refused(err); other != nil {
		return other
	} else if found != nil {
		return profiles.refuse(r, http.StatusUnprocessableEntity, found)
	}
	return r.redirect(profiles.one(r) + "?done=" + done)
}

// logoFile reads the picture of a form, and checks what it is before it is sent.
func logoFile(r *request) (kind string, content []byte, err error) {
	file, _, err := r.FormFile("logo")
	if err == nil {
		defer func() { _ = file.Close() }()
		content, err = io.ReadAll(file)
	}
	switch kind = http.DetectContentType(content); {
	case err != nil || len(content) == 0:
		return "", nil, about("logo", "Choose a picture.")
	case !slices.Contains(logoKinds, kind):
		return "", nil, about("logo", "The file is no PNG, JPEG or WebP picture. Choose another one.")
	case len(content) > profile.MaxLogo:
		v := r.view("", "")
		return "", nil, about("logo", v.T("The picture has %d KB. Choose one of up to 64 KB.",
			(len(content)+1023)/1024))
	}
	return kind, content, nil
}

// bringIn brings the picture of a form in for the profile of the request: it is declared, sent to where the API says,
// and decoded.
func (r *request) bringIn() (id string, err error) {
	kind, content, err := logoFile(r)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	var m struct {
		ID, State string
		Upload    *client.MediaUpload
	}
	err = r.api.change(r.Context(), http.MethodPost, "/v1/media", r.once(), map[string]any{"mime_type": kind,
		"bytes": len(content), "sha256": hex.EncodeToString(sum[:]), "profile_id": r.PathValue("id")}, &m)
	if err == nil && m.State == "pending" && m.Upload != nil {
		err = r.site.send(r.Context(), m.Upload, content)
	}
	for try := 1; err == nil && m.State == "pending" && try <= logoTries; try++ {
		if err = backoff.Wait(r.Context(), try, 100*time.Millisecond, 2*time.Second); err == nil {
			err = r.api.get(r.Context(), "/v1/media/"+url.PathEscape(m.ID), nil, &m)
		}
	}
	switch {
	case err != nil || m.State == "ready":
		return m.ID, err
	case m.State == "pending":
		return "", about("logo", "The picture is still being checked. Send it again in a minute.")
	}
	return "", about("logo", "The picture cannot be read. Choose another one.")
}

// send sends a file to where the API wants it.
func (s *site) send(ctx context.Context, to *client.MediaUpload, content []byte) error {
	req, err := http.NewRequestWithContext(ctx, string(to.Method), to.URL, bytes.NewReader(content))
	if err != nil {
		return err
	}
	for name, value := range to.Headers {
		req.Header.Set(name, value)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return errors.Join(&failure{Status: http.StatusServiceUnavailable, Message: messageUnavailable}, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("console: the upload of a file is answered by %d", resp.StatusCode)
	}
	return nil
}

// showConnectPage shows the page that the owner of an account sees by a link for a client, before there is a link.
func showConnectPage(r *request) error {
	p, o, err := r.profileOf()
	var platforms []client.SocialPlatform
	var me account
	if err == nil {
		err = atOnce(
			func() error { return r.api.get(r.Context(), "/v1/social/platforms", nil, &platforms) },
			func() error { return r.api.get(r.Context(), "/v1/me", nil, &me) })
	}
	sample := connection.Sample{Customer: cmp.Or(me.Name, me.ID), AccountID: me.ID}
	if sample.Brand.Name = p.Name; err == nil && p.Logo != nil {
		var logo profile.Logo
		logo, err = profile.LogoOf(r.Context(), r.site.DB, o)
		sample.Brand.Logo = logo.Data()
	}
	if err != nil {
		return err
	}
	asked := r.URL.Query().Get("platform")
	for _, one := range platforms {
		if one.Connect == client.SocialPlatformConnectOauth2 && (asked == "" || asked == string(one.ID)) {
			sample.Asking = connection.OfSocial(one.Name, slices.Contains(one.Options, "first_comment"),
				len(one.Metrics) > 0)
			sample.Write(r.w, r.Request)
			return nil
		}
	}
	return errNoPage
}
