package consent

import (
	"cmp"
	"context"
	"crypto/hmac"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	customer "github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/store"
)

// The failures of a callback that the return URL names.
const (
	failedDenied      = "access_denied"
	failedExpired     = "expired"
	failedRefused     = "platform_refused"
	failedUnavailable = "platform_unavailable"
	failedOther       = "another_account"
	failedNone        = "no_channel"
	failedEnded       = authority.Code
)

// The failures that only the audit log names.
const (
	failedUsed      = "link_used"
	failedElsewhere = "other_browser"
	failedBroken    = "internal"
)

// visit is one call of the callback, or of the page of a link, with a valid state.
type visit struct {
	*Flow
	state   state
	it      store.Item
	subject Subject
	consent Consent
	// authority is the authority of who asked, with its present rights.
	authority authority.Holder
}

// visit returns the visit of a state. It returns errForged, errUsed or errExpired for a state that
// is not valid. Only errForged comes without a visit.
func (f *Flow) visit(ctx context.Context, text string) (*visit, error) {
	st, late := readState(ctx, f.Secret, f.Prefix, text, f.Now())
	if late != nil && !errors.Is(late, errExpired) {
		return nil, late
	}
	v := &visit{Flow: f, state: st}
	if open, err := v.read(ctx); err != nil {
		return nil, err
	} else if !open {
		return v, errUsed
	}
	if late != nil {
		return v, late
	}
	var err error
	v.authority, err = v.consent.Authority.Find(ctx, f.DB, v.it.Owner, f.Now())
	if err == nil {
		err = authority.Lacks(v.authority.Principal, f.Scope)
	}
	return v, err
}

// read reads the subject, and reports whether it waits for a callback with this state.
func (v *visit) read(ctx context.Context) (bool, error) {
	it, err := v.DB.Lookup(ctx, store.IDKey(v.state.subject))
	if err != nil || it.Kind != string(v.Kind) {
		return false, err
	}
	v.it = it
	if v.subject, err = v.Read(&v.it); err != nil {
		return false, err
	}
	p := *v.subject.Pending()
	if p == nil || !hmac.Equal(p.Nonce, v.state.hash()) {
		return false, nil
	}
	v.consent = Consent{}
	return true, v.Vault.Open(ctx, it.Owner, v.state.subject, p.SealedCallback, &v.consent)
}

// callback carries out the decision of an owner at the other side. It logs neither the code nor the state.
func (f *Flow) callback(ctx context.Context, q url.Values, req *http.Request) page {
	v, err := f.visit(ctx, q.Get("state"))
	p := v.decided(ctx, q, req, err)
	if err := v.brand(ctx, &p); err != nil {
		slog.Warn("a page has no brand", "error", err) // the change is committed: show the page without it
	}
	return p
}

// decided returns the page of a callback whose state was read with an error or none.
func (v *visit) decided(ctx context.Context, q url.Values, req *http.Request, err error) page {
	switch {
	case errors.Is(err, errForged):
		return linkInvalid
	case errors.Is(err, errUsed):
		return v.used()
	case errors.Is(err, errExpired):
		return v.failed(failedExpired, http.StatusBadRequest, linkExpired.Title, linkExpired.Text)
	case errors.As(err, new(*authority.EndedError)):
		return v.failed(failedEnded, http.StatusForbidden, linkEnded.Title, linkEnded.Text)
	case err != nil:
		return broken("read the state", err)
	case len(v.consent.Choices) > 0:
		return v.choose(ctx, q.Get("choice"))
	}
	if shown, err := v.shownTo(ctx, req, q.Get("state")); err != nil {
		return v.broken("check the browser", err)
	} else if !shown {
		return v.elsewhere(q.Get("state"))
	}
	if claimed, err := v.claim(ctx); err != nil {
		return v.broken("claim the state", err)
	} else if !claimed {
		return v.used()
	}
	if q.Get("code") == "" {
		return v.nothing(failedDenied, http.StatusForbidden, "Access was not granted.")
	}
	return v.exchange(ctx, q)
}

