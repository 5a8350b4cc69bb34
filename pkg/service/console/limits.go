package console

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"sync"
)

// mostLimits bounds the profiles whose spending is read.
const mostLimits = 20

// limitedProfiles reads the profiles that have a spending limit, with what they have spent.
func limitedProfiles(r *request) (some []brand, err error) {
	all, err := listAll[brand](r.Context(), r.api, "/v1/profiles", nil, mostNames)
	for _, p := range all {
		if p.SpendLimit != nil && len(some) < mostLimits {
			some = append(some, p)
		}
	}
	errs := make([]error, len(some))
	var reads sync.WaitGroup
	for i := range some {
		reads.Go(func() {
			errs[i] = r.api.get(r.Context(), "/v1/profiles/"+url.PathEscape(some[i].ID), nil, &some[i])
		})
	}
	reads.Wait()
	return some, errors.Join(append(errs, err)...)
}

// limited is a limit of a month with what is spent of it.
type limited struct {
	Name, Path   string
	Spent, Limit int64
}

// Share returns the part of the limit that is spent, in percent up to 100.
func (l limited) Share() int64 { return min(100, l.Spent*100/max(1, l.Limit)) }

// Tone returns the tone of the share.
func (l limited) Tone() string {
	switch {
	case l.Share() >= 100:
		return "cbad"
	case l.Share() >= 80:
		return "c3"
	}
	return "c1"
}

// limits returns the spending limits of keys and profiles, the fullest first.
func (u readUsage) limits() (all []limited) {
	for _, k := range u.Keys {
		if k.Active() && k.SpendLimit != nil {
			all = append(all, limited{k.Name, keysPath + "/" + k.ID, k.Spent, *k.SpendLimit})
		}
	}
	for _, p := range u.Brands {
		if p.SpendLimit != nil && p.Usage != nil {
			all = append(all, limited{p.Name, profilesPath + "/" + p.ID, p.Usage.Spent, *p.SpendLimit})
		}
	}
	slices.SortStableFunc(all, func(a, b limited) int { return cmp.Compare(b.Share(), a.Share()) })
	return all
}
