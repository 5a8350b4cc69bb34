package platformtest

import (
	"context"
	"fmt"
	"slices"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// tellsFigures reads the figures of an account, with and without faults. They are those of the capabilities, of the
// present day and of earlier ones if the platform has a history.
func (s Suite) tellsFigures(ctx context.Context) error {
	measured := s.Measured
	if measured == nil {
		measured = s.New
	}
	f := measured()
	defer f.Close()
	c := f.Adapter.Capabilities()
	reader, ok := f.Adapter.(platform.AccountReader)
	if ok != (len(c.Account.Names) > 0) {
		return fmt.Errorf("an AccountReader: %v, with the figures %v", ok, c.Account.Names)
	}
	if !ok {
		return nil
	}
	today := platform.Midnight(f.Now())
	from := today.AddDate(0, 0, -5)
	days, err := reader.Days(ctx, f.Account, from)
	if err != nil || len(days) == 0 {
		return fmt.Errorf("%d days: %w", len(days), err)
	}
	var names []string
	known := 0
	for i, d := range days {
		if d.Date.Before(from) || d.Date.After(today) || i > 0 && !d.Date.After(days[i-1].Date) {
			return fmt.Errorf("the days %v to %v, of the period from %v to %v", days[0].Date, d.Date, from, today)
		}
		if named := d.Names(); len(named) > 0 {
			known++
			names = append(names, named...)
		}
	}
	slices.Sort(names)
	want := slices.Sorted(slices.Values(c.Account.Names))
	if names = slices.Compact(names); !slices.Equal(names, want) {
		return fmt.Errorf("the figures %v, want %v", names, want)
	}
	if (known > 1) != c.Account.History {
		return fmt.Errorf("%d days have figures, and a history is %v", known, c.Account.History)
	}
	for _, fault := range []Fault{ServerError, RateLimited, Garbage} {
		before := f.Fake.Calls()
		f.Fake.Fail(before+1, fault)
		_, err := reader.Days(ctx, f.Account, from)
		kind := platform.KindOf(err)
		later := kind == platform.Retry || kind == platform.Quota && fault == RateLimited
		if called := f.Fake.Calls() > before; called && (err == nil || !later) {
			return fmt.Errorf("%s: %w", fault, err)
		}
	}
	return nil
}
