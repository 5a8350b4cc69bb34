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

	"github.com/content-automation/api/pkg/platform"
	"github.com/content-automation/api/pkg/social/account"
	"github.com/content-automation/api/pkg/store"
)

const (
	// exchangeTime bounds the calls of a platform in the callback.
	exchangeTime = 15 * time.Second
	// maxChoices bounds the accounts that an owner chooses one of.
	maxChoices = 100
	// maxTries bounds how often a change is tried again that another one overtook.
	maxTries = 4
)

// The failures of a callback, as the return URL is told.
const (
	failedDenied      = "access_denied"
	failedExpired     = "expired"
	failedRefused     = "platform_refused"
	failedUnavailable = "platform_unavailable"
	failedAnother     = "another_account"
	failedNone        = "no_channel"
)

// With returns the handler of the function: the callback, which needs no key, and the
// operations.
func (s *Service) With(operations http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != CallbackPath {
			operations.ServeHTTP(w, req)
			return
		}
		p := page{Status: http.StatusMethodNotAllowed, Title: "Open the link in a browser"}
		if req.Method == http.MethodGet {
			p = s.callback(req.Context(), req.URL.Query())
		} else {
			w.Header().Set("Allow", http.MethodGet)
		}
		p.write(w)
	})
}

// visit is one call of the callback whose state is good.
type visit struct {
	*Service
	state   state
	it      store.Item
	record  account.Record
	consent consent
}

// callback carries out what the owner of an account has decided at a platform. The code
// and the state are in no log.
func (s *Service) callback(ctx context.Context, q url.Values) page {
	st, err := readState(ctx, s.secret, q.Get("state"), s.now())
	expired := errors.Is(err, errExpired)
	switch {
	case errors.Is(err, errForged):
		return linkInvalid
	case err != nil && !expired:
		return broken("read the state", err)
	}
	v := &visit{Service: s, state: st}
	open, err := v.read(ctx)
	switch {
	case err != nil:
		return broken("read the account", err)
	case !open:
		return linkUsed
	case expired:
		return v.failed(failedExpired, http.StatusBadRequest, "This link has expired", "Nothing was connected. Ask for a new link.")
	case len(v.consent.Choices) > 0:
		return v.choose(ctx, q.Get("choice"))
	}
	if claimed, err := v.claim(ctx); err != nil {
		return broken("claim the state", err)
	} else if !claimed {
		return linkUsed
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

// claim uses the state up, and reports whether it was there to be used.
func (v *visit) claim(ctx context.Context) (bool, error) {
	for range maxTries {
		v.record.Consent, v.record.AuthorizationURL = nil, nil
		tx := &store.Tx{}
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
		return broken("find the platform", errors.New(v.record.Platform))
	}
	bounded, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	found, err := adapter.Connect(bounded, platform.Grant{
		Code: q.Get("code"), RedirectURL: v.consent.Redirect, Verifier: v.consent.Verifier, Device: q.Get("device_id"), Choice: v.consent.Channel,
	})
	var refused *platform.Error
	switch {
	case errors.As(err, &refused) && (refused.Kind == platform.Reconnect || refused.Kind == platform.BadContent):
		slog.Warn("social account not connected", "social_account_id", v.record.ID, "platform", v.record.Platform, "error", err)
		return v.failed(failedRefused, http.StatusBadRequest, "Nothing was connected", refused.Message)
	case err != nil:
		slog.Warn("social account not connected", "social_account_id", v.record.ID, "platform", v.record.Platform, "error", err)
		return v.failed(failedUnavailable, http.StatusBadGateway, "Nothing was connected", "The platform is unavailable at the moment. Ask for a new link, and try again later.")
	case len(found) == 0:
		return v.failed(failedNone, http.StatusBadRequest, "Nothing was connected", "This login has no channel or page to publish to.")
	case len(found) > 1:
		return v.offer(ctx, found[:min(len(found), maxChoices)])
	}
	return v.finish(ctx, found[0])
}

// offer lets the owner choose one of several accounts. They are kept sealed meanwhile.
func (v *visit) offer(ctx context.Context, found []platform.Account) page {
	v.consent.Choices, v.consent.Verifier = found, ""
	for range maxTries {
		it, err := v.db.Get(ctx, v.it.Key)
		if err != nil {
			return broken("read the account", err)
		}
		r, err := account.Decode(&it)
		if err != nil {
			return broken("read the account", err)
		}
		text, err := v.await(ctx, it.Owner, &r, v.consent)
		if err != nil {
			return broken("keep the choices", err)
		}
		tx := &store.Tx{}
		if err := r.Replace(tx, v.now(), it, ""); err != nil {
			return broken("keep the choices", err)
		}
		err = v.db.Commit(ctx, tx)
		if err == nil {
			return choice(text, found)
		}
		if !errors.Is(err, store.ErrConflict) {
			return broken("keep the choices", err)
		}
	}
	return broken("keep the choices", store.ErrConflict)
}

// choose connects the account that the owner has chosen.
func (v *visit) choose(ctx context.Context, id string) page {
	at := slices.IndexFunc(v.consent.Choices, func(a platform.Account) bool { return a.ID == id })
	if at < 0 {
		text, err := v.state.sign(ctx, v.secret)
		if err != nil {
			return broken("sign the state", err)
		}
		return choice(text, v.consent.Choices)
	}
	if claimed, err := v.claim(ctx); err != nil {
		return broken("claim the state", err)
	} else if !claimed {
		return linkUsed
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
		return v.failed(failedAnother, http.StatusBadRequest, "This is another account", "The account to connect again is "+v.record.Handle+". Sign in to the platform with that one.")
	case err != nil:
		return broken("connect the account", err)
	}
	slog.Info("social account connected", "account", v.it.Owner.Account, "mode", v.it.Owner.Mode, "social_account_id", r.ID, "platform", r.Platform)
	name := r.Handle
	if name == "" {
		name = r.DisplayName
	}
	return v.page(page{Status: http.StatusOK, Title: name + " is connected", Text: "The account can be published to now."}, map[string]string{"social_account_id": r.ID})
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
	return v.page(page{Status: status, Title: title, Text: text}, map[string]string{"social_account_id": v.record.ID, "error": code})
}
