package catalog

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Row is a row of the catalog for operators: a model with its source, its costs and its end.
type Row struct {
	Model
	// ReadOn is the day on which the source of the price was read.
	ReadOn time.Time
	// Charges are what the provider charges, in US dollars, by place. The key of the charge elsewhere is empty.
	Charges map[string]Charge
}

// Charge is what a provider charges for a model, in US dollars.
type Charge struct {
	// USD is for Per units, of text for its output, and USDInput for its input.
	USD, USDInput string
	Per           int64
	// Above is the number of input tokens above which AboveUSD and AboveUSDInput apply, or 0.
	Above                   int64
	AboveUSD, AboveUSDInput string
}

// String returns the charge in words.
func (c Charge) String() string {
	s := "$" + c.USD
	if c.USDInput != "" {
		s = "$" + c.USDInput + " in, $" + c.USD + " out"
	}
	if c.Above > 0 {
		s += fmt.Sprintf("; above %d tokens $%s in, $%s out", c.Above, c.AboveUSDInput, c.AboveUSD)
	}
	return s
}

// Rows returns the rows of the catalog.
func Rows() (all []Row) {
	for _, r := range models().Models {
		row := Row{Model: r.Model, ReadOn: r.ReadOn.at.OrZero(), Charges: map[string]Charge{}}
		if r.Cost != nil {
			row.Charges[""] = r.Cost.charge(r.Cost.rate)
			for names, of := range r.Cost.Places {
				for name := range strings.SplitSeq(names, ",") {
					row.Charges[name] = r.Cost.charge(of)
				}
			}
		}
		all = append(all, row)
	}
	return all
}

func (c *cost) charge(of rate) Charge {
	charge := Charge{USD: of.USD, USDInput: of.USDInput, Per: max(c.Per, 1)}
	if of.Above != nil {
		charge.Above, charge.AboveUSD, charge.AboveUSDInput = of.Above.InputTokens, of.Above.USD, of.Above.USDInput
	}
	return charge
}

// Profiles returns the inference profiles by which a model is called, or none.
func (r Row) Profiles() []string {
	return slices.DeleteFunc(strings.Split(r.ProviderOptions["profiles"], ","),
		func(name string) bool { return name == "" })
}
