package connection

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

const (
	// recheckAfter is the age of a look-up of a verified domain from which on the next sign-in looks it up again, and
	// retryAfter that of one that has failed.
	recheckAfter = 24 * time.Hour
	retryAfter   = time.Hour
	// missingFor is the time for which the record of a verified domain may be missing.
	missingFor = 7 * 24 * time.Hour
	// recheckTime bounds the look-ups of a sign-in.
	recheckTime = 5 * time.Second
)

// due reports whether a verified domain is to be looked up again.
func (d *Domain) due(now time.Time) bool {
	last := d.VerifiedAt
	if d.CheckedAt != nil {
		last = d.CheckedAt
	}
	return d.VerifiedAt != nil && now.Sub(last.Time) >= recheckAfter
}

// Recheck looks up the TXT records of the verified domains of the connection with a provider's name, unless it was done
// in the last day. A domain whose record has been missing for a week is not verified any more: Recheck returns those
// with the connection and its account. A look-up that fails changes nothing, so that it locks nobody out.
func (s *Service) Recheck(ctx context.Context, provider string) (account tenant.Account, c Connection, lost []string,
	err error) {
	it, err := s.db.Lookup(ctx, store.IDKey(IDOf(provider)))
	if err != nil || it.Kind != ItemKind {
		return "", c, nil, err
	}
	if err := it.Decode(&c); err != nil {
		return "", c, nil, err
	}
	now := s.now()
	if account = it.Account; !slices.ContainsFunc(c.Domains, func(d Domain) bool { return d.due(now) }) {
		return account, c, nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, recheckTime)
	defer cancel()
	found := map[string]bool{} // by the record
	for _, d := range c.Domains {
		if !d.due(now) {
			continue
		}
		texts, err := s.records(ctx, RecordName(d.Name))
		if err != nil {
			slog.Warn("a verified domain was not looked up", "connection_id", c.ID, "domain", d.Name, "error", err)
			continue
		}
		found[d.Record] = slices.Contains(texts, d.Record)
	}
	c, err = s.change(context.WithoutCancel(ctx), account, c.ID, func(tx *store.Tx, c *Connection) error {
		lost = nil
		for i := range c.Domains {
			if d := &c.Domains[i]; d.due(now) && s.looked(tx, d, found, now) {
				lost = append(lost, d.Name)
			}
		}
		return nil
	})
	if errs.CodeOf(err) == errs.NotFound {
		err = nil // the connection was removed
	}
	return account, c, lost, err
}

// looked notes the result of a look-up of a verified domain, if there is one, and reports whether the domain is lost.
func (s *Service) looked(tx *store.Tx, d *Domain, found map[string]bool, now time.Time) (lost bool) {
	at := resource.Instant(now)
	there, known := found[d.Record]
	switch d.CheckedAt = &at; {
	case !known:
		again := resource.Instant(now.Add(retryAfter - recheckAfter))
		d.CheckedAt = &again
	case there:
		d.MissingSince = nil
	case d.MissingSince == nil:
		d.MissingSince = &at
	case now.Sub(d.MissingSince.Time) >= missingFor:
		s.release(tx, *d)
		d.VerifiedAt, d.CheckedAt, d.MissingSince = nil, nil, nil
		return true
	}
	return false
}
