package catalog

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// Unit is the unit of a price.
type Unit string

// The units of prices.
const (
	PerImage      Unit = "image"
	PerSecond     Unit = "second"
	PerCharacters Unit = "1k_characters"
	PerTokens     Unit = "1k_tokens"
	PerTrack      Unit = "track"
)

// megapixel is the number of pixels that providers charge as one megapixel.
const megapixel = 1024 * 1024

// Price is the price of a model: Credits for every Per units. So prices below a credit stay exact, such as 3 credits
// for 10 images. The price of a piece of work is rounded up to a whole credit once, at the end.
type Price struct {
	// Unit of the price.
	Unit Unit `json:"unit" enum:"image,second,1k_characters,1k_tokens,track"`
	// Credits for the number of units in per. For text models: of output tokens.
	Credits int64 `json:"credits" example:"4"`
	// Number of units that the credits pay for.
	Per int64 `json:"per" example:"1"`
	// Text models only: credits for the number of input tokens in per.
	InputCredits int64 `json:"input_credits,omitempty" example:"1"`
	// Images only: megapixels (of 1,048,576 pixels) that one unit covers. A larger image counts as several units,
	// rounded up. Absent if the size does not matter.
	Megapixels int64 `json:"megapixels,omitempty" example:"1"`
	// Text models only: price of a request with a long prompt. Absent if the length does not matter.
	LongPrompt *LongPrompt `json:"long_prompt,omitempty"`
}

// LongPrompt is the price of all tokens of a request that has more input tokens than a bound. It is for as many tokens
// as the price that it replaces.
type LongPrompt struct {
	// Input tokens above which it applies.
	AboveInputTokens int64 `json:"above_input_tokens" example:"100000"`
	// Credits for the number of output tokens in per.
	Credits int64 `json:"credits" example:"11"`
	// Credits for the number of input tokens in per.
	InputCredits int64 `json:"input_credits" example:"11"`
}

// Quantity is the requested amount of a model's results. Only the field for the unit of its price matters.
type Quantity struct {
	Images        int
	Width, Height int           // of each image; 0 means the smallest
	Length        time.Duration // of video, speech that moves an avatar, or music
	Characters    int
	InputTokens   int
	OutputTokens  int
	Tracks        int
}

// ErrNoPrice is the error for a model whose price is not known.
var ErrNoPrice = errors.New("catalog: the model has no price")

// Cost returns the price of a quantity in credits, rounded up.
func (m Model) Cost(q Quantity) (int64, error) {
	if m.Price == nil {
		return 0, fmt.Errorf("%w: %s", ErrNoPrice, m.ID)
	}
	if min(q.Images, q.Width, q.Height, q.Characters, q.InputTokens, q.OutputTokens, q.Tracks) < 0 || q.Length < 0 {
		return 0, fmt.Errorf("catalog: %+v is no quantity", q)
	}
	p := *m.Price
	switch p.Unit {
	case PerImage:
		return ceil(mul(int64(q.Images), p.sizes(q), p.Credits), p.Per), nil
	case PerSecond:
		return ceil(mul(ceil(q.Length.Nanoseconds(), int64(time.Millisecond)), p.Credits), 1000*p.Per), nil
	case PerCharacters:
		return ceil(mul(int64(q.Characters), p.Credits), 1000*p.Per), nil
	case PerTokens:
		read, written := p.tokens(q.InputTokens)
		return ceil(add(mul(int64(q.InputTokens), read), mul(int64(q.OutputTokens), written)),
			1000*p.Per), nil
	case PerTrack:
		return ceil(mul(int64(q.Tracks), p.Credits), p.Per), nil
	default:
		return 0, fmt.Errorf("catalog: %s is priced by %q", m.ID, p.Unit)
	}
}

// Excess returns the cost of a result beyond its reserved price, or 0 if it is within the tolerance that the service
// bears: one unit of the price, or a tenth.
func (m Model) Excess(reserved, cost int64) int64 {
	borne := reserved / 10
	if m.Price != nil {
		borne = max(borne, ceil(m.Price.Credits, m.Price.Per))
	}
	if cost <= reserved+borne {
		return 0
	}
	return cost - reserved
}

