package content

import (
	"context"
	"slices"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

// publishRequest is a request to publish an item.
type publishRequest struct {
	s       *Service
	gate    publication.Gate
	it      store.Item
	owner   tenant.Owner          // of the item
	asked   []string              // ids of the accounts in the call
	read    map[string]store.Item // items that were read, by their keys
	options platformOptions
	factory factory.Factory
	waits   bool // it is not published before its approval
}

// publishRequest reads the item and the accounts of the call in one round trip.
func (s *Service) publishRequest(ctx context.Context, itemID string, match httpapi.IfMatch,
	accounts []string) (*publishRequest, error) {
	w := &publishRequest{s: s, asked: accounts, read: map[string]store.Item{}}
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
	w.gate.Record, w.it, w.owner = r, it, it.Owner
	return w, nil
}

// taken reports whether an account has taken the item.
func (w *publishRequest) taken(accountID string) bool {
	pub := w.gate.Record.Item.PublicationTo(accountID)
	return pub != nil && pub.Taken()
}

// take notes the accounts to which the item is published, and the requested result.
func (w *publishRequest) take(targets []publication.Target, rehearsal *item.PublishRehearsal) {
	if w.gate.Record.Item.State != item.Published && w.gate.Record.Item.State != item.Failed {
		w.gate.Record.Item.SocialAccountIDs = []string{}
	}
	for _, t := range targets {
		if !slices.Contains(w.gate.Record.Item.SocialAccountIDs, t.Account.ID) {
			w.gate.Record.Item.SocialAccountIDs = append(w.gate.Record.Item.SocialAccountIDs, t.Account.ID)
		}
	}
	w.gate.Record.Rehearsed = rehearsal
}

// targets returns the accounts of a request, and refuses what the gate refuses. If the call names no accounts, they are
// the usual accounts, or else those of the factory: those that cannot publish it are left out, unless none is left. If
// the item waits for its approval, waits is set, unless the call publishes it now.
func (w *publishRequest) targets(ctx context.Context, usual []string) (all []publication.Target, err error) {
	named := len(w.asked) > 0
	if w.gate.Action != "" {
		if err := w.obey(ctx); err != nil {
			return nil, err
		}
	}
	ids := w.asked
	if !named {
		if ids = usual; len(ids) == 0 {
			ids = w.factory.SocialAccountIDs
		}
		if err := w.readAccounts(ctx, ids); err != nil {
			return nil, err
		}
	}
	w.gate.By, w.gate.Approval = auth.FromContext(ctx), w.factory.Approval
	if all, err = w.gate.Targets(w.owner, ids, named, w.read, w.s.limits(w.gate.By.Mode), w.options); err != nil {
		return nil, err
	}
	refused := w.gate.Ask(all...)
	if w.gate.Action != item.Publish {
		isApproval := func(r publication.Refusal) bool { return r.Reason == publication.ReasonApproval }
		w.waits = slices.ContainsFunc(refused, isApproval)
		refused = slices.DeleteFunc(refused, isApproval)
	}
	w.gate.Record.Item.OmittedAccounts = []item.OmittedAccount{}
	if !named && len(all) > 0 {
		kept, omitted, left := publication.Leave(all, refused)
		w.gate.Record.Item.OmittedAccounts = append(w.gate.Record.Item.OmittedAccounts, omitted...)
		if all = kept; len(kept) > 0 {
			refused = left
		}
		for i, r := range refused {
			if r.Reason == publication.ReasonKind { // another kind is no remedy for a call that names no account
				refused[i].Err = errs.Invalid(r.Param, "%s", r.Message())
			}
		}
	}
	err = publication.Refused(refused)
	for name := range w.options {
		is := func(t publication.Target) bool { return t.Account.Platform == name }
		if !slices.ContainsFunc(all, is) && err == nil {
			err = errs.Invalid("/options/"+name, "is for a platform that none of the accounts is of")
		}
	}
	return all, err
}

// obey has the item follow the rules of law of now, and reads what the gate needs to know of its factory and of the
// accounts that the call names.
func (w *publishRequest) obey(ctx context.Context) error {
	f, counters, err := (ruler{w.s}).obey(ctx, w.gate.Record, w.counters(w.asked)...)
	w.factory = f
	for _, it := range counters {
		w.read[it.PK] = it
	}
	return err
}

// counters returns the keys of the counters of the posts of accounts on the day.
func (w *publishRequest) counters(ids []string) (keys []store.Key) {
	for _, accountID := range ids {
		if w.gate.TimeParam != "" && id.Valid(id.SocialAccount, accountID) {
			keys = append(keys, publication.QuotaKey(accountID, publication.Day(w.gate.At)))
		}
	}
	return keys
}

// readAccounts reads accounts that were not read, and their counters.
func (w *publishRequest) readAccounts(ctx context.Context, ids []string) error {
	keys := w.counters(ids)
	for _, accountID := range ids {
		keys = append(keys, store.IDKey(accountID))
	}
	keys = slices.DeleteFunc(keys, func(key store.Key) bool { _, read := w.read[key.PK]; return read })
	if len(keys) == 0 {
		return nil
	}
	items, err := w.s.db.GetAll(ctx, keys...)
	for i, it := range items {
		w.read[keys[i].PK] = it
	}
	return err
}