// claim uses the state up, and reports whether it was still unused.
func (v *visit) claim(ctx context.Context) (open bool, err error) {
	open = true
	err = store.Retry(func() (err error) {
		*v.subject.Pending() = nil
		tx := &store.Tx{}
		v.authority.Hold(tx)
		if err = v.subject.Save(tx, v.Now(), v.it); err == nil {
			err = v.DB.Commit(ctx, tx)
		}
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
		var failed error
		if open, failed = v.read(ctx); failed != nil || !open {
			return failed
		}
		return err
	})
	return open && err == nil, err
}

// exchange exchanges the code for the accounts that it gives access to.
func (v *visit) exchange(ctx context.Context, q url.Values) page {
	asking, err := v.subject.Asks(v.consent)
	if err != nil {
		return v.broken("find the other side", err)
	}
	bounded, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	found, err := v.subject.Exchange(bounded, v.consent, q)
	if err != nil {
		slog.Warn("access not granted", "subject", v.state.subject, "to", asking.Label, "error", err)
	}
	var refused *platform.Error
	switch {
	case (platform.Ended(err) || platform.Rejects(err)) && errors.As(err, &refused):
		return v.nothing(failedRefused, http.StatusBadRequest, refused.Message)
	case err != nil:
		p := v.nothing(failedUnavailable, http.StatusBadGateway,
			"%s is unavailable at the moment. Ask for a new link, and try again later.")
		p.with = []any{asking.Label}
		return p
	case len(found) == 0:
		return v.nothing(failedNone, http.StatusBadRequest, "This login has no channel or page to publish to.")
	case len(found) > 1:
		return v.offer(ctx, found[:min(len(found), maxChoices)])
	}
	return v.finish(ctx, found[0])
}

// offer lets the owner choose one of several accounts, which are kept sealed until then.
func (v *visit) offer(ctx context.Context, found []Grant) page {
	v.consent.Choices, v.consent.Verifier, v.consent.Page = found, "", false
	var text string
	err := v.change(ctx, func(tx *store.Tx, it store.Item, s Subject) (err error) {
		if text, err = v.await(ctx, it.Owner, v.state.subject, s, v.consent); err != nil {
			return err
		}
		return s.Save(tx, v.Now(), it)
	})
	if err != nil {
		return v.broken("keep the choices", err)
	}
	return choice(text, found)
}

// choose connects the account that the owner has chosen.
func (v *visit) choose(ctx context.Context, id string) page {
	at := slices.IndexFunc(v.consent.Choices, func(g Grant) bool { return g.ID == id })
	if at < 0 {
		text, err := v.state.sign(ctx, v.Secret)
		if err != nil {
			return v.broken("sign the state", err)
		}
		return choice(text, v.consent.Choices)
	}
	if claimed, err := v.claim(ctx); err != nil {
		return v.broken("claim the state", err)
	} else if !claimed {
		return v.used()
	}
	return v.finish(ctx, v.consent.Choices[at])
}

// finish connects the account.
func (v *visit) finish(ctx context.Context, g Grant) page {
	var kept ConnectedSubject
	err := v.change(ctx, func(tx *store.Tx, it store.Item, s Subject) (err error) {
		kept, err = s.Keep(ctx, tx, it, v.consent, g)
		return err
	})
	var other *OtherError
	switch {
	case errors.As(err, &other):
		return v.nothing(failedOther, http.StatusBadRequest, other.Message)
	case err != nil:
		return v.broken("keep the grant", err)
	}
	slog.Info("access granted", "account", v.it.Owner.Account, "mode", v.it.Owner.Mode, "subject", kept.ID)
	p := page{Status: http.StatusOK, Title: "%s is connected", titled: []any{name(kept.Name)}, Text: kept.Text, of: v}
	return v.page(p, map[string]string{v.param(): kept.ID})
}

// change commits a change of the present record of the subject. It tries again after conflicts.
func (v *visit) change(ctx context.Context, change func(tx *store.Tx, it store.Item, s Subject) error) error {
	return v.DB.Change(ctx, func(tx *store.Tx) error {
		it, err := v.DB.Get(ctx, v.it.Key)
		if err != nil {
			return err
		}
		s, err := v.Read(&it)
		if err != nil {
			return err
		}
		return change(tx, it, s)
	})
}

