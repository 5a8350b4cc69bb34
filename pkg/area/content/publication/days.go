package publication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// The days before the present one that a reading of an account asks for: the first reading, and later ones, because
// platforms correct their figures for some days.
const (
	firstDays = 89
	laterDays = 7
)

// measurer is the handler of social.Measure.
type measurer struct{ *Worker }

// Step reads the figures of the account once.
func (w measurer) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p social.Measuring
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	found, err := w.DB.Lookup(ctx, store.IDKey(s.Subject))
	if err != nil {
		return o, task.Again(err)
	}
	if !social.Is(found, s.Owner) {
		return task.Outcome{Done: true}, nil
	}
	acct, err := social.Decode(&found)
	if err != nil {
		return o, task.Again(err)
	}
	if !acct.Usable() || acct.Connection != p.Connection {
		return task.Outcome{Done: true}, nil
	}
	adapter, ok := w.Platforms.Of(s.Mode, acct.Platform)
	if !ok {
		return task.Outcome{Done: true}, nil
	}
	limits := adapter.Capabilities()
	if limits.Past.Page > 0 && !p.Imported {
		return w.imports(s, p, acct), nil
	}
	reads, ok := adapter.(platform.AccountReader)
	if !ok || len(limits.Account.Names) == 0 {
		return task.Outcome{Done: true}, nil
	}
	now := w.Now()
	if limits.Reads != nil && s.Mode == tenant.Live && !p.Granted {
		price := max(limits.Reads.Price, limits.Account.Price)
		o, within, err := w.allow(ctx, acct.Meter(), limits, price, true, func(granted bool) any {
			p.Granted = granted
			return p
		})
		if err == nil && !within {
			return w.rest(p, acct), nil
		}
		return o, err
	}
	ctx, token, err := w.Vault.Token(ctx, s.Owner, &acct)
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	if err != nil {
		if p.Tries++; p.Tries >= mostTries || errors.Is(err, seal.ErrOpen) {
			return w.giveUp(ctx, s, p, acct, err)
		}
		return task.Outcome{Payload: p, Wait: pause(p.Tries, err)}, nil
	}
	from := platform.Midnight(now)
	switch {
	case !limits.Account.History:
	case p.Earlier:
		from = from.AddDate(0, 0, -laterDays)
	default:
		from = from.AddDate(0, 0, -firstDays)
	}
	days, err := reads.Days(ctx, token, from)
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	if err != nil {
		return w.missed(ctx, s, p, acct, err)
	}
	p.Logged = false
	p.Earlier = p.Earlier || slices.ContainsFunc(days,
		func(d platform.Day) bool { return d.Date.Before(platform.Midnight(now)) && len(d.Named()) > 0 })
	o = w.rest(p, acct)
	o.Join = func(ctx context.Context, tx *store.Tx) error {
		if err := social.KeepDays(ctx, w.DB, tx, s.Owner, s.Subject, days); err != nil {
			return fmt.Errorf("publication: keep the days of %s: %w", s.Subject, err)
		}
		return nil
	}
	return o, nil
}

// imports returns the first step of a connection, which starts the import of earlier posts.
func (w measurer) imports(s *task.Step, p social.Measuring, acct social.Record) task.Outcome {
	p.Imported = true
	return task.Outcome{Payload: p, Join: func(_ context.Context, tx *store.Tx) error {
		_, err := acct.StartImport(tx, w.Now(), s.Owner, nil)
		return err
	}}
}

// rest returns the outcome of a reading that is over or left out.
func (w measurer) rest(p social.Measuring, acct social.Record) task.Outcome {
	now := w.Now()
	p.Tries, p.Granted = 0, false
	return task.Outcome{Payload: p, Wait: acct.NextMeasure(now).Sub(now)}
}

// missed returns the outcome of a reading that failed. A platform that refuses it for good, such as for a permission
// that the owner of the account has not granted, is asked again on the next day.
func (w measurer) missed(ctx context.Context, s *task.Step, p social.Measuring, acct social.Record,
	cause error) (o task.Outcome, err error) {
	kind := platform.KindOf(cause)
	if platform.Denied(cause) {
		kind = platform.BadContent // the account can publish all the same
	}
	if p.Tries++; p.Tries >= mostTries || kind == platform.BadContent || kind == platform.Reconnect {
		o, err = w.giveUp(ctx, s, p, acct, cause)
	} else {
		o = task.Outcome{Payload: p, Wait: pause(p.Tries, cause)}
	}
	o.Join = w.note(social.ForReading, cause, store.IDKey(acct.ID), acct.Tokens)
	return o, err
}

// giveUp returns the outcome of a reading that is not tried again before the next day. The log has it once, until a
// reading succeeds: the lease holds back a second message of the same step.
func (w measurer) giveUp(ctx context.Context, s *task.Step, p social.Measuring, acct social.Record,
	cause error) (o task.Outcome, err error) {
	if !p.Logged {
		if err := s.Lease(ctx, nil); err != nil {
			return o, err
		}
		slog.Warn("figures of an account not read", "social_account_id", acct.ID, "platform", acct.Platform, "error",
			cause)
	}
	p.Logged = true
	return w.rest(p, acct), nil
}

// pause returns the time before a reading that has failed is tried again.
func pause(tries int, cause error) time.Duration {
	wait := time.Duration(tries) * time.Minute
	var e *platform.Error
	if errors.As(cause, &e) {
		wait = max(wait, e.RetryAfter)
	}
	return wait
}
