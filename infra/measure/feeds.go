package main

import (
	"context"
	"fmt"

	"github.com/content-automation/api/infra/measure/metered"
)

// The shop of the model: this number of rows, of which 1 % change a day.
const (
	shopRows    = 50_000
	countedRows = 1000
)

// feeds counts the usage of the runs of a feed.
func feeds(ctx context.Context, w *metered.World) (metered.Feed, error) {
	return w.Feed(ctx, countedRows)
}

// runCost is what a run costs the table.
type runCost struct{ dollars, reads, writes float64 }

// feedCosts returns the costs of the first run of the model, and of a daily one. The usage of the few counted rows
// includes all that is done once for a run, so that they are upper bounds.
func feedCosts(of metered.Feed, in func(price) float64) (first, daily runCost) {
	cost := func(u metered.Used) runCost {
		used := usage{table: u.Reading}
		const each = shopRows / countedRows
		return runCost{billOf(&used, each, in).sum, u.Reads / countedRows, u.Writes / countedRows}
	}
	return cost(of.First), cost(of.Daily)
}

// feedTable shows the cost of a feed.
func feedTable(of metered.Feed) string {
	first, daily := feedCosts(of, inVirginia)
	t := newTable("Of the table", "Read units of a row", "Write units of a row", "Dollars")
	t.row("The first run", figure(first.reads), figure(first.writes), fmt.Sprintf("%.2f", first.dollars))
	t.row("A run with 1 % changed", figure(daily.reads), figure(daily.writes), fmt.Sprintf("%.2f", daily.dollars))
	t.row("A month of daily runs", "", "", fmt.Sprintf("%.2f", 30*daily.dollars))
	return fmt.Sprintf("A shop has %s products without photos. In us-east-1.\n\n%s", number(shopRows), t)
}

func figure(n float64) string { return fmt.Sprintf("%.2f", n) }