// param returns the parameter of the return URL with the id of the subject.
func (v *visit) param() string { return string(v.Kind) + "_id" }

// failed returns the page of a failure, whose code is a parameter of the return URL.
func (v *visit) failed(code string, status int, title, text string) page {
	return v.page(page{Status: status, Title: title, Text: text, of: v, code: code},
		map[string]string{v.param(): v.state.subject, "error": code})
}

// nothing returns the page of a visit that has connected nothing.
func (v *visit) nothing(code string, status int, text string) page {
	return v.failed(code, status, "Nothing was connected", text)
}

// used returns the page of a link that was used before, or was replaced.
func (v *visit) used() page {
	p := linkUsed
	if v.it.Kind != "" {
		p.of, p.code = v, failedUsed
	}
	return p
}

// broken returns the page of an internal failure.
func (v *visit) broken(what string, err error) page {
	p := broken(what, err)
	p.of, p.code = v, failedBroken
	return p
}

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
	p := page{Status: http.StatusOK, cookie: cookie, Ask: ask, linked: state}
	if err := v.brand(ctx, &p); err != nil {
		return broken("read the profile", err)
	}
	return p.asked()
}

// asked gives the page of a request its title.
func (p page) asked() page {
	p.Title, p.titled = "%s asks for access to %s", []any{name(p.Ask.Customer), p.Ask}
	if p.Brand != "" {
		p.Title, p.titled = "%s asks for access to %s for %s", append(p.titled, name(p.Brand))
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

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

// The texts of the pages in the languages of web.Texts.
//
//go:embed texts.tsv
var textFile string

var translated = web.Texts(textFile)

// name is a name that others have given: its direction is that of its first letter.
type name string

// designAt returns the design of pages that find the fonts at a path.
func designAt(fonts string) *web.Design {
	return web.NewDesign(pageText, func() string { return web.Look(fonts) + pageStyle })
}

var design = designAt("../../settings/assets/")

// pagePolicy permits the page its style, and its form to call the page again. It permits no script.
func pagePolicy() string {
	return design.Policy("font-src 'self'; img-src data:; form-action 'self'; ")
}

// page is a page for the browser of an owner.
type page struct {
	Status      int
	Title, Text string
	// titled and with are the values of the title and of the text.
	titled, with []any
	// language is that of the reader, and english the title before its translation.
	language, english string
	// Brand is the name of the profile that the access is for, and Logo a data URL of its logo. Both are empty without
	// a profile: the header has the name of the service then.
	Brand string
	Logo  template.URL
	// Return is the address of the next page, or empty if there is none.
	Return string
	// State and Choices belong to a form that chooses an account.
	State   string
	Choices []Grant
	// Ask is the request for access, or nil.
	Ask *request
	// Link is the address of a page of the service that the owner opens first, or empty.
	Link string
	// Sample is the name of the other side in a preview of the page of a link.
	Sample string
	// linked is the state of the link, whose page can be read in other languages.
	linked string

	// cookie notes that the browser has shown the request, or is nil if it has not.
	cookie *http.Cookie
	// The page ends the visit of with the code. If the page ends no visit, of is nil; if the
	// visit has succeeded, code is empty.
	of   *visit
	code string
}

var (
	wrongMethod = page{Status: http.StatusMethodNotAllowed, Title: "Open the link in a browser"}
	linkInvalid = page{Status: http.StatusBadRequest, Title: "This link is not valid",
		Text: "Nothing was connected. Ask for a new link."}
	linkExpired = page{Status: http.StatusBadRequest, Title: "This link has expired",
		Text: "Nothing was connected. Ask for a new link."}
	linkUsed = page{Status: http.StatusBadRequest, Title: "This link was used already",
		Text: "A link connects an account once. If it was not you who used it, ask for a new link."}
	linkEnded = page{Status: http.StatusForbidden, Title: "This link is not valid any more",
		Text: "Nothing was connected: who asked for the access may not ask for it any more. Ask for a new link."}
)

// broken returns the page of an internal failure.
func broken(what string, err error) page {
	slog.Error("callback failed", "what", what, "error", err)
	return page{Status: http.StatusServiceUnavailable, Title: "Something went wrong",
		Text: "Nothing was connected. Ask for a new link, and try again in a few minutes."}
}

// choice returns the page on which the owner chooses one of several accounts.
func choice(state string, found []Grant) page {
	return page{Status: http.StatusOK, Title: "Which account is to be connected?", Text: "This login has several.",
		State: state, Choices: found}
}

// page adds the link back to the caller's site to a page.
func (v *visit) page(p page, parameters map[string]string) page {
	if v.consent.Return != "" {
		p.Return = safehttp.ReturnWith(v.consent.Return, parameters)
	}
	return p
}

// T translates a text of the page, with values as fmt.Sprintf.
func (p page) T(text string, values ...any) string {
	for i, value := range values {
		if ask, ok := value.(*request); ok {
			values[i] = p.Of(ask.To, ask.Label)
		}
	}
	return translated(p.language, text, values...)
}

// Of translates a text that may have a place for the name of the other side.
func (p page) Of(text, label string) string {
	if strings.Contains(text, "%s") {
		return p.T(text, label)
	}
	return p.T(text)
}

// H is T in which the names of others have their own direction.
func (p page) H(text string, values ...any) template.HTML {
	safe := make([]any, len(values))
	for i, value := range values {
		switch v := value.(type) {
		case name:
			safe[i] = "<bdi>" + template.HTMLEscapeString(string(v)) + "</bdi>"
		case *request:
			safe[i] = template.HTMLEscapeString(p.Of(v.To, v.Label))
		default:
			safe[i] = template.HTMLEscapeString(fmt.Sprint(v))
		}
	}
	return template.HTML(p.T(template.HTMLEscapeString(text), safe...)) // escaped above
}

// Name returns a name that others have given.
func (p page) Name(text string) name { return name(text) }

// Heading returns the title as the page shows it.
func (p page) Heading() template.HTML { return p.H(p.english, p.titled...) }

// Language implements web.Translations.
func (p page) Language() string { return p.language }

// Languages returns the languages in which the page of a link can be read.
func (p page) Languages() []web.Tongue {
	if p.Ask == nil {
		return nil
	}
	return web.Tongues
}

// In returns the address of the page in another language.
func (p page) In(code string) string {
	q := url.Values{"lang": {code}}
	if p.linked != "" {
		q.Set(linkParam, p.linked)
	}
	return "?" + q.Encode()
}

// in returns the page in a language.
func (p page) in(code string) page {
	p.language, p.english = code, p.Title
	p.Title, p.Text = p.T(p.Title, slices.Clone(p.titled)...), p.T(p.Text, p.with...)
	return p
}

// write answers a request with the page. Its address contains the code of the other side.
func (p page) write(w http.ResponseWriter, req *http.Request) {
	if p.Return != "" {
		w.Header().Set("Refresh", "3; url="+p.Return)
	}
	if p.cookie != nil && req.Method == http.MethodGet {
		http.SetCookie(w, p.cookie)
	}
	code, _ := web.TongueOf(req)
	design.Write(w, req.Method, p.Status, pagePolicy(), p.in(code))
}

// sampleDesign is the design of samples, whose address is /settings/profiles/{id}/connect-page.
var sampleDesign = designAt("../../assets/")

// Sample is a preview of the page of a link.
type Sample struct {
	Brand               profile.Brand
	Customer, AccountID string
	Asking              Asking
}

// Write answers a request with the preview, whose button leads nowhere.
func (s Sample) Write(w http.ResponseWriter, req *http.Request) {
	p := page{Status: http.StatusOK, Brand: s.Brand.Name, Logo: template.URL(s.Brand.Logo), Sample: s.Asking.Label,
		Ask: &request{Asking: s.Asking, Customer: s.Customer, AccountID: s.AccountID}}.asked()
	code, _ := web.TongueOf(req)
	sampleDesign.Write(w, req.Method, p.Status, sampleDesign.Policy("font-src 'self'; img-src data:; "), p.in(code))
}
