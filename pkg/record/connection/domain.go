package connection

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

const (
	maxDomains = 20
	// label is the name below the domain that has the TXT record.
	label = "_content-automation"
	// lookUpTime bounds one look-up.
	lookUpTime  = 3 * time.Second
	lookUpTries = 2
)

var domainForm = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$`)

// publicDomains give addresses to anyone, so nobody can own them.
var publicDomains = []string{"gmail.com", "googlemail.com", "outlook.com", "hotmail.com", "live.com", "yahoo.com",
	"icloud.com", "proton.me", "protonmail.com", "gmx.net", "gmx.de", "web.de", "mail.ru", "yandex.ru", "aol.com"}

// RecordName returns the name of the TXT record of a domain.
func RecordName(domain string) string { return label + "." + domain }

// AddDomain adds an unverified domain. Adding a domain twice has no effect.
func (s *Service) AddDomain(ctx context.Context, account tenant.Account, connectionID,
	domain string) (Connection, error) {
	domain = strings.ToLower(strings.TrimSuffix(domain, "."))
	if len(domain) > 253 || !domainForm.MatchString(domain) || slices.Contains(publicDomains, domain) {
		return Connection{}, errs.Invalid("/domain", "must be a domain of your own, such as example.com")
	}
	token, _, err := web.NewBearer(s.random)
	if err != nil {
		return Connection{}, err
	}
	return s.change(ctx, account, connectionID, func(_ *store.Tx, c *Connection) error {
		if slices.ContainsFunc(c.Domains, func(d Domain) bool { return d.Name == domain }) {
			return nil
		}
		if len(c.Domains) >= maxDomains {
			return errs.New(errs.InvalidState, "The connection has %d domains, which is the maximum.", maxDomains)
		}
		c.Domains = append(c.Domains, Domain{Name: domain, Record: "content-automation-verification=" + token})
		return nil
	})
}

// VerifyDomain looks the TXT record of a domain up, and marks the domain as verified if it has the text. One connection
// only can verify a domain.
func (s *Service) VerifyDomain(ctx context.Context, account tenant.Account, connectionID, domain string) (Connection,
	error) {
	c, _, err := s.Find(ctx, account, connectionID)
	if err != nil {
		return c, err
	}
	i := slices.IndexFunc(c.Domains, func(d Domain) bool { return d.Name == domain })
	if i < 0 {
		return c, errs.Missing("domain", domain)
	}
	if c.Domains[i].VerifiedAt != nil {
		return c, nil
	}
	want := c.Domains[i].Record
	found, err := s.records(ctx, RecordName(domain))
	if err != nil {
		return c, err
	}
	if !slices.Contains(found, want) {
		return c, errs.New(errs.InvalidState, "The domain %s has no TXT record %s with the text %s yet. A new record "+
			"can take an hour to be seen.", domain, RecordName(domain), want)
	}
	return s.change(ctx, account, connectionID, func(tx *store.Tx, c *Connection) error {
		i := slices.IndexFunc(c.Domains, func(d Domain) bool { return d.Name == domain && d.Record == want })
		if i < 0 {
			return errs.Missing("domain", domain)
		}
		if c.Domains[i].VerifiedAt != nil {
			return nil
		}
		at := resource.Instant(s.now())
		c.Domains[i].VerifiedAt = &at
		it := store.Item{Key: DomainKey(domain), Kind: "domain", Owner: tenant.Of(account, ""),
			Attributes: map[string]string{connectionAttribute: c.ID}}
		if c.Enforced {
			it.Attributes[enforcedAttribute] = "true"
		}
		tx.CreateExpiring(it, s.now().Unix(), errs.New(errs.Duplicate, "The domain %s is verified by another "+
			"connection. Remove it there first.", domain))
		return nil
	})
}

// records returns the TXT records of a name; none if the name does not exist.
func (s *Service) records(ctx context.Context, name string) (found []string, err error) {
	for try := range lookUpTries {
		if werr := backoff.Wait(ctx, try, 100*time.Millisecond, time.Second); werr != nil {
			return nil, werr
		}
		bounded, cancel := context.WithTimeout(ctx, lookUpTime)
		found, err = s.lookUp.LookupTXT(bounded, name+".")
		cancel()
		var dns *net.DNSError
		if err == nil || errors.As(err, &dns) && dns.IsNotFound {
			return found, nil
		}
	}
	return nil, errs.Wrap(err, errs.ProviderUnavailable, "The DNS records of %s could not be read. Try again in a "+
		"minute.", name)
}

// markDomains writes into the items of the verified domains whether sign-on is enforced.
func (s *Service) markDomains(ctx context.Context, tx *store.Tx, c *Connection) error {
	var keys []store.Key
	for _, name := range c.Verified() {
		keys = append(keys, DomainKey(name))
	}
	if len(keys) == 0 {
		return nil
	}
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	for _, it := range items {
		delete(it.Attributes, enforcedAttribute)
		if c.Enforced {
			it.Attributes[enforcedAttribute] = "true"
		}
		tx.Replace(it)
	}
	return nil
}

// RemoveDomain removes a domain. People of it cannot sign in by the connection any more.
func (s *Service) RemoveDomain(ctx context.Context, account tenant.Account, connectionID, domain string) (Connection,
	error) {
	return s.change(ctx, account, connectionID, func(tx *store.Tx, c *Connection) error {
		i := slices.IndexFunc(c.Domains, func(d Domain) bool { return d.Name == domain })
		if i < 0 {
			return errs.Missing("domain", domain)
		}
		s.release(tx, c.Domains[i])
		c.Domains = slices.Delete(c.Domains, i, i+1)
		return nil
	})
}

// release ends the item of a verified domain.
func (s *Service) release(tx *store.Tx, d Domain) {
	if d.VerifiedAt != nil {
		tx.Expire(DomainKey(d.Name), s.now())
	}
}

// Enforce makes people of the verified domains sign in by this connection only, or lets them sign in otherwise again.
// It needs a provider, a verified domain, and an owner who may sign in without the connection: see person.BreakGlass.
func (s *Service) Enforce(ctx context.Context, account tenant.Account, connectionID string, on bool) (Connection,
	error) {
	people := person.NewService(s.db, s.now, s.random)
	if on {
		safe := false
		err := people.Each(ctx, account, func(r person.Record, _ store.Item) error {
			safe = safe || r.BreakGlass && r.State == person.Active
			return nil
		})
		if err != nil {
			return Connection{}, err
		}
		if !safe {
			return Connection{}, errs.New(errs.InvalidState, "Sign-on cannot be enforced before an owner may sign in "+
				"without it, in case it fails. Set such an owner first.")
		}
	}
	c, err := s.change(ctx, account, connectionID, func(tx *store.Tx, c *Connection) error {
		if on && (!c.Ready || len(c.Verified()) == 0) {
			return errs.New(errs.InvalidState, "Sign-on can be enforced when its provider is set and one of its "+
				"domains is verified.")
		}
		if on && c.Unconfirmed() {
			return errs.New(errs.InvalidState, "Sign-on can be enforced when an owner has confirmed its provider.")
		}
		if on {
			if err := s.offered(ctx, c); err != nil {
				return err
			}
		}
		c.Enforced = on
		return s.markDomains(ctx, tx, c)
	})
	if err != nil || !on {
		return c, err
	}
	// Those who have signed in otherwise before are out on their next call.
	return c, people.Confine(ctx, account, connectionID, c.Verified())
}

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
