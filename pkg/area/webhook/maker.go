package webhook

import (
	"context"
	"slices"
	"strconv"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/event"
)

// requireReadable refuses event types that the caller may not read. An area or * means the
// types in it that the maker may read.
func requireReadable(ctx context.Context, types []string) error {
	p := auth.FromContext(ctx)
	for i, t := range types {
		if scope := event.Type(t).Scope(); scope != "" && !p.Has(scope) {
			e := errs.New(errs.ScopeEscalation, "The calling key does not have the scope %s, so it may not read the "+
				"event %s. Use a key that has it, or leave the event out.", scope, t)
			e.Param = "/event_types/" + strconv.Itoa(i)
			return e
		}
	}
	return nil
}

// requireChanging refuses a change of the destination or of the event types by a caller
// that may not read all events of the webhook's maker: it could send them to itself. The
// same holds for enabling a webhook that was disabled together with its maker.
func (s *Service) requireChanging(ctx context.Context, r *WebhookRecord, set settings, moved bool) error {
	chosen := !slices.Equal(r.EventTypes, set.EventTypes)
	if chosen {
		if err := requireReadable(ctx, set.EventTypes); err != nil {
			return err
		}
	}
	switch {
	case set.State == StateEnabled && r.DisabledReason != nil && *r.DisabledReason == ReasonMakerRevoked:
		return s.requireReading(ctx, r, "/state")
	case moved && r.Destination != nil:
		return s.requireReading(ctx, r, "/destination")
	case moved:
		return s.requireReading(ctx, r, "/url")
	case chosen:
		return s.requireReading(ctx, r, "/event_types")
	case !slices.Equal(r.FactoryIDs, set.FactoryIDs):
		return s.requireReading(ctx, r, "/factory_ids")
	}
	return nil
}

// requireReading refuses a caller that may not read all events that the maker of the webhook may read. param is the
// member of the request that needs it, or empty if the whole request does.
func (s *Service) requireReading(ctx context.Context, r *WebhookRecord, param string) error {
	p := auth.FromContext(ctx)
	// Neither the maker nor a caller that may read all events need a look at the maker.
	if p.KeyID() == r.CreatedBy || len(Reader(auth.AllScopes()).Lacking(p.Scopes)) == 0 {
		return nil
	}
	maker, err := s.db.Lookup(ctx, MakerKey(p.Account, r.CreatedBy))
	if err != nil {
		return err
	}
	reader, err := r.Reader(maker)
	if err != nil {
		return err
	}
	lacking := reader.Lacking(p.Scopes)
	if len(lacking) == 0 {
		return nil
	}
	e := errs.New(errs.ScopeEscalation, "The webhook receives what %s may read, and the calling key does not have "+
		"the scopes for all of it: %v. Use a key that has them, or create another webhook.", r.CreatedBy, lacking)
	e.Param = param
	return e
}
