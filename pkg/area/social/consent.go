package social

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/consent"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/store"
)

// CallbackPath is the path to which a platform sends the browser of an account's owner.
const CallbackPath = "/v1/social/callback"

// CallbackOperation is the operation of the callback in the audit log.
const CallbackOperation = "social.callback"

// channelDetail is the detail of a consent with the channel to connect.
const channelDetail = "channel"

// flow returns the flow in which owners grant access to their accounts.
func (s *Service) flow() *consent.Flow {
	return &consent.Flow{
		Path: CallbackPath, Operation: CallbackOperation, Kind: auth.SocialAccount, Prefix: id.SocialAccount,
		Cookie: "link_", Scope: auth.SocialManage, DB: s.db, Audit: s.audit, Vault: s.vault, Secret: s.secret,
		Now: s.now, Random: s.random,
		Read: func(it *store.Item) (consent.Subject, error) {
			r, err := Decode(it)
			return &subject{s, it.Owner, &r}, err
		},
	}
}

// With returns the handler of the function. It serves the callback, the page of a link and what platforms tell of
// removed rights, which need no key, and the operations.
func (s *Service) With(operations http.Handler) http.Handler {
	return s.removals(s.flow().Before(operations))
}

// subject is an account whose owner is asked for access. It implements consent.Subject.
type subject struct {
	s     *Service
	owner tenant.Owner
	r     *Record
}

func (a *subject) adapter() (platform.Adapter, error) {
	adapter, ok := a.s.platforms.Of(a.owner.Mode, a.r.Platform)
	if !ok {
		return nil, fmt.Errorf("social: the platform %s is not switched on", a.r.Platform)
	}
	return adapter, nil
}

func (a *subject) Pending() **authority.Consent { return &a.r.Consent }

func (a *subject) Save(tx *store.Tx, now time.Time, it store.Item) error {
	return a.r.Replace(tx, now, it, "")
}

func (a *subject) Asks(of consent.Consent) (consent.Asking, error) {
	adapter, err := a.adapter()
	if err != nil {
		return consent.Asking{}, err
	}
	c := adapter.Capabilities()
	publish := "publish on the account in your name"
	if c.Comment.Max > 0 {
		publish += ", and comment on these posts"
	}
	may := []string{publish, "read the name and the picture of the account"}
	if len(c.Metrics) > 0 {
		may = append(may, "read how often its posts were seen and liked")
	}
	return consent.Asking{To: "your account on " + c.Label, Label: c.Label,
		May: append(may, "keep this access until you end it in the settings of "+c.Label),
		Own: of.Details[applicationDetail] != ""}, nil
}

// with returns the context of the calls of a consent, with the application that asks for it.
func (a *subject) with(ctx context.Context, c consent.Consent) (context.Context, error) {
	own := c.Details[applicationDetail]
	if own == "" {
		return ctx, nil
	}
	if _, loaded := platform.AppOf(ctx); loaded {
		return ctx, nil
	}
	return a.s.vault.with(ctx, a.owner, &own)
}

func (a *subject) Address(ctx context.Context, c consent.Consent, state string) (string, error) {
	adapter, err := a.adapter()
	if err != nil {
		return "", err
	}
	if ctx, err = a.with(ctx, c); err != nil {
		return "", err
	}
	return adapter.Authorization(ctx, platform.Authorization{RedirectURL: c.Redirect, State: state,
		Verifier: c.Verifier})
}

func (a *subject) Exchange(ctx context.Context, c consent.Consent, q url.Values) (all []consent.Grant, err error) {
	adapter, err := a.adapter()
	if err != nil {
		return nil, err
	}
	if ctx, err = a.with(ctx, c); err != nil {
		return nil, err
	}
	found, err := adapter.Connect(ctx, platform.Grant{Code: q.Get("code"), RedirectURL: c.Redirect,
		Verifier: c.Verifier, Device: q.Get("device_id"), Choice: c.Details[channelDetail]})
	if err != nil {
		return nil, err
	}
	for _, one := range found {
		raw, err := json.Marshal(one)
		if err != nil {
			return nil, fmt.Errorf("social: encode a grant: %w", err)
		}
		all = append(all, consent.Grant{ID: one.ID, Name: one.Name, Handle: one.Handle, Account: raw})
	}
	return all, nil
}

func (a *subject) Keep(ctx context.Context, tx *store.Tx, it store.Item, c consent.Consent,
	g consent.Grant) (consent.Kept, error) {
	var granted platform.Account
	if err := json.Unmarshal(g.Account, &granted); err != nil {
		return consent.Kept{}, errors.New("social: decode a grant") // the cause could show a token
	}
	var own *string
	if id := c.Details[applicationDetail]; id != "" {
		own = &id
	}
	r, err := a.s.accept(ctx, tx, a.owner, *a.r, it, granted, own)
	if errors.Is(err, errAnother) {
		return consent.Kept{}, &consent.OtherError{Message: "The account to connect again is " + string(a.r.Handle) +
			". Sign in to the platform with that one."}
	}
	name := r.Handle
	if name == "" {
		name = r.DisplayName
	}
	return consent.Kept{ID: r.ID, Name: string(name), Text: "The account can be published to now."}, err
}
