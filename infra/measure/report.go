package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/content-automation/api/infra/measure/metered"
)

// measured holds all counts. They do not depend on the machine.
type measured struct {
	operations    []operation
	firstOfMinute metered.Reading
	generations   []counted
	delivery      delivered
	outage        metered.Outage
	feed          metered.Feed
}

// measure counts the usage of all operations and generations.
func measure(ctx context.Context) (m measured, err error) {
	w, err := metered.New(ctx)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, w.Close(context.WithoutCancel(ctx))) }()
	if m.operations, err = operations(ctx, w); err != nil {
		return m, err
	}
	if m.firstOfMinute, err = firstOfMinute(ctx, w); err != nil {
		return m, err
	}
	if m.generations, err = generations(ctx, w); err != nil {
		return m, err
	}
	if m.delivery, err = deliveries(ctx, w); err != nil {
		return m, err
	}
	if m.outage, err = outages(ctx, w); err != nil {
		return m, err
	}
	m.feed, err = feeds(ctx, w)
	return m, err
}

// call returns one call of an operation.
func (m measured) call(operationID string) operation {
	is := func(o operation) bool { return o.route.OperationID == operationID }
	return m.operations[slices.IndexFunc(m.operations, is)]
}

// generation returns the generation of a scenario.
func (m measured) generation(name string) counted {
	return m.generations[slices.IndexFunc(m.generations, func(c counted) bool { return c.name == name })]
}

// report returns the text of each section.
func (m measured) report() (map[string]string, error) {
	all, err := limits(mixOf(m))
	return map[string]string{
		"units":    unitsSection(m),
		"cost":     costSection(m),
		"scale":    limitsTable(all) + "\n" + accountTable() + "\n" + outageTable(m.outage),
		"standing": standingSection(m),
		summary:    summaryTable(m, all),
	}, err
}

// summaryTable has a few figures of each section.
func summaryTable(m measured, all []limit) string {
	t := newTable("What", "Figure")
	for _, id := range []string{"getFactory", "listContentItems", "createFactory", "createContentItem"} {
		a := m.call(id).perMillion()
		t.row(fmt.Sprintf("A million calls of `%s`", id),
			fmt.Sprintf("$%.2f, %.2f times the floor", a, a/floor().perMillion()))
	}
	for _, name := range []string{"image", "post", "short video"} {
		used := m.generation(name).whole
		t.row(fmt.Sprintf("1,000 generations: %s", name), fmt.Sprintf("$%.2f", billOf(&used, 1000, inVirginia).sum))
	}
	for _, p := range profiles {
		_, sum := p.monthOf(m, inVirginia)
		t.row(fmt.Sprintf("A month of the %s customer", p.name), fmt.Sprintf("$%.2f", sum))
	}
	for _, l := range all[:min(3, len(all))] {
		t.row(l.what, fmt.Sprintf("reached at %.0f calls a second", math.Floor(l.at()+0.1)))
	}
	return t.String()
}

// table is a table of Markdown.
type table struct{ text strings.Builder }

func newTable(head ...any) *table {
	t := &table{}
	t.row(head...)
	t.text.WriteString("|" + strings.Repeat("---|", len(head)) + "\n")
	return t
}

func (t *table) row(cells ...any) {
	t.text.WriteString("|")
	for _, c := range cells {
		if n, ok := c.(float64); ok {
			c = number(n)
		}
		fmt.Fprintf(&t.text, " %v |", c)
	}
	t.text.WriteString("\n")
}

func (t *table) String() string { return t.text.String() }

// dollars is an amount that is printed with cents.
type dollars float64

func (d dollars) String() string { return fmt.Sprintf("%.2f", float64(d)) }

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
