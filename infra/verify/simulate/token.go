package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// tokenLife is the life of a token, which is longer than a simulation: only a platform ends it before.
const tokenLife = 60 * 24 * time.Hour

// standing is what a platform thinks of an account.
type standing struct {
	// issued counts the tokens, of which only the last is good. A broken account has none that is good.
	issued   int
	issuedAt time.Time
	broken   bool
	// proven reports that the platform has given an answer that ends the account.
	proven bool
	// refused counts the calls with a token that is not good.
	refused int
}

// token is the n-th access token of an account.
func token(n int) platform.Secret { return platform.Secret(fmt.Sprint("token-", n)) }

// standing returns the standing of an account of a platform.
func (w *world) standing(s stage, a platform.Account) *standing {
	key := s.name + " " + a.ID
	if w.standings[key] == nil {
		w.standings[key] = &standing{}
	}
	return w.standings[key]
}

// refusal returns an answer of a platform other than that of a call that succeeds, or nil. The call has had no effect.
func (w *world) refusal(s stage, what string, a platform.Account) error {
	of := w.standing(s, a)
	if what == "Revoke" {
		return nil
	}
	if of.broken || of.issued > 0 && a.Token.Access != token(of.issued) {
		of.refused++
		return platform.TokenExpired().Saying("The token is not good.")
	}
	if w.calm || !chance(w.random, w.faults.Answer) {
		return nil
	}
	comments := what != "Start" && what != "Check" && what != "Finalize" && what != "Reconcile"
	switch w.random.IntN(8) {
	case 0, 1:
		of.issued++ // the present token has ended, at the second time soon after it was issued
		of.proven = of.proven || time.Since(of.issuedAt) < social.Fresh
		return platform.TokenExpired().Saying("The token has ended.")
	case 2:
		if w.random.IntN(4) == 0 {
			of.broken, of.proven = true, true
		}
		return platform.Limited(10 * time.Second)
	case 3:
		return platform.Full(time.Minute)
	case 4:
		return platform.Odd().Saying("Nobody knows why.")
	case 5:
		if what == "Reconcile" {
			return platform.Busy()
		}
		return platform.Reject(platform.CodeContentRefused, "Simulated.").Saying("The text is not good.")
	case 6: // the right for the call is missing, which ends the account only if the call publishes
		if !comments && w.random.IntN(3) > 0 {
			return platform.Busy()
		}
		of.proven = of.proven || !comments
		return platform.NeedsReconnect(platform.CodeMissingPermission, "Simulated.").Saying("The right is missing.")
	}
	return platform.Busy()
}

// Refresh implements platform.Connector.
func (s stage) Refresh(ctx context.Context, a platform.Account) (t platform.Token, err error) {
	w := invocationOf(ctx).world
	err = pass(ctx, &call{kind: toProvider, key: "Refresh " + s.name + " " + a.ID, refused: platform.Busy(),
		lost: platform.Busy(), do: func() error {
			of := w.standing(s, a)
			of.issued++
			of.issuedAt = time.Now()
			t = platform.Token{Access: token(of.issued), Refresh: "refresh", ExpiresAt: time.Now().Add(tokenLife)}
			return nil
		}})
	return t, err
}

// refreshed adds to the transaction the task that refreshes the token of a new account.
func (c *caller) refreshed(tx *store.Tx, r *social.Record) error {
	now := time.Now()
	ends := resource.Instant(now.Add(tokenLife))
	r.Connection, r.Tokens, r.RefreshedAt, r.TokenExpiresAt = 1, 1, now, &ends
	return task.Create(tx, now, task.Task{Message: task.Message{ID: task.ID(social.Refresh, r.ID, 1),
		Kind: social.Refresh, Queue: topology.Publish, Subject: r.ID, Owner: c.principal.Owner},
		DueAt: now.Add(tokenLife / 2)},
		social.Refreshing{Connection: 1})
}

// waits reports whether an item is a task that waits for a long time: that of a media file, until the file expires,
// that of the token of an account, or one that reads comments once its account is connected again.
func (w *world) waits(it attributes) bool {
	_, id, _ := strings.Cut(textOf(it, "pk"), "task#")
	kind, _, _ := strings.Cut(id, "#")
	switch task.Kind(kind) {
	case media.Kind, social.Refresh:
		return true
	case item.ReadComments:
		var t task.Task
		var p item.Reading
		must(json.Unmarshal([]byte(textOf(it, "doc")), &t))
		must(json.Unmarshal(t.Payload, &p))
		account, err := w.db().Lookup(context.Background(), store.IDKey(p.Account))
		must(err)
		if account.PK == "" {
			return true
		}
		r, err := social.Decode(&account)
		must(err)
		return !r.Usable()
	}
	return false
}

// checkAccounts checks that an account was lost only by an answer that ends it, and that a token which is not good was
// not used again and again.
func (w *world) checkAccounts(fail func(format string, args ...any)) {
	for _, it := range w.items() {
		if textOf(it, "kind") != social.Kind {
			continue
		}
		var r social.Record
		must(json.Unmarshal([]byte(textOf(it, "doc")), &r))
		of := w.standings[r.Platform+" "+r.PlatformID]
		if of == nil {
			continue
		}
		if r.State == social.NeedsReconnect && !of.proven {
			fail("%s was lost without a reason: %+v", r.ID, r.Failure)
		}
		if most := 20 + 10*of.issued; of.refused > most {
			fail("the platform has refused a token of %s in %d calls", r.ID, of.refused)
		}
	}
}
