package content

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

// publishRequest is a request to publish an item.
type publishRequest struct {
	*Service
	r       *item.Record
	it      store.Item
	owner   tenant.Owner          // of the item
	asked   []string              // ids of the accounts in the call
	read    map[string]store.Item // items that were read, by the ids of accounts
	options platformOptions
	new     bool   // the item is not generated yet
	param   string // parameter with the time or the accounts, for errors
	at      time.Time
	factory factory.Factory
	obeyed  bool // the rules of law that apply are those of now
}

// publishRequest reads the item and the accounts of the call in one round trip.
func (s *Service) publishRequest(ctx context.Context, itemID string, match httpapi.IfMatch,
	accounts []string) (*publishRequest, error) {
	w := &publishRequest{Service: s, asked: accounts, read: map[string]store.Item{}}
	var known []string
	var keys []store.Key
	for _, accountID := range accounts {
		if id.Valid(id.SocialAccount, accountID) {
			known, keys = append(known, accountID), append(keys, store.IDKey(accountID))
		}
	}
	r, it, beside, err := s.findWith(ctx, itemID, keys, match)
	if err != nil {
		return nil, err
	}
	for i, accountID := range known {
		w.read[accountID] = beside[i]
	}
	w.r, w.it, w.owner = r, it, it.Owner
	return w, nil
}

// taken reports whether an account has taken the item.
func (w *publishRequest) taken(accountID string) bool {
	pub := w.r.PublicationTo(accountID)
	return pub != nil && pub.Taken()
}

// take notes the accounts to which the item is published, and the requested result.
func (w *publishRequest) take(targets []publication.Target, rehearsal *item.PublishRehearsal) {
	if w.r.State != item.Published && w.r.State != item.Failed {
		w.r.SocialAccountIDs = []string{}
	}
	for _, t := range targets {
		if !slices.Contains(w.r.SocialAccountIDs, t.Account.ID) {
			w.r.SocialAccountIDs = append(w.r.SocialAccountIDs, t.Account.ID)
		}
	}
	w.r.Rehearsed = rehearsal
}

// targets returns the accounts of a request, and rejects an item that their platforms do not take. If
// the call names no accounts, they are the usual accounts, or else those of the factory: those that
// cannot publish it are left out, unless none is left.
func (w *publishRequest) targets(ctx context.Context, usual []string) (all []publication.Target, err error) {
	if !w.obeyed {
		if w.factory, err = (ruler{w.Service}).obey(ctx, w.r); err != nil {
			return nil, err
		}
	}
	ids := w.asked
	if len(ids) == 0 {
		if ids, err = w.usual(ctx, usual); err != nil {
			return nil, err
		}
	}
	p := auth.FromContext(ctx)
	var found, unlawful []error
	omitted := []item.OmittedAccount{}
	chosen := map[string]bool{}
	for i, accountID := range ids {
		param := "/social_account_ids/" + strconv.Itoa(i)
		if len(w.asked) == 0 {
			param = "/social_account_ids"
		}
		it := w.read[accountID]
		if !social.Is(it, w.owner) {
			e := errs.Missing("social account", accountID)
			e.Param = param
			return nil, e
		}
		acct, err := social.Decode(&it)
		if err != nil {
			return nil, err
		}
		adapter, ok := w.platforms.Of(p.Mode, acct.Platform)
		if !ok {
			return nil, fmt.Errorf("content: no platform %q", acct.Platform)
		}
		if o := publication.Omit(&acct, adapter.Capabilities(), w.r.Kind); o != nil && len(w.asked) == 0 {
			omitted = append(omitted, *o)
			continue
		} else if !acct.Usable() {
			found = append(found, errs.Invalid(param, "%s", o.Message))
			continue
		}
		if err := p.RequirePlatform(acct.Platform); err != nil {
			if len(w.asked) == 0 {
				omitted, unlawful = append(omitted, publication.Outside(accountID, err)), append(unlawful, err)
			} else {
				found = append(found, err)
			}
			chosen[acct.Platform] = true
			continue
		}
		options, sent := w.options[acct.Platform]
		if pub := w.r.PublicationTo(accountID); !sent && pub != nil {
			options = pub.Options
		}
		pub := item.Publication{Platform: acct.Platform, SocialAccountID: accountID, Options: options}
		if o := publication.Unchosen(w.r, &pub, adapter.Capabilities()); o != nil && len(w.asked) == 0 {
			omitted = append(omitted, *o)
			continue
		}
		facts := item.FactsOf(w.r, &pub, w.at)
		facts.Param = param
		violated := law.Check(facts)
		for _, v := range violated {
			if v.ID == law.AdPlatforms && len(w.asked) == 0 {
				omitted = append(omitted, publication.Forbidden(accountID, v))
				unlawful = append(unlawful, v.Error())
			} else {
				found = append(found, v.Error())
			}
		}
		if len(violated) > 0 {
			chosen[acct.Platform] = true
			continue
		}
		chosen[acct.Platform] = true
		label := adapter.Capabilities().Label
		all = append(all, publication.Target{Account: acct, Limits: adapter.Capabilities(), Options: options,
			Full: func(day string, most int) error {
				return errs.Invalid(w.param, "%s takes %d posts a day on one account, and %s has as many on %s (UTC): "+
					"choose another day", label, most, accountID, day)
			}})
	}
	if len(all) == 0 {
		found = append(found, unlawful...)
		for _, o := range omitted {
			if o.Code == item.OmittedUnlawful || o.Code == item.OmittedMandate {
				continue
			}
			found = append(found, errs.Invalid("/social_account_ids", "%s", o.Message))
		}
	}
	w.r.OmittedAccounts = omitted
	for name := range w.options {
		if !chosen[name] && len(found) == 0 {
			found = append(found, errs.Invalid("/options/"+name, "is for a platform that none of the accounts is of"))
		}
	}
	slices.SortStableFunc(found, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	details := publication.Check(w.r, all)
	if w.new {
		details = known(w.r, details)
	}
	if len(details) > 0 {
		found = append(found, errs.InvalidFields(details...))
	}
	return all, errs.All(found...)
}

// usual reads and returns the accounts for a call that names none.
func (w *publishRequest) usual(ctx context.Context, ids []string) ([]string, error) {
	if len(ids) == 0 {
		ids = w.factory.SocialAccountIDs
	}
	if len(ids) == 0 {
		return nil, errs.Invalid("/social_account_ids", "is required, as the factory has no social accounts: attach "+
			"some, or name them")
	}
	var keys []store.Key
	for _, accountID := range ids {
		if _, read := w.read[accountID]; !read {
			keys = append(keys, store.IDKey(accountID))
		}
	}
	if len(keys) == 0 {
		return ids, nil
	}
	items, err := w.db.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for i, key := range keys {
		w.read[key.PK] = items[i]
	}
	return ids, nil
}
