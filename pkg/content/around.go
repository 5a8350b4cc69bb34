package content

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/factory"
	"github.com/content-automation/api/pkg/ledger"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/incoming"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
)

// around is what bodies are about.
type around struct {
	factories map[string]factory.Factory
	balance   ledger.Balance // of live keys
	media     incoming.Given
}

// tracks returns the members of bodies that name media.
func tracks(bodies []createBody) (members []incoming.Member) {
	for _, b := range bodies {
		if m := trackOf(b.Music); m.IsID() {
			members = append(members, m)
		}
	}
	return members
}

// trackOf is the member music of a body.
func trackOf(music string) incoming.Member {
	return incoming.Member{Param: "/music", Value: music, Type: media.Audio}
}

// open reads what bodies are about, in one round trip.
func (s *Service) open(ctx context.Context, p *auth.Principal, bodies ...createBody) (a around, err error) {
	ids := make([]string, len(bodies))
	for i, b := range bodies {
		ids[i] = b.FactoryID
	}
	var others []store.Key
	if p.Mode == tenant.Live { // test keys have no balance
		others = ledger.FundsKeys(p.Account, s.now())
	}
	funds := len(others)
	var beside []store.Item
	a.factories, beside, err = s.factories.FindAll(ctx, ids, append(others, incoming.Keys(tracks(bodies))...)...)
	if err != nil {
		return a, err
	}
	if funds > 0 {
		a.balance = ledger.FundsOf(beside[:funds])
	}
	a.media = incoming.Of(p.Owner, beside[funds:])
	return a, nil
}

// maxTrack is the longest music that can be worked on.
const maxTrack = 15 * time.Minute

// track returns the file of the caller's music.
func (a *around) track(m incoming.Member) (*media.File, error) {
	f, err := a.media.File(m)
	if err != nil {
		return nil, err
	}
	if f.DurationSeconds > maxTrack.Seconds() {
		e := errs.New(errs.UnsupportedMedia, "The media %s plays %.0f seconds. Music takes at most %.0f.", m.Value, f.DurationSeconds, maxTrack.Seconds())
		e.Param = m.Param
		return nil, e
	}
	return &f, nil
}