// tokens returns the credits for input and output tokens of a request with a number of input tokens.
func (p Price) tokens(input int) (read, written int64) {
	if long := p.LongPrompt; long != nil && int64(input) > long.AboveInputTokens {
		return long.InputCredits, long.Credits
	}
	return p.InputCredits, p.Credits
}

// sizes returns the number of units that one image of the quantity counts as.
func (p Price) sizes(q Quantity) int64 {
	if p.Megapixels == 0 {
		return 1
	}
	return max(ceil(mul(int64(q.Width), int64(q.Height)), p.Megapixels*megapixel), 1)
}

// ceil divides two numbers that are not negative and rounds up.
func ceil(a, b int64) int64 {
	if a%b == 0 {
		return a / b
	}
	return a/b + 1
}

// mul multiplies numbers that are not negative. An overflow yields the largest number: an absurd quantity must not come
// out cheap.
func mul(factors ...int64) int64 {
	product := int64(1)
	for _, f := range factors {
		if f != 0 && product > math.MaxInt64/f {
			return math.MaxInt64
		}
		product *= f
	}
	return product
}

// add adds numbers with the same rule as mul.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

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

// Plan is a subscription plan.
type Plan struct {
	// Id of the plan.
	ID string `json:"id" example:"enterprise"`
	// Display name.
	Name string `json:"name" example:"Enterprise"`
	// Price per month, in minor units of the currency.
	MonthlyPrice int64 `json:"monthly_price" example:"199900"`
	// Currency (ISO 4217).
	Currency string `json:"currency" example:"USD"`
	// Whether accounts on this plan may use the API.
	APIAccess bool `json:"api_access"`
	// Requests per minute of each key. Null without API access. An account may have other limits.
	RateLimits *RateLimits `json:"rate_limits"`
	// Credits included per month.
	IncludedCredits int64 `json:"included_credits" example:"100000"`
	// Features, for display.
	Features []string `json:"features" nullable:"false"`
}

// RateLimits are requests per minute, by kind of key.
type RateLimits struct {
	// Requests per minute of a test key.
	Test int `json:"test_per_minute" example:"60"`
	// Requests per minute of a live key.
	Live int `json:"live_per_minute" example:"600"`
}

//go:embed plans.json
var plansJSON []byte

var plans = sync.OnceValue(func() []Plan {
	var all []Plan
	if err := json.Unmarshal(plansJSON, &all); err != nil {
		panic(fmt.Sprintf("catalog: plans.json: %v", err)) // a test reads it
	}
	return all
})

// Plans returns the plans, the smallest first.
func Plans() []Plan { return slices.Clone(plans()) }

// billedCharacters returns how many characters of a text the model's provider bills. All count spaces and punctuation.
//
//   - Amazon Polly bills the characters of the text without tags. Those outside the
//     basic plane count twice, as in UTF-16: the most that it may count.
//     https://docs.aws.amazon.com/polly/latest/dg/limits.html
//   - ElevenLabs and its models at fal bill characters.
//   - MiniMax counts a Chinese character as two.
func (m Model) billedCharacters(text string) (n int) {
	twice := func(rune) bool { return false }
	switch {
	case m.Provider == "polly":
		twice = func(r rune) bool { return r > 0xffff }
	case strings.Contains(m.ProviderModel, "minimax"):
		twice = func(r rune) bool { return unicode.Is(unicode.Han, r) }
	}
	for _, r := range text {
		if n++; twice(r) {
			n++
		}
	}
	return n
}

// speechLength returns the length of an avatar's speech: the length of the recording, or an estimate for the text.
func speechLength(req provider.Request) time.Duration {
	if req.SpeechLength > 0 {
		return req.SpeechLength
	}
	return provider.SpokenLength(req.Prompt)
}
