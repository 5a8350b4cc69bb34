package social

import (
	"context"
	"crypto/hmac"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/social/account"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/store"
)

const (
	// exchangeTime bounds the calls of a platform in the callback.
	exchangeTime = 15 * time.Second
	// maxChoices bounds the accounts from which an owner chooses one.
	maxChoices = 100
	// maxTries bounds the attempts at a change that conflicts with concurrent changes.
	maxTries = 4
)

// The failures of a callback that the return URL names.
const (
	failedDenied      = "access_denied"
	failedExpired     = "expired"
	failedRefused     = "platform_refused"
	failedUnavailable = "platform_unavailable"
	failedAnother     = "another_account"
	failedNone        = "no_channel"
	failedEnded       = authority.Code
)

// The failures that only the audit log names.
const (
	failedUsed      = "link_used"
	failedElsewhere = "other_browser"
	failedBroken    = "internal"
)

// With returns the handler of the function. It serves the callback and the page of a link, which
// need no key, and the operations.
func (s *Service) With(operations http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != CallbackPath {
			operations.ServeHTTP(w, req)
			return
		}
		ctx, q, began := req.Context(), req.URL.Query(), s.now()
		link := q.Has(linkParam)
		var p page
		switch {
		case link && (req.Method == http.MethodGet || req.Method == http.MethodHead):
			p = s.link(ctx, q.Get(linkParam))
		case !link && req.Method == http.MethodGet:
			p = s.callback(ctx, q, req)
			s.record(ctx, p, began)
		default:
			p = page{Status: http.StatusMethodNotAllowed, Title: "Open the link in a browser"}
			w.Header().Set("Allow", allowed(link))
		}
		p.write(w, req.Method)
	})
}

// allowed returns the methods of a link, or of the callback.
func allowed(link bool) string {
	if link {
		return http.MethodGet + ", " + http.MethodHead
	}
	return http.MethodGet
}

// visit is one call of the callback, or of the page of a link, with a valid state.
type visit struct {
	*Service
	state   state
	it      store.Item
	record  account.Record
	consent consent
	// held is the authority of who asked, with its present rights.
	held authority.Held
}

// visit returns the visit of a state. It returns errForged, errUsed or errExpired for a state that
// is not valid. Only errForged comes without a visit.
func (s *Service) visit(ctx context.Context, text string) (*visit, error) {
	st, late := readState(ctx, s.secret, text, s.now())
	if late != nil && !errors.Is(late, errExpired) {
		return nil, late
	}
	v := &visit{Service: s, state: st}
	if open, err := v.read(ctx); err != nil {
		return nil, err
	} else if !open {
		return v, errUsed
	}
	if late != nil {
		return v, late
	}
	var err error
	v.held, err = v.consent.Authority.Find(ctx, s.db, v.it.Owner, s.now())
	if err == nil {
		err = authority.Lacks(v.held.Principal, auth.SocialManage)
	}
	return v, err
}

// callback carries out the decision of the account's owner at a platform. It logs neither the code
// nor the state.
func (s *Service) callback(ctx context.Context, q url.Values, req *http.Request) page {
	v, err := s.visit(ctx, q.Get("state"))
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
		return v.failed(failedDenied, http.StatusForbidden, "Nothing was connected", "Access was not granted.")
	}
	return v.exchange(ctx, q)
}

// read reads the account, and reports whether it waits for a callback with this state.
func (v *visit) read(ctx context.Context) (open bool, err error) {
	v.it, err = v.db.Get(ctx, store.IDKey(v.state.account))
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if v.record, err = account.Decode(&v.it); err != nil {
		return false, err
	}
	c := v.record.Consent
	if c == nil || !hmac.Equal(c.Nonce, v.state.hash()) {
		return false, nil
	}
	v.consent = consent{}
	return true, v.vault.Open(ctx, v.it.Owner, v.record.ID, c.Sealed, &v.consent)
}

// claim uses the state up, and reports whether it was still unused.
func (v *visit) claim(ctx context.Context) (bool, error) {
	for range maxTries {
		v.record.Consent = nil
		tx := &store.Tx{}
		v.held.Hold(tx)
		if err := v.record.Replace(tx, v.now(), v.it, ""); err != nil {
			return false, err
		}
		if err := v.db.Commit(ctx, tx); !errors.Is(err, store.ErrConflict) {
			return err == nil, err
		}
		if open, err := v.read(ctx); err != nil || !open {
			return false, err
		}
	}
	return false, store.ErrConflict
}

