package publication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// The days before the present one that a reading of an account asks for: the first reading, and later ones, because
// platforms correct their figures for some days.
const (
	firstDays = 89
	laterDays = 7
)

// measured is what the task of an account remembers.
type measured struct {
	// Imported reports that the import of earlier posts was started, and Earlier that figures of earlier days were
	// read.
	Imported bool `json:"imported,omitempty"`
	Earlier  bool `json:"earlier,omitempty"`
	// Logged reports that the log has that the figures cannot be read, since the last reading.
	Logged bool `json:"logged,omitempty"`
}

// measure starts the import of the earlier posts of an account, and then reads the figures of its days again and again,
// as long as it is connected. A platform that refuses a reading for good, such as for a permission that the owner of
// the account has not granted, is asked again on the next day.
func (w *Worker) measure(ctx context.Context, r *task.Run) error {
	var p social.Measuring
	var known measured
	if err := errors.Join(r.Decode(&p), r.Kept("known", &known)); err != nil {
		return err
	}
	a, err := w.visits().Visit(ctx, r, r.Subject, social.ForReading)
	if err != nil {
		return err
	}
	a.Tries = mostTries
	if a.Adapter == nil || !a.Account.Usable() || a.Account.Connection != p.Connection {
		return nil
	}
	limits := a.Limits()
	if limits.Past.Page > 0 && !known.Imported {
		known.Imported = true
		r.Also(func(_ context.Context, tx *store.Tx) error {
			_, err := a.Account.StartImport(tx, w.Now(), r.Owner, nil)
			return err
		})
		return errors.Join(r.Keep("known", known), r.Sleep(0))
	}
	reads, ok := a.Adapter.(platform.AccountReader)
	if !ok || len(limits.Account.Names) == 0 {
		return nil
	}
	price := social.Price{Of: social.ForReading, Units: limits.Account.Price, Urgent: true}
	if limits.Reads != nil {
		price.Units = max(price.Units, limits.Reads.Price)
	}
	err = a.Spend(ctx, price)
	if err == nil { // or else the reading is left out
		if err = w.readDays(ctx, a, reads, &known); err != nil && !task.Waits(err) && !known.Logged {
			if err := r.Lease(ctx, nil); err != nil { // a second message of this step logs nothing
				return err
			}
			known.Logged = true
			slog.Warn("figures of an account not read", "social_account_id", a.Account.ID, "platform",
				a.Account.Platform, "error", err)
		}
	}
	if task.Waits(err) {
		return err
	}
	a.Over()
	now := w.Now()
	return errors.Join(r.Keep("known", known), r.Sleep(a.Account.NextMeasure(now).Sub(now)))
}

// readDays reads the figures of the account once.
func (w *Worker) readDays(ctx context.Context, a *social.Visit, reads platform.AccountReader, known *measured) error {
	today := platform.Midnight(w.Now())
	from := today
	switch {
	case !a.Limits().Account.History:
	case known.Earlier:
		from = today.AddDate(0, 0, -laterDays)
	default:
		from = today.AddDate(0, 0, -firstDays)
	}
	var days []platform.Day
	if err := a.Call(ctx, func(ctx context.Context, token platform.Account) (err error) {
		days, err = reads.Days(ctx, token, from)
		return err
	}); err != nil {
		return err
	}
	known.Logged = false
	known.Earlier = known.Earlier || slices.ContainsFunc(days,
		func(d platform.Day) bool { return d.Date.Before(today) && len(d.Named()) > 0 })
	a.Run.Also(func(ctx context.Context, tx *store.Tx) error {
		if err := social.KeepDays(ctx, w.DB, tx, a.Run.Owner, a.Account.ID, days); err != nil {
			return fmt.Errorf("publication: keep the days of %s: %w", a.Account.ID, err)
		}
		return nil
	})
	return nil
}
