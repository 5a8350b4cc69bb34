package consent

import (
	"context"
	"crypto/hmac"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/record/authority"
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
	// held is the authority of who asked, with its present rights.
	held authority.Held
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
	v.held, err = v.consent.Authority.Find(ctx, f.DB, v.it.Owner, f.Now())
	if err == nil {
		err = authority.Lacks(v.held.Principal, f.Scope)
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
	return true, v.Vault.Open(ctx, it.Owner, v.state.subject, p.Sealed, &v.consent)
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
func (v *visit) claim(ctx context.Context) (bool, error) {
	for range maxTries {
		*v.subject.Pending() = nil
		tx := &store.Tx{}
		v.held.Hold(tx)
		if err := v.subject.Save(tx, v.Now(), v.it); err != nil {
			return false, err
		}
		if err := v.DB.Commit(ctx, tx); !errors.Is(err, store.ErrConflict) {
			return err == nil, err
		}
		if open, err := v.read(ctx); err != nil || !open {
			return false, err
		}
	}
	return false, store.ErrConflict
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
		return v.nothing(failedUnavailable, http.StatusBadGateway,
			asking.Label+" is unavailable at the moment. Ask for a new link, and try again later.")
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
	var kept Kept
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
	p := page{Status: http.StatusOK, Title: kept.Name + " is connected", Text: kept.Text, of: v}
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