// exchange exchanges the code for the accounts of the platform that it allows.
func (v *visit) exchange(ctx context.Context, q url.Values) page {
	adapter, ok := v.platforms.Of(v.it.Owner.Mode, v.record.Platform)
	if !ok {
		return v.broken("find the platform", errors.New(v.record.Platform))
	}
	bounded, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	found, err := adapter.Connect(bounded, platform.Grant{
		Code: q.Get("code"), RedirectURL: v.consent.Redirect, Verifier: v.consent.Verifier, Device: q.Get("device_id"),
		Choice: v.consent.Channel,
	})
	var refused *platform.Error
	switch {
	case errors.As(err, &refused) && (refused.Kind == platform.Reconnect || refused.Kind == platform.BadContent):
		slog.Warn("social account not connected", "social_account_id", v.record.ID, "platform", v.record.Platform,
			"error", err)
		return v.failed(failedRefused, http.StatusBadRequest, "Nothing was connected", refused.Message)
	case err != nil:
		slog.Warn("social account not connected", "social_account_id", v.record.ID, "platform", v.record.Platform,
			"error", err)
		return v.failed(failedUnavailable, http.StatusBadGateway, "Nothing was connected",
			"The platform is unavailable at the moment. Ask for a new link, and try again later.")
	case len(found) == 0:
		return v.failed(failedNone, http.StatusBadRequest, "Nothing was connected",
			"This login has no channel or page to publish to.")
	case len(found) > 1:
		return v.offer(ctx, found[:min(len(found), maxChoices)])
	}
	return v.finish(ctx, found[0])
}

// offer lets the owner choose one of several accounts, which are kept sealed until then.
func (v *visit) offer(ctx context.Context, found []platform.Account) page {
	v.consent.Choices, v.consent.Verifier, v.consent.Page = found, "", false
	for range maxTries {
		it, err := v.db.Get(ctx, v.it.Key)
		if err != nil {
			return v.broken("read the account", err)
		}
		r, err := account.Decode(&it)
		if err != nil {
			return v.broken("read the account", err)
		}
		text, err := v.await(ctx, it.Owner, &r, v.consent)
		if err != nil {
			return v.broken("keep the choices", err)
		}
		tx := &store.Tx{}
		if err := r.Replace(tx, v.now(), it, ""); err != nil {
			return v.broken("keep the choices", err)
		}
		err = v.db.Commit(ctx, tx)
		if err == nil {
			return choice(text, found)
		}
		if !errors.Is(err, store.ErrConflict) {
			return v.broken("keep the choices", err)
		}
	}
	return v.broken("keep the choices", store.ErrConflict)
}

// choose connects the account that the owner has chosen.
func (v *visit) choose(ctx context.Context, id string) page {
	at := slices.IndexFunc(v.consent.Choices, func(a platform.Account) bool { return a.ID == id })
	if at < 0 {
		text, err := v.state.sign(ctx, v.secret)
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
func (v *visit) finish(ctx context.Context, a platform.Account) page {
	err := store.ErrConflict
	var r account.Record
	for try := 0; try < maxTries && errors.Is(err, store.ErrConflict); try++ {
		r, err = v.connect(ctx, a)
	}
	switch {
	case errors.Is(err, errAnother):
		return v.failed(failedAnother, http.StatusBadRequest, "This is another account",
			"The account to connect again is "+v.record.Handle+". Sign in to the platform with that one.")
	case err != nil:
		return v.broken("connect the account", err)
	}
	slog.Info("social account connected", "account", v.it.Owner.Account, "mode", v.it.Owner.Mode, "social_account_id",
		r.ID, "platform", r.Platform)
	name := r.Handle
	if name == "" {
		name = r.DisplayName
	}
	p := page{Status: http.StatusOK, Title: name + " is connected", Text: "The account can be published to now.", of: v}
	return v.page(p, map[string]string{"social_account_id": r.ID})
}

func (v *visit) connect(ctx context.Context, a platform.Account) (account.Record, error) {
	it, err := v.db.Get(ctx, v.it.Key)
	if err != nil {
		return account.Record{}, err
	}
	r, err := account.Decode(&it)
	if err != nil {
		return r, err
	}
	tx := &store.Tx{}
	if r, err = v.accept(ctx, tx, it.Owner, r, it, a); err != nil {
		return r, err
	}
	return r, v.db.Commit(ctx, tx)
}

// failed returns the page of a failure, whose code is a parameter of the return URL.
func (v *visit) failed(code string, status int, title, text string) page {
	return v.page(page{Status: status, Title: title, Text: text, of: v, code: code},
		map[string]string{"social_account_id": v.record.ID, "error": code})
}

// used returns the page of a link that was used before, or was replaced.
func (v *visit) used() page {
	p := linkUsed
	if v.it.Kind == account.Kind {
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
