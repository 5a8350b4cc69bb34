package crm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/base/budget"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

// hooks is what a webhook may have. Those that are forms have few values.
var hooks = budget.Budget{Name: "webhook of a CRM", Bytes: maxHook, Elements: 20_000, Depth: 50, Time: 5 * time.Second}

const (
	// maxHook is the size of the largest webhook.
	maxHook = 256 << 10
	// maxHints bounds the objects of one webhook. The daily synchronization reads the others.
	maxHints = 100
	// maxIntegrations bounds the integrations with one account of a CRM that a webhook of all accounts is for.
	maxIntegrations = 20
)

// hook receives a webhook, and returns the status of the answer. A webhook is a hint: it starts tasks that read the
// objects. A repeat of it starts none.
func (s *Service) hook(req *http.Request, token string) int {
	ctx := req.Context()
	body, err := io.ReadAll(io.LimitReader(req.Body, maxHook+1))
	if err != nil || len(body) > maxHook || hooks.JSON(ctx, body) != nil {
		return http.StatusRequestEntityTooLarge
	}
	h := crm.Hook{URL: httpapi.GatewayOf(ctx).BaseURL + req.URL.RequestURI(), Header: req.Header, Body: body,
		At: s.now()}
	if adapter := s.systems.Of(tenant.Live, token); adapter != nil && adapter.Facts().Shared {
		err = s.shared(ctx, adapter, h)
	} else {
		err = s.own(ctx, token, h)
	}
	switch {
	case err == nil:
		return http.StatusOK
	case errors.Is(err, store.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, crm.ErrForged):
		return http.StatusForbidden
	}
	slog.Error("webhook of a CRM not taken", "error", err)
	return http.StatusServiceUnavailable // the CRM sends it again
}

// own takes a webhook that was sent to the address of an integration.
func (s *Service) own(ctx context.Context, token string, h crm.Hook) error {
	integrationID, secret, _ := strings.Cut(token, ".")
	if !id.Valid(id.Integration, integrationID) {
		return store.ErrNotFound
	}
	it, err := s.db.Get(ctx, store.IDKey(integrationID))
	if err != nil {
		return err
	}
	if it.Kind != Kind {
		return store.ErrNotFound
	}
	r, err := Decode(&it)
	if err != nil {
		return err
	}
	if !web.MatchesBearer(secret, r.Hook) {
		return store.ErrNotFound
	}
	if !r.Usable() {
		return nil // what it names is read when the integration is connected again
	}
	var c Credentials
	if err := s.vault.Open(ctx, it.Owner, r.ID, r.Sealed, &c); err != nil {
		return err
	}
	hints, err := s.systems.Of(it.Owner.Mode, r.Kind).Hints(ctx, c.Account, h)
	if err != nil {
		return err
	}
	return s.take(ctx, it.Owner, &r, hints, h.Body)
}

// shared takes a webhook that was sent to the address of all accounts of a CRM.
func (s *Service) shared(ctx context.Context, adapter crm.Adapter, h crm.Hook) error {
	hints, err := adapter.Hints(ctx, crm.Account{}, h)
	if err != nil {
		return err
	}
	accounts := map[string][]crm.Hint{}
	for _, hint := range hints {
		accounts[hint.Account] = append(accounts[hint.Account], hint)
	}
	for account, hints := range accounts {
		page, err := s.db.List(ctx, store.Query{Index: store.ByParent, Limit: maxIntegrations,
			Partition: RemotePartition(tenant.Live, adapter.Name(), account)})
		if err != nil {
			return err
		}
		for _, listed := range page.Items {
			it, err := s.db.Lookup(ctx, store.IDKey(listed.Parent.SK))
			if err != nil {
				return err
			}
			if it.PK == "" {
				continue
			}
			r, err := Decode(&it)
			if err != nil {
				return err
			}
			if r.Usable() && r.Remote == account {
				if err := s.take(ctx, it.Owner, &r, hints, h.Body); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// take starts a task for each hint whose object the mapping uses. The body of the webhook names the change: a repeat of
// the webhook finds the tasks.
func (s *Service) take(ctx context.Context, o tenant.Owner, r *Record, hints []crm.Hint,
	body []byte) error {
	sum := sha256.Sum256(body)
	version := hex.EncodeToString(sum[:12])
	for _, hint := range hints[:min(len(hints), maxHints)] {
		switch {
		case len(hint.ID) > 64,
			hint.Object == crm.DealObject && len(r.Mapping.Stages) == 0,
			hint.Object == crm.ProductObject && !r.Mapping.Products.Import:
			continue
		}
		tx := &store.Tx{}
		if err := Hint(tx, s.now(), o, r.ID, hint.Object, hint.ID, version, ""); err != nil {
			return err
		}
		if err := s.db.Commit(ctx, tx); err != nil && !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
	return nil
}
