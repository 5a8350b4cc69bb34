package account

import (
	"context"
	"net/http"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/store"
)

type entriesInput struct {
	httpapi.PageInput
	httpapi.Period
	profile.Filter
	// Only entries of these kinds, separated by commas.
	Kind []string `query:"kind" enum:"top_up,reserve,release,adjust" nullable:"false"`
	// Only entries of this factory.
	FactoryID string `query:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Only entries of this subject: the id of a resource or of the account.
	Subject string `query:"subject" maxLength:"64" example:"cnt_01h455vb4pex5vsknk084sn02q"`
}

// registerEntries puts the operation into the router.
func (s *Service) registerEntries(r *httpapi.Router) {
	httpapi.List(r, httpapi.Op{
		ID: "listBalanceEntries", Method: http.MethodGet, Path: "/v1/balance/entries", Scope: auth.AccountRead,
		Function: "account", Tag: "Account",
		Summary: "List the entries of the balance",
		Description: "Lists every change of the balance, newest first. The entries add up to the balance. Accepted " +
			"work reserves its price: the entry is `held` while the work runs, `charged` after success, " +
			"and `released` after a `release` has returned the credits. The reservation of a batch is released in " +
			"parts, as each of its items reserves its own price. With a test key the list is empty, because the " +
			"sandbox spends nothing.",
		Errors: []errs.Code{errs.InvalidCursor}, Opens: httpapi.Nothing,
	}, s.entries)
}

func (s *Service) entries(ctx context.Context, in *entriesInput) (httpapi.Page[ledger.Entry], error) {
	q, err := httpapi.Owned(ctx, ledger.Kind, id.LedgerEntry, in.Period,
		in.Filter.Into(map[string]string{"kind": httpapi.AnyOf(in.Kind), "factory": in.FactoryID}))
	if err != nil {
		return httpapi.Page[ledger.Entry]{}, err
	}
	if in.Subject != "" {
		q.Index, q.Partition = store.ByParent, ledger.SubjectPartition(auth.FromContext(ctx).Owner, in.Subject)
	}
	return httpapi.ListItems(ctx, s.db, q, in.PageInput, ledger.EntryOf)
}
