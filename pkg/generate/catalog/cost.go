package catalog

import (
	"fmt"
	"math/big"
	"strings"
)

// cost is what a provider charges for a model, in US dollars.
type cost struct {
	Unit       Unit  `json:"unit"`
	Megapixels int64 `json:"megapixels"` // of images that are charged by their size
	Per        int64 `json:"per"`        // the units that the rates are for; 1 if left out
	rate
	// Places are the rates of inference profiles and AWS regions, of which a key may name several, separated by commas.
	// The rate of the row is that of all others.
	Places map[string]rate `json:"places"`
	// ExtendedRate is the higher rate of a model that is about to end, from a day on.
	ExtendedRate *struct {
		From day `json:"from"`
		rate
	} `json:"extended"`
}

// rate is what a provider charges for a number of units.
type rate struct {
	USD      string `json:"usd"`       // of text, for its output
	USDInput string `json:"usd_input"` // of text
	// Above is the rate of requests with more input tokens.
	Above *struct {
		InputTokens int64  `json:"input_tokens"`
		USD         string `json:"usd"`
		USDInput    string `json:"usd_input"`
	} `json:"above"`
}

// price sets the prices of a row from its costs.
func (r *row) price() (err error) {
	if r.Cost == nil {
		return nil
	}
	if r.Model.Price, err = r.Cost.price(r.Cost.rate); err != nil {
		return err
	}
	for names, of := range r.Cost.Places {
		p, err := r.Cost.price(of)
		if err != nil {
			return fmt.Errorf("%s: %w", names, err)
		}
		for name := range strings.SplitSeq(names, ",") {
			if r.Model.places == nil {
				r.Model.places = map[string]*Price{}
			}
			r.Model.places[name] = p
		}
	}
	if e := r.Cost.ExtendedRate; e != nil {
		p, err := r.Cost.price(e.rate)
		if err != nil {
			return fmt.Errorf("extended: %w", err)
		}
		r.Model.extended = &extendedPrice{e.From.at.OrZero(), p}
	}
	return nil
}

// price returns the price for a rate, at exactly one credit for a cent: in credits for the smallest number of units
// that makes all of them whole.
func (c *cost) price(of rate) (*Price, error) {
	amounts := []string{of.USD, of.USDInput, "", ""}
	if of.Above != nil {
		amounts[2], amounts[3] = of.Above.USD, of.Above.USDInput
	}
	credits, per := make([]*big.Rat, len(amounts)), big.NewInt(1)
	for i, amount := range amounts {
		if credits[i] = new(big.Rat); amount == "" {
			continue
		}
		if _, ok := credits[i].SetString(amount); !ok || credits[i].Sign() <= 0 {
			return nil, fmt.Errorf("%q is no amount", amount)
		}
		credits[i].Mul(credits[i], big.NewRat(100, max(c.Per, 1)))
		denominator := credits[i].Denom()
		per.Mul(per, new(big.Int).Div(denominator, new(big.Int).GCD(nil, nil, per, denominator)))
	}
	whole := func(i int) int64 {
		return new(big.Rat).Mul(credits[i], new(big.Rat).SetInt(per)).Num().Int64()
	}
	p := &Price{Unit: c.Unit, Credits: whole(0), Per: per.Int64(), InputCredits: whole(1), Megapixels: c.Megapixels}
	if of.Above != nil {
		p.LongPrompt = &LongPrompt{AboveInputTokens: of.Above.InputTokens, Credits: whole(2), InputCredits: whole(3)}
	}
	return p, nil
}
