package calendar

import (
	"strings"
	"time"
)

// PublicDay is a public holiday with its countries.
type PublicDay struct {
	Name, rule string
	Countries  []string
}

// In returns its dates in a year.
func (d PublicDay) In(year int) []time.Time { return dates(d.rule, year) }

// PublicDays returns the lines of public.tsv.
func PublicDays() (all []PublicDay) {
	for line := range strings.Lines(public) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		all = append(all, PublicDay{cells[2], cells[1], strings.Fields(cells[0])})
	}
	return all
}
