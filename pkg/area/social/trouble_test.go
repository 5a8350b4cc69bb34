package social_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/store"
)

// seeds is how many runs there are; each replays exactly.
const seeds = 150

// Whatever happens, an account that counts as connected has a token that TikTok refreshes,
// and one is lost only where TikTok's answer was lost.
func TestRefreshesUnderRandomTroubles(t *testing.T) {
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { trouble(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func trouble(t *testing.T, r *rand.Rand) {
	w := accountNewWorld(t)
	id := w.connect()
	faults := append([]platformtest.Fault{"", "", ""}, platformtest.RequestLost, platformtest.ServerError,
		platformtest.RateLimited, platformtest.AnswerLost)
	harmless := true
	for range 12 {
		switch r.IntN(4) {
		case 0:
			w.Clock.Add(time.Duration(r.IntN(30)) * time.Hour)
		case 1:
			w.Clock.Add(time.Duration(r.IntN(20)) * time.Minute)
		case 2: // a platform says that the token has ended
			it, now := w.read(id)
			if now.Tokens > 1 && now.RefusedToken == now.Tokens-1 && w.Now().Sub(now.RefreshedAt) < social.Fresh {
				break // the account would end
			}
			w.commit(func(tx *store.Tx) error {
				return social.Expired(tx, w.Now(), it, now.Tokens, platform.TokenExpired())
			})
			w.Clock.Add(time.Minute)
		}
		if f := faults[r.IntN(len(faults))]; f != "" {
			w.fake.Fail(w.fake.Calls()+1, f)
			harmless = harmless && f != platformtest.AnswerLost
		}
		w.steps(r)
		w.fake.Calm()
	}
	_, now := w.read(id)
	switch now.State {
	case social.Connected:
		w.Clock.Add(25 * time.Hour)
		w.steps(r)
		_, later := w.read(id)
		if later.State == social.Connected && !w.fake.Good(w.token(id).Access.Reveal()) ||
			later.State != social.Connected && harmless {
			t.Errorf("it is %s, and its token good: %v", later.State, w.fake.Good(w.token(id).Access.Reveal()))
		}
	case social.NeedsReconnect:
		if harmless || w.events()["social_account.needs_reconnect"] != 1 {
			t.Errorf("it is lost, and the events are %v", w.events())
		}
	default:
		t.Errorf("it is %s", now.State)
	}
}

// steps handles due messages in a random order, each once or twice, by workers of which some have too little time.
func (w *accountWorld) steps(r *rand.Rand) {
	w.T.Helper()
	messages := w.due()
	r.Shuffle(len(messages), func(i, j int) { messages[i], messages[j] = messages[j], messages[i] })
	for _, m := range messages {
		for range 1 + r.IntN(2) {
			ctx, cancel := context.WithCancel(w.T.Context())
			if r.IntN(8) == 0 {
				cancel() // the function has no time left: nothing is done
			}
			if _, err := w.kernel().Do(ctx, m, ""); err != nil && ctx.Err() == nil {
				w.T.Errorf("%s: %v", m.Kind, err)
			}
			cancel()
		}
	}
}
